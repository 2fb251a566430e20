"""The price sheet: every combination of values that decides a price, with its quote.

A video model has a cell for each combination that its version accepts; others have one for a unit of every rate.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import plain, text
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.methods.samples import unit_usages
from ratecard.price_book import PriceBook
from ratecard.requests.video import FIELD_ORDER
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import ANY, tiers
from ratecard.tables.video import (
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    VideoCharge,
    VideoVersion,
)

# Seconds of source videos and reference clips, or fewer if the model takes fewer: the price is linear in them.
_SECONDS = 10
_REFERENCE = "reference_video_total_duration"
# The values of a request that stand for the values of a reference clip.
_OF_CLIP = {"duration": {*SOURCE_MATCHED_DURATIONS}, "aspect_ratio": {*SOURCE_MATCHED_RATIOS}}
# Height of the source video if there is only one tier.
_HEIGHT = 720
# The usage for which the sheet shows a surcharge; its row has no words for it.
_ONE_SEARCH = {"count": 1}
# The columns by which the cells of a model differ, and all columns.
ASKED = (*REQUEST_FIELDS, "usage", "source_video")
SHEET_COLUMNS = ("model", *ASKED, "total", "exact", "currency", "effective", "sku", "source")


class Cell(NamedTuple):
    """One combination of values that decides a price, and its quote; `usage` is the rated usage, None for a video."""

    body: dict[str, Any]
    video: SourceVideo | None
    quote: Quote
    usage: Mapping[str, Any] | None = None

    def priced(self, prices: PriceBook) -> Quote:
        """Return the quote of the same request in another book. Raises `QuoteError` if that has no price for it."""
        return prices.quote_video(self.body, source=self.video) if self.usage is None else prices.rate(self.usage)

    def row(self) -> dict[str, str]:
        """Return the cell as text, by column; fields that the price does not depend on are empty."""
        quote = self.quote
        result = dict.fromkeys(SHEET_COLUMNS, "") | {name: str(value) for name, value in self.body.items()}
        if "audio" in self.body:
            result["audio"] = str(self.body["audio"]).lower()
        if self.video:
            parts = (f"{self.video.seconds} s", f"{self.video.width}x{self.video.height}", f"{self.video.fps} fps")
            result["source_video"] = ", ".join(parts)
        result |= {"total": quote.to_dict()["total"], "exact": text(plain(quote.exact)), "currency": quote.currency}
        result |= {"effective": quote.effective.isoformat()}
        result |= {"sku": " + ".join(line.sku for line in quote.lines)}
        return result | {"source": " + ".join(line.source for line in quote.lines)}


def price_cells(prices: PriceBook, name: str) -> Iterator[Cell]:
    """Yield every cell of the price sheet of a model. Raises `QuoteError` if the model has no price in this book."""
    model, version = prices.in_effect(name)
    version = prices._at_hour(version)
    if isinstance(version, MeteredVersion):
        yield from _unit_cells(prices, model, version)
    if not isinstance(version, VideoVersion):
        return
    effective = frozenset[str]().union(*(charge.fields for charge in version.charges))
    if matched := {field for field in _OF_CLIP if field in effective and _only_matched(version, field)}:
        effective |= {_REFERENCE}
    names = [field for field in FIELD_ORDER if field in effective and field != "video_url"]
    for values in product(*(_values(version, field, bool(matched)) for field in names)):
        body = {"model": model.model} | {
            field: value for field, value in zip(names, values, strict=True) if value is not None
        }
        for video in _videos(version, body):
            yield Cell(body, video, prices.quote_video(body, source=video))


def _unit_cells(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Iterator[Cell]:
    shown = set[str]()
    for usage in unit_usages(model, version, prices.tables):
        fields = {key: value for key, value in usage.items() if key not in ("type", "model")}
        usage_text = json.dumps(fields)
        if usage_text not in shown:  # Rates of other hours have the same usages.
            shown.add(usage_text)
            body = {"model": model.model} | ({} if fields == _ONE_SEARCH else {"usage": usage_text})
            try:
                yield Cell(body, None, prices.rate(usage), usage)
            except QuoteError:
                if usage.keys().isdisjoint(version.conditions):
                    raise
                # Another charge of the version is not sold under these conditions.


def _only_matched(version: VideoVersion, name: str) -> bool:
    """Return True if a version accepts only values of a field that a reference clip decides."""
    listed = getattr(version.accepts, name) or ()
    return bool(listed) and version.accepts.reference_video_total_duration is not None and {*listed} <= _OF_CLIP[name]


def _values(version: VideoVersion, name: str, with_clip: bool) -> tuple[Any, ...]:
    accepts = version.accepts
    if name == "audio":
        return (False, True) if accepts.audio == "configurable" else (None,)
    if name == "target_fps":
        return _frame_rates(version)
    if name == _REFERENCE:
        cap = accepts.reference_video_total_duration
        if cap is None:
            return (None,)
        return (max(cap.source_min, min(_SECONDS, cap.longest_clip)),) if with_clip else (None, min(_SECONDS, cap.max))
    if name == "duration" and version.of_source:
        return (None,)
    listed = getattr(accepts, name) or (None,)
    # A clip can give a video a number of seconds that a request may not state.
    return tuple(value for value in version.values_of(name) if value in listed) or listed[:1]


def _frame_rates(version: VideoVersion) -> tuple[int, ...]:
    """Return the frame rates at which the price changes: the lowest, and those from which it is multiplied."""
    steps = {int(frame_rate): factor for charge in version.charges for frame_rate, factor in charge.frame_rates.items()}
    limits = version.accepts.target_fps
    return (*([limits.min] if limits and any(factor != 1 for factor in steps.values()) else []), *steps)


def _videos(version: VideoVersion, body: dict[str, Any]) -> Iterator[SourceVideo | None]:
    """Yield a source video for every tier, as high as the tier allows."""
    if not version.of_source:
        yield None
        return
    limit = version.accepts.video_url
    seconds = min(_SECONDS, limit.max_seconds) if limit else _SECONDS
    heights = sorted({height for charge in version.charges for height in _heights(charge, body)})
    if not heights:
        yield SourceVideo(seconds=seconds, width=1280, height=720, fps=24)
    for height in heights:
        yield SourceVideo(seconds=seconds, width=height * 16 // 9, height=height, fps=30)


def _heights(charge: VideoCharge, body: dict[str, Any]) -> Iterator[int]:
    """Yield the heights of source videos at the upper edges of a charge's tiers, and one above the last."""
    heights = tiers(charge.rates)
    edges = [int(edge) for edge in heights if edge != ANY]
    for height in (*edges, 2 * edges[-1] if edges else _HEIGHT) if heights else ():
        yield height // (int(body["upscale_factor"]) if charge.TIERS_OF_OUTPUT else 1)
