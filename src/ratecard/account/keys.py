"""API key records as the API lists them, and whether a charge stays within a key's spending limit."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ratecard.rating.quote import Quote
from ratecard.words.errors import InstantError
from ratecard.words.money import add


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
    currency: str = "usd",
) -> bool:
    """Whether a charge keeps a key within its spending limit of the current period.

    `spent` is what the key spent in the period so far, by currency (`usd`, `diem`, `vcu`) or in `currency`; the
    record's own `currentPeriodUsage` where it is left out. A currency without a limit is unlimited.
    """
    key = key_record if isinstance(key_record, ApiKey) else ApiKey.model_validate(key_record)
    name = currency.lower()
    if name not in Amounts.model_fields:
        raise ValueError(f"currency={currency!r} has no spending limit. Allowed: {', '.join(Amounts.model_fields)}")
    limit: Decimal | None = getattr(key.consumptionLimits, name)
    if spent is None:
        before: Decimal = getattr(key.currentPeriodUsage, name)
    else:
        before = spent.get(name, Decimal(0)) if isinstance(spent, Mapping) else spent
    return limit is None or add(before, quote.total) <= limit


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
