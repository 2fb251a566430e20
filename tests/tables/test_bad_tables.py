"""Every mistake that a table can hold is refused: one small broken file each, and what its refusal must say."""

import shutil
from pathlib import Path

import pytest

import ratecard
from ratecard.examples import wrong_examples

HERE = Path(__file__).parent
SOUND = sorted((HERE / "sound").glob("*.yaml"))
SHARED = ("units", "vocabulary")


def read_faults() -> list[tuple[str, int, list[str]]]:
    lines = (HERE / "bad" / "faults.txt").read_text().splitlines()
    rows = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    return [(name, int(line), words.split(" … ")) for name, line, words in rows]


FAULTS = read_faults()


def home_of(name: str) -> str:
    """What a bad file must be called to be read as what it stands for."""
    return next((f"{part}.yaml" for part in SHARED if name.startswith(f"{part}_")), "bad.yaml")


@pytest.mark.parametrize(("name", "line", "words"), FAULTS, ids=[name for name, _, _ in FAULTS])
def test_a_mistake_is_the_one_fault_at_its_line(name: str, line: int, words: list[str], tmp_path: Path) -> None:
    home = home_of(name)
    shutil.copy(HERE / "bad" / f"{name}.yaml", tmp_path / home)
    if home != "bad.yaml" or name.startswith("second_file_"):
        shutil.copy(HERE / "sound" / "per_second.yaml", tmp_path / "a.yaml")
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(tmp_path)
    assert len(refusal.value.faults) == 1, f"more than the one mistake:\n{refusal.value}"
    fault = refusal.value.faults[0]
    assert (fault.file, fault.line) == (home, line), str(fault)
    for part in words:
        assert part in fault.message
    assert str(refusal.value) == f"{home}:{line}: {fault.message}"


def test_every_bad_file_has_its_row() -> None:
    assert sorted(path.stem for path in (HERE / "bad").glob("*.yaml")) == sorted(name for name, _, _ in FAULTS)


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_the_files_that_the_bad_ones_were_made_from_are_sound(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path)
    card = ratecard.load_rate_card(tmp_path)
    assert len(card.tables.models) == 1
    assert wrong_examples(card) == []
