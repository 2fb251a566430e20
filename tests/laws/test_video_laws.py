"""Laws that hold for every shipped video model, on the day of the quotes and after the October prices."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from video_oracle import expected
from video_requests import BROKEN, CELLS, REFERENCE, Cell, Request, any_request, requests

from ratecard import QuoteError, SourceVideo

FEW = settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
SOME = settings(FEW, max_examples=60)
MANY = settings(FEW, max_examples=250)
TINY = Fraction(1, 10**9)


def cells_of(method: str) -> list[Cell]:
    found = [cell for cell in CELLS if method in cell.methods]
    assert found
    return found


def test_the_laws_are_tried_on_every_model() -> None:
    assert len({cell.model for cell in CELLS}) > 130
    assert len({method for cell in CELLS for method in cell.methods}) == 8


@pytest.mark.parametrize("cell", CELLS, ids=str)
@FEW
@given(data=st.data())
def test_a_valid_request_costs_what_the_plain_formula_says(cell: Cell, data: st.DataObject) -> None:
    request = data.draw(requests(cell))
    quote = request.quote()
    assert quote.exact == expected(request)
    assert quote.exact >= 0
    assert sum(Fraction(line.amount) for line in quote.lines) == quote.exact
    with localcontext() as exact:
        exact.prec = 100
        assert quote.total == quote.exact.quantize(Decimal("0.01"), ROUND_HALF_UP)


@pytest.mark.parametrize("cell", CELLS, ids=str)
@FEW
@given(data=st.data())
def test_one_broken_field_is_named_and_no_other(cell: Cell, data: st.DataObject) -> None:
    request = data.draw(requests(cell))
    field = data.draw(st.sampled_from(sorted(BROKEN)))
    value = data.draw(BROKEN[field])
    with pytest.raises(QuoteError) as caught:
        request.quote(**{field: value})
    details = caught.value.details
    assert details is not None
    assert list(details) == ["_errors", field]
    assert details["_errors"] == []
    assert list(details[field]) == ["_errors"]
    assert details[field]["_errors"]


@MANY
@given(any_request([cell for cell in CELLS if not cell.of_source]), st.data())
def test_a_field_left_out_is_required_or_makes_no_difference(request: Request, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(request.body.keys() - {"audio", REFERENCE})))
    rest = Request(request.cell, {key: value for key, value in request.body.items() if key != name}, request.source)
    try:
        quote = rest.quote()
    except QuoteError as error:
        assert error.details == {"_errors": [], name: {"_errors": ["Required"]}}
    else:
        assert quote.exact == request.quote().exact


@MANY
@given(any_request(), st.data())
def test_longer_is_never_cheaper_within_one_tier(request: Request, data: st.DataObject) -> None:
    words = [word for word in request.cell.version.accepts.duration or () if word[:-1].isdigit()]
    assume(len(words) > 1 and not request.source)
    shorter, longer = sorted(data.draw(st.tuples(*[st.sampled_from(words)] * 2)), key=lambda word: int(word[:-1]))
    assert request.quote(duration=shorter).exact <= request.quote(duration=longer).exact


@MANY
@given(any_request(cells_of("upscale-rate")), st.integers(16, 47), st.integers(48, 120))
def test_from_48_frames_per_second_on_an_upscale_costs_twice_as_much(request: Request, low: int, high: int) -> None:
    below, above = request.quote(target_fps=low).exact, request.quote(target_fps=high).exact
    assert abs(Fraction(above) - 2 * Fraction(below)) < TINY
    assert below == request.quote(target_fps=16).exact
    assert above == request.quote(target_fps=120).exact


@SOME
@given(any_request(cells_of("interpolation-rate")), st.integers(16, 120), st.sampled_from([2, 4, 8]))
def test_interpolation_is_linear_in_frame_rate_and_in_slow_motion(request: Request, fps: int, slowdown: int) -> None:
    at_60 = Fraction(request.quote(target_fps=60, slowdown_factor=1).exact)
    assert abs(Fraction(request.quote(target_fps=fps, slowdown_factor=1).exact) - at_60 * fps / 60) < TINY
    assert abs(Fraction(request.quote(target_fps=60, slowdown_factor=slowdown).exact) - at_60 * slowdown) < TINY


def with_reference() -> st.SearchStrategy[tuple[Request, list[Decimal]]]:
    cells = [cell for cell in CELLS if cell.version.accepts.reference_video_total_duration]

    def seconds(request: Request) -> st.SearchStrategy[tuple[Request, list[Decimal]]]:
        limits = request.cell.version.accepts.reference_video_total_duration
        assert limits
        given = st.decimals("0.0001", limits.max, places=4)
        return st.tuples(st.just(request), st.lists(given, min_size=2, max_size=2).map(sorted))

    return any_request(cells).filter(lambda request: str(request.body["duration"]).endswith("s")).flatmap(seconds)


@MANY
@given(with_reference())
def test_reference_video_never_costs_less_than_its_minimum_nor_less_for_more_seconds(
    drawn: tuple[Request, list[Decimal]],
) -> None:
    request, (fewer, more) = drawn
    out = int(str(request.body["duration"])[:-1])
    cheap, dear = (request.quote(**{REFERENCE: seconds}) for seconds in (fewer, more))
    assert cheap.exact <= dear.exact
    (line,) = cheap.lines
    least = Fraction(-(-out * 5 // 3))
    of_second = Fraction(dear.lines[0].quantity) / max(out + Fraction(more), least)
    assert Fraction(line.quantity) >= of_second * least
    assert Fraction(line.quantity) >= of_second * (out + Fraction(fewer))


@SOME
@given(any_request(cells_of("upscale-rate") + cells_of("interpolation-rate")), st.integers(1, 5000))
def test_an_unknown_height_never_costs_less_than_a_known_one(request: Request, height: int) -> None:
    assume(request.source)
    assert request.source
    known = SourceVideo(request.source.seconds, None, height, request.source.fps)
    unknown = SourceVideo(request.source.seconds, None, None, request.source.fps)
    totals: list[Any] = [Request(request.cell, request.body, source).quote().exact for source in (known, unknown)]
    assert totals[0] <= totals[1]
