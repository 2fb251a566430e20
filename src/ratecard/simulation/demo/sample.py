"""A sample: a request that stands for many rows, which differ from it in what is counted."""

from typing import Any, NamedTuple

from ratecard.price_book import PriceBook
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.usage import TYPES
from ratecard.simulation.columns import LAYOUTS
from ratecard.words.errors import QuoteError

Row = dict[str, Any]
# The columns of a usage, in their order.
COLUMNS = {
    column.name: column
    for layout in (LAYOUTS[kind] for kind in TYPES.words)
    for column in (*layout.attributes, *layout.quantities)
}


class Sample(NamedTuple):
    """A row of a usage table whose tokens, characters and transcribed seconds are medians.

    `cached` and `written` are what the cache has of a prompt, per mille; `most_prompt` the longest prompt in tokens.
    `clip` are the seconds between which the reference video lies, with a fraction.
    """

    row: Row
    cached: int | None = None
    written: int | None = None
    most_prompt: int | None = None
    clip: tuple[int, int] | None = None

    def typical(self) -> Row:
        """The row that all rows of this sample are like."""
        prompt, made = self.row.get("prompt_tokens"), self.row.copy()
        shares = {"cached_tokens": self.cached, "cache_creation_input_tokens": self.written}
        made |= {name: prompt * share // 1_000 for name, share in shares.items() if prompt is not None and share}
        return made | ({"reference_video_total_duration": self.clip[0]} if self.clip else {})

    def has_price(self, prices: PriceBook) -> bool:
        """Whether the typical row has a price."""
        try:
            quote_row(prices, self.typical())
        except QuoteError:
            return False
        return True


def quote_row(prices: PriceBook, row: Row) -> Quote:
    """The quote of one row of a usage table; of RPC, of a batch of one call. Raises `QuoteError`."""
    usage: dict[str, Any] = {"type": row["type"], "model": row["model"]}
    for name, column in COLUMNS.items():
        if row.get(name) is not None:
            *within, last = column.path
            place = usage
            for part in within:
                place = place.setdefault(part, {})
            place[last] = row[name]
    if usage["type"] == "video":
        source = usage.pop("source", None)
        del usage["type"]
        return prices.quote_video(usage, source=SourceVideo(**source) if source else None)
    if usage["type"] == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    return prices.rate(usage)
