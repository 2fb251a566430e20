"""The queries of usage whose rows are groups already: requests and sums are added; what decided a shape is there."""

from collections.abc import Mapping

from ratecard.simulation.usage.columns import DAY, Layout
from ratecard.simulation.usage.dialect import ColumnType
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.kept.manifest import Distinguished, Manifest
from ratecard.simulation.usage.plan import GIVEN, PREDICATES, Plan
from ratecard.simulation.usage.roll_up_sql import RollUpSql

# Columns of a kept group: whose share it is, the last cut of the day before its instants, how many requests it is.
SHARE, SECOND, ROWS = "share", "second", "requests"
_OWN = ("type", "model")


def key_column(name: str) -> str:
    """The column of a key."""
    return f"key.{name}"


def shape_column(name: str) -> str:
    """The column of a part of a shape."""
    return name if name in (GIVEN, PREDICATES) else f"shape.{name}"


class KeptSql(RollUpSql):
    """The queries over kept groups; `tables` has the name of the table of each part."""

    def __init__(self, kept: Manifest, plan: Plan, tables: Mapping[str, str]) -> None:
        usage, self._kept, self._tables = kept.usage_table, kept, tables
        columns = {name: name if name in _OWN else shape_column(name) for name in (*usage.columns, "type")}
        types: dict[str, ColumnType] = {columns[name]: usage.types[own] for name, own in usage.columns.items()}
        scales = {columns[name]: usage.scales.get(own, 0) for name, own in usage.columns.items()}
        usage = usage._replace(
            columns=columns, types={"type": "text", **types}, scales=scales, untyped=False, layouts=plan.layouts
        )
        super().__init__(usage, plan, DuckDbSql(), DuckDbSql())
        # Groups that are kept by no more than a plan asks are those of the plan.
        asked, own = Distinguished.of(plan, untyped=False), kept.distinguished
        same = (asked.cuts, asked.layouts) == (own.cuts, own.layouts)
        self._whole = same and {*kept.keys, *((DAY,) if kept.dated else ())} <= set(plan.keys)

    def rows_of(self, part: str) -> str:
        """The chosen groups of a part."""
        return f"(SELECT * FROM {self._tables.get(part)} WHERE {self._chosen}) AS kept"

    def undated(self, part: str) -> str:
        """A query of how many rows of a part have no instant."""
        return f"SELECT coalesce(sum({ROWS}) FILTER ({self._day()} IS NULL), 0) FROM {self._tables[part]}"

    def _rows(self, part: str) -> str:
        return self.rows_of(part)

    def _named(self, name: str) -> tuple[str, ColumnType]:
        column = name if name in _OWN else key_column(name)
        return self.dialect.quoted(column), self.usage.types[self.usage.columns[name]]

    def _key(self, key: str) -> str:
        return self.dialect.quoted(key_column(key))

    def _day(self) -> str:
        return DAY if self._kept.dated else "CAST(NULL AS DATE)"

    def _second(self) -> str:
        return SECOND

    def _requests(self) -> str:
        return ROWS if self._whole else f"CAST(sum({ROWS}) AS BIGINT)"

    def _grouped(self, columns: str) -> str:
        return "" if self._whole else super()._grouped(columns)

    def _summing(self, name: str, total: str) -> str:
        return name if self._whole else f"sum({name})"

    def _predicates(
        self, counted: Mapping[str, Layout], tokens: Mapping[str, Mapping[str, str]], regular: str
    ) -> dict[str, str]:
        asked = super()._predicates(counted, tokens, regular)
        return {name: GIVEN if name == GIVEN else self._number_of_shape(counted) for name in asked}

    def _number_of_shape(self, counted: Mapping[str, Layout]) -> str:
        """The number of the tier and the buckets that a plan asks for, of that of all that are kept apart."""
        own, asked = self._kept.distinguished, self.plan.predicates
        if (own.thresholds, own.lacking) == (asked.thresholds, dict(asked.lacking)):
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
