"""The import of genai-prices at edges that its own data may not have: its hours, minute by minute, and its tiers."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ratecard import QuoteError, RateCard, load_rate_card
from ratecard.price_lists.genai_prices import _windows, read_providers
from ratecard.price_lists.peer import LeftOut
from ratecard.price_lists.write import import_list

DAY = date(2026, 10, 5)


@pytest.mark.parametrize("seed", range(200))
def test_windows_are_the_minutes_that_they_are_made_of(seed: int) -> None:
    """Parts of a day that meet are one window, at midnight too; together they are what they were."""
    random = Random(seed)  # noqa: S311 - no secret
    edges = sorted({0, *random.sample(range(1, 1440), random.randint(0, 6))})
    ends = dict(pairwise((*edges, 1440)))
    begins = sorted(random.sample(edges, random.randint(1, len(edges))))
    expected = {minute for begin in begins for minute in range(begin, ends[begin])}
    windows = [tuple(map(minutes, window.split(".."))) for window in _windows(begins, ends)]
    covered = [minute % 1440 for begin, end in windows for minute in range(begin, end + 1440 * (end <= begin))]
    assert sorted(covered) == sorted(expected)
    whole = len(expected) == 1440
    assert whole or not {begin for begin, _ in windows} & {end % 1440 for _, end in windows}, "two windows meet"


def minutes(clock: str) -> int:
    hours, minute = clock.split(":")
    return int(hours) * 60 + int(minute)


def in_hours(*windows: tuple[int, int]) -> Callable[[int], bool]:
    """Return the test whether a minute is in one of these windows of hours; one over midnight has its end first."""
    return lambda minute: any(
        begin * 60 <= minute < end * 60 if begin < end else minute >= begin * 60 or minute < end * 60
        for begin, end in windows
    )


# By model: windows with a price of their own (in hours); each costs a dollar more for a million tokens than the last.
WINDOWS: dict[str, list[tuple[int, int]]] = {
    "meet": [(2, 4), (4, 6)],
    "over-midnight": [(22, 3)],
    "to-midnight": [(22, 0)],
    "from-midnight": [(0, 3)],
    "meet-at-midnight": [(22, 0), (0, 3)],
    "one-within-another": [(2, 10), (4, 6)],
    "most-of-the-day": [(3, 22)],
}


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> tuple[RateCard, dict[str, LeftOut]]:
    types = pytest.importorskip("genai_prices.types", reason="genai-prices is not installed: see make test-imports")
    units = pytest.importorskip("genai_prices.data_units").unit_data

    def price(whole: int | str, output: int | str = 20, **others: Any) -> Any:
        return types.ModelPrice(input_mtok=Decimal(whole), output_mtok=Decimal(output), **others)

    def hours(begin: time, end: time) -> Any:
        return types.TimeOfDateConstraint(start_time=begin, end_time=end)

    def model(name: str, prices: Any, **others: Any) -> Any:
        return types.ModelInfo(id=name, match=types.ClauseEquals(equals=name), prices=prices, **others)

    def tiers(base: int, *steps: tuple[int, int]) -> Any:
        return types.TieredPrices(
            base=Decimal(base), tiers=[types.Tier(start=start, price=Decimal(amount)) for start, amount in steps]
        )

    other = timezone(timedelta(hours=8))
    models = [
        model(
            name,
            [types.ConditionalPrice(prices=price(1))]
            + [
                types.ConditionalPrice(constraint=hours(time(begin), time(end)), prices=price(number))
                for number, (begin, end) in enumerate(windows, 2)
            ],
        )
        for name, windows in WINDOWS.items()
    ]
    models += [
        model("alike", [types.ConditionalPrice(prices=price(1)),
                        types.ConditionalPrice(constraint=hours(time(2), time(4)), prices=price(2)),
                        types.ConditionalPrice(constraint=hours(time(4), time(6)), prices=price(2))]),
        model("elsewhere", [types.ConditionalPrice(prices=price(1)),
                            types.ConditionalPrice(constraint=hours(time(6, tzinfo=other), time(9, tzinfo=other)),
                                                   prices=price(2))]),
        model("seconds", [types.ConditionalPrice(prices=price(1)),
                          types.ConditionalPrice(constraint=hours(time(6, 0, 30), time(9)), prices=price(2))]),
        model("dated", [types.ConditionalPrice(prices=price(1)),
                        types.ConditionalPrice(constraint=types.StartDateConstraint(DAY), prices=price(3))]),
        model("tiers", types.ModelPrice(input_mtok=tiers(1, (1000, 3), (2000, 5)), output_mtok=Decimal(20),
                                        cache_read_mtok=tiers(0, (2000, 2)))),
        model("reasoning", price(1, 20, output_reasoning_mtok=tiers(30, (1000, 40)))),
        model("batch-at-night", [types.ConditionalPrice(prices=price(4)),
                                 types.ConditionalPrice(constraint=hours(time(22), time(3)), prices=price(2))],
              price_variants=[types.PriceVariant(when={"service_tier": "batch"},
                                                 prices=types.ModelPrice(input_mtok=Decimal(1)))]),
        model("same-in-batches", price(4), price_variants=[types.PriceVariant(when={"service_tier": "batch"},
                                                                              prices=types.ModelPrice(input_mtok=Decimal(4)))]),
        model("part-at-night", [types.ConditionalPrice(prices=price(4)),
                                types.ConditionalPrice(constraint=hours(time(22), time(3)),
                                                       prices=price(4, 20, input_audio_mtok=Decimal(9)))]),
        model("searches-at-night", [types.ConditionalPrice(prices=price(4)),
                                    types.ConditionalPrice(constraint=hours(time(22), time(3)),
                                                           prices=price(4, 20, web_searches_kcount=Decimal(9)))]),
        model("heard", types.ModelPrice(audio_hours=Decimal(36), input_audio_hours=Decimal(72))),
        model("heard-for-less", types.ModelPrice(audio_hours=Decimal(36), input_audio_hours=Decimal(18))),
        model("searches-by-length", price(1, 20, web_searches_kcount=tiers(10, (1000, 20)))),
        model("default-tier", price(1), price_variants=[types.PriceVariant(when={"service_tier": "standard"},
                                                                           prices=price(2))]),
        model("ends", [types.ConditionalPrice(prices=price(1)),
                       types.ConditionalPrice(constraint=types.StartDateConstraint(DAY), prices=types.ModelPrice())]),
    ]  # fmt: skip
    provider = types.Provider(id="acme", name="Acme", api_pattern="https://acme", models=models)
    folder = Path(tmp_path_factory.mktemp("edges")) / "market"
    report = import_list(read_providers([provider], units, "1.0"), folder, effective=DAY, checked=DAY)
    card = load_rate_card(folder)
    card.prove_all()
    return card, {each.id: each for each in report.left_out}


def rated(card: RateCard, name: str, at: datetime, tokens: dict[str, int], **conditions: str) -> Decimal:
    usage = {"type": "text", "model": f"acme/{name}", "tokens": {"input": 0, "output": 0, **tokens}}
    return card.at(at).rate({**usage, **conditions}).exact * 1_000_000


def every_edge() -> list[datetime]:
    midnight = datetime(2026, 10, 5, tzinfo=UTC)
    instants = [midnight + timedelta(hours=hour) for hour in range(48)]
    return [each + timedelta(seconds=seconds) for each in instants for seconds in (-1, 0, 1)]


@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_has_its_price(market: tuple[RateCard, object], name: str) -> None:
    for at in every_edge():
        minute = at.hour * 60 + at.minute
        of = [number for number, window in enumerate(WINDOWS[name], 2) if in_hours(window)(minute)]
        assert rated(market[0], name, at, {"input": 100, "output": 10}) == 100 * (of[-1] if of else 1) + 200, at


def test_the_longest_part_of_a_day_has_the_rate_without_hours(market: tuple[RateCard, object]) -> None:
    [charge] = market[0].tables.models["acme/most-of-the-day"].versions[0].charges
    inputs = [rate for rate in charge.rates if "input" in rate.attributes["tokens"]]
    assert [(int(rate.rate), "hours" in rate.attributes) for rate in inputs] == [(2, False), (1, True)]


def test_hours_of_another_zone_and_windows_of_one_price(market: tuple[RateCard, object]) -> None:
    for name, window in (("alike", (2, 6)), ("elsewhere", (22, 1))):
        for at in every_edge():
            price = 2 if in_hours(window)(at.hour * 60 + at.minute) else 1
            assert rated(market[0], name, at, {"input": 100}) == 100 * price, (name, at)


def test_a_dated_price_and_tiers(market: tuple[RateCard, object]) -> None:
    card, noon = market[0], datetime(2026, 10, 5, 12, tzinfo=UTC)
    assert rated(card, "dated", noon - timedelta(days=1), {"input": 7}) == 7
    assert rated(card, "dated", noon, {"input": 7}) == 21
    for prompt, price, read in ((1000, 1, 0), (1001, 3, 0), (2000, 3, 0), (2001, 5, 2)):
        cost = (prompt - 50) * price + 50 * read + 200
        assert rated(card, "tiers", noon, {"input": prompt, "cache_input": 50, "output": 10}) == cost, prompt
    for prompt, price in ((1000, 30), (1001, 40)):
        tokens = {"input": prompt, "output": 10, "output_reasoning": 4}
        assert rated(card, "reasoning", noon, tokens) == prompt + 6 * 20 + 4 * price


def test_a_condition_and_hours(market: tuple[RateCard, object]) -> None:
    for at in every_edge():
        night = in_hours((22, 3))(at.hour * 60)
        assert rated(market[0], "batch-at-night", at, {"input": 100}) == (200 if night else 400), at
        assert rated(market[0], "batch-at-night", at, {"input": 100}, service_tier="batch") == 100, at
        assert rated(market[0], "same-in-batches", at, {"input": 100}, service_tier="batch") == 400, at
        part = {"input": 100, "input_audio": 10}
        assert rated(market[0], "part-at-night", at, part) == 90 * 4 + 10 * (9 if night else 4), at


def test_examples_say_when_only_where_prices_depend_on_the_hour(market: tuple[RateCard, object]) -> None:
    timed = {
        model.model.removeprefix("acme/")
        for model in market[0].tables.models.values()
        if any(example.at for version in model.versions for example in version.examples)
    }
    assert timed == {*WINDOWS, "alike", "elsewhere", "batch-at-night", "part-at-night"}


def test_a_part_of_a_meter_costs_what_it_does_on_top_of_its_whole(market: tuple[RateCard, object]) -> None:
    """A second of audio is a cent, one of its input two."""
    counts = {"audio_second": 10, "input_audio_second": 4}
    usage = {"type": "text", "model": "acme/heard", "counts": counts}
    assert market[0].at(DAY).rate(usage).exact == Decimal("0.10") + Decimal("0.04")


def test_what_is_not_understood_is_left_out(market: tuple[RateCard, dict[str, LeftOut]]) -> None:
    card, left_out = market
    assert {name: str(each) for name, each in left_out.items()} == {
        "seconds": "its hours begin or end within a minute, at 06:00:30",
        "searches-at-night": "web_search has a price under some conditions or at some hours only",
        "heard-for-less": "input_audio_second costs less than audio_second, of which it is a part",
        "searches-by-length": "web_searches_kcount depends on the length of the prompt",
        "default-tier": "has other prices for service_tier standard, which is the default",
        "ends": "has prices before 2026-10-05, and none from then on",
    }
    with pytest.raises(QuoteError):
        rated(card, "seconds", datetime(2026, 10, 5, tzinfo=UTC), {"input": 1})
