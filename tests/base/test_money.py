"""Exact arithmetic: one rounding, half-up, and nothing that a host did to `decimal` can change it."""

import decimal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, FloatOperation, Inexact, InvalidOperation
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard.base.money import (
    EXACT,
    MAX_DECIMAL_PLACES,
    READING,
    add,
    from_fraction,
    multiply,
    places_of,
    plain,
    round_half_up,
    step,
    text,
    total,
)

AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=9)
RATIONALS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**9)
PLACES = st.integers(0, 15)

HALF_UP = {
    ("0.935", 2): "0.94",
    ("0.945", 2): "0.95",
    ("0.93499999999999999999999999999999999999", 2): "0.93",
    ("0.005", 2): "0.01",
    ("0.0049", 2): "0.00",
    ("-0.935", 2): "-0.94",
    ("-0.005", 2): "-0.01",
    ("-0.0049", 2): "-0.00",
    ("2.5", 0): "3",
    ("3.5", 0): "4",
    ("1", 2): "1.00",
    ("0", 12): "0E-12",
    ("123456789012345678901234567890.125", 2): "123456789012345678901234567890.13",
}


def half_up(amount: Fraction, places: int) -> Fraction:
    """The oracle: to the nearest step, a tie away from zero."""
    size = Fraction(floor(abs(amount) * 10**places + Fraction(1, 2)), 10**places)
    return size if amount >= 0 else -size


@contextmanager
def a_hostile_host() -> Iterator[None]:
    with decimal.localcontext() as host:
        host.prec, host.rounding, host.Emax, host.Emin, host.capitals = 3, decimal.ROUND_DOWN, 2, -2, 0
        host.traps = dict.fromkeys(host.traps, True)
        yield


@pytest.mark.parametrize(("amount", "places", "rounded"), [(*key, value) for key, value in HALF_UP.items()])
def test_a_tie_goes_away_from_zero(amount: str, places: int, rounded: str) -> None:
    assert str(round_half_up(Decimal(amount), places)) == rounded


@given(AMOUNTS, PLACES)
def test_rounding_is_what_the_oracle_says_and_keeps_the_places(amount: Decimal, places: int) -> None:
    rounded = round_half_up(amount, places)
    assert Fraction(rounded) == half_up(Fraction(amount), places)
    assert places_of(rounded) == places


@given(RATIONALS, PLACES)
def test_a_fraction_becomes_the_nearest_decimal(amount: Fraction, places: int) -> None:
    found = from_fraction(amount, places)
    assert Fraction(found) == half_up(amount, places)
    assert places_of(found) <= places


@given(AMOUNTS)
def test_a_fraction_that_is_a_decimal_comes_back_unchanged(amount: Decimal) -> None:
    assert from_fraction(Fraction(amount), 9) == amount


@pytest.mark.parametrize("tie", [Fraction(1, 8), Fraction(-1, 8), Fraction(5, 8), Fraction(-5, 8)])
def test_a_fraction_that_is_a_tie_goes_away_from_zero(tie: Fraction) -> None:
    assert from_fraction(tie, 2) == round_half_up(Decimal(tie.numerator) / tie.denominator, 2)
    assert abs(from_fraction(tie, 2)) > abs(tie)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_sums_and_products_are_exact(one: Decimal, other: Decimal, third: Decimal) -> None:
    a, b, c = Fraction(one), Fraction(other), Fraction(third)
    assert Fraction(add(one, other)) == a + b
    assert Fraction(multiply(one, other)) == a * b
    assert Fraction(total([one, other, third])) == a + b + c
    assert Fraction(multiply(multiply(one, other), third)) == a * b * c


def test_the_sum_of_nothing_is_zero() -> None:
    assert total([]) == 0


def test_what_would_lose_a_digit_raises() -> None:
    with pytest.raises(Inexact):
        EXACT.divide(Decimal(1), Decimal(3))
    with pytest.raises(Inexact):
        add(Decimal(1), Decimal("1E-1001"))
    with pytest.raises(InvalidOperation):
        multiply(Decimal("Infinity"), Decimal(0))


def test_a_float_is_no_amount() -> None:
    with pytest.raises((FloatOperation, TypeError)):
        add(Decimal(1), 0.1)  # type: ignore[arg-type]
    with pytest.raises(FloatOperation):
        EXACT.create_decimal(0.1)


def test_a_number_is_read_with_all_its_digits_and_one_beyond_all_bounds_is_infinite() -> None:
    digits = "0." + "123456789" * 100
    assert str(READING.create_decimal(digits)) == digits
    assert READING.create_decimal("1e9999999999999999999") == Decimal("Infinity")
    assert READING.create_decimal("-1e9999999999999999999") == Decimal("-Infinity")


def test_the_shortest_text_of_every_double_has_fewer_places_than_the_limit() -> None:
    smallest = [5e-324, 2.2250738585072014e-308, 1.2345678901234567e-307]
    assert all(places_of(Decimal(repr(number))) < MAX_DECIMAL_PLACES for number in smallest)


@pytest.mark.parametrize(
    ("number", "places", "shortest", "written"),
    [
        ("13.3750", 4, "13.375", "13.3750"),
        ("1E+2", 0, "100", "100"),
        ("100", 0, "100", "100"),
        ("0.000", 3, "0", "0.000"),
        ("6.25E-7", 9, "6.25E-7", "0.000000625"),
        ("-2.50", 2, "-2.5", "-2.50"),
        ("1E+30", 0, "1" + "0" * 30, "1" + "0" * 30),
    ],
)
def test_a_number_is_shown_without_an_exponent(number: str, places: int, shortest: str, written: str) -> None:
    assert places_of(Decimal(number)) == places
    assert str(plain(Decimal(number))) == shortest
    assert text(Decimal(number)) == written


def test_what_is_not_finite_has_no_places() -> None:
    assert [places_of(Decimal(word)) for word in ("NaN", "Infinity", "-Infinity")] == [0, 0, 0]


def test_the_context_of_the_host_changes_nothing() -> None:
    long, short = Decimal("123456.123456789"), Decimal("0.005")
    with a_hostile_host():
        found = [
            add(long, short),
            multiply(long, short),
            total([long] * 3),
            round_half_up(long, 2),
            round_half_up(short, 2),
            plain(Decimal("1234.50000")),
            from_fraction(Fraction(123456789, 7), 12),
            READING.create_decimal("123456.123456789"),
            step(12),
        ]
        written = [text(number) for number in found]
    assert written == [
        "123456.128456789",
        "617.280617283945",
        "370368.370370367",
        "123456.12",
        "0.01",
        "1234.5",
        "17636684.142857142857",
        "123456.123456789",
        "0.000000000001",
    ]
