"""The command as a process of its own, and in a terminal of 80 columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from forks import run, start
from ratecard.cli import main

RATECARD = [sys.executable, "-m", "ratecard"]
COLUMNS = 80
DAY = "--at=2026-09-29"


def process(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RATECARD, *words], input=stdin, capture_output=True, check=False)


def plain(seen: str) -> str:
    """Return the text of a terminal without bold."""
    return re.sub(r"\x1b\[\d*m", "", seen)


def terminal(*words: str) -> str:
    """Return the output on a terminal of 80 columns; its lines end as those of files do."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    started = start(
        ["ratecard", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment | {"TERM": "xterm"}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        seen += piece
    started.wait()
    os.close(ours)
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["quote", "--model=ovi-image-to-video"], 0),
        (["quote", "--model=ovi-image-to-vide"], 1),
        (["quote", "--model=ovi-image-to-video", "--duration=9s"], 1),
        (["quote"], 2),
        (["quote", "--sound=loud"], 2),
        (["explain", "no-such-model"], 1),
        (["sheet", "no-such-model"], 1),
        (["check", "no-such-folder"], 2),
        (["models", "--help"], 0),
        (["--version"], 0),
        (["nonsense"], 2),
        ([], 2),
    ],
)
def test_the_exit_status_says_what_happened(words: list[str], status: int) -> None:
    assert CliRunner().invoke(main, words).exit_code == status


@pytest.mark.parametrize(("words", "status"), [(["--version"], 0), (["sheet", "no-such-model"], 1), (["nonsense"], 2)])
def test_the_process_ends_with_the_status_of_the_command(words: list[str], status: int) -> None:
    assert process(*words).returncode == status


def test_a_body_and_a_batch_come_from_standard_input() -> None:
    assert process("quote", "--json", "-", stdin=b'{"model": "ovi-image-to-video"}').stdout == b'{"quote":0.22}\n'
    batch = process("quote", "--batch", "-", stdin=b'{"model": "ovi-image-to-video"}\n{}\n')
    assert batch.returncode == 1
    assert batch.stdout.startswith(b'{"quote":0.22}\n{"error":')
    assert batch.stderr == b"2 rows: 1 quoted, 1 refused\n"


def test_a_reader_that_stops_early_sees_no_traceback() -> None:
    command = f"'{sys.executable}' -m ratecard sheet | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert done.stdout.startswith(b"name,model,")
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_dollars() -> None:
    done = subprocess.run(
        [*RATECARD, "quote", "--model=ovi-image-to-video"],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert b"$0.22" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["quote", DAY, "--model=topaz-video-upscale", "--duration=5s", "--locale=ar_EG"],
        ["quote", DAY, '{"model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"}'],
        ["explain", DAY, "topaz-video-upscale"],
        ["explain", DAY, "seedance-2-0-reference-to-video-basic"],
    ],
)
def test_eighty_columns_are_enough_and_no_word_is_broken(words: list[str]) -> None:
    piped = run(["ratecard", *words]).stdout.decode()
    seen = plain(terminal(*words))

    assert max(map(cell_len, seen.splitlines()[1:])) <= COLUMNS
    assert set(seen.split()) == set(piped.split())


def test_models_fit_eighty_columns() -> None:
    assert max(map(cell_len, plain(terminal("models", DAY)).splitlines())) <= COLUMNS


def test_a_heading_is_bold_on_a_terminal_only() -> None:
    assert "\x1b[1m" in terminal("models", "ovi")
    assert b"\x1b" not in run(["ratecard", "models", "ovi"]).stdout


def test_a_batch_shows_its_progress_on_a_terminal_and_then_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "bodies.jsonl"
    path.write_text('{"model": "ovi-image-to-video"}\n' * 2_000, encoding="utf-8")

    seen = terminal("quote", "--batch", str(path))

    assert "Quoting" in seen
    assert seen.count('{"quote":0.22}\n') == 2_000
    assert seen.index("Quoting") < seen.index('{"quote"')
    assert seen.endswith("2,000 rows: 2,000 quoted, 0 refused\n")
