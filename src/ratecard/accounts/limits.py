"""Request limits, the block after failed requests, and endpoints that end, from the dated table of limits."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal, get_args, overload

from ratecard.base.errors import RateCardError
from ratecard.base.instants import in_utc, utc
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.service_parameters import split_name
from ratecard.tables.card import AnyModel
from ratecard.tables.limits import LIMIT_TYPES, TIERS, EndpointRetirement, FailedRequests, Limits
from ratecard.tables.metered import TextModel
from ratecard.tables.version import Version

# The base path of the API, with which links in its answers begin.
BASE_PATH = "/api/v1"
# Types that share the limit of another type of `limits.yaml`.
_SHARED = {"speech": "audio", "transcription": "audio", "music": "audio", "edit": "image", "upscale": "image"}
# Types without a limit, and the messages that say why.
_NO_LIMIT = {
    "rpc": "type 'rpc' has no published limit of requests; a batch of calls is limited by its own table",
    "surcharge": "type 'surcharge' has no limit of its own: a search is part of a text request",
}
_HEADERS = ("limit", "remaining", "reset")


@dataclass(frozen=True, slots=True)
class Limit:
    """Requests a minute, and tokens a minute for text models.

    `from_default` is True for a partner if no limit for partners is published: then this is the general limit.
    """

    requests: int
    tokens: int | None = None
    from_default: bool = False

    @property
    def header_names(self) -> tuple[str, ...]:
        """Return the response headers that report this limit.

        >>> Limit(20).header_names[:2]
        ('x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests')
        """
        counted = ("requests",) if self.tokens is None else ("requests", "tokens")
        return (*(f"x-ratelimit-{part}-{kind}" for kind in counted for part in _HEADERS), "x-ratelimit-type")

    def fits(
        self, tokens: int | None = None, *, requests_left: int | None = None, tokens_left: int | None = None
    ) -> int:
        """Return how many more requests of `tokens` each (prompt and completion) fit into the rest of a window.

        `requests_left` and `tokens_left` are the values of `x-ratelimit-remaining-requests` and `-tokens`; by default
        the whole limit. Raises `LimitError` if the size is missing, or is given for a type that does not count tokens.

        >>> Limit(75, 750_000).fits(20_000), Limit(75, 750_000).fits(20_000, requests_left=9, tokens_left=150_000)
        (37, 7)
        """
        left = self.requests if requests_left is None else whole_number("requests_left", requests_left)
        if self.tokens is None:
            for name, count in (("tokens", tokens), ("tokens_left", tokens_left)):
                if count is not None:
                    raise LimitError(f"{name}={count!r}: this limit counts no tokens; leave it out")
            return left
        if tokens is None:
            raise LimitError("tokens=None: this limit counts tokens too; give the tokens of one request")
        size = whole_number("tokens", tokens)
        budget = self.tokens if tokens_left is None else whole_number("tokens_left", tokens_left)
        return min(left, budget // size) if size else left


@dataclass(frozen=True, slots=True)
class VideoLimit:
    """The two limits of video: for requests that queue a video, and for requests that retrieve it."""

    queue: Limit
    retrieve: Limit


class LimitError(RateCardError, ValueError):
    """A type or tier without a published limit, or an invalid number."""


@dataclass(frozen=True, slots=True)
class Sunset:
    """The answer of an endpoint that ends: 404 before its last day (only its successor has data), 410 from then on."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """The refusal of all requests until an instant, and its message."""

    until: datetime
    message: str

    @property
    def body(self) -> dict[str, str]:
        """Return the error object of a refused request."""
        return {"error": self.message}


def limit_of(limits: Limits, type_: str, tier: str | None, partner: bool) -> Limit | VideoLimit:
    """Return the limit of a type of models; for text, the limit of a tier. Raises `LimitError`."""
    if type_ in _NO_LIMIT:
        raise LimitError(_NO_LIMIT[type_])
    if type_ != "text" and tier is not None:
        raise LimitError(f"tier={tier!r}: only text models have tiers; leave it out for {type_}")
    if type_ == "video":
        return VideoLimit(_of_type(limits, "video-queue", partner), _of_type(limits, "video-retrieve", partner))
    if type_ != "text":
        return _of_type(limits, _SHARED.get(type_, type_), partner)
    for limit in limits.text:
        if (limit.tier, limit.partner) == (tier, partner):
            return Limit(limit.requests, limit.tokens)
    audience = "partners" if partner else "everybody"
    raise LimitError(f"tier={tier!r} of text has no limit for {audience}. Tiers: {', '.join(TIERS)}")


def _of_type(limits: Limits, type_: str, partner: bool) -> Limit:
    """Return the limit of a type of `limits.yaml`; partners without their own limit get the general one."""
    requests = {limit.partner: limit.requests for limit in limits.types if limit.type == type_}
    if False not in requests:
        audience = "partners" if partner else "everybody"
        hint = did_you_mean(str(type_), ("text", *LIMIT_TYPES, *_SHARED))
        raise LimitError(f"type {type_!r} has no limit for {audience}.{hint} Types: text, {', '.join(LIMIT_TYPES)}")
    return Limit(requests[partner]) if partner in requests else Limit(requests[False], from_default=True)


class LimitsOfADay:
    """Base class of `PriceBook` with what is not a price: the limits of its day, and the endpoints that end."""

    __slots__ = ()

    @property
    def day(self) -> date:
        """Return the UTC day whose limits hold."""
        raise NotImplementedError

    @property
    def limits(self) -> Limits:
        """Return the limits in effect."""
        raise NotImplementedError

    def in_effect(self, name: str) -> tuple[AnyModel, Version]:
        """Return a model and its version in effect."""
        raise NotImplementedError

    @overload  # mypy cannot express "every str but this one"
    def limits_for(  # type: ignore[overload-overlap]
        self, type_: Literal["video"], *, partner: bool = False
    ) -> VideoLimit: ...
    @overload
    def limits_for(self, type_: str, *, tier: str | None = None, partner: bool = False) -> Limit: ...
    @overload
    def limits_for(
        self, type_: str | None = None, *, model: str | None = None, tier: str | None = None, partner: bool = False
    ) -> Limit | VideoLimit: ...
    def limits_for(
        self, type_: str | None = None, *, model: str | None = None, tier: str | None = None, partner: bool = False
    ) -> Limit | VideoLimit:
        """Return the limit of a type or a model: requests a minute, and tokens a minute for text.

        `type_` is a type of models, or video-queue and video-retrieve for one limit of video. A text model needs its
        `tier` if its table does not have it; a partner gets the general limit if no limit for partners is published.
        Raises `LimitError`, and `QuoteError` for a model without a price.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> prices.limits_for("text", tier="S")
        Limit(requests=75, tokens=750000, from_default=False)
        >>> prices.limits_for(model="ovi-image-to-video").retrieve.requests
        120
        """
        if model is not None:
            table, _ = self.in_effect(split_name(model)[0])
            if type_ not in (None, table.type):
                raise LimitError(f"type {type_!r}: {table.model} is of type {table.type}; leave the type out")
            type_ = table.type
            if isinstance(table, TextModel):
                tier = _tier_of(table, tier)
        if type_ is None:
            raise LimitError("no type and no model. Give one, like limits_for('image') or limits_for(model='...')")
        return limit_of(self.limits, type_, tier, partner)

    def sunset(self, endpoint: str) -> Sunset | None:
        """Return the answer of an endpoint that ends: 404 before its last day, 410 from then on; None for any other.

        HEAD ends with its GET.

        >>> from ratecard import load_rate_card
        >>> load_rate_card().at(date(2026, 9, 15)).sunset("GET /billing/usage").headers["Sunset"]
        'Wed, 16 Sep 2026 00:00:00 GMT'
        """
        method, _, path = endpoint.partition(" ")
        listed_endpoint = f"GET {path}" if method == "HEAD" else endpoint
        for sunset in self.limits.sunsets:
            if sunset.endpoint == listed_endpoint:
                has_ended = sunset.sunset <= self.day
                return Sunset(410 if has_ended else 404, _headers(sunset), {"error": _message(sunset, has_ended)})
        return None


def _tier_of(model: TextModel, given: str | None) -> str:
    """Return the tier of a text model, from its table or the caller. Raises `LimitError` if they differ."""
    if model.tier is None and given is None:
        words = f"the tables do not say the tier of {model.model}"
        raise LimitError(f"{words}. Give one, like tier='S': {', '.join(TIERS)}")
    if model.tier and given and model.tier != given:
        raise LimitError(f"tier={given!r}: {model.model} is in tier {model.tier}; leave the tier out")
    return str(model.tier or given)


def failed_request_block(
    failures: Iterable[datetime], at: datetime | date, rule: FailedRequests | None
) -> Block | None:
    """Return the block that failed requests have caused at an instant; None if requests are answered.

    `failures` are the aware instants of requests that failed, in any order; those after `at` do not count, nor do the
    refusals of a block itself; after a block the count begins anew. `rule` is `prices.limits.failed_requests`;
    without it nothing blocks. Raises `InstantError`.

    >>> rule = FailedRequests(more_than=2, within_seconds=30, blocked_seconds=30)
    >>> noon = datetime.fromisoformat("2026-10-01T12:00:00Z")
    >>> failed_request_block([noon, noon, noon], noon, rule).message
    'Too many failed attempts. Please wait 30 s before the next request.'
    """
    now = in_utc(at)
    if rule is None:
        return None
    window, block_length = timedelta(seconds=rule.within_seconds), timedelta(seconds=rule.blocked_seconds)
    until: datetime | None = None
    recent_failures: list[datetime] = []
    for failure in sorted(instant for instant in map(in_utc, failures) if instant <= now):
        if until is not None and failure < until:
            continue
        recent_failures = [*(earlier for earlier in recent_failures if failure - earlier <= window), failure]
        if len(recent_failures) > rule.more_than:
            until, recent_failures = failure + block_length, []
    if until is None or now >= until:
        return None
    return Block(until, f"Too many failed attempts. Please wait {rule.blocked_seconds} s before the next request.")


def _headers(each: EndpointRetirement) -> dict[str, str]:
    """Return `Deprecation` of RFC 9745, `Link` of RFC 8288 and `Sunset` of RFC 8594."""
    return {
        "Deprecation": f"@{int(utc(each.deprecated).timestamp())}",
        "Link": f'<{BASE_PATH}{each.successor}>; rel="successor-version"',
        "Sunset": format_datetime(utc(each.sunset), usegmt=True),
    }


def _message(each: EndpointRetirement, gone: bool) -> str:
    renamed = "; ".join(f"`{old}` is now {new}" for old, new in each.renamed.items())
    advice = f"Use {each.successor} instead{f': {renamed}' if renamed else ''}."
    if gone:
        return f"{each.endpoint} was sunset on {each.sunset}. {advice}"
    return (
        f"{each.endpoint} has no data here; it is deprecated from {each.deprecated} and ends on {each.sunset}. {advice}"
    )


def whole_number(name: str, given: int) -> int:
    """Return a whole number, zero or more. Raises `LimitError` for anything else."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise LimitError(f"{name}={given!r} must be a whole number, zero or more")
    return given


_MINUTE = 60
LimitKind = Literal["user", "api_key", "global"]


def rate_limit_headers(
    limit: Limit, now: datetime, *, requests: int, tokens: int | None = None, enforced: LimitKind | None = None
) -> dict[str, str]:
    """Return the headers of a response at the instant `now`, by name: those that `limit.header_names` lists.

    `requests` and `tokens` (prompt and completion) are the use so far in the minute of `now`, with this request;
    windows are the minutes of the clock. `x-ratelimit-reset-requests` is a Unix timestamp, `-reset-tokens` is seconds,
    rounded up; the remaining counts are never below 0. `enforced` is the kind of limit that refuses the request: it
    adds `x-ratelimit-type` and sets the remaining requests to 0, so that a 429 says when to retry. Raises `LimitError`
    for a wrong number, and for tokens that are missing or that the limit does not count; `InstantError` without a time
    zone.

    >>> at = datetime.fromisoformat("2026-10-01T12:00:42Z")
    >>> headers = rate_limit_headers(Limit(75, 750_000), at, requests=5, tokens=10)
    >>> for name, value in headers.items():
    ...     print(name, value)
    x-ratelimit-limit-requests 75
    x-ratelimit-remaining-requests 70
    x-ratelimit-reset-requests 1790856060
    x-ratelimit-limit-tokens 750000
    x-ratelimit-remaining-tokens 749990
    x-ratelimit-reset-tokens 18
    """
    if enforced not in (None, *get_args(LimitKind)):
        raise LimitError(f"enforced={enforced!r}. Allowed: {', '.join(get_args(LimitKind))}, or None")
    if (tokens is None) != (limit.tokens is None):
        words = "this limit counts tokens too; give those of the minute" if tokens is None else "this limit counts none"
        raise LimitError(f"tokens={tokens!r}: {words}")
    moment = in_utc(now)
    reset = int(moment.replace(second=0).timestamp()) + _MINUTE
    remaining = limit.requests - whole_number("requests", requests)
    values: list[int | str] = [limit.requests, 0 if enforced else max(remaining, 0), reset]
    if limit.tokens is not None and tokens is not None:
        remaining = max(limit.tokens - whole_number("tokens", tokens), 0)
        values += [limit.tokens, remaining, _MINUTE - moment.second]
    values += [enforced] if enforced else []
    named = limit.header_names[: len(values)]  # the last one has no value unless `enforced`
    return dict(zip(named, map(str, values), strict=True))
