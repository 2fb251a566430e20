"""Charges and refunds, written in the transaction of a connection: either all of them or nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from ratecard.base.errors import CurrencyError, InstantError, LedgerConflictError, LedgerDamagedError, RefundError
from ratecard.base.messages import invalid_enum, too_big
from ratecard.base.money import EXACT, minus, plain, total
from ratecard.ledger.clock import timestamp_of
from ratecard.ledger.rows import ChargeRows, difference, entry_of_row, row_of
from ratecard.ledger.schema import ACCOUNTS, ENTRIES, REFUNDS, REQUESTS
from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry, pay_back, value_of

_Key = tuple[str, str]
_Value = TypeVar("_Value")


def write_charges(connection: Connection, charges: Sequence[ChargeRows], latest: int) -> list[bool]:
    """Write the charges that the ledger does not have yet; return for each whether it was new.

    The rows of their accounts are locked in one order until the transaction ends. Raises `LedgerConflictError` for a
    request that was charged with other rows or for other content, `InstantError` for a new request that is later than
    the instant `latest`, and `LedgerDamagedError` for a booked request whose rows are missing; then nothing is written.
    """
    first_charges: dict[_Key, ChargeRows] = {}
    for charge in charges:
        first_charge = first_charges.setdefault(charge.key, charge)
        if first_charge is not charge:
            _refuse_other(charge, first_charge.content, first_charge.instant, first_charge.entries)
    ordered_charges = sorted(first_charges.values(), key=lambda charge: charge.account)
    last_numbers = _claim(connection, ordered_charges)
    late_charges = [charge for charge in ordered_charges if charge.key in last_numbers and charge.instant > latest]
    if late_charges or len(last_numbers) < len(ordered_charges):
        # Some charges are in the ledger already, or refused. Give back all numbers, so that the rows are numbered
        # without gaps, and claim again without these charges; that succeeds, because the accounts are locked now. A
        # host that goes on after an error finds nothing written.
        _give_back(connection, ordered_charges, last_numbers.keys())
        for charge in late_charges:
            _refuse_late("request", charge.request_id, charge.instant, latest)
        known_charges = (charge for charge in ordered_charges if charge.key not in last_numbers)
        for account, group in groupby(known_charges, attrgetter("account")):
            by_request = {charge.request_id: charge for charge in group}
            kept_charges = find_charges(connection, account, list(by_request))
            for request_id, charge in by_request.items():
                if request_id not in kept_charges:
                    raise LedgerDamagedError(f"request {request_id!r} cannot be booked, and is not in the ledger")
                _refuse_other(charge, *kept_charges[request_id])
        ordered_charges = [charge for charge in ordered_charges if charge.key in last_numbers]
        last_numbers = _claim(connection, ordered_charges)
    rows = [
        row_of(charge.account, last_numbers[charge.key] - len(charge.entries) + place, charge.instant, entry)
        for charge in ordered_charges
        for place, entry in enumerate(charge.entries, 1)
    ]
    _write_rows(connection, rows)
    new_keys = set(last_numbers)
    return [first_charges[charge.key] is charge and charge.key in new_keys for charge in charges]


def _write_rows(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows, and check that the database kept all of them. Raises `LedgerDamagedError`."""
    if not rows:
        return
    written_keys = connection.execute(insert(ENTRIES).returning(ENTRIES.c.account, ENTRIES.c.number), rows)
    if Counter((row["account"], row["number"]) for row in rows) != Counter(map(tuple, written_keys)):
        raise LedgerDamagedError(f"the database did not keep every row of request {rows[0]['request_id']!r}")


def _refuse_late(kind: str, name: str, instant: int, latest: int) -> None:
    """Raise `InstantError` for a request or refund that is later than the clock allows."""
    if instant > latest:
        words = f"timestamp {timestamp_of(instant)} of {kind} {name!r} is ahead of the clock"
        raise InstantError(f"{words}. Allowed: at most {timestamp_of(latest)}")


def _claim(connection: Connection, charges: Sequence[ChargeRows]) -> dict[_Key, int]:
    """Insert the requests that the ledger does not have; return the number of the last row of each of them."""
    row_counts = _rows_by_account(charges)
    ends = {account: _count(connection, account, row_count) - row_count for account, row_count in row_counts.items()}
    claims = []
    for charge in charges:
        ends[charge.account] += len(charge.entries)
        claim = {"account": charge.account, "request_id": charge.request_id, "last": ends[charge.account]}
        claims.append({**claim, "rows": len(charge.entries), "content": charge.content})
    if not claims:
        return {}
    claim_statement = _insert(connection)(REQUESTS).on_conflict_do_nothing()
    new_requests = connection.execute(
        claim_statement.returning(REQUESTS.c.account, REQUESTS.c.request_id, REQUESTS.c.last), claims
    )
    return {(account, request_id): last for account, request_id, last in new_requests}


def _give_back(connection: Connection, charges: Iterable[ChargeRows], claimed: Iterable[_Key]) -> None:
    for account, row_count in _rows_by_account(charges).items():
        _count(connection, account, -row_count)
    keys = [{"of_account": account, "of_request": request_id} for account, request_id in claimed]
    if keys:
        of_request = REQUESTS.c.request_id == bindparam("of_request")
        connection.execute(delete(REQUESTS).where(REQUESTS.c.account == bindparam("of_account"), of_request), keys)


def _rows_by_account(charges: Iterable[ChargeRows]) -> dict[str, int]:
    rows = Counter[str]()
    for charge in charges:
        rows[charge.account] += len(charge.entries)
    return rows


def _insert(connection: Connection) -> type[sqlite.Insert] | type[postgresql.Insert]:
    """Return the INSERT of the dialect: both have ON CONFLICT, but SQLAlchemy has no common statement for it."""
    return sqlite.Insert if connection.dialect.name == "sqlite" else postgresql.Insert


def _count(connection: Connection, account: str, rows: int) -> int:
    """Add to the account's count of rows and return it; other appends to the account wait for this transaction."""
    insertion = _insert(connection)(ACCOUNTS).values(account=account, rows=rows)
    upsert = insertion.on_conflict_do_update(
        index_elements=[ACCOUNTS.c.account], set_={"rows": ACCOUNTS.c.rows + insertion.excluded.rows}
    )
    count: int = connection.execute(upsert.returning(ACCOUNTS.c.rows)).scalar_one()
    return count


_Entries = tuple[LedgerEntry, ...]
_Kept = tuple[str | None, int, _Entries]


# The most values in one query, which databases limit.
_AT_ONCE = 500


def find_charges(connection: Connection, account: str, request_ids: Sequence[str]) -> dict[str, _Kept]:
    """Return content, instant and rows of the known charges, by request id; without rows the instant is 0."""
    requests: dict[str, Row[Any]] = {}
    for batch in _parts(request_ids):
        query = select(REQUESTS).where(REQUESTS.c.account == account, REQUESTS.c.request_id.in_(batch))
        requests |= {request.request_id: request for request in connection.execute(query)}
    rows = _rows(connection, account, list(requests.values()))
    return {name: (request.content, *_own(rows, request, f"request {name!r}")) for name, request in requests.items()}


def _rows(connection: Connection, account: str, of: Sequence[Row[Any]]) -> dict[int, Row[Any]]:
    numbers = [number for record in of for number in _numbers(record)]
    by_number: dict[int, Row[Any]] = {}
    for batch in _parts(numbers):  # not a join, for which SQLite would scan the account
        query = select(ENTRIES).where(ENTRIES.c.account == account, ENTRIES.c.number.in_(batch))
        by_number |= {row.number: row for row in connection.execute(query)}
    return by_number


def _own(rows: Mapping[int, Row[Any]], of: Row[Any], what: str, notes: str | None = None) -> tuple[int, _Entries]:
    """Return the instant and the rows of a charge or refund. Raises `LedgerDamagedError` for missing or wrong rows."""
    kept_rows = [rows[number] for number in _numbers(of) if number in rows]
    if len(kept_rows) < of.rows:
        words = f"{what} has {of.rows} rows in the ledger, of which {of.rows - len(kept_rows)} are missing"
        raise LedgerDamagedError(words)
    if any(row.request_id != of.request_id or notes not in (None, row.notes) for row in kept_rows):
        raise LedgerDamagedError(f"{what} has rows of another in the ledger")
    return (kept_rows[0].instant if kept_rows else 0), tuple(map(entry_of_row, kept_rows))


def _numbers(of: Row[Any]) -> range:
    return range(of.last - of.rows + 1, of.last + 1)


def _parts(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


def _refuse_other(given: ChargeRows, content: str | None, instant: int, entries: Sequence[LedgerEntry]) -> None:
    """Raise `LedgerConflictError` if the charge in the ledger has other content, or, without content, other rows."""
    if content and given.content:
        refuse_other_content("request", given.request_id, (content, given.content), (instant, given.instant))
    elif first_difference := difference(entries, given.entries):
        raise LedgerConflictError(_same(f"request {given.request_id!r}", first_difference))


def refuse_other_content(kind: str, name: str, contents: tuple[str, str], instants: tuple[int, int]) -> None:
    """Raise `LedgerConflictError` if the content in the ledger and the new content differ."""
    kept_content, new_content = contents
    if kept_content != new_content:
        kept_timestamp, new_timestamp = map(timestamp_of, instants)
        reason = "its content differs"
        if instants[0] and kept_timestamp != new_timestamp:
            reason = f"its timestamp is {kept_timestamp}, not {new_timestamp}"
        raise LedgerConflictError(_same(f"{kind} {name!r}", reason))


def _same(what: str, differs: str) -> str:
    return f"{what} is in the ledger already, and not the same: {differs}"


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund of an amount; or, if it `corrects`, of all that is now charged for the SKU above that amount."""

    account: str
    request_id: str
    refund_id: str
    sku: str
    instant: int
    amount: Decimal
    corrects: bool
    content: str


def write_refund(connection: Connection, asked: NewRefund, latest: int) -> tuple[bool, _Entries]:
    """Write a refund unless the ledger has it; return whether it was new, and its rows.

    The account is locked until the transaction ends, so that simultaneous refunds never exceed a charge in total.
    Raises `RefundError`, `LedgerConflictError` for the same id with other content, and `InstantError` for a new refund
    that is later than both the instant `latest` and its charge.
    """
    account, request_id = asked.account, asked.request_id
    of_request = and_(REQUESTS.c.account == account, REQUESTS.c.request_id == request_id)
    # An unknown request takes no lock and adds no account.
    if connection.scalar(select(REQUESTS.c.rows).where(of_request)) is None:
        raise RefundError("request_id", f"no charge {request_id!r} of this account")
    _count(connection, account, 0)
    of_refund = and_(REFUNDS.c.account == account, REFUNDS.c.refund_id == asked.refund_id)
    if (kept_refund := connection.execute(select(REFUNDS).where(of_refund)).first()) is not None:
        rows, name = _rows(connection, account, [kept_refund]), f"refund {kept_refund.refund_id!r}"
        instant, entries = _own(rows, kept_refund, name, _notes(kept_refund.refund_id))
        refuse_other_content("refund", asked.refund_id, (kept_refund.content, asked.content), (instant, asked.instant))
        return False, entries
    entries = _refunded(connection, asked, latest)
    last = _count(connection, account, len(entries))
    columns = {"account": account, "refund_id": asked.refund_id, "request_id": request_id, "content": asked.content}
    connection.execute(insert(REFUNDS), {**columns, "last": last, "rows": len(entries)})
    numbered = enumerate(entries, last - len(entries) + 1)
    _write_rows(connection, [row_of(account, number, asked.instant, row) for number, row in numbered])
    return True, entries


def _notes(refund_id: str) -> str:
    return f"refund {refund_id}"


def _refunded(connection: Connection, asked: NewRefund, latest: int) -> _Entries:
    """Return the rows of a refund; the balance that paid last comes first. Raises `RefundError` and `InstantError`."""
    _, charged_at, charged = find_charges(connection, asked.account, [asked.request_id])[asked.request_id]
    sku_rows = [row for row in charged if row.sku == asked.sku]
    if not sku_rows:
        skus = dict.fromkeys(row.sku for row in charged)
        raise RefundError("sku", invalid_enum(skus, asked.sku) if skus else "The charge cost nothing")
    if asked.instant < charged_at:
        raise RefundError("timestamp", f"Must not be before the charge, which is of {timestamp_of(charged_at)}")
    # A charge that an earlier release booked too far ahead of the clock can be paid back.
    _refuse_late("refund", asked.refund_id, asked.instant, max(latest, charged_at))
    of_request = and_(REFUNDS.c.account == asked.account, REFUNDS.c.request_id == asked.request_id)
    refunds = connection.execute(select(REFUNDS).where(of_request)).all()
    rows = map(entry_of_row, _rows(connection, asked.account, refunds).values())
    refund_rows = [row for row in rows if row.sku == asked.sku]
    try:
        refunded = total([value_of(row.amount, row) for row in refund_rows])
        refundable = EXACT.subtract(total([value_of(minus(row.amount), row) for row in sku_rows]), refunded)
    except CurrencyError as error:
        raise RefundError("sku", str(error)) from None
    if asked.amount > refundable:
        words = [too_big(plain(refundable)), *(["More than was charged is a new charge"] if asked.corrects else [])]
        raise RefundError("corrected" if asked.corrects else "amount", *words)
    amount = EXACT.subtract(refundable, asked.amount) if asked.corrects else asked.amount
    columns: dict[str, Any] = {
        "timestamp": timestamp_of(asked.instant),
        "unit": Decimal(0),
        "notes": _notes(asked.refund_id),
        "details": InferenceDetails(asked.request_id, None),
    }
    return tuple(replace(row, amount=row_amount, **columns) for row, row_amount in pay_back(sku_rows, refunded, amount))
