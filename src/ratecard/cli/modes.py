"""The modes of each command, and the options that each of them does not use: these are refused, never ignored."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from ratecard.base.errors import InstantError
from ratecard.base.instants import read_instant
from ratecard.cli.simulate_options import SPARK


class Mode(NamedTuple):
    """One way to run a command: the parameters that it does not use, and why."""

    words: str
    unused: frozenset[str]


# The parameters of `simulate` in each mode: with --disputes, with --tornado, without a candidate, and with one.
OF_DISPUTES = frozenset(
    ("usage", "disputes", "current", "tables", "columns", "where", "since", "until", "currency", "memory")
)
_OF_TORNADO = (OF_DISPUTES - {"disputes"}) | {"tornado", "dialect", "out", "strict", "show_sql", "engine", "master"}
_OF_TORNADO |= {"locale"}
_OF_REVENUE = (_OF_TORNADO - {"tornado"}) | {"by", "cost", "contracts", "statements", "volumes", "pace", "bridge"}
_OF_CANDIDATES = _OF_REVENUE | {"candidates", "successors", "remap", "elasticities", "until_target", "rise"}
_OF_CANDIDATES |= {"max_change", "max_rise"}
OF_SIMULATE = _OF_CANDIDATES | {"tornado", "disputes"}

_NOT_OF_MONTHS = frozenset({"where", "since", "until", "successors", "remap"})

_DUCKDB = Mode("only Spark runs at a master: add --engine spark, or", frozenset({"master"}))
_FOLDERS = Mode("what is compared names all tables that are read;", frozenset({"tables"}))
_JSON = Mode("JSON has numbers as programs read them;", frozenset({"locale"}))
_BATCH = Mode("--batch answers with JSON, whose numbers are as programs read them;", frozenset({"locale"}))
MODES: Mapping[str, Mapping[str, Mode]] = {
    "simulate": {
        "disputes": Mode("--disputes compares a bill with the prices of its own days;", OF_SIMULATE - OF_DISPUTES),
        "tornado": Mode("--tornado moves the current prices, family by family;", OF_SIMULATE - _OF_TORNADO),
        "revenue": Mode("without a candidate nothing is compared: add --candidate, or", OF_SIMULATE - _OF_REVENUE),
        "statements": Mode("--statements are of whole months, row by row;", _NOT_OF_MONTHS),
        "rows": Mode("--statements are of whole months, row by row, not by Spark;", _NOT_OF_MONTHS | {"engine"}),
        "duckdb": _DUCKDB,
        "folders": _FOLDERS,
    },
    "rollup": {"duckdb": _DUCKDB},
    "diff": {"days": Mode("two dates say already what to compare;", frozenset({"at"})), "folders": _FOLDERS},
    "quote": {"json": _JSON, "batch": _BATCH},
    "rate": {"json": _JSON, "batch": _BATCH},
    "explain": {"json": _JSON},
}


def refuse_unused(context: click.Context) -> None:
    """Refuse the options of the command line that are not used in the modes that it asks for."""
    command = str(context.command.name)
    for name in _modes_of(command, context.params):
        mode = MODES[command][name]
        options = [
            parameter.opts[0]
            for parameter in context.command.params
            if parameter.name in mode.unused
            if context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        ]
        if options:
            raise click.UsageError(f"{mode.words} leave out {', '.join(options)}", context)


class CommandOfModes(click.Command):
    """A command that first refuses the options that its modes do not use."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        refuse_unused(ctx)
        return super().invoke(ctx)


def _modes_of(command: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the modes that these arguments ask for."""
    if command == "simulate":
        if mode := next((name for name in ("disputes", "tornado") if given[name] is not None), None):
            yield mode
        elif not given["candidates"]:
            yield "revenue"
        if given["statements"] is not None:
            yield "rows" if given["engine"] == SPARK else "statements"
        if _are_paths(given["current"], *given["candidates"], *filter(None, (given["cost"],))):
            yield "folders"
    if "engine" in given and given["engine"] != SPARK:
        yield "duckdb"
    if command == "diff":
        if is_date(given["old"]) and is_date(given["new"]):
            yield "days"
        if _are_paths(given["old"], given["new"]) and any(Path(given[side]).is_dir() for side in ("old", "new")):
            yield "folders"
    if given.get("as_json"):
        yield "json"
    if given.get("batch"):
        yield "batch"


def _are_paths(*given: str | None) -> bool:
    """Return True if each word names a folder, a file or several files (`a.yaml+b.yaml`), or is a share (60%)."""
    return all(
        words is not None and (words.endswith("%") or all(Path(part).exists() for part in words.split("+")))
        for words in given
    )


def is_date(given: str | None) -> bool:
    """Return True for a date, which means the prices of the tables on that day."""
    try:
        return given is not None and bool(read_instant(given))
    except InstantError:
        return False
