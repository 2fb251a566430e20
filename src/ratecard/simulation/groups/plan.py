"""The plan of a roll-up: the keys of a group, the columns of the usage, and the types that are read together."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ratecard.base.errors import SimulationError
from ratecard.base.suggestions import did_you_mean
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.rows.billing_export import EXPORT_NAMES
from ratecard.simulation.rows.columns import (
    ACCOUNT_COLUMN,
    ACCOUNT_COLUMNS,
    DAY,
    LAYOUTS,
    LEDGER,
    PLACES_SUMMED,
    USAGE_COLUMNS,
    Layout,
    UsageColumn,
)
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.sql import ColumnType
from ratecard.tables.meters import Meters

# The least number of sums that a roll-up has.
_LEAST_SUMS = 4
# Further attributes of a shape with quantities, one or the other: the raw quantities, if they cannot be added; else one
# number for the tier of the prompt and the used buckets without a price (`Predicates.split`).
RAW_QUANTITIES, PREDICATES = "given", "predicates"
# If there are counts by meter, a further one: a number that says which counts of a row are summed.
SUMMED = "summed"
# The keys that are made of the day: a week is its Monday, a month is like `2026-10`.
WEEK, MONTH = "week", "month"
PERIODS = (WEEK, MONTH)
# A day before every boundary.
EARLIEST = date.min
# The parts that are read, in this order: the one with most shapes is first, and is priced while an engine reads on.
MEDIA, _TOKENS, OTHER_TYPES = "video and music", "tokens", "other types"
# The types whose requests each have their own length, which is not summed.
_MEDIA = ("video", "music")
_NAMES = ("type", "model", "timestamp", *ACCOUNT_COLUMNS, *USAGE_COLUMNS)
NO_ACCOUNT = (
    "the usage has neither a column 'account' nor 'customer', so that it does not say whose rows are. "
    "Name it: --map account=COLUMN"
)
# The decimals of a sum of seconds, by the type of its column; other types can need all decimals.
_PLACES: dict[ColumnType, int] = {"integer": 0, "boolean": 0}


class Plan(NamedTuple):
    """The plan of a roll-up: the keys of its groups, and the differences that matter to the compared tables.

    The keys `day`, `week` and `month` are made of the timestamp.
    """

    by: tuple[str, ...]
    predicates: Predicates
    # True if some card prices each row at its own time.
    dated: bool
    # The model under which rows of RPC calls are counted, because they name no model.
    rpc_model: str = "rpc"
    # The type of each model, for rows without a type.
    types: Mapping[str, str] = {}
    chosen: Chosen = Chosen()
    # Keys that are columns of the usage, although they have the name of a period.
    own: tuple[str, ...] = ()
    # The columns of each type of row.
    layouts: Mapping[str, Layout] = LAYOUTS
    # The meters of every card, on which the layouts depend.
    meters: tuple[Meters, ...] = ()
    # The column of the account whose prices a row has; empty if all rows have list prices.
    account: str = ""

    @property
    def sums(self) -> int:
        """Return the greatest number of quantities that are summed for a row."""
        return max(_LEAST_SUMS, *(layout.sums for layout in self.layouts.values()))

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the groups, with the day in place of a week or a month."""
        return tuple(dict.fromkeys(DAY if self.is_period(key) else key for key in self.by))

    @property
    def cuts(self) -> tuple[int, ...]:
        """Return the seconds of a UTC day at which a price may change; empty if groups need no part of the day."""
        return self.predicates.cuts if self.dated else ()

    @property
    def by_day(self) -> bool:
        """Return True if groups have their day; else they have the first day of a period, or none."""
        return DAY in self.keys or bool(self.cuts)

    @property
    def others(self) -> dict[str, str]:
        """Return the keys other than type, model and day, by the name of their column in the groups."""
        return {f"key{number}": key for number, key in enumerate(self.keys) if key not in ("type", "model", DAY)}

    @property
    def account_column(self) -> str:
        """Return the column of the account in the groups, perhaps that of a key; empty if accounts do not matter."""
        if not self.account:
            return ""
        return next((name for name, key in self.others.items() if key == self.account), ACCOUNT_COLUMN)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Return the columns of the keys."""
        return tuple(f"key{number}" for number in range(len(self.keys)))

    def is_period(self, key: str) -> bool:
        """Return True if a key is made of the day."""
        return key in PERIODS and key not in self.own


class Usage(NamedTuple):
    """The columns of a usage table: where each known column is, and the type of every column."""

    columns: Mapping[str, str]
    types: Mapping[str, ColumnType]
    # The number of decimals of each decimal column.
    scales: Mapping[str, int] = {}
    table: str = "usage"
    # Of a billing export, the table of which the view of a ledger is made.
    booked: str = "usage"
    # True if rows may lack a type, so that the types of their models are needed.
    untyped: bool = False
    # The types that its rows may have.
    layouts: Mapping[str, Layout] = LAYOUTS
    # The engine's name for the type of each column.
    declared: Mapping[str, str] = {}
    # The keys of a kept roll-up, and the condition that its rows meet.
    by: tuple[str, ...] | None = None
    where: str | None = None

    def has(self, name: str) -> bool:
        """Return True if the table has a known column, under any name."""
        return name in self.columns

    def gives(self, name: str) -> bool:
        """Return True if rows have a known column; for `type`, also if they can have the type of their model."""
        return self.has(name) or (name == "type" and self.untyped)

    def check_names(self, names: Mapping[str, str], used: Sequence[str] = ()) -> None:
        """Raise `SimulationError` where `names` maps a name that is not read, nor `used` for groups or a choice."""
        known_names = (*(EXPORT_NAMES if self.is_ledger else ()), *_NAMES, *used)
        columns = {column.name for layout in self.layouts.values() for column in layout.columns}
        for name, theirs in names.items():
            if name == DAY:
                words = "the day of a row is that of its timestamp, in UTC. Write --map timestamp="
                raise SimulationError(f"--map {name}={theirs}: {words}{theirs}")
            if name not in known_names and name not in columns:
                near = did_you_mean(name, known_names)
                words = "is not a column that is read, and nothing is grouped or chosen by it"
                raise SimulationError(f"--map {name}={theirs}: '{name}' {words}.{near}")

    @property
    def account(self) -> str:
        """Return the known column that names the account of a row; empty if there is no such column."""
        return next((name for name in ACCOUNT_COLUMNS if self.has(name)), "")

    @property
    def is_counted(self) -> bool:
        """Return True if its rows are groups of rows already."""
        return self.by is not None

    @property
    def is_ledger(self) -> bool:
        """Return True if the rows are those of a billing export."""
        return self.table == LEDGER


def places_of_type(usage: Usage, layout: Layout) -> tuple[int, ...]:
    """Return the decimals of each sum of a type: the same for all quantities, then those of each count by meter."""
    places = _places_of_column(usage, layout.quantities[0], layout.places) if layout.places else 0
    return (
        *(places,) * layout.own_sums,
        *(_places_of_column(usage, column, PLACES_SUMMED) for column in layout.counts),
    )


def _places_of_column(usage: Usage, column: UsageColumn, most: int) -> int:
    if not usage.has(column.name):
        return 0
    name = usage.columns[column.name]
    if usage.types[name] == "decimal" and usage.scales.get(name, 0) <= most:
        return usage.scales[name]
    return _PLACES.get(usage.types[name], most)


def parts_of(layouts: Mapping[str, Layout]) -> dict[str, tuple[str, ...]]:
    """Return the types that each query reads."""
    media, tokens = tuple(name for name in layouts if name in _MEDIA), token_types(layouts)
    others = tuple(name for name in layouts if name not in (*media, *tokens))
    parts = {MEDIA: media, _TOKENS: tokens, OTHER_TYPES: others}
    return {name: types for name, types in parts.items() if types or name == OTHER_TYPES}


def token_types(layouts: Mapping[str, Layout]) -> tuple[str, ...]:
    """Return the types that are charged by tokens."""
    return tuple(name for name, layout in layouts.items() if layout.buckets)
