"""Tokens by bucket and tier: the worked examples of the specification, and every bucket at the threshold."""

from decimal import Decimal
from pathlib import Path

import pytest
from metered_answers import amounts, made_up, refused, sound

from ratecard import PriceBook, Quote

D = Decimal
CACHED, WRITTEN = "cached_tokens", "cache_creation_input_tokens"
TOKENS = "{charge: tokens, method: tokens, unit: mtoken, %s rates: [%s]}"
BASE = "{tokens: input, rate: 10}, {tokens: output, rate: 50}"
EXTENDED = "{context: extended, tokens: input, rate: 20}, {context: extended, tokens: output, rate: 75}"
AT_1000 = "context_token_threshold: 1000, missing_cache_rate: input,"


def rate(prices: PriceBook, model: str, prompt: int, completion: int, cached: int = 0, written: int = 0) -> Quote:
    details = {CACHED: cached, WRITTEN: written}
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
    return sound(prices.rate({"type": "text", "model": model, "usage": tokens}))


def test_the_worked_example_of_a_prompt_that_was_mostly_cached(prices: PriceBook) -> None:
    quote = rate(prices, "claude-opus-4-6", 5_500, 0, cached=5_000)
    assert amounts(quote) == {"llm-input-mtoken": D("0.003"), "llm-cache-input-mtoken": D("0.003")}
    assert quote.total == D("0.006")
    assert quote.to_json() == b'{"quote":0.006}'


def test_the_worked_example_of_an_exact_chat_bill(tmp_path: Path) -> None:
    prices = made_up(tmp_path, "text", TOKENS % ("", "{tokens: input, rate: 0.7}, {tokens: output, rate: 2.8}"))
    quote = rate(prices, "m", 0, 227)
    assert (quote.total, quote.lines[0].quantity) == (D("0.0006356"), D("0.000227"))
    assert quote.to_json() == b'{"quote":0.0006356}', "not rounded to cents"


@pytest.mark.parametrize(
    ("prompt", "cached", "written", "completion", "lines"),
    [
        (0, 0, 0, 0, {}),
        (1_000, 0, 0, 0, {"llm-input-mtoken": "0.006"}),
        (1_000, 1_000, 0, 0, {"llm-cache-input-mtoken": "0.0006"}),
        (1_000, 0, 1_000, 0, {"llm-cache-write-5m-mtoken": "0.0075"}),
        (0, 0, 0, 1_000, {"llm-output-mtoken": "0.03"}),
        (1_000, 400, 600, 0, {"llm-cache-input-mtoken": "0.00024", "llm-cache-write-5m-mtoken": "0.0045"}),
        (
            1_001,
            400,
            600,
            1,
            {
                "llm-input-mtoken": "0.000006",
                "llm-cache-input-mtoken": "0.00024",
                "llm-cache-write-5m-mtoken": "0.0045",
                "llm-output-mtoken": "0.00003",
            },
        ),
    ],
)
def test_the_buckets_are_disjoint_and_each_has_one_line(
    prices: PriceBook, prompt: int, cached: int, written: int, completion: int, lines: dict[str, str]
) -> None:
    quote = rate(prices, "claude-opus-4-6", prompt, completion, cached, written)
    assert amounts(quote) == {sku: D(amount) for sku, amount in lines.items()}
    assert sum(line.quantity for line in quote.lines) * 1_000_000 == prompt + completion
    assert quote.tokens == (prompt, completion)
    assert (quote.type, quote.currency, quote.ignored) == ("text", "USD", ())


@pytest.mark.parametrize(
    ("rates", "base", "extended"),
    [
        ("", "10 10 10 50", "20 20 20 75"),
        ("{tokens: cache_input, rate: 1}", "10 1 10 50", "20 1 20 75"),
        ("{context: extended, tokens: cache_input, rate: 2}", "10 10 10 50", "20 2 20 75"),
        ("{context: [base, extended], tokens: cache_write, rate: 3}", "10 10 3 50", "20 20 3 75"),
        (
            "{tokens: [cache_input, cache_write], rate: 1}, {context: extended, tokens: cache_write, rate: 4}",
            "10 1 1 50",
            "20 1 4 75",
        ),
    ],
)
def test_the_tier_is_chosen_once_and_a_bucket_without_a_rate_takes_the_next_one(
    tmp_path: Path, rates: str, base: str, extended: str
) -> None:
    listed = ", ".join(filter(None, (BASE, EXTENDED, rates)))
    prices = made_up(tmp_path, "text", TOKENS % (AT_1000, listed))
    for prompt, expected in ((1_000, base), (1_001, extended)):
        quote = rate(prices, "m", prompt, 1, cached=1, written=1)
        assert [line.unit_rate for line in quote.lines] == [D(each) for each in expected.split()]
        assert [line.quantity for line in quote.lines] == [D(n) / 1_000_000 for n in (prompt - 2, 1, 1, 1)]
        own = [line.unit_rate not in (quote.lines[0].unit_rate,) for line in quote.lines[1:3]]
        assert [not line.note for line in quote.lines[1:3]] == own, "a rate taken from elsewhere says so"


def test_a_cached_bucket_priced_at_a_base_rate_has_the_base_sku_above_the_threshold(tmp_path: Path) -> None:
    listed = f"{BASE}, {EXTENDED}, {{tokens: cache_input, rate: 1}}"
    prices = made_up(tmp_path, "text", TOKENS % (AT_1000, listed))
    assert list(amounts(rate(prices, "m", 2_000, 1, cached=9, written=9))) == [
        "llm-extended-input-mtoken",
        "llm-cache-input-mtoken",
        "llm-extended-cache-write-5m-mtoken",
        "llm-extended-output-mtoken",
    ]


@pytest.mark.parametrize("details", [CACHED, WRITTEN])
def test_without_a_word_in_the_table_a_bucket_without_a_rate_has_no_price(tmp_path: Path, details: str) -> None:
    prices = made_up(tmp_path, "text", TOKENS % ("", BASE))
    bucket = "cache_input" if details == CACHED else "cache_write"
    tokens = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {details: 1}}
    said = [f"No price is known for {bucket} tokens of this model"]
    assert refused(prices, {"type": "text", "model": "m", "usage": tokens}) == {
        f"usage.prompt_tokens_details.{details}": said
    }
    assert rate(prices, "m", 10, 1).total == D("0.00015")


def test_a_markup_multiplies_every_bucket(tmp_path: Path) -> None:
    prices = made_up(tmp_path, "text", TOKENS % ("missing_cache_rate: input, markup: 1.25,", BASE))
    quote = rate(prices, "m", 3, 1, cached=1, written=1)
    assert [line.unit_rate for line in quote.lines] == [D("12.5"), D("12.5"), D("12.5"), D("62.5")]
