"""Amounts that Spark adds up by key: with its own exact integers, to the digit what DuckDB says."""

import shutil
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow
import pytest
from engines_agree import Engines, same, usage_of
from functions_of_executors import killing_once
from pyarrow import parquet
from test_oracle import MIXED

from ratecard.load.folder import shipped_folder
from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.report import page
from ratecard.simulation.report.groups import write_groups
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import every_sentence
from ratecard.simulation.results import customers
from ratecard.simulation.results.limits import ChangeLimits, beyond
from ratecard.simulation.usage.engines import spark_engine
from ratecard.simulation.usage.engines.spark_sql import SparkSql

if TYPE_CHECKING:
    from spark_cluster import Cluster

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
# The folder in which a process runs. As without a disk in common, that of the driver is not that of its executors.
OWN_FOLDER = Path("/proc/self/cwd")


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_SMALL", 0), ("_FIRST_ROWS", 10), ("_FEW_KEYS", 2), ("_MOST_FACTS", 3_999)):
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


@pytest.mark.parametrize("by", [("model", "day", "customer"), ("week", "customer")])
def test_groups_that_are_too_many_stay_with_spark(
    engines: Engines, tmp_path: Path, by: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    expected = engines.on_duckdb(path, by=by, candidates=CANDIDATE)
    monkeypatch.setattr(spark_engine, "_MOST_FACTS", 4_000)
    of_facts = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    assert not of_facts.comparison.roll_up.lacks_facts
    same(expected, of_facts)
    monkeypatch.setattr(spark_engine, "_MOST_FACTS", 3_999)
    few = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    assert few.comparison.elsewhere is None and few.comparison.roll_up.lacks_facts
    same(expected, few)
    monkeypatch.setattr(spark_engine, "_MOST_GROUPS", len(expected.groups) - 1)
    found = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    assert found.size(*by) == len(expected.groups)
    for ending in ("parquet", "csv"):
        expected.write(tmp_path / f"expected.{ending}")
        (tmp_path / f"groups.{ending}").write_text("of another run")
        found.write(tmp_path / f"groups.{ending}", tmp_path / "groups.html")
    write_groups(Report(found), f"{tmp_path.as_uri()}/elsewhere.parquet")
    whole = parquet.read_table(tmp_path / "expected.parquet")
    for name in ("groups.parquet", "elsewhere.parquet"):
        files = sorted(file for file in (tmp_path / name).iterdir() if file.suffix == ".parquet")
        assert pyarrow.concat_tables(map(parquet.read_table, files)).cast(whole.schema).equals(whole)
    files = sorted((tmp_path / "groups.csv").glob("part-*"))
    heading, *lines = (tmp_path / "expected.csv").read_text().splitlines()
    written = [file.read_text().splitlines() for file in files]
    assert {head for head, *_ in written} == {heading}
    assert [line for _, *lines in written for line in lines] == lines
    assert not list(tmp_path.glob(".*"))
    # Nothing so far has brought them here.
    assert not found.comparison._brought
    for key in by:
        assert found.table(key) == expected.table(key)
    same(expected, found)
    assert found.comparison.elsewhere and found.comparison.roll_up.lacks_facts


def test_the_report_of_customers_is_asked_of_spark(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, by = tmp_path / "usage.parquet", ("model", "day", "customer")
    demo_usage(tmp_path / "demo.parquet", 4_000, seed=5, bad_share=Decimal("0.02"), fractional_share=Decimal("0.02"))
    name = "CASE hash(model) % 9 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '''\\é' ELSE customer || model END"
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(tmp_path / "demo.parquet"))
        rows.project(f"* REPLACE ({name} AS customer)").write_parquet(str(path))
    (tmp_path / "mixed.yaml").write_text(MIXED)
    candidates = ["2026-09-01", tmp_path / "mixed.yaml", Path(__file__).with_name("dearer.yaml")]
    expected = engines.on_duckdb(path, by=by, candidates=candidates)
    monkeypatch.setattr(spark_engine, "_MOST_GROUPS", 10)
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
        assert asked.share_above(Fraction(-1, 50)) == said.share_above(Fraction(-1, 50))
    counts = [found.customers("customer", candidate) for candidate in Report(found).candidates]
    assert min(max(getattr(each, name) for each in counts) for name in ("less", "more", "same", "losing")) > 3
    assert not found.comparison._brought
    # All customers come where they are asked for, and not all groups.
    assert found.customers().rows == expected.customers().rows == found.table("customer")
    assert [each.keys for each in found.comparison._brought] == [("customer",)]


def test_groups_lost_with_a_worker_are_added_up_again(
    engines: Engines, cluster: "Cluster", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, marker, by = tmp_path / "usage.parquet", tmp_path / "killed", ("model", "customer")
    demo_usage(path, 1_000, seed=8)
    for name in ("_MOST_GROUPS", "_MOST_FACTS"):
        monkeypatch.setattr(spark_engine, name, 10)
    found = engines.on_spark(str(path), by=by, candidates=CANDIDATE)
    other = engines.spark.range(0, 8, 1, 4)
    assert other.mapInArrow(killing_once(str(marker)), other.schema).count() == 8
    assert marker.exists()
    found.write(tmp_path / "groups.parquet")
    expected = engines.on_duckdb(path, by=by, candidates=CANDIDATE)
    expected.write(tmp_path / "expected.parquet")
    written, whole = parquet.read_table(tmp_path / "groups.parquet"), parquet.read_table(tmp_path / "expected.parquet")
    assert written.cast(whole.schema).equals(whole)
    cluster.add_worker()


def test_groups_lost_with_a_worker_are_not_added_up_of_another_file(
    engines: Engines, cluster: "Cluster", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, marker, out = tmp_path / "usage.parquet", tmp_path / "killed", tmp_path / "groups.parquet"
    demo_usage(path, 1_000, seed=8)
    for name in ("_MOST_GROUPS", "_MOST_FACTS"):
        monkeypatch.setattr(spark_engine, name, 10)
    found = engines.on_spark(str(path), by=("model", "customer"), candidates=CANDIDATE)
    asked = found.customers()
    demo_usage(path, 1_000, seed=9)
    other = engines.spark.range(0, 8, 1, 4)
    assert other.mapInArrow(killing_once(str(marker)), other.schema).count() == 8
    assert marker.exists()
    said = f"^{path} was changed or replaced since the usage was read. Simulate it again$"
    for question in (asked.share_above, lambda _: found.groups, lambda _: found.write(out)):
        with pytest.raises(SimulationError, match=said):
            question(Fraction(1, 10))
    assert [file.name for file in tmp_path.iterdir()] == ["usage.parquet", "killed"]
    cluster.add_worker()


@pytest.mark.skipif(not OWN_FOLDER.exists(), reason="only Linux has a path that each process sees another folder at")
def test_a_place_that_each_machine_sees_for_itself_is_refused(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 1_000, seed=8)
    for name in ("_MOST_GROUPS", "_MOST_FACTS"):
        monkeypatch.setattr(spark_engine, name, 10)
    found = engines.on_spark(str(path), by=("model", "customer"), candidates=CANDIDATE)
    place = f"file://{OWN_FOLDER}/ratecard-{tmp_path.name}.parquet"
    with pytest.raises(SimulationError) as refused:
        write_groups(Report(found), place)
    assert str(refused.value) == (
        f"{place} cannot be written: executors of Spark have disks of their own."
        " Name a place that all of them see, such as s3a://bucket/groups"
    )
    assert not list(OWN_FOLDER.glob(f"*{tmp_path.name}*"))


@pytest.mark.parametrize("tokens", [2**59 - 64, 2**47], ids=["all tokens", "tokens of a row"])
def test_amounts_beyond_64_bits_are_exact(engines: Engines, tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, added, total = 40, set[bool](), SparkSql.whole_total

    def whole_total(sql: SparkSql, number: str, *, short: bool) -> str:
        if " * p" in number:
            added.add(short)
        return total(sql, number, short=short)

    monkeypatch.setattr(SparkSql, "whole_total", whole_total)
    prompts = [tokens + number if number % 3 else 1_000 + number for number in range(rows)]
    completions = [each // 2 + 1 for each in prompts]
    usage = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=prompts, completion_tokens=completions)
    usage = usage.append_column("customer", pyarrow.array([str(number % 7) for number in range(rows)]))
    compared: dict[str, Any] = {"current": "2026-08-20", "candidates": CANDIDATE, "by": BY}
    found = engines.on_spark(usage, **compared)
    assert found.comparison.roll_up.lacks_facts
    assert added == ({False} if tokens > 2**47 else {True, False})
    same(engines.on_duckdb(usage, **compared), found)


def test_a_file_that_is_another_later_is_said(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 300, seed=5)
    found = engines.on_spark(str(path), by=BY, candidates=CANDIDATE)
    demo_usage(path, 300, seed=6)
    with pytest.raises(SimulationError, match="was changed or replaced since the usage was read"):
        found.against("2026-09-01").groups  # noqa: B018


def test_models_without_a_charge_above_zero_cost_nothing(engines: Engines, tmp_path: Path) -> None:
    """No number of their rows is multiplied, but they are counted."""
    tables = shutil.copytree(shipped_folder(), tmp_path / "tables")
    (tables / "free.yaml").write_text(FREE)
    rows, who = 4_000, [f"customer {number % 5}" for number in range(4_000)]
    free = usage_of("speech", "free", characters=list(range(rows)), customer=who)
    tokens = {"prompt_tokens": [1_000] * 5, "completion_tokens": [10] * 5}
    dearer = usage_of("text", "claude-sonnet-4-6", customer=who[:5], **tokens)
    usage = pyarrow.concat_tables([free, dearer], promote_options="default")
    compared: dict[str, Any] = {"tables": tables, "by": BY, "candidates": Path(__file__).with_name("dearer.yaml")}
    found = engines.on_spark(usage, **compared)
    assert found.comparison.roll_up.lacks_facts
    same(engines.on_duckdb(usage, **compared), found)
    assert [row.requests for row in found.groups] == [rows // 5 + 1] * 5
    assert len({row.amounts for row in found.groups}) == 1
