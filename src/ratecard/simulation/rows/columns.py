"""The columns of a usage table: the fields of `prices.rate` usages, flattened, and where each belongs in a usage.

A row is one metered request; for RPC, one call. A row has values in the columns of its type; other columns are null.
Columns of tokens by bucket (`tokens.cache_write_1h`) and of conditions (`service_tier`) are those of meters.yaml.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.requests.body import INVALID
from ratecard.requests.counters import FLAT
from ratecard.requests.fields import Boolean
from ratecard.requests.service_parameters import PARAMETERS, SEARCHES
from ratecard.requests.text_body import NUMBER_FIELDS, flag_of_text, number_of_cell
from ratecard.tables.meters import COMPLETION, PROMPT, Meters, UsageCondition, own_counts
from ratecard.tables.video import REQUEST_FIELDS

ColumnKind = Literal["text", "number", "flag", "url", "condition"]
# The key that is made of the timestamp.
DAY = "day"


class UsageColumn(NamedTuple):
    """A column, its kind, and the path to its value in a usage; the object `source` holds facts of a source video.

    `defaults`: for a condition, the values that mean the same as no value.
    """

    name: str
    kind: ColumnKind
    path: tuple[str, ...]
    defaults: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, kind: ColumnKind, *within: str) -> "UsageColumn":
        """Return a column whose field has the same name, inside these objects of the usage."""
        return cls(name, kind, (*within, name))

    def put(self, usage: dict[str, Any], value: Any) -> None:
        """Put a value at its place in a usage."""
        *within, last = self.path
        for part in within:
            usage = usage.setdefault(part, {})
        usage[last] = value


class Buckets(NamedTuple):
    """The buckets of tokens that rows of a table can count, in the order of their sums.

    `wholes`: for each bucket, the buckets that it is part of. `overlaps`: pairs that can have tokens in common, and the
    bucket of those tokens, if there is one. `counted`: the buckets with a column of their own. `unlike`: such columns
    whose bucket some compared card does not know, or defines otherwise; a row with a value there is priced by itself.
    """

    names: tuple[str, ...]
    wholes: Mapping[str, tuple[str, ...]]
    overlaps: tuple[tuple[str, str, str | None], ...] = ()
    counted: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    def own(self) -> dict[str, dict[str, int]]:
        """Return, for each bucket, the signs of the inclusive counts that add up to its tokens outside of its parts."""
        sums = own_counts(self.wholes).items()
        return {name: {other: signs[other] for other in self.names if signs.get(other)} for name, signs in sums}

    def in_completion(self, name: str) -> bool:
        """Return True if a bucket is the completion, or a part of it."""
        return COMPLETION in (name, *self.wholes[name])

    def kind(self, name: str) -> str:
        """Return the bucket that a bucket is, or is part of, among the buckets of every table."""
        return next(bucket for bucket in (*BUCKETS[1:], PROMPT) if bucket in (name, *self.wholes[name]))


class Layout(NamedTuple):
    """The columns of one type of usage.

    Its `quantities` enter the price linearly and unrounded, so that they can be summed; its `attributes` decide the
    rates, or enter in another way. `places` is how many decimals a quantity may have. Every card refuses a row without
    a quantity that is not `optional`. Types charged by tokens have `buckets`, and a sum for each. `counts` are the
    counts by meter: each has a sum, after the other sums, if its model charges it linearly.
    """

    attributes: tuple[UsageColumn, ...]
    quantities: tuple[UsageColumn, ...] = ()
    places: int = 0
    optional: tuple[str, ...] = ()
    buckets: Buckets | None = None
    counts: tuple[UsageColumn, ...] = ()

    @property
    def columns(self) -> tuple[UsageColumn, ...]:
        """Return all of its columns."""
        return (*self.attributes, *self.quantities, *self.counts)

    @property
    def own_sums(self) -> int:
        """Return the number of its sums, without those of counts by meter."""
        return len(self.buckets.names if self.buckets else self.quantities)

    @property
    def sums(self) -> int:
        """Return the number of its sums."""
        return self.own_sums + len(self.counts)


# The buckets of tokens that every table can count, in the order of their sums.
BUCKETS = (PROMPT, "cache_input", "cache_write", COMPLETION)
_BUCKETS = Buckets(BUCKETS, {PROMPT: (), "cache_input": (PROMPT,), "cache_write": (PROMPT,), COMPLETION: ()})
# The prefixes of columns of counts by bucket and by meter: their objects in a usage.
OF_BUCKETS, OF_METERS = COUNTED = ("tokens", "counts")
_COUNT = re.compile(rf"({OF_BUCKETS}|{OF_METERS})\.([^'\"`\\]+)")
_TOKENS = tuple(UsageColumn.of(name, "number", "usage", *way) for *way, name in FLAT)
# The bucket that each of these columns counts.
BUCKET_OF = {path[-1]: bucket for path, bucket in FLAT.items()}
_CACHE = tuple(name for name, bucket in BUCKET_OF.items() if bucket not in (PROMPT, COMPLETION))
_SEARCHES = (
    *(UsageColumn.of(field, "number") for field, _ in SEARCHES.values()),
    *(
        UsageColumn.of(switch, "flag" if isinstance(PARAMETERS[switch], Boolean) else "text", "service_parameters")
        for _, switch in SEARCHES.values()
    ),
)
_IMAGE = (UsageColumn.of("n", "number"), UsageColumn.of("resolution", "text"), UsageColumn.of("quality", "text"))
# The attribute that may differ in every request, even if all other attributes are the same.
LENGTH = "reference_video_total_duration"
_KINDS: dict[str, ColumnKind] = {**dict.fromkeys(NUMBER_FIELDS, "number"), "audio": "flag", "video_url": "url"}
_VIDEO = (
    *(UsageColumn.of(name, _KINDS.get(name, "text")) for name in REQUEST_FIELDS),
    UsageColumn("source_seconds", "number", ("source", "seconds")),
    UsageColumn("source_width", "number", ("source", "width")),
    UsageColumn("source_height", "number", ("source", "height")),
    UsageColumn("source_fps", "number", ("source", "fps")),
)

# The most decimals of a number that is summed, more than any clock or bill has; a finer number is priced by itself.
PLACES_SUMMED = 18
# The most meters whose counts are summed, one for each bit of the engine's integer; further counts are not summed.
_MOST_METERS = 62

LAYOUTS: dict[str, Layout] = {
    "text": Layout(_SEARCHES, _TOKENS, optional=_CACHE, buckets=_BUCKETS),
    "embedding": Layout((), _TOKENS, optional=("completion_tokens", *_CACHE), buckets=_BUCKETS),
    "image": Layout(_IMAGE),
    "edit": Layout((*_IMAGE, UsageColumn.of("input_images", "number"))),
    "upscale": Layout((UsageColumn.of("factor", "text"),)),
    "speech": Layout((), (UsageColumn.of("characters", "number"),)),
    "transcription": Layout((), (UsageColumn.of("seconds", "number"),), PLACES_SUMMED),
    "music": Layout((UsageColumn.of("duration_seconds", "number"), UsageColumn.of("character_count", "number"))),
    "rpc": Layout(
        (
            UsageColumn.of("network", "text"),
            UsageColumn.of("method", "text", "call"),
            UsageColumn.of("failed", "flag", "call"),
        )
    ),
    "video": Layout(_VIDEO),
}

# The columns that can name an account; the first one that a usage or a billing export has is used.
ACCOUNT_COLUMN = "account"
ACCOUNT_COLUMNS = (ACCOUNT_COLUMN, "customer")

# The one type of a billing export, in the columns that `ledger_usage` makes of it.
LEDGER = "ledger"
_OF_A_ROW = ("sku", "currency", "price", "contract", "entry", "odd", "again", "charged_on")
LEDGER_LAYOUTS: dict[str, Layout] = {
    LEDGER: Layout(
        tuple(UsageColumn.of(f"ledger_{name}", "text") for name in _OF_A_ROW),
        (UsageColumn.of("ledger_units", "number"), UsageColumn.of("ledger_amount", "number")),
        PLACES_SUMMED,
    )
}

# Every column that a simulation understands; any other column can still be a key.
USAGE_COLUMNS: Mapping[str, UsageColumn] = {
    column.name: column for layout in LAYOUTS.values() for column in layout.columns
}


# From the names of a table's columns to the columns of each type.
LayoutsOf = Callable[[Iterable[str]], Mapping[str, Layout]]


def column_of(name: str) -> UsageColumn:
    """Return a column by its name: a known one, a count by bucket or meter, or else a text, like a condition.

    >>> column_of("cached_tokens").path, column_of("tokens.input_audio").path, column_of("service_tier").path
    (('usage', 'prompt_tokens_details', 'cached_tokens'), ('tokens', 'input_audio'), ('service_tier',))
    """
    if known := USAGE_COLUMNS.get(name):
        return known
    counted = _COUNT.fullmatch(name)
    return UsageColumn(name, "number", counted.groups()) if counted else UsageColumn.of(name, "text")


def layouts_of(meters: Sequence[Meters], names: Iterable[str]) -> Mapping[str, Layout]:
    """Return the columns of each type in a table that has columns of these names.

    `meters` are those of all compared cards. Rows of all types except video can have conditions.
    """
    listed = list(names)
    counted = [column_of(name) for name in listed if _COUNT.fullmatch(name)]
    counts = [column for column in counted if column.path[0] == OF_BUCKETS]
    metered = tuple(column for column in counted if column.path[0] == OF_METERS)
    conditions = dict.fromkeys(name for card_meters in meters for name in card_meters.condition if name in listed)
    if not (counted or conditions):
        return LAYOUTS
    condition_columns = tuple(
        _condition(name, [card_meters.condition.get(name) for card_meters in meters]) for name in conditions
    )
    buckets = _buckets(meters, counts)
    # The columns of `usage` are read if the table has one of them, or if it has no counts by bucket.
    of_usage = _TOKENS if not buckets.counted or any(column.name in listed for column in _TOKENS) else ()
    by_bucket = tuple(column.name for column in counts)
    layouts = {}
    for type_, layout in LAYOUTS.items():
        if layout.buckets:
            quantities, optional = (*of_usage, *counts), (*layout.optional, *by_bucket)
            layout = layout._replace(quantities=quantities, optional=optional, buckets=buckets)
        if type_ != "video":  # a quote of a video has only its own fields
            further_counts = metered[_MOST_METERS:]
            layout = layout._replace(
                attributes=layout.attributes + condition_columns + further_counts, counts=metered[:_MOST_METERS]
            )
        layouts[type_] = layout
    return layouts


def _condition(name: str, declared: Collection[UsageCondition | None]) -> UsageColumn:
    """Return the column of a condition; its defaults are the values that are the default on every card."""
    defaults = [set(condition.spellings(())) if condition else set[str]() for condition in declared]
    return UsageColumn(name, "condition", (name,), tuple(sorted(set.intersection(*defaults))))


def _buckets(meters: Sequence[Meters], counts: Iterable[UsageColumn]) -> Buckets:
    """Return the buckets that all of these meters define alike, with the columns of other buckets as `unlike`."""
    known = {
        name: bucket
        for name, bucket in meters[0].buckets.items()
        if all(
            name in card_meters.buckets and card_meters.buckets[name].dimensions == bucket.dimensions
            for card_meters in meters
        )
    }
    if not all(name in known for name in BUCKETS):
        return _BUCKETS._replace(unlike=tuple(column.name for column in counts))
    known_columns = {column.path[-1]: column for column in counts if column.path[-1] in known}
    names = (*BUCKETS, *(name for name in known if name in known_columns and name not in BUCKETS))
    overlaps = []
    for one, other in combinations(names, 2):
        if known[one].overlaps(known[other]):
            both = {**known[one].dimensions, **known[other].dimensions}
            overlaps.append((one, other, next((name for name in names if known[name].dimensions == both), None)))
    return Buckets(
        names,
        {name: tuple(outer for outer in names if known[name].within(known[outer])) for name in names},
        tuple(overlaps),
        tuple(known_columns),
        tuple(column.name for column in counts if column.path[-1] not in known_columns),
    )


def usage_of_row(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return a usage from a row whose cells are text; empty cells are left out.

    A value that does not fit its column stays text, and an unknown column stays as it is, so that `prices.rate` refuses
    them. Raises `QuoteError` for a source video, which is not part of a usage.

    >>> usage_of_row({"model": "m", "prompt_tokens": "10", "completion_tokens": "2", "cached_tokens": "4"})["usage"]
    {'prompt_tokens': 10, 'completion_tokens': 2, 'prompt_tokens_details': {'cached_tokens': 4}}
    """
    usage: dict[str, Any] = {}
    for name, text in fields.items():
        if text == "":
            continue
        column = column_of(name) if name != "count" else UsageColumn.of(name, "number")
        if column.path[0] == "source":
            raise QuoteError(
                INVALID, [((name,), "A source video is not part of a usage. Price it by `ratecard quote`")]
            )
        column.put(usage, {"number": number_of_cell, "flag": flag_of_text}.get(column.kind, str)(text))
    if "call" in usage:
        usage["calls"] = [usage.pop("call")]
    return usage


# Aliases of columns.
OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("input_tokens", "tokens_in", "prompt"), "prompt_tokens"),
    **dict.fromkeys(("output_tokens", "tokens_out", "completion"), "completion_tokens"),
    **dict.fromkeys(
        ("cache_read_tokens", "cache_read_input_tokens", "cached_input_tokens", "cached_prompt_tokens"), "cached_tokens"
    ),
    "chars": "characters",
    **dict.fromkeys(("cache_write_tokens", "cache_creation_tokens"), "cache_creation_input_tokens"),
}
