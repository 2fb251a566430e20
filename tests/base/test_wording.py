"""The messages at a field, row by row of the table in errors.md."""

from decimal import Decimal
from typing import Any

import pytest

from ratecard.base.messages import (
    ECHO_LENGTH,
    INVALID_URL,
    NOT_AN_INTEGER,
    REQUIRED,
    allowed_values,
    echo,
    invalid_enum,
    invalid_literal,
    is_nan,
    too_big,
    too_small,
    type_word,
    wrong_type,
)

RESOLUTIONS = ["480p", "720p", "1080p"]

ROWS = {
    "Required": REQUIRED,
    "Expected object, received null": wrong_type("object", None),
    "Expected object, received array": wrong_type("object", []),
    "Expected object, received string": wrong_type("object", "x"),
    "Expected object, received number": wrong_type("object", 5),
    "Invalid enum value. Expected '480p' | '720p' | '1080p', received '4k'": invalid_enum(RESOLUTIONS, "4k"),
    "Expected '480p' | '720p' | '1080p', received number": invalid_enum(RESOLUTIONS, 720),
    "Expected '480p' | '720p' | '1080p', received null": invalid_enum(RESOLUTIONS, None),
    "Expected number, received string": wrong_type("number", "5"),
    "Expected number, received boolean": wrong_type("number", True),
    "Expected number, received null": wrong_type("number", None),
    "Expected number, received nan": wrong_type("number", float("nan")),
    "Expected integer, received float": NOT_AN_INTEGER,
    "Number must be greater than or equal to 1": too_small(1),
    "Number must be greater than or equal to 16": too_small(Decimal(16)),
    "Number must be less than or equal to 30": too_big(30),
    "Number must be less than or equal to 150": too_big(Decimal(150)),
    "Invalid literal value, expected 2": invalid_literal(2),
    "Expected string, received number": wrong_type("string", 1.5),
    "Expected string, received boolean": wrong_type("string", False),
    "Expected boolean, received string": wrong_type("boolean", "true"),
    "Invalid url": INVALID_URL,
}

WORDS: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "boolean"),
    (False, "boolean"),
    ("", "string"),
    (0, "number"),
    (10**400, "number"),
    (0.5, "number"),
    (float("inf"), "number"),
    (float("nan"), "nan"),
    (Decimal("0.5"), "number"),
    (Decimal("Infinity"), "number"),
    (Decimal("NaN"), "nan"),
    (Decimal("sNaN"), "nan"),
    ([], "array"),
    ((), "array"),
    ({}, "object"),
    (object(), "unknown"),
    (b"", "unknown"),
]


@pytest.mark.parametrize(("expected", "message"), ROWS.items())
def test_a_message_is_word_for_word_what_clients_know(expected: str, message: str) -> None:
    assert message == expected


@pytest.mark.parametrize(("given", "word"), WORDS, ids=[f"{given!r:.20}" for given, _ in WORDS])
def test_the_type_of_a_value_is_called_as_in_json(given: Any, word: str) -> None:
    assert type_word(given) == word


def test_only_a_nan_is_nan() -> None:
    numbers: list[int | float | Decimal] = [
        0,
        1.5,
        float("inf"),
        Decimal("Infinity"),
        float("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
    ]
    assert [is_nan(number) for number in numbers] == [False] * 4 + [True] * 3


def test_the_allowed_values_can_be_parsed_out_of_a_message() -> None:
    assert allowed_values(["5s", "10s"]) == "'5s' | '10s'"
    assert allowed_values(["5s"]) == "'5s'"


def test_an_echo_is_cut_at_a_sane_length() -> None:
    assert echo("x" * ECHO_LENGTH) == "x" * ECHO_LENGTH
    assert echo("x" * (ECHO_LENGTH + 1)) == "x" * ECHO_LENGTH + "…"
    assert len(invalid_enum(["5s"], "x" * 1_000_000)) < 200


@pytest.mark.parametrize("given", ["{0}", "%s", "' | '", "<b>", "_errors"])
def test_an_echo_is_never_interpreted(given: str) -> None:
    assert invalid_enum(["5s"], given) == f"Invalid enum value. Expected '5s', received '{given}'"


def test_a_lone_surrogate_is_echoed_so_that_it_can_be_sent() -> None:
    assert echo("a" + chr(0xD800) + "é").encode() == b"a\\ud800\xc3\xa9"
