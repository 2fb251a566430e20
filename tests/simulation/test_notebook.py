"""How a simulation shows itself in a notebook."""

from pathlib import Path

import pytest

import ratecard
from reports import files, simulated


def test_a_notebook_shows_the_answer_a_table_and_bars(tmp_path: Path) -> None:
    with simulated(tmp_path) as simulation:
        shown = simulation._repr_html_()
    assert "<p><b>Revenue rises by $" in shown
    assert shown.count("<tr>") == 1 + 3 + 2  # the heading, what changes, all others and the total
    assert shown.count("background: ") == 3
    assert "<script" not in shown


def test_without_a_candidate_it_shows_revenue(tmp_path: Path) -> None:
    usage, *_ = files(tmp_path)
    with ratecard.simulate(usage, by=["model"]) as simulation:
        assert "<p>Revenue: $" in simulation._repr_html_()


def test_the_default_keys_are_those_that_the_usage_has(tmp_path: Path) -> None:
    usage, dearer, _ = files(tmp_path)
    with ratecard.simulate(usage, None, dearer) as simulation:
        assert simulation.by == ("model", "day", "customer")
    with ratecard.simulate(usage, None, dearer, columns={"customer": "network"}) as simulation:
        assert {row.key[0] for row in simulation.table("customer")} == {None, "ethereum-mainnet"}


def test_a_margin_needs_costs(tmp_path: Path) -> None:
    with (
        simulated(tmp_path) as simulation,
        pytest.raises(ratecard.RateCardError, match="a margin needs to know what we pay"),
    ):
        simulation.margin()
