"""The fields of a video body: each place that lists all of them has the same ones, in the same order."""

from collections.abc import Iterable
from decimal import Decimal

import pytest

from ratecard import VideoUsage
from ratecard.cli.quote import quote
from ratecard.requests.video import FIELD_ORDER, REFERENCE_SECONDS, api_wide_fields, fields_of
from ratecard.requests.video_request import Like, VideoRequest
from ratecard.server.schemas import VideoQuoteRequest
from ratecard.simulation.rows.columns import LAYOUTS
from ratecard.tables.meters import Range, VideoFields
from ratecard.tables.video import LISTED_NUMBERS, VideoVersion
from ratecard.testing.video_strategies import BROKEN
from ratecard.views.sheet import SHEET_COLUMNS
from shipped import CARD

# The columns of a simulation for a source video, which is not part of the body.
OF_SOURCE = {"source_seconds", "source_width", "source_height", "source_fps"}
# Fields of usages of every type.
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


def test_typed_usages_have_the_numbers_of_the_vocabulary() -> None:
    known, schema = CARD.tables.vocabulary.video, VideoUsage.model_json_schema()["properties"]
    fields = VideoRequest.model_fields.items()
    likes = {name: like.words for name, field in fields for like in field.metadata if isinstance(like, Like)}
    assert likes.keys() == VideoRequest.model_fields.keys()
    for name in LISTED_NUMBERS:
        values = getattr(known, name)
        assert schema[name]["examples"] == list(values)
        assert likes[name] == f"{', '.join(map(str, values[:-1]))} or {values[-1]}"
    for name in ("target_fps", "reference_video_total_duration"):
        limits = schema[name]["anyOf"][0]
        assert (limits["minimum"], limits["maximum"]) == (getattr(known, name).min, getattr(known, name).max)
    assert likes["target_fps"] == f"{known.target_fps.min} to {known.target_fps.max}"


def test_a_model_limits_the_most_of_its_reference_video_and_the_vocabulary_the_least() -> None:
    known = CARD.tables.vocabulary.video
    wide = api_wide_fields(known.model_copy(update={REFERENCE_SECONDS: Range(min=Decimal(2), max=Decimal(150))}))
    version = CARD.tables.models["seedance-2-5-reference-to-video-basic"].versions[0]
    assert isinstance(version, VideoVersion) and (limits := version.accepts.reference_video_total_duration)
    accept = fields_of(version, wide)[REFERENCE_SECONDS].accept
    assert [accept(seconds) for seconds in (1, 2, limits.max, limits.max + 1)] == [None, 2, limits.max, None]
