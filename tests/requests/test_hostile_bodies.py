"""Whatever comes in, the answer is a quote or an error tree, never an exception of another kind."""

import json
import random
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import pytest
from error_trees import answer, messages, refusal

from ratecard import PriceBook, Quote, QuoteError

FIELDS = (
    "model", "duration", "aspect_ratio", "resolution", "upscale_factor", "enhancement_model", "target_fps",
    "slowdown_factor", "audio", "video_url", "reference_video_total_duration",
)  # fmt: skip
MODELS = (
    "seedance-2-5-reference-to-video-basic",
    "topaz-video-upscale",
    "topaz-video-interpolation",
    "seedvr2-video-upscale",
    "kling-v3-pro-text-to-video",
    "no-such-model",
)
GOOD = {
    "model": MODELS[0],
    "duration": "5s",
    "resolution": "720p",
    "aspect_ratio": "16:9",
    "reference_video_total_duration": Decimal("12.5"),
}
AS_JSON = json.dumps({**GOOD, "reference_video_total_duration": 12.5})


def nested(depth: int, value: Any = None) -> Any:
    for _ in range(depth):
        value = [value]
    return value


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


STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 5, 10**400, -(10**10_000), 0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf"),
    float("-inf"), Loud(5.0), Loud("nan"), Decimal("1E+400"), Decimal("-1E+999999"), Decimal("1E-999999"),
    Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-0"), 1j, Fraction(1, 3), "", " ", "5s", "auto",
    "-1", "\ud800", "\x00", "_errors", "x" * 100_000, "https://a.b/\udfff", b"5s", bytearray(b"5s"), (), ("5s",), [],
    ["5s"], {}, {"_errors": ["forged"]}, {"_errors": {"_errors": []}}, set(), frozenset({"5s"}), object(), int,
    nested(100_000), range(3), {"a": nested(50)},
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_any_value_in_any_field(prices: PriceBook, field: str) -> None:
    for model in MODELS:
        for value in STRANGE:
            answer(prices, {**GOOD, "model": model, field: value})
            answer(prices, {"model": model, field: value})


def test_strange_values_in_all_fields_at_once(prices: PriceBook) -> None:
    dice = random.Random(20260929)  # noqa: S311
    for _ in range(2_000):
        names = dice.sample(FIELDS, dice.randint(1, len(FIELDS)))
        body = {name: dice.choice(STRANGE) for name in names}
        error = answer(prices, body | {"model": dice.choice(MODELS)} if dice.random() < 0.8 else body)
        assert isinstance(error, Quote) or error.error


@pytest.mark.parametrize("key", ["_errors", "__class__", "", "\ud800", 5, None, 1.5, True, b"model", (1, 2), float("nan")])
def test_any_key_beside_the_fields(prices: PriceBook, key: Any) -> None:
    assert prices.quote_video({**GOOD, key: "x"}) == prices.quote_video(GOOD)
    assert messages(prices, {**GOOD, key: "x", "resolution": 5}).keys() == {"resolution"}
    assert messages(prices, {key: ["forged"]}) == {"model": ["Required"]}


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
        ("\ufeff{}", "The body is not JSON: no value at character 0"),
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
        AS_JSON.replace('"model"', '"model": "no-such-model", "model"'),  # the last of two equal keys counts
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


def test_a_whole_video_as_a_data_uri_is_no_trouble(prices: PriceBook) -> None:
    url = "data:video/mp4;base64," + "A" * 40_000_000
    assert prices.quote_video({**GOOD, "video_url": url}).ignored == ("video_url",)
    text = AS_JSON.replace("}", f', "video_url": "{url}"}}')
    assert prices.quote_video(text.encode()).ignored == ("video_url",)
    assert messages(prices, {**GOOD, "video_url": url.replace(",", ";", 1)}) == {"video_url": ["Invalid url"]}
    refusal(prices, {**GOOD, "resolution": url, "model": MODELS[0]})
    refusal(prices, {**GOOD, "model": url})
