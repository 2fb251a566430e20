"""The rows of a charge: checking them, their columns in the database, and comparing them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from sqlalchemy import Row

from ratecard.base.errors import InstantError, LedgerError
from ratecard.base.messages import echo
from ratecard.base.money import READING
from ratecard.ledger.clock import AFTER_ALL, instant_of, timestamp_of
from ratecard.ledger.files import PRICES
from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.line_items.quote import Quote
from ratecard.requests.body import mapping_of

_LONGEST = 200


def check_name(field: str, given: str) -> None:
    """Raise `LedgerError` unless an account or id is short and printable, so that every database takes it as a key."""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST or not given.isprintable():
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: 1 to {_LONGEST} printable characters")


def check_moment(given: datetime) -> int:
    """Return the instant of a datetime. Raises `InstantError` if it has no time zone, or no date in UTC."""
    instant = instant_of(given)
    try:
        given.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{given.isoformat()} has no date in UTC") from None
    return instant


def check_count(field: str, given: int | None) -> None:
    """Raise `LedgerError` unless this is None or a whole number, zero or more, of 64 bits."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= AFTER_ALL):
        raise LedgerError(f"{field}={echo(repr(given))}. Allowed: a whole number, zero or more, of 64 bits")


@dataclass(frozen=True, slots=True)
class NewCharge:
    """A charge for `append_many`; the fields are the arguments of `Ledger.append`."""

    quote: Quote
    account: str
    request_id: str
    timestamp: datetime
    execution_ms: int | None = None
    currency: str | None = None
    paid: Mapping[str, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class ChargeRows:
    """The checked rows of a charge; `content` is the fingerprint of what was charged, if it is known."""

    account: str
    request_id: str
    instant: int
    entries: tuple[LedgerEntry, ...]
    content: str | None

    @property
    def key(self) -> tuple[str, str]:
        """Return the account and the request id."""
        return self.account, self.request_id


def charge_rows(charge: NewCharge, content: str | None = None) -> ChargeRows:
    """Make and check the rows of a charge. Raises `LedgerError`, `CurrencyError` and `InstantError`."""
    check_name("account", charge.account)
    check_name("request_id", charge.request_id)
    check_count("execution_ms", charge.execution_ms)
    for tokens in charge.quote.tokens or ():
        check_count("tokens", tokens)
    entries = charge.quote.ledger_entries(
        timestamp=charge.timestamp,
        request_id=charge.request_id,
        execution_ms=charge.execution_ms,
        currency=charge.currency,
        paid=charge.paid,
    )
    return ChargeRows(charge.account, charge.request_id, check_moment(charge.timestamp), entries, content)


# The names that a row of the database and an entry have in common.
_VALUES = ("sku", "price_per_unit", "unit", "amount", "currency", "notes", "worth", "contract")


def row_of(account: str, number: int, instant: int, entry: LedgerEntry) -> dict[str, Any]:
    """Return the values of an entry by database column."""
    place = {"account": account, "number": number, "instant": instant}
    values = {name: getattr(entry, name) for name in _VALUES}
    return {**place, **values, **asdict(entry.details or InferenceDetails("", None))}


def entry_of_row(row: Row[Any]) -> LedgerEntry:
    """Return the entry of a database row, with its timestamp in UTC."""
    details = InferenceDetails(row.request_id, row.execution_ms, row.prompt_tokens, row.completion_tokens)
    values = {name: getattr(row, name) for name in _VALUES}
    return LedgerEntry(timestamp_of(row.instant), details=details, **values)


# Timestamp and execution time belong to the attempt and not to the charge: those of a retry may differ.
_CHARGED = ("sku", "currency", *PRICES, "unit", "amount", "notes", "requestId", "promptTokens", "completionTokens")


def difference(kept: Sequence[LedgerEntry], given: Sequence[LedgerEntry]) -> str:
    """Return the first difference of two charges for one request; empty if they are the same."""
    if len(kept) != len(given):
        return f"it has {len(kept)} rows, not {len(given)}"
    for place, pair in enumerate(zip(kept, given, strict=True), 1):
        kept_fields, given_fields = (
            entry.to_dict() | (entry.details.to_dict() if entry.details else {}) for entry in pair
        )
        for name in _CHARGED:
            if kept_fields.get(name) != given_fields.get(name):
                return f"{name} of row {place} is {kept_fields.get(name)}, not {given_fields.get(name)}"
    return ""


def fingerprint(content: Mapping[str, Any]) -> str:
    """Return a digest of the content of a request that ignores the order of keys and the spelling of numbers (1, 1.0).

    >>> one = {"usage": {"n": 1, "model": "m"}, "timestamp": 0}
    >>> fingerprint(one) == fingerprint({"timestamp": 0, "usage": {"model": "m", "n": Decimal("1.0")}})
    True
    >>> fingerprint(one) == fingerprint({"timestamp": 0, "usage": {"model": "m", "n": "1"}})
    False
    """
    # JSON in ASCII has one spelling for any text of a caller, even with lone surrogates.
    return sha256(json.dumps(_plain(content), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return the value as JSON in which everything but text, true, false and null is a list that says its type."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float, Decimal)):
        exact = value if isinstance(value, (int, Decimal)) else str(value)
        # The zero of a float may have a sign.
        return ["number", str(READING.normalize(READING.create_decimal(exact)) or 0)]
    if (fields := mapping_of(value)) is not None:
        return ["object", {str(name): _plain(part) for name, part in fields.items()}]
    return ["array", *map(_plain, value)] if isinstance(value, (list, tuple)) else ["other", repr(value)]
