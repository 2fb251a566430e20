"""Readers of one YAML scalar, and the keys of a `file:line`. Every error says what is allowed."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Context, Decimal
from fractions import Fraction
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_plain_validator_function, to_string_ser_schema

from ratecard.base.instants import day_or_instant
from ratecard.base.money import MOST_PLACES, READING, places_of, plain, plain_text, text

_NUMBER = re.compile(rf"\d{{1,15}}(\.\d{{1,{MOST_PLACES}}})?", re.ASCII)
_AMOUNT = re.compile(r"\d{1,15}(\.\d{1,200})?", re.ASCII)
_MOST_DIGITS = 9
_INTEGER = re.compile(rf"\d{{1,{_MOST_DIGITS}}}", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PERCENT = re.compile(r"[+-]?\d{1,13}(\.\d{1,10})? ?%", re.ASCII)
# A float of 64 bits shows a decimal with 16 or 17 digits, most of them 0 or 9, as in 0.036000000000000004.
_FLOAT_NOISE, _FLOAT_PLACES = re.compile(r"(?=\d{16,17}$)\d+?(0{9,}|9{9,})\d{1,2}", re.ASCII), 12
_MEANT = Context(prec=12)
_SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})", re.ASCII)
_ADDRESS = re.compile(r"https?://[^\s/?#:@]+(:\d{1,5})?([/?#]\S*)?", re.ASCII)
_FRACTION = re.compile(r"(\d{1,4})(?:/([1-9]\d{0,3}))?", re.ASCII)
_SECONDS_RANGE = re.compile(r"(\d{1,4})s\.\.(\d{1,4})s", re.ASCII)

# Invisible characters: the categories of spaces (except the ordinary one), controls, and marks of direction
# and width; and characters of other categories without a shape.
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")
_SHAPELESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


AnyNumber = TypeVar("AnyNumber", int, Decimal, int | Decimal)
AnyDate = TypeVar("AnyDate", date, datetime)


class Frozen(BaseModel):
    """A part of a table: immutable; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def gathered(given: Mapping[str, Any], fields: Collection[str], name: str) -> dict[str, Any]:
    """Put every key that is not among `fields` into one mapping under `name`.

    >>> gathered({"rate": "2", "resolution": "720p"}, ["rate"], "attributes")
    {'rate': '2', 'attributes': {'resolution': '720p'}}
    """
    kept = {key: value for key, value in given.items() if key in fields}
    return {**kept, name: {key: value for key, value in given.items() if key not in fields}}


class Size(NamedTuple):
    """Pixels of a video frame."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


def _one(given: object) -> str:
    if not isinstance(given, str):
        raise ValueError(f"must be one value, not a {'list' if isinstance(given, (list, tuple)) else 'mapping'}")
    return given


def _matched(pattern: re.Pattern[str], given: object, words: str) -> re.Match[str]:
    """Return the match of a pattern with one value; `words` are the message for a value that does not match."""
    match = pattern.fullmatch(_one(given))
    if match is None:
        raise ValueError(words)
    return match


def read_text(given: object) -> str:
    """Read a word or sentence; it is never empty."""
    text = _one(given)
    if not text or text.isspace():
        raise ValueError("is empty. Write a value, or leave the key out")
    return text


def read_id(given: object) -> str:
    """Read a name that requests or other lines refer to: text without invisible characters."""
    if isinstance(given, str) and given and given.isascii() and given.isprintable() and given == given.strip():
        return given
    text = read_text(given)
    if text != text.strip(" "):
        raise ValueError("begins or ends with a space. Leave it out")
    for index, letter in enumerate(text):
        if letter != " " and (unicodedata.category(letter) in _INVISIBLE or _SHAPELESS.match(letter)):
            name = unicodedata.name(letter, "a control character").lower()
            where = f"after '{text[:index]}'" if index else "at its beginning"
            raise ValueError(f"has an invisible character {where}: {name} (U+{ord(letter):04X}). Leave it out")
    return text


def meant_by(number: Decimal) -> Decimal | None:
    """Return the decimal that became a float with these digits; None if they do not look like those of a float.

    >>> print(meant_by(Decimal("0.036000000000000004")), meant_by(Decimal("0.036")))
    0.036 None
    """
    noisy = places_of(number) > _FLOAT_PLACES and _FLOAT_NOISE.fullmatch("".join(map(str, number.as_tuple().digits)))
    return plain(_MEANT.plus(number)) if noisy else None


def read_number(given: object) -> Decimal:
    """Read a rate or factor: digits with at most 30 decimal places; no sign, exponent, infinity or NaN."""
    digits = _one(given)
    if _NUMBER.fullmatch(digits):
        number = plain(READING.create_decimal(digits))
        if len(digits) > _FLOAT_PLACES and (intended := meant_by(number)) is not None:
            raise ValueError(f"is what a float makes of {text(intended)}. Write {text(intended)}")
        return number
    if re.fullmatch(r"-\s*[\d.]+", digits):
        raise ValueError("is negative. Write zero or more")
    raise ValueError(f"is not a number. Write digits with at most {MOST_PLACES} decimal places, like 0.10")


def read_amount(given: object) -> Decimal:
    """Read a total, as `read_number` but with up to 200 decimal places: quantity x rate has more than a rate has."""
    return plain(READING.create_decimal(_one(given))) if _AMOUNT.fullmatch(_one(given)) else read_number(given)


def read_positive(given: object) -> Decimal:
    """Read a number above zero, as `read_number`."""
    return _above_zero(read_number(given))


def read_factor(given: object) -> Decimal:
    """Read a factor above zero, as `read_number`: rates of 0, not a factor, make something free."""
    if not (number := read_number(given)):
        words = "must be more than zero: it makes everything free. Write rates of 0 under these conditions instead"
        raise ValueError(words)
    return number


def read_quantity(given: object) -> int | Decimal:
    """Read a quantity: a whole number, or a number as in `read_number`."""
    number = read_number(given)
    return number if places_of(number) else int(number)


def read_positive_quantity(given: object) -> int | Decimal:
    """Read a quantity above zero, as `read_quantity`."""
    return _above_zero(read_quantity(given))


def _above_zero(number: AnyNumber) -> AnyNumber:
    if not number:
        raise ValueError("must be more than zero")
    return number


def read_percent(given: object) -> Decimal:
    """Read a change in percent, as a share: `-15%` is -0.15. It must be more than -100%.

    >>> read_percent("-15%"), read_percent("7.25 %")
    (Decimal('-0.15'), Decimal('0.0725'))
    """
    words = "is not a percentage. Write digits with at most 10 decimal places and %, like -15% or 2.5%"
    digits = _matched(_PERCENT, given, words)[0].rstrip("% ")
    share = plain(READING.scaleb(READING.create_decimal(digits), -2))
    if share <= -1:
        raise ValueError("leaves nothing of a rate. Write more than -100%")
    return share


def read_integer(given: object) -> int:
    """Read a whole number, zero or more."""
    if isinstance(given, str) and given.isdecimal() and len(given) > _MOST_DIGITS:
        most = "9" * _MOST_DIGITS
        raise ValueError(f"is not a whole number of at most {_MOST_DIGITS} digits. Allowed: at most {most}")
    return int(_matched(_INTEGER, given, "is not a whole number. Write digits, like 16")[0])


def read_count(given: object) -> int:
    """Read a whole number, one or more."""
    return _above_zero(read_integer(given))


def read_day(given: object) -> date:
    """Read a calendar day; as an instant it means 00:00 UTC."""
    return _on_calendar(date, _DAY, _one(given), "is not a date. Write YYYY-MM-DD, like 2026-09-28")


def read_effective(given: object) -> date:
    """Read a day, or an instant with a time zone, which is kept in UTC; 00:00 UTC is a day.

    >>> str(read_effective("2026-10-01T18:00:00+02:00")), str(read_effective("2026-10-01T00:00Z"))
    ('2026-10-01T16:00:00Z', '2026-10-01')
    """
    text = _one(given)
    if "T" not in text:
        return read_day(text)
    words = "is not a date or an instant with a time zone. Write 2026-09-28, or 2026-09-28T16:00:00Z"
    return day_or_instant(_on_calendar(datetime, _INSTANT, text, words))


def _on_calendar(kind: type[AnyDate], pattern: re.Pattern[str], text: str, words: str) -> AnyDate:
    """Read a day or an instant; `words` are the message for text of another form, or a day that does not exist."""
    with suppress(ValueError):
        if pattern.fullmatch(text):
            return kind.fromisoformat(text)
    raise ValueError(words)


def read_address(given: object) -> str:
    """Read the address of a page: http or https, a host, no space, no name or password."""
    words = "is not the address of a page. Write it whole, like https://example.com/pricing"
    return _matched(_ADDRESS, given, words)[0]


def read_size(given: object) -> Size:
    """Read a size in pixels, like `1280x720`."""
    match = _matched(_SIZE, given, "is not a size. Write width x height in pixels, like 1280x720")
    return Size(int(match[1]), int(match[2]))


def read_fraction(given: object) -> Fraction:
    """Read a ratio, like `5/3` or `2`."""
    match = _matched(_FRACTION, given, "is not a fraction. Write it like 5/3")
    return Fraction(int(match[1]), int(match[2] or 1))


def read_words(given: object) -> tuple[str, ...]:
    """Read a list of different words; `3s..15s` means each of those seconds."""
    items = [given] if isinstance(given, str) else given
    if not isinstance(items, (list, tuple)) or not items:
        raise ValueError("must be a list with at least one value, like [480p, 720p]")
    words = tuple(word for item in items for word in _expand(read_id(item)))
    if len(set(words)) < len(words):
        [(twice, _)] = Counter(words).most_common(1)
        raise ValueError(f"lists '{twice}' twice")
    return words


def _expand(item: str) -> list[str]:
    match = _SECONDS_RANGE.fullmatch(item) if ".." in item else None
    if not match:
        return [item]
    first, last = int(match[1]), int(match[2])
    if first >= last:
        raise ValueError(f"range '{item}' must rise, like 3s..15s")
    return [f"{second}s" for second in range(first, last + 1)]


def in_ranges(words: Iterable[str]) -> list[str]:
    """Return words as a table writes them: `3s, 4s, 5s` is `3s..5s`.

    >>> in_ranges(["3s", "4s", "5s", "8s", "9s", "auto"])
    ['3s..5s', '8s', '9s', 'auto']
    """
    runs: list[list[str]] = []
    for word in words:
        last = runs[-1][-1] if runs else ""
        if last.endswith("s") and last[:-1].isdigit() and word == f"{int(last[:-1]) + 1}s":
            runs[-1].append(word)
        else:
            runs.append([word])
    return [word for run in runs for word in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else run)]


def value_text(value: Any, *, in_order: bool = True) -> str:
    """Return a value as a table writes it; lists in their order, or sorted and without duplicates.

    >>> value_text(("30s", "5s", "4s")), value_text(("30s", "5s", "4s"), in_order=False), value_text(Decimal("1.50"))
    ('30s, 5s, 4s', '4s, 5s, 30s', '1.5')
    >>> value_text({"speed": "fast", "service_tier": "batch"})
    '{speed: fast, service_tier: batch}'
    """
    if isinstance(value, Mapping):
        items = value.items() if in_order else sorted(value.items())
        return "{" + ", ".join(f"{key}: {value_text(part, in_order=in_order)}" for key, part in items) + "}"
    if isinstance(value, (tuple, list)) and not isinstance(value, Size):
        words = [value_text(item, in_order=in_order) for item in value]
        return ", ".join(in_ranges(words if in_order else sorted(set(words), key=_natural)))
    if isinstance(value, bool):
        return str(value).lower()
    return plain_text(value) if isinstance(value, Decimal) else str(value)


def _natural(word: str) -> tuple[int, str]:
    digits = word[: len(word) - len(word.lstrip("0123456789"))]
    return int(digits or 0), word


class Scalar:
    """A reader of one value of a table, with the JSON Schema of that value.

    A value that already has one of the types `kinds` (a table made in a program) is taken as it is. pydantic validates
    nothing more, so it needs half the time to build its validators, and to read.
    """

    def __init__(self, read: Callable[[object], Any], schema: Mapping[str, Any], *kinds: type) -> None:
        self.read = (lambda value: value if isinstance(value, kinds) else read(value)) if kinds else read
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.read, serialization=_AS_TEXT if source in _TEXTS else None)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return dict(self.schema)


# Types that pydantic cannot write to JSON: they are written as text.
_TEXTS = (Fraction,)
_AS_TEXT = to_string_ser_schema(when_used="json")


def _text(pattern: re.Pattern[str]) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern.pattern}$"}


# The JSON Schemas of scalars allow numbers and booleans, because an editor's YAML reader makes them of some texts.
_WORD: dict[str, Any] = {"type": ["string", "number", "boolean"], "minLength": 1}
_ONE_OR_MORE = {"anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1}]}


def _number(pattern: re.Pattern[str], kind: str, **limits: int) -> dict[str, Any]:
    return {"anyOf": [{"type": kind, **limits}, _text(pattern)]}


_ZERO_OR_MORE, _ABOVE_ZERO = _number(_NUMBER, "number", minimum=0), _number(_NUMBER, "number", exclusiveMinimum=0)
Text = Annotated[str, Scalar(read_text, _WORD)]
Id = Annotated[str, Scalar(read_id, _WORD)]
Number = Annotated[Decimal, Scalar(read_number, _ZERO_OR_MORE, Decimal)]
# The schema of a number is enough: an editor checks the digits only of a number in quotes.
Amount = Annotated[Decimal, Scalar(read_amount, _ZERO_OR_MORE, Decimal)]
Positive = Annotated[Decimal, Scalar(read_positive, _ABOVE_ZERO, Decimal)]
Quantity = Annotated[int | Decimal, Scalar(read_quantity, _ZERO_OR_MORE, int, Decimal)]
Multiplier = Annotated[Decimal, Scalar(read_factor, _ABOVE_ZERO, Decimal)]
PositiveQuantity = Annotated[int | Decimal, Scalar(read_positive_quantity, _ABOVE_ZERO, int, Decimal)]
Percent = Annotated[Decimal, Scalar(read_percent, _text(_PERCENT), Decimal)]
Integer = Annotated[int, Scalar(read_integer, _number(_INTEGER, "integer", minimum=0), int)]
Count = Annotated[int, Scalar(read_count, _number(_INTEGER, "integer", minimum=1), int)]
Day = Annotated[date, Scalar(read_day, _text(_DAY), date)]
Effective = Annotated[
    date,
    Scalar(
        lambda moment: day_or_instant(moment) if isinstance(moment, date) else read_effective(moment),
        {"anyOf": [_text(_DAY), _text(_INSTANT)]},
    ),
    PlainSerializer(str, when_used="json"),
]
Address = Annotated[str, Scalar(read_address, _text(_ADDRESS))]
Pixels = Annotated[Size, Scalar(read_size, _text(_SIZE), Size)]
Ratio = Annotated[Fraction, Scalar(read_fraction, _number(_FRACTION, "integer", minimum=0), Fraction)]
Words = Annotated[tuple[str, ...], Scalar(read_words, _ONE_OR_MORE)]
Counts = Annotated[tuple[int, ...], Scalar(lambda words: tuple(map(read_count, read_words(words))), _ONE_OR_MORE)]


# The key of the `file:line` of a rate, and of any other part on one line.
SOURCE_KEY = "@source"
# The key of the `file:line` of a version's minimum.
MINIMUM_KEY = "@minimum"
# For each list: the key of its parts whose line is kept, and the key under which its `file:line` is kept.
PLACED_BY: Mapping[str | int, Mapping[str, str]] = {
    "rates": {"rate": SOURCE_KEY},
    "factors": {"factor": SOURCE_KEY},
    "examples": {"total": SOURCE_KEY},
    "overrides": {"for": SOURCE_KEY},
    "versions": {"effective": SOURCE_KEY, "minimum": MINIMUM_KEY},
    # In the file of limits.
    "limits": {"effective": SOURCE_KEY},
    "text": {"tier": SOURCE_KEY},
    "types": {"type": SOURCE_KEY},
    "sunsets": {"endpoint": SOURCE_KEY},
    # The terms of a month.
    "monthly": dict.fromkeys(("included", "graduated", "volume", "commitment", "minimum"), SOURCE_KEY),
}
