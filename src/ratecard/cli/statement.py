"""`ratecard statement`: what an account pays for a month, line by line."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from babel import Locale

from ratecard.base.json_text import compact_json, read_json
from ratecard.base.money import read_decimal
from ratecard.cli.options import EXISTING_FILE, as_wrong_use, locale_option, tables_option
from ratecard.cli.screen import show_table
from ratecard.cli.simulate import stopping
from ratecard.cli.simulate_options import (
    ENDINGS,
    check_usage,
    dialect_option,
    map_option,
    memory_option,
    needing,
    outputs,
)


def _balance(given: str) -> Decimal:
    """Read an amount of money: digits, and a point."""
    amount = read_decimal(given)
    if not amount.is_finite():
        raise click.BadParameter(f"'{given}' is not an amount. Write digits, like 1200.50")
    return amount


@click.command(short_help="What an account pays for a month.")
@click.argument("usage", nargs=-1, required=True)
@click.option("--account", required=True, help="Account of the statement.")
@click.option("--month", required=True, metavar="YYYY-MM", help="The month (UTC), like 2026-10.")
@click.option(
    "--opening-balance",
    metavar="AMOUNT",
    type=_balance,
    help="What the commitment had left at the beginning of the month; needed where USAGE does not reach back.",
)
@click.option("--against", type=EXISTING_FILE, help="A statement that was issued as .json: list what differs now.")
@click.option(
    "--out",
    metavar="FILE",
    multiple=True,
    help="Write .md, .csv, .json, .html, .xlsx, .focus.csv or .focus.parquet; repeatable.",
)
@click.option("--issuer", metavar="NAME", help="Who sends the bill; files of FOCUS need it.")
@click.option("--currency", help="Currency of the statement; needed if the account has rows in several.")
@map_option
@dialect_option
@memory_option
@tables_option
@locale_option
@click.pass_context
def statement(
    context: click.Context,
    /,
    usage: Sequence[str],
    out: Sequence[str],
    against: Path | None,
    issuer: str | None,
    locale: Locale,
    **given: Any,
) -> None:
    """Print the statement of an account for a month: lines by SKU, the terms of the month, and what is payable.

    \b
    ratecard statement usage.parquet --account acme --month 2026-10
    ratecard statement 'usage/*.csv' --account acme --month 2026-10 --out acme.html --out acme.json
    ratecard statement usage.parquet --account acme --month 2026-10 --against acme.json
    ratecard statement usage.parquet --account acme --month 2026-10 --issuer Us --out acme.focus.csv

    USAGE is Parquet, CSV or JSON lines, as for ratecard simulate; the account is its column account, else customer.
    Each row is rated at its own instant by the contract of the account (docs/contracts.md). A billing export is not
    rated again: what was booked is on the statement, and refunds in the month in which they were booked.

    The terms of the month come after the lines: included amounts, tiers, the commitment, the minimum. Amounts are
    exact; what is payable is rounded once, half-up, to cents.

    Exit status: 0 done, 1 where a row has no price or the terms cannot be settled (then there is no statement), or
    where --against finds a difference, 2 for wrong use.
    """
    check_usage(usage, None)
    paths, _ = outputs(out, usage, None, (".md", *ENDINGS))
    if against and any(path.resolve() == against.resolve() for path in paths):
        raise click.UsageError(f"{against} is the statement that was issued, which stays as it is. Write another file")
    with stopping("no statement is written"):
        with needing("A statement"):
            # Loaded only here, because --help does not need the engine.
            from ratecard.statements import StatementError
            from ratecard.statements import statement as make
            from ratecard.statements.make import asked_month
            from ratecard.statements.report import (
                FOCUS,
                check_outputs,
                ending_of,
                sentences,
                title_of,
                write_statement,
                written_tables,
            )
        with as_wrong_use(StatementError):
            check_outputs(paths, issuer or "")
            asked_month(given["account"], given["month"], given["currency"])
        if issuer is not None and not any(FOCUS in ending_of(path) for path in paths):
            raise click.UsageError(
                "only FOCUS says who sends the bill: add --out FILE.focus.csv, or leave out --issuer", context
            )
        monthly_statement = make(list(usage), **given)
        differs = against is not None and _differs(against, monthly_statement)
        write_statement(monthly_statement, *paths, issuer=issuer or "", locale=locale)
        for path in paths:
            click.echo(f"Wrote {path}", err=True)
    if differs:
        context.exit(1)
    if out or against:
        return
    click.echo(title_of(monthly_statement))
    for title, headings, rows in written_tables(monthly_statement, locale):
        click.echo(f"\n{title}")
        show_table([name for name, _ in headings], rows, {name for name, number in headings if number})
    click.echo()
    click.echo("\n".join(sentences(monthly_statement, locale)))


def _differs(against: Path, statement_now: Any) -> bool:
    """Print what differs from a statement that was issued, and return True if something does."""
    from ratecard.statements import StatementError, differences

    try:
        issued = read_json(against.read_bytes())
        compact_json(issued)  # It refuses half of a surrogate pair, which cannot be printed.
        names = (issued["account"], issued["month"], issued["currency"])
        listed = differences(issued, statement_now)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StatementError(f"{against} is not a statement that was issued as .json") from None
    now = (statement_now.account, f"{statement_now.month:%Y-%m}", statement_now.currency)
    if names != now:
        raise StatementError(f"{against} is of {' '.join(map(str, names))}, and this statement of {' '.join(now)}")
    if not listed:
        click.echo(f"Nothing differs from the statement {issued.get('digest', '')} that was issued")
        return False
    rows = [
        (difference.line or difference.part, difference.figure, difference.issued, difference.now)
        for difference in listed
    ]
    show_table(("Of", "Figure", "Issued", "Now"), rows, {"Issued", "Now"})
    return True
