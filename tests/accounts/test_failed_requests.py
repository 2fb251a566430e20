"""More than 20 failed requests within 30 seconds block all further ones for 30 seconds."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import InstantError, PriceBook
from ratecard.limits import Block, failed_request_block

START = datetime(2026, 10, 1, 12, tzinfo=UTC)
SAID = "Too many failed attempts. Please wait 30 s before the next request."


def after(seconds: float | int) -> datetime:
    return START + timedelta(seconds=seconds)


def block(prices: PriceBook, seconds: list[int], at: float) -> Block | None:
    return failed_request_block([after(each) for each in seconds], after(at), prices.limits.failed_requests)


def test_twenty_failures_are_allowed(prices: PriceBook) -> None:
    assert block(prices, [0] * 20, 0) is None
    assert block(prices, [0] * 21, 0) == Block(after(30), SAID)
    assert block(prices, [], 0) is None


@pytest.mark.parametrize(
    ("last", "at", "until"),
    [
        (29, 29, 59),
        (30, 30, 60),  # within 30 seconds, the last one included
        (31, 31, None),  # the first is too long ago
        (30, 29.999, None),  # the failure is yet to come
        (30, 59.999999, 60),
        (30, 60, None),  # the block is over
    ],
)
def test_the_window_and_the_block(prices: PriceBook, last: int, at: float, until: int | None) -> None:
    found = block(prices, [0, *range(1, 20), last], at)
    assert found == (None if until is None else Block(after(until), SAID))


def test_refusals_of_a_block_do_not_lengthen_it(prices: PriceBook) -> None:
    blocked = [0] * 21 + list(range(1, 30)) * 3
    assert block(prices, blocked, 29) == Block(after(30), SAID)
    assert block(prices, blocked, 30) is None
    assert block(prices, blocked + [30] * 20, 30) is None, "the count begins anew"
    assert block(prices, blocked + [30] * 21, 30) == Block(after(60), SAID)


def test_a_block_is_refused_with_an_error_object(prices: PriceBook) -> None:
    found = block(prices, [0] * 21, 0)
    assert found is not None
    assert found.body == {"error": SAID}


def test_the_order_and_the_zones_of_failures_do_not_matter(prices: PriceBook) -> None:
    zone = timezone(timedelta(hours=9))
    failures = [after(each).astimezone(zone) for each in reversed(range(21))]
    assert failed_request_block(iter(failures), after(20), prices.limits.failed_requests) == Block(after(50), SAID)


def test_a_time_without_a_zone_is_refused(prices: PriceBook) -> None:
    naive = datetime(2026, 10, 1)  # noqa: DTZ001 - the mistake
    for failures, at in (([naive], START), ([START], naive)):
        with pytest.raises(InstantError, match="has no time zone"):
            failed_request_block(failures, at, prices.limits.failed_requests)


@given(st.lists(st.integers(0, 80), min_size=40, max_size=120), st.integers(0, 120))
def test_it_is_what_a_plain_count_says(prices: PriceBook, seconds: list[int], at: int) -> None:
    """Second by second, with a list of the failures that count, which a block empties."""
    until, counted = -1, list[int]()
    for now in range(at + 1):
        for failure in seconds:
            if failure == now >= until:
                counted = [each for each in [*counted, failure] if now - each <= 30]
                if len(counted) > 20:
                    until, counted = now + 30, []
    assert block(prices, seconds, at) == (Block(after(until), SAID) if at < until else None)
