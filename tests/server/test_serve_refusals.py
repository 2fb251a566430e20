"""What `ratecard serve` refuses before it starts."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from serving import EVERY_ADDRESS, copy_tables

from ratecard.cli import main
from ratecard.cli import serve as command

GROK = "video/grok-imagine.yaml"


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is not refused prints a line instead of serving."""
    monkeypatch.delenv("RATECARD_API_KEYS", raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr("ratecard.processes.process.run_server", lambda _: click.echo("it runs"))


def refused(*arguments: str | Path, **environment: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["serve", *map(str, arguments)], env=environment)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--host", EVERY_ADDRESS], {}, "0.0.0.0 is a public address: set RATECARD_API_KEYS"),
        (["--host", "::"], {}, ":: is a public address"),
        (["--host", "192.0.2.1"], {}, "192.0.2.1 is a public address"),
        (["--no-auth"], {"RATECARD_API_KEYS": "sesame"}, "Give one of them"),
        ([], {"RATECARD_API_KEYS": " "}, "RATECARD_API_KEYS holds no key"),
        (["--base-path", "api"], {}, "must begin with /"),
        (["--base-path", "/api/"], {}, "not end with one"),
        (["--workers", "0"], {}, "0 is not in the range"),
        (["--port", "65536"], {}, "65536 is not in the range"),
        (["--host", "no such host"], {}, "is not an address"),
        (["--database", "mysql://x"], {}, "mysql"),
        ([], {"RATECARD_TABLES": "no such folder"}, "FOLDER: 'no such folder' does not exist"),
    ],
)
def test_wrong_use_is_refused(arguments: list[str], environment: dict[str, str], words: str) -> None:
    status, said = refused(*arguments, **environment)
    assert (status, "it runs" in said) == (2, False), said
    assert words in said


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ([], {}),
        (["--host", "localhost"], {}),
        (["--host", "::1"], {}),
        (["--host", EVERY_ADDRESS, "--no-auth"], {}),
        (["--host", EVERY_ADDRESS], {"RATECARD_API_KEYS": "sesame"}),
        (["--base-path", ""], {}),
    ],
)
def test_what_is_safe_runs(arguments: list[str], environment: dict[str, str]) -> None:
    status, said = refused(*arguments, **environment)
    assert (status, "it runs" in said) == (0, True), said


def test_unsound_tables_end_with_1_and_their_lines(tmp_path: Path) -> None:
    tables = copy_tables(tmp_path)
    (tables / GROK).write_text("nonsense")
    status, said = refused(tables)
    assert status == 1
    assert f"{GROK}:1:" in said


def test_the_command_line_loads_the_server_only_to_serve() -> None:
    code = "import ratecard.cli, sys; print({'fastapi', 'uvicorn', 'sqlalchemy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", ["uvicorn", "fastapi", "watchfiles"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def without(asked: str) -> Any:
        return None if asked == name else find_spec(asked)

    monkeypatch.setattr(command, "find_spec", without)
    status, said = refused()
    assert (status, "it runs" in said) == (2, False)
    assert f"The server needs {name}: pip install 'ratecard[server]'" in said
