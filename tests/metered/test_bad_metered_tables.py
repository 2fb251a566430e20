"""A mistake in a table of what is not video: one file each in `bad`, and the words that its refusal must hold.

The first line of a file names the line of the fault and the words, ` … ` between those that are apart.
"""

from pathlib import Path

import pytest

from bad_tables import BadTable, bad_metered_tables

BAD = list(bad_metered_tables())


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad.path.stem))
def test_a_mistake_is_the_one_fault_at_its_line(bad: BadTable, tmp_path: Path) -> None:
    [fault] = bad.faults(tmp_path)
    assert (fault.file, fault.line) == ("bad.yaml", bad.line), str(fault)
    for words in bad.words:
        assert words in fault.message


def test_there_are_bad_files() -> None:
    assert len(BAD) >= 30
