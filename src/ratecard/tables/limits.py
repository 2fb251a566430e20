"""Numbers of the API that are not prices: dated like prices, with a source."""

import re
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from ratecard.tables.rate import SOURCE_KEY
from ratecard.tables.scalars import Count, Day, Frozen, Positive, Text, Words, read_text

# The tiers of text models, and the other types that have limits, as the API names them.
TierName = Literal["XS", "S", "M", "L"]
LimitType = Literal["image", "audio", "embedding", "video-queue", "video-retrieve"]
TIERS: tuple[TierName, ...] = get_args(TierName)
LIMIT_TYPES: tuple[LimitType, ...] = get_args(LimitType)

_PATH = r"/[A-Za-z0-9_{}./-]*"
_METHODS = "GET|POST|PUT|PATCH|DELETE"


def _read_flag(given: object) -> object:
    found = {"true": True, "false": False}.get(str(given), given)
    if not isinstance(found, bool):
        raise ValueError("is not true or false")
    return found


def _read_endpoint(given: object) -> str:
    if not re.fullmatch(f"({_METHODS}) {_PATH}", read_text(given)):
        raise ValueError("is not an endpoint. Write its method and path, like GET /billing/usage")
    return read_text(given)


def _read_path(given: object) -> str:
    if not re.fullmatch(_PATH, read_text(given)):
        raise ValueError("is not a path. Write it without method and base path, like /billing/usage-history")
    return read_text(given)


def _pattern(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern}$"}


Flag = Annotated[bool, BeforeValidator(_read_flag), WithJsonSchema({"enum": [True, False, "true", "false"]})]
Endpoint = Annotated[str, BeforeValidator(_read_endpoint), WithJsonSchema(_pattern(f"({_METHODS}) {_PATH}"))]
UrlPath = Annotated[str, BeforeValidator(_read_path), WithJsonSchema(_pattern(_PATH))]


class _Placed(Frozen):
    """A line of the table that knows its `file:line`."""

    place: str = Field(default="", alias=SOURCE_KEY)


class TextLimit(_Placed):
    """Requests and tokens a minute of one tier of text models."""

    tier: TierName
    partner: Flag
    requests: Count
    tokens: Count


class TypeLimit(_Placed):
    """Requests a minute of one other type."""

    type: LimitType
    partner: Flag
    requests: Count


class FailedRequests(Frozen):
    """More failures than this within so many seconds block all requests for a while."""

    more_than: Count
    within_seconds: Count
    blocked_seconds: Count


class Estimates(Frozen):
    """The most searches of one request that an estimate counts on, by the field that counts them in a usage."""

    web_search_requests: Count | None = None
    x_search_results: Count | None = None


class TopUp(Frozen):
    """The least amount of one top-up in `currency`, and what may be paid in: each is worth one of `currency`."""

    currency: Text
    least: Positive
    paid_in: Words


class Diem(Frozen):
    """What one staked token gives a day, and how many must be staked at least."""

    usd_per_day: Positive
    least_staked: Positive


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


class EndpointRetirement(_Placed):
    """An endpoint that ends: deprecated from one day on, gone from another, and what to use instead.

    `renamed` says for each of its parameters what takes its place.
    """

    endpoint: Endpoint
    deprecated: Day
    sunset: Day
    successor: UrlPath
    renamed: dict[str, Text] = Field(default_factory=dict)


class Limits(_Placed):
    """All limits from one date until the next.

    `correction` says why limits that were in effect already read differently now: `ratecard check --against` asks.
    """

    effective: Day
    checked: Day
    source: Text
    correction: Text | None = None
    text: tuple[TextLimit, ...]
    types: tuple[TypeLimit, ...]
    failed_requests: FailedRequests
    scraped_urls: Count
    estimates: Estimates = Estimates()
    top_up: TopUp
    diem: Diem
    rates: Rates = Rates()
    sunsets: tuple[EndpointRetirement, ...]


class LimitsFile(Frozen):
    """The file of limits, newest first."""

    limits: tuple[Limits, ...]
