"""Statements of simulated months: what accounts pay for each month under the current prices and under candidates."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

from ratecard.base.csv_text import text_cell
from ratecard.base.files import replacing
from ratecard.base.instants import months_between
from ratecard.card import RateCard
from ratecard.requests.dialects import TableDialect
from ratecard.review.sides import Side
from ratecard.simulation.prices.sides import Specification, sides
from ratecard.simulation.rows.duckdb_responses import table_dialect
from ratecard.simulation.workspace import Workspace
from ratecard.statements.issued import Statement
from ratecard.statements.lines import StatementError, exact_text
from ratecard.statements.make import AccountMonths, of_no_month, opened_rows, terms_in
from ratecard.statements.rows import AccountRows
from ratecard.tables.monthly import MONTHLY_MINIMUM

_AMOUNTS = ("list", "contract", "terms", "payable")


@dataclass(frozen=True, slots=True)
class SimulatedMonth:
    """An account's month under one side: a statement, or the reason for a missing one.

    With a statement, `reason` says which rows are not on it because they are in other currencies. `contracts` are
    those of its rates and of its terms.
    """

    account: str
    month: date
    side: str
    statement: Statement | None
    reason: str = ""
    contracts: tuple[str, ...] = ()

    @property
    def amounts(self) -> tuple[Decimal | None, Decimal, Fraction, Decimal] | None:
        """Return the lines at list and at contract prices, what the terms add to them, and the amount to pay."""
        if (statement := self.statement) is None:
            return None
        return statement.list_total, statement.charges, statement.exact - Fraction(statement.charges), statement.payable


def simulated_months(
    usage: Any,
    current: Specification | None = None,
    candidates: Specification | Sequence[Specification] = (),
    *,
    accounts: Sequence[str] = (),
    tables: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: TableDialect | None = None,
    currency: str = "USD",
    memory: str | None = None,
) -> tuple[SimulatedMonth, ...]:
    """Make the statement of each account for each month of a usage, under the current prices and under candidates.

    By default, `accounts` are those with a contract on some side. The other arguments are those of `simulate`. Rows are
    rated one by one in the order of time, because terms of a month need it; so kept roll-ups, prices of one instant and
    billing exports are refused. Raises `StatementError`; an account and a month without a statement has the reason in
    its place.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "usage.csv")
    ...     rows = ["type,model,timestamp,account,characters", "speech,tts-kokoro,2026-10-03T10:00:00Z,acme,2000000"]
    ...     _ = file.write_text("\\n".join(rows))
    ...     (made,) = simulated_months(file, accounts=["acme"])
    >>> f"{made.month:%Y-%m}", made.amounts
    ('2026-10', (Decimal('7.0000000'), Decimal('7.0000000'), Fraction(0, 1), Decimal('7.00')))
    """
    compared = sides(current, candidates, Path(tables) if tables else None)
    for side in compared:
        if side.at is not None or not side.has_rates:
            words = f"{side.label}: the statement of a month has the prices of each row's own instant"
            raise StatementError(f"{words}. Compare tables or candidate files, and no dates or bills")
    signed = {name for side in compared for contract in side.card.contracts.values() for name in contract.accounts}
    named = sorted({*accounts} or signed)
    usage_dialect = table_dialect(dialect) if dialect is not None else None
    with closing(Workspace(memory)) as workspace:
        cards = [side.card for side in compared]
        with opened_rows(workspace, usage, columns or {}, cards, usage_dialect) as opened:
            if opened.known.is_ledger:
                words = "a billing export holds what each account was charged already, under every side"
                raise StatementError(f"{words}. `statement` says what an account pays by it")
            months: list[SimulatedMonth] = []
            for account in named:
                rows = AccountRows(workspace, opened, account, usage_dialect)
                months += _of_account(compared, rows, currency)
            return tuple(months)


def _of_account(compared: Sequence[Side], rows: AccountRows, currency: str) -> Iterator[SimulatedMonth]:
    """Yield the months of an account under each side, without those that have neither rows nor terms.

    Between the months of the usage, a month without any row has a statement where a minimum is due.
    """
    months_by_side = [AccountMonths(side.card, rows, currency) for side in compared]
    present, odd_rows = rows.months(), of_no_month(rows)
    usage_months = [
        month
        for month in months_between(min(present, default=date.max), max(present, default=date.min))
        if month in present or any(_has_minimum(side.card, rows.account, month) for side in compared)
    ]
    if odd_rows and not usage_months:
        raise StatementError(odd_rows)
    for month in usage_months:
        if odd_rows:
            yield from (SimulatedMonth(rows.account, month, side.label, None, odd_rows) for side in compared)
            continue
        simulated = []
        for side, months in zip(compared, months_by_side, strict=True):
            try:
                statement, reason = months.statement(month, None), "; ".join(months.elsewhere(month))
                names = _contracts_on(statement, side.card)
                simulated.append(SimulatedMonth(rows.account, month, side.label, statement, reason, names))
            except StatementError as error:
                simulated.append(SimulatedMonth(rows.account, month, side.label, None, str(error)))
        statements = [made.statement for made in simulated if made.statement]
        if any(made.reason for made in simulated) or any(made.lines or made.terms for made in statements):
            yield from simulated


def _has_minimum(card: RateCard, account: str, month: date) -> bool:
    return any(term.kind == MONTHLY_MINIMUM for term in terms_in(card, account, month))


def _contracts_on(statement: Statement, card: RateCard) -> tuple[str, ...]:
    """Return the contracts of the rates and terms of a statement; without usage it may have only terms."""
    places = {line.source for line in statement.terms}
    term_contracts = {
        contract.contract
        for contract in card.contracts.values()
        if any(term.source in places for term in contract.terms)
    }
    return tuple(sorted({*statement.contracts} | term_contracts))


def write_months(months: Sequence[SimulatedMonth], path: Path) -> None:
    """Write the months as CSV: a line for each account, month and side, with all digits; whole or not at all.

    Raises `StatementError` if the file cannot be written.
    """
    try:
        with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
            _write_lines(months, file)
    except OSError as error:
        raise StatementError(f"{path} cannot be written: {error.strerror}") from None


def _write_lines(months: Sequence[SimulatedMonth], file: TextIO) -> None:
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(("account", "month", "prices", "contracts", *_AMOUNTS, "reason"))
    for month in months:
        *exact, payable = month.amounts or (None,) * len(_AMOUNTS)
        amounts = ["" if amount is None else exact_text(amount) for amount in exact]
        amounts.append("" if payable is None else f"{payable:f}")
        names = (month.account, f"{month.month:%Y-%m}", month.side, " ".join(month.contracts))
        lines.writerow((*map(text_cell, names), *amounts, text_cell(month.reason)))
