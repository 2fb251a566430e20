"""A mistake in a table of what is not video: one file each in `bad`, and the words that its refusal must hold.

The first line of a file names the line of the fault and the words, ` … ` between those that are apart.
"""

import re
import shutil
from pathlib import Path

import pytest

import ratecard
from ratecard.examples import wrong_examples

BAD = sorted((Path(__file__).parent / "bad").glob("*.yaml"))
FIRST = re.compile(r"# line (\d+): (.+)\n")


@pytest.mark.parametrize("path", BAD, ids=lambda path: str(path.stem))
def test_a_mistake_is_the_one_fault_at_its_line(path: Path, tmp_path: Path) -> None:
    said = FIRST.match(path.read_text(encoding="utf-8"))
    assert said is not None
    shutil.copy(path, tmp_path / "bad.yaml")
    if path.stem.startswith("total_"):
        found = wrong_examples(ratecard.load_rate_card(tmp_path))
    else:
        with pytest.raises(ratecard.TableError) as refusal:
            ratecard.load_rate_card(tmp_path)
        found = list(refusal.value.faults)
    [fault] = found
    assert (fault.file, fault.line) == ("bad.yaml", int(said[1])), str(fault)
    for words in said[2].split(" … "):
        assert words in fault.message


def test_there_are_bad_files() -> None:
    assert len(BAD) >= 30
