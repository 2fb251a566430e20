"""The queries of usage whose rows are groups already: requests and sums are added; what decided a shape is there."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ratecard.simulation.usage.columns import DAY, Layout, UsageColumn
from ratecard.simulation.usage.dialect import ColumnType
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.kept.manifest import Distinguished, Manifest
from ratecard.simulation.usage.plan import GIVEN, PREDICATES, SUMMED, Plan
from ratecard.simulation.usage.roll_up_sql import Grouping, RollUpSql

# Columns of a kept group: the number of its shape, whose share it is, the last cut of the day before its instants, how
# many requests it is.
SHAPE, SHARE, SECOND, ROWS = "shape", "share", "second", "requests"
_OWN = ("type", "model")
_OF_QUANTITIES = (GIVEN, PREDICATES, SUMMED)
# Of several shapes that a plan does not distinguish, the number of one; and the column of it in a table of groups.
_ALIKE, _NUMBER = "alike", "number"


def key_column(name: str) -> str:
    """The column of a key."""
    return f"key.{name}"


def shape_column(name: str) -> str:
    """The column of a part of a shape."""
    return name if name in _OF_QUANTITIES else f"shape.{name}"


def is_of_shape(column: str) -> bool:
    """Whether a column of kept rows is of their shape, and not of the group."""
    return column in (*_OWN, *_OF_QUANTITIES) or column.startswith(shape_column(""))


class KeptTables(NamedTuple):
    """The tables of a part: its groups, the shapes that they number, and a name for what a plan asks of these.

    `several`: the same shape may have several numbers.
    """

    groups: str
    shapes: str
    asked: str = ""
    several: bool = False


class KeptSql(RollUpSql):
    """The queries over kept groups: what a plan asks is worked out of each shape once, and groups have its number.

    `tables` has those of each part; `asked` then the queries of their shapes as the plan distinguishes them.
    """

    def __init__(self, kept: Manifest, plan: Plan, tables: Mapping[str, KeptTables]) -> None:
        usage, self._kept, self._tables, self.asked = kept.usage_table, kept, tables, dict[str, str]()
        columns = {name: name if name in _OWN else shape_column(name) for name in (*usage.columns, "type")}
        types: dict[str, ColumnType] = {columns[name]: usage.types[own] for name, own in usage.columns.items()}
        scales = {columns[name]: usage.scales.get(own, 0) for name, own in usage.columns.items()}
        usage = usage._replace(
            columns=columns, types={"type": "text", **types}, scales=scales, untyped=False, layouts=plan.layouts
        )
        super().__init__(usage, plan, DuckDbSql(), DuckDbSql())
        # Groups and shapes that are kept by no more than a plan asks are those of the plan.
        asked, own = Distinguished.of(plan, untyped=False), kept.distinguished
        self._same_shapes = asked.layouts == own.layouts and self._same_predicates
        self._whole = self._same_shapes and asked.cuts == own.cuts
        self._whole = self._whole and {*kept.keys, *((DAY,) if kept.dated else ())} <= set(plan.keys)

    def groupings(self) -> Iterator[Grouping]:
        """Yield the grouping of each part that has groups."""
        return (each for each in super().groupings() if each.name in self._tables)

    def undated(self, part: str) -> str:
        """A query of how many rows of a part have no instant."""
        return f"SELECT coalesce(sum({ROWS}) FILTER ({self._day()} IS NULL), 0) FROM {self._tables[part].groups}"

    def _query(
        self, part: str, named: Mapping[str, str], shape: Mapping[str, str], sums: Mapping[str, str], where: str
    ) -> str:
        if part not in self._tables:
            return ""
        groups, shapes, asked, several = self._tables[part]
        own = {name: named[name] for name in _OWN} | dict(shape)
        alike = f"min({SHAPE}) OVER (PARTITION BY {', '.join(own.values())})"
        alike = SHAPE if self._same_shapes and not several else alike
        columns = ", ".join(f"{expression} AS {alias}" for alias, expression in own.items())
        self.asked[part] = f"SELECT {SHAPE}, {alike} AS {_ALIKE}, {columns} FROM {shapes} WHERE {where}"
        keys = [f"{expression} AS {alias}" for alias, expression in named.items() if alias not in _OWN]
        grouped = [*_OWN, *keys, *([GIVEN] if GIVEN in shape else []), f"{_ALIKE} AS {_NUMBER}"]
        requests = ROWS if self._whole else f"CAST(sum({ROWS}) AS BIGINT)"
        counted = (f"{expression} AS {alias}" for alias, expression in (*sums.items(), (ROWS, requests)))
        query = f"SELECT {', '.join((*grouped, *counted))} FROM {groups} JOIN {asked} USING ({SHAPE})"
        by = "" if self._whole else f" GROUP BY {', '.join(str(at + 1) for at in range(len(grouped)))}"
        return f"{query} WHERE {self._chosen}{by}"

    def _written(self, name: str, query: str, layouts: Mapping[str, Layout], attributes: tuple[str, ...]) -> Grouping:
        written = super()._written(name, query, layouts, attributes)
        asked = self._tables[name].asked if name in self._tables else ""
        text, length = (
            each and f"(SELECT {each} FROM {asked} WHERE {SHAPE} = {_NUMBER})"
            for each in (written.attributes, written.length)
        )
        return written._replace(shape=(_NUMBER,), attributes=text, length=length, numbered=True)

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

    def _summing(self, name: str, total: str) -> str:
        return name if self._whole else f"sum({name})"

    def _counts(self, layouts: Mapping[str, Layout], added: Mapping[UsageColumn, str]) -> dict[str, str]:
        return {column.name: self._column(column.name) for column in added} | {SUMMED: SUMMED}

    def _predicates(
        self, counted: Mapping[str, Layout], tokens: Mapping[str, Mapping[str, str]], regular: str
    ) -> dict[str, str]:
        asked = super()._predicates(counted, tokens, regular)
        return {name: GIVEN if name == GIVEN else self._number_of_shape(counted) for name in asked}

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
