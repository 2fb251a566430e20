"""No option is ignored: each option of each command, in each mode, is used or refused by its name."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ratecard.cli import main
from ratecard.cli.import_prices import import_
from ratecard.cli.modes import MODES, OF_SIMULATE, Mode, refuse_unused
from reports import files

# The words that ask for each mode of a command, and a word for each option that cannot take `x`.
ASKED = {
    ("simulate", "disputes"): "USAGE --disputes out.csv",
    ("simulate", "tornado"): "USAGE --tornado 5%",
    ("simulate", "revenue"): "USAGE",
    ("simulate", "candidates"): "USAGE --candidate 2026-12-01",
    ("simulate", "statements"): "USAGE --candidate 2026-12-01 --contracts --statements out.csv",
    ("simulate", "rows"): "USAGE --candidate 2026-12-01 --contracts --statements out.csv --engine spark",
    ("simulate", "duckdb"): "USAGE --candidate 2026-12-01",
    ("simulate", "folders"): "USAGE --current . --candidate FILE",
    ("rollup", "duckdb"): "USAGE --out kept",
    ("diff", "days"): "2026-10-01 2026-11-01",
    ("diff", "folders"): ". FILE",
    ("quote", "json"): "{} --json",
    ("quote", "batch"): "--batch rows.jsonl",
    ("rate", "json"): "{} --json",
    ("rate", "batch"): "--batch rows.jsonl",
    ("explain", "json"): "kling --json",
}
OTHER_MODES = {"candidates": "candidates", "tornado": "tornado", "disputes": "disputes"}
GIVEN = {
    "columns": "a=b",
    "tables": ".",
    "tornado": "5%",
    "rise": "5%",
    "max_change": "5%",
    "max_rise": "5%",
    "engine": "duckdb",
    "locale": "de_DE",
    "at": "2026-10-01",
    "dialect": "litellm",
    "kind": "json",
    "source": "seconds=1",
    "currency": "EUR",
    "memory": "1GB",
}


# Commands keep the help option of the first context that they are given: it has the settings of `ratecard`.
PARENT = click.Context(main, info_name="ratecard", **main.context_settings)


def command(name: str) -> click.Command:
    made = main.get_command(PARENT, name)
    assert made is not None
    return made


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").touch()


def test_every_mode_is_asked_for_here_and_every_option_of_simulate_is_in_its_table() -> None:
    assert {(name, mode) for name, modes in MODES.items() for mode in modes} <= {*ASKED}
    assert {str(parameter.name) for parameter in command("simulate").params} == OF_SIMULATE


@pytest.mark.parametrize(("name", "mode"), ASKED)
def test_each_option_is_used_or_refused(name: str, mode: str) -> None:
    unused = MODES.get(name, {}).get(mode, Mode("", frozenset())).unused
    wrong = []
    for option in command(name).params:
        # A word that asks for another mode is tested by itself.
        if isinstance(option, click.Option) and (option.name not in OTHER_MODES or mode in OTHER_MODES.values()):
            said, written = refusal(name, mode, option), option.opts[0]
            # Where it is used, it may still be refused for the words that ask for the mode.
            named = (
                "leave out" in said if option.name in unused else written in said.partition("leave out ")[2].split(", ")
            )
            if named != (option.name in unused):
                wrong.append((written, said))
    assert not wrong


def refusal(name: str, mode: str, option: click.Option) -> str:
    """What is said of an option that is given in a mode; empty where it is used."""
    words = ASKED[name, mode].split()
    if option.opts[0] not in words:
        words += [option.opts[0]] if option.is_flag else [option.opts[0], GIVEN.get(str(option.name), "2026-12-01")]
    if option.name == "master" and mode != "duckdb":
        words += ["--engine", "spark"]
    context = command(name).make_context(name, words, parent=PARENT)
    try:
        refuse_unused(context)
    except click.UsageError as error:
        return error.message
    return ""


def test_an_engine_makes_its_options_used() -> None:
    refuse_unused(
        command("simulate").make_context("simulate", ["u", "--engine", "spark", "--master", "local"], parent=PARENT)
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("--rise 5%", 2, "without a candidate nothing is compared: add --candidate, or leave out --rise"),
        ("--tornado 5% --rise 5%", 2, "--tornado moves the current prices, family by family; leave out --rise"),
        ("--candidate dearer.yaml --by model --rise 5%", 1, "--rise needs to know the customers"),
        ("--candidate dearer.yaml --master local", 2, "add --engine spark, or leave out --master"),
    ],
)
def test_what_is_said(words: str, status: int, said: str, tmp_path: Path) -> None:
    files(tmp_path)
    done = CliRunner().invoke(main, ["simulate", "usage.parquet", *words.split()])
    assert (done.exit_code, said in done.stderr) == (status, True), done.stderr


def test_a_column_of_customers_is_named_once(tmp_path: Path) -> None:
    files(tmp_path)
    words = ["whatif", "usage.parquet", "--customer", "a", "--map", "customer=b"]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, "name one column" in done.stderr) == (2, True), done.stderr


COMMANDS = {name: command(name) for name in main.list_commands(PARENT)}
COMMANDS |= {f"import {name}": list_command for name, list_command in import_.commands.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(name: str) -> None:
    """The last does not win in silence."""
    wrong = []
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option) and not (option.multiple or option.is_flag):
            done = CliRunner().invoke(main, [*name.split(), option.opts[0], "a", option.opts[0], "b"])
            said = f"{option.opts[0]} is given 2 times, and takes one value." in done.stderr
            if (done.exit_code, said) != (2, True):
                wrong.append((option.opts[0], done.output))
    assert not wrong


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_empty_value_does_not_count_as_no_option(name: str) -> None:
    wrong = []
    for option in COMMANDS[name].params:
        is_setting = name == "serve" and option.type is click.STRING
        if isinstance(option, click.Option) and not (option.is_flag or is_setting or option.name == "by"):
            done = CliRunner().invoke(main, [*name.split(), "", option.opts[0], ""])
            words = "It is empty. Give a value, or leave the option out"
            said = f"Invalid value for '{option.opts[0]}': {words}" in " ".join(done.stderr.split())
            if (done.exit_code, said) != (2, True):
                wrong.append((option.opts[0], done.output))
    assert not wrong
