"""The shipped table of limits, for a program that needs no prices. A price book has the same at its own instant."""

from datetime import date
from functools import lru_cache

from ratecard.account.limits import Limit, Sunset, limit_of, sunset_of
from ratecard.load.folder import load_tables
from ratecard.tables.limits import Limits, Rates


def limits_for(type_: str, *, tier: str | None = None, partner: bool = False) -> Limit:
    """Requests (and tokens) a minute of a type, from the newest limits of the shipped tables. Raises `LimitError`.

    >>> limits_for("text", tier="S", partner=False)
    Limit(requests=75, tokens=750000)
    """
    return limit_of(_newest(), type_, tier, partner)


def sunset(endpoint: str) -> Sunset | None:
    """Status, headers and body of an endpoint that stops answering, as the shipped tables have it; else None.

    >>> sunset("GET /billing/usage").status
    410
    """
    return sunset_of(_newest(), endpoint, date.max)


def shipped_rates() -> Rates:
    """What one of each balance is worth in US dollars, from the newest limits of the shipped tables.

    >>> shipped_rates().DIEM, shipped_rates().VCU
    (Decimal('1'), None)
    """
    return _newest().rates


@lru_cache(maxsize=1)
def _newest() -> Limits:
    return load_tables().limits[0]
