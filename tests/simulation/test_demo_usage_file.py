"""The command `ratecard demo-usage`: wrong use, and a file that is written whole or not at all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ratecard.cli import main
from ratecard.simulation.demo_usage import demo_usage
from reports import small_disk
from shipped import FEW
from token_tables import by_tokens, family, text_model


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["demo-usage", *words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "0", "--out", "usage.csv"], "0 is not in the range"),
        (["--rows", "9", "--out", "usage.cvs"], "'usage.cvs' ends in no known format. Did you mean '.csv'? Allowed: "),
        (["--rows", "9", "--out", "usage"], "Allowed: .parquet, .csv, .jsonl"),
        (["--rows", "9", "--out", "nowhere/usage.csv"], "Make nowhere, or name another file"),
        (["--rows", "9", "--out", "usage.csv", "--bad-share", "2"], "'2' is not a part of all rows"),
        (["--rows", "9", "--out", "usage.csv", "--fractional-share", "nan"], "from 0 to 1, like 0.001"),
        (["--rows", "9", "--out", "usage.csv", "--until", "2025-12-01"], "takes effect on 2025-12-01. Name a later"),
        (["--rows", "9", "--out", "usage.csv", "--until", "soon"], "'soon' is not a day. Write it like 2026-10-01"),
    ],
)
def test_wrong_use_says_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sent = run(*words)
    assert (sent.exit_code, message in sent.stderr) == (2, True), sent.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of one model, of which usage is soon made up."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "made-up.yaml").write_text(family(text_model("m", by_tokens("- {tokens: [input, output], rate: 1}"))))
    return folder


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path: Path, tables: Path) -> None:
    out = tmp_path / "usage.csv"
    words = ["--rows", "5", "--out", str(out), "--tables", str(tables)]
    out.write_text("mine", encoding="utf-8")
    sent = run(*words)
    assert (sent.exit_code, out.read_text(encoding="utf-8")) == (2, "mine")
    assert "--force" in sent.stderr
    sent = run(*words, "--force")
    assert sent.exit_code == 0
    assert "5 rows, 2026-01-01 to " in sent.stderr
    assert len(out.read_text(encoding="utf-8").splitlines()) == 6


def test_the_command_line_loads_no_engine_before_it_is_needed() -> None:
    code = "import ratecard.cli, sys; print(sorted({'duckdb', 'pyarrow'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, tables: Path) -> None:
    out = tmp_path / "usage.parquet"
    out.write_text("mine", encoding="utf-8")
    with small_disk():
        sent = run("--rows", "500", "--out", str(out), "--force", "--tables", str(tables))
    assert (sent.exit_code, sent.stderr) == (1, f"{out} cannot be written: File too large. It is as it was\n")
    assert [path.name for path in tmp_path.iterdir()] == ["usage.parquet"]
    assert out.read_text(encoding="utf-8") == "mine"


def test_an_interrupt_leaves_nothing(tmp_path: Path, tables: Path) -> None:
    words = ["demo-usage", "--rows", "50000000", "--out", str(tmp_path / "usage.csv"), "--tables", str(tables)]
    process = subprocess.Popen([sys.executable, "-m", "ratecard", *words], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in tmp_path.iterdir()):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.strip() == b"Interrupted"
    assert not list(tmp_path.iterdir())


def test_progress_ends_with_every_row(tmp_path: Path) -> None:
    seen: list[int] = []
    demo_usage(tmp_path / "usage.csv", 5_000, card=FEW, watch=seen.append)
    assert seen[-1] == 5_000
    assert seen == sorted(seen)
