"""The response headers that tell a client of its rate limit. Nothing here reads a clock."""

from datetime import datetime
from typing import Literal, get_args

from ratecard.accounts.limits import Limit, LimitError, whole_number
from ratecard.accounts.periods import in_utc

_MINUTE = 60
LimitKind = Literal["user", "api_key", "global"]


def rate_limit_headers(
    limit: Limit, now: datetime, *, requests: int, tokens: int | None = None, enforced: LimitKind | None = None
) -> dict[str, str]:
    """Return the headers of a response at the instant `now`, by name: those that `limit.header_names` lists.

    `requests` and `tokens` (prompt and completion) are used so far in the minute of `now`, this request included;
    windows are the minutes of the clock. `x-ratelimit-reset-requests` is a Unix timestamp, `-reset-tokens` is seconds,
    rounded up; what remains is never below 0. `enforced` is which kind of limit refuses the request: it adds
    `x-ratelimit-type` and sets what is left of requests to 0, so that a 429 says when to retry. Raises `LimitError` for
    a wrong number, and for tokens that are missing or that the limit does not count; `InstantError` without a time
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
    reset = int(moment.replace(second=0, microsecond=0).timestamp()) + _MINUTE
    left = limit.requests - whole_number("requests", requests)
    values = {
        "limit-requests": limit.requests,
        "remaining-requests": 0 if enforced else max(left, 0),
        "reset-requests": reset,
    }
    if limit.tokens is not None and tokens is not None:
        seconds = _MINUTE - moment.second
        left = max(limit.tokens - whole_number("tokens", tokens), 0)
        values |= {"limit-tokens": limit.tokens, "remaining-tokens": left, "reset-tokens": seconds}
    headers = {f"x-ratelimit-{name}": str(value) for name, value in values.items()}
    return headers | ({"x-ratelimit-type": enforced} if enforced else {})
