"""Videos that differ only in the seconds of their clip are priced together, each as it is quoted alone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from candidate_files import candidate

from ratecard import QuoteError, load_rate_card, simulate
from ratecard.simulation.groups.shapes import request_of
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.columns import LENGTH

MODELS = ("seedance-2-0-fast-reference-to-video-basic", "seedance-2-5-reference-to-video-basic", "no-such-model")
ODD = [None, Decimal(0), Decimal("0.001"), Decimal("3.999"), Decimal(4), Decimal(30), Decimal("30.001"), Decimal(999)]


def usage() -> pa.Table:
    clips = ODD + [Decimal(3_500 + 2_285 * number) / 1000 for number in range(12)]
    rows = [
        (model, duration, ratio, clip, day)
        for model in MODELS
        for duration in ("5s", "10s", "auto", "-1", "99s")
        for ratio in ("16:9", "adaptive")
        for clip in clips
        for day in (1, 24)
    ]
    models, durations, ratios, seconds, days = zip(*rows, strict=True)
    return pa.table(
        {
            "type": ["video"] * len(rows),
            "model": models,
            "timestamp": [datetime(2026, 10, day, tzinfo=UTC) for day in days],
            "duration": durations,
            "aspect_ratio": ratios,
            "resolution": ["480p"] * len(rows),
            LENGTH: pa.array(seconds, pa.decimal128(9, 3)),
        }
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    folder: Path = tmp_path_factory.mktemp("candidates")
    family = load_rate_card().tables.families[MODELS[0]]
    scaled = "{{scale: {{family: {}}}, factor: 1.{}}}"
    candidates = [
        candidate(folder, scaled.format(family, number), name=f"dearer-{number}", day="2026-10-20")
        for number in (17, 31)
    ]
    with simulate(usage(), None, candidates, by=["model", "day"]) as simulation:
        yield simulation


def test_each_shape_is_charged_as_alone(found: Simulation) -> None:
    shapes = found.comparison.roll_up.shapes
    assert found.rows > len(shapes) > 900
    priced = 0
    for side, outcomes in zip(found.sides, found.outcomes, strict=True):
        for counted, outcome in zip(shapes, outcomes, strict=True):
            request = request_of(counted.shape)
            del request.usage["type"]
            assert counted.shape.moment is not None
            try:
                quote = side.card.at(counted.shape.moment).quote_video(request.usage)
            except QuoteError:
                assert outcome.refusal == found.pricer.price(side, counted.shape).refusal is not None
                continue
            assert outcome.price is not None
            assert outcome.amounts == (quote.total,)
            assert [line.sku for line in outcome.price.lines][:1] == [quote.lines[0].sku]
            priced += 1
    assert 300 < priced < 2 * len(shapes)


def test_a_shape_says_what_its_rows_have(found: Simulation) -> None:
    seen = [each.shape.row() for each in found.comparison.roll_up.shapes]
    rows = usage().to_pylist()
    names = ("model", "duration", "aspect_ratio", LENGTH)
    wanted = {tuple(row[name] if row[name] is None else str(row[name]) for name in names) for row in rows}
    assert {tuple(row.get(name) for name in names) for row in seen} == wanted


def test_the_parts_of_a_difference_are_made_again_when_they_are_asked_for(found: Simulation) -> None:
    before, *others = found.total.amounts
    assert others[1] > others[0] > before
    assert [found.attribution(number).difference for number in (1, 2)] == [each - before for each in others]
    assert found.no_effect == ("", "")


def test_rows_add_up_whatever_is_priced_together(found: Simulation) -> None:
    outcomes = found.outcomes
    for row in found.by_model:
        own = [pair for pair in enumerate(found.comparison.roll_up.shapes) if pair[1].shape.model == row.key[0]]
        totals = tuple(sum(shape.requests * each[at].amounts[0] for at, shape in own) for each in outcomes)
        assert row.amounts == totals
