"""API key records as the API lists them, and whether a charge stays within a key's spending limit."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ratecard.rating.payment import check_paid, worth_of
from ratecard.rating.quote import Quote
from ratecard.words.errors import CurrencyError, InstantError
from ratecard.words.money import EXACT, add

# The balance that a key record has no limit for.
_UNLIMITED = "BUNDLED_CREDITS"


class _Record(BaseModel):
    """What the API sends: further fields may appear without notice, so unknown ones are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ConsumptionLimits(_Record):
    """The most that a key may spend in one limit period, by currency; None is no limit."""

    usd: Decimal | None = None
    diem: Decimal | None = None
    vcu: Decimal | None = None


class Amounts(_Record):
    """What was spent, by currency: decimal strings, exact."""

    usd: Decimal = Decimal(0)
    diem: Decimal = Decimal(0)
    vcu: Decimal = Decimal(0)


class KeyUsage(_Record):
    """What a key spent lately."""

    trailingSevenDays: Amounts = Amounts()  # noqa: N815 - the API's spelling


class ApiKey(_Record):
    """One API key record; the full key is never in it.

    >>> record = ApiKey.model_validate({"id": "k", "usage": {"trailingSevenDays": {"usd": "1.10"}}})
    >>> record.usage.trailingSevenDays.usd
    Decimal('1.10')
    """

    id: str = ""
    apiKeyType: str | None = None  # noqa: N815
    consumptionLimits: ConsumptionLimits = ConsumptionLimits()  # noqa: N815
    limitPeriod: str | None = None  # noqa: N815
    modelPrivacy: str | None = None  # noqa: N815
    createdAt: datetime | None = None  # noqa: N815
    expiresAt: datetime | None = None  # noqa: N815
    last6Chars: str | None = None  # noqa: N815
    lastUsedAt: datetime | None = None  # noqa: N815
    description: str | None = None
    usage: KeyUsage = KeyUsage()
    currentPeriodUsage: Amounts = Amounts()  # noqa: N815


class ApiKeyList(_Record):
    """The wrapper of a list answer."""

    data: tuple[ApiKey, ...]
    object: Literal["list"] = "list"


def within_limits(
    quote: Quote,
    key_record: ApiKey | Mapping[str, Any],
    spent: Mapping[str, Decimal] | Decimal | None = None,
    *,
    currency: str | None = None,
    paid: Mapping[str, Decimal] | None = None,
) -> bool:
    """Whether a charge keeps a key within its spending limits of the current period.

    `currency` (`usd`, `diem`, `vcu`) is what pays the charge, by default that of the quote; where several balances pay,
    `paid` is what each of them pays, as `settle` splits it, and each is judged by its own limit. `spent` is what the
    key spent in the period so far, by currency or in the one that pays; the record's own `currentPeriodUsage` where it
    is left out. A currency without a limit is unlimited, and bundled credits have none in the record. Raises
    `CurrencyError` for a quote that is not in USD, and for a currency without a limit or a rate in limits.yaml.

    >>> from decimal import Decimal
    >>> from ratecard import load_rate_card, settle
    >>> quote = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC)).quote_video({"model": "ovi-image-to-video"})
    >>> key = {"consumptionLimits": {"usd": "0.10", "diem": "0.20"}}
    >>> paid = settle(quote, {"DIEM": Decimal("0.20"), "USD": Decimal(5)})
    >>> within_limits(quote, key), within_limits(quote, key, paid=paid)
    (False, True)
    """
    key = key_record if isinstance(key_record, ApiKey) else ApiKey.model_validate(key_record)
    if paid is not None and currency is not None:
        raise CurrencyError("currency and paid are both given. Leave out currency")
    if paid is not None:
        check_paid(quote.total, quote.currency, quote.rates, paid)
        parts = {name.lower(): part for name, part in paid.items() if part and name != _UNLIMITED}
    else:
        payer = quote.currency if currency is None else currency.upper()
        _limit_of(key, payer.lower())
        parts = {payer.lower(): EXACT.divide(quote.total, worth_of(payer, quote.currency, quote.rates))}
    before = _spent(key, spent, parts)
    limits = {name: _limit_of(key, name) for name in parts}
    return all(limit is None or add(before[name], parts[name]) <= limit for name, limit in limits.items())


def _limit_of(key: ApiKey, name: str) -> Decimal | None:
    if name not in Amounts.model_fields:
        allowed = ", ".join(Amounts.model_fields)
        raise CurrencyError(f"currency={name.upper()!r} has no spending limit. Allowed: {allowed}")
    limit: Decimal | None = getattr(key.consumptionLimits, name)
    return limit


def _spent(
    key: ApiKey, spent: Mapping[str, Decimal] | Decimal | None, parts: Mapping[str, Decimal]
) -> Mapping[str, Decimal]:
    """What was spent so far in each of the currencies that pay."""
    if spent is None:
        return {name: getattr(key.currentPeriodUsage, name) for name in Amounts.model_fields}
    if not isinstance(spent, Mapping):
        if len(parts) > 1:
            raise CurrencyError(f"spent={spent!r} of a charge that {', '.join(parts)} pay. Give it by currency")
        return dict.fromkeys(parts, spent)
    before = dict.fromkeys(Amounts.model_fields, Decimal(0))
    for name, amount in spent.items():
        if name.lower() not in before:
            raise CurrencyError(f"spent has {name!r}. Allowed: {', '.join(before)}")
        before[name.lower()] = amount
    return before


def period_start(period: str, instant: datetime) -> datetime:
    """The beginning of the limit period that holds an aware instant, in UTC: MONTH, DAY, or EPOCH (a day).

    >>> period_start("MONTH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-09-01T00:00:00+00:00'
    """
    if instant.utcoffset() is None:
        raise InstantError(f"{instant!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
    day = instant.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period in ("DAY", "EPOCH"):
        return day
    if period == "MONTH":
        return day.replace(day=1)
    raise ValueError(f"limitPeriod {period!r} is not known. Allowed: DAY, EPOCH, MONTH")
