"""Numbers of the API that are not prices: dated like prices, with a source."""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from ratecard.tables.scalars import Day, Frozen, Integer, Number, Positive, Text


def _read_flag(given: object) -> object:
    return {"true": True, "false": False}.get(str(given), given)


Flag = Annotated[bool, BeforeValidator(_read_flag), WithJsonSchema({"enum": [True, False, "true", "false"]})]


class TextLimit(Frozen):
    """Requests and tokens a minute of one tier of text models."""

    tier: Text
    partner: Flag
    requests: Integer
    tokens: Integer


class TypeLimit(Frozen):
    """Requests a minute of one other type."""

    type: Text
    partner: Flag
    requests: Integer


class FailedRequests(Frozen):
    """More failures than this within so many seconds block all requests for a while."""

    more_than: Integer
    within_seconds: Integer
    blocked_seconds: Integer


class TopUp(Frozen):
    """The least amount of one top-up."""

    currency: Text
    least: Number


class Diem(Frozen):
    """What one staked token gives a day, and how many must be staked at least."""

    usd_per_day: Number
    least_staked: Number


def _exact(worth: Decimal) -> Decimal:
    digits = worth.as_integer_ratio()[0]
    for factor in (2, 5):
        while digits and digits % factor == 0:
            digits //= factor
    if digits != 1:
        raise ValueError("divides no dollar into decimals: a charge could not be exact. Write one like 1, 0.5 or 0.8")
    return worth


Worth = Annotated[Positive, AfterValidator(_exact)]


class Rates(Frozen):
    """What one of each balance is worth in US dollars; one without a rate pays for nothing, and has no limit.

    The worth divides every amount exactly, so that what is charged in a balance is never rounded.
    """

    DIEM: Worth | None = None
    BUNDLED_CREDITS: Worth | None = None
    VCU: Worth | None = None


class Sunset(Frozen):
    """An endpoint that stopped answering: its headers, and what to use instead."""

    endpoint: Text
    deprecated: Text
    sunset: Text
    on: Day
    successor: Text
    link: Text
    renamed: dict[str, Text]


class Limits(Frozen):
    """All limits from one date until the next."""

    effective: Day
    checked: Day
    source: Text
    text: tuple[TextLimit, ...]
    types: tuple[TypeLimit, ...]
    failed_requests: FailedRequests
    scraped_urls: Integer
    top_up: TopUp
    diem: Diem
    rates: Rates = Rates()
    sunsets: tuple[Sunset, ...]


class LimitsFile(Frozen):
    """The file of limits, newest first."""

    limits: tuple[Limits, ...]
