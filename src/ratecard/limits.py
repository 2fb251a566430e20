"""Limits of requests by type and tier, and the ends of endpoints, as limits.yaml states them.

`limits_for` and `sunset` read the shipped tables, for a program that needs no prices. A price book has both for its own
tables (`PriceBook.limits_for`, `PriceBook.deprecation`).
"""

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal, overload

from ratecard.accounts.limits import (
    Block,
    Limit,
    LimitError,
    Sunset,
    VideoLimit,
    failed_request_block,
    rate_limit_headers,
)
from ratecard.card import RateCard, load_rate_card

__all__ = [
    "Block",
    "Limit",
    "LimitError",
    "Sunset",
    "VideoLimit",
    "failed_request_block",
    "limits_for",
    "rate_limit_headers",
    "sunset",
]


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
    """Look up requests and tokens per minute of a type or model in the shipped tables, at an instant (default: now).

    It does the same as `PriceBook.limits_for`. Raises `LimitError`.

    >>> limits_for("text", tier="S", partner=False)
    Limit(requests=75, tokens=750000, from_default=False)
    """
    return _shipped().at(at or datetime.now(UTC)).limits_for(type_, model=model, tier=tier, partner=partner)


def sunset(endpoint: str, *, at: datetime | date | None = None) -> Sunset | None:
    """Return status, headers and body of a deprecated endpoint, from the shipped tables at an instant (default: now).

    The status is 404 before its sunset date and 410 from then on, for HEAD as for GET. The result is None for an
    endpoint that is not deprecated.

    >>> sunset("GET /billing/usage", at=date(2026, 9, 16)).status
    410
    """
    return _shipped().at(at or datetime.now(UTC)).sunset(endpoint)


@lru_cache(maxsize=1)
def _shipped() -> RateCard:
    return load_rate_card()
