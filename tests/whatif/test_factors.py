"""A factor of a table is tried, saved and opened again as a rate is, and lines and figures show it."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from small_usage import FLASH, write_batches, write_tables

import ratecard
from ratecard.simulation.simulate import simulate
from ratecard.whatif.candidate_file import opened, save
from ratecard.whatif.draft import Choices, Draft, DraftError, NewRate, from_json, to_json
from ratecard.whatif.draft_pricer import DraftPricer

DAY = date(2026, 11, 22)
BATCH, FAST = (("service_tier", ("batch",)),), (("speed", ("fast",)),)
OF_CHARGE, OF_ALL = NewRate(FLASH, "tokens", BATCH, "0.4", "factor"), NewRate(FLASH, "", FAST, "3", "factor")
USAGE = {"type": "text", "model": FLASH, "tokens": {"input": 1_000_000}}


@pytest.fixture
def card(tmp_path: Path) -> ratecard.RateCard:
    return ratecard.load_rate_card(write_tables(tmp_path / "tables"))


def test_a_factor_is_offered_by_its_conditions(card: ratecard.RateCard) -> None:
    labels = [choice.label for choice in Choices(card, DAY).rates(FLASH)]
    assert labels == [
        "tokens, context base, tokens input: 2 per mtoken",
        "tokens, context base, tokens output: 10 per mtoken",
        "tokens, service_tier batch: times 0.5",
        "every charge, speed fast: times 2",
    ]
    assert Choices(card, DAY).rates(FLASH)[3]._replace(amount=None).label.endswith(": no such factor on this day")
    # A factor on rates is not limited by the conditions of others.
    assert {name for name, _ in Choices(card, DAY).conditions("model", [FLASH])} == {"context", "tokens"}


@pytest.mark.parametrize(
    ("change", "stated", "amounts"),
    [
        (OF_CHARGE, {"service_tier": "batch"}, ("1", "0.8")),
        (OF_ALL, {"speed": "fast"}, ("4", "6")),
        (OF_CHARGE, {}, ("2", "2")),
    ],
)
def test_a_line_shows_the_changed_factor(
    card: ratecard.RateCard, change: NewRate, stated: dict[str, str], amounts: tuple[str, str]
) -> None:
    draft = Draft(DAY.isoformat(), (change,))
    before, after = (each.at(DAY).rate(USAGE | stated) for each in (card, draft.card(card)))
    assert (before.total, after.total) == tuple(map(Decimal, amounts))
    assert (f" x {change.amount} for " in after.lines[0].note) == ("(draft:6)" in after.lines[0].note) == bool(stated)


def test_what_is_saved_is_opened_as_it_was(card: ratecard.RateCard, tmp_path: Path) -> None:
    draft = Draft(DAY.isoformat(), (OF_CHARGE, OF_ALL))
    assert "    charge: tokens\n    where: {service_tier: batch}\n    factor: 0.4\n" in draft.text()
    path = tmp_path / "candidate.yaml"
    save(draft, card, path)
    assert opened(path, card) == draft == from_json(to_json(draft))


def test_a_wrong_factor_is_refused_at_its_change(card: ratecard.RateCard) -> None:
    with pytest.raises(DraftError) as refused:
        Draft(DAY.isoformat(), (OF_ALL, OF_CHARGE._replace(amount="0"))).card(card)
    assert list(refused.value.changes) == [1]
    assert not OF_ALL._replace(amount="").finished


def test_the_figures_are_those_of_the_changed_factor(card: ratecard.RateCard, tmp_path: Path) -> None:
    with simulate(write_batches(tmp_path / "usage.csv"), DAY.isoformat(), tables=tmp_path / "tables") as simulation:
        panel = DraftPricer(simulation).answer(Draft(DAY.isoformat(), (OF_CHARGE,))).panel
    assert {tile.label: tile.value for tile in panel.tiles} == {
        "Revenue now": "$3.00",
        "With your changes": "$2.80",
        "Difference": "-$0.20",
    }
    assert FLASH in panel.models
