"""How a simulation shows itself in a notebook."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import ratecard
from ratecard.base.errors import SimulationError
from ratecard.base.money import round_half_up
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.report.groups import ANSWERS
from ratecard.simulation.result import Simulation
from reports import NOW, files, simulated


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    with simulated(tmp_path_factory.mktemp("usage"), costs="2026-10-01") as found:
        yield found


def test_a_notebook_shows_the_answer_a_table_and_bars(simulation: Simulation) -> None:
    shown = simulation._repr_html_()
    assert "<p><b>Revenue rises by $" in shown
    assert shown.count("<tr>") == 1 + 3 + 2  # the heading, the changes, all others and the total
    assert shown.count("background: ") == 3
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown)[1:]]
    by_model = {row.key[0]: row for row in simulation.table("model")}
    for model, requests, *amounts in rows[:3]:
        row = by_model[model]
        before, after = (round_half_up(amount, 2) for amount in row.amounts)
        shown_amounts = [Decimal(amount.replace("$", "")) for amount in amounts[:3]]
        assert (int(requests), shown_amounts) == (row.requests, [before, after, after - before])
    assert [row[:2] for row in rows[3:]] == [["All others", "60"], ["Total", "234"]]
    assert f"<b>Revenue rises by {rows[-1][4].lstrip('+')} ({rows[-1][5]})" in shown
    assert "<script" not in shown
    words = "<Simulation of 240 rows, 234 priced, by model, day, customer: Revenue rises by $"
    assert repr(simulation).startswith(words)
    assert repr(simulation) == repr(simulation)


def test_without_a_candidate_it_shows_revenue_until_it_is_closed(tmp_path: Path) -> None:
    usage, *_ = files(tmp_path)
    with ratecard.simulate(usage, NOW, by=["model"]) as simulation:
        assert "<b>Revenue is $" in simulation._repr_html_()
        assert simulation.to_arrow("attribution").num_rows == 0
        assert "amount" in simulation.to_arrow("attribution").column_names
        with pytest.raises(SimulationError, match="not grouped by 'customer'"):
            simulation.to_arrow("customers")
        with pytest.raises(SimulationError, match="a margin needs our costs: give costs"):
            simulation.margin()
    for ask in (lambda: simulation.table("model"), simulation.to_arrow):
        with pytest.raises(SimulationError, match="the simulation is closed"):
            ask()


def test_the_default_keys_are_those_that_the_usage_has(tmp_path: Path) -> None:
    usage, dearer, _ = files(tmp_path)
    with ratecard.simulate(usage, NOW, dearer) as simulation:
        assert simulation.by == ("model", "day", "customer")
    with ratecard.simulate(usage, NOW, dearer, columns={"customer": "network"}) as simulation:
        assert {row.key[0] for row in simulation.table("customer")} == {None, "ethereum-mainnet"}


def test_every_answer_is_a_table_of_named_columns_and_decimals(simulation: Simulation) -> None:
    groups = simulation.to_arrow("groups")
    assert groups.column_names[:5] == ["model", "day", "customer", "current", "dearer text"]
    found: dict[Any, Any] = {(row["model"], row["day"], row["customer"]): row for row in groups.to_pylist()}
    assert len(found) == len(simulation.groups)
    for group in simulation.groups:
        row = found[group.key]
        assert (row["current"], row["dearer text"], row["requests"]) == (*group.amounts, group.requests)
        assert [Decimal(row[name]) for name in QUANTITY_NAMES] == list(group.quantities)
    parts = simulation.to_arrow("attribution")
    assert sum(parts["amount"].to_pylist()) == simulation.total.difference()
    assert set(parts["candidate"].to_pylist()) == {"dearer text"}
    customers = simulation.to_arrow("customers")
    assert customers.column_names == ["customer", "current", "dearer text", "requests", *_changes("dearer text")]
    assert sum(customers["dearer text change"].to_pylist()) == simulation.total.difference()
    margin = simulation.to_arrow("margin")
    assert sum(margin["dearer text revenue"].to_pylist()) == simulation.margin().total.revenues[1]
    unpriced = simulation.to_arrow("unpriced")
    assert sum(unpriced["rows"].to_pylist()) == simulation.rows - simulation.priced
    for answer in {*ANSWERS} - {"discounts"}:  # Only simulations by contract have discounts: see test_contracts.py.
        assert not [field for field in simulation.to_arrow(answer).schema if pyarrow.types.is_floating(field.type)]


def _changes(name: str) -> list[str]:
    return [f"{name} {word}" for word in ("change", "rise", "lost", "new")]


def test_pandas_and_polars_have_the_same_decimals(simulation: Simulation) -> None:
    arrow = simulation.to_arrow("customers")
    assert simulation.to_pandas("customers")["current"].tolist() == arrow["current"].to_pylist()
    polars = simulation.to_polars("customers")
    assert polars["current"].to_list() == arrow["current"].to_pylist()
    assert polars.columns == arrow.column_names


def test_an_answer_that_there_is_not_is_named(simulation: Simulation) -> None:
    with pytest.raises(SimulationError) as refused:
        simulation.to_arrow("custmers")
    assert str(refused.value) == (
        "there is no answer 'custmers'. Did you mean 'customers'? There are: groups, attribution, customers, margin, "
        "discounts, unpriced"
    )


def test_a_report_is_written_from_a_notebook(simulation: Simulation, tmp_path: Path) -> None:
    simulation.write(tmp_path / "report.html", str(tmp_path / "report.csv"), elasticities={"all": -0.5})
    assert "once volume answers prices by all -0.5" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "report.csv").exists()
    for path, words in ((tmp_path / "report.docx", "'.docx' is not a format"), (tmp_path / "no/report.csv", "No such")):
        with pytest.raises(SimulationError, match=words):
            simulation.write(path)
    with pytest.raises(SimulationError, match="'klingon' is not a locale"):
        simulation.write(tmp_path / "report.html", locale="klingon")


def test_elasticities_are_plain_numbers_or_words(simulation: Simulation) -> None:
    plain = simulation.response({"all": Decimal("-0.8")})
    assert plain == simulation.response({"all": -0.8}) == simulation.response({"all": "-0.8"})
    assert simulation.response({"all": "-0.8:-1.2..-0.4"}).expected == plain.expected
    with pytest.raises(SimulationError, match="elasticity 'all=much' cannot be read"):
        simulation.response({"all": "much"})
