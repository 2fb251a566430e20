"""Where two rates hold and neither names more, nothing need be written for both that is refused."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import ratecard
from token_tables import by_tokens, family, text_model


def prices_of(rates: str, further: str, folder: Path) -> ratecard.PriceBook:
    """The prices of a model that has these rates beside one of 5."""
    version = by_tokens(f"- {{tokens: [input, output], rate: 5}}\n{rates}", further)
    (folder / "made-up.yaml").write_text(family(text_model("made-up", version)), encoding="utf-8")
    return ratecard.load_rate_card(folder).at(date(2026, 10, 1))


@pytest.mark.parametrize("said", ["priority: refuse", "service_tier: refuse"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_condition_may_be_sold_for_short_prompts_alone(tmp_path: Path, said: str, order: int) -> None:
    lines = [
        "- {tokens: input, above: 1000, rate: 9}\n",
        "- {tokens: [input, output], service_tier: priority, rate: 8}\n",
    ]
    prices = prices_of("".join(lines[::order]), f"without_rate: {{{said}}}", tmp_path)
    tokens = [{"input": count, "output": 0} for count in (1000, 1001)]
    totals = [prices.rate({"model": "made-up", "tokens": each}).total * 1000 for each in tokens]
    assert totals == [5, Decimal("9.009")]
    assert prices.rate({"model": "made-up", "tokens": tokens[0], "service_tier": "priority"}).total * 1000 == 8
    with pytest.raises(ratecard.QuoteError, match="received 'service_tier: priority'"):
        prices.rate({"model": "made-up", "tokens": tokens[1], "service_tier": "priority"})


_FACTOR = "without_rate: {priority: refuse}\nfactors: [{service_tier: priority, factor: 2}]"


@pytest.mark.parametrize("said", ["", "without_rate: {priority: default}", "without_rate: {batch: refuse}", _FACTOR])
def test_without_a_word_on_it_the_rate_for_both_must_be_written(tmp_path: Path, said: str) -> None:
    rates = "- {tokens: input, above: 1000, rate: 9}\n- {tokens: [input, output], service_tier: priority, rate: 8}"
    with pytest.raises(ratecard.TableError, match="both hold for input tokens of a prompt of 1001 tokens"):
        prices_of(rates, said, tmp_path)


def test_what_is_not_sold_together_needs_no_rate_for_both(tmp_path: Path) -> None:
    rates = (
        "- {tokens: [input, output], speed: fast, rate: 9}\n- {tokens: [input, output], service_tier: batch, rate: 2}"
    )
    version = by_tokens(f"- {{tokens: [input, output], rate: 5}}\n{rates}")
    text = family(text_model("made-up", version))
    (tmp_path / "made-up.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ratecard.TableError, match="both hold for input tokens"):
        ratecard.load_rate_card(tmp_path)
    sold = text.replace("rounding: none", "rounding: none\n        not_sold: [{speed: fast, service_tier: batch}]")
    (tmp_path / "made-up.yaml").write_text(sold, encoding="utf-8")
    prices = ratecard.load_rate_card(tmp_path).at(date(2026, 10, 1))
    with pytest.raises(ratecard.QuoteError, match="Not sold"):
        prices.rate({"model": "made-up", "tokens": {"input": 1}, "speed": "fast", "service_tier": "batch"})
