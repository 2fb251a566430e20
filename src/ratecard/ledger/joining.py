"""The rows of a charge that more than one balance paid, put together again."""

from collections.abc import Iterable

from ratecard.ledger.errors import LedgerError
from ratecard.rating.ledger_entry import LedgerEntry

Parts = tuple[LedgerEntry, ...]


def join_parts(entries: Iterable[LedgerEntry]) -> tuple[Parts, ...]:
    """Each charge as its rows, in the order of the ledger: one row, or the first and what other balances paid of it.

    A further part has no units; it belongs to the row with the same request, SKU and price. Raises `LedgerError` for
    one whose first part is not among the rows, as at the edge of a window.

    >>> from decimal import Decimal
    >>> from ratecard import read_ledger
    >>> lines = ["timestamp,sku,pricePerUnitUsd,unit,amount,currency,requestId"]
    >>> lines += ["2026-10-01T00:00:00Z,s,0.10,2,-0.15,DIEM,r", "2026-10-01T00:00:00Z,s,0.10,0,-0.05,USD,r"]
    >>> [charge] = join_parts(read_ledger("\\n".join(lines)))
    >>> charge[0].unit * charge[0].price_per_unit, [(row.amount, row.currency) for row in charge]
    (Decimal('0.20'), [(Decimal('-0.15'), 'DIEM'), (Decimal('-0.05'), 'USD')])
    """
    charges: list[list[LedgerEntry]] = []
    further: list[tuple[int, LedgerEntry]] = []
    first: dict[tuple[object, ...], list[LedgerEntry]] = {}
    for number, entry in enumerate(entries, 1):
        if not entry.unit and entry.amount < 0 and entry.details:
            further.append((number, entry))
            continue
        charges.append([entry])
        if entry.unit > 0 and entry.details:
            first.setdefault(_key(entry), charges[-1])
    for number, entry in further:
        if _key(entry) not in first:
            words = f"is a further part of request {entry.details and entry.details.request_id!r}"
            raise LedgerError(f"row {number}: {entry.sku} {words}, whose first part is not among the rows")
        first[_key(entry)].append(entry)
    return tuple(map(tuple, charges))


def _key(entry: LedgerEntry) -> tuple[object, ...]:
    return entry.details and entry.details.request_id, entry.sku, entry.price_per_unit
