"""Make the statement of an account and a month from its usage: rate or read the lines, and settle the terms."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ratecard.base.instants import month_before, months_between, utc
from ratecard.base.messages import plural
from ratecard.base.money import USD, is_balance, nearest, no_currency, plain_text, text, zero_or_more
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard, load_rate_card
from ratecard.requests.counters import UsageDialect
from ratecard.requests.dialects import TableDialect
from ratecard.simulation.groups.engines import opened_usage
from ratecard.simulation.groups.grouped_usage import not_read
from ratecard.simulation.groups.kept.kept_usage import kept_place
from ratecard.simulation.groups.queries import OpenUsage
from ratecard.simulation.progress import silent
from ratecard.simulation.rows.duckdb_responses import table_dialect
from ratecard.simulation.workspace import Workspace, enough_memory
from ratecard.statements.issued import Statement, change_of
from ratecard.statements.lines import Line, StatementError, Sums, exact_text
from ratecard.statements.rater import AccountRater
from ratecard.statements.rows import FIRST_MONTH, LAST_MONTH, AccountRows
from ratecard.statements.settle import Balances, PaidShares, Settled, settle_month
from ratecard.tables.monthly import COMMITMENT, GRADUATED, INCLUDED, MONTHLY_MINIMUM, VOLUME, Term

# The kinds of terms that reduce the charge of a request, so that its refund is smaller too.
TAKEN_OFF = (INCLUDED, GRADUATED, VOLUME)
_RPC = "rpc"
# The number of reasons for missing prices that a message names.
_SHOWN = 20


def statement(
    usage: Any,
    *,
    account: str,
    month: date | str,
    tables: str | Path | RateCard | None = None,
    opening_balance: Decimal | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: TableDialect | None = None,
    currency: str | None = None,
    memory: str | None = None,
) -> Statement:
    """Make the statement of an account for a month of UTC.

    `usage` is what `simulate` takes: a path (or paths, a folder, a pattern) of Parquet, CSV or JSON lines, or a frame;
    the account is its column `account`, else `customer`. Each row is rated at its own instant, by the contract of the
    account. The rows of a billing export are not rated again: they keep their booked amounts, with refunds on lines of
    their own. `month` is like `2026-10`, `tables` a folder (default: the shipped one) or a card, `opening_balance` the
    balance of a commitment at the beginning of the month: without it, the usage must reach back to the beginning of the
    commitment. `columns`, `dialect` and `memory` are those of `simulate`.

    Amounts of lines are exact, in `currency`: an account with rows in several has a statement for each, and the
    currency must be named. `payable` is rounded once, half-up, to cents. Raises `StatementError` where a row has no
    price (each reason is named), and where the terms cannot be settled.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "usage.csv")
    ...     rows = ["type,model,timestamp,account,characters", "speech,tts-kokoro,2026-10-03T10:00:00Z,acme,2000000"]
    ...     _ = file.write_text("\\n".join(rows))
    ...     made = statement(file, account="acme", month="2026-10")
    >>> [(line.rated.sku, line.quantity, line.amount) for line in made.lines], made.payable
    ([('tts-kokoro-mcharacter', Decimal('2.000000'), Decimal('7.0000000'))], Decimal('7.00'))
    """
    begins = asked_month(account, month, currency)
    card = tables if isinstance(tables, RateCard) else load_rate_card(tables)
    usage_dialect = table_dialect(dialect) if dialect is not None else None
    with (
        enough_memory(),
        closing(Workspace(memory)) as workspace,
        opened_rows(workspace, usage, columns or {}, [card], usage_dialect) as opened,
    ):
        rows = AccountRows(workspace, opened, account, usage_dialect)
        if odd_rows := of_no_month(rows):
            raise StatementError(odd_rows)
        currency = currency or _currency_of(card, rows, begins)
        return AccountMonths(card, rows, currency).statement(begins, opening_balance)


@contextmanager
def opened_rows(
    workspace: Workspace,
    usage: Any,
    columns: Mapping[str, str],
    cards: Sequence[RateCard],
    dialect: UsageDialect | None,
) -> Iterator[OpenUsage]:
    """Open the usage that statements are made of; a roll-up is refused, and so are names in `columns` that are unknown.

    Raises `StatementError` or `SimulationError`.
    """
    if place := kept_place(usage, workspace.folder):
        words = f"{place} is a roll-up, which has no instants of its rows, and terms of a month need their order"
        raise StatementError(f"{words}. Give the usage that it was made of")
    with opened_usage(workspace, usage, columns, None, None, cards, silent, dialect) as opened:
        opened.known.check_names(columns)
        yield opened


def asked_month(account: str, month: date | str, currency: str | None) -> date:
    """Return the first day of a month. Raises `StatementError` if account, month or currency is not one."""
    begins = read_month(month)
    if currency is not None and (words := no_currency(currency)):
        raise StatementError(words)
    if not isinstance(account, str) or not account.strip():
        words = "is empty" if isinstance(account, str) else f"{account!r} is not text"
        raise StatementError(f"the account {words}, and a statement is of one account. Name it as the usage does")
    return begins


def read_month(given: date | str) -> date:
    """Read a month, text like `2026-10` or the date of its first day, as its first day. Raises `StatementError`.

    >>> read_month("2026-10")
    datetime.date(2026, 10, 1)
    """
    day = given if isinstance(given, date) and not isinstance(given, datetime) else None
    if isinstance(given, str) and re.fullmatch("[0-9]{4}-[0-9]{2}", given):
        with suppress(ValueError):
            day = date.fromisoformat(f"{given}-01")
    if day is None or day.day != 1 or not FIRST_MONTH <= date(day.year, day.month, 1) <= LAST_MONTH:
        raise StatementError(f"'{given}' is not a month. Write it like 2026-10")
    return date(day.year, day.month, 1)


def current_month() -> date:
    """Return the first day of the current month of UTC."""
    return datetime.now(UTC).date().replace(day=1)


def of_no_month(rows: AccountRows) -> str:
    """Say how many rows of an account may be of any month, so that none can be stated; empty if there are none."""
    span = f"{FIRST_MONTH.isoformat()[:7]} to {LAST_MONTH.isoformat()[:7]}"
    words = f"is missing or not an instant of {span}, so their month is not known"
    return f"{plural(odd_rows, 'row')} of {rows.account}: timestamp {words}" if (odd_rows := rows.count_odd()) else ""


def _currency_of(card: RateCard, rows: AccountRows, month: date) -> str:
    """Return the currency in which the account is charged in a month; that of its contract if it has no row."""
    account = rows.account
    if rows.is_ledger:
        currencies = {USD if is_balance(name) else name for name in rows.distinct("currency", month)}
    else:
        prices = card.at(utc(month), account=account)
        names = map(prices.plain_name, rows.distinct("model", month))
        currencies = {model.currency for name in names if (model := card.tables.named(name)) is not None}
        if _RPC in rows.distinct("type", month):  # such rows name no model
            currencies |= {model.currency for model in card.tables.models.values() if model.type == _RPC}
    if len(currencies) > 1:
        listed = " and ".join(sorted(currencies))
        options = ", ".join(f"--currency {name}" for name in sorted(currencies))
        words = f"{account} has rows in {listed} in {month:%Y-%m}, and a statement is in one currency"
        raise StatementError(f"{words}. Make one for each: {options}")
    contract = card.contract_of(None, account, utc(month))
    return next(iter(currencies), contract.currency if contract else USD)


def terms_in(card: RateCard, account: str, month: date) -> tuple[Term, ...]:
    """Return the terms that an account has in a month: those of its contract, else those that every account has.

    The contract is that of the first instant of the month, because terms hold in whole months. A contract without terms
    has those of the contract that it extends.
    """
    first = utc(month)
    chain = card.in_force.chain(card.contract_of(None, account, first), first)
    terms = next((contract.terms for contract in chain if contract.monthly is not None), card.tables.monthly)
    return tuple(term for term in terms if term.holds(month))


class _Month(NamedTuple):
    """The statement of a month, the balances of commitments after it, and the number of rows in each other currency."""

    statement: Statement
    balances: Balances
    elsewhere: Mapping[str, int]


class AccountMonths:
    """The months of one account that a statement needs."""

    def __init__(self, card: RateCard, rows: AccountRows, currency: str) -> None:
        self.card, self.rows, self.account, self.currency = card, rows, rows.account, currency
        self.months, self.refunded = rows.months(), rows.refunded
        self._known: dict[date, _Month] = {}

    def statement(self, month: date, opening_balance: Decimal | None) -> Statement:
        """Make the statement of a month, and its change against the month before."""
        given = {} if opening_balance is None else self._opening(month, opening_balance)
        if given:
            self._known[month] = self._settled(month, given)
        settled = self._month(month).statement
        before, reason = self._before(month, known=opening_balance is None)
        change = change_of(before, settled) if before else None
        notes = [*self._notes(month), *self._not_carried(month, given)]
        notes += [f"No change against {month_before(month):%Y-%m}: {reason}"] if reason else []
        return replace(settled, change=change, notes=tuple(notes))

    def _notes(self, month: date) -> list[str]:
        """Say what is not on the statement: rows of others or without an account, and the rest of the current month."""
        counts = self.rows.count(month)
        if not counts.of_account:
            near = "" if self.rows.has_any() else did_you_mean(self.account, self.rows.accounts())
            notes = [f"The usage has no row of {self.account} in {month:%Y-%m}{near and f'.{near}'}"]
        else:
            others = counts.all - counts.of_account - counts.of_nobody
            notes = [f"Of {plural(counts.all, 'row')}, {counts.of_account} of {self.account} in {month:%Y-%m}"]
            notes[0] += f", {others} of other accounts or months" if others else ""
        if counts.of_nobody:
            share = text(nearest(Fraction(100 * counts.of_nobody, counts.all), 1))
            notes.append(f"{plural(counts.of_nobody, 'row')} ({share} % of the usage) of no account: on no statement")
        if disputed := self.rows.count_disputed(month):
            notes.append(f"{plural(disputed, 'row')} with an amount that is not unit x price: on it as booked")
        if alike := self._alike():
            names = " and ".join(f"'{name}'" for name in alike)
            notes.append(f"Accounts of nearly the same name: {names}. Nothing of theirs is on this statement")
        notes += [*not_read(self.rows.near_columns(month, self.card.tables.meters.condition)), *self.elsewhere(month)]
        if self.card.contracts and not self.card.contract_of(None, self.account, utc(month)):
            # A contract that begins later in the month has prices in it, and no terms.
            words = "terms" if self._month(month).statement.contracts else "prices and terms"
            notes.append(f"{self.account} has no contract on {month}: {words} of the list")
        if month >= current_month():
            notes.append(f"{month:%Y-%m} is not over: usage until its end is not on this statement yet")
        return notes

    def _alike(self) -> list[str]:
        """Return names in the usage and in contracts that differ from the account's in capitals and spaces alone."""
        signed = {name for contract in self.card.contracts.values() for name in contract.accounts}
        name = self.account.strip().lower()
        signed_alike = {other for other in signed if other.strip().lower() == name}
        return sorted({*self.rows.alike(), *signed_alike} - {self.account})

    def elsewhere(self, month: date) -> list[str]:
        """Say how many rows, and which minimum, are not on a month's statement because they are in other currencies."""
        counts = sorted(self._month(month).elsewhere.items())
        words = "on a statement of their own, --currency"
        notes = [f"{plural(count, 'row')} in {name}: {words} {name}" for name, count in counts]
        for term in terms_in(self.card, self.account, month):
            if term.kind == MONTHLY_MINIMUM and term.currency != self.currency:
                words = f"minimum of {plain_text(term.amount)} {term.currency} ({term.source})"
                notes.append(f"{words}: on a statement of its own, --currency {term.currency}")
        return notes

    def _commitments(self, month: date) -> list[Term]:
        terms = terms_in(self.card, self.account, month)
        return [term for term in terms if term.kind == COMMITMENT and term.currency == self.currency]

    def _opening(self, month: date, balance: Decimal) -> Balances:
        """Check a given opening balance, and return it as that of the account's commitment."""
        commitments = self._commitments(month)
        if len(commitments) != 1:
            words = f"an opening balance is of one commitment, and {self.account} has {len(commitments) or 'none'}"
            raise StatementError(f"{words} in {month:%Y-%m}")
        is_number = isinstance(balance, (Decimal, int)) and not Decimal(balance).is_nan()
        if is_number and not 0 <= balance <= commitments[0].amount:
            most = f"{commitments[0].amount} ({commitments[0].source})"
            raise StatementError(f"opening balance {balance} is not from 0 to the commitment of {most}")
        return {commitments[0]: Fraction(zero_or_more("opening_balance", balance, StatementError))}

    def _not_carried(self, month: date, given: Balances) -> list[str]:
        """Say where a given opening balance is not what the usage leaves, if that reaches back far enough."""
        with suppress(StatementError):
            carried = self._carried(month) if given else {}
            return [
                f"The opening balance is {exact_text(balance)} as given; by the usage since {term.begins:%Y-%m}"
                f" it is {exact_text(carried[term])}"
                for term, balance in given.items()
                if carried[term] != balance
            ]
        return []

    def _carried(self, month: date) -> Balances:
        """Return the balances at the beginning of the month, as the months before left them."""
        balances: dict[Term, Fraction] = {}
        for term in self._commitments(month):
            # In a month under another contract nothing is drawn, so its usage need not be known.
            span = months_between(term.begins or date.min, month_before(month))
            months = [earlier for earlier in span if term in self._commitments(earlier)]
            if gaps := [earlier for earlier in months if earlier not in self.months]:
                words = f"the commitment of {self.account} ({term.source}) begins with {term.begins:%Y-%m}"
                missing = f"the usage has no row of {gaps[0]:%Y-%m}, so that it is not known what is left of it"
                raise StatementError(f"{words}, and {missing}. Give the usage since then, or an opening balance")
            balances[term] = self._month(months[-1]).balances[term] if months else Fraction(term.amount)
        return balances

    def _month(self, month: date) -> _Month:
        """Settle a month with the balances that the months before left."""
        if month not in self._known:
            self._known[month] = self._settled(month, self._carried(month))
        return self._known[month]

    def _settled(self, month: date, balances: Balances) -> _Month:
        """Rate and settle a month. Raises `StatementError` for rows without a price."""
        terms = terms_in(self.card, self.account, month)
        sums, rater = Sums(), AccountRater(self.card, self.rows, self.currency, month, terms)
        paid = self._paid_before(month) if self.refunded else {}
        settled = self._settle(rater, sums.passing(rater.lines()), terms, balances, paid)
        lines = sums.sorted()
        settled_statement = Statement(
            self.account,
            month,
            self.currency,
            tuple(line for line in lines if line.rated.is_usage),
            settled.terms,
            tuple(line for line in lines if not line.rated.is_usage),
            tuple(sorted(rater.digests)),
            self.rows.source.fingerprint,
        )
        return _Month(settled_statement, settled.balances, rater.elsewhere)

    def _settle(
        self, rater: AccountRater, lines: Iterable[Line], terms: Sequence[Term], balances: Balances, paid: PaidShares
    ) -> Settled:
        """Settle the terms over the lines of a rater. Raises `StatementError` for rows without a price."""
        units, refunded = self.card.tables.units, self.refunded
        settled = settle_month(lines, terms, units, self.currency, balances, refunded=refunded, paid_before=paid)
        if rater.unrated:
            raise StatementError(self._unrated_text(rater))
        return settled

    def _paid_before(self, month: date) -> PaidShares:
        """Return the paid share of refunded requests of earlier months, each of which must have all of its prices."""
        paid: dict[tuple[str, str], Fraction] = {}
        for earlier in sorted(day for day in self.rows.months(self.refunded) if day < month):
            terms = [term for term in terms_in(self.card, self.account, earlier) if term.kind in TAKEN_OFF]
            if terms:
                rater = AccountRater(self.card, self.rows, self.currency, earlier, terms)
                paid |= self._settle(rater, rater.lines(), terms, {}, {}).paid
        return paid

    def _unrated_text(self, rater: AccountRater) -> str:
        """List the rows without a price, by reason, as lines of text."""
        reasons = sorted(rater.unrated.values(), key=lambda unrated: (-unrated.rows, unrated.reason, unrated.model))
        count = sum(unrated.rows for unrated in reasons)
        lines = [f"no statement of {self.account} for {rater.month:%Y-%m}: {plural(count, 'row')} without a price"]
        for unrated in reasons[:_SHOWN]:
            rows_of_model = f"{plural(unrated.rows, 'row')} of {unrated.model or 'no model'}"
            lines.append(f"  {rows_of_model}: {unrated.reason} (the first at {unrated.first:%Y-%m-%dT%H:%M:%SZ})")
        if len(reasons) > _SHOWN:
            lines.append(f"  and {plural(len(reasons) - _SHOWN, 'more reason')}")
        return "\n".join(lines)

    def _before(self, month: date, *, known: bool) -> tuple[Statement | None, str]:
        """Return the statement of the month before, or why it is missing."""
        if (before := month_before(month)) not in self.months:
            return None, "the usage has no row of it"
        if not known and any((term.begins or date.min) < before for term in self._commitments(before)):
            return None, "what was left of the commitment at its beginning is not known"
        try:
            return self._month(before).statement, ""
        except StatementError as error:
            return None, str(error).partition("\n")[0]
