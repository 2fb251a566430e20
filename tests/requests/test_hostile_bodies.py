"""Every kind of body: text, bytes, mappings, and what is none of them."""

import json
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from error_trees import answer, messages

from ratecard import PriceBook, QuoteError

GOOD = {
    "model": "seedance-2-5-reference-to-video-basic",
    "duration": "5s",
    "resolution": "720p",
    "aspect_ratio": "16:9",
    "reference_video_total_duration": Decimal("12.5"),
}
AS_JSON = json.dumps({**GOOD, "reference_video_total_duration": 12.5})


class Loud(float):
    def __repr__(self) -> str:
        return f"loud.float64({float(self)})"


class Frozen(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Required"),
        (" \t\r\n", "Required"),
        ("null", "Expected object, received null"),
        (" [] ", "Expected object, received array"),
        ('"x"', "Expected object, received string"),
        ("5", "Expected object, received number"),
        ("true", "Expected object, received boolean"),
        ("NaN", "Expected object, received nan"),
        ("1e400", "Expected object, received number"),
        ("{", "The body is not JSON: Expecting property name enclosed in double quotes at character 1"),
        ('{"model": }', "The body is not JSON: no value at character 10"),
        ("x", "The body is not JSON: no value at character 0"),
        ("{} {}", "The body is not JSON: something follows at character 2"),
        ('{"a": "', "The body is not JSON: Unterminated string starting at at character 6"),
        ("\ufeff{}", "The body is not JSON: it begins with a byte order mark. Leave that out"),
        ("\u00a0{}", "The body is not JSON: no value at character 0"),
        ('{"a": ' + "9" * 10_000 + "}", "The body is not JSON: a number has too many digits"),
        ('{"a": ' + "[" * 100_000, "The body is not JSON: it is nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "The body is not JSON: it is nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "The body is not JSON: it is nested too deeply"),
    ],
    ids=lambda value: value[:30],
)
@pytest.mark.parametrize("kind", [str, str.encode, lambda text: bytearray(text.encode())])
def test_a_body_that_is_no_object_is_refused_as_a_whole(prices: PriceBook, text: str, message: str, kind: Any) -> None:
    assert messages(prices, kind(text)) == {"": [message]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "Expected object, received null"),
        ([("model", "x")], "Expected object, received array"),
        (5, "Expected object, received number"),
        (False, "Expected object, received boolean"),
        ({"model"}, "Expected object, received unknown"),
        (b"\xff{}", "The body is not JSON: byte 0 is not UTF-8"),
        (b'{"model": "\xe9"}', "The body is not JSON: byte 11 is not UTF-8"),
        ('{"model": "x"}'.encode("utf-16-le"), "The body is not JSON: Expecting property name"),
    ],
)
def test_a_body_that_is_no_text_and_no_mapping(prices: PriceBook, body: Any, message: str) -> None:
    (words,) = messages(prices, body)[""]
    assert words.startswith(message)


@pytest.mark.parametrize(
    ("number", "refused"),
    [
        ("12.50", False),
        ("1.25e1", False),
        ("1250E-2", False),
        ("12.5" + "0" * 300, False),
        ("1e400", True),
        ("-1e400", True),
        ("1e999999999999999999999", True),
        ("NaN", True),
        ("Infinity", True),
        ("-Infinity", True),
        ("9" * 4_000, True),
        ("12.5" + "0" * 400, True),
        ("true", True),
    ],
)
def test_a_number_in_json_text(prices: PriceBook, number: str, refused: bool) -> None:
    text = AS_JSON.replace("12.5", number)
    if refused:
        assert list(messages(prices, text)) == ["reference_video_total_duration"]
    else:
        assert prices.quote_video(text) == prices.quote_video(GOOD)
    assert isinstance(answer(prices, text.replace("reference_video_total_duration", "target_fps")), QuoteError)


@pytest.mark.parametrize(
    "body",
    [
        AS_JSON,
        AS_JSON.encode(),
        bytearray(AS_JSON.encode()),
        memoryview(AS_JSON.encode()),
        f"\n {AS_JSON}\t\r\n",
        f" {AS_JSON} ".encode(),
        UserDict(GOOD),
        OrderedDict(GOOD),
        ChainMap({}, GOOD),
        MappingProxyType(GOOD),
        Frozen(GOOD),
        GOOD | {"reference_video_total_duration": Loud(12.5)},
        GOOD | {"reference_video_total_duration": 12.5},
    ],
    ids=lambda body: type(body).__name__,
)
def test_every_kind_of_body_gives_the_same_quote(prices: PriceBook, body: Any) -> None:
    assert prices.quote_video(body) == prices.quote_video(GOOD)


def test_a_body_is_left_as_it_was(prices: PriceBook) -> None:
    body: dict[str, Any] = defaultdict(str, {"duration": "auto"})
    assert messages(prices, body)["model"] == ["Required"]
    assert dict(body) == {"duration": "auto"}
    body = dict(GOOD)
    prices.quote_video(body)
    assert body == GOOD


def test_a_whole_video_inside_json_is_no_trouble(prices: PriceBook) -> None:
    url = "data:video/mp4;base64," + "A" * 40_000_000
    text = AS_JSON.replace("}", f', "video_url": "{url}"}}')
    assert prices.quote_video(text.encode()).ignored == ("video_url",)
