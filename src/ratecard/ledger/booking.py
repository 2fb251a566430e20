"""Charges and refunds on a connection, in the transaction that it has: all of it is written, or nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from ratecard.base.errors import CurrencyError, InstantError, LedgerConflictError, LedgerDamagedError, RefundError
from ratecard.base.messages import invalid_enum, too_big
from ratecard.base.money import EXACT, minus, plain, total
from ratecard.ledger.rows import ChargeRows, difference, entry_of_row, row_of
from ratecard.ledger.schema import ACCOUNTS, ENTRIES, REFUNDS, REQUESTS
from ratecard.ledger.walk import timestamp_of
from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry, pay_back, value_of

_Key = tuple[str, str]
_Value = TypeVar("_Value")


def write_charges(connection: Connection, charges: Sequence[ChargeRows], latest: int) -> list[bool]:
    """Write the charges that the ledger does not have yet; returns which were new, in order.

    The rows of their accounts are locked in one order until the transaction ends. Raises `LedgerConflictError` for a
    request that was charged with other rows or for other content, `InstantError` for a new one that is later than the
    instant `latest`, and `LedgerDamagedError` for one that was booked and has no rows; then nothing is written.
    """
    first: dict[_Key, ChargeRows] = {}
    for each in charges:
        before = first.setdefault(each.key, each)
        if before is not each:
            _refuse_other(each, before.content, before.instant, before.entries)
    ordered = sorted(first.values(), key=lambda each: each.account)
    last = _claim(connection, ordered)
    late = next((each for each in ordered if each.key in last and each.instant > latest), None)
    if late or len(last) < len(ordered):
        # Some are in the ledger, or refused. Give back every number, so that none is missing, and claim again without
        # these; that succeeds, because the accounts are locked now. A host that goes on after an error finds nothing
        # written.
        _give_back(connection, ordered, last.keys())
        if late:
            _refuse_late("request", late.request_id, late.instant, latest)
        for account in dict.fromkeys(each.account for each in ordered):
            known = [each for each in ordered if each.account == account and each.key not in last]
            kept = find_charges(connection, account, [each.request_id for each in known])
            for each in known:
                if each.request_id not in kept:
                    raise LedgerDamagedError(f"request {each.request_id!r} cannot be booked, and is not in the ledger")
                _refuse_other(each, *kept[each.request_id])
        ordered = [each for each in ordered if each.key in last]
        last = _claim(connection, ordered)
    rows = [
        row_of(each.account, last[each.key] - len(each.entries) + place, each.instant, entry)
        for each in ordered
        for place, entry in enumerate(each.entries, 1)
    ]
    _write_rows(connection, rows)
    new = set(last)
    return [first[each.key] is each and each.key in new for each in charges]


def _write_rows(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows, and prove that the database took each of them. Raises `LedgerDamagedError`."""
    if not rows:
        return
    written = connection.execute(insert(ENTRIES).returning(ENTRIES.c.account, ENTRIES.c.number), rows)
    if Counter((row["account"], row["number"]) for row in rows) != Counter(map(tuple, written)):
        raise LedgerDamagedError(f"the database did not keep every row of request {rows[0]['request_id']!r}")


def _refuse_late(kind: str, name: str, instant: int, latest: int) -> None:
    """Raise `InstantError` for what is later than the clock allows."""
    if instant > latest:
        words = f"timestamp {timestamp_of(instant)} of {kind} {name!r} is ahead of the clock"
        raise InstantError(f"{words}. Allowed: at most {timestamp_of(latest)}")


def _claim(connection: Connection, charges: Sequence[ChargeRows]) -> dict[_Key, int]:
    """Insert the requests that are not there yet; returns the number of the last row of each of these."""
    rows = _rows_by_account(charges)
    ends = {account: _count(connection, account, more) - more for account, more in rows.items()}
    claims = []
    for charge in charges:
        ends[charge.account] += len(charge.entries)
        claim = {"account": charge.account, "request_id": charge.request_id, "last": ends[charge.account]}
        claims.append({**claim, "rows": len(charge.entries), "content": charge.content})
    if not claims:
        return {}
    claimed = _insert(connection)(REQUESTS).on_conflict_do_nothing()
    rows_new = connection.execute(claimed.returning(REQUESTS.c.account, REQUESTS.c.request_id, REQUESTS.c.last), claims)
    return {(account, request_id): last for account, request_id, last in rows_new}


def _give_back(connection: Connection, charges: Iterable[ChargeRows], claimed: Iterable[_Key]) -> None:
    for account, rows in _rows_by_account(charges).items():
        _count(connection, account, -rows)
    keys = [{"of_account": account, "of_request": request_id} for account, request_id in claimed]
    if keys:
        ours = and_(REQUESTS.c.account == bindparam("of_account"), REQUESTS.c.request_id == bindparam("of_request"))
        connection.execute(delete(REQUESTS).where(ours), keys)


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
    new = _insert(connection)(ACCOUNTS).values(account=account, rows=rows)
    added = new.on_conflict_do_update(
        index_elements=[ACCOUNTS.c.account], set_={"rows": ACCOUNTS.c.rows + new.excluded.rows}
    )
    count: int = connection.execute(added.returning(ACCOUNTS.c.rows)).scalar_one()
    return count


_Entries = tuple[LedgerEntry, ...]
_Kept = tuple[str | None, int, _Entries]


# Values of one query; databases have a limit.
_AT_ONCE = 500


def find_charges(connection: Connection, account: str, request_ids: Sequence[str]) -> dict[str, _Kept]:
    """Return the content, the instant and the rows of those charges that there are. The instant of no rows is 0."""
    requests: dict[str, Row[Any]] = {}
    for some in _parts(request_ids):
        ours = and_(REQUESTS.c.account == account, REQUESTS.c.request_id.in_(some))
        requests |= {request.request_id: request for request in connection.execute(select(REQUESTS).where(ours))}
    rows = _rows(connection, account, list(requests.values()))
    return {name: (request.content, *_own(rows, request, f"request {name!r}")) for name, request in requests.items()}


def _rows(connection: Connection, account: str, of: Sequence[Row[Any]]) -> dict[int, Row[Any]]:
    numbers = [number for each in of for number in _numbers(each)]
    by_number: dict[int, Row[Any]] = {}
    for some in _parts(numbers):  # a join would scan the account in SQLite
        ours = and_(ENTRIES.c.account == account, ENTRIES.c.number.in_(some))
        by_number |= {row.number: row for row in connection.execute(select(ENTRIES).where(ours))}
    return by_number


def _own(rows: Mapping[int, Row[Any]], of: Row[Any], what: str, notes: str | None = None) -> tuple[int, _Entries]:
    """Read the instant and the rows of one charge or refund. Raises `LedgerDamagedError` if one is missing."""
    kept = [rows[number] for number in _numbers(of) if number in rows]
    if len(kept) < of.rows:
        raise LedgerDamagedError(f"{what} has {of.rows} rows in the ledger, of which {of.rows - len(kept)} are missing")
    if any(row.request_id != of.request_id or notes not in (None, row.notes) for row in kept):
        raise LedgerDamagedError(f"{what} has rows of another in the ledger")
    return (kept[0].instant if kept else 0), tuple(map(entry_of_row, kept))


def _numbers(of: Row[Any]) -> range:
    return range(of.last - of.rows + 1, of.last + 1)


def _parts(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


def _refuse_other(given: ChargeRows, content: str | None, instant: int, entries: Sequence[LedgerEntry]) -> None:
    """Raise `LedgerConflictError` unless the ledger has this charge: of the same content, where both say it."""
    if content and given.content:
        refuse_other_content("request", given.request_id, (content, given.content), (instant, given.instant))
    elif differs := difference(entries, given.entries):
        raise LedgerConflictError(_same(f"request {given.request_id!r}", differs))


def refuse_other_content(kind: str, name: str, contents: tuple[str, str], instants: tuple[int, int]) -> None:
    """Raise `LedgerConflictError` unless both contents, the kept and the given one, are the same."""
    kept, stated = contents
    if kept != stated:
        before, now = map(timestamp_of, instants)
        differs = f"its timestamp is {before}, not {now}" if instants[0] and before != now else "its content differs"
        raise LedgerConflictError(_same(f"{kind} {name!r}", differs))


def _same(what: str, differs: str) -> str:
    return f"{what} is in the ledger already, and not the same: {differs}"


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund of an amount; or, if it `corrects`, of what the SKU comes to now above that amount."""

    account: str
    request_id: str
    refund_id: str
    sku: str
    instant: int
    amount: Decimal
    corrects: bool
    content: str


def write_refund(connection: Connection, asked: NewRefund, latest: int) -> tuple[bool, _Entries]:
    """Write a refund unless the ledger has it; returns whether it was new, and its rows.

    The account is locked until the transaction ends, so that refunds at the same time never exceed a charge together.
    Raises `RefundError`, `LedgerConflictError` for the same id with other content, and `InstantError` for a new one
    that is later than the instant `latest` and than its charge.
    """
    account, request_id = asked.account, asked.request_id
    known = and_(REQUESTS.c.account == account, REQUESTS.c.request_id == request_id)
    if connection.scalar(select(REQUESTS.c.rows).where(known)) is None:  # no lock, and no account, for what is unknown
        raise RefundError("request_id", f"no charge {request_id!r} of this account")
    _count(connection, account, 0)
    ours = and_(REFUNDS.c.account == account, REFUNDS.c.refund_id == asked.refund_id)
    if (kept := connection.execute(select(REFUNDS).where(ours)).first()) is not None:
        notes = _notes(kept.refund_id)
        instant, entries = _own(_rows(connection, account, [kept]), kept, f"refund {kept.refund_id!r}", notes)
        refuse_other_content("refund", asked.refund_id, (kept.content, asked.content), (instant, asked.instant))
        return False, entries
    entries = _refunded(connection, asked, latest)
    last = _count(connection, account, len(entries))
    names = {"account": account, "refund_id": asked.refund_id, "request_id": request_id, "content": asked.content}
    connection.execute(insert(REFUNDS), {**names, "last": last, "rows": len(entries)})
    numbered = enumerate(entries, last - len(entries) + 1)
    _write_rows(connection, [row_of(account, number, asked.instant, row) for number, row in numbered])
    return True, entries


def _notes(refund_id: str) -> str:
    return f"refund {refund_id}"


def _refunded(connection: Connection, asked: NewRefund, latest: int) -> _Entries:
    """Return the rows of a refund: of the last balance that paid first. Raises `RefundError` and `InstantError`."""
    _, charged_at, charged = find_charges(connection, asked.account, [asked.request_id])[asked.request_id]
    parts = [row for row in charged if row.sku == asked.sku]
    if not parts:
        skus = dict.fromkeys(row.sku for row in charged)
        raise RefundError("sku", invalid_enum(skus, asked.sku) if skus else "The charge cost nothing")
    if asked.instant < charged_at:
        raise RefundError("timestamp", f"Must not be before the charge, which is of {timestamp_of(charged_at)}")
    # What an earlier release booked too late can be paid back.
    _refuse_late("refund", asked.refund_id, asked.instant, max(latest, charged_at))
    of_request = and_(REFUNDS.c.account == asked.account, REFUNDS.c.request_id == asked.request_id)
    refunds = connection.execute(select(REFUNDS).where(of_request)).all()
    rows = map(entry_of_row, _rows(connection, asked.account, refunds).values())
    earlier = [row for row in rows if row.sku == asked.sku]
    try:
        before = total([value_of(row.amount, row) for row in earlier])
        left = EXACT.subtract(total([value_of(minus(row.amount), row) for row in parts]), before)
    except CurrencyError as error:
        raise RefundError("sku", str(error)) from None
    if asked.amount > left:
        words = [too_big(plain(left)), *(["More than was charged is a new charge"] if asked.corrects else [])]
        raise RefundError("corrected" if asked.corrects else "amount", *words)
    amount = EXACT.subtract(left, asked.amount) if asked.corrects else asked.amount
    booked: dict[str, Any] = {
        "timestamp": timestamp_of(asked.instant),
        "unit": Decimal(0),
        "notes": _notes(asked.refund_id),
        "details": InferenceDetails(asked.request_id, None),
    }
    return tuple(replace(row, amount=back, **booked) for row, back in pay_back(parts, before, amount))
