"""Rates under conditions and factors of methods that are not tokens: images, audio, calls, surcharges."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow
import pytest
from counted_models import PAGES, TOKENS, book, book_card, faults, model

from ratecard import PriceBook, QuoteError
from ratecard.base.money import plain_text
from ratecard.line_items.conditions import combinations_of
from ratecard.requests.usage import ImageUsage
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate
from ratecard.testing import LAWS, Case
from ratecard.testing.case import check
from ratecard.views.sheet import price_cells
from shipped import CARD

METERS = """meters:
  - {meter: minute}
conditions:
  - {condition: service_tier, values: [standard, batch, flex], default: standard, same_as: {auto: standard}}
  - {condition: region, values: [north, south], default: north}
"""
IMAGES = """
          - charge: images
            method: per-image
            unit: image
            factors:
              - {region: south, factor: 1.1}
            rates:
              - {resolution: 1K, rate: 0.04}
              - {resolution: 2K, rate: 0.08}
              - {service_tier: batch, rate: 0.03}
              - {resolution: 2K, service_tier: [batch, flex], region: south, rate: 0.07}"""
SPEECH = """
          - charge: speech
            method: per-character
            unit: mcharacter
            markup: 2
            included: 100
            factors:
              - {service_tier: batch, factor: 0.5}
            rates:
              - {rate: 10}
              - {hours: "08:00..20:00", zone: UTC, rate: 20}"""
SONGS = """
          - charge: songs
            method: duration-band
            unit: image
            rates:
              - {seconds: 1..60, rate: 1}
              - {seconds: 61..120, rate: 2}
              - {seconds: 61..120, service_tier: flex, rate: 1.5}"""
CALLS = """
          - charge: calls
            method: rpc-credits
            unit: credit
            failed_credits: 1
            max_calls: 10
            chains: [{chain: ethereum, networks: [mainnet], credits: 20}]
            tiers: [{tier: standard, factor: 1, methods: [eth_*]}]
            refused: [eth_subscribe]
            rates:
              - {rate: 0.01}
              - {region: south, rate: 0.02}"""
SEARCH = """
          - charge: searches
            method: surcharge
            unit: krequest
            rates: [{rate: 10}]"""
HALF = "\n        factors: [{service_tier: batch, factor: 0.5}]"
MODELS = (
    model(
        "paint",
        "image",
        IMAGES,
        "usage: {resolution: 2K}, total: 0.08",
        "\n        minimum: 0.01\n        defaults: {resolution: 1K}",
    ),
    model("speak", "speech", SPEECH, "usage: {characters: 1100}, total: 0.02"),
    model("sing", "music", SONGS.replace("unit: image", "unit: song"), "usage: {duration_seconds: 61}, total: 2"),
    model("call", "rpc", CALLS, "usage: {network: ethereum-mainnet, method: eth_call}, total: 0.2"),
    model("web", "surcharge", SEARCH, "usage: {count: 1000}, total: 10"),
    model("dear-web", "surcharge", SEARCH, "usage: {count: 1000}, total: 10", HALF),
    model(
        "chat",
        "text",
        TOKENS + PAGES,
        "usage: {tokens: {input: 1000}, counts: {page: 0}}, total: 0.004",
        HALF + "\n        surcharges: {web_search: web, rerank: dear-web}",
    ),
)
AT_NIGHT, AT_NOON = datetime(2026, 10, 1, 6, tzinfo=UTC), datetime(2026, 10, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def prices() -> PriceBook:
    return book_card(*MODELS, meters=METERS).at(AT_NIGHT)


def charged(prices: PriceBook, usage: dict[str, Any]) -> dict[str, str]:
    return {line.sku: plain_text(line.amount) for line in prices.rate(usage).lines}


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ({"resolution": "1K"}, {"paint-fixed-1K-1img": "0.04"}),
        ({"resolution": "1K", "service_tier": "auto"}, {"paint-fixed-1K-1img": "0.04"}),
        ({"resolution": "1K", "service_tier": "batch"}, {"paint-batch-image-unit": "0.03"}),
        # No rate under this condition needs the choice, which has a default.
        ({"service_tier": "batch"}, {"paint-batch-image-unit": "0.03"}),
        ({"resolution": "1K", "region": "south"}, {"paint-south-fixed-1K-1img": "0.044"}),
        (
            {"resolution": "1K", "service_tier": "batch", "region": "south"},
            {"paint-batch-south-fixed-1K-1img": "0.033"},
        ),
        ({"resolution": "2K", "service_tier": "batch", "region": "south"}, {"paint-batch-south-fixed-2K-1img": "0.07"}),
        ({"resolution": "2K", "service_tier": "flex", "region": "south"}, {"paint-flex-south-fixed-2K-1img": "0.07"}),
    ],
)
def test_the_line_that_names_more_holds_and_factors_of_other_conditions_multiply(
    prices: PriceBook, said: dict[str, str], lines: dict[str, str]
) -> None:
    assert charged(prices, {"model": "paint", **said}) == lines
    assert charged(prices, {"model": "paint", "type": "image", "n": 3, **said}) == {
        sku: plain_text(3 * Decimal(amount)) for sku, amount in lines.items()
    }


def test_a_line_shows_its_list_rate_and_its_factor_with_their_places(prices: PriceBook) -> None:
    [line] = prices.rate({"model": "paint", "resolution": "2K", "region": "south"}).lines
    assert (line.unit_rate, line.source) == (Decimal("0.088"), "made-up.yaml:22")
    assert line.note == "0.08 x 1.1 for region: south (made-up.yaml:19)"
    assert line.rate.factors == (("region south", "made-up.yaml:19"),)
    [line] = prices.rate({"model": "speak", "characters": 1100, "service_tier": "batch"}).lines
    assert line.note.startswith("20 x 0.5 for service_tier: batch (made-up.yaml:")
    assert line.note.endswith("; 1100 counted; 100 included")
    assert line.amount == Decimal("0.01")


def test_hours_and_factors_come_together(prices: PriceBook) -> None:
    at_noon = book_card(*MODELS, meters=METERS).at(AT_NOON)
    usage = {"model": "speak", "characters": 1100}
    assert [each.rate(usage).total for each in (prices, at_noon)] == [Decimal("0.02"), Decimal("0.04")]
    assert at_noon.rate({**usage, "service_tier": "batch"}).total == Decimal("0.02")


def test_a_rate_at_hours_wins_without_any_condition() -> None:
    hourly = '              - {hours: "08:00..20:00", zone: UTC, rate: 3}'
    speech = SPEECH.split("            factors")[0] + f"            rates:\n              - {{rate: 10}}\n{hourly}"
    card = book_card(
        model("speak", "speech", speech, "usage: {characters: 1100}, total: 0.02"),
        model("scan", "image", f"{PAGES}\n{hourly}", "usage: {counts: {page: 1000}}, total: 1.5"),
        meters=METERS,
    )
    usages: list[dict[str, Any]] = [{"model": "speak", "characters": 1100}, {"model": "scan", "counts": {"page": 1000}}]
    totals = [[card.at(instant).rate(usage).total for usage in usages] for instant in (AT_NIGHT, AT_NOON)]
    assert totals == [[Decimal("0.02"), Decimal("1.5")], [Decimal("0.006"), Decimal(3)]]


def test_songs_and_calls_have_them_too(prices: PriceBook) -> None:
    assert charged(prices, {"model": "sing", "duration_seconds": 90, "service_tier": "flex"}) == {
        "sing-flex-duration-based-120s": "1.5"
    }
    with pytest.raises(QuoteError) as caught:
        prices.rate({"model": "sing", "duration_seconds": 60, "service_tier": "flex"})
    words = "Not sold. Expected 'no condition', received 'service_tier: flex'"
    assert list(caught.value.problems) == [(("service_tier",), words)]
    batch = {"network": "ethereum-mainnet", "calls": [{"method": "eth_call"}], "region": "south"}
    assert charged(prices, batch) == {"call-south-ethereum-standard-credit": "0.4"}


def test_factors_of_a_version_are_for_its_own_charges_and_not_for_its_surcharges(prices: PriceBook) -> None:
    usage = {"tokens": {"input": 1000}, "counts": {"page": 1000, "web_search": 10, "rerank": 10}}
    assert charged(prices, {"model": "chat", **usage, "service_tier": "batch"}) == {
        "chat-llm-input-batch-mtoken": "0.002",
        "chat-batch-kpage": "0.75",
        "web-krequest": "0.1",
        "dear-web-batch-krequest": "0.05",  # from its own factor
    }
    assert charged(prices, {"model": "dear-web", "count": 10, "service_tier": "batch"}) == {
        "dear-web-batch-krequest": "0.05"
    }


@pytest.mark.parametrize("resolution", ["1K", "2K"])
def test_a_value_that_is_sold_in_one_region_only_is_refused_in_others(prices: PriceBook, resolution: str) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.rate({"model": "paint", "resolution": resolution, "service_tier": "flex"})
    [(path, words)] = caught.value.problems
    assert path == ("service_tier",)
    assert ("| 'service_tier: flex, region: south'" in words) == (resolution == "2K")
    assert words.endswith("received 'service_tier: flex'")


def test_a_condition_without_a_default_chooses_the_rate_of_an_image() -> None:
    images = IMAGES.replace("{resolution: 1K, ", "{gpu: small, ").replace("{resolution: 2K, rate", "{gpu: large, rate")
    images = images.split("              - {service_tier")[0]
    meters = METERS + "  - {condition: gpu, values: [small, large]}\n"
    prices = book(
        model("paint", "image", images + PAGES, "usage: {gpu: large, counts: {page: 0}}, total: 0.08"), meters=meters
    )
    usage = {"model": "paint", "counts": {"page": 0}}
    assert [prices.rate({**usage, "gpu": size}).total for size in ("small", "large")] == [
        Decimal("0.04"),
        Decimal("0.08"),
    ]
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    assert list(caught.value.problems) == [(("gpu",), "Required. Expected 'small' | 'large'")]
    assert {cell.quote.total for cell in price_cells(prices, "paint")} >= {Decimal("0.04"), Decimal("0.088")}
    case = Case(prices, "paint")
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=3)


def test_an_estimate_of_what_needs_a_condition_is_refused() -> None:
    """It states none: neither the model's own, nor that of a surcharge that it would pay."""
    meters = METERS + "  - {condition: gpu, values: [small, large]}\n"
    search = SEARCH.replace("[{rate: 10}]", "[{gpu: small, rate: 10}, {gpu: large, rate: 20}]")
    tokens = TOKENS.replace("rate: 4", "gpu: small, rate: 4").replace("rate: 20", "gpu: small, rate: 20")
    example = "usage: {tokens: {input: 1000}, gpu: small}, total: 0.004"
    prices = book(
        model("web", "surcharge", search, "usage: {count: 1000, gpu: small}, total: 10"),
        model("chat", "text", TOKENS, example.replace(", gpu: small", ""), "\n        surcharges: {rerank: web}"),
        model("chat-on-gpu", "text", tokens, example),
        meters=meters,
    )
    asked: dict[str, Any] = {"prompt_tokens": 10, "max_completion_tokens": 10}
    assert prices.estimate_text("chat", **asked).highest > 0
    for name, counts in (("chat", {"rerank": 3}), ("chat-on-gpu", {})):
        with pytest.raises(QuoteError) as caught:
            prices.estimate_text(name, **asked, counts=counts)
        [(path, words)] = caught.value.problems
        assert (path, words.partition(".")[0]) == (("gpu",), "Required")
    usage = {"model": "chat", "tokens": {"input": 0}, "counts": {"rerank": 3}}
    assert charged(prices, {**usage, "gpu": "large"}) == {"web-large-krequest": "0.06"}
    with pytest.raises(QuoteError, match="gpu: Required"):
        prices.rate(usage)
    assert prices.rate({**usage, "counts": {}}).total == 0


def test_a_charge_of_any_method_may_say_that_its_price_is_the_one_without_a_value() -> None:
    songs = SONGS.replace("unit: image", "unit: song\n            without_rate: {flex: default}")
    prices = book(model("sing", "music", songs, "usage: {duration_seconds: 61}, total: 2"), meters=METERS)
    usage = {"model": "sing", "service_tier": "flex"}
    assert charged(prices, {**usage, "duration_seconds": 60}) == {"sing-duration-based-60s": "1"}
    assert charged(prices, {**usage, "duration_seconds": 90}) == {"sing-flex-duration-based-120s": "1.5"}


@pytest.mark.parametrize(
    ("usage", "path", "words"),
    [
        ({"model": "speak", "characters": 1, "service_tier": "flex"}, "service_tier", "received 'flex'"),
        ({"model": "speak", "characters": 1, "region": "south"}, "region", "Expected 'north', received 'south'"),
        ({"model": "web", "count": 1, "service_tier": "batch"}, "service_tier", "received 'batch'"),
        ({"model": "paint", "region": 5}, "region", "received number"),
        ({"model": "paint", "regoin": "south"}, "", "'regoin'. Did you mean 'region'?"),
        # A field without effect is not suggested.
        ({"model": "speak", "characters": 1, "x": "y"}, "", "Did you mean one of 'characters', 'service_tier', 'm"),
    ],
)
def test_a_condition_that_nothing_of_the_model_knows_is_refused(
    prices: PriceBook, usage: dict[str, Any], path: str, words: str
) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    [(found, message)] = caught.value.problems
    assert (".".join(map(str, found)), words in message) == (path, True), message


def test_typed_usages_state_them(prices: PriceBook) -> None:
    usage = ImageUsage(model="paint", resolution="2K", service_tier="batch", region="south")
    assert prices.rate(usage).total == Decimal("0.07")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{resolution: 1K, rate: 0.05}", "two rates for resolution: 1K (the other in line 19); keep one"),
        (
            "{region: south, rate: 0.05}",
            "this rate and that of line 21 both hold for resolution: 1K, service_tier: batch, region: south. "
            "Write the rate for both",
        ),
        (
            "{resolution: 2K, service_tier: batch, region: south, rate: 0.05}",
            "two rates for resolution: 2K (the other in line 22); keep one (service_tier batch, region south)",
        ),
        ("{resolution: 4K, service_tier: batch, rate: 0.05}", "no rate for resolution: 4K, which this version accepts"),
        ("{service_tier: bach, rate: 1}", "service_tier 'bach' is not known. Did you mean 'batch'?"),
        ("{zone_of: x, rate: 1}", "unknown key 'zone_of' in a rate of per-image."),
    ],
)
def test_two_lines_that_hold_alike_are_a_fault(line: str, fault: str) -> None:
    charges = f"{IMAGES}\n              - {line}"
    found = faults(model("paint", "image", charges, "usage: {resolution: 2K}, total: 0.08"), meters=METERS)
    assert any(fault in each for each in found), found


@pytest.mark.parametrize("name", ["context", "hours", "counts", "tokens"])
def test_a_condition_is_not_named_like_a_field_or_an_attribute(name: str) -> None:
    found = faults(meters=METERS.replace("condition: region", f"condition: {name}"))
    assert any(f"'{name}' is a key of usages or rates" in each for each in found), found


def test_the_sheet_lists_each_rate_under_its_conditions(prices: PriceBook) -> None:
    cells = {cell.quote.lines[0].sku: plain_text(cell.quote.total) for cell in price_cells(prices, "paint")}
    assert cells == {
        "paint-fixed-1K-1img": "0.04",
        "paint-fixed-2K-1img": "0.08",
        "paint-batch-image-unit": "0.03",
        "paint-south-fixed-1K-1img": "0.044",
        "paint-south-fixed-2K-1img": "0.088",
        "paint-batch-south-fixed-1K-1img": "0.033",
        "paint-batch-south-fixed-2K-1img": "0.07",
        "paint-flex-south-fixed-2K-1img": "0.07",
    }


@pytest.mark.parametrize("name", ["paint", "speak", "sing", "call", "web", "dear-web", "chat"])
def test_the_laws_hold(prices: PriceBook, name: str) -> None:
    case = Case(prices, name)
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=5)


def test_rows_are_simulated_as_they_are_rated() -> None:
    card = book_card(*MODELS, meters=METERS)
    rows: list[dict[str, Any]] = [
        {"type": type_, "model": name, field: number, "service_tier": tier, "region": region}
        for type_, name, field, numbers in (
            ("image", "paint", "n", (1, 3)),
            ("speech", "speak", "characters", (50, 1100, 5000)),
            ("music", "sing", "duration_seconds", (60, 61, 120)),
        )
        for number in numbers
        for tier in (None, "auto", "batch", "flex")
        for region in (None, "north", "south")
    ]
    now, amounts, refused = Side("now", card, AT_NIGHT), dict[str, Decimal](), 0
    for row in rows:
        try:
            quote = card.at(AT_NIGHT).rate({name: value for name, value in row.items() if value is not None})
            amounts[row["model"]] = amounts.get(row["model"], Decimal(0)) + quote.total
        except QuoteError:
            refused += 1
    names = dict.fromkeys(name for row in rows for name in row)
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    with simulate(table, now, by=("model",)) as found:
        assert {row.key[0]: row.amounts[0] for row in found.groups} == amounts
        assert sum(reason.rows for reason in found.unpriced) == refused > 0


def test_a_field_may_have_the_name_of_a_condition() -> None:
    """`resolution` is what an image charge reads, and in another model the condition of a count."""
    meters = METERS + "  - {condition: resolution, values: [any, 1K, 2K], default: any}\n"
    pages = f"{PAGES}\n              - {{resolution: 2K, rate: 3}}"
    prices = book(
        model("paint", "image", IMAGES, "usage: {resolution: 2K}, total: 0.08"),
        model("scan", "image", pages, "usage: {counts: {page: 1000}}, total: 1.5"),
        meters=meters,
    )
    assert prices.rate({"model": "paint", "resolution": "2K", "service_tier": "batch"}).total == Decimal("0.03")
    assert prices.rate({"model": "scan", "counts": {"page": 1000}, "resolution": "2K"}).total == 3
    with pytest.raises(QuoteError, match="received '1K'"):
        prices.rate({"model": "scan", "counts": {"page": 1000}, "resolution": "1K"})


def test_combinations_of_conditions_name_no_default() -> None:
    named = {"service_tier": {"standard", "priority"}, "speed": {"fast"}}
    fast = [{}, {"speed": "fast"}]
    combined = [tier | speed for tier in ({}, {"service_tier": "priority"}) for speed in fast]
    assert list(combinations_of(named, CARD.tables.meters)) == combined
