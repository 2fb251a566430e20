"""Valid requests of the shipped video models on two days, as `ratecard.testing` draws them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from hypothesis import strategies as st

import ratecard
from ratecard import SourceVideo
from ratecard.tables.video import VideoVersion
from ratecard.testing import sourced_video_requests
from ratecard.testing.offer import REFERENCE, Offer
from ratecard.testing.video_strategies import BROKEN as BROKEN_VALUES
from ratecard.testing.video_strategies import offers_of
from shipped import CARD

__all__ = ["BOOKS", "BROKEN", "CELLS", "REFERENCE", "Cell", "Request", "any_request", "requests"]

DAYS = (date(2026, 9, 29), date(2026, 10, 24))
BOOKS = {day: CARD.at(day) for day in DAYS}
# The kit draws no floats, but a caller may send one.
NO_FIELD_TAKES = (float("nan"), 1j)
FLOATS: dict[str, tuple[Any, ...]] = {
    "model": (0.5,),
    "aspect_ratio": (1.777,),
    "upscale_factor": (1.5,),
    "target_fps": (23.976, float("inf")),
    "audio": (0.0,),
    REFERENCE: (-0.001, 150.001, float("-inf")),
}
BROKEN: dict[str, st.SearchStrategy[Any]] = {
    name: st.sampled_from((*values, *FLOATS.get(name, ()), *(NO_FIELD_TAKES if name != "model" else ())))
    for name, values in BROKEN_VALUES.items()
}


@dataclass(frozen=True)
class Cell:
    """One model at one day, with the version that holds then."""

    day: date
    model: str
    version: VideoVersion
    offer: Offer

    def __str__(self) -> str:
        return f"{self.day} {self.model}"

    @property
    def of_source(self) -> bool:
        return self.offer.of_source

    @property
    def methods(self) -> set[str]:
        return {charge.method for charge in self.version.charges}


CELLS = [Cell(day, offer.model, offer.version, offer) for day, book in BOOKS.items() for offer in offers_of(book, None)]


@dataclass(frozen=True)
class Request:
    """A body, what is known of its video, and where it is asked."""

    cell: Cell
    body: Mapping[str, Any]
    source: SourceVideo | None

    @property
    def meant(self) -> dict[str, Any]:
        """The body with what is meant by the fields left out, in the table's own spelling."""
        offer, meant = self.cell.offer, dict(self.body)
        choices = ("duration", "aspect_ratio", "resolution", "upscale_factor", "slowdown_factor", "enhancement_model")
        for name in (name for name in choices if name in offer.active and offer.settled(meant, name) is not None):
            meant[name] = offer.attribute(meant, name) if name == "resolution" else offer.settled(meant, name)
        if "target_fps" in offer.active and self.source and "target_fps" not in meant:
            meant["target_fps"] = self.source.fps
        return meant

    def quote(self, **changed: Any) -> ratecard.Quote:
        return BOOKS[self.cell.day].quote_video({**self.body, **changed}, source=self.source)


def requests(cell: Cell) -> st.SearchStrategy[Request]:
    """A valid request of one model."""
    drawn = sourced_video_requests(BOOKS[cell.day], model=cell.model)
    return drawn.map(lambda request: Request(cell, request.body, request.source))


def any_request(cells: list[Cell] = CELLS) -> st.SearchStrategy[Request]:
    return st.sampled_from(cells).flatmap(requests)
