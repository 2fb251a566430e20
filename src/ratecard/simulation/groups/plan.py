"""What is rolled up: the keys of a group, the columns of the usage, and the types that are read together."""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.rows.columns import DAY, LAYOUTS, LEDGER, PLACES_SUMMED, Layout, UsageColumn
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.sql import ColumnType
from ratecard.tables.meters import Meters

# The least number of sums that a roll-up has.
_LEAST_SUMS = 4
# A shape of quantities has one of these beside the attributes of its type: its quantities as they are, where they
# cannot be added; else the tier of the prompt and the used buckets without a price, as one number (`Predicates.split`).
RAW_QUANTITIES, PREDICATES = "given", "predicates"
# And where there are counts by meter, as one number: those that are summed, of those that a row has.
SUMMED = "summed"
# The keys that are made of the day: a week is its Monday, a month is like `2026-10`.
WEEK, MONTH = "week", "month"
PERIODS = (WEEK, MONTH)
# Before every boundary.
EARLIEST = date.min
# What is read together, in this order: what has most shapes comes first, and they are priced while an engine reads on.
MEDIA, _TOKENS, OTHER_TYPES = "video and music", "tokens", "other types"
# Each of their requests has a length of its own, which is not summed.
_MEDIA = ("video", "music")
ACCOUNT_COLUMN = "account"
# The columns that name an account, the first that there is.
_ACCOUNT_COLUMNS = (ACCOUNT_COLUMN, "customer")
NO_ACCOUNT = (
    "the usage has neither a column 'account' nor 'customer', so that it does not say whose rows are. "
    "Name it: --map account=COLUMN"
)
# The decimals that a sum of seconds can need in a column of some type.
_PLACES: dict[ColumnType, int] = {"integer": 0, "boolean": 0}


class Plan(NamedTuple):
    """What to roll up: the keys of a group (`day`, `week` and `month` are made of the timestamp), and what the compared
    tables ask.
    """

    by: tuple[str, ...]
    predicates: Predicates
    # True if some card prices each row at its own time.
    dated: bool
    # What a row of RPC calls, which names no model, is counted under.
    rpc_model: str = "rpc"
    # The type of each model, which a row without a type has.
    types: Mapping[str, str] = {}
    chosen: Chosen = Chosen()
    # Keys that are columns of the usage, although they have the name of a period.
    own: tuple[str, ...] = ()
    # The columns of each type of row.
    layouts: Mapping[str, Layout] = LAYOUTS
    # The meters of every card, on which the layouts depend.
    meters: tuple[Meters, ...] = ()
    # The column of the account whose prices a row has; empty where all rows have those of the list.
    account: str = ""

    @property
    def sums(self) -> int:
        """Return the greatest number of quantities that are summed for a row."""
        return max(_LEAST_SUMS, *(layout.sums for layout in self.layouts.values()))

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the groups: for a week or a month, the day."""
        return tuple(dict.fromkeys(DAY if self.is_period(key) else key for key in self.by))

    @property
    def others(self) -> dict[str, str]:
        """Return the keys that a shape or its day does not have, by the name of their column among groups."""
        return {f"key{number}": key for number, key in enumerate(self.keys) if key not in ("type", "model", DAY)}

    @property
    def account_column(self) -> str:
        """Return the column of the account among groups, perhaps that of a key; empty where it does not matter."""
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
    # True if rows may lack a type, so that those of their models are needed.
    untyped: bool = False
    # The types that its rows may have.
    layouts: Mapping[str, Layout] = LAYOUTS
    # The engine's name for the type of each column.
    declared: Mapping[str, str] = {}
    # The keys of a kept roll-up, and the condition that its rows meet.
    by: tuple[str, ...] | None = None
    where: str | None = None

    def has(self, name: str) -> bool:
        """Return True if the table has a known column, under whatever name."""
        return name in self.columns

    def gives(self, name: str) -> bool:
        """Return True if each row has a column, or, of a type, can have that of its model."""
        return self.has(name) or (name == "type" and self.untyped)

    @property
    def account(self) -> str:
        """Return the known column that names the account of a row; empty without any."""
        return next((name for name in _ACCOUNT_COLUMNS if self.has(name)), "")

    @property
    def is_counted(self) -> bool:
        """Return True if its rows are groups of rows already."""
        return self.by is not None

    @property
    def is_ledger(self) -> bool:
        """Return True if the rows are those of a billing export."""
        return self.table == LEDGER


def places_of_type(usage: Usage, layout: Layout) -> tuple[int, ...]:
    """Return how many decimals the sums of a type have: those of its quantities alike, and of each count by meter."""
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
