"""What a request asks of the usage history: the first page of some rows, or the page behind a cursor."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from ratecard.history.fields import Currency, Timestamp, WholeNumberText
from ratecard.history.refusal import RefusedError
from ratecard.requests.fields import Field
from ratecard.words.tree import Path
from ratecard.words.wording import allowed_values, echo, wrong_type

LARGEST_PAGE = 1000
FILTERS: dict[str, Field] = {
    "startTimestamp": Timestamp(),
    "endTimestamp": Timestamp(),
    "currency": Currency(),
    "pageSize": WholeNumberText(1, LARGEST_PAGE),
}
_NAMED_MOST = 10


class Question(NamedTuple):
    """Either a cursor, or filters."""

    cursor: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    currency: str | None = None
    size: int = LARGEST_PAGE


def read_parameters(pairs: Iterable[tuple[str, str]]) -> Question:
    """The question of a query string. Raises `RefusedError` with everything that is wrong.

    >>> read_parameters([("currency", "USD"), ("pageSize", "10")])
    Question(cursor=None, start=None, end=None, currency='USD', size=10)
    """
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        given.setdefault(name, []).append(text)
    problems = [*_unknown(given), *(((name,), wrong_type("string", [])) for name in given if len(given[name]) > 1)]
    if "cursor" in given and given.keys() & FILTERS.keys():
        problems.append((("cursor",), "A cursor carries the filters of its first page. Send it alone, or leave it out"))
    values: dict[str, Any] = {}
    for name, field in FILTERS.items():
        for text in given.get(name, [])[:1]:
            values[name] = field.accept(text)
            if values[name] is None:
                problems += [((name,), message) for message in field.messages(text)]
    start, end = values.get("startTimestamp"), values.get("endTimestamp")
    if start and end and end <= start:
        problems.append((("endTimestamp",), "Must be later than startTimestamp"))
    if problems:
        raise RefusedError(problems)
    cursor = given["cursor"][0] if "cursor" in given else None
    return Question(cursor, start, end, values.get("currency"), values.get("pageSize", LARGEST_PAGE))


def _unknown(names: Iterable[str]) -> list[tuple[Path, str]]:
    """A filter with a wrong name must not be ignored: the rows would be others than those asked for."""
    unknown = [f"'{echo(name)}'" for name in names if name != "cursor" and name not in FILTERS][:_NAMED_MOST]
    if not unknown:
        return []
    allowed = f"Allowed: 'cursor' alone, or {allowed_values(FILTERS)}"
    return [((), f"Unrecognized key(s) in object: {', '.join(unknown)}"), ((), allowed)]
