"""The totals of many bodies at once: each is the quote's, or none where the quote is refused."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from video_requests import BOOKS, BROKEN, CELLS, REFERENCE, Cell, requests

from ratecard import QuoteError, SourceVideo
from shipped import CARD

QUICK = settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
WITH_CLIP = [cell for cell in CELLS if REFERENCE in cell.offer.active]
# Values at, near and between the limits of tables and minimums; as text of any length, as a client may send them.
SECONDS = st.one_of(
    st.decimals("-1", 200, places=3),
    st.integers(-1, 200),
    st.floats(0, 40),
    st.integers(0, 60).map(lambda number: Decimal(number) + Decimal("0.001")),
    st.sampled_from([Decimal("4.0001"), Decimal("1e-399"), Decimal("10." + "0" * 401), Decimal("15.0000")]),
    BROKEN[REFERENCE],
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    REFERENCE: SECONDS,
    "duration": st.sampled_from(["5s", "10s", "8s", "auto", "Auto", "-1", 5, None]),
    "target_fps": st.one_of(st.integers(0, 130), st.sampled_from([60.0, "60", 59.94])),
    "audio": st.sampled_from([True, False, "true", None]),
    "upscale_factor": st.sampled_from([1, 2, 4, 2.0, 3, "2"]),
}


def answer(cell: Cell, body: dict[str, Any], source: Any) -> Decimal | QuoteError:
    try:
        return BOOKS[cell.day].quote_video(body, source=source).total
    except QuoteError as error:
        return error


def compare(cell: Cell, data: st.DataObject, name: str, body: dict[str, Any], source: Any) -> None:
    values = data.draw(st.lists(FIELDS[name], min_size=1, max_size=12))
    values += [body[name]] if name in body else []
    others = {field: value for field, value in body.items() if field != name}
    answers = BOOKS[cell.day]._video_totals(others, name, values, source=source)
    assert list(map(str, answers)) == [str(answer(cell, {**others, name: value}, source)) for value in values]


@pytest.mark.parametrize("cell", WITH_CLIP, ids=str)
@QUICK
@given(data=st.data())
def test_many_lengths_of_a_clip_come_to_what_each_is_quoted(cell: Cell, data: st.DataObject) -> None:
    request = data.draw(requests(cell))
    compare(cell, data, REFERENCE, dict(request.body), request.source)


@settings(QUICK, max_examples=100)
@given(data=st.data())
def test_any_field_may_be_the_one_that_differs(data: st.DataObject) -> None:
    cell = data.draw(st.sampled_from(CELLS))
    request = data.draw(requests(cell))
    broken = data.draw(st.sampled_from([name for name in BROKEN if name != "model"]))
    wrong = {broken: data.draw(BROKEN[broken])} if data.draw(st.booleans()) else {}
    compare(cell, data, data.draw(st.sampled_from(list(FIELDS))), {**request.body, **wrong}, request.source)


@pytest.mark.parametrize(
    "cell", [cell for cell in WITH_CLIP if "auto" in (cell.version.accepts.duration or ())], ids=str
)
def test_a_duration_and_a_ratio_of_the_clip_are_those_of_each_length(cell: Cell) -> None:
    accepts = cell.offer.version.accepts
    body = {
        "model": cell.model,
        "duration": "auto",
        "aspect_ratio": "adaptive",
        "resolution": (accepts.resolution or ("",))[0],
    }
    values = [Decimal("4.5"), 4, 5, Decimal("5.001"), 12, Decimal("7.25"), 0, 10**6]
    for source in (None, SourceVideo(width=1080, height=1920)):
        found = BOOKS[cell.day]._video_totals(body, REFERENCE, values, source=source)
        assert list(map(str, found)) == [str(answer(cell, {**body, REFERENCE: value}, source)) for value in values]
        assert len(set(found[:-2])) == 6 and all(isinstance(refusal, QuoteError) for refusal in found[-2:])


def test_most_lengths_have_a_price() -> None:
    assert len(WITH_CLIP) == 8
    body = {"model": "seedance-2-0-fast-reference-to-video-basic", "duration": "5s", "resolution": "480p"}
    body["aspect_ratio"] = "1:1"
    found = BOOKS[CELLS[0].day]._video_totals(body, REFERENCE, [Decimal(5), Decimal("5.5"), 10, 10**6])
    assert isinstance(found[-1], QuoteError) and len(set(found)) == 4


def test_a_model_without_a_price_is_refused_as_alone() -> None:
    prices = CARD.at(CELLS[0].day)
    for body in ({}, {"model": "no-such-model"}, {"model": "claude-opus-4-6"}):
        with pytest.raises(QuoteError) as quoted:
            prices.quote_video(body)
        with pytest.raises(QuoteError) as refused:
            prices._video_totals(body, REFERENCE, [1])
        assert str(refused.value) == str(quoted.value)
