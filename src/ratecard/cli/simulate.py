"""`ratecard simulate`: price recorded usage under other prices; `ratecard rollup`: keep usage as groups."""

import shlex
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ratecard.base.errors import SimulationError
from ratecard.cli.modes import CommandOfModes, refuse_unused
from ratecard.cli.options import as_wrong_use, locale_option, tables_option
from ratecard.cli.simulate_options import (
    by_option,
    candidate_option,
    check_tornado,
    check_usage,
    contracts_option,
    cost_option,
    currency,
    dialect_option,
    engine_options,
    map_option,
    needing,
    outputs,
    periods,
    rows_options,
    share,
    where_option,
    with_models,
)

_ARGUMENTS = "ratecard.arguments"
# The message of the error that DuckDB raises for an interrupted query.
_INTERRUPTION = "Query interrupted"


class _Recorded(click.Command):
    """A command that records its arguments, for reports that name the command that made them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = shlex.join(["ratecard", "simulate", *args])
        return super().parse_args(ctx, args)


@click.command(cls=_Recorded, short_help="Price recorded usage under other prices.")
@click.argument("usage", nargs=-1, required=True)
@click.option("--current", metavar="SPEC", help="Today's prices. Default: those of each row's own timestamp.")
@candidate_option("Other prices; repeatable. Without any, the revenue of the usage.")
@by_option("Columns to group by. Default: model, day and customer, if the usage has them; for a roll-up, its own.")
@map_option
@dialect_option
@rows_options
@click.option("--out", metavar="FILE", multiple=True, help="Write .html, .xlsx, .csv, .parquet or .json; repeatable.")
@click.option("--strict", is_flag=True, help="Fail where rows have no price on either side.")
@cost_option
@contracts_option
@click.option("--statements", metavar="FILE", help="With --contracts: what accounts pay for each month, as CSV.")
@click.option("--successors", is_flag=True, help="Price requests of models that a candidate retires at the successor.")
@click.option(
    "--remap", metavar="OLD=NEW", multiple=True, help="Price a model as another under candidates; repeatable."
)
@click.option(
    "--elasticity", "elasticities", metavar="NAME=E", multiple=True, help="How volume reacts to prices; repeatable."
)
@click.option("--volume", "volumes", metavar="[NAME=]P", multiple=True, help="Another volume, like -5%; repeatable.")
@click.option("--pace", metavar="DAYS", show_default="90d", help="Scale the last 30d, or all days, to a year.")
@click.option("--until-target", metavar="TARGET", help="Find the smallest factor for 5%, margin=40% or 50000/year.")
@click.option("--rise", type=share, show_default="10%", help="Count the customers whose payments rise by more.")
@click.option("--bridge", metavar="A..B", help="Why two periods differ: 2026-09..2026-10.")
@click.option("--max-change", type=share, help="Exit with 1 if revenue at unchanged usage changes by more, like 5%.")
@click.option("--max-rise", type=share, help="Exit with 1 if a customer's payments at unchanged usage rise by more.")
@click.option("--tornado", type=share, help="Instead: revenue if each family were 5% dearer or cheaper.")
@click.option("--disputes", metavar="FILE", help="Instead: the wrong rows of a bill, as CSV.")
@click.option(
    "--currency", type=currency, default="USD", show_default=True, help="Currency in which amounts are added."
)
@click.option("--show-sql", is_flag=True, help="Print the SQL that DuckDB has run, to read it or run it by hand.")
@engine_options
@tables_option
@locale_option
@click.pass_context
def simulate(context: click.Context, /, disputes: str | None, statements: str | None, **given: Any) -> None:
    """Price the recorded requests of USAGE under the current prices and under candidates, and say what changes.

    Without a candidate, it prints the revenue of the usage.

    \b
    ratecard simulate usage.parquet --by customer,month --out accrual.xlsx
    ratecard simulate usage.parquet --candidate 2026-12-01 --out report.html
    ratecard simulate 'usage/*.csv' --candidate kling.yaml --map customer=account
    ratecard simulate usage.parquet --current 2026-08-03 --candidate 2026-08-21
    ratecard simulate usage.parquet --candidate kling.yaml --until-target 50000/year
    ratecard simulate usage.parquet --candidate kling.yaml --elasticity all=-0.8 --volume customer:acme=-20%
    ratecard simulate usage.parquet --candidate kling.yaml --max-change 5% --max-rise 10%
    ratecard simulate usage.parquet --tornado 5%
    ratecard simulate bill.csv --disputes disputes.csv
    ratecard simulate spans.parquet --dialect opentelemetry --candidate 2026-12-01

    USAGE is Parquet, CSV or JSON lines, or a billing export: files, folders or patterns. SPEC is one of

    \b
      a folder of tables     pricing_tables
      a git revision         HEAD~1, origin/main
      a date                 2026-10-01: every row at the prices of that day
      a candidate file       proposal.yaml (laid over the current prices),
                             or several: spring.yaml+promotion.yaml
      as-billed              the amounts that a billing export states

    A condition compares columns with numbers, 'text', true or false by = != < <= > >=, by in ('a', 'b') or is missing.
    And, or, not and brackets join comparisons; day is the day of a row.

    Without --out a summary is printed. An elasticity is MODEL=-0.8, FAMILY=-0.8, TYPE=-0.8 or all=-0.8, with
    a range all=-0.8:-1.2..-0.4. A volume is -5%, MODEL=-5%, FAMILY=-5%, TYPE=-5%, or customer:NAME=-5% for a value of a
    key of --by. With either, revenue, cost, margin and targets are those at the expected volume, shown beside those at
    unchanged usage. Rows without a price are counted by reason and are in no figure. The exit status is 0 if it is
    done, 1 for usage that cannot be read or priced, for a month without a statement, for a candidate that changes
    nothing, for one beyond a limit (--max-change, --max-rise) and for a target that no factor reaches, 2 for wrong use.
    """
    check_usage(given["usage"], given["engine"])
    refuse_unused(context)
    if disputes:
        [[path], _] = outputs([disputes], given["usage"], None, (".csv",))
        _check_prices({path.resolve()}, given)
        with stopping(), needing("A simulation"):
            from ratecard.cli.simulate_run import run_disputes

            run_disputes(path, given)
        return
    if given["tornado"] is not None:
        check_tornado(given["out"])
    given["out"], given["places"] = outputs(given["out"], given["usage"], given["engine"])
    given["bridge"], given["remap"] = periods(given["bridge"]), with_models(given["remap"])
    months = outputs([statements], given["usage"], None, (".csv",))[0] if statements else []
    if months and not given["contracts"]:
        raise click.UsageError("--statements are those of contracts. Add --contracts")
    report_files, month_files = ({path.resolve() for path in paths} for paths in (given["out"], months))
    if report_files & month_files:
        raise click.UsageError(f"{statements} is a file of --out too, which can hold only one of them. Name another")
    _check_prices(report_files | month_files, given)
    with stopping():
        with needing("A simulation"):
            # Loaded only here, because --help does not need the engine.
            from ratecard.cli.simulate_run import run, simulated_statements, write_statements
        # Statements are made first, so that one that cannot be made is refused before a report is printed.
        month_statements = simulated_statements(given) if months else ()
        succeeded = run(context.meta[_ARGUMENTS], **given)
        for path in months:
            succeeded = write_statements(month_statements, path) and succeeded
        if not succeeded:
            raise SystemExit(1)


def _check_prices(written: Collection[Path], given: Mapping[str, Any]) -> None:
    """Refuse to write over a file of prices that the simulation reads, also one of a stack of candidates."""
    read = [("--current", given["current"]), *(("--candidate", word) for word in given["candidates"])]
    for option, word in (*read, ("--cost", given["cost"])):
        for place in (word, *word.split("+")) if word else ():
            if Path(place).resolve() in written:
                raise click.UsageError(f"{place} is what {option} reads, which stays as it is. Write another file")


@contextmanager
def stopping(words: str = "no report is written") -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the run after its temporary files are removed; `words` say what the run leaves."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, RuntimeError) as error:
        if not isinstance(error, KeyboardInterrupt) and str(error) != _INTERRUPTION:
            raise
        raise KeyboardInterrupt(words) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@click.command(cls=CommandOfModes, short_help="Keep usage as groups, to simulate it in seconds.")
@click.argument("usage", nargs=-1, required=True)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    help="Folder to keep the groups in, or its address: s3://bucket/folder, gs://, az://.",
)
@by_option("Columns that can be grouped by later. Default: model,day.")
@candidate_option("Other prices that need more than the current ones, like another threshold; repeatable.")
@where_option
@map_option
@dialect_option
@engine_options
@tables_option
def rollup(usage: Sequence[str], out: str, **given: Any) -> None:
    """Keep USAGE as groups in a folder, which is then usage itself: for the same answers, in seconds.

    \b
    ratecard rollup 'usage/*.parquet' --out kept
    ratecard simulate kept --candidate kling.yaml
    ratecard whatif kept
    ratecard rollup 'usage/*.parquet' --out kept             again: reads what is new or changed
    ratecard rollup usage.parquet --out kept --by model,day,customer --candidate long-context.yaml

    USAGE is Parquet, CSV or JSON lines: files, folders or patterns. A group is of one day and model, and of all that
    decides a price under the tables and the candidates: attributes, conditions, thresholds of prompts, hours. Tables
    that differ only in rates, dates and models need no other groups. A question that the groups cannot answer (by
    another column, at another threshold) is refused, with the command that makes a roll-up for it.

    The folder remembers each file of USAGE by size, time and identity. A further run reads only files that are new or
    changed, and drops the groups of files that are gone. With other options it reads all of them. The folder is written
    whole or not at all; a run that is broken off leaves it as it was. In an object storage (docs/roll-ups.md), the
    first of two runs at a time wins.

    Exit status: 0 done, 1 for usage that cannot be read, 2 for wrong use.
    """
    check_usage(usage, given["engine"])
    with stopping("the roll-up is as it was, or, if the run was at its end, whole and new"):
        with needing("A roll-up"):
            # Loaded only here, because --help does not need the engine.
            from ratecard.cli.simulate_progress import progress
            from ratecard.simulation.prices.sides import sides
            from ratecard.simulation.rollup import rollup as keep
            from ratecard.simulation.rows.where import Chosen
        with as_wrong_use(SimulationError):
            current, *candidates = sides(None, given.pop("candidates"), given["tables"])
            Chosen.of(given["where"], None, None)
        with progress() as begin:
            report = keep(list(usage), out, current, candidates, progress=begin, **given)
    for words in report.warnings:
        click.echo(f"Warning: {words}", err=True)
    if report.anew:
        click.echo(f"All files are read again: {report.anew}", err=True)
    counts = {"new": report.changes.new, "changed": report.changes.changed, "gone": report.changes.gone}
    parts = [f"{len(files)} {name}" for name, files in counts.items() if files]
    parts += [f"{len(report.changes.same)} not read again"] if report.changes.same else []
    click.echo(f"Files: {', '.join(parts) or 'none'}", err=True)
    size = f"{report.bytes / 1_000_000:.1f} MB"
    click.echo(f"Kept {report.folder}: {report.rows:,} rows as {report.groups:,} groups, {size}", err=True)
