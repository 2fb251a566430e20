"""The rows of a usage that are simulated: a small language of conditions over columns, and the days since and until.

    region = 'eu' and (prompt_tokens > 1000 or model in ('a', 'b')) and not customer is missing

It means the same on every engine. A value that is absent, or cannot be compared, is not equal to, smaller than or
greater than any other; `!=` and `not in` are the opposites of `=` and `in`, so that they are true for it.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import SimulationError
from ratecard.simulation.rows.columns import DAY, USAGE_COLUMNS
from ratecard.simulation.sql import ColumnType, DuckDbSql

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")+")|(?P<number>-?[0-9]+(?:\.[0-9]+)?)(?![\w.])"""
    r"""|(?P<name>[^\W\d]\w*)|(?P<sign><=|>=|!=|[=<>(),]))"""
)
_ORDERS = ("=", "!=", "<", "<=", ">", ">=")
_WORDS = ("and", "or", "not", "in", "is", "missing", "true", "false")
_FLAGS = {"true": True, "false": False}
# The digits of the decimals that engines compare.
_MOST_DIGITS, _MOST_PLACES = 20, 18
_DEEPEST = 100
_DATED = ("date", "timestamp")
_NUMBERS = ("integer", "decimal", "double")

_Value = str | bool | Decimal


class Columns(NamedTuple):
    """The columns of an engine for conditions: its dialect, the quoted column and type of each name, and the day."""

    dialect: DuckDbSql
    named: Callable[[str], tuple[str, ColumnType]]
    day: str


class Condition(NamedTuple):
    """A condition as it was written, and the columns that it names."""

    text: str
    columns: tuple[str, ...]

    def sql(self, columns: Columns) -> str:
        """Return the condition as SQL over columns. Raises `SimulationError` for values that cannot be compared."""
        return _Reader(self.text, columns).read()


class Chosen(NamedTuple):
    """The rows that are simulated: where a condition holds, from the day `since` on, before the day `until`."""

    where: Condition | None = None
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, where: str | None, since: date | str | None, until: date | str | None) -> "Chosen":
        """Read a condition and its dates. Raises `SimulationError` with the place of what cannot be read."""
        chosen = cls(read_condition(where) if where is not None else None, _day("since", since), _day("until", until))
        if chosen.since and chosen.until and chosen.since >= chosen.until:
            raise SimulationError(f"no day is since {chosen.since} and before {chosen.until}")
        return chosen

    def __bool__(self) -> bool:
        return self != Chosen()

    @property
    def by_day(self) -> bool:
        """Return True if the rows of some days are left out, so that each row must have an instant."""
        return bool(self.since or self.until) or DAY in self.columns

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the condition names."""
        return self.where.columns if self.where else ()

    def words(self) -> str:
        """Return the choice in words: `where region = 'eu', since 2026-10-01, until 2026-11-01`."""
        parts = {"where": self.where.text if self.where else None, "since": self.since, "until": self.until}
        return ", ".join(f"{name} {value}" for name, value in parts.items() if value)

    def sql(self, columns: Columns) -> str:
        """Return the choice as a condition of SQL that is true or false, never unknown."""
        parts = [self.where.sql(columns)] if self.where else []
        parts += [f"coalesce({columns.day} >= DATE '{self.since}', FALSE)"] if self.since else []
        parts += [f"coalesce({columns.day} < DATE '{self.until}', FALSE)"] if self.until else []
        return " AND ".join(parts)


def read_condition(text: str) -> Condition:
    """Read a condition. Raises `SimulationError` with the place of what cannot be read, and what is expected there.

    >>> read_condition("region = 'eu' and not prompt_tokens in (1, 2)").columns
    ('region', 'prompt_tokens')
    """
    reader = _Reader(text)
    reader.read()
    return Condition(text.strip(), tuple(dict.fromkeys(reader.named)))


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


class _Reader:
    """A reader of conditions, from left to right; `or` binds less than `and`, and `and` less than `not`.

    It returns SQL over `columns`; without them it only checks how a condition is written, and which columns it names.
    """

    def __init__(self, text: str, columns: Columns | None = None) -> None:
        self.text, self._columns, self.named, self._depth = text, columns, list[str](), 0
        self._tokens = list(self._split())
        self._next = 0

    def read(self) -> str:
        sql = self._any_of()
        if self._here.kind:
            raise self._unexpected("and, or, or the end")
        return sql

    @property
    def _here(self) -> _Token:
        """Return the token that is read next; at the end it has no kind."""
        return self._tokens[self._next]

    def _any_of(self) -> str:
        return self._joined("or", self._all_of)

    def _all_of(self) -> str:
        return self._joined("and", self._one)

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._takes(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else f"({f' {word.upper()} '.join(parts)})"

    def _one(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SimulationError(f"where: conditions are nested more than {_DEEPEST} deep")
        try:
            if self._takes("not"):
                return _not(self._one())
            if self._takes("("):
                condition = self._any_of()
                self._needs(")")
                return condition
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> str:
        token = self._here
        if token.kind not in ("name", "quoted") or (token.kind == "name" and token.text.lower() in _WORDS):
            raise self._unexpected("a column")
        self._next += 1
        name = token.text if token.kind == "name" else token.text[1:-1].replace('""', '"')
        self.named.append(name)
        if self._takes("is"):
            is_negated = self._takes("not")
            self._needs("missing")
            return _not(self._is_null(name)) if is_negated else self._is_null(name)
        if self._takes("not"):
            self._needs("in")
            return _not(self._listed(name))
        if self._takes("in"):
            return self._listed(name)
        order = self._here.text
        if order not in _ORDERS:
            raise self._unexpected(f"one of {' '.join(_ORDERS)}, in, not in, is missing")
        self._next += 1
        value = self._literal()
        return _not(self._compared(name, "=", value)) if order == "!=" else self._compared(name, order, value)

    def _listed(self, name: str) -> str:
        self._needs("(")
        values = [self._literal()]
        while self._takes(","):
            values.append(self._literal())
        self._needs(")")
        return f"({' OR '.join(self._compared(name, '=', value) for value in values)})"

    def _is_null(self, name: str) -> str:
        if self._columns is None:
            return ""
        return f"({self._columns.day if name == DAY else self._columns.named(name)[0]} IS NULL)"

    def _compared(self, name: str, order: str, value: _Value) -> str:
        """Return a comparison; it is false if the column has no value that can be compared."""
        if self._columns is None:
            return ""
        left, right = _sides(self._columns, name, value)
        return f"coalesce({left} {order} {right}, FALSE)"

    def _literal(self) -> _Value:
        token = self._here
        if token.kind == "name" and token.text.lower() in _FLAGS:
            self._next += 1
            return _FLAGS[token.text.lower()]
        if token.kind == "text":
            self._next += 1
            return token.text[1:-1].replace("''", "'")
        if token.kind == "number":
            digits, _, places = token.text.lstrip("-").partition(".")
            if len(digits.lstrip("0")) > _MOST_DIGITS or len(places.rstrip("0")) > _MOST_PLACES:
                words = f"at most {_MOST_DIGITS} digits before the point and {_MOST_PLACES} after it"
                raise SimulationError(f"where: {token.text} has too many digits: {words}")
            self._next += 1
            return Decimal(token.text)
        hint = f". Text is in quotes: '{token.text.strip(chr(34))}'" if token.kind in ("name", "quoted") else ""
        raise self._unexpected(f"a number, 'text', true or false{hint}")

    def _takes(self, word: str) -> bool:
        token = self._here
        is_next = token.kind in ("name", "sign") and token.text.lower() == word
        self._next += is_next
        return is_next

    def _needs(self, word: str) -> None:
        if not self._takes(word):
            raise self._unexpected(word)

    def _unexpected(self, expected: str) -> SimulationError:
        """Return the error of a token that is there instead of the expected one."""
        place, token = self._here.place, f"'{self._here.text}'" if self._here.kind else "the end"
        return SimulationError(f"where: {self.text.strip()!r}: at character {place}, {token}; expected {expected}")

    def _split(self) -> Iterator[_Token]:
        place, end = 0, len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None or match.lastgroup is None:
                rest = self.text[place:end].lstrip()
                at = end - len(rest) + 1
                raise SimulationError(f"where: {self.text.strip()!r}: at character {at}, '{rest[:20]}' cannot be read")
            yield _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) + 1)
            place = match.end()
        yield _Token("", "", end + 1)


def _not(condition: str) -> str:
    return f"(NOT {condition})"


def _sides(columns: Columns, name: str, value: _Value) -> tuple[str, str]:
    """Return the column and the value in a form that can be compared. Raises `SimulationError` if there is none."""
    dialect = columns.dialect
    if name == DAY:
        if not isinstance(value, str):
            raise SimulationError(f"where: {DAY} is compared with a day in quotes, like '2026-10-01'")
        return columns.day, f"DATE '{_day(f'where: {DAY}', value)}'"
    column, type_ = columns.named(name)
    # Text files hold every value as text, and mean by it what other files hold.
    is_number = type_ == "text" and name in USAGE_COLUMNS and USAGE_COLUMNS[name].kind == "number"
    if type_ in _DATED or (name == "timestamp" and type_ == "text"):
        dated = type_ if type_ in _DATED else "timestamp"
        raise SimulationError(f"where: '{name}' is a {dated}. Choose by {DAY}, like {DAY} >= '2026-10-01', or by since")
    if isinstance(value, bool) and type_ in ("boolean", "text"):
        return f"lower({dialect.digits(column)})", f"'{str(value).lower()}'"
    if isinstance(value, str) and type_ == "text" and not is_number:
        return dialect.digits(column), dialect.literal(value)
    if isinstance(value, Decimal) and type_ in (*_NUMBERS, "text"):
        return dialect.number(
            column, type_
        ), f"CAST('{value:f}' AS {'DOUBLE' if type_ == 'double' else 'DECIMAL(38, 18)'})"
    kind = {bool: "true or false", str: "text", Decimal: "a number"}[type(value)]
    others = {"boolean": "true or false", "text": "text", "other": "lists or objects"}
    held = "numbers" if is_number else others.get(type_, "numbers")
    raise SimulationError(f"where: column '{name}' holds {held}, and is compared with {kind}")


def _day(what: str, day: Any) -> date | None:
    if day is None or (isinstance(day, date) and not isinstance(day, datetime)):
        return day
    try:
        if isinstance(day, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", day, re.ASCII):
            return date.fromisoformat(day)
    except ValueError:
        pass
    raise SimulationError(f"{what} is {str(day)!r}, and must be a day, like 2026-10-01")
