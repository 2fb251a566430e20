"""A draft: the changes on the page, as the candidate that they would be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ratecard.card import RateCard
from ratecard.load.candidate_file import CandidateFile, candidate_from
from ratecard.whatif.change import Change, Factor, Kept, NewRate, scalar
from ratecard.words.errors import RateCardError, TableError

_KINDS: Mapping[str, type[Change]] = {"factor": Factor, "rate": NewRate, "kept": Kept}


class Head(NamedTuple):
    """What a candidate says of itself. While prices are tried it says nothing yet."""

    name: str = "draft"
    proposed_by: str = "nobody yet"
    why: str = "to see what it changes"


class DraftError(RateCardError):
    """What is wrong with a draft: (number of the change, what is wrong with it), and the same of its head by key."""

    def __init__(self, changes: Mapping[int, str], head: Mapping[str, str]) -> None:
        super().__init__("; ".join([*head.values(), *changes.values()]))
        self.changes, self.head = changes, head


class Draft(NamedTuple):
    """Changes that hold from a day on, as texts: `effective` too is what a person typed.

    A change to which something is still missing is no part of the candidate.
    """

    effective: str
    changes: tuple[Change, ...] = ()
    head: Head = Head()
    until: str = ""
    announced: str = ""

    def text(self) -> str:
        """The candidate file.

        >>> from ratecard.whatif.change import Factor
        >>> print(Draft("2027-01-01", (Factor("family", ("kling-o3",), "1.05"),)).text(), end="")
        candidate: draft
        effective: 2027-01-01
        proposed_by: nobody yet
        why: to see what it changes
        changes:
          - scale: {family: kling-o3}
            factor: 1.05
        """
        name, proposed_by, why = map(scalar, self.head)
        lines = [f"candidate: {name}", f"effective: {scalar(self.effective)}"]
        dates = {"until": self.until, "announced": self.announced}
        lines += [f"{key}: {scalar(day)}" for key, day in dates.items() if day]
        lines += [f"proposed_by: {proposed_by}", f"why: {why}", "changes:"]
        return "".join(f"{line}\n" for line in lines) + "".join(entry for _, entry in self._entries())

    def file(self) -> CandidateFile:
        """The candidate as if it were read from a file. Raises `DraftError`."""
        try:
            return candidate_from("draft", self.text().encode())
        except TableError as error:
            raise self._refused(error) from None

    def card(self, base: RateCard) -> RateCard:
        """The candidate laid over a card. Raises `DraftError` with all that is wrong, each at its change."""
        try:
            return base.overlaid(self.file())
        except TableError as error:
            raise self._refused(error) from None

    def _refused(self, error: TableError) -> DraftError:
        numbers = [number for number, _ in self._entries()]
        changes: dict[int, list[str]] = {}
        head: dict[str, str] = {}
        for fault in error.faults:
            first, *rest = fault.path or ("",)
            if first == "changes" and rest and isinstance(rest[0], int):
                changes.setdefault(numbers[rest[0]], []).append(fault.message)
            else:
                head.setdefault(str(first), fault.message)
        unread = {n: each.wrong for n, each in enumerate(self.changes) if isinstance(each, Factor) and each.finished}
        found = {number: unread.get(number) or _joined(words) for number, words in changes.items()}
        return DraftError(found, head)

    @property
    def empty(self) -> bool:
        """Whether there is no change in it."""
        return not any(change.finished for change in self.changes)

    def _entries(self) -> Iterator[tuple[int, str]]:
        """Every change of the candidate, with the number of the one on the page that it stems from."""
        for number, change in enumerate(self.changes):
            if change.finished:
                yield from ((number, entry) for entry in change.entries())


def to_json(draft: Draft) -> str:
    """A draft as text, from which `from_json` makes the same: what is unfinished too."""
    kinds = {kind: name for name, kind in _KINDS.items()}
    changes = [[kinds[type(change)], *change] for change in draft.changes]
    return json.dumps(draft._replace(changes=changes)._asdict())  # type: ignore[arg-type]


def from_json(given: str) -> Draft:
    """The draft of such a text.

    >>> from_json(to_json(Draft("2027-01-01", (Factor("family", ("kling-o3",), "10%"),)))).changes[0].factor
    '10%'
    """
    parts = json.loads(given)
    changes = tuple(_KINDS[kind](*map(_frozen, values)) for kind, *values in parts.pop("changes"))
    return Draft(changes=changes, head=Head(*parts.pop("head")), **parts)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _joined(messages: Sequence[str]) -> str:
    """The first message, and how many more there are: a factor can be wrong for every model of a type."""
    first, *more = dict.fromkeys(messages)
    return f"{first} ({len(more)} more like this)" if more else first
