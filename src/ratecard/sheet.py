"""The price sheet: every price cell of a model, enumerated from what its version accepts."""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from ratecard.price_book import PriceBook
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.video_fields import FIELD_ORDER
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import ANY
from ratecard.tables.selection import tiers
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS, VideoVersion
from ratecard.tables.video_charges import InterpolationRate, MegapixelRate, UpscaleRate
from ratecard.unit_usages import unit_usages
from ratecard.words.money import plain, text

# A source video and a reference clip of so many seconds, or of the most there may be, stand for all: their seconds
# enter linearly.
_SECONDS = 10
# Where one tier holds every height, any will do.
_HEIGHT = 720
COLUMNS = (*FIELD_ORDER, "usage", "source_video", "total", "exact", "currency", "effective", "sku", "source")


class Cell(NamedTuple):
    """One combination of values that decide a price, and its quote; `usage` is what is rated if not a video."""

    body: dict[str, Any]
    video: SourceVideo | None
    quote: Quote
    usage: Mapping[str, Any] | None = None

    def row(self) -> dict[str, str]:
        """The cell as text, by column; fields that do not matter are empty."""
        quote = self.quote
        result = dict.fromkeys(COLUMNS, "") | {name: str(value) for name, value in self.body.items()}
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
    """Every price cell of a model that has a price in this book; of one that is not video, one unit of every rate."""
    model, version = prices.in_effect(name)
    if isinstance(version, MeteredVersion):
        yield from _unit_cells(prices, model, version)
    if not isinstance(version, VideoVersion):
        return
    effective = frozenset[str]().union(*(charge.fields for charge in version.charges))
    names = [field for field in FIELD_ORDER if field in effective and field != "video_url"]
    for values in product(*(_values(version, field) for field in names)):
        body = {"model": model.model} | {
            field: value for field, value in zip(names, values, strict=True) if value is not None
        }
        for video in _videos(version, body):
            yield Cell(body, video, prices.quote_video(body, source=video))


def _unit_cells(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Iterator[Cell]:
    if model.type == "surcharge":
        yield Cell({"model": model.model}, None, prices.surcharge(model.model, 1))
        return
    for usage in unit_usages(model, version):
        quote = prices.rate(usage)
        counted = {key: value for key, value in usage.items() if key not in ("type", "model")}
        yield Cell({"model": model.model, "usage": json.dumps(counted)}, None, quote, usage)


def _values(version: VideoVersion, name: str) -> tuple[Any, ...]:
    accepts = version.accepts
    if name == "audio":
        return (False, True) if accepts.audio == "configurable" else (None,)
    if name == "target_fps":
        return _frame_rates(version)
    if name == "reference_video_total_duration":
        cap = accepts.reference_video_total_duration
        return (None, min(_SECONDS, cap.max)) if cap else (None,)
    if name == "duration":
        stated = tuple(word for word in accepts.duration or () if word not in SOURCE_MATCHED_DURATIONS)
        return (None,) if _needs_video(version) else stated or (None,)
    if name == "aspect_ratio":
        return tuple(word for word in accepts.aspect_ratio or () if word not in SOURCE_MATCHED_RATIOS) or (None,)
    return tuple(getattr(accepts, name) or (None,))


def _frame_rates(version: VideoVersion) -> tuple[int, ...]:
    """The frame rates at which something changes: the least, and the one from which the price is multiplied."""
    limits = version.accepts.target_fps
    steps = [int(charge.frame_rate.from_) for charge in version.charges if isinstance(charge, UpscaleRate)]
    linear = [int(charge.at_frame_rate) for charge in version.charges if isinstance(charge, InterpolationRate)]
    return (*([limits.min] if limits and steps else []), *steps, *linear)


def _needs_video(version: VideoVersion) -> bool:
    return any("video_url" in charge.fields for charge in version.charges)


def _videos(version: VideoVersion, body: dict[str, Any]) -> Iterator[SourceVideo | None]:
    """A source video for every tier, just as high as the tier allows."""
    if not _needs_video(version):
        yield None
        return
    factor, limit = int(body.get("upscale_factor", 1)), version.accepts.video_url
    seconds = min(_SECONDS, limit.max_seconds) if limit else _SECONDS
    charge = next(charge for charge in version.charges if "video_url" in charge.fields)
    if isinstance(charge, MegapixelRate):
        yield SourceVideo(seconds=seconds, width=1280, height=720, fps=24)
        return
    divisor = factor if isinstance(charge, UpscaleRate) else 1
    edges = [int(edge) for edge in tiers(charge.rates) if edge != ANY]
    for height in (*edges, 2 * edges[-1] if edges else _HEIGHT):
        yield SourceVideo(seconds=seconds, width=height * 16 // 9 // divisor, height=height // divisor, fps=30)
