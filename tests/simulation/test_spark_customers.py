"""Amounts by customer of usage that Spark groups: to the digit what DuckDB says of the same rows."""

import shutil
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from engines_agree import Engines, same, usage_of
from test_oracle import MIXED

from ratecard.load.folder import shipped_folder
from ratecard.simulation.answers import customers
from ratecard.simulation.answers.limits import ChangeLimits, beyond
from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.groups.engines import spark_engine
from ratecard.simulation.report import page
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence

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


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_SMALL", "_FEW_ROWS"):
        monkeypatch.setattr(spark_engine, name, 0)


@pytest.mark.parametrize("by", [BY, ("model", "day", "customer"), ("week", "customer")])
def test_amounts_by_customer_are_those_of_duckdb(engines: Engines, tmp_path: Path, by: tuple[str, ...]) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    found = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    expected = engines.on_duckdb(path, by=by, candidates=CANDIDATE)
    assert found.total.uneven
    same(expected, found)
    assert found.customers() == expected.customers()
    assert found.against("2026-09-01").groups == expected.against("2026-09-01").groups
    for ending in ("parquet", "csv"):
        for name, simulation in (("expected", expected), ("found", found)):
            simulation.write(tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"expected.{ending}").read_bytes()


def test_the_report_of_customers(engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, by = tmp_path / "usage.parquet", ("model", "day", "customer")
    demo_usage(tmp_path / "demo.parquet", 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    name = "CASE hash(model) % 9 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '''\\é' ELSE customer || model END"
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(tmp_path / "demo.parquet"))
        rows.project(f"* REPLACE ({name} AS customer)").write_parquet(str(path))
    (tmp_path / "mixed.yaml").write_text(MIXED)
    candidates = ["2026-09-01", tmp_path / "mixed.yaml", Path(__file__).with_name("dearer.yaml")]
    expected = engines.on_duckdb(path, by=by, candidates=candidates)
    found = engines.on_spark(str(path), by=by, candidates=candidates)
    monkeypatch.setattr(customers, "_SHOWN", 3)
    monkeypatch.setattr(page, "_MOST_ROWS", 3)
    pages, both = [tmp_path / "expected.html", tmp_path / "found.html"], (expected, found)
    for simulation, place in zip(both, pages, strict=True):
        page.write_page(Report(simulation), place)
    assert pages[0].read_text() == pages[1].read_text()
    assert list(every_sentence(Report(found))) == list(every_sentence(Report(expected)))
    limits = ChangeLimits(Fraction(0), Fraction(0))
    assert max(each.over for each in beyond(found, limits)) > 3
    assert list(beyond(found, limits)) == list(beyond(expected, limits))
    for candidate in Report(found).candidates:
        said, asked = (each.customers("customer", candidate) for each in both)
        assert asked == said
        assert (len(said.winners), len(said.losers)) == (min(said.less, 3), min(said.more, 3))
        assert asked.above(Fraction(-1, 50)) == said.above(Fraction(-1, 50))
    counts = [found.customers("customer", candidate) for candidate in Report(found).candidates]
    assert min(max(getattr(each, name) for each in counts) for name in ("less", "more", "same", "losing")) > 3
    assert found.customers().rows == expected.customers().rows == found.table("customer")


@pytest.mark.parametrize("tokens", [2**59 - 64, 2**47], ids=["all tokens", "tokens of a row"])
def test_amounts_beyond_64_bits_are_exact(engines: Engines, tokens: int) -> None:
    rows = 40
    prompts = [tokens + number if number % 3 else 1_000 + number for number in range(rows)]
    completions = [each // 2 + 1 for each in prompts]
    usage = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=prompts, completion_tokens=completions)
    usage = usage.append_column("customer", pyarrow.array([str(number % 7) for number in range(rows)]))
    compared: dict[str, Any] = {"current": "2026-08-20", "candidates": CANDIDATE, "by": BY}
    same(engines.on_duckdb(usage, **compared), engines.on_spark(usage, **compared))


def test_models_without_a_charge_above_zero_cost_nothing(engines: Engines, tmp_path: Path) -> None:
    tables = shutil.copytree(shipped_folder(), tmp_path / "tables")
    (tables / "free.yaml").write_text(FREE)
    rows, who = 4_000, [f"customer {number % 5}" for number in range(4_000)]
    free = usage_of("speech", "free", characters=list(range(rows)), customer=who)
    tokens = {"prompt_tokens": [1_000] * 5, "completion_tokens": [10] * 5}
    dearer = usage_of("text", "claude-sonnet-4-6", customer=who[:5], **tokens)
    usage = pyarrow.concat_tables([free, dearer], promote_options="default")
    compared: dict[str, Any] = {"tables": tables, "by": BY, "candidates": Path(__file__).with_name("dearer.yaml")}
    found = engines.on_spark(usage, **compared)
    same(engines.on_duckdb(usage, **compared), found)
    assert [row.requests for row in found.groups] == [rows // 5 + 1] * 5
    assert len({row.amounts for row in found.groups}) == 1
