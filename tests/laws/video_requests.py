"""Strategies: valid requests of any shipped video model, and what breaks one field of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

import ratecard
from ratecard import SourceVideo
from ratecard.tables.video import VideoModel, VideoVersion

CARD = ratecard.load_rate_card()
DAYS = (date(2026, 9, 29), date(2026, 10, 24))
BOOKS = {day: CARD.at(day) for day in DAYS}
MATCHED = ("-1", "auto", "Auto", "adaptive")
REFERENCE = "reference_video_total_duration"


@dataclass(frozen=True)
class Cell:
    """One model at one day, with the version that holds then."""

    day: date
    model: str
    version: VideoVersion

    def __str__(self) -> str:
        return f"{self.day} {self.model}"

    @property
    def of_source(self) -> bool:
        return self.version.accepts.video_url is not None

    @property
    def methods(self) -> set[str]:
        return {charge.method for charge in self.version.charges}


CELLS = [
    Cell(day, model.model, version)
    for day, book in BOOKS.items()
    for model, version in book.in_effect_all()
    if isinstance(model, VideoModel) and isinstance(version, VideoVersion)
]


@dataclass(frozen=True)
class Request:
    """A body, what is known of its video, and where it is asked."""

    cell: Cell
    body: Mapping[str, Any]
    source: SourceVideo | None

    def quote(self, **changed: Any) -> ratecard.Quote:
        return BOOKS[self.cell.day].quote_video({**self.body, **changed}, source=self.source)


SECONDS = st.decimals("0.001", "299.999", places=3)
SOURCES = st.builds(
    SourceVideo,
    seconds=SECONDS,
    width=st.integers(16, 8_000),
    height=st.integers(16, 4_400) | st.sampled_from([180, 270, 360, 361, 540, 541, 720, 721, 1080, 1081]),
    fps=st.sampled_from([24, 25, "29.97", 30, "48000/1001", 48, 60, 120]),
)
# Valid anywhere in the API; without effect on most models.
ANYWHERE: dict[str, st.SearchStrategy[Any]] = {
    "aspect_ratio": st.sampled_from(["1:1", "16:9", "4:5"]),
    "resolution": st.sampled_from(["480p", "1080P", "2x"]),
    "upscale_factor": st.sampled_from([1, 2, 4]),
    "enhancement_model": st.text(max_size=5),
    "target_fps": st.integers(16, 120),
    "slowdown_factor": st.sampled_from([1, 2, 4, 8]),
    "audio": st.booleans(),
    "video_url": st.sampled_from(["https://a.b/c", "data:video/mp4;base64,AA"]),
    REFERENCE: st.decimals(0, 150, places=2) | st.integers(0, 150),
}


@st.composite
def requests(draw: st.DrawFn, cell: Cell) -> Request:
    """A valid request of one model: its own values, with fields left out where they may be."""
    accepts, body = cell.version.accepts, dict[str, Any](model=cell.model)
    source = draw(SOURCES) if cell.of_source and (draw(st.booleans()) or "megapixel-rate" in cell.methods) else None
    for name in ("duration", "aspect_ratio", "resolution", "upscale_factor", "enhancement_model", "slowdown_factor"):
        values = getattr(accepts, name)
        if values and (len(values) > 1 or draw(st.booleans())):
            body[name] = draw(st.sampled_from(values))
    if body.get("duration") in MATCHED and cell.of_source and source is None:
        body["duration"] = "7s"
    if "interpolation-rate" in cell.methods or (accepts.target_fps and draw(st.booleans())):
        body["target_fps"] = draw(st.integers(16, 120) | st.sampled_from([47, 48]))
    limits, matched = accepts.reference_video_total_duration, set(MATCHED) & {str(body[name]) for name in body}
    if limits and (matched or draw(st.booleans())):
        body[REFERENCE] = draw(st.decimals(limits.source_min, min(limits.max, limits.source_max), places=4))
        source = draw(st.none() | SOURCES)
    kept = {"resolution"} if accepts.upscale_factor else set()
    for name in draw(st.sets(st.sampled_from(sorted(ANYWHERE)), max_size=4)) - kept - body.keys():
        if getattr(accepts, name, None) in (None, "none", "always", "configurable"):
            body[name] = draw(ANYWHERE[name])
    return Request(cell, body, source)


def any_request(cells: list[Cell] = CELLS) -> st.SearchStrategy[Request]:
    return st.sampled_from(cells).flatmap(requests)


NOTHING_ACCEPTS = st.sampled_from([None, [], {}, ["5s"], {"_errors": ["x"]}, (), 1j, float("nan"), Decimal("sNaN")])
BROKEN: dict[str, st.SearchStrategy[Any]] = {
    "model": st.sampled_from([None, 5, 0.5, True, [], {}]),
    "duration": NOTHING_ACCEPTS | st.sampled_from(["0s", "5", "5 s", "05s", "31s", "-1s", "AUTO", "", 5, True]),
    "aspect_ratio": NOTHING_ACCEPTS | st.sampled_from(["99:1", "16x9", "9:16 ", "", 1.777, True]),
    "resolution": NOTHING_ACCEPTS | st.sampled_from(["8k", "720", "720p ", "", 720, True]),
    "upscale_factor": NOTHING_ACCEPTS | st.sampled_from([0, 3, 8, -1, 1.5, "2", True]),
    "enhancement_model": NOTHING_ACCEPTS | st.sampled_from([0, 5, True]),
    "target_fps": NOTHING_ACCEPTS | st.sampled_from([0, 15, 121, 23.976, "24", True, float("inf"), 10**500]),
    "slowdown_factor": NOTHING_ACCEPTS | st.sampled_from([0, 3, 5, 16, "2", True]),
    "audio": NOTHING_ACCEPTS | st.sampled_from([0, 1, "true", "", 0.0]),
    "video_url": NOTHING_ACCEPTS | st.sampled_from(["", "a b", "https://", "data:video", 5, True]),
    REFERENCE: NOTHING_ACCEPTS | st.sampled_from([-1, -0.001, 150.001, 10**500, "5", True, float("-inf")]),
}
