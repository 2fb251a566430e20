"""What was made of the shipped tables when a wheel was built: used for the same bytes, and only then."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import sleep

import pytest

from ratecard.base.errors import TableError
from ratecard.load import built as built_module
from ratecard.load import folder
from ratecard.load.built import BUILT_TABLES, built_folder, text_file
from ratecard.load.folder import build_tables, read_folder, tables_from
from ratecard.load.yaml_text import read_yaml_text
from ratecard.tables.card import AnyModel, ModelsOnDemand, Tables

ROOT = Path(__file__).parent.parent.parent
SHIPPED = read_folder()
NAME = "video/ovi.yaml"
TABLE = b"""family: f
models:
  - model: m
    aliases: [also-m]
    name: M
    type: speech
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made up
        charges:
          - {charge: speech, method: per-character, unit: mcharacter, rates: [{rate: 0.10}]}
        rounding: none
        examples:
          - {usage: {characters: 1000000}, total: 0.10}
  - model: n
    name: N
    type: speech
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made up
        charges:
          - {charge: speech, method: per-character, unit: mcharacter, rates: [{rate: 2}]}
        rounding: none
        examples:
          - {usage: {characters: 1000000}, total: 2}
"""


def parts_of_yaml(built: Path, name: str = "t.yaml", content: bytes = TABLE) -> bool:
    """Return True if the YAML itself was read: then the lines are there before anyone needs them."""
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
    table.fault(("models", 1, "name"), "is wrong")
    assert [str(fault) for fault in table.faults] == ["t.yaml:18: is wrong"]


def signed(content: bytes) -> bytes:
    """A file whose first line fits the others, as whoever makes such a file would write it."""
    return sha256(content).hexdigest().encode() + b"\n" + content


def changed_head(**parts: object) -> Callable[[bytes], bytes]:
    def change(written: bytes) -> bytes:
        _, head, lines = written.split(b"\n", 2)
        kept = {name: part for name, part in {**json.loads(head), **parts}.items() if part is not None}
        return signed(json.dumps(kept).encode() + b"\n" + lines)

    return change


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda written: b"",
    "cut off": lambda written: written[:-9],
    "only its head": lambda written: written.partition(b"\n")[0],
    "a changed value": lambda written: written.replace(b'"0.10"', b'"0.20"'),
    "a changed digest": lambda written: written.replace(b'"digest": "', b'"digest": "0'),
    "a further line": lambda written: written + b"\n{}",
    "of other places": changed_head(placed_by={}),
    "without the digest of the tables": changed_head(digest=None),
    "without the models of files": changed_head(files=None),
    "tables without digests": changed_head(tables=[1]),
    "a table more": changed_head(tables=[["t.yaml", "0"], ["u.yaml", "0"]]),
    "no JSON": lambda written: signed(b"tables" + written.partition(b"\n")[2]),
    "a list": lambda written: signed(b"[]\n" + written.partition(b"\n")[2]),
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
    assert built_folder({"t.yaml": TABLE}, built) is None


def test_a_file_that_is_absent_is_not_missed(tmp_path: Path) -> None:
    assert parts_of_yaml(tmp_path / "absent.jsonl")


def test_only_the_same_bytes_under_the_same_name_are_taken(built: Path) -> None:
    assert not parts_of_yaml(built)
    assert parts_of_yaml(built, name="other.yaml"), "its places name the file"
    assert parts_of_yaml(built, content=TABLE + b"# stale\n")
    [model, _] = text_file("t.yaml", TABLE.replace(b"0.10", b"0.30"), built).data["models"]
    assert model["versions"][0]["charges"][0]["rates"][0]["rate"] == "0.30"


UNSOUND = {
    "YAML": (b"aliases: [also-m]", b"aliases: []\n    aliases: [also-m]", "5: key 'aliases' is written twice"),
    "a value": (b"type: speech", b"type: song", "6: type 'song' is not known"),
    "a rule": (b"currency: USD", b"currency: EURO", "7: currency 'EURO' is not an ISO 4217 code"),
    "a rule between models": (b"model: n", b"model: m", "17: model 'm' is in t.yaml too"),
}


@pytest.mark.parametrize("fault", UNSOUND)
def test_only_sound_tables_are_built(fault: str) -> None:
    right, wrong, message = UNSOUND[fault]
    with pytest.raises(TableError, match=message):
        build_tables({"t.yaml": TABLE.replace(right, wrong, 1)})


# This function does not use the tables that tests remember (`shipped.remembered`).
read_tables: Callable[[dict[str, bytes]], Tables] = vars(tables_from)["__wrapped__"]


@pytest.fixture
def in_package(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folder, "built_folder", partial(built_folder, built=built))
    monkeypatch.setattr(folder, "text_file", partial(text_file, built=built))
    return built


def test_a_model_of_a_built_folder_is_made_when_it_is_asked_for(in_package: Path) -> None:
    assert in_package.exists()
    tables = read_tables({"t.yaml": TABLE})
    made = vars(tables.models)["_made"]
    assert list(tables.models) == ["m", "n"]
    assert "m" in tables.models
    assert tables.models.get("x") is None
    assert not made
    assert tables.named("also-m") is not None
    assert list(made) == ["m"]
    assert tables.models["n"] is tables.models["n"]


def test_a_model_is_made_once_for_all_threads() -> None:
    [model, _] = tables_from({"t.yaml": TABLE}).models.values()
    inside, go, calls = Event(), Event(), list[str]()

    def make(name: str) -> AnyModel:
        calls.append(name)
        inside.set()
        go.wait(10)
        return model.model_copy()

    models = ModelsOnDemand(["m"], make)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(models.__getitem__, "m") for _ in range(2)]
        inside.wait(10)
        sleep(0.05)  # without the lock, the other thread is inside too now
        go.set()
    assert answers[0].result() is answers[1].result()
    assert calls == ["m"]


def test_a_built_folder_is_what_its_yaml_is(in_package: Path) -> None:
    tables = read_tables({"t.yaml": TABLE})
    in_package.write_bytes(b"")
    built_module._built.cache_clear()
    of_yaml = read_tables({"t.yaml": TABLE})
    assert not isinstance(of_yaml.models, type(tables.models))
    assert tables == of_yaml
    assert (tables.digest, tables.aliases) == (of_yaml.digest, of_yaml.aliases)
    assert replace(tables, units={**tables.units}).digest == of_yaml.digest


ANOTHER = TABLE.replace(b"model: m", b"model: k").replace(b"also-m", b"also-k")
OTHER_FOLDERS = {
    "a changed file": ({"t.yaml": TABLE.replace(b"USD", b"USDD", 1)}, "t.yaml:7: currency 'USDD' is not an ISO"),
    "a file more": ({"t.yaml": TABLE, "u.yaml": ANOTHER}, "u.yaml:17: model 'n' is in t.yaml too"),
    "the file under another name": ({"u.yaml": TABLE.replace(b"also-m", b"m")}, "u.yaml:4: alias 'm' is the model's"),
}


@pytest.mark.parametrize("other", OTHER_FOLDERS)
def test_a_folder_with_another_file_is_checked(other: str, in_package: Path) -> None:
    assert in_package.exists()
    contents, message = OTHER_FOLDERS[other]
    with pytest.raises(TableError, match=message):
        read_tables(contents)


SAYS = """
import sys
import ratecard
from datetime import date
card = ratecard.load_rate_card()
print(card.digest)
print("yaml" in sys.modules)
tables = card.tables
print(dict(tables.families), dict(tables.files), dict(tables.aliases), list(tables.models))
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
