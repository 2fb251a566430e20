"""Samples of a video model: every price cell of its sheet, with the fields that do not matter filled in."""

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

from ratecard.price_book import PriceBook
from ratecard.sheet import price_cells
from ratecard.simulation.demo.sample import Sample
from ratecard.tables.video import (
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    ReferenceVideo,
    VideoAccepts,
    VideoVersion,
)

_REFERENCE = "reference_video_total_duration"
_MATCHED = {"duration": SOURCE_MATCHED_DURATIONS, "aspect_ratio": SOURCE_MATCHED_RATIOS, "resolution": ()}
_FRAME_RATES = (24, 25, Decimal("29.97"), 30, 60)
# Seconds of the videos that are sent for processing, where the model takes as many.
_LEAST_SOURCE, _MOST_SOURCE = 2, 120
# One in so many reference videos decides the length, or the ratio, of the video that is made.
_ONE_IN = 6


def video_samples(prices: PriceBook, name: str, version: VideoVersion, chance: Random) -> Iterator[Sample]:
    """Samples of every price cell of a video model; with reference video, of whole seconds and of others."""
    accepts = version.accepts
    for cell in price_cells(prices, name):
        row: dict[str, Any] = {"type": "video", **cell.body}
        for field in _MATCHED:
            values = _stated(accepts, field)
            if field not in row and values and not (cell.video and field == "duration"):
                row[field] = chance.choice(values)
        if accepts.audio == "configurable" and "audio" not in row and chance.randrange(2):
            row["audio"] = bool(chance.randrange(2))
        if cell.video:
            row |= _source(accepts, chance)
            row |= {"source_width": cell.video.width, "source_height": cell.video.height}
        if _REFERENCE in row and accepts.reference_video_total_duration:
            yield from _with_reference(row, accepts, accepts.reference_video_total_duration, chance)
        else:
            yield Sample(row)


def _stated(accepts: VideoAccepts, field: str) -> list[str]:
    """The values of a field that need no clip to be understood."""
    return [value for value in getattr(accepts, field) or () if value not in _MATCHED[field]]


def _source(accepts: VideoAccepts, chance: Random) -> dict[str, Any]:
    most = min(accepts.video_url.max_seconds, _MOST_SOURCE) if accepts.video_url else _MOST_SOURCE
    seconds = Decimal(chance.randint(min(_LEAST_SOURCE, most) * 100, most * 100)).scaleb(-2)
    url = f"https://example.com/clips/{chance.randrange(10_000)}.mp4"
    return {"video_url": url, "source_seconds": seconds, "source_fps": chance.choice(_FRAME_RATES)}


def _with_reference(
    row: dict[str, Any], accepts: VideoAccepts, limits: ReferenceVideo, chance: Random
) -> Iterator[Sample]:
    most = min(limits.max, limits.source_max)
    least = min(limits.source_min, most - 1)
    for field in ("duration", "aspect_ratio"):
        words = [word for word in getattr(accepts, field) or () if word in _MATCHED[field]]
        if words and least == limits.source_min and not chance.randrange(_ONE_IN):
            row = row | {field: chance.choice(words)}
    yield Sample(row | {_REFERENCE: chance.randint(least, most) or most})
    yield Sample({name: value for name, value in row.items() if name != _REFERENCE}, clip=(least, most))
