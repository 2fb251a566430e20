"""Limits of the shipped tables, for a program that needs no prices. A price book has the same at its own instant."""

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal, overload

from ratecard.account.limits import Limit, Sunset, VideoLimit
from ratecard.card import RateCard, load_rate_card
from ratecard.tables.limits import Rates


@overload  # mypy cannot say "every str but this one"
def limits_for(  # type: ignore[overload-overlap]
    type_: Literal["video"], *, partner: bool = False, at: datetime | date | None = None
) -> VideoLimit: ...
@overload
def limits_for(
    type_: str, *, tier: str | None = None, partner: bool = False, at: datetime | date | None = None
) -> Limit: ...
@overload
def limits_for(
    type_: str | None = None,
    *,
    model: str | None = None,
    tier: str | None = None,
    partner: bool = False,
    at: datetime | date | None = None,
) -> Limit | VideoLimit: ...
def limits_for(
    type_: str | None = None,
    *,
    model: str | None = None,
    tier: str | None = None,
    partner: bool = False,
    at: datetime | date | None = None,
) -> Limit | VideoLimit:
    """Requests (and tokens) a minute of a type or model, as the shipped tables have it at an instant (now if left out).

    As `PriceBook.limits_for`. Raises `LimitError`.

    >>> limits_for("text", tier="S", partner=False)
    Limit(requests=75, tokens=750000, from_default=False)
    """
    return _shipped().at(at or datetime.now(UTC)).limits_for(type_, model=model, tier=tier, partner=partner)


def sunset(endpoint: str, *, at: datetime | date | None = None) -> Sunset | None:
    """Status, headers and body of an endpoint that ends, as the shipped tables have it at an instant (now if left out).

    404 before its last day, 410 from then on, of HEAD as of GET; None of an endpoint that stays.

    >>> sunset("GET /billing/usage", at=date(2026, 9, 16)).status
    410
    """
    return _shipped().at(at or datetime.now(UTC)).sunset(endpoint)


def shipped_rates() -> Rates:
    """What one of each balance is worth in US dollars, from the newest limits of the shipped tables.

    >>> shipped_rates().DIEM, shipped_rates().VCU
    (Decimal('1'), None)
    """
    return _shipped().tables.limits[0].rates


@lru_cache(maxsize=1)
def _shipped() -> RateCard:
    return load_rate_card()
