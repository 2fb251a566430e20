"""Commands inside a checkout of this project use its tables, whatever copy of the package runs; and say which."""

import json
import os
import shutil
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from copied_tables import copy_with_shared
from ratecard import load_rate_card
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.processes.settings import Settings
from shipped import CARD

PROJECT = '[project]\nname = "ratecard"\n'
CANDIDATE = """
candidate: dearer
effective: 2027-06-01
why: a test
proposed_by: tests
changes:
  - scale: {model: ovi-image-to-video}
    factor: 2
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of this project whose prices were edited; we are in a folder of it."""
    tables = copy_with_shared(tmp_path / "checkout" / "pricing_tables", "video/ovi.yaml")
    ovi = tables / "video" / "ovi.yaml"
    ovi.write_text(ovi.read_text(encoding="utf-8").replace("0.22", "0.99"), encoding="utf-8")
    (tmp_path / "checkout" / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "checkout" / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "checkout" / "docs")
    return tables


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def price() -> str:
    return run("quote", "--at=2026-10-01", "--json", "--model=ovi-image-to-video").stdout


def test_a_command_uses_the_tables_of_the_checkout(checkout: Path) -> None:
    assert price() == '{"quote":0.99}\n'
    assert run("rate", "--at=2026-10-01", "--json", "--model=ovi-image-to-video").stdout == '{"quote":0.99}\n'
    assert "$0.99" in run("explain", "--at=2026-10-01", "ovi-image-to-video").stdout
    assert ",0.99," in run("sheet", "--every-request", "--at=2026-10-01", "ovi-image-to-video").stdout
    both = ["--tables", str(shipped_folder())]
    named = run("quote", "--at=2026-10-01", "--json", "--model=ovi-image-to-video", *both)
    assert named.stdout == '{"quote":0.22}\n'


def test_the_library_never_looks_at_the_working_directory(checkout: Path) -> None:
    prices = CARD.at(date(2026, 10, 1))
    assert str(prices.quote_video({"model": "ovi-image-to-video"}).total) == "0.22"


@pytest.mark.parametrize("project", ['[project]\nname = "another"\n', None])
def test_another_project_is_not_a_checkout(checkout: Path, project: str | None) -> None:
    if project is None:
        (checkout.parent / "pyproject.toml").unlink()
    else:
        (checkout.parent / "pyproject.toml").write_text(project, encoding="utf-8")
    assert price() == '{"quote":0.22}\n'
    assert run("check").stderr == f"Tables: {shipped_folder()}\n"


def test_the_innermost_project_decides(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = checkout.parent / "docs" / "inner"
    copy_with_shared(inner / "pricing_tables", "video/ovi.yaml")
    (inner / "pyproject.toml").write_text('[project]\nname = "another"\n', encoding="utf-8")
    monkeypatch.chdir(inner)
    assert price() == '{"quote":0.22}\n'


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_check_says_which_folder_it_read_and_sees_its_edits(checkout: Path, flags: list[str]) -> None:
    sent = run("check", *flags)
    assert (sent.exit_code, sent.stderr) == (0, f"Tables: {checkout}\n")
    assert load_rate_card(checkout).digest in sent.stdout
    assert CARD.digest not in sent.stdout
    (checkout / "video" / "ovi.yaml").write_text("family: x\n", encoding="utf-8")
    sent = run("check", *flags)
    assert (sent.exit_code, sent.stderr.splitlines()[0]) == (1, f"Tables: {checkout}")
    assert "video/ovi.yaml" in sent.stdout
    assert not flags or "details" in json.loads(sent.stdout)


def test_promote_says_which_folder_it_writes(checkout: Path, tmp_path: Path) -> None:
    shutil.copy(shipped_folder() / "video" / "ovi.yaml", checkout / "video" / "ovi.yaml")
    (tmp_path / "dearer.yaml").write_text(CANDIDATE, encoding="utf-8")
    sent = run("promote", str(tmp_path / "dearer.yaml"))
    assert sent.exit_code == 0, sent.output
    assert sent.stderr == f"Tables: {checkout}\n"
    assert "2027-06-01" in (checkout / "video" / "ovi.yaml").read_text(encoding="utf-8")


def test_simulate_says_which_folder_its_prices_are_from(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text(
        "type,model,timestamp\nvideo,ovi-image-to-video,2027-06-02T00:00:00Z\n", encoding="utf-8"
    )
    (tmp_path / "dearer.yaml").write_text(CANDIDATE, encoding="utf-8")
    usage, out = str(tmp_path / "usage.csv"), str(tmp_path / "report.json")
    sent = run("simulate", usage, "--candidate", str(tmp_path / "dearer.yaml"), "--out", out)
    assert sent.exit_code == 0, sent.output
    assert sent.stderr.endswith(f"Tables: {checkout}\n")
    assert "0.99" in Path(out).read_text(encoding="utf-8")
    folder = str(shipped_folder())
    other = run("simulate", usage, "--current", str(checkout), "--candidate", folder, "--out", out)
    assert "Tables: " not in other.stderr, "both sides were named"


def test_serve_serves_the_checkout_and_says_so(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Settings] = []
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr("ratecard.processes.process.run_server", served.append)
    sent = run("serve")
    assert sent.exit_code == 0, sent.output
    assert sent.stderr.startswith(
        f"Tables: {checkout}\n{len(load_rate_card(checkout).tables.models)} models of tables "
    )
    assert served[0].tables == checkout
