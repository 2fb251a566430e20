"""The queries that group usage by shape: one for video and music, one for tokens, one for all other types.

A query reads only the columns of its types. One query per type would read the common columns ten times; a single one
would group every row by every column. Every engine answers them for a usage that it has opened.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import date, datetime
from typing import Any, NamedTuple, Self

from ratecard.base.threads import stoppable
from ratecard.methods.method import MOST_COUNTED
from ratecard.requests.metered import type_left_out
from ratecard.simulation.groups.plan import (
    OTHER_TYPES,
    PREDICATES,
    RAW_QUANTITIES,
    SUMMED,
    Plan,
    Usage,
    parts_of,
    places_of_type,
)
from ratecard.simulation.groups.predicates import BY_BUCKET
from ratecard.simulation.progress import OPENED, READ, Progress, silent, within
from ratecard.simulation.rows.columns import (
    ACCOUNT_COLUMN,
    BUCKET_OF,
    BUCKETS,
    DAY,
    LENGTH,
    OF_BUCKETS,
    PLACES_SUMMED,
    Buckets,
    Layout,
    UsageColumn,
)
from ratecard.simulation.rows.files import FILE, Source, Stamp
from ratecard.simulation.rows.where import Columns
from ratecard.simulation.sql import ColumnType, DuckDbSql
from ratecard.simulation.workspace import Workspace, readable
from ratecard.tables.meters import PROMPT

# The bound of quantities that may have decimals (seconds, counts by meter); below it, their sums are exact.
_TOO_MANY = 10**9
# The most tokens of a row that are added up: the greatest power of two below what a request can have. A row with more
# is priced by itself. With many buckets the limit is lower, so that no sum or difference of them overflows.
_MOST_TOKENS, _MOST_OF_MANY = 2**59 - 1, 2**55 - 1
_ZERO = "CAST(0 AS BIGINT)"
# Columns that the queries add, so that a usage must not have them: the type of a row, or of its model; and the instant
# of a row, where only its period matters.
RESERVED_COLUMNS = _TYPE, _INSTANT = "ratecard_type", "ratecard_instant"
SLOT = "slot"
_WRITER = DuckDbSql()


class Grouping(NamedTuple):
    """The query that groups the rows of some types, and how its groups are read.

    `name` is one of `parts_of`. `shape` has the columns of a shape, by the attributes that they hold. `sums` has an
    integer expression for each sum of the plan that some type has (`q0`, ...); `totals` are the columns that are sums.
    """

    name: str
    query: str
    shape: Mapping[str, str]
    sums: Mapping[str, str]
    totals: tuple[str, ...]

    @property
    def length(self) -> str:
        """Return the column of the length of a shape; empty if no shape has one."""
        return self.shape.get(LENGTH, "")

    @property
    def template(self) -> tuple[str, ...]:
        """Return the columns that are the same in all shapes of a template."""
        return ("type", "model", *(column for column in self.shape.values() if column != self.length))

    @property
    def attributes(self) -> str:
        """Return the expression that writes the columns of a shape, except the length, as one JSON record."""
        columns = {name: column for name, column in self.shape.items() if name != LENGTH}
        if PREDICATES in columns:  # raw quantities need no predicates
            columns[PREDICATES] = f"CASE WHEN {RAW_QUANTITIES} IS NULL THEN {columns[PREDICATES]} END"
        return _WRITER.record({name: _WRITER.text(column) for name, column in columns.items()}) if columns else "'{}'"


class Summed(NamedTuple):
    """A number of a row that is summed where a condition holds, and its decimals.

    With `apart`, the rows that do not meet the condition are in groups of their own, whose sums nobody reads.
    """

    number: str
    condition: str
    places: int
    apart: bool = False


class RowQuantities(NamedTuple):
    """The quantities of rows of some types: the layouts with quantities, tokens by bucket, and counts by meter.

    The conditions that quantities are summed are in `can_be_summed` by type, in `counts` by meter. Rows that are not
    `regular` have their quantities in their shape: these cannot be summed, or their model does not charge linearly.
    """

    layouts: Mapping[str, Layout]
    tokens: Mapping[str, Mapping[str, str]]
    can_be_summed: Mapping[str, str]
    regular: str
    counts: Mapping[UsageColumn, str]


class RollUpSql:
    """The queries in the dialect of the engine that holds the usage; DuckDB writes values of groups as text."""

    # The expression for the number of requests in a group.
    _requests = "count(*)"
    # The column with the instant of a row, where only its period matters.
    _instant_column = _INSTANT

    def __init__(self, usage: Usage, plan: Plan, dialect: DuckDbSql) -> None:
        self.usage, self.plan, self.dialect = usage, plan, dialect
        self._from = usage.table
        self._give_types()
        self._choose()
        if plan.dated and not plan.by_day:  # parsed once, because text is slow to parse
            self._from = f"(SELECT *, {self._instant()[0]} AS {_INSTANT} FROM {self._from}) AS dated"

    def groupings(self) -> Iterator[Grouping]:
        """Yield the grouping of each part of the types (`parts_of`); rows of no known type are in `OTHER_TYPES`."""
        type_, parts = self._column("type"), parts_of(self.usage.layouts)
        for name, types in parts.items():
            # With the double NOT, DuckDB compares the dictionary of a column chunk instead of every row.
            where = f"NOT ({type_} NOT IN ({', '.join(map(repr, types))}))"
            if name == OTHER_TYPES:
                separate = [repr(type_) for part, listed in parts.items() if part != OTHER_TYPES for type_ in listed]
                where = f"{type_} IS NULL OR {type_} NOT IN ({', '.join(separate)})" if separate else "TRUE"
            yield self._grouping(name, {type_name: self.usage.layouts[type_name] for type_name in types}, where)

    def counting(self, by: str = "") -> str:
        """Return a query that counts all rows, and the rows without an instant if days are chosen.

        With `by`, it counts them for each value of that column.
        """
        undated = f"CASE WHEN {self._day()} IS NULL THEN 1 ELSE 0 END" if self.plan.chosen.by_day else "0"
        counted = f"SELECT count(*), sum({undated})"
        return f"{counted}, {by} FROM {self._every} GROUP BY {by}" if by else f"{counted} FROM {self._every}"

    def odd_instant(self) -> str:
        """Return a query of one timestamp that is not an instant, as text."""
        if not self.usage.has("timestamp"):
            return f"SELECT {self.dialect.digits('NULL')} AS odd"
        timestamp = self._column("timestamp")
        where = f"{timestamp} IS NOT NULL AND {self._day()} IS NULL"
        return f"SELECT {self.dialect.digits(timestamp)} AS odd FROM {self._every} WHERE {where} LIMIT 1"

    def parts(self) -> str:
        """Return a query of distinct pairs: the name of a grouping that has rows, and True for rows without a type."""
        listed = {name: types for name, types in parts_of(self.usage.layouts).items() if name != OTHER_TYPES}
        type_ = self._column("type")
        type_lists = {name: ", ".join(map(repr, types)) for name, types in listed.items()}
        whens = "".join(f" WHEN {type_} IN ({types}) THEN '{name}'" for name, types in type_lists.items())
        untyped = f"{self.dialect.quoted(self._given_type)} IS NULL" if self._given_type else "TRUE"
        named = f"CASE{whens} ELSE '{OTHER_TYPES}' END AS name, {untyped} AS untyped"
        return f"SELECT DISTINCT {named} FROM {self._from}"

    def _give_types(self) -> None:
        """Give rows without a type the type of their model, if there may be such rows."""
        usage, quoted = self.usage, self.dialect.quoted
        self._given_type = usage.columns.get("type")
        if not usage.untyped:
            return
        stated = self.dialect.digits(quoted(self._given_type)) if self._given_type else None
        # Parameters may follow the name of a text model.
        name = self._plain_name(self.dialect.digits(self._column("model"))) if usage.has("model") else ""
        types, of_model = self.plan.types, self.dialect.digits("NULL")
        if name and types:
            of_model = self.dialect.looked_up(name, types)
            if usage.has("factor"):
                of_upscales = {model: type_left_out(["factor"], type_) for model, type_ in types.items()}
                has_none = f"{self._column('factor')} IS NULL"
                of_model = f"CASE WHEN {has_none} THEN {of_model} ELSE {self.dialect.looked_up(name, of_upscales)} END"
        typed = f"CASE WHEN {stated} IS NOT NULL THEN {stated} ELSE {of_model} END" if stated else of_model
        self.usage = usage._replace(
            columns={**usage.columns, "type": _TYPE},
            types={**usage.types, _TYPE: "text"},
        )
        self._from = f"(SELECT *, {typed} AS {quoted(_TYPE)} FROM {usage.table}) AS typed"

    def _plain_name(self, name: str) -> str:
        if not any(":" in known for known in self.plan.types):
            return f"split_part({name}, ':', 1)"
        return f"regexp_replace({name}, ':[^:&=]*=.*', '')"

    def _choose(self) -> None:
        """Read only the chosen rows."""
        self._every, self._chosen = self._from, "TRUE"
        if not (chosen := self.plan.chosen):
            return
        self._chosen = chosen.sql(Columns(self.dialect, self._named, self._day() if chosen.by_day else "NULL"))
        self._from = f"(SELECT * FROM {self._every} WHERE {self._chosen}) AS chosen"

    def _named(self, name: str) -> tuple[str, ColumnType]:
        """Return the expression and the type of a column that a condition of the user names."""
        return self._column(name), self.usage.types[self.usage.columns[name]]

    def _grouping(self, name: str, layouts: Mapping[str, Layout], where: str) -> Grouping:
        """Return the grouping of the rows of some types by keys and shape, with quantities summed."""
        quantities = self._quantities(layouts)
        keys, shape = self._key_columns(), self._shape_columns(layouts, quantities)
        columns = {_alias(number, part): expression for number, (part, expression) in enumerate(shape.items())}
        sums = {column: self._total_of(column, number) for column, number in self._summed_numbers(quantities).items()}
        selected = {**keys, **columns, **sums, "requests": self._requests}
        # Columns are grouped by place, because a column of the usage may have the name of a column that is made here.
        places = ", ".join(str(number + 1) for number in range(len(keys) + len(columns)))
        query = f"""
            SELECT {", ".join(f"{expression} AS {alias}" for alias, expression in selected.items())}
            FROM {self._rows_of(name)}
            WHERE {where}
            GROUP BY {places}"""
        return Grouping(name, query, dict(zip(shape, columns, strict=True)), self._sums(layouts), tuple(sums))

    def _key_columns(self) -> dict[str, str]:
        """Return the columns of a group that are not of its shape: type, model, keys, day, and cuts of the day."""
        columns = {"type": self._column("type")}
        columns["model"] = self._column("model") if self.usage.has("model") else "CAST(NULL AS VARCHAR(100))"
        columns |= {alias: self._key(key) for alias, key in self.plan.others.items()}
        if self.plan.account_column == ACCOUNT_COLUMN:
            columns[ACCOUNT_COLUMN] = self._key(self.plan.account)
        if self.plan.by_day:
            columns[DAY] = self._day()
        elif self.plan.dated:
            (_, instant_type), days = self._instant(), boundary_days(self.plan.predicates.boundaries)
            edges = [self.dialect.beginning(day, instant_type) for day in days]
            columns[DAY] = _period(self._instant_column, edges)
        if self.plan.cuts:
            second = self._second()
            columns[SLOT] = " + ".join(_one_if(f"{second} >= {cut}") for cut in self.plan.cuts)
        return columns

    def _shape_columns(self, layouts: Mapping[str, Layout], quantities: RowQuantities) -> dict[str, str]:
        """Return the columns that decide the rates of a row: its attributes, and those made of its quantities."""
        columns = dict.fromkeys(column for layout in layouts.values() for column in layout.attributes)
        attributes = {column.name: self._attribute(column) for column in columns if self._has(column)}
        for column in (column for column in columns if column.kind == "condition"):
            cases = {name: attributes[column.name] for name, layout in layouts.items() if column in layout.attributes}
            if len(cases) < len(layouts):  # for other types the column means nothing
                attributes[column.name] = self._of_type(layouts, cases, "NULL")
        counts = self._counts(layouts, quantities.counts) if quantities.counts else {}
        return attributes | counts | self._predicates(quantities)

    def _quantities(self, layouts: Mapping[str, Layout]) -> RowQuantities:
        """Return the quantities of rows of some types, and the conditions under which they are summed."""
        counted = {type_: layout for type_, layout in layouts.items() if layout.quantities}
        numbers = self._numbers(counted)
        tokens = {type_: self._tokens(layout, numbers[type_]) for type_, layout in counted.items() if layout.buckets}
        can_be_summed = {
            type_: self._regular(layout, tokens.get(type_, {}), numbers[type_]) for type_, layout in counted.items()
        }
        is_linear = {type_: self._summed(type_, condition) for type_, condition in can_be_summed.items()}
        return RowQuantities(
            counted, tokens, can_be_summed, self._of_type(layouts, is_linear, "TRUE"), self._added(layouts)
        )

    def _summed_numbers(self, quantities: RowQuantities) -> dict[str, Summed]:
        """Return the numbers that are summed, each by the column of its sum."""
        layouts = quantities.layouts
        regular, apart = self._of_type(layouts, quantities.can_be_summed, "TRUE"), all(map(self._apart, layouts))
        numbers = dict[str, Summed]()
        for layout in (layout for layout in layouts.values() if not (layout.buckets and layout.buckets.counted)):
            condition = regular
            if layout.places:  # a value of another type means nothing, and may be too large for a sum
                cases = {name: quantities.can_be_summed[name] for name, other in layouts.items() if other is layout}
                condition = self._of_type(layouts, cases, "FALSE")
            for column in layout.quantities:
                number = self._number(column, layout.places)
                numbers[sum_of(column)] = Summed(number, condition, layout.places, apart)
        for type_, counts in quantities.tokens.items():
            if (buckets := layouts[type_].buckets) and buckets.counted:
                numbers |= {sum_of_tokens(buckets, name): Summed(counts[name], regular, 0, apart) for name in counts}
        for at, (column, is_added) in enumerate(quantities.counts.items()):
            number = f"CASE WHEN {is_added} THEN {self._number(column, PLACES_SUMMED)} ELSE 0 END"
            numbers[sum_of_count(at)] = Summed(number, "TRUE", PLACES_SUMMED)
        return numbers

    def _rows_of(self, part: str) -> str:
        """Return the table from which the rows of a part are read."""
        return self._from

    def _key(self, key: str) -> str:
        """Return the expression of a key of a row."""
        column = self._column(key)
        if self.usage.types.get(self.usage.columns.get(key, key)) != "double":
            return column
        # Engines take -0.0 and 0.0 as one number in some operations, and as two in others.
        return f"CASE WHEN {column} = 0 THEN abs({column}) ELSE {column} END"

    def _total_of(self, name: str, number: Summed) -> str:
        """Return the expression that sums a number over the rows of a group."""
        return self.dialect.total(*number)

    def _of_type(self, layouts: Mapping[str, Layout], cases: Mapping[str, str], otherwise: str, name: str = "") -> str:
        """Return the expression that picks the case of a row's type, or `otherwise`; no CASE if all cases are equal."""
        if cases.keys() == layouts.keys() and len(set(cases.values())) == 1:
            return next(iter(cases.values()))
        whens = "".join(f" WHEN '{type_}' THEN {expression}" for type_, expression in cases.items())
        return f"CASE {name or self._column('type')}{whens} ELSE {otherwise} END" if cases else otherwise

    def _sums(self, layouts: Mapping[str, Layout]) -> dict[str, str]:
        """Return the expression of each sum that some type has, by type of row, as an integer."""
        sums = {}
        for number in range(max((layout.sums for layout in layouts.values()), default=0)):
            totals = {
                type_: _WRITER.scaled(self._total(type_, layout, number), places_of_type(self.usage, layout)[number])
                for type_, layout in layouts.items()
                if number < layout.sums
            }
            sums[f"q{number}"] = self._of_type(layouts, totals, "0", "type")
        return sums

    def _apart(self, type_: str) -> bool:
        """Return True if the groups with raw quantities are those whose quantities cannot be summed."""
        return self.plan.predicates.summed.get(type_) is None

    def _total(self, type_: str, layout: Layout, number: int) -> str:
        """Return a sum of a type, by its number; tokens that several buckets count are counted once."""
        if number >= layout.own_sums:
            return sum_of_count(number - layout.own_sums)
        if buckets := layout.buckets:
            names = {name: sum_of_tokens(buckets, name) for name in buckets.names}
            total = _signed(buckets.own()[buckets.names[number]], names)
        else:
            total = sum_of(layout.quantities[number])
        return f"CASE WHEN {RAW_QUANTITIES} IS NULL THEN {total} ELSE 0 END" if self._apart(type_) else total

    def _attribute(self, column: UsageColumn) -> str:
        name = self._column(column.name)
        if column.defaults:
            defaults = ", ".join(map(self.dialect.literal, column.defaults))
            return f"CASE WHEN {name} IN ({defaults}) THEN NULL ELSE {name} END"
        return self.dialect.url(name) if column.kind == "url" else name

    def _added(self, layouts: Mapping[str, Layout]) -> dict[UsageColumn, str]:
        """Return by meter the condition that a count is summed: it can be, and is charged linearly."""
        conditions = {}
        for column in dict.fromkeys(column for layout in layouts.values() for column in layout.counts):
            number = self._number(column, PLACES_SUMMED)
            summed = self._summed(column.name, f"coalesce({number} >= 0 AND {number} < {_TOO_MANY}, FALSE)")
            of_types = {name: summed for name, layout in layouts.items() if layout.counts}
            conditions[column] = self._of_type(layouts, of_types, "FALSE")
        return conditions

    def _counts(self, layouts: Mapping[str, Layout], added: Mapping[UsageColumn, str]) -> dict[str, str]:
        """Return the columns of counts by meter: those that are not summed, and a number that says which ones are."""
        counts = {
            column.name: f"CASE WHEN NOT {is_added} THEN {self._column(column.name)} END"
            for column, is_added in added.items()
        }
        for name, value in counts.items():
            cases = {type_: value for type_, layout in layouts.items() if layout.counts}
            counts[name] = self._of_type(layouts, cases, "NULL")  # for video it means nothing
        terms = (f"{_one_if(is_added)} * {1 << number}" for number, is_added in enumerate(added.values()))
        return counts | {SUMMED: " + ".join(terms)}

    def _predicates(self, quantities: RowQuantities) -> dict[str, str]:
        """Return the columns made of quantities: the predicates of a regular row, or the raw quantities."""
        counted, tokens, regular = quantities.layouts, quantities.tokens, quantities.regular
        if not counted:
            return {}
        columns = (column for layout in counted.values() for column in layout.quantities)
        raw = {column.name: self._column(column.name) for column in columns if self._has(column)}
        record = {
            RAW_QUANTITIES: f"CASE WHEN {regular} THEN NULL ELSE {self.dialect.given(raw) if raw else repr('{}')} END"
        }
        used = {
            name: self._used(name, layout.buckets, tokens[name], regular)
            for name, layout in counted.items()
            if layout.buckets
        }
        prompts = [counts[PROMPT] for counts in tokens.values()][:1] if self.plan.predicates.thresholds else []
        terms = list(map(self._tier, prompts))
        if any(used.values()):
            terms.append(self._of_type(counted, {name: weights for name, weights in used.items() if weights}, "0"))
        return record | {PREDICATES: " + ".join(terms)} if terms else record

    def _used(self, type_: str, buckets: Buckets, counts: Mapping[str, str], regular: str) -> str:
        """Return the sum of the weights of buckets without a price that a row uses; empty if every bucket has one."""
        terms, own_counts = [], buckets.own()
        for name in self.plan.predicates.lacking.get(type_, ()):
            if name == BY_BUCKET:
                condition = self._by_bucket(buckets)
            else:
                count = _signed(own_counts[name], counts)
                # The difference cannot overflow for regular quantities.
                count = f"CASE WHEN {regular} THEN {count} ELSE 0 END" if len(own_counts[name]) > 1 else count
                condition = f"{count} > 0"
            terms.append(f"{_one_if(condition)} * {self.plan.predicates.weight(type_, name)}")
        return " + ".join(terms)

    def _by_bucket(self, buckets: Buckets) -> str:
        """Return the condition that a row has a count by bucket."""
        return self._any_of(f"{OF_BUCKETS}.{name}" for name in buckets.counted)

    def _any_of(self, columns: Iterable[str]) -> str:
        return "(" + " OR ".join(f"{self._column(name)} IS NOT NULL" for name in columns) + ")"

    def _tokens(self, layout: Layout, numbers: Sequence[str]) -> dict[str, str]:
        """Return the inclusive tokens of a row by bucket, from the counts of `usage` or from the counts by bucket."""
        by_column = {column.name: number for column, number in zip(layout.quantities, numbers, strict=True)}
        by_name = {bucket: by_column.get(name, _ZERO) for name, bucket in BUCKET_OF.items()}
        buckets = layout.buckets
        if buckets is None or not buckets.counted:
            return by_name
        direct = {name: by_column[f"{OF_BUCKETS}.{name}"] for name in buckets.counted}
        by_bucket = self._by_bucket(buckets)
        for name in BUCKETS:
            if not self.plan.predicates.in_usage:
                by_name[name] = direct.get(name, _ZERO)
            else:
                by_name[name] = f"CASE WHEN {by_bucket} THEN {direct.get(name, _ZERO)} ELSE {by_name[name]} END"
        return by_name | {name: number for name, number in direct.items() if name not in BUCKETS}

    def _tier(self, prompt: str) -> str:
        """Return the number of thresholds that a prompt exceeds; for most prompts, one comparison decides."""
        first, *others = self.plan.predicates.thresholds
        above = " + ".join(("1", *(_one_if(f"{prompt} > {edge}") for edge in others)))
        return f"CASE WHEN {prompt} > {first} THEN {above} ELSE 0 END"

    def _regular(self, layout: Layout, tokens: Mapping[str, str], numbers: Sequence[str]) -> str:
        """Return the condition that the quantities of a row can be summed; other rows are priced as single requests."""
        if layout.buckets:
            return self._regular_tokens(layout, layout.buckets, tokens)
        if len(numbers) == 1:
            beyond = _TOO_MANY if layout.places else MOST_COUNTED + 1
            return f"coalesce({numbers[0]} >= 0 AND {numbers[0]} < {beyond}, FALSE)"
        return " AND ".join(f"{number} IS NOT NULL" for number in numbers)

    def _summed(self, type_: str, regular: str) -> str:
        """Return the condition that the quantities of a row are summed: they can be, and its model charges linearly."""
        models = self.plan.predicates.summed.get(type_)
        if models is None:
            return regular
        if not models or not self.usage.has("model"):
            return "FALSE"
        named = ", ".join(map(self.dialect.literal, sorted(models)))
        return f"(coalesce({self.dialect.digits(self._column('model'))} IN ({named}), FALSE) AND {regular})"

    def _regular_tokens(self, layout: Layout, buckets: Buckets, tokens: Mapping[str, str]) -> str:
        """Return the condition that tokens count once, no part exceeds its whole, and overlaps of buckets are known."""
        # One test checks the sign and the highest bits of all counts; sums are taken only if they cannot overflow.
        most = _MOST_TOKENS if len(tokens) == len(BUCKETS) else _MOST_OF_MANY
        within = f"({' | '.join(tokens.values())}) BETWEEN 0 AND {most}"
        terms = [_not_negative(signs, tokens) for signs in buckets.own().values() if len(signs) > 1]
        for one, other, both in buckets.overlaps:
            unknown = f" AND {self._column(f'{OF_BUCKETS}.{both}')} IS NULL" if both in buckets.counted else ""
            terms.append(f"NOT ({tokens[one]} > 0 AND {tokens[other]} > 0{unknown})")
        if buckets.counted:
            terms.append(self._by_bucket(buckets))
            if columns := [
                column.name for column in layout.quantities if column.name in BUCKET_OF and self._has(column)
            ]:
                terms[-1] = f"NOT ({terms[-1]} AND {self._any_of(columns)})"
        terms += [f"{self._column(name)} IS NULL" for name in buckets.unlike]
        return f"CASE WHEN {within} THEN {' AND '.join(terms)} ELSE FALSE END"

    def _numbers(self, counted: Mapping[str, Layout]) -> dict[str, list[str]]:
        """Return the quantities of a row of each type, null where one is missing or not a number."""
        types = {
            column: tuple(name for name, other in counted.items() if column.name in other.optional)
            for layout in counted.values()
            for column in layout.quantities
        }
        return {
            name: [self._or_zero(column, layout.places, types[column], tuple(counted)) for column in layout.quantities]
            for name, layout in counted.items()
        }

    def _number(self, column: UsageColumn, places: int) -> str:
        if not self._has(column):
            return "CAST(NULL AS BIGINT)"
        name = self._column(column.name)
        column_name = self.usage.columns[column.name]
        type_ = self.usage.types[column_name]
        if places and self.usage.scales.get(column_name, 0) > places:  # too fine for a sum, so it is read as text
            return self.dialect.exact(self.dialect.digits(name), "text")
        return self.dialect.exact(name, type_) if places else self.dialect.whole(name, type_)

    def _or_zero(self, column: UsageColumn, places: int, optional: Sequence[str], types: Sequence[str]) -> str:
        """Return a number: 0 for an empty cell that the row's type allows, null for a value that is not a number."""
        number = self._number(column, places)
        if not optional:
            return number
        zero, type_ = _ZERO, self._column("type")
        if optional != types:
            zero = f"CASE WHEN {type_} IN ({', '.join(map(repr, optional))}) THEN {zero} END"
        return (
            f"CASE WHEN {self._column(column.name)} IS NULL THEN {zero} ELSE {number} END"
            if self._has(column)
            else zero
        )

    def _day(self) -> str:
        return self.dialect.day(*self._named("timestamp"))

    def _instant(self) -> tuple[str, ColumnType]:
        """Return the expression that is compared to find the period of a row, and the type of its column."""
        column, type_ = self._named("timestamp")
        return self.dialect.instant(column, type_), type_

    def _second(self) -> str:
        return self.dialect.second(*self._named("timestamp"))

    def _has(self, column: UsageColumn) -> bool:
        return self.usage.has(column.name)

    def _column(self, name: str) -> str:
        return self.dialect.quoted(self.usage.columns.get(name, name))


class OpenUsage:
    """A usage that an engine has opened, DuckDB by default; `known` are its columns, `stamps` its files."""

    dialect = DuckDbSql()

    def __init__(self, workspace: Workspace, known: Usage, stamps: Mapping[str, Stamp]) -> None:
        self.workspace, self.known, self.stamps = workspace, known, stamps

    @property
    def source(self) -> Source:
        """Return the files of the usage."""
        return Source.of(self.stamps)

    def rows(self) -> int | None:
        """Return about how many rows the usage has; None if that is not known."""
        return None

    def groups(self, plan: Plan, progress: Progress = silent) -> Generator[tuple[Grouping, str]]:
        """Yield each grouping with the table of its groups in the workspace; the next query runs meanwhile."""
        groupings, rows = list(self.sql(plan).groupings()), None if progress is silent else self.rows()
        connection, share = self.workspace.connection, (READ - OPENED) / max(len(groupings), 1)

        def read(number: int) -> tuple[Grouping, str]:
            grouping, table = groupings[number], self.workspace.new_table("groups")
            tell = within(progress, OPENED + share * number, OPENED + share * (number + 1), rows)
            tell(f"Reading usage: {grouping.name}", connection.query_progress)
            with readable():
                connection.execute(f"CREATE TABLE {table} AS {grouping.query}")
            return grouping, table

        with stoppable(connection.interrupt) as pool:
            futures = [pool.submit(read, number) for number in range(len(groupings))]
            yield from (future.result() for future in futures)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the engine. Raises `SimulationError`."""
        with readable():
            return self.workspace.connection.execute(query).fetchall()

    def sql(self, plan: Plan) -> RollUpSql:
        """Return the queries of the engine for a plan."""
        return RollUpSql(self.known, plan, self.dialect)

    def of_files(self, files: Collection[str]) -> Self:
        """Return the same usage with the rows of some files only; it must have been opened by file."""
        part, listed = copy(self), ", ".join(map(self.dialect.literal, files))
        part.known = self.known._replace(table=f"(SELECT * FROM {self.known.table} WHERE {FILE} IN ({listed}))")
        return part

    def check(self, plan: Plan, unmapped: Plan) -> None:
        """Raise `SimulationError` if the rows are groups that do not distinguish everything that a plan needs.

        `unmapped` is the same plan without rows that are priced as another model's.
        """

    def counted(self, plan: Plan) -> tuple[int, int]:
        """Count all rows, and the rows without an instant if days are chosen."""
        ((rows, undated),) = self.ask(self.sql(plan).counting())
        return int(rows), int(undated or 0)

    def counted_by_file(self, plan: Plan) -> dict[str, tuple[int, int]]:
        """Count all rows of each file, and its rows without an instant if days are chosen."""
        rows_of_files = self.ask(self.sql(plan).counting(FILE))
        return {file: (int(rows), int(undated or 0)) for rows, undated, file in rows_of_files}

    def odd_instant(self, plan: Plan) -> str:
        """Return a timestamp that is not an instant, as the usage has it; empty if there is none."""
        values = self.ask(self.sql(plan).odd_instant())
        return str(values[0][0] or "") if values else ""


def _alias(number: int, name: str) -> str:
    """Return the column of an attribute in the query."""
    return RAW_QUANTITIES if name == RAW_QUANTITIES else f"a{number}"


def _period(instant: str, edges: Sequence[str]) -> str:
    """Return the expression of the number of the period (between two edges) that contains an instant.

    It halves the periods at each step, because every row evaluates it.
    """

    def among(first: int, last: int) -> str:
        if first == last:
            return str(first)
        middle = (first + last + 1) // 2
        later = f"WHEN {instant} >= {edges[middle - 1]} THEN {among(middle, last)}"
        return f"CASE {later} ELSE {among(first, middle - 1)} END"

    return f"CASE WHEN {instant} IS NOT NULL THEN {among(0, len(edges))} END"


def boundary_days(boundaries: Iterable[datetime]) -> list[date]:
    """Return the days of some instants, in order."""
    return sorted({boundary.date() for boundary in boundaries})


def _one_if(condition: str) -> str:
    """Return 1 where a condition holds, 0 where it does not."""
    return f"CAST({condition} AS INTEGER)"


def sum_of(column: UsageColumn) -> str:
    """Return the column of the sum of a quantity in the query."""
    return f"sum_{column.name.replace('.', '_')}"


def sum_of_count(number: int) -> str:
    """Return the column of the sum of a count by meter in the query, by its number."""
    return f"sum_count{number}"


def sum_of_tokens(buckets: Buckets, name: str) -> str:
    """Return the column of the sum of a bucket's inclusive counts in the query."""
    if not buckets.counted:
        return next(f"sum_{column}" for column, bucket in BUCKET_OF.items() if bucket == name)
    return f"sum_tokens{buckets.names.index(name)}"


def _signed(signs: Mapping[str, int], numbers: Mapping[str, str]) -> str:
    """Return the numbers, added or subtracted by their signs; the first sign is a plus."""
    terms = [(sign, numbers[name]) for name, sign in signs.items() for _ in range(abs(sign))]
    terms.sort(key=lambda term: term[0] < 0)
    return "".join(f"{(' + ' if sign > 0 else ' - ') if at else ''}{number}" for at, (sign, number) in enumerate(terms))


def _not_negative(signs: Mapping[str, int], numbers: Mapping[str, str]) -> str:
    """Return the condition that the result of `_signed` is not below zero."""
    parts = [
        " + ".join(numbers[name] for name, factor in signs.items() for _ in range(abs(factor)) if factor * sign > 0)
        for sign in (-1, 1)
    ]
    return " <= ".join(parts)
