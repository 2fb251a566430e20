"""The broken tables of the tests: one mistake each, where its fault stands, and words that its message must hold."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ratecard
from ratecard.base.errors import Fault
from ratecard.examples import wrong_examples

HERE = Path(__file__).parent
TABLES, METERED = HERE / "tables" / "bad", HERE / "metered" / "bad"
METERED_HEADING = "Text, images, audio and RPC credits"
_FIRST = re.compile(r"# line (\d+): (.+)\n")
_SHARED = ("units", "vocabulary")


class BadTable(NamedTuple):
    """One mistake: its file, the heading that it stands under, the line of its fault, and the words (in parts)."""

    path: Path
    heading: str
    line: int
    words: tuple[str, ...]

    @property
    def home(self) -> str:
        """Return the file name under which the table is read as the kind of file that it stands for."""
        shared = (f"{part}.yaml" for part in _SHARED if self.path.stem.startswith(f"{part}_"))
        return next(shared, "bad.yaml") if self.path.parent == TABLES else "bad.yaml"

    def faults(self, folder: Path) -> list[Fault]:
        """Return the faults of the table in a folder of its own."""
        shutil.copy(self.path, folder / self.home)
        if self.home != "bad.yaml" or self.path.stem.startswith("second_file_"):
            shutil.copy(HERE / "tables" / "sound" / "per_second.yaml", folder / "a.yaml")
        try:
            return wrong_examples(ratecard.load_rate_card(folder)._compiler)
        except ratecard.TableError as error:
            return list(error.faults)


def bad_tables() -> Iterator[BadTable]:
    """The mistakes of `faults.txt`, in its order and under its headings."""
    heading = ""
    for row in (TABLES / "faults.txt").read_text(encoding="utf-8").splitlines()[1:]:
        if row.startswith("# "):
            heading = row.removeprefix("# ").partition(": ")[0]
        elif row:
            name, line, words = row.split(maxsplit=2)
            yield BadTable(TABLES / f"{name}.yaml", heading, int(line), tuple(words.split(" … ")))


def bad_metered_tables() -> Iterator[BadTable]:
    """The mistakes in tables of what is not video, each with a first line that says what its fault is."""
    for path in sorted(METERED.glob("*.yaml")):
        said = _FIRST.match(path.read_text(encoding="utf-8"))
        assert said, f"{path} has no first line like `# line 12: words`"
        yield BadTable(path, METERED_HEADING, int(said[1]), tuple(said[2].split(" … ")))
