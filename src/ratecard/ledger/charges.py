"""Charges and refunds as functions, in a transaction of the ledger or of the host, from threads and event loops."""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from ratecard.base.errors import LedgerError, RefundError
from ratecard.base.messages import echo
from ratecard.base.money import text, zero_or_more
from ratecard.ledger.booking import NewRefund, find_charges, refuse_other_content, write_charges, write_refund
from ratecard.ledger.clock import Clock, timestamp_of
from ratecard.ledger.database import check_dialect, check_transaction
from ratecard.ledger.rows import NewCharge, charge_rows, check_count, check_moment, check_name, fingerprint
from ratecard.ledger.store import Ledger
from ratecard.line_items.ledger_entry import LedgerEntry
from ratecard.line_items.quote import Quote
from ratecard.requests.body import Body, read_usage
from ratecard.requests.usage import AnyUsage

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection  # needs greenlet, which `Ledger` does not need


# A function writes to a ledger, in a transaction of its own, or to a connection of the host, which commits itself.
LedgerWriter = Ledger | Connection

# The object to pass instead, by the class of SQLAlchemy that was given.
_INSTEAD = {
    "Engine": "Pass open_ledger(engine), or a connection of it: with engine.begin() as connection",
    "AsyncEngine": "Pass a connection of it to the async form: async with engine.begin() as connection",
    "Session": "Pass session.connection()",
    "scoped_session": "Pass session.connection()",
    "AsyncSession": "Pass await session.connection() to the async form",
    "async_scoped_session": "Pass await session.connection() to the async form",
    "AsyncConnection": "Await charge_async, refund_async or append_many_async with it",
    "Connection": "Call charge, refund or append_many with it, or pass a connection of an AsyncEngine",
}
_OTHER = "Pass open_ledger(...) of a URL or an engine, or a connection of SQLAlchemy: engine.connect()"


def check_writer(writer: LedgerWriter) -> None:
    """Raise `LedgerError`, which says what to pass, unless this is a ledger or a connection in a transaction."""
    if isinstance(writer, Ledger):
        return
    if not isinstance(writer, Connection):
        raise _refusal(writer, "a Connection of SQLAlchemy")
    check_dialect(writer.dialect.name)
    check_transaction(writer)


def _kind(writer: object) -> str:
    """Return the name of an object's class in SQLAlchemy; empty for any other object."""
    names = [base.__name__ for base in type(writer).__mro__ if base.__module__.startswith("sqlalchemy.")]
    return next((name for name in names if name in _INSTEAD), "")


def _refusal(writer: object, connection: str) -> LedgerError:
    name = f"{type(writer).__module__}.{type(writer).__qualname__}".removeprefix("builtins.")
    words = f"a charge or refund is booked by a ledger or {connection}, not by {name}"
    return LedgerError(f"{words}. {_INSTEAD.get(_kind(writer), _OTHER)}")


def latest_of(writer: LedgerWriter, clock: Clock | None) -> int:
    """Return the latest instant that a new charge may have: by this clock, else the ledger's, else the machine's."""
    return (clock or (writer.clock if isinstance(writer, Ledger) else Clock())).latest()


def writing_on(writer: LedgerWriter, accounts: Collection[str]) -> AbstractContextManager[Connection]:
    """Return a context with a connection to write rows of these accounts; that of a ledger is committed at the end."""
    return nullcontext(writer) if isinstance(writer, Connection) else writer.writing(accounts)


class PricesAt(Protocol):
    """Prices at an instant: a price book."""

    def rate(self, usage: AnyUsage | Body) -> Quote:
        """Return the quote of a usage."""


class Card(Protocol):
    """Prices at every instant: a rate card."""

    def at(self, instant: datetime, *, account: str | None = None) -> PricesAt:
        """Return the prices in effect for an account."""


@dataclass(frozen=True, slots=True)
class BookedCharge:
    """A charge as it is in the ledger; `new` is True if this call wrote it. A repeated call gets the same rows.

    `ignored` lists the fields of the usage without effect; after a repeated call, which rates nothing, it is empty.
    """

    request_id: str
    timestamp: str
    entries: tuple[LedgerEntry, ...]
    new: bool
    ignored: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the charge with its rows, but without `new`; numbers are text."""
        rows = _rows(self.entries)
        return {"object": "charge", "request_id": self.request_id, "timestamp": self.timestamp, "entries": rows}


@dataclass(frozen=True, slots=True)
class BookedRefund:
    """A refund as it is in the ledger; `new` is True if this call wrote it. A repeated call gets the same rows."""

    refund_id: str
    request_id: str
    sku: str
    timestamp: str
    entries: tuple[LedgerEntry, ...]
    new: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the refund with its rows, but without `new`; numbers are text."""
        names = {"object": "refund", "id": self.refund_id, "request_id": self.request_id, "sku": self.sku}
        return {**names, "timestamp": self.timestamp, "entries": _rows(self.entries)}


def _rows(entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    rows = [entry.to_dict() for entry in entries]
    return [{name: text(part) if isinstance(part, Decimal) else part for name, part in row.items()} for row in rows]


def append_many(writer: LedgerWriter, charges: Sequence[NewCharge], *, clock: Clock | None = None) -> list[bool]:
    """Charge many requests, of any accounts, in one transaction; return for each whether it was new.

    `writer` is a ledger, or a connection of the host, who commits. All are written or none; each is charged once, as
    with `Ledger.append`. `clock` limits how far ahead of it a new charge may be: by default it is that of the ledger,
    else an hour ahead of the machine's clock. Raises what `Ledger.append` raises, before anything is written;
    `LedgerError` for another writer, and for a connection in AUTOCOMMIT; on a connection of the host also the errors of
    SQLAlchemy.

    >>> from datetime import UTC
    >>> from tempfile import TemporaryDirectory
    >>> from ratecard.ledger import open_ledger
    >>> from ratecard.line_items.quote import LineItem, LineRate, PricedVersion
    >>> line = LineItem(LineRate("m-fixed", "clip", Decimal("0.22"), "video/m.yaml:3"), 1, Decimal("0.22"))
    >>> when = datetime(2026, 10, 1, tzinfo=UTC)
    >>> quote = Quote(PricedVersion("m", "image", "USD", when.date(), ""), line.amount, line.amount, (line,))
    >>> requests = [NewCharge(quote, account, "r-1", when) for account in ("acme", "umbra", "acme")]
    >>> with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
    ...     append_many(ledger, requests)
    [True, True, False]
    """
    check_writer(writer)
    accounts = _accounts_of(writer, charges)
    rows = [charge_rows(new_charge) for new_charge in charges]
    with writing_on(writer, accounts) as connection:
        return write_charges(connection, rows, latest_of(writer, clock))


def charge(
    writer: LedgerWriter,
    card: Card,
    usage: AnyUsage | Body,
    *,
    account: str,
    request_id: str,
    timestamp: datetime,
    execution_ms: int | None = None,
    currency: str | None = None,
    paid: Mapping[str, Decimal] | None = None,
    clock: Clock | None = None,
) -> BookedCharge:
    """Rate a usage at the account's prices of its timestamp, and charge it, once, however often it is tried.

    `writer` is a ledger, or a connection of the host, who commits; `card` is a rate card. `currency`, `paid` and
    `execution_ms` (milliseconds) are those of `Ledger.append`, `clock` that of `append_many`. The same request with the
    same usage, timestamp and payment gets the rows of the first time, without being rated again: other tables do not
    change what was charged. Amounts are exact. Raises `QuoteError` for a usage without a price, `LedgerConflictError`
    for a request that was charged for other content, otherwise what `append_many` raises.

    >>> from datetime import UTC
    >>> from tempfile import TemporaryDirectory
    >>> from ratecard import load_rate_card
    >>> from ratecard.ledger import open_ledger
    >>> what = {"account": "acme", "request_id": "r-1", "timestamp": datetime(2026, 10, 1, tzinfo=UTC)}
    >>> with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
    ...     booked = charge(ledger, load_rate_card(), {"model": "ovi-image-to-video"}, **what)
    >>> booked.new, [(row.sku, row.amount) for row in booked.entries]
    (True, [('ovi-image-to-video-fixed', Decimal('-0.22'))])
    """
    check_writer(writer)
    check_name("account", account)
    check_name("request_id", request_id)
    check_count("execution_ms", execution_ms)
    instant, fields = check_moment(timestamp), read_usage(usage)
    content = fingerprint({"usage": fields, "timestamp": instant, "currency": currency, "paid": paid})
    with nullcontext(writer) if isinstance(writer, Connection) else writer.reading() as connection:
        kept_charge = find_charges(connection, account, [request_id]).get(request_id)
    new, when = False, timestamp_of(instant)
    if kept_charge is None or kept_charge[0] is None:
        quote = card.at(timestamp, account=account).rate(fields)
        rows = charge_rows(NewCharge(quote, account, request_id, timestamp, execution_ms, currency, paid), content)
        with writing_on(writer, (account,)) as connection:
            [new] = write_charges(connection, [rows], latest_of(writer, clock))
            kept_charge = None if new else find_charges(connection, account, [request_id]).get(request_id)
        if kept_charge is None:
            booked_entries = tuple(replace(row, timestamp=when) for row in rows.entries)
            return BookedCharge(request_id, when, booked_entries, new, quote.ignored)
    kept_content, kept_instant, entries = kept_charge
    if kept_content is not None:
        refuse_other_content("request", request_id, (kept_content, content), (kept_instant, instant))
    return BookedCharge(request_id, timestamp_of(kept_instant) if entries else when, entries, new)


def refund(
    writer: LedgerWriter,
    *,
    account: str,
    request_id: str,
    refund_id: str,
    sku: str,
    timestamp: datetime,
    amount: Decimal | None = None,
    corrected: Decimal | None = None,
    clock: Clock | None = None,
) -> BookedRefund:
    """Pay back a part of a charge, once, however often it is tried; the balance that paid last is paid back first.

    `amount` of the `sku` is paid back; or `corrected` is what the SKU should have cost, and the rest of its charge is
    paid back. Both are in the currency of the price, US dollars for a balance. Nothing is rounded. The refunds of a
    charge never exceed it in total, and a refund cannot raise a charge: book a new charge for that. `timestamp` is when
    it is paid back, not before its charge; `refund_id` is unique among the refunds of the account; `writer` and `clock`
    are those of `append_many`. Raises `RefundError` for an unknown charge, a SKU that it does not have, an amount above
    what is left and a timestamp before the charge, `LedgerConflictError` for an id of another refund, otherwise what
    `append_many` raises.

    >>> from datetime import UTC
    >>> from tempfile import TemporaryDirectory
    >>> from ratecard import load_rate_card
    >>> from ratecard.ledger import open_ledger
    >>> what = {"account": "acme", "request_id": "r-1", "timestamp": datetime(2026, 10, 1, tzinfo=UTC)}
    >>> paid = {"DIEM": Decimal("0.20"), "USD": Decimal("0.02")}
    >>> with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
    ...     _ = charge(ledger, load_rate_card(), {"model": "ovi-image-to-video"}, paid=paid, **what)
    ...     back = refund(ledger, refund_id="f-1", sku="ovi-image-to-video-fixed", amount=Decimal("0.10"), **what)
    >>> [(row.amount, row.currency) for row in back.entries]
    [(Decimal('0.02'), 'USD'), (Decimal('0.08'), 'DIEM')]
    """
    check_writer(writer)
    for name, value in (("account", account), ("request_id", request_id), ("refund_id", refund_id), ("sku", sku)):
        check_name(name, value)
    if (amount is None) == (corrected is None):
        raise LedgerError("a refund has an amount, or what is corrected: one of the two")
    instant, corrects = check_moment(timestamp), amount is None
    stated = ("corrected", corrected) if amount is None else ("amount", amount)
    stated_amount = zero_or_more(*stated, LedgerError)
    if not corrects and not stated_amount:
        raise RefundError("amount", "Number must be greater than 0")
    names = {"request_id": request_id, "sku": sku}
    content = {**names, "timestamp": instant, "corrects": corrects, "amount": stated_amount}
    new_refund = NewRefund(account, request_id, refund_id, sku, instant, stated_amount, corrects, fingerprint(content))
    with writing_on(writer, (account,)) as connection:
        new, entries = write_refund(connection, new_refund, latest_of(writer, clock))
    return BookedRefund(refund_id, request_id, sku, timestamp_of(instant), entries, new)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _accounts_of(_: object, charges: Sequence[NewCharge], **__: object) -> set[str]:
    if not isinstance(charges, Sequence):  # an iterator would be used up here, before it is booked
        raise LedgerError(f"charges={echo(repr(charges))}. Pass a list: append_many(ledger, list(charges))")
    return {new_charge.account for new_charge in charges}


def _account_of(*_: object, account: str, **__: object) -> set[str]:
    return {account}


def _async_form(
    function: Callable[Concatenate[LedgerWriter, _P], _R], accounts: Callable[..., Collection[str]]
) -> Callable[Concatenate["Ledger | AsyncConnection", _P], Coroutine[Any, Any, _R]]:
    """Return the function for an event loop: on an `AsyncConnection` of the host, or in a thread of the ledger."""

    @wraps(function)
    async def call(writer: "Ledger | AsyncConnection", /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if isinstance(writer, Ledger):
            return await writer.in_thread(accounts(writer, *args, **kwargs), partial(function, writer, *args, **kwargs))
        if _kind(writer) != "AsyncConnection":
            raise _refusal(writer, "an AsyncConnection of SQLAlchemy")
        return await writer.run_sync(function, *args, **kwargs)

    return call


append_many_async = _async_form(append_many, _accounts_of)
charge_async = _async_form(charge, _account_of)
refund_async = _async_form(refund, _account_of)
