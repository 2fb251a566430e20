"""The queries of usage whose rows are groups already: requests and sums are added; what decided a shape is there."""

from collections.abc import Iterator, Mapping

from ratecard.simulation.groups.kept.manifest import Manifest
from ratecard.simulation.groups.plan import PREDICATES, RAW_QUANTITIES, SUMMED, Plan
from ratecard.simulation.groups.roll_up_sql import Grouping, RollUpSql, Summed
from ratecard.simulation.rows.columns import DAY, Layout, UsageColumn
from ratecard.simulation.workspace.dialect import ColumnType
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql

# Columns of a kept group: the number of its shape, whose share it is, the last cut of the day before its instants, how
# many requests it is.
SHAPE, SHARE, SECOND, ROWS = "shape", "share", "second", "requests"
_OWN = ("type", "model")
_OF_QUANTITIES = (RAW_QUANTITIES, PREDICATES, SUMMED)


def key_column(name: str) -> str:
    """The column of a key."""
    return f"key.{name}"


def shape_column(name: str) -> str:
    """The column of a part of a shape."""
    return name if name in _OF_QUANTITIES else f"shape.{name}"


def is_of_shape(column: str) -> bool:
    """Whether a column of kept rows is of their shape, and not of the group."""
    return column in (*_OWN, *_OF_QUANTITIES) or column.startswith(shape_column(""))


class KeptSql(RollUpSql):
    """The same queries over kept groups: what a plan asks is made of the columns of their shapes.

    `tables` has, of each part, that of its groups with their shapes.
    """

    _requests = f"CAST(sum({ROWS}) AS BIGINT)"

    def __init__(self, kept: Manifest, plan: Plan, tables: Mapping[str, str]) -> None:
        usage, self._kept, self._tables = kept.usage_table, kept, tables
        columns = {name: name if name in _OWN else shape_column(name) for name in (*usage.columns, "type")}
        types: dict[str, ColumnType] = {columns[name]: usage.types[own] for name, own in usage.columns.items()}
        scales = {columns[name]: usage.scales.get(own, 0) for name, own in usage.columns.items()}
        usage = usage._replace(
            columns=columns, types={"type": "text", **types}, scales=scales, untyped=False, layouts=plan.layouts
        )
        super().__init__(usage, plan, DuckDbSql())

    def groupings(self) -> Iterator[Grouping]:
        """Yield the grouping of each part that has groups."""
        return (each for each in super().groupings() if each.name in self._tables)

    def undated(self, part: str) -> str:
        """A query of how many rows of a part have no instant."""
        return f"SELECT coalesce(sum({ROWS}) FILTER ({self._day()} IS NULL), 0) FROM {self._tables[part]}"

    def _rows_of(self, part: str) -> str:
        return f"(SELECT * FROM {self._tables.get(part)} WHERE {self._chosen}) AS chosen"

    def _total_of(self, name: str, _: Summed) -> str:
        return f"sum({name})"

    def _named(self, name: str) -> tuple[str, ColumnType]:
        column = name if name in _OWN else key_column(name)
        return self.dialect.quoted(column), self.usage.types[self.usage.columns[name]]

    def _key(self, key: str) -> str:
        return self.dialect.quoted(key_column(key))

    def _day(self) -> str:
        return DAY if self._kept.dated else "CAST(NULL AS DATE)"

    def _instant(self) -> tuple[str, ColumnType]:
        return self._day(), "date"

    def _column_of_instant(self) -> str:
        return self._day()

    def _second(self) -> str:
        return SECOND

    def _counts(self, layouts: Mapping[str, Layout], added: Mapping[UsageColumn, str]) -> dict[str, str]:
        return {column.name: self._column(column.name) for column in added} | {SUMMED: SUMMED}

    def _predicates(
        self, counted: Mapping[str, Layout], tokens: Mapping[str, Mapping[str, str]], regular: str
    ) -> dict[str, str]:
        asked = super()._predicates(counted, tokens, regular)
        return {name: RAW_QUANTITIES if name == RAW_QUANTITIES else self._number_of_shape(counted) for name in asked}

    @property
    def _same_predicates(self) -> bool:
        own, asked = self._kept.distinguished, self.plan.predicates
        return (own.thresholds, own.lacking) == (asked.thresholds, dict(asked.lacking))

    def _number_of_shape(self, counted: Mapping[str, Layout]) -> str:
        """The number of the tier and the buckets that a plan asks for, of that of all that are kept apart."""
        own, asked = self._kept.distinguished, self.plan.predicates
        if self._same_predicates:
            return PREDICATES
        tiers = len(own.thresholds) + 1
        above = (f"{PREDICATES} % {tiers} > {own.thresholds.index(edge)}" for edge in asked.thresholds)
        terms, by_type = [f"CAST({each} AS INTEGER)" for each in above], {}
        for type_ in counted:
            used = (
                f"({PREDICATES} // {tiers} >> {own.lacking[type_].index(bucket)} & 1) * {asked.weight(type_, bucket)}"
                for bucket in asked.lacking.get(type_, ())
            )
            if weights := " + ".join(used):
                by_type[type_] = weights
        return " + ".join((*terms, self._of_type(counted, by_type, "0")))
