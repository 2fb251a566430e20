"""The columns of a usage table: the fields of `prices.rate` usages, flattened, and where each belongs in a usage.

A row is one metered request; of RPC, one call. A row has a value in the columns of its own type; the others are null.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.requests.body import INVALID
from ratecard.requests.text_body import flag_of_text, number_of_text

ColumnKind = Literal["text", "number", "flag", "url"]
# The key that is made of the timestamp.
DAY = "day"


class UsageColumn(NamedTuple):
    """A column, what it holds, and the place of its value in a usage; `source` is what is known of the source video."""

    name: str
    kind: ColumnKind
    path: tuple[str, ...]

    @classmethod
    def of(cls, name: str, kind: ColumnKind, *within: str) -> "UsageColumn":
        """A column whose field has the same name, within some object of the usage."""
        return cls(name, kind, (*within, name))


class Layout(NamedTuple):
    """The columns of one type of usage.

    Its `quantities` enter the price linearly and unrounded, so that they can be summed; its `attributes` decide the
    rates, or enter in another way. `places` is how many decimals a quantity may have. Without a quantity that is not
    `optional`, a row is refused by every card.
    """

    attributes: tuple[UsageColumn, ...]
    quantities: tuple[UsageColumn, ...] = ()
    places: int = 0
    optional: tuple[str, ...] = ()


# The buckets of tokens that rows count, in the order of their sums.
BUCKETS = ("input", "cache_input", "cache_write", "output")
_DETAILS = ("usage", "prompt_tokens_details")
_TOKENS = (
    UsageColumn.of("prompt_tokens", "number", "usage"),
    UsageColumn.of("completion_tokens", "number", "usage"),
    UsageColumn.of("cached_tokens", "number", *_DETAILS),
    UsageColumn.of("cache_creation_input_tokens", "number", *_DETAILS),
)
_CACHE = ("cached_tokens", "cache_creation_input_tokens")
_SEARCHES = (
    UsageColumn.of("web_search_requests", "number"),
    UsageColumn.of("scraped_urls", "number"),
    UsageColumn.of("x_search_results", "number"),
    UsageColumn.of("enable_web_search", "text", "service_parameters"),
    UsageColumn.of("enable_web_scraping", "flag", "service_parameters"),
    UsageColumn.of("enable_x_search", "flag", "service_parameters"),
)
_IMAGE = (UsageColumn.of("n", "number"), UsageColumn.of("resolution", "text"), UsageColumn.of("quality", "text"))
_VIDEO = (
    UsageColumn.of("duration", "text"),
    UsageColumn.of("aspect_ratio", "text"),
    UsageColumn.of("resolution", "text"),
    UsageColumn.of("upscale_factor", "number"),
    UsageColumn.of("enhancement_model", "text"),
    UsageColumn.of("target_fps", "number"),
    UsageColumn.of("slowdown_factor", "number"),
    UsageColumn.of("audio", "flag"),
    UsageColumn.of("video_url", "url"),
    UsageColumn.of("reference_video_total_duration", "number"),
    UsageColumn("source_seconds", "number", ("source", "seconds")),
    UsageColumn("source_width", "number", ("source", "width")),
    UsageColumn("source_height", "number", ("source", "height")),
    UsageColumn("source_fps", "number", ("source", "fps")),
)

# More decimals than any clock or bill has; a finer number is priced by itself, not summed.
_PLACES = 18

LAYOUTS: dict[str, Layout] = {
    "text": Layout(_SEARCHES, _TOKENS, optional=_CACHE),
    "embedding": Layout((), _TOKENS, optional=("completion_tokens", *_CACHE)),
    "image": Layout(_IMAGE),
    "edit": Layout((*_IMAGE, UsageColumn.of("input_images", "number"))),
    "upscale": Layout((UsageColumn.of("factor", "text"),)),
    "speech": Layout((), (UsageColumn.of("characters", "number"),)),
    "transcription": Layout((), (UsageColumn.of("seconds", "number"),), _PLACES),
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

# The one type of a billing export, in the columns that `ledger_usage` makes of it.
LEDGER = "ledger"
LEDGER_LAYOUTS: dict[str, Layout] = {
    LEDGER: Layout(
        tuple(UsageColumn.of(f"ledger_{name}", "text") for name in ("sku", "currency", "price", "entry", "odd")),
        (UsageColumn.of("ledger_units", "number"), UsageColumn.of("ledger_amount", "number")),
        _PLACES,
    )
}

# Every column that has a meaning of its own; any other can be grouped by.
USAGE_COLUMNS: Mapping[str, UsageColumn] = {
    column.name: column for layout in LAYOUTS.values() for column in (*layout.attributes, *layout.quantities)
}


def usage_of_row(fields: Mapping[str, str]) -> dict[str, Any]:
    """A usage from a row whose cells are text; an empty one says nothing.

    What does not fit its column stays text, and what has no column stays as it is, for `prices.rate` to refuse. Raises
    `QuoteError` for a source video, of which a usage knows nothing.

    >>> usage_of_row({"model": "m", "prompt_tokens": "10", "completion_tokens": "2", "cached_tokens": "4"})["usage"]
    {'prompt_tokens': 10, 'completion_tokens': 2, 'prompt_tokens_details': {'cached_tokens': 4}}
    """
    usage: dict[str, Any] = {}
    for name, text in fields.items():
        if text == "":
            continue
        column = USAGE_COLUMNS.get(name) or UsageColumn.of(name, "number" if name == "count" else "text")
        if column.path[0] == "source":
            raise QuoteError(
                INVALID, [((name,), "A source video is not part of a usage. Price it by `ratecard quote`")]
            )
        within = usage
        for part in column.path[:-1]:
            within = within.setdefault(part, {})
        reader = {"number": number_of_text, "flag": flag_of_text}.get(column.kind, str)
        within[column.path[-1]] = reader(text)
    if "call" in usage:
        usage["calls"] = [usage.pop("call")]
    return usage


# What providers and logs call some of these.
OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("input_tokens", "tokens_in", "prompt"), "prompt_tokens"),
    **dict.fromkeys(("output_tokens", "tokens_out", "completion"), "completion_tokens"),
    **dict.fromkeys(
        ("cache_read_tokens", "cache_read_input_tokens", "cached_input_tokens", "cached_prompt_tokens"), "cached_tokens"
    ),
    "chars": "characters",
    **dict.fromkeys(("cache_write_tokens", "cache_creation_tokens"), "cache_creation_input_tokens"),
}
