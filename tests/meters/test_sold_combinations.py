"""A stated value is met by a rate or a factor that holds, or the usage is refused with what is sold."""

from collections.abc import Mapping
from typing import Any

import pytest
from made_up_provider import book, faults

from ratecard import PriceBook, QuoteError
from ratecard.testing import LAWS, Case
from ratecard.testing.case import check
from ratecard.views.sheet import price_cells
from token_tables import by_tokens, family, text_model

LATENCY = """conditions:
  - {condition: latency, values: [standard, optimized], default: standard}
  - {condition: hardware, values: [small, large]}
"""
PLAIN = "- {tokens: [input, output], rate: 5}\n"
BOTH = "- {tokens: [input, output], service_tier: priority, inference_geo: us, rate: 11}\n"
LONG = "- {tokens: [input, output], above: 200000, service_tier: priority, rate: 11}\n"
HERE = "- {tokens: [input, output], latency: optimized, inference_geo: us, rate: 9}\n"


def priced(rates: str, further: str = "", version: str = "") -> PriceBook:
    return book(listed(rates, further, version), meters=LATENCY)


def listed(rates: str, further: str = "", version: str = "") -> str:
    text = family(text_model("m", by_tokens(rates, further)))
    return text.replace("        charges:\n", f"        {version}\n        charges:\n") if version else text


def cost(prices: PriceBook, tokens: Mapping[str, int], **stated: Any) -> str:
    return str(prices.rate({"type": "text", "model": "m", "tokens": tokens, **stated}).exact.normalize())


def refused(prices: PriceBook, tokens: Mapping[str, int], **stated: Any) -> dict[tuple[str | int, ...], str]:
    with pytest.raises(QuoteError) as caught:
        prices.rate({"type": "text", "model": "m", "tokens": tokens, **stated})
    return dict(caught.value.problems)


@pytest.mark.parametrize(
    ("rates", "stated", "at", "sold"),
    [
        (PLAIN + BOTH, {"service_tier": "priority"}, "service_tier",
         "Not sold. Expected 'no condition' | 'service_tier: priority, inference_geo: us', "
         "received 'service_tier: priority'"),
        (PLAIN + BOTH, {"inference_geo": "us"}, "inference_geo", "received 'inference_geo: us'"),
        (PLAIN + LONG, {"service_tier": "priority"}, "service_tier",
         "Not sold. Expected 'no condition', received 'service_tier: priority'; "
         "it is sold at another length of the prompt"),
        (PLAIN + HERE, {"latency": "optimized"}, "latency",
         "Expected 'no condition' | 'inference_geo: us, latency: optimized'"),
        (PLAIN + HERE + "- {tokens: [input, output], inference_geo: eu, rate: 6}\n",
         {"latency": "optimized", "inference_geo": "eu"}, "latency", "| 'inference_geo: eu', received 'infer"),
        (PLAIN + BOTH.replace("service_tier: priority", "speed: fast, hours: '00:00..24:00', zone: UTC"),
         {"speed": "fast"}, "speed", "'speed: fast, inference_geo: us'"),
    ],
)  # fmt: skip
def test_a_stated_value_that_no_rate_or_factor_meets_is_refused(
    rates: str, stated: dict[str, str], at: str, sold: str
) -> None:
    prices = priced(rates)
    for tokens in ({"input": 1000}, {"input": 10, "output": 5}, {}):
        problems = refused(prices, tokens, **stated)
        assert list(problems) == [(at,)]
        assert sold in problems[(at,)]
    usage = {"prompt_tokens": 1000, "completion_tokens": 0, **stated}
    with pytest.raises(QuoteError) as caught:
        prices.rate({"type": "text", "model": "m", "usage": usage})
    assert [path for path, _ in caught.value.problems] == [("usage", at)]
    assert cost(prices, {"input": 1000}) == "0.005"


def test_a_combination_that_is_sold_has_its_price() -> None:
    assert cost(priced(PLAIN + BOTH), {"input": 1000}, service_tier="priority", inference_geo="us") == "0.011"
    assert cost(priced(PLAIN + LONG), {"input": 1_000_000}, service_tier="priority") == "11"
    assert cost(priced(PLAIN + HERE), {"input": 1000}, latency="optimized", inference_geo="us") == "0.009"
    assert cost(priced(PLAIN + HERE), {"input": 1000}, latency="standard", inference_geo="global") == "0.005"
    factors = "factors:\n  - {service_tier: batch, factor: 0.5}\n  - {inference_geo: us, factor: 1.1}\n"
    assert cost(priced(PLAIN, factors), {"input": 1000}, service_tier="batch", inference_geo="us") == "0.00275"


def test_a_factor_for_two_conditions_does_not_meet_one_of_them() -> None:
    prices = priced(PLAIN, "factors: [{service_tier: batch, speed: fast, factor: 2}]\n")
    assert list(refused(prices, {"input": 1}, speed="fast")) == [("speed",)]
    assert cost(prices, {"input": 1000}, speed="fast", service_tier="batch") == "0.01"


ONE_BUCKET = (
    "- {tokens: input, rate: 4}\n- {tokens: output, rate: 20}\n- {tokens: input, service_tier: batch, rate: 2}\n"
)


def test_a_bucket_without_a_rate_under_a_value_of_others_is_refused() -> None:
    prices = priced(ONE_BUCKET)
    assert cost(prices, {"input": 1000}, service_tier="batch") == "0.002"
    assert cost(prices, {"input": 1000, "output": 0}, service_tier="batch") == "0.002"
    words = (
        "No price is known for output tokens under these conditions. Expected 'no condition', "
        "received 'service_tier: batch'"
    )
    assert refused(prices, {"input": 1000, "output": 1}, service_tier="batch") == {("tokens", "output"): words}


@pytest.mark.parametrize("said", ["{service_tier: default}", "{batch: default}"])
def test_a_charge_may_say_that_such_a_bucket_has_the_price_without_the_value(said: str) -> None:
    prices = priced(ONE_BUCKET, f"without_rate: {said}\n")
    quote = prices.rate(
        {"type": "text", "model": "m", "tokens": {"input": 1000, "output": 1000}, "service_tier": "batch"}
    )
    assert [(line.sku, str(line.amount.normalize())) for line in quote.lines] == [
        ("m-llm-input-batch-mtoken", "0.002"),
        ("m-llm-output-mtoken", "0.02"),
    ]


def test_what_is_said_of_one_value_is_not_said_of_another() -> None:
    more = ONE_BUCKET + "- {tokens: input, service_tier: priority, rate: 8}\n"
    prices = priced(more, "without_rate: {batch: default}\n")
    assert cost(prices, {"output": 1000}, service_tier="batch") == "0.02"
    assert list(refused(prices, {"output": 1000}, service_tier="priority")) == [("tokens", "output")]


WRITES = """
- {tokens: [input, output], rate: 4}
- {tokens: [input, output], service_tier: batch, rate: 2}
- {tokens: cache_write, rate: 5}
- {tokens: cache_write_1h, rate: 8}
- {tokens: cache_write, service_tier: batch, rate: 2.5}
"""


@pytest.mark.parametrize(
    ("rates", "further", "words"),
    [
        (WRITES, "", "no rate for cache_write_1h tokens, context base, service_tier batch: line 21 has one for "
         "cache_write, of which they are part. Write one, or without_rate: {batch: default} for the price without it"),
        (WRITES, "without_rate: {batch: default}", ""),
        (WRITES, "without_rate: {service_tier: default}", ""),
        (WRITES, "without_rate: {batch: refuse}", ""),
        (WRITES + "- {tokens: cache_write_1h, service_tier: batch, rate: 4}\n", "", ""),
        (WRITES.replace("- {tokens: cache_write_1h, rate: 8}\n", ""), "without_rate: {lifetime: parent}", ""),
        (WRITES, "without_rate: {speed: default}", "no rate for cache_write_1h tokens"),
        (WRITES, "without_rate: {batc: default}",
         "'batc' is not a condition of meters.yaml, or a value of one. Did you mean 'batch'?"),
        (WRITES, "without_rate: {batch: parent}", "'batch' is not a dimension or a value of token."),
        (WRITES, "without_rate: {cache: default}", "'cache' is not a condition of meters.yaml, or a value of one."),
        (WRITES, "without_rate: {batch: yes}", "'yes' is not known. Allowed: parent, refuse, default"),
        # Only the part has a rate under the value, and its whole has none: requests decide what is sold.
        ("- {tokens: [input, output], rate: 4}\n- {tokens: output_image, rate: 8}\n"
         "- {tokens: output_image, service_tier: batch, rate: 4}\n", "", ""),
        # A condition without a default, which only some rates name.
        ("- {tokens: [input, output, cache_write], service_tier: batch, rate: 4}\n"
         "- {tokens: [input, output], service_tier: batch, hardware: small, rate: 5}\n", "",
         "line 18 has one for input, of which they are part. Write one, or without_rate: {small: default}"),
    ],
)  # fmt: skip
def test_a_part_without_a_rate_under_a_value_of_its_whole_is_a_fault(rates: str, further: str, words: str) -> None:
    found = faults(listed(rates, further + "\n"), meters=LATENCY)
    assert any(words in fault for fault in found) if words else not found, found


def test_a_part_whose_price_under_a_value_is_refused_is_not_charged_as_its_whole() -> None:
    prices = priced(WRITES, "without_rate: {batch: refuse, cache: parent, lifetime: parent}\n")
    tokens = {"input": 10, "cache_write": 10, "cache_write_1h": 10}
    assert list(refused(prices, tokens, service_tier="batch")) == [("tokens", "cache_write_1h")]
    assert cost(prices, tokens) == "0.00008"


WITHOUT_BATCH = "without_rate: {batch: default}\n"
FAST = "factors:\n  - {speed: fast, factor: 2}\n  - {service_tier: batch, factor: 0.5}\n"
NEVER = "not_sold: [{speed: fast, service_tier: batch}]"


def test_a_combination_that_is_not_sold_is_refused_though_factors_would_multiply() -> None:
    prices = priced(PLAIN, FAST, NEVER)
    assert cost(prices, {"input": 1000}, speed="fast") == "0.01"
    assert cost(prices, {"input": 1000}, service_tier="batch") == "0.0025"
    words = (
        "Not sold. Expected 'no condition' | 'speed: fast' | 'service_tier: batch', "
        "received 'speed: fast, service_tier: batch'"
    )
    assert refused(prices, {"input": 1000}, speed="fast", service_tier="batch") == {("speed",): words}
    batch = {
        "model": "m",
        "service_tier": "batch",
        "usage": {"prompt_tokens": 9, "completion_tokens": 0, "speed": "fast"},
    }
    for usage, path in ((batch, ("usage", "speed")), (batch | {"speed": "fast"}, ("speed",))):
        with pytest.raises(QuoteError) as caught:
            prices.rate(usage)
        assert caught.value.problems == ((path, words),)
    shown = {cell.quote.lines[0].sku for cell in price_cells(prices, "m")}
    assert {"m-llm-input-speed-fast-mtoken", "m-llm-input-batch-mtoken"} < shown
    assert not any("fast" in sku and "batch" in sku for sku in shown)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[{}]", "names no condition. Write a combination"),
        ("[{sped: fast}]", "no rate or factor names sped. Did you mean 'speed'?"),
        ("[{speed: fest}]", "no rate or factor names speed: fest. Did you mean 'fast'?"),
        ("[{service_tier: flex}]", "no rate or factor names service_tier: flex."),
        ("[{service_tier: default, speed: fast}]", "no rate or factor names service_tier: default."),
        ("[{service_tier: standard, speed: fast}]", ""),
    ],
)
def test_what_is_not_sold_names_conditions_of_the_version(said: str, words: str) -> None:
    found = faults(listed(PLAIN, FAST, f"not_sold: {said}"), meters=LATENCY)
    assert any(words in fault for fault in found) if words else not found, found


APART = """
- {tokens: [input, output], rate: 5}
- {tokens: [input, output], speed: fast, rate: 10}
- {tokens: [input, output], service_tier: batch, rate: 2}
"""
FEES = """          - charge: fees
            method: count
            unit: request
            rates: [{rate: 1}, {speed: fast, rate: 2}, {service_tier: batch, rate: 3}]
"""


def test_rates_for_what_is_not_sold_together_need_none_for_both() -> None:
    both = "both hold for"
    assert any(both in fault for fault in faults(listed(APART), meters=LATENCY))
    text = (
        listed(APART, "", NEVER)
        .replace("        examples", FEES + "        examples")
        .replace("total: 0}", "total: 1}")
    )
    assert not faults(text, meters=LATENCY)
    assert len(faults(text.replace(NEVER, ""), meters=LATENCY)) == 2 + 1  # for each bucket, and for the fee
    prices = book(text, meters=LATENCY)
    assert [cost(prices, {"input": 1000}, **said) for said in ({}, {"speed": "fast"}, {"service_tier": "batch"})] == [
        "1.005",
        "2.01",
        "3.002",
    ]
    assert list(refused(prices, {"input": 1}, speed="fast", service_tier="batch")) == [("speed",)]
    assert len(list(price_cells(prices, "m"))) == 3 * 3


BY_HARDWARE = """
- {tokens: [input, output], hardware: small, rate: 1}
- {tokens: [input, output], hardware: large, rate: 3}
"""


def test_a_condition_without_a_default_must_be_stated() -> None:
    prices = priced(BY_HARDWARE)
    assert refused(prices, {"input": 1000}) == {("hardware",): "Required. Expected 'small' | 'large'"}
    assert cost(prices, {"input": 1000}, hardware="small") == "0.001"
    assert cost(prices, {"input": 1000}, hardware="large") == "0.003"
    assert list(refused(prices, {"input": 1000}, hardware="huge")) == [("hardware",)]
    skus = [cell.quote.lines[0].sku for cell in price_cells(prices, "m")]
    assert skus == [f"m-llm-{bucket}-{size}-mtoken" for size in ("small", "large") for bucket in ("input", "output")]


def test_the_laws_hold_without_a_default_and_for_what_is_not_sold() -> None:
    for prices in (
        priced(BY_HARDWARE),
        priced(PLAIN, FAST, NEVER),
        priced(PLAIN + BOTH),
        priced(WRITES, WITHOUT_BATCH),
    ):
        case = Case(prices, "m")
        for law in (law for law in LAWS if law.applies(case)):
            check(law, case, max_examples=3)


def test_a_model_without_prices_by_such_a_condition_need_not_state_it() -> None:
    assert cost(priced(PLAIN), {"input": 1000}) == "0.005"


@pytest.mark.parametrize(
    ("rates", "further", "words"),
    [
        (BY_HARDWARE, "", ""),
        ("- {tokens: [input, output], hardware: small, rate: 1}\n", "", ""),
        (BY_HARDWARE.replace("[input, output], hardware: large", "input, hardware: large"), "",
         "no rate for output tokens"),
        (PLAIN, "factors: [{hardware: large, factor: 2}]", ""),
    ],
)  # fmt: skip
def test_rates_by_a_condition_without_a_default_are_checked(rates: str, further: str, words: str) -> None:
    found = faults(listed(rates, further + "\n"), meters=LATENCY)
    examples = "Required. Expected"
    assert all(words in fault if words else examples in fault for fault in found), found


def test_a_refusal_lists_what_is_sold_of_a_condition_without_a_default() -> None:
    """A factor does not name the hardware that its requests must state, but is sold with each that is."""
    rates = "- {tokens: [input, output], hardware: small, rate: 5}\n"
    rates += "- {tokens: [input, output], hardware: large, rate: 9}"
    version = "not_sold: [{hardware: small, service_tier: batch}]"
    text = listed(rates, "factors: [{service_tier: batch, factor: 0.5}]", version)
    text = text.replace("completion_tokens: 0}", "completion_tokens: 0, hardware: small}")
    stated = {"hardware": "small", "service_tier": "batch"}
    problems = refused(book(text, meters=LATENCY), {"input": 1, "output": 0}, **stated)
    sold = "'hardware: small' | 'hardware: large' | 'service_tier: batch, hardware: large'"
    assert str(problems["hardware",]).startswith(f"Not sold. Expected {sold}, received")


@pytest.mark.parametrize("of_pages", [False, True])
def test_an_estimate_says_that_it_cannot_state_what_must_be_stated(of_pages: bool) -> None:
    rates = PLAIN if of_pages else "- {tokens: [input, output], hardware: small, rate: 5}"
    text = listed(rates).replace("completion_tokens: 0}", "completion_tokens: 0, hardware: small, counts: {page: 0}}")
    pages = "          - charge: pages\n            method: count\n            unit: page\n            rates:\n"
    pages += "              - {hardware: small, rate: 1}\n" if of_pages else "              - {rate: 1}\n"
    prices = book(text.replace("        examples:", f"{pages}        examples:"), meters=LATENCY)
    with pytest.raises(QuoteError) as caught:
        prices.estimate_text("m", prompt_tokens=1, max_completion_tokens=1, counts={"page": 0})
    [(at, words)] = caught.value.problems
    assert at == ("hardware",)
    assert words == "Required. Expected 'small'. An estimate states no conditions: rate a usage that does"
