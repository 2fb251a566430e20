"""The examples of the tables: each a check that a person made of a rate."""

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from ratecard import RateCard, load_rate_card
from ratecard.examples import work, wrong_examples
from ratecard.load.folder import shipped_folder


def test_every_example_of_the_shipped_tables_is_right(card: RateCard) -> None:
    assert wrong_examples(card._compiler) == []


def test_every_version_has_an_example_that_is_worked(card: RateCard) -> None:
    worked = list(work(card._compiler))
    assert len(worked) == sum(len(each.examples) for model in card.tables.models.values() for each in model.versions)
    assert {each.model for each in worked} == set(card.tables.models)
    assert all(each.total == each.example.total and each.reason.startswith("\n    ") for each in worked)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(shipped_folder() / "video" / "topaz.yaml", tmp_path)
    return tmp_path


def edited(folder: Path, old: str, new: str) -> RateCard:
    path = folder / "topaz.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return load_rate_card(folder)


def test_an_example_with_a_source_video_is_worked_with_it(folder: Path) -> None:
    totals = {
        each.total for each in work(load_rate_card(folder)._compiler) if each.model == "topaz-video-interpolation"
    }
    assert totals == {Decimal("0.38"), Decimal("0.42"), Decimal("15.00")}


def test_a_wrong_rate_is_found_by_its_example_with_the_lines_that_made_it(folder: Path) -> None:
    faults = wrong_examples(edited(folder, "up_to: 1080, rate: 0.02}", "up_to: 1080, rate: 0.2}")._compiler)
    lines = (folder / "topaz.yaml").read_text(encoding="utf-8").splitlines()

    assert faults
    for fault in faults:
        assert "total: " in lines[fault.line - 1]
        assert "topaz-video-upscale: the example says " in fault.message
        assert ":\n    topaz-video-upscale-upscale-rate-proteus-up-to-1080" in fault.message
        assert f"(topaz.yaml:{1 + next(i for i, line in enumerate(lines) if 'rate: 0.2}' in line)})" in fault.message


def test_an_example_that_is_refused_is_wrong_and_says_why(folder: Path) -> None:
    card = edited(folder, "{enhancement_model: Apollo, target_fps: 60}", "{target_fps: 60}")
    (fault,) = wrong_examples(card._compiler)
    assert "topaz-video-interpolation: the example says 0.38, but it is refused: Invalid request" in fault.message
    assert fault.message.endswith("enhancement_model: Required")


def test_a_fault_leads_to_the_example_of_the_model(folder: Path) -> None:
    (fault,) = wrong_examples(edited(folder, "fps: 30}, total: 0.25}", "fps: 30}, total: 0.26}")._compiler)
    assert fault.path == ("topaz-video-upscale", "examples", 0)
