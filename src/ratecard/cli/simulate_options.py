"""Read and check the options of `ratecard simulate`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import click

from ratecard.base.errors import SimulationError
from ratecard.base.files import beside
from ratecard.base.money import no_currency
from ratecard.cli.options import Decorator, as_wrong_use, options
from ratecard.requests.dialects import TABLE_DIALECTS
from ratecard.simulation.rows.files import files_of, is_address, is_pattern, is_read_of, kind_to_write
from ratecard.simulation.spill import DEFAULT_MEMORY, MEMORY_BESIDE_SPARK

ENDINGS = (".html", ".xlsx", ".csv", ".parquet", ".json")
TORNADO_ENDINGS = (".html", ".csv", ".json")
SPARK = "spark"
_CONDITION = "region = 'eu' and not n > 4"


def _pairs(given: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Read `NAME=VALUE` as often as an option was given; `form` says how it is written."""
    values: dict[str, str] = {}
    for pair in given:
        name, _, value = pair.partition("=")
        if not name or not value:
            raise click.BadParameter(f"'{pair}' is not {form}", param_hint=option)
        if name in values:
            raise click.BadParameter(f"'{name}' is given twice", param_hint=option)
        values[name] = value
    return values


def _columns(context: click.Context, option: click.Parameter, given: Sequence[str]) -> Mapping[str, str]:
    """Read `prompt_tokens=input`: a field and the column that holds it in the usage."""
    return _pairs(given, "--map", "NAME=COLUMN, like prompt_tokens=input")


def _keys(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """Read `model,day,customer`, or each by itself; an empty text means no grouping."""
    keys = (key.strip() for text in given for key in text.split(","))
    return tuple(key for key in keys if key) if given else None


map_option = click.option(
    "--map",
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
    callback=_columns,
    help="A column of another name; repeatable.",
)
dialect_option = click.option(
    "--dialect", type=click.Choice(TABLE_DIALECTS), help="Rows are spans, or rows of litellm's spend logs."
)
where_option = click.option("--where", metavar="CONDITION", help=f'Only the rows that meet it: "{_CONDITION}".')
rows_options = options(
    where_option,
    click.option("--since", metavar="DAY", help="Only the rows from this day (UTC) on."),
    click.option("--until", metavar="DAY", help="Only the rows before this day (UTC)."),
)
cost_option = click.option(
    "--cost", metavar="COST", help="What we pay: tables, a candidate, a CSV file, or 60%. Shows the margin."
)
contracts_option = click.option(
    "--contracts", is_flag=True, help="Price each row by the contract of its account, else customer."
)


def _memory(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Return an amount of memory, and refuse one that the engine cannot hold."""
    if given is not None:
        with needing("--memory"), as_wrong_use(SimulationError):
            from ratecard.simulation.workspace import Workspace

            Workspace(given).close()
    return given


memory_option = click.option(
    "--memory",
    callback=_memory,
    help="Most memory of the engine; the rest goes to disk.",
    show_default=f"{DEFAULT_MEMORY}, with Spark {MEMORY_BESIDE_SPARK}",
)
engine_options = options(
    memory_option,
    click.option("--engine", type=click.Choice(["duckdb", SPARK]), help="Default: duckdb."),
    click.option("--master", metavar="URL", help="Where Spark runs."),
)


def candidate_option(words: str) -> Decorator:
    """Return the option for other prices; `words` are its help."""
    return click.option("--candidate", "candidates", metavar="SPEC", multiple=True, help=words)


def by_option(words: str) -> Decorator:
    """Return the option for columns to group by; `words` are its help."""
    return click.option("--by", metavar="KEYS", multiple=True, callback=_keys, help=f"{words} Repeatable.")


@contextmanager
def needing(what: str) -> Iterator[None]:
    """Refuse a command whose modules need a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        words = f"{what} needs {(error.name or '').partition('.')[0]}: pip install 'ratecard[simulate]'"
        raise click.UsageError(words) from None


def with_models(given: Sequence[str]) -> Mapping[str, str]:
    """Read `old-model=new-model`: price the requests of one model as those of another."""
    form = "OLD=NEW, like kling-o3-pro=kling-o3"
    renamed = _pairs(given, "--remap", form)
    for old, new in renamed.items():
        if old == new or "=" in new:
            raise click.BadParameter(f"'{old}={new}' is not {form}", param_hint="--remap")
    return renamed


def share(given: str) -> Fraction:
    """Read a share like `10%`."""
    from ratecard.simulation.report.figures import read_share

    with as_wrong_use(SimulationError, raised=click.BadParameter):
        return read_share(given)


def currency(given: str) -> str:
    """Read a currency, by its code of ISO 4217."""
    if words := no_currency(given):
        raise click.BadParameter(words)
    return given


def periods(given: str | None) -> tuple[str, str] | None:
    """Read two periods: `2026-09..2026-10`."""
    if given is None:
        return None
    before, dots, after = given.partition("..")
    if not (before and dots and after):
        words = f"'{given}' is not two periods. Write them like 2026-09..2026-10"
        raise click.BadParameter(words, param_hint="--bridge")
    return before, after


def check_tornado(out: Sequence[str]) -> None:
    """Refuse files in formats that a tornado does not have, and addresses of a storage."""
    for path in out:
        if Path(path).suffix.lower() not in TORNADO_ENDINGS or is_address(path):
            raise click.UsageError(f"{path}: a tornado is written as {', '.join(TORNADO_ENDINGS)}, on this machine")


def check_usage(usage: Sequence[str], engine: str | None) -> None:
    """Refuse files that do not exist, and patterns of none; addresses and tables of Spark are looked up later."""
    for place in usage if engine != SPARK else ():
        if is_address(place):
            continue
        if is_pattern(place):
            with as_wrong_use(SimulationError):
                next(files_of(place))
        elif not place or not Path(place).exists():
            raise click.UsageError(f"There is no file {place or repr(place)}")


def outputs(
    given: Sequence[str], usage: Sequence[str], engine: str | None, endings: Sequence[str] = ENDINGS
) -> tuple[list[Path], list[str]]:
    """Split --out into files and addresses, and refuse one that would overwrite the usage."""
    places = [place for place in given if is_address(place)]
    if places and engine != SPARK:
        raise click.UsageError(f"{places[0]} is an address, which Spark writes: --engine spark")
    with as_wrong_use(SimulationError):
        for place in places:
            kind_to_write(place)
    paths = [Path(place) for place in given if not is_address(place)]
    for path in paths:
        try:
            _check_output(path, usage, endings)
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}") from None
    return paths, places


def _check_output(path: Path, usage: Sequence[str], endings: Sequence[str]) -> None:
    """Refuse a file in an unknown format, a folder, and the usage; try to write it before the usage is read."""
    if path.suffix.lower() not in endings:
        raise click.UsageError(f"{path} ends in none of {', '.join(endings)}, so that its format is not known")
    if not path.parent.is_dir() or path.is_dir():
        words = "it is a folder" if path.is_dir() else "no such folder"
        raise click.UsageError(f"{path} cannot be written: {words}")
    if any(is_read_of(place, str(path)) for place in usage):
        raise click.UsageError(f"{path} is among the usage, which stays as it is")
    beside(path).touch()
    beside(path).unlink()
