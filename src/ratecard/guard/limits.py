"""Limits that were in effect stay as they were, like prices."""

from collections.abc import Callable, Iterator
from datetime import date

from ratecard.diff.terms import described, term_changes
from ratecard.diff.wording import NONE
from ratecard.load.folder import LIMITS
from ratecard.tables.digest import digest
from ratecard.tables.limits import Limits
from ratecard.words.errors import Fault

Days = Callable[[date], bool]


def limit_refusals(
    old: tuple[Limits, ...], new: tuple[Limits, ...], revision: str, begun: Days, past: Days
) -> Iterator[Fault]:
    """Limits in effect that were edited or deleted, and new ones that begin in the past, without a `correction`."""
    before, after = ({each.effective: each for each in limits} for limits in (old, new))
    corrected = [each for day, each in after.items() if day not in before and each.correction]
    for day in filter(begun, before):
        if day in after:
            yield from _edited(before[day], after[day])
        elif corrected:
            corrected.pop()
        else:
            words = f"the limits of {day} were in effect ({revision}:{before[day].place}), and are gone. Put them back"
            yield _fault(new[0].place, f"{words}; if only their date was wrong, say `correction: reason` in the others")
    for day in after:
        if day not in before and not after[day].correction and past(day):
            words = f"new limits begin on {day}, in the past. Let them begin later"
            yield _fault(after[day].place, f"{words}; if the limits of that day were wrong, say `correction: reason`")


def _edited(old: Limits, new: Limits) -> Iterator[Fault]:
    if digest([old]) == digest([new]) or (new.correction and new.correction != old.correction):
        return
    first = term_changes(described(old), described(new))[0]
    was = {digest([line]) for line in (*old.text, *old.types, *old.sunsets)}
    places = (line.place for line in (*new.text, *new.types, *new.sunsets) if digest([line]) not in was)
    words = f"the limits of {new.effective} are in effect, and were edited: {first.term}: {first.old or NONE}"
    words += f" -> {first.new or NONE}. Put them back as they were and write new ones above them"
    hint = "if they were wrong from the start, say `correction: reason` in them"
    if new.correction:
        hint = f"'{new.correction}' is the reason of an earlier correction; if this is one too, say why"
    place = next(places, "") if first.term in ("text", "types", "sunsets") else ""
    yield _fault(place or new.place, f"{words}; {hint}")


def _fault(place: str, words: str) -> Fault:
    file, _, line = place.rpartition(":")
    return Fault(file or LIMITS, int(line or 1), ("limits",), words)
