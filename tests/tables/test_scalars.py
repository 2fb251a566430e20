"""How the text of one YAML scalar becomes a value, and what is refused."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard.tables import scalars
from ratecard.tables.rate import Rate
from ratecard.tables.scalars import (
    Size,
    read_address,
    read_count,
    read_day,
    read_fraction,
    read_integer,
    read_number,
    read_positive,
    read_positive_quantity,
    read_quantity,
    read_size,
    read_text,
    read_words,
)

Read = Callable[[object], Any]

READ: list[tuple[Read, object, object]] = [
    (read_text, " a b ", " a b "),
    (read_number, "0.10", Decimal("0.1")),
    (read_number, "007", Decimal(7)),
    (read_number, "0", Decimal(0)),
    (read_number, "999999999999999.999999999999", Decimal("999999999999999.999999999999")),
    (read_number, "0." + "1" * 30, Decimal("0." + "1" * 30)),
    (read_number, "0." + "0" * 29 + "1", Decimal("1E-30")),
    (read_number, "10000.000000000001", Decimal("10000.000000000001")),
    (read_number, "0.10000000000000000001", Decimal("0.10000000000000000001")),
    (read_quantity, "61.20", Decimal("61.2")),
    (read_quantity, "60", 60),
    (read_quantity, "60.0", 60),
    (read_quantity, "0", 0),
    (read_positive_quantity, "0.5", Decimal("0.5")),
    (read_positive, "0.000000000001", Decimal("1E-12")),
    (read_integer, "0", 0),
    (read_integer, "999999999", 999_999_999),
    (read_count, "1", 1),
    (read_day, "2024-02-29", date(2024, 2, 29)),
    (read_size, "1x99999", Size(width=1, height=99_999)),
    *((read_address, word, word) for word in ("https://a", "http://a.example:8080/x?y=1#z", "https://a.example?x")),
    (read_fraction, "5/3", Fraction(5, 3)),
    (read_fraction, "0", Fraction(0)),
    (read_fraction, "9999/9999", Fraction(1)),
    (read_words, "480p", ("480p",)),
    (read_words, ["b", "a"], ("b", "a")),
    (read_words, ["3s..5s", "-1"], ("3s", "4s", "5s", "-1")),
    (read_words, "9s..10s", ("9s", "10s")),
    (read_words, ["3s..5"], ("3s..5",)),
]

REFUSED: list[tuple[Read, object, str]] = [
    *((read_text, word, "is empty") for word in ("", " ", "\n\t")),
    *(
        (read_address, word, "is not the address of a page")
        for word in (
            "",
            "https://",
            "https:///a",
            "HTTPS://a",
            "ftp://a",
            "mailto:a@b.example",
            "a.example",
            "//a.example",
            "https://a b",
            "https://a.example/a b",
            "https://me:secret@a.example",
            "https://a.example:port",
            " https://a",
            "https://a.example\n",
            "javascript:alert(1)",
        )
    ),
    (read_address, ["https://a"], "must be one value, not a list"),
    (read_text, [], "must be one value, not a list"),
    (read_text, ("a",), "must be one value, not a list"),
    (read_text, {}, "must be one value, not a mapping"),
    (read_text, None, "must be one value, not a mapping"),
    *((read_number, word, "is not a number") for word in ("", " 1", "1 ", "+1", ".5", "5.", "1,5", "1e3", "0x1", "٣")),
    *((read_number, word, "is not a number") for word in ("nan", "Infinity", "1_0", "1" * 16, "0." + "1" * 31, "1\n")),
    (read_number, "0.036000000000000004", "is what a float makes of 0.036. Write 0.036"),
    (read_number, "0.07999999999999999", "is what a float makes of 0.08. Write 0.08"),
    (read_quantity, "-1", "is negative. Write zero or more"),
    (read_positive_quantity, "0", "must be more than zero"),
    *((read_number, word, "is negative") for word in ("-1", "-0.5", "- 2", "-0")),
    *((read_positive, word, "must be more than zero") for word in ("0", "0.00")),
    *((read_integer, word, "is not a whole number") for word in ("", "-1", "1.0", "1" * 10, "٣", "1\n")),
    (read_count, "0", "must be more than zero"),
    (read_count, "1.5", "is not a whole number"),
    *((read_day, word, "is not a date") for word in ("", "2026-9-1", "20260901", "2026-W36-2", "2026-09-01T00:00")),
    *((read_day, word, "is not a date") for word in ("2026-02-29", "0000-01-01", "2026-09-01\n", "01-09-2026")),
    (read_day, ["2026-09-01"], "must be one value, not a list"),
    *(
        (read_size, word, "is not a size")
        for word in ("", "1280", "0x720", "1280x0", "1280X720", "1280x720\n", "1x100000")
    ),
    *(
        (read_fraction, word, "is not a fraction")
        for word in ("", "5/0", "5/", "-5/3", "1.5", "5 / 3", "10000", "5/3\n")
    ),
    (read_words, [], "must be a list with at least one value"),
    (read_words, {}, "must be a list with at least one value"),
    (read_words, None, "must be a list with at least one value"),
    (read_words, "", "is empty"),
    (read_words, [["a"]], "must be one value, not a list"),
    (read_words, ["a", "b", "b", "c"], "lists 'b' twice"),
    (read_words, ["3s..5s", "4s"], "lists '4s' twice"),
    *((read_words, word, "must rise, like 3s..15s") for word in ("5s..3s", "5s..5s")),
]


@pytest.mark.parametrize(("read", "given", "value"), READ)
def test_what_is_read(read: Read, given: object, value: object) -> None:
    assert read(given) == value
    assert type(read(given)) is type(value)


@pytest.mark.parametrize(("read", "given", "words"), REFUSED)
def test_what_is_refused(read: Read, given: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(given)


@given(st.integers(0, 10**15 - 1), st.integers(0, 10**12 - 1))
def test_every_number_that_a_person_writes_keeps_its_value(whole: int, decimals: int) -> None:
    assert read_number(f"{whole}.{decimals:012}") == Fraction(whole) + Fraction(decimals, 10**12)


@given(st.text())
def test_no_text_is_read_as_a_number_that_is_not_finite_or_negative(text: str) -> None:
    try:
        number = read_number(text)
    except ValueError:
        return
    assert number.is_finite()
    assert number >= 0


def test_a_long_list_of_equal_values_is_refused_quickly() -> None:
    with pytest.raises(ValueError, match="lists 'x' twice"):
        read_words([*map(str, range(200_000)), "x", "x"])


def test_a_rate_made_in_a_program_is_the_rate_that_is_read() -> None:
    read = Rate.model_validate({"rate": "0.10", "resolution": "720p", "@source": "a.yaml:1"})
    made = Rate.model_validate({"rate": Decimal("0.1"), "attributes": {"resolution": ("720p",)}, "@source": "a.yaml:1"})
    assert read == made
    assert Rate.model_validate(read.model_dump(by_alias=True)) == read


def test_a_part_of_a_table_cannot_be_changed() -> None:
    rate = Rate.model_validate({"rate": "0.10"})
    with pytest.raises(ValueError, match="frozen"):
        rate.rate = Decimal(0)  # type: ignore[misc]
    assert scalars.Frozen.model_config["extra"] == "forbid"
