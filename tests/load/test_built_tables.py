"""What the reader of YAML made of the shipped tables when a wheel was built: used for the same bytes, and only then."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ratecard.base.errors import TableError
from ratecard.load.built import BUILT_TABLES, build_tables, text_file
from ratecard.load.folder import read_folder
from ratecard.load.yaml_text import read_yaml_text

ROOT = Path(__file__).parent.parent.parent
SHIPPED = read_folder()
NAME = "video/ovi.yaml"
# A table of two rates, and one that loads nothing but itself.
TABLE = b"family: f\nrates:\n  - {audio: no, rate: 0.10}\n  - rate: 2\n"


def parts_of_yaml(built: Path, name: str = "t.yaml", content: bytes = TABLE) -> bool:
    """Whether the YAML itself was read: then the lines are there before one is asked for."""
    return bool(text_file(name, content, built).lines)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    path = tmp_path / BUILT_TABLES
    path.write_bytes(build_tables({"t.yaml": TABLE}))
    return path


def test_every_shipped_table_is_built_as_its_yaml_is_read(tmp_path: Path) -> None:
    path = tmp_path / BUILT_TABLES
    path.write_bytes(build_tables(SHIPPED))
    for name, content in SHIPPED.items():
        table, yaml = text_file(name, content, path), read_yaml_text(name, content)
        assert not table.lines, f"{name} was read from its YAML"
        assert table.data == yaml.data
        assert [table.line(place) for place in yaml.lines] == list(yaml.lines.values())
        assert table.line((*next(reversed(yaml.lines)), "missing")) == list(yaml.lines.values())[-1]


def test_a_fault_of_a_built_table_has_its_line(built: Path) -> None:
    table = text_file("t.yaml", TABLE, built)
    table.fault(("rates", 1, "rate"), "is wrong")
    assert [str(fault) for fault in table.faults] == ["t.yaml:4: is wrong"]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda written: b"",
    "cut off": lambda written: written[:-9],
    "only its head": lambda written: written.partition(b"\n")[0],
    "a changed value": lambda written: written.replace(b'"0.10"', b'"0.20"'),
    "a further line": lambda written: written + b"\n{}",
    "of other places": lambda written: written.replace(b'"rate": "@source"', b'"rate": "@place"', 1),
    "no JSON": lambda written: b"tables" + written,
    "a list": lambda written: b"[]\n" + written.partition(b"\n")[2],
    "no digest": lambda written: written.replace(b'"sha256"', b'"sha512"'),
    "tables without digests": lambda written: (
        json.dumps({**json.loads(written.partition(b"\n")[0]), "tables": [1]}).encode()
        + b"\n"
        + written.partition(b"\n")[2]
    ),
    "not text": lambda written: b"\xff\xfe" + written,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_damaged_or_made_by_others_is_not_used(damage: str, built: Path) -> None:
    written = built.read_bytes()
    changed = DAMAGE[damage](written)
    assert changed != written
    built.write_bytes(changed)
    assert parts_of_yaml(built)
    assert text_file("t.yaml", TABLE, built).data == read_yaml_text("t.yaml", TABLE).data


def test_a_file_that_is_absent_is_not_missed(tmp_path: Path) -> None:
    assert parts_of_yaml(tmp_path / "absent.jsonl")


def test_only_the_same_bytes_under_the_same_name_are_taken(built: Path) -> None:
    assert not parts_of_yaml(built)
    assert parts_of_yaml(built, name="other.yaml"), "its places name the file"
    assert parts_of_yaml(built, content=TABLE + b"# stale\n")
    assert text_file("t.yaml", TABLE.replace(b"0.10", b"0.30"), built).data["rates"][0]["rate"] == "0.30"


def test_a_table_that_is_not_sound_yaml_is_not_built() -> None:
    with pytest.raises(TableError, match=r"t\.yaml:2: key 'a' is written twice"):
        build_tables({"t.yaml": b"a: 1\na: 2\n"})


SAYS = """
import sys
import ratecard
from datetime import date
card = ratecard.load_rate_card()
print(card.digest)
print("yaml" in sys.modules)
for model in card.tables.models.values():
    for version in model.versions:
        print(version.place, *(rate.source for charge in version.charges for rate in charge.rates))
        print(*(example.place for example in version.examples), *(f.source for f in getattr(version, "factors", ())))
print(*(line.place for limits in card.tables.limits for line in (*limits.text, *limits.types)))
print(card.at(date(2026, 10, 1)).quote_video({"model": "ovi-image-to-video"}).to_json())
"""


def test_a_package_with_its_built_tables_says_what_one_without_says(tmp_path: Path) -> None:
    """Digests and every `file:line`; the first does not even load the reader of YAML."""
    package = tmp_path / "ratecard"
    shutil.copytree(ROOT / "src" / "ratecard", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "pricing_tables", package / "pricing_tables")
    said = []
    for content in (None, build_tables(SHIPPED)):
        if content:
            (package / BUILT_TABLES).write_bytes(content)
        done = subprocess.run(
            [sys.executable, "-c", SAYS],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": "."},
        )
        said.append(done.stdout.splitlines())
    without, with_it = said
    assert (without.pop(1), with_it.pop(1)) == ("True", "False")
    assert with_it == without
