"""Amounts that Spark adds up by key: with its own exact integers, to the digit what DuckDB says."""

from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from engines_agree import Engines, same, usage_of

from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.usage.engines import spark_engine

BY, CANDIDATE = ("customer",), "2026-10-01"


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_SMALL", 0), ("_FIRST_ROWS", 10), ("_FEW_KEYS", 2)):
        monkeypatch.setattr(spark_engine, name, value)


def test_amounts_by_customer_are_those_of_duckdb_and_no_facts_come(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    found = engines.on_spark(str(path), by=BY, candidates=CANDIDATE)
    assert found.comparison.roll_up.lacks_facts
    expected = engines.on_duckdb(path, by=BY, candidates=CANDIDATE)
    assert found.total.uneven
    same(expected, found)
    assert found.customers() == expected.customers()
    assert found.comparison.roll_up.lacks_facts
    # Another candidate needs the facts: the usage is read again.
    assert found.against("2026-09-01").groups == expected.against("2026-09-01").groups


def test_amounts_beyond_64_bits_are_exact(engines: Engines) -> None:
    rows = 20
    usage = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=[2**58] * rows, completion_tokens=[2**57 + 1] * rows)
    usage = usage.append_column("customer", pyarrow.array([str(number % 7) for number in range(rows)]))
    compared = {"current": "2026-08-20", "candidates": CANDIDATE, "by": BY}
    found = engines.on_spark(usage, **compared)
    assert found.comparison.roll_up.lacks_facts
    assert found.total.quantities[0] > 2**62
    same(engines.on_duckdb(usage, **compared), found)


def test_a_file_that_is_another_later_is_said(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 300, seed=5)
    found = engines.on_spark(str(path), by=BY, candidates=CANDIDATE)
    demo_usage(path, 300, seed=6)
    with pytest.raises(SimulationError, match="was changed or replaced since the usage was read"):
        found.against("2026-09-01").groups  # noqa: B018
