"""`ratecard whatif` without its page: wrong uses, and usage that cannot be read."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from small_usage import DAY, write_usage

from ratecard.cli import main, simulate_run, whatif
from ratecard.cli import simulate as simulate_command
from ratecard.simulation.rollup import rollup
from ratecard.simulation.simulate import simulate
from ratecard.whatif import app as serving
from ratecard.whatif.draft import Draft


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_usage(tmp_path_factory.mktemp("usage") / "usage.csv")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["whatif", *words])


def test_help_teaches() -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    for words in ("ratecard whatif usage.parquet", "--customer COLUMN", "until Ctrl-C", "(tomorrow)"):
        assert words in shown.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Missing argument 'USAGE...'"),
        (("no-such-file.parquet",), "There is no file no-such-file.parquet"),
        (("no-such-*.parquet",), "there is no file no-such-*.parquet"),
        (("USAGE", "--memory", "lots"), "'lots' is not an amount of memory"),
        (("USAGE", "--map", "customer"), "'customer' is not NAME=COLUMN"),
        (("USAGE", "--at", "2026-10-01T18:00:00Z"), "'2026-10-01T18:00:00Z' is not a day. Write it like 2026-10-01"),
        (("USAGE", "--cost", "no-such-folder"), "'no-such-folder' names nothing that can be compared"),
        (("USAGE", "--port", "70000"), "70000"),
        (("USAGE", "--where", "customer = beta"), "Text is in quotes: 'beta'"),
        (("USAGE", "--since", "soon"), "soon"),
        (("USAGE", "--since", "2026-10-04", "--until", "2026-10-04"), "no day is since 2026-10-04"),
    ],
)
def test_wrong_uses(words: tuple[str, ...], said: str, usage: Path) -> None:
    answered = run(*(str(usage) if word == "USAGE" else word for word in words))
    assert answered.exit_code == 2
    assert said in answered.output


def test_a_port_that_is_taken(usage: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answered = run(str(usage), "--port", str(port))
    assert answered.exit_code == 2
    assert f"port {port} cannot be used: Address already in use" in answered.output


@pytest.mark.parametrize("missing", ["duckdb", "pyarrow", "nicegui"])
def test_what_to_install(missing: str, usage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatif, "find_spec", lambda name: None if name == missing else object())
    answered = run(str(usage))
    assert answered.exit_code == 2
    assert f"The page needs {missing}: pip install 'ratecard[simulate]'" in answered.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("type,model\n", "the usage has no rows"),
        ("model\nx\n", "1 of 1 rows cannot be priced:"),
    ],
)
def test_usage_that_cannot_be_priced(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(content, encoding="utf-8")
    answered = run(str(path))
    assert answered.exit_code == 1
    assert said in answered.output


def test_the_report_of_a_saved_candidate_is_of_the_same_usage() -> None:
    where, days = "customer = 'beta'", ("2026-10-02", "2026-10-04")
    settings = {"columns": {"customer": "account"}, "where": where, "since": days[0], "until": days[1]}
    words_of = whatif.command(
        ["my usage.csv"],
        {**settings, "memory": "1GB", "contracts": True, "tables": Path("tables"), "cost": "costs"},
    )
    chosen = f"--where {shlex.quote(where)} --since {days[0]} --until {days[1]}"
    words = f"ratecard simulate 'my usage.csv' --map customer=account {chosen} --contracts --tables tables --cost costs"
    assert words_of == words


@pytest.mark.parametrize(
    ("command", "reads", "engine"),
    [
        (simulate_command.simulate, simulate_run.run, simulate),
        (whatif.whatif, whatif.whatif.callback, simulate),
        (simulate_command.rollup, simulate_command.rollup.callback, rollup),
    ],
    ids=["simulate", "whatif", "rollup"],
)
def test_an_option_that_the_command_does_not_read_is_an_argument_of_the_library(
    command: click.Command, reads: Callable[..., Any], engine: Callable[..., Any]
) -> None:
    """A further option is defined once for all commands, and passed on by its name."""
    assert command.callback
    read = {*signature(reads).parameters, *signature(command.callback).parameters}
    passed_on = {str(option.name) for option in command.params} - read
    assert {"where", "columns", "memory"} <= passed_on <= {*signature(engine).parameters}


def test_the_rows_that_are_chosen_are_those_of_simulate(usage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("--where", "customer = 'beta'", "--since", "2026-10-02", "--until", "2026-10-05")
    shown: list[str] = []
    monkeypatch.setattr(serving, "serve_page", lambda pricer, **_: shown.append(pricer.answer(Draft(DAY)).panel.scope))
    answered = run(str(usage), "--at", DAY, *chosen)
    assert answered.exit_code == 0, answered.output
    words = "(9 of 70 rows: where customer = 'beta', since 2026-10-02, until 2026-10-05)"
    assert words in shown[0]
    with simulate(usage, where="customer = 'beta'", since="2026-10-02", until="2026-10-05") as found:
        assert (found.rows, found.reading.found) == (9, 70)


def test_a_kill_while_it_reads_leaves_nothing(tmp_path: Path) -> None:
    write_usage(tmp_path / "usage.csv")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "ratecard", "whatif", "usage.csv", "--no-open", "--at", DAY]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while not list(tmp_path.glob("ratecard-*")) and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert [path.name for path in tmp_path.iterdir()] == ["usage.csv"]
