"""Check one field of a request.

`accept` is fast and returns None for a wrong value; `messages` then says why, in the order that clients know: type,
integer, least, greatest.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from itertools import product
from typing import Any, Protocol

from ratecard.base.messages import (
    INVALID_URL,
    NOT_AN_INTEGER,
    REQUIRED,
    NotOffered,
    Problems,
    invalid_enum,
    invalid_literal,
    too_big,
    too_small,
    wrong_type,
)
from ratecard.base.money import MAX_DECIMAL_PLACES, READING, places_of

Accept = Callable[[Any], Any]
# Larger whole numbers are treated as infinite: they exceed every bound.
_BEYOND = 10**400
# The beginning of a URL, up to the end of its host, or of a data URI. The OpenAPI description and the engines of a
# simulation use it too; their regular expressions have no flags and define white space differently.
URL = (
    r"^[ \t\n\f\r]*([dD][aA][tT][aA]:[^,]{0,200},"
    r"|[a-zA-Z][a-zA-Z0-9+.-]*://[^ \t\n\f\r/?#]+([\t\n\r/?#]|[ \t\n\f\r]*$))"
)
_URL = re.compile(URL)
_DIGITS = re.compile(r"\d{1,12}", re.ASCII)

# The valid fields of a request, by name, with every default filled in.
RequestShape = dict[str, Any]


class Field(Protocol):
    """One field of a request."""

    @property
    def accept(self) -> Accept:
        """Return the value for the shape; None if it is wrong. It may raise `TypeError` for an unhashable value."""

    def messages(self, given: object) -> list[str]:
        """Return the reasons why a value is wrong."""


def accepted(field: Field, given: object) -> Any:
    """Return a field's value for the shape; None if it is wrong."""
    try:
        return field.accept(given)
    except TypeError:  # the value is unhashable
        return None


def field_problems(
    given: Mapping[str, Any], fields: Mapping[str, Field], shape: RequestShape, required: Collection[str] = ()
) -> Problems:
    """Put the valid fields of a request into `shape`; return the problems of the others, in the order of `fields`."""
    problems: Problems = []
    for name, field in fields.items():
        if name not in given:
            if name in required:
                problems.append(((name,), REQUIRED))
        elif (value := accepted(field, given[name])) is None:
            problems += [((name,), message) for message in field.messages(given[name])]
        else:
            shape[name] = value
    return problems


class Choice:
    """One word of a list. `also` maps further spellings to their words; with `fold`, case does not matter."""

    def __init__(self, words: Iterable[str], also: Mapping[str, str] | None = None, fold: bool = False) -> None:
        self.words = tuple(words)
        spellings = {word: word for word in self.words} | dict(also or {})
        if fold:
            any_case = {case: word for spelling, word in spellings.items() for case in _cases(spelling)}
            spellings = any_case | spellings
        self.accept: Accept = spellings.get

    def messages(self, given: object) -> list[str]:
        words = invalid_enum(self.words, given)
        return [NotOffered(words) if isinstance(given, str) else words]


def _cases(word: str) -> Iterable[str]:
    """Return every way to write a short word in capital and small letters."""
    return map("".join, product(*({letter.lower(), letter.upper()} for letter in word)))


class Literals:
    """One whole number of a short list."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = tuple(numbers)

    def accept(self, given: Any) -> int | None:
        number = whole(given)
        return number if number in self.numbers else None

    def messages(self, given: object) -> list[str]:
        words = map(invalid_literal, self.numbers)
        return list(words) if whole(given) is None else list(map(NotOffered, words))


class WholeNumber:
    """A whole number between two bounds."""

    def __init__(self, least: int, greatest: int) -> None:
        self.least, self.greatest = least, greatest

    def accept(self, given: Any) -> int | None:
        number = whole(given)
        return number if number is not None and self.least <= number <= self.greatest else None

    def messages(self, given: object) -> list[str]:
        number = decimal(given)
        if number is None:
            return [wrong_type("number", given)]
        words = [NOT_AN_INTEGER] if whole(given) is None else []
        return words + _bounds(number, Decimal(self.least), Decimal(self.greatest))


class NumberField:
    """A number between two bounds, with its digits kept."""

    def __init__(self, least: Decimal, greatest: Decimal) -> None:
        self.least, self.greatest = least, greatest

    def accept(self, given: Any) -> Decimal | None:
        number = given if given.__class__ is Decimal and not given.is_nan() else decimal(given)
        if number is None or not self.least <= number <= self.greatest:
            return None
        # The text has at least as many characters as decimal places, unless it has an exponent.
        words = str(number)
        if len(words) <= MAX_DECIMAL_PLACES and "E" not in words and "e" not in words:
            return number
        return number if places_of(number) <= MAX_DECIMAL_PLACES else None

    def messages(self, given: object) -> list[str]:
        number = decimal(given)
        if number is None:
            return [wrong_type("number", given)]
        words = _bounds(number, self.least, self.greatest)
        return words or [f"Number must have at most {MAX_DECIMAL_PLACES} decimal places"]


class Boolean:
    """True or false, as the words `true` and `false` of a rate's attribute."""

    def accept(self, given: Any) -> str | None:
        return "true" if given is True else "false" if given is False else None

    def messages(self, given: object) -> list[str]:
        return [wrong_type("boolean", given)]


class TextField:
    """Any string."""

    def accept(self, given: Any) -> str | None:
        return given if isinstance(given, str) else None

    def messages(self, given: object) -> list[str]:
        return [wrong_type("string", given)]


class Unwanted:
    """A field that a model does not accept, whatever its value; the message says what to send instead."""

    def __init__(self, message: str) -> None:
        self.message = message

    def accept(self, given: Any) -> None:
        return None

    def messages(self, given: object) -> list[str]:
        return [NotOffered(self.message)]


class Url:
    """A URL or a data URI. Only its beginning is checked: it may hold a whole video."""

    def accept(self, given: Any) -> str | None:
        return given if isinstance(given, str) and _URL.match(given) else None

    def messages(self, given: object) -> list[str]:
        return [INVALID_URL] if isinstance(given, str) else [wrong_type("string", given)]


def decimal(given: Any) -> Decimal | None:
    """Convert a JSON number to a decimal; None for any other value. Infinity is kept: it exceeds every bound."""
    if given.__class__ is Decimal:
        return None if given.is_nan() else given
    if isinstance(given, bool) or not isinstance(given, (int, float, Decimal)):
        return None
    if isinstance(given, int):
        return Decimal(given) if -_BEYOND < given < _BEYOND else Decimal("Infinity" if given > 0 else "-Infinity")
    number = READING.create_decimal(float.__repr__(given) if isinstance(given, float) else given)
    return None if number.is_nan() else number


def whole(given: object) -> int | None:
    """Convert a JSON number to an integer (2.0 is 2); None for any other value, and for numbers beyond all bounds."""
    if given.__class__ is int:
        return given if -_BEYOND < given < _BEYOND else None
    number = decimal(given)
    if number is None or not number.is_finite() or number.adjusted() > 400 or places_of(number) > MAX_DECIMAL_PLACES:
        return None
    return int(number) if number == int(number) else None


def _bounds(number: Decimal, least: Decimal, greatest: Decimal) -> list[str]:
    words = [NotOffered(too_small(least))] if number < least else []
    return [*words, *([NotOffered(too_big(greatest))] if number > greatest else [])]


class WholeSeconds(WholeNumber):
    """Seconds of audio: 90 or "90"."""

    def accept(self, given: object) -> int | None:
        return super().accept(_number(given))

    def messages(self, given: object) -> list[str]:
        return super().messages(_number(given))


def _number(given: object) -> object:
    return int(given) if isinstance(given, str) and _DIGITS.fullmatch(given) else given
