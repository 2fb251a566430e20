"""Small tables, edited as text, as cards, folders and git repositories: for the tests of what changed."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ratecard import RateCard
from ratecard.load.folder import shipped_folder, tables_from

SOUND = Path(__file__).parent / "tables" / "sound"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOUND.glob("*.yaml"))}
# Limits are not inherited, nor are the service parameters of the vocabulary.
_OWN = {name: (shipped_folder() / name).read_text(encoding="utf-8") for name in ("limits.yaml", "vocabulary.yaml")}
SHARED = ("units.yaml", "meters.yaml", "vocabulary.yaml", "limits.yaml")
# (file, old text, new text)
Edit = tuple[str, str, str]
SECOND = "per_second.yaml"


def edited(*edits: Edit, files: Mapping[str, str] = FILES) -> dict[str, str]:
    """The files with these edits; each must fit exactly one place."""
    shared = {name: (shipped_folder() / name).read_text(encoding="utf-8") for name in SHARED}
    found = {**shared, **files}
    for name, old, new in edits:
        assert found[name].count(old) == 1, f"{old!r} must stand once in {name}"
        found[name] = found[name].replace(old, new)
    return found


def card_of(files: Mapping[str, str]) -> RateCard:
    shared = {name: (shipped_folder() / name).read_bytes() for name in SHARED}
    return RateCard(tables_from({**shared, **{name: text.encode() for name, text in files.items()}}))


def newer(name: str, day: str, *edits: tuple[str, str], files: Mapping[str, str] = FILES, more: str = "") -> Edit:
    """A new version above the newest one of a file with one model: a copy from a day on, with these edits."""
    text = files[name]
    start = text.index("      - effective:")
    copy = text[start:]
    next_one = copy.find("      - effective:", 1)
    copy = copy if next_one < 0 else copy[:next_one]
    old_day = copy.partition("effective: ")[2].partition("\n")[0]
    copy = copy.replace(f"effective: {old_day}\n", f"effective: {day}\n{more}")
    for old, new in edits:
        assert copy.count(old) == 1, old
        copy = copy.replace(old, new)
    return name, "    versions:\n", f"    versions:\n{copy.rstrip()}\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name in (path.name for path in folder.glob("*.yaml")):
        (folder / name).unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**_OWN, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def git(folder: Path, *words: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    person = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **own, **person}
    ).stdout


def repository(root: Path, *commits: Mapping[str, str], place: str = "pricing_tables") -> Path:
    """A repository with a folder of tables, one commit for each set of files; the folder."""
    folder = root / place
    folder.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for files in commits:
        write(folder, files)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "tables")
    return folder
