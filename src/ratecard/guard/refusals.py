"""What was in effect stays as it was: an edit of the past is refused unless it says that it is a correction."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.diff.side import Side
from ratecard.guard.edits import edit_of
from ratecard.guard.limits import limit_refusals
from ratecard.guard.steps import steep_steps
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Version
from ratecard.words.errors import Fault

_RIGHT_WAY = "Put it back as it was and write a new version above it"


class Rules(NamedTuple):
    """What divides past from future, the greatest factor that needs no word, and what the old side is called."""

    as_of: datetime
    most: Decimal
    revision: str

    def begun(self, day: date) -> bool:
        """Whether what is dated so is in effect."""
        return _instant(day) <= self.as_of

    def past(self, day: date) -> bool:
        """Whether something can have been priced since then."""
        return _instant(day) < self.as_of


def refusals(old: RateCard, new: RateCard, rules: Rules) -> list[Fault]:
    """Everything that the new card may not do to the old one, each at its line, in the order of the files."""
    found = [fault for model in old.tables.models.values() for fault in _of_model(model, old, new, rules)]
    found += limit_refusals(old.tables.limits, new.tables.limits, rules.revision, rules.begun, rules.past)
    found += steep_steps(Side(rules.revision, old), Side("", new), rules.most)
    return sorted(found, key=lambda fault: (fault.file, fault.line, fault.message))


def _of_model(model: AnyModel, old: RateCard, new: RateCard, rules: Rules) -> Iterator[Fault]:
    after = new.tables.models.get(model.model)
    begun = [version for version in model.versions if rules.begun(version.effective)]
    if after is None:
        gone = model.retired is not None and rules.begun(model.retired.on)
        if begun and not gone:
            words = f"model '{model.model}' vanished, and has had prices since {begun[-1].effective}"
            hint = "Put it back, and end it by `retired: {on: DATE}`; its versions stay"
            yield _fault(f"{rules.revision}:{begun[0].place}", model.model, f"{words}. {hint}")
        return
    kept = {version.effective: version for version in after.versions}
    dates = {version.effective for version in model.versions}
    moved = [version for version in after.versions if version.effective not in dates and version.correction]
    for version in begun:
        now = kept.get(version.effective)
        if now is not None:
            yield from _edited(model, version, after, now, old, new)
        elif moved:
            moved.pop()
        else:
            yield _deleted(model, version, after, rules)
    for version in after.versions:
        if version.effective not in dates and not version.correction:
            yield from _backdated(model, version, rules)
    yield from _retired(model, after, rules)


def _edited(
    model: AnyModel, version: Version, after: AnyModel, now: Version, old: RateCard, new: RateCard
) -> Iterator[Fault]:
    if now.correction and now.correction != version.correction:
        return
    edit = edit_of((old, model, version), (new, after, now))
    if edit is None:
        return
    words = f"version {version.effective} of {model.model} is in effect, and was edited: {edit.words}"
    hint = "if it was wrong from the start, say `correction: reason` in it"
    if now.correction:
        hint = f"'{now.correction}' is the reason of an earlier correction; if this is one too, say why"
    yield _fault(edit.place or now.place, model.model, f"{words}. {_RIGHT_WAY}; {hint}")


def _deleted(model: AnyModel, version: Version, after: AnyModel, rules: Rules) -> Fault:
    words = (
        f"version {version.effective} of {model.model} was in effect ({rules.revision}:{version.place}), and is gone"
    )
    hint = "Put it back; if only its date was wrong, say `correction: reason` in the version with the right one"
    return _fault(after.versions[0].place, model.model, f"{words}. {hint}")


def _backdated(model: AnyModel, version: Version, rules: Rules) -> Iterator[Fault]:
    before = model.version_on(version.effective)
    if before and not model.retired_on(version.effective) and rules.past(version.effective):
        words = f"new version {version.effective} of {model.model} begins in the past, in that of {before.effective}"
        hint = "Let it begin later; if that price was wrong, say `correction: reason` in the new version"
        yield _fault(version.place, model.model, f"{words}. {hint}")


def _retired(model: AnyModel, after: AnyModel, rules: Rules) -> Iterator[Fault]:
    days = [each.retired.on if each.retired else None for each in (model, after)]
    if days[0] == days[1] or not any(day and rules.past(day) for day in days):
        return
    newest, before = after.versions[0], {version.effective: version for version in model.versions}
    known = before.get(newest.effective)
    if newest.correction and (known is None or newest.correction != known.correction):
        return
    old, new = (f"on {day}" if day else "not at all" for day in days)
    words = f"{model.model} was retired {old}, and now {new}, which changes what had a price in the past"
    hint = "Let it end later; if the date was wrong, say `correction: reason` in its newest version"
    yield _fault(newest.place, model.model, f"{words}. {hint}")


def _fault(place: str, model: str, words: str) -> Fault:
    file, _, line = place.rpartition(":")
    return Fault(file, int(line), (model,), words)


def _instant(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
