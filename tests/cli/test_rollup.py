"""`ratecard rollup`: what it says, and that what it keeps is usage of the other commands."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ratecard.cli import main
from reports import files

pytestmark = pytest.mark.usefixtures("few_shipped")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_a_roll_up_is_usage_and_a_refusal_names_the_one_that_would_do(tmp_path: Path) -> None:
    table, dearer, _ = map(str, files(tmp_path))
    kept = str(tmp_path / "kept it")
    done = run("rollup", table, "--out", kept)
    assert (done.exit_code, done.stdout) == (0, "")
    assert re.fullmatch(r"Files: 1 new\nKept .*kept it: 240 rows as [\d,]+ groups, [\d.]+ MB\n", done.stderr)
    asked = ("--candidate", dearer, "--by", "model,month")
    found = run("simulate", kept, *asked)
    assert (found.exit_code, found.stdout) == (0, run("simulate", table, *asked).stdout)
    refused = run("simulate", kept, "--candidate", dearer, "--by", "customer")
    assert (refused.exit_code, refused.stdout) == (1, "")
    words, _, command = refused.stderr.strip().partition(". This one would: ")
    assert words == f"the roll-up {kept} does not distinguish customer"
    advised = run(*shlex.split(command)[1:])
    assert advised.stderr.startswith("All files are read again: the arguments changed\nFiles: 1 new\n")
    found = run("simulate", kept, "--candidate", dearer, "--by", "customer")
    assert found.stdout == run("simulate", table, "--candidate", dearer, "--by", "customer").stdout
    assert run(*shlex.split(command)[1:]).stderr.startswith("Files: 1 not read again\nKept ")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nowhere.parquet", "--out", "kept"), 2, "There is no file nowhere.parquet"),
        (("usage.parquet",), 2, "Missing option '--out'"),
        (("usage.parquet", "--out", "kept", "--map", "customer"), 2, "'customer' is not NAME=COLUMN"),
        (("usage.parquet", "--out", "kept", "--by", "custmer"), 1, "no column 'custmer' to group by. Did you mean"),
        (("usage.parquet", "--out", "kept", "--where", "day <"), 2, "where"),
        (("usage.parquet", "--out", "kept", "--candidate", "none"), 2, "'none' names nothing that can be compared"),
        (("usage.parquet", "--out", "."), 1, "exists, and is not a roll-up. Name a folder that is new or empty"),
    ],
)
def test_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], status: int, said: str
) -> None:
    files(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run("rollup", *words)
    assert done.exit_code == status, done.output
    assert said in done.stderr
    assert not (tmp_path / "kept" / "manifest.json").exists()
