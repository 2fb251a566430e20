"""The file of limits: numbers of the API that are not prices, dated like prices and with a source."""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from ratecard.base.messages import echo
from ratecard.base.money import BALANCE_NAME, as_decimal, is_balance
from ratecard.tables.scalars import SOURCE_KEY, Count, Day, Frozen, Positive, Scalar, Text, Words, read_text

# The tiers of text models, and the other types that have limits, as the API names them.
TierName = Literal["XS", "S", "M", "L"]
LimitType = Literal["image", "audio", "embedding", "video-queue", "video-retrieve"]
TIERS: tuple[TierName, ...] = get_args(TierName)
LIMIT_TYPES: tuple[LimitType, ...] = get_args(LimitType)

_PATH = r"/[A-Za-z0-9_{}./-]*"
_METHODS = "GET|POST|PUT|PATCH|DELETE"


def _read_flag(given: object) -> object:
    flag = {"true": True, "false": False}.get(str(given), given)
    if not isinstance(flag, bool):
        raise ValueError("is not true or false")
    return flag


def _written_as(pattern: str, words: str) -> Scalar:
    """Return the reader of a word of this pattern; `words` are the message for any other word."""

    def read(given: object) -> str:
        if not re.fullmatch(pattern, text := read_text(given)):
            raise ValueError(words)
        return text

    return Scalar(read, {"type": "string", "pattern": f"^{pattern}$"})


Flag = Annotated[bool, Scalar(_read_flag, {"enum": [True, False, "true", "false"]})]
_NO_ENDPOINT = "is not an endpoint. Write its method and path, like GET /billing/usage"
_NO_PATH = "is not a path. Write it without method and base path, like /billing/usage-history"
Endpoint = Annotated[str, _written_as(f"({_METHODS}) {_PATH}", _NO_ENDPOINT)]
UrlPath = Annotated[str, _written_as(_PATH, _NO_PATH)]


class _Placed(Frozen):
    """A line of the table, with its `file:line`."""

    place: str = Field(default="", alias=SOURCE_KEY)


class TextLimit(_Placed):
    """Requests and tokens per minute of one tier of text models."""

    tier: TierName
    partner: Flag
    requests: Count
    tokens: Count


class TypeLimit(_Placed):
    """Requests per minute of a type that is not text."""

    type: LimitType
    partner: Flag
    requests: Count


class FailedRequests(Frozen):
    """More than `more_than` failures within `within_seconds` block all requests for `blocked_seconds`."""

    more_than: Count
    within_seconds: Count
    blocked_seconds: Count


class Estimates(Frozen):
    """The most searches of one request that an estimate assumes, by the field of a usage that counts them."""

    web_search_requests: Count | None = None
    x_search_results: Count | None = None


class TopUp(Frozen):
    """The least amount of one top-up, in `currency`, and the currencies to pay it in, each worth one of `currency`."""

    currency: Text
    least: Positive
    paid_in: Words


class Diem(Frozen):
    """US dollars per day for one staked token, and the least number of tokens to stake."""

    usd_per_day: Positive
    least_staked: Positive


def _exact(worth: Decimal) -> Decimal:
    exact = Fraction(worth)
    if exact <= 0 or isinstance(as_decimal(1 / exact), Fraction):
        raise ValueError(
            "does not divide a dollar into an exact decimal, so charges could be inexact. Write one like 1, 0.5 or 0.8"
        )
    return worth


Worth = Annotated[Positive, AfterValidator(_exact)]


# The word for a balance without a published worth.
UNKNOWN = "unknown"


def _may_be_unknown(schema: dict[str, Any]) -> None:
    schema["propertyNames"] = {"pattern": f"^{BALANCE_NAME}$"}
    members = schema["additionalProperties"]["anyOf"]
    members[members.index({"type": "null"})] = {"const": UNKNOWN}


class Rates(Frozen):
    """The worth of one unit of each balance in US dollars, by name, in the order in which balances pay.

    A balance whose worth is unknown (None) cannot pay, and has no limit. Every amount divided by a worth is an exact
    decimal, so that a charge to a balance is never rounded.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_may_be_unknown)
    __pydantic_extra__: dict[
        str, Annotated[Worth | None, BeforeValidator(lambda worth: None if worth == UNKNOWN else worth)]
    ]

    if TYPE_CHECKING:

        def __init__(self, **worths: Decimal | None) -> None: ...

        def __getattr__(self, name: str) -> Decimal | None: ...

    @property
    def stated(self) -> Mapping[str, Decimal | None]:
        """Return the balances by name, each with its worth."""
        return self.__pydantic_extra__

    @model_validator(mode="before")
    @classmethod
    def _no_currency(cls, given: Any) -> Any:
        for name in given if isinstance(given, Mapping) else ():
            if not is_balance(name):
                words = "which is not a name of a balance. Write capitals, digits and _, and no ISO 4217 code"
                raise ValueError(f"has '{echo(name)}', {words}")
        return given


class EndpointRetirement(_Placed):
    """An endpoint that is deprecated from one day on and gone from another, and its successor.

    `renamed` has the successor's parameter for each of its own.
    """

    endpoint: Endpoint
    deprecated: Day
    sunset: Day
    successor: UrlPath
    renamed: dict[str, Text] = Field(default_factory=dict)


class Limits(_Placed):
    """All limits from one date until the next; what is left out has none.

    `correction` is the reason why limits that were in effect were changed, for which `ratecard check --against` asks.
    """

    effective: Day
    checked: Day
    source: Text
    correction: Text | None = None
    text: tuple[TextLimit, ...] = ()
    types: tuple[TypeLimit, ...] = ()
    failed_requests: FailedRequests | None = None
    scraped_urls: Count = 10**9
    estimates: Estimates = Field(default_factory=Estimates.model_construct)
    top_up: TopUp | None = None
    diem: Diem | None = None
    rates: Rates = Field(default_factory=Rates.model_construct)
    sunsets: tuple[EndpointRetirement, ...] = ()


# The limits of a folder without a file of limits. They are not validated, because pydantic
# would build the validator of all limits when this module is imported.
NO_LIMITS = Limits.model_construct(effective=date.min, checked=date.min, source="none")


class LimitsFile(Frozen):
    """The file of limits, newest first."""

    limits: tuple[Limits, ...]
