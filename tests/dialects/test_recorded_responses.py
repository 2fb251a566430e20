"""Real responses of providers, priced to the digit: each case has its arithmetic written out, count by count."""

from decimal import Decimal
from typing import Any

import pytest
from recorded import PROVIDERS, amount, prices_of, recorded

from ratecard import usage_from

RECORDED = [
    pytest.param(provider, case, id=f"{provider}: {case['name']}")
    for provider in PROVIDERS
    for case in recorded(provider)["cases"]
]


@pytest.mark.parametrize(("provider", "case"), RECORDED)
def test_a_recorded_response_costs_what_its_counts_cost_at_published_prices(
    provider: str, case: dict[str, Any]
) -> None:
    quote = prices_of(provider).rate(usage_from(provider, case["response"], model=case.get("model")))
    lines = {line.sku.removeprefix(f"{quote.model}-").removeprefix("llm-"): line.amount for line in quote.lines}
    lines = {sku.removeprefix("embedding-").removesuffix("-mtoken"): each for sku, each in lines.items()}
    assert {sku: each for sku, each in lines.items() if each} == {
        sku: amount(line) for sku, line in case["lines"].items()
    }
    assert quote.exact == sum(map(amount, case["lines"].values())) == Decimal(case["total"])
    assert not quote.ignored


def test_every_provider_has_ten_and_each_case_its_source() -> None:
    assert PROVIDERS == ["anthropic", "bedrock", "deepseek", "gemini", "openai", "openrouter"]
    for provider in PROVIDERS:
        cases = recorded(provider)["cases"]
        assert len(cases) >= 10
        assert len({case["name"] for case in cases}) == len(cases)
        assert all(case["source"] for case in cases)


@pytest.mark.parametrize("case", recorded("openrouter")["cases"], ids=lambda case: str(case["name"]))
def test_openrouter_billed_the_same(case: dict[str, Any]) -> None:
    parts = case["response"] if isinstance(case["response"], list) else [case["response"]]
    usage = parts[-1]["usage"]
    billed = usage["cost_details"]["upstream_inference_cost"] if usage.get("is_byok") else usage["cost"]
    assert Decimal(repr(billed)) == Decimal(case["total"])
