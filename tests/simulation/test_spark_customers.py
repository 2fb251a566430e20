"""Amounts by customer of usage that Spark groups: to the digit what DuckDB says of the same rows."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from engines_agree import Engines, same, usage_of

from ratecard.simulation.demo_usage import demo_usage

BY, CANDIDATE = ("customer",), "2026-10-01"
FREE = """\
family: speech
models:
  - model: free
    name: Free
    type: speech
    currency: USD
    versions:
      - effective: 2026-08-03
        checked: 2026-08-21
        source: a made-up price list
        charges:
          - {charge: speech, method: per-character, unit: mcharacter, rates: [{rate: 0}]}
        rounding: none
        examples:
          - {usage: {characters: 1000000}, total: 0}
"""


@pytest.mark.parametrize("by", [BY, ("model", "day", "customer"), ("week", "customer")])
def test_amounts_by_customer_are_those_of_duckdb(engines: Engines, tmp_path: Path, by: tuple[str, ...]) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    found = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    expected = engines.on_duckdb(path, by=by, candidates=CANDIDATE)
    assert found.total.lost_and_new
    same(expected, found)
    assert found.customers() == expected.customers()
    assert found.against("2026-09-01").groups == expected.against("2026-09-01").groups
    for ending in ("parquet", "csv"):
        for name, simulation in (("expected", expected), ("found", found)):
            simulation.write(tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"expected.{ending}").read_bytes()


@pytest.mark.parametrize("tokens", [2**59 - 64, 2**47], ids=["all tokens", "tokens of a row"])
def test_amounts_beyond_64_bits_are_exact(engines: Engines, tokens: int) -> None:
    rows = 40
    prompts = [tokens + number if number % 3 else 1_000 + number for number in range(rows)]
    completions = [each // 2 + 1 for each in prompts]
    usage = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=prompts, completion_tokens=completions)
    usage = usage.append_column("customer", pyarrow.array([str(number % 7) for number in range(rows)]))
    compared: dict[str, Any] = {"current": "2026-08-20", "candidates": CANDIDATE, "by": BY}
    same(engines.on_duckdb(usage, **compared), engines.on_spark(usage, **compared))
