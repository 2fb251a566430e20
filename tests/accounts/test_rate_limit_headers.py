"""The values of the rate-limit headers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ratecard import InstantError
from ratecard.limits import Limit, LimitError, rate_limit_headers

START = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)
TEXT, IMAGE = Limit(75, 750_000), Limit(20)


def values(limit: Limit, second: float = 0, **used: Any) -> list[str]:
    return list(rate_limit_headers(limit, START + timedelta(seconds=second), **used).values())


def test_the_names_are_those_of_the_limit() -> None:
    assert list(rate_limit_headers(TEXT, START, requests=1, tokens=1)) == list(TEXT.header_names[:-1])
    assert tuple(rate_limit_headers(TEXT, START, requests=1, tokens=1, enforced="user")) == TEXT.header_names
    assert tuple(rate_limit_headers(IMAGE, START, requests=1, enforced="user")) == IMAGE.header_names


@pytest.mark.parametrize(
    ("second", "reset", "seconds"),
    [(0, 60, 60), (0.000001, 60, 60), (1, 60, 59), (18.5, 60, 42), (59, 60, 1), (59.999999, 60, 1), (60, 120, 60)],
)
def test_the_reset_is_a_timestamp_of_requests_and_seconds_of_tokens(second: float, reset: int, seconds: int) -> None:
    end = str(int(START.timestamp()) + reset)
    assert values(TEXT, second, requests=5, tokens=10) == ["75", "70", end, "750000", "749990", str(seconds)]
    assert int(START.timestamp() + second) < int(end), "never in the past"


@pytest.mark.parametrize(("used", "left"), [(0, "20"), (19, "1"), (20, "0"), (21, "0")])
def test_what_is_left_is_never_below_zero(used: int, left: str) -> None:
    assert values(IMAGE, requests=used)[1] == left
    assert values(Limit(20, 20), requests=0, tokens=used)[4] == left


@pytest.mark.parametrize("kind", ["user", "api_key", "global"])
def test_a_refusal_says_when_to_retry_and_which_limit_it_is(kind: str) -> None:
    """Also where only the tokens are used up."""
    found = values(TEXT, 42, requests=5, tokens=750_000, enforced=kind)
    assert found == ["75", "0", str(int(START.timestamp()) + 60), "750000", "0", "18", kind]


def test_the_zone_of_the_instant_does_not_matter() -> None:
    kathmandu = datetime.fromisoformat("2026-10-01T17:45:42+05:45")
    assert list(rate_limit_headers(IMAGE, kathmandu, requests=1).values()) == values(IMAGE, 42, requests=1)


@pytest.mark.parametrize(
    ("limit", "used", "said"),
    [
        (IMAGE, {"requests": -1}, "requests=-1 must be a whole number, zero or more"),
        (IMAGE, {"requests": -1, "enforced": "user"}, "requests=-1 must be a whole number, zero or more"),
        (IMAGE, {"requests": 1.5}, "requests=1.5 must be a whole number, zero or more"),
        (IMAGE, {"requests": True}, "requests=True must be a whole number, zero or more"),
        (TEXT, {"requests": 1, "tokens": "9"}, "tokens='9' must be a whole number, zero or more"),
        (TEXT, {"requests": 1}, "tokens=None: this limit counts tokens too; give those of the minute"),
        (IMAGE, {"requests": 1, "tokens": 1}, "tokens=1: this limit counts none"),
        (IMAGE, {"requests": 1, "enforced": "key"}, "enforced='key'. Allowed: user, api_key, global, or None"),
    ],
)
def test_wrong_numbers_are_refused(limit: Limit, used: dict[str, Any], said: str) -> None:
    with pytest.raises(LimitError) as caught:
        rate_limit_headers(limit, START, **used)
    assert str(caught.value) == said
    with pytest.raises(InstantError):
        rate_limit_headers(IMAGE, START.replace(tzinfo=None), requests=1)
