"""What the published lists say beside prices: thresholds, included images, bands; and models that vanish or appear."""

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from metered_answers import refused, sentence
from test_published_prices import LISTS, Fields, tokens

from ratecard import RateCard

THRESHOLDS = sorted(
    {
        (day, model, int(fields["extended.context_token_threshold"]))
        for day, models in LISTS.items()
        for model, (_, fields) in models.items()
        if "extended.context_token_threshold" in fields
    }
)
BANDED = sorted(
    {
        (day, model)
        for day, models in LISTS.items()
        for model, (_, fields) in models.items()
        if any(field.startswith("durations.") for field in fields)
    }
)
GONE = sorted(
    {(day, model) for (_, before), (day, after) in pairwise(LISTS.items()) for model in before.keys() - after.keys()}
)
NEW = sorted(
    {(day, model) for (_, before), (day, after) in pairwise(LISTS.items()) for model in after.keys() - before.keys()}
)


def example(type_: str, fields: Fields) -> dict[str, Any]:
    """A usage of a type with nothing special in it."""
    if type_ in ("text", "embedding"):
        return {"usage": tokens(10, 1)}
    names = {"speech": "characters", "transcription": "seconds"}
    if type_ in names:
        return {names[type_]: 10}
    return {"duration_seconds": 61, "character_count": 10} if type_ == "music" else {}


@pytest.mark.parametrize(("day", "model", "threshold"), THRESHOLDS)
def test_the_threshold_itself_is_base_and_one_token_more_is_extended(
    card: RateCard, day: date, model: str, threshold: int
) -> None:
    def skus(prompt: int) -> list[bool]:
        usage = tokens(prompt, 7, cached_tokens=0)
        lines = card.at(day).rate({"type": "text", "model": model, "usage": usage}).lines
        return ["-llm-extended-" in line.sku for line in lines]

    assert skus(threshold) == [False, False]
    assert skus(threshold + 1) == [True, True]


@pytest.mark.parametrize(("day", "model"), BANDED)
def test_a_song_outside_every_band_is_refused(card: RateCard, day: date, model: str) -> None:
    fields = LISTS[day][model][1]
    seconds = {
        edge: [int(value) for field, value in fields.items() if field.endswith(f"{edge}_seconds")]
        for edge in ("min", "max")
    }
    least, most = min(seconds["min"]), max(seconds["max"])
    usage = {"type": "music", "model": model}
    low = f"Number must be greater than or equal to {least}"
    high = f"Number must be less than or equal to {most}"
    assert refused(card.at(day), {**usage, "duration_seconds": least - 1}) == {"duration_seconds": [low]}
    assert refused(card.at(day), {**usage, "duration_seconds": most + 1}) == {"duration_seconds": [high]}
    assert card.at(day).rate(usage) == card.at(day).rate({**usage, "duration_seconds": least})
    for end in sorted(seconds["max"])[:-1]:
        one, other = (card.at(day).rate({**usage, "duration_seconds": end + more}).total for more in (0, 1))
        assert one < other, "the next band begins at the next second"


@pytest.mark.parametrize(("day", "model"), GONE)
def test_a_model_that_is_no_longer_listed_was_retired_on_that_day(card: RateCard, day: date, model: str) -> None:
    listed = max(before for before in LISTS if before < day)
    type_, fields = LISTS[listed][model]
    usage = {"type": type_, "model": model, **example(type_, fields)}
    assert card.at(day - timedelta(days=1)).rate(usage).effective < day
    said = sentence(card.at(day), usage)
    assert said.startswith(f"Specified model not found: {model}. It was retired on {day}.")
    assert sentence(card.at(date(2030, 1, 1)), usage) == said


@pytest.mark.parametrize(("day", "model"), NEW)
def test_a_model_has_no_price_before_the_first_list_that_names_it(card: RateCard, day: date, model: str) -> None:
    type_, fields = LISTS[day][model]
    usage = {"type": type_, "model": model, **example(type_, fields)}
    assert card.at(day).rate(usage).effective == day
    before = day - timedelta(days=1)
    said = f"No price for {model} on {before}. Its first version takes effect on {day}."
    assert sentence(card.at(before), usage) == said


def test_models_did_vanish_and_appear_between_the_lists() -> None:
    assert len(THRESHOLDS) == 48
    assert GONE
    assert NEW
