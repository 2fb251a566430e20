"""The fields of a video body: each place that lists all of them has the same ones, in the same order."""

from collections.abc import Iterable

import pytest

from ratecard import VideoUsage
from ratecard.cli.quote import quote
from ratecard.requests.video import FIELD_ORDER, api_wide_fields
from ratecard.server.bodies import VideoQuoteRequest
from ratecard.simulation.usage.columns import LAYOUTS
from ratecard.tables.units import VideoFields
from ratecard.testing.video_strategies import BROKEN
from ratecard.views.sheet import SHEET_COLUMNS
from shipped import CARD

# A simulation has the source video beside the body.
OF_SOURCE = {"source_seconds", "source_width", "source_height", "source_fps"}
# What usages of every type may say.
OF_EVERY_USAGE = {"type", "metadata", "counts", "provider"}


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("validation", ["model", *api_wide_fields(CARD.tables.vocabulary.video)]),
        ("typed usages", [name for name in VideoUsage.model_fields if name not in OF_EVERY_USAGE]),
        ("OpenAPI", VideoQuoteRequest.model_fields),
        ("price sheet", SHEET_COLUMNS[: len(FIELD_ORDER)]),
        ("test kit", BROKEN),
        ("command line", [each.name for each in quote.params if each.name in FIELD_ORDER]),
        ("usage tables", ["model", *(each.name for each in LAYOUTS["video"].attributes if each.name not in OF_SOURCE)]),
    ],
)
def test_every_place_has_the_same_fields(place: str, fields: Iterable[str]) -> None:
    assert tuple(fields) == FIELD_ORDER, place


def test_the_vocabulary_has_values_for_some_of_them() -> None:
    assert set(VideoFields.model_fields) < set(FIELD_ORDER)
