"""JSON from anybody: as the standard library reads it, with exact numbers, no key twice, and bounded nesting."""

import json
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ratecard.base.json_text import MOST_LEVELS, JsonError, read_json
from ratecard.base.money import READING

# Texts with keys and colons, which the proof of distinct keys counts, and texts that look like them.
TEXTS = st.sampled_from(["", "a", "b", ":", "::", "a:b", "16:9", '"', '":', "\\", "\\u003a", "[", "]", "é", "\n", "{"])
KEYS = TEXTS.map(json.dumps) | st.sampled_from([r'"\u003a"', r'"\u0061"', '"model"', '"duration"'])
SPACE = st.sampled_from(["", "", "", " ", "\n", "\t", "\r "])
NUMBERS = ["1", "-0", "1.50", "1e5", "1E-400", "9" * 40, "1e99999999999999999999", "18446744073709551616"]
ATOMS = (
    TEXTS.map(json.dumps)
    | st.sampled_from([r'"\u003a"', r'"\u003A\u003a"', r'"\ud800"', r'"\ud83d\ude00"', "true", "false", "null"])
    | st.sampled_from(NUMBERS)
)


def _object(members: list[tuple[str, str, str]]) -> str:
    return "{" + ",".join(f"{space}{key}{space}:{space}{value}{space}" for key, value, space in members) + "}"


VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(st.tuples(KEYS, inner, SPACE), max_size=5).map(_object)
        | st.lists(inner, max_size=4).map(lambda parts: f"[{','.join(parts)}]")
    ),
    max_leaves=12,
)


class TwiceError(Exception):
    """What the reader of the standard library is made to raise for a key that is there twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise TwiceError
    return dict(pairs)


def expected(text: str) -> str:
    try:
        return repr(json.loads(text, parse_float=READING.create_decimal, object_pairs_hook=_once))
    except TwiceError:
        return "twice"


def answer(content: bytes | bytearray | str) -> str:
    try:
        return repr(read_json(content))
    except JsonError as error:
        return "twice" if "twice; keep one" in str(error) else str(error)


@given(VALUES)
@example('{"a":1,"b":"::","a":"x"}')
@example('{"a":"16:9","a":"1"}')
@example('{"a":"1","a":"16:9"}')
@example(r'{"a":"16\u003a9","a":1}')
@example(r'{"a":1,"a":"16\u003a9"}')
@example(r'{"a":1,"b":{"c":"\u003a","c":2}}')
@example('{"a":1,"b":{":":1,":":2}}')
@example('{"a":{"b":1},"a":2}')
@example('{"a":{"b":1,"b":2}}')
@example('[{"a":":"},{"a":1,"a":2}]')
@example('{"a":[{"b":1,"b":2}],"c":":"}')
@example('{"a":[],"a":":"}')
def test_it_reads_what_the_standard_library_reads_and_no_key_twice(text: str) -> None:
    wanted = expected(text)
    assert answer(text) == answer(f" {text}\n".encode()) == answer(bytearray(text.encode())) == wanted


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"a": 1, "b": 2, "b": 3, "a": 4}', "b"),
        ('{"a": 1, "\\u0061": 1}', "a"),
        ('{"": 1, "": 1}', ""),
        ('{"x": {"b": [{"c": 1, "c": null}]}}', "c"),
        ('{"\\u001b[2J": 1, "\\u001b[2J": 1}', "\\x1b[2J"),
        (f'{{"{"n" * 100}": 1, "{"n" * 100}": 1}}', "n" * 64),
    ],
)
def test_the_key_that_is_there_twice_is_named(text: str, name: str) -> None:
    with pytest.raises(JsonError) as caught:
        read_json(text)
    assert str(caught.value) == f"has the key '{name}' twice; keep one"


# Python's own words, which are plainer from 3.13 on.
AFTER_COMMA = (
    "no value at character 3"
    if sys.version_info < (3, 13)
    else "Illegal trailing comma before end of array at character 2"
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it is empty"),
        (b" \n\t\r", "it is empty"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'"\xed\xa0\x80"', "byte 1 is not UTF-8"),
        ("{} x", "something follows at character 2"),
        ("{}\u00a0", "something follows at character 2"),
        ("\ufeff{}", "it begins with a byte order mark. Leave that out"),
        ("\x0c{}", "no value at character 0"),
        ("[1,]", AFTER_COMMA),
        ("01", "something follows at character 1"),
        ('"\x01"', "Invalid control character at at character 1"),
        ("9" * 4301, "a number has too many digits"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_what_is_not_json_says_why(content: Any, words: str) -> None:
    with pytest.raises(JsonError) as caught:
        read_json(content)
    assert str(caught.value) == f"is not JSON: {words}"


@pytest.mark.parametrize("outer", ["{}", '{{"x": {}}}', '{{"x": ":", "y": {}}}', '{{"x": "a:b:", "y": [{}]}}'])
@pytest.mark.parametrize("colon", ["", ":"])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('{"\\n":', "}")])
def test_nesting_is_bounded_on_both_ways(opening: str, closing: str, colon: str, outer: str) -> None:
    levels = MOST_LEVELS - outer.count("{{") - outer.count("[")
    text = f'{opening * levels}"{colon}"{closing * levels}'
    # Only the standard library reads a lone surrogate.
    careful = f'{opening * levels}"\\ud800"{closing * levels}'
    for inner in (text, careful):
        assert read_json(outer.format(inner)) == json.loads(outer.format(inner))
        with pytest.raises(JsonError, match="is not JSON: it is nested too deeply"):
            read_json(outer.format(f"{opening}{inner}{closing}"))


@pytest.mark.parametrize("number", ["0.1", "4.10", "1e400", "-1E-5", "1" * 50 + ".5", "2" * 4300])
def test_no_number_passes_through_a_float(number: str) -> None:
    value = read_json(f"[{number}]")[0]
    assert (value, type(value)) == ((Decimal(number), Decimal) if set(number) & {".", "e", "E"} else (int(number), int))


def test_a_text_that_python_cannot_encode_is_read_all_the_same() -> None:
    assert read_json('{"a": "\ud800"}') == {"a": "\ud800"}
    with pytest.raises(JsonError, match="has the key 'a' twice"):
        read_json('{"a": "\ud800", "a": 1}')
