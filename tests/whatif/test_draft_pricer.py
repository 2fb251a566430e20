"""The pricer answers what `simulate` answers, for any number of drafts, and keeps no draft."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_usage import CLAUDE, DAY, KLING, OVI, STANDING, write_usage

import ratecard
from ratecard.review.sides import Side
from ratecard.simulation.answers.volume import elasticities_of
from ratecard.simulation.report.report import Report
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Draft, DraftChange, DraftError, Factor, NewRate
from ratecard.whatif.draft_pricer import DraftPricer
from ratecard.whatif.view import panel_now, panel_of
from shipped import few_models

DEARER = Factor("family", ("kling-o3",), "1.05")
OUTPUT = NewRate(CLAUDE, "tokens", (("context", ("base",)), ("tokens", ("output",))), "33.5")


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_usage(tmp_path_factory.mktemp("usage") / "usage.csv")


@pytest.fixture(scope="module")
def card() -> ratecard.RateCard:
    return few_models(CLAUDE, KLING, OVI, "qwen-image-3", of_each=1)


@pytest.fixture(scope="module")
def pricer(usage: Path, card: ratecard.RateCard) -> Iterator[DraftPricer]:
    """The usage at the prices of a day, and those same prices as what we pay."""
    with simulate(str(usage), Side(DAY, card, STANDING), costs=Side("costs", card)) as simulation:
        yield DraftPricer(simulation)


@contextmanager
def simulated(draft: Draft, usage: Path, card: ratecard.RateCard, folder: Path) -> Iterator[Simulation]:
    """The same by the candidate file of a draft."""
    path = folder / "candidate.yaml"
    path.write_text(draft.text(), encoding="utf-8")
    costs = Side("costs", card, STANDING)
    with simulate(str(usage), Side(draft.effective, card, STANDING), [str(path)], costs=costs) as simulation:
        yield simulation


@pytest.mark.parametrize(
    "changes",
    [
        (DEARER,),
        (OUTPUT,),
        (Factor("type", ("video", "text"), "0.97"),),
        (Factor("model", (KLING, OVI), "2"), OUTPUT, Factor("model", (KLING,), "0.75")),
    ],
)
def test_the_figures_are_those_of_simulate(
    changes: tuple[DraftChange, ...], pricer: DraftPricer, usage: Path, card: ratecard.RateCard, tmp_path: Path
) -> None:
    draft = Draft(DAY, changes)
    answer = pricer.answer(draft, "draft")
    with simulated(draft, usage, card, tmp_path) as simulation:
        expected = panel_of(Report(simulation))
    for part in ("scope", "notes", "tiles", "models", "winners", "losers", "unpriced"):
        assert getattr(answer.panel, part) == getattr(expected, part), part
    assert answer.panel.sentence.partition(", under ")[0] == expected.sentence.partition(", under ")[0]
    assert not answer.idle


def test_the_figures_by_hand(pricer: DraftPricer) -> None:
    """Ten times 5 s at 0.154 and 8 s at 0.1232, each request rounded to the cent: 0.77 and 0.99; then times 2."""
    panel = pricer.answer(Draft(DAY, (Factor("model", (KLING,), "2"),))).panel
    tiles = {tile.label: tile for tile in panel.tiles}
    # 1.54 and 1.97 a request: 10 x (1.54 + 1.97) - 10 x (0.77 + 0.99) = 17.50
    assert tiles["Difference"].value == "+$17.50"
    assert tiles["Difference"].direction == 1
    assert tiles["Margin now"].value == "$0.00"
    assert tiles["Margin then"].value == "$17.50"
    assert (tiles["Margin now"].note, tiles["Margin then"].note) == ("0% of revenue", "41.31% of revenue")
    assert panel.by_model is not None
    assert [bars["x"] for bars in panel.by_model.figure["data"]] == [["17.50", "0.00"]]


def test_without_changes_it_answers_what_is_now(pricer: DraftPricer, usage: Path, card: ratecard.RateCard) -> None:
    unfinished = (Factor("family", (), "1.05"), NewRate(KLING))
    answer = pricer.answer(Draft(DAY, unfinished)).panel
    with simulate(str(usage), Side(DAY, card, STANDING)) as simulation:
        assert answer.sentence == panel_now(Report(simulation)).sentence
    assert answer.sentence.startswith("This usage brings $")
    assert answer.by_model is not None
    assert answer.by_model.title == "Revenue by family"
    assert answer.by_model.figure["data"][0]["y"][0] == "kling-o3"
    assert "claude-opus-4-6" in answer.largest
    assert "alpha" in answer.payers
    assert "no-such-model" in answer.unpriced


def test_unfinished_changes_are_left_out(pricer: DraftPricer) -> None:
    alone, beside = (pricer.answer(Draft(DAY, changes)).panel for changes in ((DEARER,), (NewRate(KLING), DEARER)))
    assert alone == beside


def test_the_day_decides_about_both_sides(
    pricer: DraftPricer, usage: Path, card: ratecard.RateCard, tmp_path: Path
) -> None:
    day = "2026-08-10"
    draft = Draft(day, (Factor("model", (CLAUDE,), "1.1"),))
    answer = pricer.answer(draft, "dearer")
    now = pricer.answer(Draft(day)).panel
    later = pricer.answer(Draft(DAY)).panel
    assert now.tiles[0] != later.tiles[0]
    # Costs are those of the same day as the prices.
    assert [panel.tiles[1].value for panel in (now, later)] == ["$0.00", "$0.00"]
    with simulate(str(usage), day, costs=day) as simulation:
        assert now.tiles == panel_now(Report(simulation)).tiles
        expected = simulation.against(Side("dearer", draft.card(card), simulation.sides[0].at))
        assert answer.panel.tiles == panel_of(Report(expected)).tiles


def test_a_change_without_usage_says_so(pricer: DraftPricer) -> None:
    answer = pricer.answer(Draft(DAY, (Factor("family", ("sora-2",), "1.5"), Factor("type", ("music",), "1.5"))[1:]))
    assert answer.idle.startswith("your changes changes nothing") or "changes nothing" in answer.idle
    assert "the usage has none of the models" in answer.idle
    assert answer.panel.tiles[2].value == "$0.00"


def test_what_is_wrong_is_raised_and_the_pricer_goes_on(pricer: DraftPricer) -> None:
    for day in ("2026-1-1", ""):
        with pytest.raises(DraftError) as caught:
            pricer.answer(Draft(day))
        assert "is not a date" in caught.value.head["effective"]
    with pytest.raises(DraftError, match="changes nothing"):
        pricer.answer(Draft(DAY, (DEARER._replace(factor="1"),)))
    assert pricer.answer(Draft(DAY, (DEARER,))).panel.tiles[2].direction == 1


def test_nothing_of_a_draft_is_kept(pricer: DraftPricer) -> None:
    def kept() -> tuple[int, int]:
        """Tables of the engine, and what the pricer remembers."""
        connection = pricer._standing.comparison.roll_up.workspace.connection
        remembered = vars(pricer._standing.pricer)
        known = sum(len(each) for each in remembered.values() if isinstance(each, dict))
        return connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()[0][0], known

    for day in ("2026-10-31", DAY):
        pricer.answer(Draft(day))
    before = kept()
    for day in ("2026-10-31", DAY):
        pricer.answer(Draft(day, (DEARER,)))
        pricer.answer(Draft(day))
    # The current payments of all customers are known already.
    assert kept()[0] == before[0]
    before = kept()
    for hundredths in range(110, 115):
        pricer.answer(Draft(DAY, (Factor("type", ("video",), f"1.{hundredths}"),)))
    assert kept() == before


def test_a_usage_without_days_or_customers(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(f"type,model\nvideo,{OVI}\n", encoding="utf-8")
    with simulate(str(path), Side(DAY, card, STANDING)) as simulation:
        pricer = DraftPricer(simulation)
        panel = pricer.answer(Draft(DAY, (Factor("type", ("video",), "1.5"),))).panel
    assert (panel.by_day, panel.winners, panel.losers, panel.unpriced) == (None, "", "", "")
    assert [tile.label for tile in panel.tiles] == ["Revenue now", "With your changes", "Difference"]
    assert panel.by_model is not None


def test_customers_by_another_name(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = write_usage(tmp_path / "usage.csv", customer="account")
    with simulate(str(path), Side(DAY, card, STANDING), columns={"customer": "account"}) as simulation:
        panel = DraftPricer(simulation).answer(Draft(DAY, (DEARER,))).panel
    assert "alpha" in panel.losers
    assert "gamma" not in panel.losers


def test_the_pure_part_does_without_the_page() -> None:
    assert "ratecard.whatif.draft_pricer" in sys.modules
    import subprocess

    code = "import sys, ratecard.whatif.draft_pricer, ratecard.whatif.candidate_file; print('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_it_goes_on_from_the_tables_to_which_a_draft_was_promoted(
    usage: Path, card: ratecard.RateCard, tmp_path: Path
) -> None:
    path, empty = tmp_path / "candidate.yaml", Draft(DAY)
    path.write_text(Draft(DAY, (DEARER, OUTPUT)).text(), encoding="utf-8")
    promoted, costs = card.with_candidate(path), Side("costs", card)
    with (
        simulate(str(usage), Side(DAY, card, STANDING), costs=costs) as simulation,
        simulate(str(usage), Side(DAY, promoted, STANDING), costs=costs) as wanted,
    ):
        pricer = DraftPricer(simulation)
        before = pricer.answer(empty).panel
        with_changes = {tile.label: tile.value for tile in pricer.answer(Draft(DAY, (DEARER, OUTPUT))).panel.tiles}
        pricer.take(promoted)
        now = pricer.answer(empty).panel
        assert now == panel_now(Report(wanted)) != before
        assert now.tiles[0].value == with_changes["With your changes"]
        # The day before has its old prices.
        old_day = pricer.answer(Draft("2026-11-21")).panel
        pricer.take(card)
        assert pricer.answer(Draft("2026-11-21")).panel == old_day
        assert pricer.answer(empty).panel == before


def test_volume_answers_prices_and_what_cannot_answer_says_why(usage: Path, card: ratecard.RateCard) -> None:
    with simulate(str(usage), Side(DAY, card, STANDING)) as simulation:
        pricer = DraftPricer(simulation)
        plain = pricer.answer(Draft(DAY, (DEARER,))).panel
        answered = pricer.answer(Draft(DAY, (DEARER,), answers=(("all", "-2"), ("video", ""))), "spring").panel
        assert answered.sentence.startswith("Expected revenue falls by ")
        assert answered.sentence.endswith("under spring, once volume answers prices by all -2.")
        assert "At unchanged usage, " in answered.notes[0]
        assert [tile.label for tile in answered.tiles] == ["Revenue now", "Expected with spring", "Expected difference"]
        assert answered.tiles[0] == plain.tiles[0]
        wrong = (("sora-2", "-1"), ("all", "x"), ("all", "-1"), ("all", "-2"))
        with pytest.raises(DraftError) as raised:
            pricer.answer(Draft(DAY, (DEARER,), answers=wrong))
        assert [*raised.value.answers] == [0, 1, 3]
        assert "no usage of a model, family or type of this name" in raised.value.answers[0]
        assert "cannot be read" in raised.value.answers[1]
        assert "is given twice" in raised.value.answers[3]
        minus = Draft(DAY, (DEARER,), answers=(("", "-1"), ("all", "\N{MINUS SIGN}2")))
        # The command that is shown has the sign that it reads.
        assert (minus.answered(), minus.elasticities(simulation)) == ({1: "all=-2"}, elasticities_of(["all=-2"]))
