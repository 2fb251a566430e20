"""The change of a price that docs/change-a-price.md shows, made on a copy of the tables; and mistakes made in it."""

import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

from copied_tables import copy_with_shared
from ratecard.cli import main
from readme_blocks import CHANGE, ROOT, blocks

# One mistake each: the old text in the changed table, and the new text.
MISTAKES = (
    ("rate: 0.25", "rate: 0.25 USD"),
    ("rate: 0.25", "rate: -0.25"),
    ("effective: 2027-03-01", "effective: 2027-02-30"),
    ("effective: 2027-03-01", "effective: 2025-03-01"),
    ("        source: public model page, 2027-02-20\n", ""),
    ("unit: clip", "unit: clips"),
    ("unit: clip", "unit: video_second"),
    ("duration: [5s]", "duration: [5s, 10 s]"),
    ("audio: always", "sound: always"),
    ("audio: always", "audio: maybe"),
    ("{rate: 0.25}", "{resolution: 720p, rate: 0.25}"),
    ("{rate: 0.25}", "{audio: false, rate: 0.25}"),
    ("- {rate: 0.25}", "- {rate: 0.25}\n              - {rate: 0.26}"),
    ("unit: clip", "unit: clip\n            unit: clip"),
    ("total: 0.25", "total: 0.52"),
)


def changed_file(tables: Path) -> Path:
    """Copy the tables to a folder, make the change of the page there, and name the file that it is in."""
    shutil.copytree(ROOT / "pricing_tables", tables)
    return _changed(tables)


def _changed(tables: Path) -> Path:
    (diff,) = [block.text for block in blocks(CHANGE) if block.language == "diff"]
    heading, *lines = diff.splitlines(keepends=True)
    file = tables / Path(heading.removeprefix("--- ").strip()).relative_to("pricing_tables")
    first = next(i for i, line in enumerate(lines) if line[0] == "+")
    before = "".join(line[1:] for line in lines[:first])
    added = "".join(line[1:] for line in lines if line[0] == "+")
    old = file.read_text(encoding="utf-8")
    assert old.count(before) == 1, "the lines around the change are not in the table any more"
    file.write_text(old.replace(before, before + added), encoding="utf-8")
    return file


def refusals() -> str:
    """Return the output of `ratecard check` after each mistake."""
    with tempfile.TemporaryDirectory() as folder:
        tables = copy_with_shared(Path(folder) / "pricing_tables", "video/ovi.yaml")
        file = _changed(tables)
        sound, printed = file.read_text(encoding="utf-8"), []
        for old, new in MISTAKES:
            assert old in sound
            file.write_text(sound.replace(old, new, 1), encoding="utf-8")
            result = CliRunner().invoke(main, ["check", str(tables)])
            assert result.exit_code == 1, (new, result.output)
            printed.append(result.stdout)
        return "".join(printed)
