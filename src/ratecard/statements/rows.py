"""The rows of one account in a usage, as a simulation reads them, in the order of time."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ratecard.base.instants import utc
from ratecard.requests.counters import UsageDialect
from ratecard.simulation.groups.plan import NO_ACCOUNT, RAW_QUANTITIES, Usage
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.rows.duckdb_responses import requests_only
from ratecard.simulation.rows.files import Source
from ratecard.simulation.rows.where import Columns, read_condition
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql
from ratecard.simulation.workspace.workspace import Workspace, readable
from ratecard.statements.booked import BOOKED_NAMES
from ratecard.statements.lines import StatementError

_BATCH = 10_000
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SQL = DuckDbSql()


class AccountRows:
    """The rows of one account in a usage that an engine has opened; of responses in a dialect, those of requests."""

    def __init__(self, workspace: Workspace, opened: Any, account: str, dialect: UsageDialect | None = None) -> None:
        self._workspace, self._known = workspace, opened.known
        self.source: Source = opened.source
        known: Usage = self._known
        if known.is_counted:
            raise StatementError("a roll-up has no instants of its rows; give the usage that it was made of")
        if not known.has("timestamp"):
            raise StatementError("the usage has no column 'timestamp'. Name it: --map timestamp=COLUMN")
        self.is_ledger = known.is_ledger
        named = known.account
        if not named and not self.is_ledger:
            raise StatementError(NO_ACCOUNT)
        self._table = "usage" if self.is_ledger else known.table
        columns = [column.name for layout in known.layouts.values() for column in layout.columns]
        self._names = BOOKED_NAMES if self.is_ledger else tuple(dict.fromkeys(("type", "model", *columns)))
        self._own = f"{self._text(named)} = {_SQL.literal(account)}" if named else "TRUE"
        if dialect and (requests := requests_only(dialect, known.types, None)):
            named_in_sql = Columns(_SQL, lambda name: (_SQL.quoted(name), known.types[name]), "NULL")
            self._own += f" AND {read_condition(requests).sql(named_in_sql)}"
        type_ = known.types[known.columns["timestamp"]]
        column = _SQL.quoted(known.columns["timestamp"])
        micros = f"epoch_us(TRY_CAST({column} AS TIMESTAMPTZ))" if type_ == "text" else f"epoch_us({column})"
        self._instant = f"CASE WHEN {_SQL.day(column, type_)} IS NOT NULL THEN {micros} END"

    def months(self) -> set[date]:
        """The months, by their first day, in which the usage has rows of any account."""
        month = f"date_trunc('month', make_timestamp({self._instant}))"
        return {row[0].date() for row in self._rows(f"SELECT DISTINCT {month} FROM {self._table}") if row[0]}

    def count_odd(self) -> int:
        """Count the rows of the account whose timestamp is missing or not an instant: they are of no month."""
        query = f"SELECT count(*) FROM {self._table} WHERE {self._own} AND ({self._instant}) IS NULL"
        return int(next(self._rows(query))[0])

    def of(self, first: date, end: date) -> Iterator[tuple[datetime, dict[str, str]]]:
        """Yield each row of the account from a day on and before another: its instant, and its columns as text.

        Rows of one instant come in the order of what they hold, so that the order in the file means nothing.
        """
        # The view of a ledger has columns that the export itself does not have.
        own = {name for name, *_ in self._rows(f"DESCRIBE {self._table}")}
        names = [name for name in self._names if self._known.columns.get(name) in own]
        texts = ", ".join(self._text(name) for name in names)
        within = f"({self._instant}) >= {_micros(first)} AND ({self._instant}) < {_micros(end)}"
        order = ", ".join(str(number + 2) for number in range(len(names)))
        chosen = f"SELECT {self._instant}, {texts} FROM {self._table} WHERE {self._own} AND {within}"
        for micros, *values in self._rows(f"{chosen} ORDER BY 1, {order}"):
            row = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            yield _EPOCH + micros * _MICROSECOND, row

    def usage_of(self, row: Mapping[str, str]) -> UsageShape:
        """The row as a shape of its own: nothing of it is summed."""
        type_ = row.get("type") or None
        layout = self._known.layouts.get(type_ or "")
        attributes = {column.name for column in layout.attributes} if layout else set()
        counted = {column.name for column in (*layout.quantities, *layout.counts)} if layout else set()
        values = {name: value for name, value in row.items() if name in attributes}
        values[RAW_QUANTITIES] = json.dumps({name: value for name, value in row.items() if name in counted})
        return UsageShape(type_, row.get("model"), json.dumps(values), None)

    def _text(self, name: str) -> str:
        return _SQL.text(_SQL.quoted(self._known.columns[name]))

    def _rows(self, query: str) -> Iterator[Any]:
        with readable(), self._workspace.another() as connection:
            found = connection.execute(query)
            while batch := found.fetchmany(_BATCH):
                yield from batch


def _micros(day: date) -> int:
    return (utc(day) - _EPOCH) // _MICROSECOND
