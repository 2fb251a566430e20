"""A made-up provider with every kind of bucket, several thresholds, conditions and factors."""

from datetime import date
from typing import Any

from ratecard import PriceBook, RateCard
from ratecard.base.errors import TableError
from ratecard.load.folder import tables_from
from token_tables import by_tokens, family, text_model

DAY = date(2026, 10, 1)
RATES = """
          - {tokens: input, rate: 4}
          - {tokens: input, above: 128000, rate: 6}
          - {tokens: input, above: 1000000, rate: 9}
          - {tokens: cache_input, rate: 0.40}
          - {tokens: cache_input, above: 128000, rate: 0.60}
          - {tokens: cache_write, rate: 5}
          - {tokens: cache_write_1h, rate: 8}
          - {tokens: input_audio, rate: 40}
          - {tokens: cache_input_audio, rate: 2}
          - {tokens: output, rate: 20}
          - {tokens: output, above: 128000, rate: 30}
          - {tokens: output_audio, rate: 80}
          - {tokens: input, service_tier: priority, rate: 7}
          - {tokens: input, above: 128000, service_tier: priority, rate: 11}
          - {tokens: input, above: 1000000, service_tier: priority, rate: 16}
"""
FACTORS = """
        factors:
          - {service_tier: batch, factor: 0.5}
          - {service_tier: priority, factor: 2}
          - {inference_geo: us, factor: 1.1}
"""


def table(rates: str = RATES, further: str = FACTORS, total: str = "0.024") -> str:
    usage = "{prompt_tokens: 1000, completion_tokens: 1000}"
    return family(text_model("m", by_tokens(rates, further, usage=usage, total=total)))


def book(text: str = "", **files: str) -> PriceBook:
    contents = {"made-up.yaml": (text or table()).encode()}
    contents |= {f"{name}.yaml": content.encode() for name, content in files.items()}
    return RateCard(tables_from(contents))._unproved.at(DAY)


def faults(text: str, **files: str) -> list[str]:
    try:
        book(text, **files)
    except TableError as error:
        return [str(fault) for fault in error.faults]
    return []


def rated(prices: PriceBook, buckets: dict[str, int], **conditions: Any) -> dict[str, str]:
    """The amounts of a usage by SKU, without what all SKUs share."""
    quote = prices.rate({"type": "text", "model": "m", "tokens": buckets, **conditions})
    assert quote.exact == sum(line.amount for line in quote.lines)
    short = {line.sku.removeprefix("m-llm-").removesuffix("-mtoken"): line for line in quote.lines}
    return {sku: format(line.amount.normalize(), "f") for sku, line in short.items()}
