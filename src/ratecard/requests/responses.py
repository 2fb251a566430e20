"""Find values in the responses of providers, and check that the parts of a stream are complete and in order."""

from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import JsonError, read_json
from ratecard.base.messages import Path, Problems, field_name
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.counters import Sign, UsageDialect, Way
from ratecard.requests.fields import decimal
from ratecard.requests.token_usage import word_of

INVALID_RESPONSE = "Invalid response"
_TWO = "These are two responses: give each by itself"
_TWICE = "This turn is given twice"
_ANOTHER_MODEL = "This usage is of another model: leave it out, and read it by itself"
_ASYNCHRONOUS = "Collect an asynchronous stream first: [part async for part in stream]"
_NOT_IN_ORDER = "Give the parts of a stream in their order"
_NOT_FINISHED = "This stream has not finished. Give all of its parts, or partial=True for the price of what came"


def opened_json(given: Any, at: Path) -> Any:
    """Read text or bytes as JSON; return any other value as it is. Raises `QuoteError` for text that is not JSON."""
    if not isinstance(given, (str, bytes, bytearray)):
        return given
    try:
        return read_json(given)
    except JsonError as error:
        raise QuoteError(INVALID_RESPONSE, [(at, f"The text {error}")]) from None


def value_in(given: Any, way: Iterable[str]) -> Any:
    """Return the value at the end of a way through mappings, JSON and client objects; None if there is no value.

    Raises `QuoteError` for invalid text that begins like JSON: otherwise, other counts would be read in its place.
    """
    return next((value for _, value in values_in(given, tuple(way))), None)


def values_in(given: Any, way: Way, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value at the end of a way, with its path; the name `*` means every entry of a list."""
    for place, name in enumerate(way):
        if name == "*":
            for index, entry in enumerate(given if isinstance(given, (list, tuple)) else ()):
                yield from values_in(entry, way[place + 1 :], (*at, index))
            return
        if isinstance(given, str) and given.lstrip().startswith("{"):
            given = opened_json(given, at)
        at = (*at, name)
        given = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    yield at, given


def says(part: Any, signs: Iterable[Sign]) -> bool:
    """Return True if a part has one of these signs."""
    return any(
        word_of(value) in words if words else bool(value) or isinstance(value, Mapping)
        for way, words in signs
        for _, value in values_in(part, way)
        if value is not None
    )


def first_of(given: Any, ways: Iterable[Way]) -> tuple[Way, Any]:
    """Return the first of these ways that leads to a value, and the value; an empty way and None without any."""
    return next(((way, value) for way in ways if (value := value_in(given, way)) is not None), ((), None))


def is_stream(response: Any) -> bool:
    """Return True for a response in parts: a list, an iterator, or a client object that yields the parts.

    Raises `QuoteError` for an asynchronous stream. Pydantic models yield their fields, so they are not streams.
    """
    if isinstance(response, AsyncIterable) and not isinstance(response, Iterable):
        raise QuoteError(INVALID_RESPONSE, [((), _ASYNCHRONOUS)])
    is_one = isinstance(response, (str, bytes, bytearray, Mapping)) or hasattr(response, "model_dump")
    return isinstance(response, Iterable) and not is_one


def of_export(response: Any, dialect: UsageDialect, problems: Problems) -> Any:
    """Return the only request of an export, or a list of its requests; attributes in a list become a mapping."""
    if dialect.exported and value_in(response, dialect.exported[:1]) is not None:
        requests = [request for _, request in values_in(response, dialect.exported) if request is not None]
        response = requests if len(requests) > 1 else next(iter(requests), response)
    entries = value_in(response, (dialect.attributes,)) if dialect.attributes else None
    if not isinstance(entries, (list, tuple)):
        return response
    attributes: dict[str, Any] = {}
    for index, entry in enumerate(entries):
        name = str(value_in(entry, ("key",)))
        if name in attributes:
            problems.append(((dialect.attributes, index), f"{field_name(name)} is given twice in this list"))
        attributes[name] = _typed(value_in(entry, ("value",)))
    return {**(mapping_of(response) or {}), dialect.attributes: attributes}


def _typed(given: Any) -> Any:
    """Return the value of an OTLP attribute; whole numbers are text there: `{"intValue": "12"}`."""
    way, value = first_of(given, (("intValue",), ("doubleValue",), ("stringValue",), ("boolValue",)))
    is_whole = way == ("intValue",) and isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if is_whole else value if way else given


class Stream:
    """The state of a stream that is read part by part: its order, its turns, and whether it has finished."""

    def __init__(self, dialect: UsageDialect, problems: Problems, partial: bool) -> None:
        self._dialect, self._problems, self._partial = dialect, problems, partial
        self._number: Decimal | None = None
        # The number of the part that is being read.
        self.place = -1
        # The numbers of parts that have the id of another response, and of parts that are complete responses.
        self._others: list[int] = []
        self._complete: list[int] = []
        # The first id that the client made (True), and the first other id (False).
        self._ids: dict[bool, str] = {}
        self._another_model: list[int] = []
        self._turns: set[str] = set()
        # True if the parts with a usage so far are turns; None before the first part.
        self._of_turns: bool | None = None
        self._finished = False

    def take(self, part: Any) -> None:
        """Read the order, the beginning, the end and the id of the stream from a part, with or without a usage."""
        dialect = self._dialect
        self.place += 1
        if (number := decimal(first_of(part, dialect.order)[1])) is not None:
            if self._number is not None and number <= self._number:
                self.refuse(_NOT_IN_ORDER)
            self._number = number
        if says(part, dialect.begins):
            self._finished = False
            if self._of_turns is False:
                self.refuse()
        self._finished |= says(part, dialect.ends)
        if says(part, dialect.complete):
            self._finished = True
            self._complete.append(self.place)
        id_ = self._id_of(part)
        if id_ and self._ids.setdefault(id_.startswith(dialect.ids_of_client), id_) != id_:
            self._others.append(self.place)

    def is_turn(self, part: Any) -> bool:
        """Return True if a part with a usage is a turn; refuse one that neither is a turn nor continues the stream."""
        if says(part, self._dialect.of_another_model):
            self._another_model.append(self.place)
            return False
        turn, id_ = says(part, self._dialect.turns), self._id_of(part)
        if turn and id_ in self._turns - {""}:
            self.refuse(_TWICE)
        elif self._of_turns is not None and not (turn and self._of_turns):
            goes_on = id_ or says(part, self._dialect.continues) or self._dialect.stream == "add"
            if turn or self._of_turns or not goes_on:
                self.refuse()
        self._turns |= {id_} if turn else set()
        self._of_turns = turn
        return turn

    def in_order(self, before: int | Decimal, after: int | Decimal) -> None:
        """Refuse a total that is less than an earlier one."""
        if after < before:
            self.refuse(_NOT_IN_ORDER)

    def note(self, has_usage: bool) -> dict[str, str]:
        """Return the note that a stream was cut off, or no note; refuse such a stream unless it may be partial."""
        if self.place:
            self._problems += [((place,), _ANOTHER_MODEL) for place in self._another_model[:MOST_PROBLEMS]]
        others = [*(self._complete if self.place else ()), *self._others]
        if others and not (self._of_turns or self._problems):
            self._problems.append(((others[0],), _TWO))
        cut_off = self._dialect.ends and self.place >= 0 and not (self._finished or self._problems)
        if cut_off and not self._partial:
            self._problems.append(((), _NOT_FINISHED))
        return {"stream: not finished": ""} if cut_off and self._partial and has_usage else {}

    def _id_of(self, part: Any) -> str:
        """Return the id of the response in a part; empty if it has none, like the first part of a stream from Azure."""
        id_ = first_of(part, self._dialect.id)[1]
        return "" if id_ is None or (word := word_of(id_)).startswith(self._dialect.ids_of_parts) else word

    def refuse(self, words: str = _TWO) -> None:
        """Add a problem of this part, unless it has one already."""
        at = (self.place,)
        if len(self._problems) < MOST_PROBLEMS and all(path != at for path, _ in self._problems):
            self._problems.append((at, words))
