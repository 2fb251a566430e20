"""The whole prompt chooses one tier, under the conditions stated: each edge just below, at, and just above."""

from typing import Any

import pytest
from made_up_provider import RATES, book, faults, rated, table

from ratecard import PriceBook, QuoteError
from ratecard.testing import LAWS, Case
from ratecard.testing.case import check
from ratecard.views.sheet import price_cells


@pytest.fixture(scope="module")
def prices() -> PriceBook:
    return book()


@pytest.mark.parametrize(
    ("prompt", "sku", "amount"),
    [
        (127_999, "input", "0.511996"),
        (128_000, "input", "0.512"),
        (128_001, "input-above-128k", "0.768006"),
        (1_000_000, "input-above-128k", "6"),
        (1_000_001, "input-above-1000k", "9.000009"),
    ],
)
def test_a_tier_begins_above_its_threshold(prices: PriceBook, prompt: int, sku: str, amount: str) -> None:
    tier = sku.removeprefix("input").removeprefix("-")
    named = f"{tier}-input" if tier else "input"
    assert rated(prices, {"input": prompt}) == {named: amount}


@pytest.mark.parametrize(("prompt", "rate"), [(199_999, "1"), (200_000, "2"), (200_001, "2")])
def test_a_tier_may_begin_from_a_count_on(prompt: int, rate: str) -> None:
    lines = """
          - {tokens: [input, output], rate: 1}
          - {tokens: [input, output], from: 200000, rate: 2}
"""
    quote = book(table(lines, "")).rate({"type": "text", "model": "m", "tokens": {"input": prompt}})
    assert str(quote.lines[0].unit_rate) == rate
    assert ("-from-200k-" in quote.lines[0].sku) == (rate == "2")


def test_cached_and_written_tokens_count_for_the_tier_and_lower_rates_stay(prices: PriceBook) -> None:
    counts = {"input": 1_000_001, "cache_input": 600_000, "cache_write": 400_000, "output": 10}
    assert rated(prices, counts) == {
        "above-1000k-input": "0.000009",
        "above-128k-cache-input": "0.36",  # from the nearest lower tier with a rate
        "cache-write-5m": "2",
        "above-128k-output": "0.0003",
    }


def test_a_batch_with_cached_tokens_above_a_threshold(prices: PriceBook) -> None:
    counts = {"input": 128_001, "cache_input": 100_000, "output": 10}
    assert rated(prices, counts, service_tier="batch") == {
        "above-128k-input-batch": "0.084003",  # 28,001 x 6 x 0.5
        "above-128k-cache-input-batch": "0.03",
        "above-128k-output-batch": "0.00015",
    }


def test_a_rate_that_names_a_condition_wins_over_its_factor_and_factors_multiply(prices: PriceBook) -> None:
    counts = {"input": 1000, "output": 1000}
    assert rated(prices, counts, service_tier="priority") == {"input-priority": "0.007", "output-priority": "0.04"}
    both = rated(prices, counts, service_tier="priority", inference_geo="us")
    assert both == {"input-priority-us": "0.0077", "output-priority-us": "0.044"}
    quote = prices.rate(
        {"type": "text", "model": "m", "tokens": counts, "service_tier": "batch", "inference_geo": "us"}
    )
    assert [str(line.unit_rate) for line in quote.lines] == ["2.2", "11"]
    assert quote.lines[0].source == "made-up.yaml:17"
    assert quote.lines[0].note == (
        "4 x 0.5 for service_tier: batch (made-up.yaml:33); 2 x 1.1 for inference_geo: us (made-up.yaml:35)"
    )


@pytest.mark.parametrize("stated", [{}, {"service_tier": "auto"}, {"service_tier": "standard"}, {"service_tier": None}])
def test_the_default_and_its_synonyms_are_the_listed_price(prices: PriceBook, stated: dict[str, Any]) -> None:
    assert rated(prices, {"input": 1000}, **stated) == {"input": "0.004"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 0, **stated}
    assert str(prices.rate({"type": "text", "model": "m", "usage": usage}).exact.normalize()) == "0.004"


def test_a_condition_may_be_in_the_provider_s_object_and_must_agree(prices: PriceBook) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0, "service_tier": "batch"}
    assert str(prices.rate({"type": "text", "model": "m", "usage": usage}).exact.normalize()) == "0.002"
    with pytest.raises(QuoteError) as caught:
        prices.rate({"type": "text", "model": "m", "usage": usage, "service_tier": "priority"})
    [(path, words)] = caught.value.problems
    assert (path, words) == (("usage", "service_tier"), "Expected 'priority', as service_tier beside the usage says")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"service_tier": "flex"}, "Expected 'standard' | 'batch' | 'priority' | 'default' | 'auto', received 'flex'"),
        ({"speed": "fast"}, "Invalid enum value. Expected 'standard' | 'default' | 'auto', received 'fast'"),
        ({"service_tier": 5}, "received number"),
    ],
)
def test_a_condition_that_no_rate_of_the_model_knows_is_refused(
    prices: PriceBook, stated: dict[str, Any], words: str
) -> None:
    with pytest.raises(QuoteError) as caught:
        rated(prices, {"input": 1000}, **stated)
    [(path, message)] = caught.value.problems
    assert path == tuple(stated)
    assert words in message


EACH_REGION = """
          - {tokens: input, inference_geo: global, rate: 4}
          - {tokens: input, inference_geo: [us, eu], rate: 5}
          - {tokens: input, inference_geo: us, above: 128000, rate: 6}
          - {tokens: output, rate: 20}
"""


def test_an_undeclared_condition_is_refused_and_a_declared_one_is_charged(prices: PriceBook) -> None:
    with pytest.raises(QuoteError, match="Unrecognized key"):
        rated(prices, {"input": 1000}, region="eu")
    meters = "conditions:\n  - {condition: region, values: [world, mars], default: world}\n"
    own = book(table(EACH_REGION, "\n        factors: [{region: mars, factor: 1.25}]\n"), meters=meters)
    assert rated(own, {"input": 1000}, region="mars") == {"input-mars": "0.005"}
    assert rated(own, {"input": 1000}, region="world", service_tier="auto") == {"input": "0.004"}


def test_a_version_may_have_the_factors_of_all_its_charges() -> None:
    text = table(EACH_REGION, "").replace(
        "        charges:", "        factors: [{service_tier: batch, factor: 0.5}]\n        charges:"
    )
    assert rated(book(text), {"input": 1000}, service_tier="batch") == {"input-batch": "0.002"}


def test_a_rate_for_each_value_of_a_condition_needs_none_beside_them() -> None:
    prices = book(table(EACH_REGION, ""))
    assert [rated(prices, {"input": 1000}, **said) for said in ({}, {"inference_geo": "global"})] == [
        {"input": "0.004"}
    ] * 2
    assert rated(prices, {"input": 1000}, inference_geo="eu") == {"input-eu": "0.005"}
    assert rated(prices, {"input": 200_000}, inference_geo="eu") == {"input-eu": "1"}
    assert rated(prices, {"input": 200_000}, inference_geo="us") == {"above-128k-input-us": "1.2"}
    shown = {cell.quote.lines[0].sku for cell in price_cells(prices, "m")}
    assert {"m-llm-input-mtoken", "m-llm-input-eu-mtoken", "m-llm-above-128k-input-us-mtoken"} < shown
    case = Case(prices, "m")
    for law in (law for law in LAWS if law.applies(case)):
        check(law, case, max_examples=3)


@pytest.mark.parametrize(
    ("change", "factors", "words"),
    [
        (("[us, eu]", "us"), "", ""),
        (("global", "us"), "", "no rate for input tokens, context base"),
        (("global, rate", "global, speed: fast, rate"), "", "no rate for input tokens, context base"),
        (("output, rate", "output, speed: fast, rate"), "", "no rate for output tokens, context base"),
        (
            ("[us, eu]", "us"),
            "{inference_geo: eu, factor: 1.1}",
            "no rate for input tokens, context base, inference_geo eu",
        ),
    ],
)
def test_input_and_output_have_a_rate_under_all_conditions(change: tuple[str, str], factors: str, words: str) -> None:
    found = faults(table(EACH_REGION.replace(*change, 1), f"\n        factors: [{factors}]\n" if factors else ""))
    assert any(words in fault for fault in found) if words else not found, found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{tokens: input, from: 0, rate: 1}", "from 0 is every prompt; leave it out"),
        ("{tokens: input, service_tier: batch, rate: 1}", "of a prompt of 128001 tokens, service_tier: batch"),
        (
            "{tokens: input, above: 128000, rate: 6}\n          - {tokens: input, above: 128000, rate: 7}",
            "two rates for input tokens, above 128k; keep one",
        ),
        ("{tokens: input, service_tier: bach, rate: 1}", "service_tier 'bach' is not known. Did you mean 'batch'?"),
        ("{tokens: input, tier: batch, rate: 1}", "unknown key 'tier'."),
        ("{tokens: input, above: 200k, rate: 1}", "above '200k' is not a number of tokens. Write digits, like 200000"),
        ("{tokens: input, above: 5, from: 6, rate: 1}", "above and from both say where the tier begins; keep one"),
        ("{tokens: input, from: 128001, rate: 1}", "begins where another rate says above-128k"),
        ("{tokens: inputs, rate: 1}", "tokens 'inputs' is not known. Did you mean 'input'?"),
    ],
)
def test_rates_of_which_two_could_hold_are_faults_at_their_line(line: str, words: str) -> None:
    found = faults(table(RATES + f"          - {line}\n", "", total="0.024"))
    assert any(words in fault and fault.startswith("made-up.yaml:32:") for fault in found), found
    assert len(found) == len(set(found)), found


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ("{factor: 0.5}", "names no condition"),
        ("{tier: batch, factor: 0.5}", "'tier' is not a condition of meters.yaml"),
        ("{service_tier: bach, factor: 0.5}", "service_tier 'bach' is not known. Did you mean 'batch'?"),
        ("{service_tier: batch, factor: 0}", "must be more than zero"),
        ("{service_tier: batch}", "has no factor"),
        ("{service_tier: batch, factor: 0.5}\n          - {service_tier: batch, factor: 0.4}", "would both apply"),
        (
            "{service_tier: batch, factor: 0.5}\n          - {service_tier: batch, speed: fast, factor: 0.4}",
            "and that of line 33 would both apply for one service_tier",
        ),
    ],
)
def test_factors_are_checked(factor: str, words: str) -> None:
    found = faults(table(further=f"\n        factors:\n          - {factor}\n"))
    assert any(words in fault for fault in found), found


def test_factors_of_a_version_and_its_charge_do_not_multiply_for_one_condition() -> None:
    lines = "        factors: [{service_tier: batch, factor: 0.5}]\n        charges:"
    found = faults(table().replace("        charges:", lines))
    assert any("would both apply for one service_tier" in fault for fault in found), found
