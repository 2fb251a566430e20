"""Counts are inclusive and made disjoint once; a bucket without a rate is charged with its parent, or refused."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_provider import FACTORS, RATES, book, faults, rated, table

from nightly import examples
from ratecard import PriceBook, QuoteError, RateCard, TextUsage
from ratecard.line_items.tokens import TokenRates
from ratecard.tables.metered import Tokens

M = 1_000_000


@pytest.fixture(scope="module")
def prices() -> PriceBook:
    return book()


def refusal(prices: PriceBook, **usage: Any) -> dict[str, list[str]]:
    with pytest.raises(QuoteError) as caught:
        prices.rate({"type": "text", "model": "m", **usage})
    return {".".join(map(str, path)): [message] for path, message in caught.value.problems}


def test_parts_are_taken_out_of_what_contains_them(prices: PriceBook) -> None:
    counts = {"input": 1000, "cache_input": 300, "cache_write": 200, "cache_write_1h": 50, "output": 100}
    assert rated(prices, counts) == {
        "input": "0.002",  # 500 x 4
        "cache-input": "0.00012",
        "cache-write-5m": "0.00075",  # 150 x 5
        "cache-write-1h": "0.0004",
        "output": "0.002",
    }


def test_the_common_part_of_two_buckets_is_counted_once(prices: PriceBook) -> None:
    counts = {"input": 1000, "cache_input": 300, "input_audio": 400, "cache_input_audio": 100}
    assert rated(prices, counts) == {
        "input": "0.0016",  # 1000 - 300 - 400 + 100 = 400
        "cache-input": "0.00008",  # 200
        "input-audio": "0.012",  # 300
        "cache-input-audio": "0.0002",  # 100
    }


def test_buckets_that_overlap_need_the_count_of_their_common_part(prices: PriceBook) -> None:
    said = refusal(prices, tokens={"input": 1000, "cache_input": 300, "input_audio": 400})
    assert said == {"tokens.input_audio": ["cache_input and input_audio overlap. Count cache_input_audio too"]}
    without = refusal(prices, tokens={"input": 1000, "cache_input": 300, "input_image": 400})
    assert list(without) == ["tokens.input_image"]
    assert "overlap" not in without["tokens.input_image"][0]
    assert rated(prices, {"input": 1000, "cache_input": 300, "input_audio": 0})  # one of them is 0
    assert rated(prices, {"input": 1000, "cache_input": 300, "input_audio": 400, "cache_input_audio": 0})


def test_a_common_part_that_is_charged_with_one_of_two_is_taken_out_of_the_other() -> None:
    lines = ("input, rate: 1", "input_text, rate: 10", "cache_input, rate: 100", "output, rate: 1")
    prices = book(table("".join(f"\n          - {{tokens: {line}}}" for line in lines) + "\n", "", "0.002"))
    counts = {"input": 100, "input_text": 60, "cache_input": 50, "cache_input_text": 40}
    assert rated(prices, counts) == {
        "input": "0.00003",  # 100 - 60 - 50 + 40
        "input-text": "0.0002",  # 60 - 40
        "cache-input": "0.005",  # 50, with their text
    }


def test_a_bucket_has_the_price_of_the_nearest_that_holds_it() -> None:
    lines = ("input, rate: 1", "output, rate: 1", "output_reasoning, rate: 5")
    prices = book(table("".join(f"\n          - {{tokens: {line}}}" for line in lines) + "\n", "", "0.002"))
    counts = {"output": 100, "output_reasoning": 50, "output_text_reasoning": 30}
    assert rated(prices, counts) == {"output": "0.00005", "output-reasoning": "0.00025"}


@pytest.mark.parametrize(
    ("tokens", "at", "words"),
    [
        ({"input": 9, "cache_input": 10}, "cache_input", "Number must be less than or equal to 9"),
        ({"input": 9, "cache_input": 5, "cache_write": 5}, "cache_write", "Number must be less than or equal to 4"),
        ({"input": 9, "cache_write": 3, "cache_write_1h": 4}, "cache_write_1h", "less than or equal to 3"),
        ({"output": 9, "output_reasoning": 10}, "output_reasoning", "less than or equal to 9"),
        ({"cache_input": 1}, "cache_input", "Number must be less than or equal to 0"),
        # Otherwise these tokens would be charged as if they were not cached.
        ({"input": 9, "cache_input_text": 5}, "cache_input_text", "Number must be less than or equal to 0"),
        ({"input": 9, "input_image": 2}, "input_image", "No price is known for input_image tokens of this model"),
        ({"input": 9, "input_image": 2, "output": 9, "output_reasoning": 5}, "input_image", "No price is known"),
        ({"input": -1}, "input", "Number must be greater than or equal to 0"),
        ({"input": 1.5}, "input", "Expected integer, received float"),
        ({"input": "9"}, "input", "Expected number, received string"),
    ],
)
def test_what_cannot_be_counted_is_refused_at_its_path(
    prices: PriceBook, tokens: dict[str, int], at: str, words: str
) -> None:
    [(path, [message])] = refusal(prices, tokens=tokens).items()
    assert path == f"tokens.{at}"
    assert words in message


def test_an_unknown_bucket_and_two_forms_are_refused(prices: PriceBook) -> None:
    [message] = refusal(prices, tokens={"cached_input": 1})["tokens"]
    assert message.startswith("Unrecognized key(s) in object: 'cached_input'. Did you mean 'cache_input'?")
    both = refusal(prices, tokens={"input": 1}, usage={"prompt_tokens": 1, "completion_tokens": 0})
    assert both == {"tokens": ["Give the counts once: as usage, or as tokens"]}
    assert refusal(prices, tokens=5) == {"tokens": ["Expected object, received number"]}
    assert refusal(prices, tokens={}) == {"tokens": ["Object must contain at least 1 count"]}, "it cost nothing"


def test_reasoning_is_charged_with_the_output_unless_it_has_a_rate(prices: PriceBook) -> None:
    assert rated(prices, {"output": 1000, "output_reasoning": 600}) == {"output": "0.02"}
    apart = book(table(RATES + "          - {tokens: output_reasoning, rate: 100}\n"))
    assert rated(apart, {"output": 1000, "output_reasoning": 600}) == {"output": "0.008", "output-reasoning": "0.06"}


def test_predictions_are_charged_at_their_rate_whether_they_were_accepted_or_not() -> None:
    apart = book(table(RATES + "          - {tokens: output_prediction, rate: 100}\n"))
    details = {"accepted_prediction_tokens": 400, "rejected_prediction_tokens": 200}
    usage = {"prompt_tokens": 0, "completion_tokens": 1000, "completion_tokens_details": details}
    by_bucket = apart.rate({"model": "m", "tokens": {"output": 1000, "output_prediction": 600}})
    assert apart.rate({"model": "m", "usage": usage}) == by_bucket
    assert by_bucket.exact * 1000 == 68


def test_a_table_may_charge_a_part_with_its_parent() -> None:
    free = book(table(further=f"{FACTORS}        without_rate: {{image: parent}}\n"))
    quote = free.rate({"type": "text", "model": "m", "tokens": {"input": M // 10, "input_image": M // 20}})
    assert [(line.sku, str(line.amount.normalize())) for line in quote.lines] == [
        ("m-llm-input-mtoken", "0.2"),
        ("m-llm-input-image-mtoken", "0.2"),
    ]
    assert quote.lines[1].note == "no rate of its own: the input rate"


def test_a_provider_s_object_says_the_same(prices: PriceBook) -> None:
    tokens = {"input": 1000, "output": 50, "cache_input": 300, "input_audio": 400, "cache_input_audio": 100}
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {
            "cached_tokens": 300,
            "audio_tokens": 400,
            "cached_tokens_details": {"audio_tokens": 100},
        },
    }
    one = prices.rate({"type": "text", "model": "m", "usage": usage})
    assert one == prices.rate({"type": "text", "model": "m", "tokens": tokens})
    assert one == prices.rate(TextUsage(model="m", tokens=tokens))
    hour: dict[str, Any] = {"input_tokens": 10, "output_tokens": 0, "cache_creation_input_tokens": 9}
    hour |= {"cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5}}
    written = {"input": 19, "cache_write": 9, "cache_write_1h": 5}
    assert (
        prices.rate({"type": "text", "model": "m", "usage": hour}).exact
        == prices.rate({"type": "text", "model": "m", "tokens": written}).exact
    )


# The smallest kinds of tokens that a request can have, and the buckets that contain each.
_LEAVES = {
    "input": ("input",),
    "cache_input": ("input", "cache_input"),
    "cache_write": ("input", "cache_write"),
    "input_audio": ("input", "input_audio"),
    "cache_input_audio": ("input", "cache_input", "input_audio", "cache_input_audio"),
    "output": ("output",),
    "output_audio": ("output", "output_audio"),
}
_COUNTS = st.fixed_dictionaries({leaf: st.integers(0, 10**6) for leaf in _LEAVES})


@settings(max_examples=examples(100, nightly=5_000))
@given(own=_COUNTS)
def test_every_token_is_charged_once_at_the_rate_of_its_own_bucket(prices: PriceBook, own: dict[str, int]) -> None:
    inclusive = dict.fromkeys((*_LEAVES, "cache_write_audio"), 0)
    for leaf, count in own.items():
        for bucket in _LEAVES[leaf]:
            inclusive[bucket] += count
    quote = prices.rate({"type": "text", "model": "m", "tokens": inclusive})
    words = {"cache_write": "cache-write-5m"} | {
        leaf: leaf.replace("_", "-") for leaf in _LEAVES if leaf != "cache_write"
    }
    charged = {line.sku.removeprefix("m-llm-").removesuffix("-mtoken"): int(line.count) for line in quote.lines}
    named = {sku.split("-", 2)[2] if sku.startswith("above-") else sku: count for sku, count in charged.items()}
    assert named == {words[leaf]: count for leaf, count in own.items() if count}


_METER = """  - meter: token
    dimensions: {direction: [input, output], cache: [read, write]}
    buckets:
      - {bucket: input, direction: input}
      - {bucket: output, direction: output}
"""


@pytest.mark.parametrize(
    ("meters", "words"),
    [
        ("  - {meter: token, buckets: []}", "bucket 'input' is missing: every usage of tokens has it"),
        ("  - {meter: page, without_rate: {colour: refuse}}", "'colour' is not a dimension or a value of page"),
        ("  - {meter: page}\n  - {meter: page}", "meter 'page' is listed twice; keep one"),
        ("  - {meter: page, buckets: [{bucket: a, x: y}]}", "'x' is not a dimension of page"),
        (f"{_METER}      - {{bucket: read, cache: read}}", "bucket 'read' is part of neither input nor output"),
        (f"{_METER}      - {{bucket: all}}", "bucket 'all' is part of neither input nor output"),
        (
            f"{_METER}      - {{bucket: hit, direction: input, cache: read, sku: input}}",
            "like 'input'",
        ),
    ],
)
def test_meters_are_checked(meters: str, words: str) -> None:
    assert any(words in fault for fault in faults(table(), meters=f"meters:\n{meters}\n"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("{condition: model, values: [a, b], default: a}", "'model' is a key of usages or rates"),
        ("{condition: above, values: [a, b], default: a}", "'above' is a key of usages or rates"),
        ("{condition: x, values: [a, b], default: a, same_as: {b: a}}", "'b' is a value itself, not another spelling"),
        ("{condition: x, values: [a, b], default: c}", "'c' is not a value of x"),
    ],
)
def test_conditions_are_checked(condition: str, words: str) -> None:
    assert any(words in fault for fault in faults(table(), meters=f"conditions:\n  - {condition}\n"))


def test_an_estimate_holds_the_dearest_buckets(prices: PriceBook) -> None:
    found = prices.estimate_text("m", prompt_tokens=1_000, max_completion_tokens=1_000)
    audio = {"input": 1_000, "input_audio": 1_000, "output": 1_000, "output_audio": 1_000}
    assert found.highest == prices.rate({"type": "text", "model": "m", "tokens": audio}).exact


def test_a_bucket_that_the_meters_of_a_folder_lack_is_refused() -> None:
    few = """meters:
  - meter: token
    dimensions: {direction: [input, output]}
    buckets: [{bucket: input, direction: input}, {bucket: output, direction: output}]
"""
    prices = book(table("\n          - {tokens: [input, output], rate: 12}\n", ""), meters=few)
    usage = {"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": {"audio_tokens": 5}}
    said = refusal(prices, usage=usage)
    assert said == {
        "usage.prompt_tokens_details.audio_tokens": ["No price is known for input_audio tokens of this model"]
    }


def one_sided(refused: str, *rates: str) -> str:
    """A table that says of one side that it is refused, with these rates."""
    return table("\n".join(f"- {{tokens: {rate}}}" for rate in rates), f"without_rate: {refused}")


@pytest.mark.parametrize(
    ("refused", "other", "field"), [("input", "output", "prompt_tokens"), ("output", "input", "max_completion_tokens")]
)
def test_a_table_may_say_that_a_side_has_no_price(refused: str, other: str, field: str) -> None:
    prices = book(one_sided(f"{{{refused}: refuse}}", f"{other}, rate: 4"))
    assert rated(prices, {other: M}) == {other: "4"}
    words = f"No price is known for {refused} tokens of this model"
    assert refusal(prices, tokens={refused: 1, other: 1}) == {f"tokens.{refused}": [words]}
    asked: dict[str, Any] = {"prompt_tokens": M, "max_completion_tokens": M}
    with pytest.raises(QuoteError, match=words):
        prices.estimate_text("m", **asked)
    assert prices.estimate_text("m", **{**asked, field: 0}).highest == 4


@pytest.mark.parametrize(
    ("refused", "rates", "words"),
    [
        ("{cache: refuse}", ["input, rate: 4"], "no rate for output tokens"),
        ("{output: parent}", ["input, rate: 4"], "no rate for output tokens"),
        # A tier must have a price for its prompt.
        ("{input: refuse}", ["output, rate: 4", "output, above: 9, rate: 5"], "no rate for input tokens"),
    ],
)
def test_a_forgotten_rate_is_a_fault(refused: str, rates: list[str], words: str) -> None:
    assert all(words in fault for fault in faults(one_sided(refused, *rates)))
    assert faults(one_sided(refused, *rates))


@pytest.mark.parametrize(
    ("bucket", "alone", "beside"),
    [("output", True, True), ("output_reasoning", False, True), ("output_audio", False, False)],
)
def test_a_part_has_the_price_of_its_whole_if_usages_count_the_whole(
    card: RateCard, bucket: str, alone: bool, beside: bool
) -> None:
    tables = card.tables
    charge = tables.models["grok-4-3"].versions[0].charges[0]
    assert isinstance(charge, Tokens)
    rates = TokenRates("grok-4-3", charge, tables.units[charge.unit].per, tables.meters)
    assert rates.prices(bucket) is beside
    assert [rates.always_prices(bucket, counted) for counted in ([], ["output"])] == [alone, beside]
