"""The queries that roll usage up into shapes.

Each type with quantities to add has a plan of its own, which reads only the columns of that type. The other types have
far fewer rows: one plan for all of them reads the file once, not once for each.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from ratecard.rating.tokens import BUCKETS
from ratecard.requests.text_usage import MOST_TOKENS
from ratecard.simulation.columns import LAYOUTS, LEDGER, LEDGER_LAYOUTS, Column, Layout
from ratecard.simulation.dialect import ColumnType, Dialect, Writer
from ratecard.simulation.predicates import Predicates

# More quantities than this no type has.
QUANTITIES = 4
# How many decimals of a sum of seconds a column of some type can need.
_PLACES: dict[ColumnType, int] = {"integer": 0, "boolean": 0}
_MOST_SECONDS = 10**9
# What a shape of quantities has beside the attributes of its type: its quantities as they are, where they cannot be
# added; else what the tables ask of them, as one number (`Predicates.split`).
GIVEN, ASKED = "given", "asked"
# The key that is made of the timestamp.
DAY = "day"
# Keys that a group has anyway.
_OWN = ("type", "model", DAY)
# Before every boundary.
EARLIEST = date.min


class Plan(NamedTuple):
    """What to roll up: the keys to group by (`day` is made of the timestamp), and what the compared tables ask."""

    keys: tuple[str, ...]
    predicates: Predicates
    # Whether some card is read at each row's own time.
    dated: bool
    # What a row of RPC calls, which names no model, is counted under.
    rpc_model: str = "rpc"


class Usage(NamedTuple):
    """The columns of a usage table: where each of ours is, and the type of every column."""

    columns: Mapping[str, str]
    types: Mapping[str, ColumnType]
    # How many decimals each decimal column has.
    scales: Mapping[str, int] = {}
    table: str = "usage"

    def has(self, name: str) -> bool:
        """Whether the table has one of our columns, under whatever name."""
        return name in self.columns

    @property
    def is_ledger(self) -> bool:
        """Whether the rows are those of a billing export."""
        return self.table == LEDGER

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The types that its rows may have."""
        return LEDGER_LAYOUTS if self.is_ledger else LAYOUTS


def places_of_type(usage: Usage, layout: Layout) -> int:
    """How many decimals the sums of a type's quantities have."""
    if not layout.places or not layout.quantities or not usage.has(layout.quantities[0].name):
        return 0
    name = usage.columns[layout.quantities[0].name]
    if usage.types[name] == "decimal":
        return usage.scales[name]
    return _PLACES.get(usage.types[name], layout.places)


class Grouping(NamedTuple):
    """The query that groups the rows of a type, and the columns that write its groups: of every type the same ones."""

    type: str
    query: str
    columns: str


class RollUpSql:
    """Makes the query of every type in the dialect of the engine that holds the usage; `writer` is where groups go."""

    def __init__(self, usage: Usage, plan: Plan, dialect: Dialect, writer: Writer, table: str = "usage") -> None:
        self.usage, self.plan, self.dialect, self.writer, self.table = usage, plan, dialect, writer, table

    def groupings(self) -> Iterator[Grouping]:
        """One for every type with quantities, and one for all other rows, those of no known type too."""
        type_ = self._column("type")
        others: list[Column] = []
        for name, layout in self.usage.layouts.items():
            if layout.quantities:
                yield self._grouping(name, layout, f"{type_} = '{name}'")
            else:
                others += layout.attributes
        names = ", ".join(f"'{name}'" for name in counted_types(self.usage.layouts))
        yield self._grouping("", Layout(tuple(dict.fromkeys(others))), f"{type_} IS NULL OR {type_} NOT IN ({names})")

    def _grouping(self, type_: str, layout: Layout, where: str) -> Grouping:
        named = {} if type_ else {"type": self._column("type")}
        named["model"] = self._column("model") if self.usage.has("model") else "CAST(NULL AS VARCHAR(100))"
        named |= {f"key{n}": self._column(key) for n, key in enumerate(self.plan.keys) if key not in _OWN}
        if DAY in self.plan.keys:
            named[DAY] = self._day()
        elif self.plan.dated:
            named[DAY] = self._period(self._day())
        attributes = {column.name: self._attribute(column) for column in layout.attributes if self._has(column)}
        sums: dict[str, str] = {}
        if layout.quantities:
            regular = self._regular(layout)
            attributes |= self._predicates(layout, regular)
            numbers = (self._number(layout, index) for index in range(len(layout.quantities)))
            sums = {f"q{n}": self.dialect.total(number, regular, layout.places) for n, number in enumerate(numbers)}
        shape = {_alias(number, name): expression for number, (name, expression) in enumerate(attributes.items())}
        inner = ", ".join(f"{expression} AS {name}" for name, expression in (named | shape | sums).items())
        groups = ", ".join(str(number + 1) for number in range(len(named) + len(shape)))
        query = f"SELECT {inner}, count(*) AS requests FROM {self.table} WHERE {where} GROUP BY {groups}"
        return Grouping(type_, query, ", ".join(self._written(type_, layout, tuple(attributes))))

    def _written(self, type_: str, layout: Layout, attributes: tuple[str, ...]) -> Iterator[str]:
        """The groups as text and integers: what every type has in common."""
        rpc = f"CASE WHEN type = 'rpc' THEN coalesce(model, '{self.plan.rpc_model}') ELSE model END"
        own = {
            "type": f"'{type_}'" if type_ else "type",
            "model": "model" if type_ else rpc,
            DAY: self.writer.text(DAY),
        }
        yield f"{own['type']} AS type"
        yield f"{own['model']} AS model"
        record = {name: self.writer.text(_alias(number, name)) for number, name in enumerate(attributes)}
        yield (self.writer.record(record) if record else "'{}'") + " AS attributes"
        moment = "CAST(NULL AS DATE)"
        if self.plan.dated:
            moment = self._period(DAY) if DAY in self.plan.keys else DAY
        yield f"{moment} AS moment"
        for number, name in enumerate(self.plan.keys):
            yield f"{own.get(name) or self.writer.text(f'key{number}')} AS key{number}"
        yield "requests"
        places = places_of_type(self.usage, layout)
        totals = [f"q{number}" for number in range(len(layout.quantities))]
        if len(totals) == len(BUCKETS):  # of prompt, completion, cached and written tokens, as disjoint buckets
            totals = ["q0 - q2 - q3", "q2", "q3", "q1"]
        for number in range(QUANTITIES):
            total = f"CASE WHEN {GIVEN} IS NULL THEN {totals[number]} ELSE 0 END" if number < len(totals) else ""
            yield f"{self.writer.scaled(total, places) if total else repr('0')} AS q{number}"

    def _attribute(self, column: Column) -> str:
        name = self._column(column.name)
        return self.dialect.url(name) if column.kind == "url" else name

    def _predicates(self, layout: Layout, regular: str) -> dict[str, str]:
        """What is wrong with a row that is not regular (all of its quantities); tier and buckets of one that is."""
        raw = {column.name: self._column(column.name) for column in layout.quantities if self._has(column)}
        found = {GIVEN: f"CASE WHEN {regular} THEN NULL ELSE {self.dialect.given(raw) if raw else repr('{}')} END"}
        asked = self.plan.predicates
        if len(layout.quantities) == len(BUCKETS) and (asked.thresholds or asked.lacking):
            prompt, buckets = self._number(layout, 0), self._buckets(layout)
            bits = [tally(f"{prompt} > {edge}") for edge in asked.thresholds]
            bits += [f"{tally(f'{buckets[name]} > 0')} * {asked.weight(name)}" for name in asked.lacking]
            found[ASKED] = f"CASE WHEN {regular} THEN {' + '.join(bits)} END"
        return found

    def _regular(self, layout: Layout) -> str:
        """Whether the quantities of a row are what they can be. The scalar code says what is wrong with all others."""
        numbers = [self._number(layout, index) for index in range(len(layout.quantities))]
        if len(numbers) == 1:
            most = _MOST_SECONDS if layout.places else MOST_TOKENS
            return f"coalesce({numbers[0]} >= 0 AND {numbers[0]} < {most}, FALSE)"
        if len(numbers) != len(BUCKETS):
            return " AND ".join(f"{number} IS NOT NULL" for number in numbers)
        prompt, completion, cached, written = numbers
        within = f"{prompt} >= 0 AND {prompt} < {MOST_TOKENS} AND {completion} >= 0 AND {completion} < {MOST_TOKENS}"
        parts = f"{cached} >= 0 AND {cached} <= {prompt} AND {written} >= 0 AND {written} <= {prompt}"
        # The sum of both is taken only where it cannot overflow.
        return f"CASE WHEN {within} AND {parts} THEN {cached} + {written} <= {prompt} ELSE FALSE END"

    def _number(self, layout: Layout, index: int) -> str:
        column = layout.quantities[index]
        # Tokens from and to the cache may be absent, and so may those that an embedding does not have.
        optional = index >= 2 or (index == 1 and not layout.attributes)
        if not self._has(column):
            return "CAST(0 AS BIGINT)" if optional else "CAST(NULL AS BIGINT)"
        name = self._column(column.name)
        type_ = self.usage.types[self.usage.columns[column.name]]
        number = self.dialect.exact(name, type_) if layout.places else self.dialect.whole(name, type_)
        if not optional:
            return number
        return f"coalesce({name}, 0)" if number == name else f"CASE WHEN {name} IS NULL THEN 0 ELSE {number} END"

    def _buckets(self, layout: Layout) -> dict[str, str]:
        prompt, completion, cached, written = (self._number(layout, index) for index in range(len(BUCKETS)))
        return dict(zip(BUCKETS, (f"{prompt} - {cached} - {written}", cached, written, completion), strict=True))

    def _day(self) -> str:
        if not self.usage.has("timestamp"):
            return "CAST(NULL AS DATE)"
        return self.dialect.day(self._column("timestamp"), self.usage.types[self.usage.columns["timestamp"]])

    def _period(self, day: str) -> str:
        return period(day, self.plan.predicates.boundaries)

    def _has(self, column: Column) -> bool:
        return self.usage.has(column.name)

    def _column(self, name: str) -> str:
        return self.dialect.quoted(self.usage.columns.get(name, name))


def _alias(number: int, name: str) -> str:
    """What an attribute is called in a query."""
    return GIVEN if name == GIVEN else f"a{number}"


def period(day: str, boundaries: Iterable[date]) -> str:
    """The first day of the period, between two boundaries, that holds a day."""
    whens = "".join(f" WHEN {day} >= DATE '{edge}' THEN DATE '{edge}'" for edge in sorted(boundaries, reverse=True))
    return f"CASE{whens} WHEN {day} IS NOT NULL THEN DATE '{EARLIEST}' END"


def tally(condition: str) -> str:
    """1 where a condition holds, 0 where it does not."""
    return f"CAST({condition} AS INTEGER)"


def counted_types(layouts: Mapping[str, Layout]) -> tuple[str, ...]:
    """The types with quantities, which have a plan of their own."""
    return tuple(name for name, layout in layouts.items() if layout.quantities)
