"""Every mistake that a table can hold is refused: one small broken file each, and what its refusal must say."""

import shutil
from pathlib import Path

import pytest

import ratecard
from bad_tables import TABLES, BadTable, bad_tables
from ratecard.examples import wrong_examples

BAD = list(bad_tables())
SOUND = sorted((Path(__file__).parent / "sound").glob("*.yaml"))


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad.path.stem))
def test_a_mistake_is_the_one_fault_at_its_line(bad: BadTable, tmp_path: Path) -> None:
    faults = bad.faults(tmp_path)
    assert len(faults) == 1, "more than the one mistake:\n" + "\n".join(map(str, faults))
    [fault] = faults
    assert (fault.file, fault.line) == (bad.home, bad.line), str(fault)
    for part in bad.words:
        assert part in fault.message
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(tmp_path)
    assert str(refusal.value) == f"{bad.home}:{bad.line}: {fault.message}"


def test_every_bad_file_has_its_row() -> None:
    assert sorted(TABLES.glob("*.yaml")) == sorted(bad.path for bad in BAD)


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_the_files_that_the_bad_ones_were_made_from_are_sound(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path)
    card = ratecard.load_rate_card(tmp_path)
    assert len(card.tables.models) == 1
    assert wrong_examples(card._compiler) == []
