"""Usage grouped by shape, kept so that a further candidate costs little, and the record of what was read."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

import duckdb

from ratecard.base.errors import SimulationError
from ratecard.base.messages import MOST_NAMES
from ratecard.base.suggestions import suggestions
from ratecard.card import RateCard
from ratecard.simulation.groups.numbering import PlacedGroups, number, place
from ratecard.simulation.groups.plan import PREDICATES, SUMMED, Plan, Usage
from ratecard.simulation.groups.predicates import BY_BUCKET, Predicates
from ratecard.simulation.groups.queries import Grouping
from ratecard.simulation.groups.shapes import Counted, Shapes
from ratecard.simulation.rows.billing_export import near_columns_of
from ratecard.simulation.rows.columns import DAY, LAYOUTS, OTHER_NAMES, USAGE_COLUMNS
from ratecard.simulation.rows.files import Source
from ratecard.simulation.rows.where import read_condition
from ratecard.simulation.workspace import Workspace

_HEAD = ("type", "model", "timestamp")


@dataclass(frozen=True, slots=True)
class Reading:
    """The record of what was read of a usage.

    `columns`: the columns that were read, from their name here to their name in the usage. `missing`: by type, the
    known columns that the usage does not have. `unused`: columns of the usage that nothing uses; `meant`: for some of
    them, the missing column that they look like. `chosen`: in words, which rows were chosen; if any are, `found` is the
    number of all rows, and `undated` the number of rows that were left out because they have no instant.
    """

    source: Source = Source()  # noqa: RUF009
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    unused: tuple[str, ...] = ()
    meant: Mapping[str, str] = field(default_factory=dict, hash=False)
    chosen: str = ""
    found: int = 0
    undated: int = 0
    # A timestamp that is not an instant, if there is one.
    odd: str = ""
    # True if the usage has a column of timestamps.
    timed: bool = True
    # The number of rows at list prices because they name no account, while other rows have the prices of contracts.
    without_account: int = 0
    # Accounts without a contract whose names are those of an account with one, but for capitals and spaces around.
    alike: tuple[str, ...] = ()
    # True if rows are grouped or chosen by day, which is that of the timestamp, and the usage has a column `day`.
    other_day: bool = False

    def with_columns(self, usage: Usage, plan: Plan, types: Collection[str | None]) -> "Reading":
        """Return this record with the columns that rows of these types have or could have."""
        layouts = {name: layout for name, layout in usage.layouts.items() if name in types}
        known = {name: tuple(column.name for column in layout.columns) for name, layout in layouts.items()}
        dated = plan.dated or plan.chosen.by_day or DAY in plan.keys
        used_names = [name for name in _HEAD if name != "timestamp" or dated]
        chosen = read_condition(usage.where).columns if usage.where else ()
        used_names += [
            *plan.keys,
            *filter(None, [plan.account]),
            *chosen,
            *plan.chosen.columns,
            *(name for names in known.values() for name in names),
        ]
        columns = {name: usage.columns[name] for name in dict.fromkeys(used_names) if usage.has(name)}
        other_day = columns.pop(DAY, None) is not None
        if usage.is_ledger:  # the ledger is made of all columns of the export
            columns.pop("type", None)
            return replace(self, columns=columns, meant=near_columns_of(usage.columns))
        missing = {name: tuple(column for column in names if not usage.has(column)) for name, names in known.items()}
        unused = tuple(name for name in usage.types if name not in columns.values())
        conditions = (name for meters in plan.meters for name in meters.condition if not usage.has(name))
        return replace(
            self,
            columns=columns,
            missing={name: names for name, names in missing.items() if names},
            unused=unused,
            meant=near_columns(unused, (*(name for names in missing.values() for name in names), *conditions)),
            timed=usage.has("timestamp"),
            other_day=other_day,
        )

    def warnings(self) -> list[str]:
        """Return warnings: columns that look like missing ones, invalid timestamps, rows left out or at list prices."""
        sentences = not_read(self.meant)
        if self.other_day:
            sentences.append(f"Column '{DAY}' is not read: the day of a row is that of its timestamp, in UTC")
        if self.odd:
            words = "Write it like 2026-10-02 or 2026-10-02T15:00:00Z; docs/simulation.md says how to convert others"
            sentences.append(f"Timestamp '{self.odd}' is not an instant. {words}")
        if self.undated:
            rows = "1 row without an instant is" if self.undated == 1 else f"{self.undated} rows without an instant are"
            sentences.append(f"{rows} left out, because days are chosen")
        if self.without_account:
            one = self.without_account == 1
            rows = "1 row names no account, and is" if one else f"{self.without_account} rows name no account, and are"
            sentences.append(f"{rows} at list prices")
        if self.alike:
            more = f" and {len(self.alike) - MOST_NAMES:,} more" if len(self.alike) > MOST_NAMES else ""
            names = ", ".join(f"'{name}'" for name in self.alike[:MOST_NAMES])
            words = "At list prices, and in capitals or spaces alone unlike an account with a contract"
            sentences.append(f"{words}: {names}{more}")
        return sentences


def near_columns(unused: Iterable[str], missing: Iterable[str]) -> dict[str, str]:
    """Return columns of a usage that nothing uses, each with the missing column that it looks like."""
    lacking = dict.fromkeys(missing)
    return {name: near for name in unused if name not in USAGE_COLUMNS and (near := _meant(name, lacking))}


def not_read(meant: Mapping[str, str]) -> list[str]:
    """Return a sentence for each of these columns."""
    return [
        f"Column '{name}' is not read. Did you mean '{near}'? Then name it: --map {near}={name}"
        for name, near in meant.items()
    ]


def _meant(name: str, missing: Collection[str]) -> str | None:
    """Return the missing column that a column of the usage looks like."""
    words = name.lower()
    if (alias := OTHER_NAMES.get(words)) in missing:
        return alias
    return next(iter(suggestions(name, missing, most=1, slip=True)), None)


# A table by fewer keys is made only if there are at least this many groups per shape, as it keeps one or more for each.
_WORTH_A_TABLE = 4


class RollUp:
    """One usage as numbered shapes, each once, and a view of groups (number of the shape, keys, requests, sums).

    `places`: by type, the number of decimals of each sum.
    """

    def __init__(self, workspace: Workspace, plan: Plan, places: Mapping[str, tuple[int, ...]]) -> None:
        self.workspace, self.plan, self.places = workspace, plan, places
        # Every shape, in the order of its number.
        self.shapes = Shapes()
        # The reading, once it is complete.
        self.reading = Reading()
        self._sums = tuple(f"q{number}" for number in range(plan.sums))
        self._parts = list[PlacedGroups]()
        # The groups by some of the keys only: see `groups_by`.
        self._coarser: dict[tuple[str, ...], str] = {}

    def take(self, grouping: Grouping, read: str) -> Shapes:
        """Number the shapes of a table of groups, drop the table, and return the shapes.

        No other table has groups of the same types. The engine may be reading the next table at the same time, so a
        second connection is used.
        """
        with self.workspace.another() as connection:
            # Most usage has the types of one grouping only; numbering no groups takes as long as numbering a few.
            if not connection.execute(f"SELECT 1 FROM {read} LIMIT 1").fetchall():
                connection.execute(f"DROP TABLE {read}")
                return Shapes()
            placed = place(connection, self.workspace, self.plan, grouping, read)
            shapes = self._number(connection, placed)
            connection.execute(f"DROP TABLE {placed.table}")
        return shapes

    def _number(self, connection: duckdb.DuckDBPyConnection, placed: PlacedGroups) -> Shapes:
        numbered, shapes = number(connection, self.workspace, self.plan, placed, len(self.shapes))
        self._parts.append(numbered)
        self.shapes.extend(shapes)
        return shapes

    def groups_by(self, keys: Collection[str]) -> str:
        """Return a table of groups by these keys, made once; or the groups by all keys, if it would save little."""
        key_columns = {DAY if self.plan.is_period(key) else key for key in keys}
        wanted_keys = tuple(key for key in self.plan.keys if key in key_columns)
        if wanted_keys == self.plan.keys:
            return self.groups
        if wanted_keys not in self._coarser:
            ((count,),) = self.workspace.connection.execute(f"SELECT count(*) FROM {self.groups}").fetchall()
            if count < _WORTH_A_TABLE * len(self.shapes):
                self._coarser[wanted_keys] = self.groups
                return self.groups
            table = self.workspace.new_table("coarser")
            columns = ", ".join(("shape", "type", "model", *(f"key{self.plan.keys.index(key)}" for key in wanted_keys)))
            total = ", ".join(f"CAST(sum({name}) AS HUGEINT) AS {name}" for name in self._sums)
            self.workspace.connection.execute(f"""
                CREATE TABLE {table} AS
                SELECT {columns}, CAST(sum(requests) AS BIGINT) AS requests, {total}
                FROM {self.groups}
                GROUP BY {columns}""")
            self._coarser[wanted_keys] = table
        return self._coarser[wanted_keys]

    @cached_property
    def groups(self) -> str:
        """Return the view of the groups: shape, type, model, day, keys, requests and sums."""
        parts = [self._part(part) for part in self._parts] or [self._nothing()]
        view = self.workspace.new_table("groups")
        self.workspace.connection.execute(f"CREATE VIEW {view} AS {' UNION ALL '.join(parts)}")
        return view

    def _part(self, part: PlacedGroups) -> str:
        """Return the query of a part of the groups, with 0 for each sum that its types do not have."""
        keys = (f"{column} AS {key}" for key, column in part.keys.items())
        sums = (name if name in part.sums else f"CAST(0 AS HUGEINT) AS {name}" for name in self._sums)
        return f"SELECT {', '.join(('shape', 'type', 'model', 'day', *keys, 'requests', *sums))} FROM {part.table}"

    def _nothing(self) -> str:
        """Return a query without rows: the groups of a kept roll-up of no rows."""
        types = {"shape": "INTEGER", "type": "VARCHAR", "model": "VARCHAR", "day": "DATE"}
        types |= dict.fromkeys(self.plan.key_columns, "VARCHAR") | {"requests": "BIGINT"}
        types |= dict.fromkeys(self._sums, "HUGEINT")
        return f"SELECT {', '.join(f'CAST(NULL AS {type_}) AS {name}' for name, type_ in types.items())} WHERE FALSE"

    @cached_property
    def rows(self) -> int:
        """Return the number of rows of the usage."""
        return sum(self.shapes.requests.tolist())

    def words(self, counted: Counted) -> Iterator[str]:
        """Yield words that describe a shape: its values, the tier of its prompt, its buckets and its summed counts."""
        shape = counted.shape
        yield from (f"{name} {value}" for name, value in shape.row().items() if name not in ("type", "model"))
        tier, used_buckets = self.plan.predicates.split(shape.type or "", int(shape.values().get(PREDICATES, 0)))
        if tier:
            yield f"prompt above {self.plan.predicates.thresholds[tier - 1]:,} tokens"
        yield from (f"tokens {bucket}" for bucket in sorted(used_buckets - {BY_BUCKET}))
        summed_bits = int(shape.values().get(SUMMED, 0))
        yield from (name for number, name in enumerate(self.plan.predicates.counts) if summed_bits >> number & 1)

    def rows_without_account(self) -> int:
        """Count the rows whose account is not known, where rows have the prices of their accounts."""
        if not self.plan.account:
            return 0
        where = f"coalesce({self.plan.account_column}, '') = ''"
        queries = (f"SELECT coalesce(sum(requests), 0) FROM {part.table} WHERE {where}" for part in self._parts)
        return sum(int(self.workspace.connection.execute(query).fetchall()[0][0]) for query in queries)

    def accounts_alike(self, cards: Iterable[RateCard]) -> tuple[str, ...]:
        """Return, in order, the accounts that differ from one with a contract in capitals or spaces around alone."""
        if not self.plan.account or not self._parts:
            return ()
        signed = {name for card in cards for name in card.in_force.of_accounts}
        accounts = " UNION ".join(
            f"SELECT {self.plan.account_column} AS name FROM {part.table}" for part in self._parts
        )
        signed_names = "SELECT unnest($1::VARCHAR[]) AS name"
        query = f"""SELECT name FROM ({accounts}) WHERE name NOT IN ({signed_names})
            AND lower(trim(name)) IN (SELECT lower(trim(name)) FROM ({signed_names})) ORDER BY 1"""
        return tuple(name for (name,) in self.workspace.connection.execute(query, [[*signed]]).fetchall())

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """Return the first and the last day; None unless groups have a day."""
        if DAY not in self.plan.keys:
            return None
        query = f"SELECT min(day), max(day) FROM {self.groups}"
        ((first, last),) = self.workspace.connection.execute(query).fetchall()
        return (first, last) if first else None

    def check_columns(self, cards: Sequence[RateCard]) -> None:
        """Raise `SimulationError` if columns of buckets or conditions may mean something else to other cards."""
        plan, meters = self.plan, [card.tables.meters for card in cards]
        are_known = all(card_meters in plan.meters for card_meters in meters)
        if plan.layouts is not LAYOUTS and not are_known:
            words = "has other buckets or conditions than the usage was rolled up for; simulate it anew"
            raise SimulationError(f"the candidate {words}")

    def serving(self, predicates: Predicates, *, dated: bool) -> "RollUp":
        """Return this roll-up, or the same groups split at further boundaries, if other cards need these.

        `dated`: some card is read at each row's own time. Raises `SimulationError` if the groups are too coarse, so
        that the usage itself has to be grouped again.
        """
        current = self.plan.predicates
        if current.covers(predicates) and dated <= self.plan.dated:
            return self
        same_days = dated <= self.plan.dated and current.covers(predicates._replace(contracts=current.contracts))
        if not current.groups(predicates) or not (same_days or DAY in self.plan.keys):
            words = "has other thresholds or days of change than the usage was rolled up for; simulate it anew"
            raise SimulationError(f"the candidate {words}")
        plan = self.plan._replace(predicates=current.joined(predicates), dated=dated or self.plan.dated)
        roll_up = RollUp(self.workspace, plan, self.places)
        roll_up.reading = self.reading
        for part in self._parts:
            with self.workspace.another() as connection:
                roll_up._number(connection, part)
        return roll_up
