"""What is wrong with the tokens of a usage is said at its exact field, in the words that clients know."""

from decimal import Decimal
from typing import Any

import pytest
from metered_answers import refused

from ratecard import PriceBook

CACHED, WRITTEN = "prompt_tokens_details.cached_tokens", "prompt_tokens_details.cache_creation_input_tokens"
NEGATIVE, FRACTION = "Number must be greater than or equal to 0", "Expected integer, received float"
TOO_BIG = "Number must be less than or equal to 1000000000000000000"
HUGE = 10**18

BAD_COUNTS = [
    (-1, [NEGATIVE]),
    (0.5, [FRACTION]),
    (-0.5, [FRACTION, NEGATIVE]),
    (Decimal("1.000001"), [FRACTION]),
    (True, ["Expected number, received boolean"]),
    (False, ["Expected number, received boolean"]),
    ("5", ["Expected number, received string"]),
    ([], ["Expected number, received array"]),
    ({}, ["Expected number, received object"]),
    (float("nan"), ["Expected number, received nan"]),
    (float("inf"), [TOO_BIG]),
    (HUGE + 1, [TOO_BIG]),
    (10**5000, [TOO_BIG]),
    (-(10**5000), [NEGATIVE]),
]


def usage_of(**changed: Any) -> dict[str, Any]:
    """A sound usage but for the dotted fields given; one given as `...` is left out."""
    tokens: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {}}
    for path, value in changed.items():
        *way, name = path.split(".")
        home = tokens[way[0]] if way else tokens
        home[name] = value
        if value is ...:
            del home[name]
    return {"type": "text", "model": "claude-opus-4-6", "usage": tokens}


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens", CACHED, WRITTEN])
@pytest.mark.parametrize(("given", "said"), BAD_COUNTS, ids=map(str, range(len(BAD_COUNTS))))
def test_a_wrong_count_is_refused_at_its_field(prices: PriceBook, field: str, given: Any, said: list[str]) -> None:
    assert refused(prices, usage_of(**{field: given})) == {f"usage.{field}": said}


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens"])
def test_a_count_that_is_missing_or_null(prices: PriceBook, field: str) -> None:
    assert refused(prices, usage_of(**{field: ...})) == {f"usage.{field}": ["Required"]}
    assert refused(prices, usage_of(**{field: None})) == {f"usage.{field}": ["Expected number, received null"]}


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({CACHED: 101}, {CACHED: "100"}),
        ({WRITTEN: 101}, {WRITTEN: "100"}),
        ({CACHED: 60, WRITTEN: 41}, {WRITTEN: "40"}),
        ({CACHED: 100, WRITTEN: 1}, {WRITTEN: "0"}),
        ({CACHED: 101, WRITTEN: 101}, {CACHED: "100"}),
        ({"prompt_tokens": 0, CACHED: 1}, {CACHED: "0"}),
    ],
)
def test_more_from_the_cache_than_in_the_prompt(
    prices: PriceBook, counts: dict[str, Any], said: dict[str, str]
) -> None:
    expected = {f"usage.{name}": [f"Number must be less than or equal to {most}"] for name, most in said.items()}
    assert refused(prices, usage_of(**counts)) == expected


def test_every_wrong_count_is_told_at_once(prices: PriceBook) -> None:
    wrong = {"prompt_tokens": -1, "completion_tokens": "x", CACHED: True, WRITTEN: 0.5}
    assert list(refused(prices, usage_of(**wrong))) == [
        "usage.prompt_tokens",
        "usage.completion_tokens",
        f"usage.{CACHED}",
        f"usage.{WRITTEN}",
    ]
    assert list(refused(prices, usage_of(**{"prompt_tokens": -1, CACHED: 5}))) == ["usage.prompt_tokens"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (None, "null"),
        ([], "array"),
        ("x", "string"),
        (5, "number"),
        (True, "boolean"),
        (1.5, "number"),
        (int, "unknown"),
    ],
)
def test_a_usage_that_is_no_object(prices: PriceBook, given: Any, word: str) -> None:
    usage = {"type": "text", "model": "claude-opus-4-6", "usage": given}
    assert refused(prices, usage) == {"usage": [f"Expected object, received {word}"]}
    if given is not None:  # clients send null where there are no details
        said = {"usage.prompt_tokens_details": [f"Expected object, received {word}"]}
        assert refused(prices, usage_of(prompt_tokens_details=given)) == said


def test_a_missing_usage(prices: PriceBook) -> None:
    for type_, model in (("text", "claude-opus-4-6"), ("embedding", "text-embedding-bge-m3")):
        assert refused(prices, {"type": type_, "model": model}) == {"usage": ["Required"]}


@pytest.mark.parametrize("name", ["prompt_tokens_details", "input_tokens_details"])
def test_an_error_names_the_field_as_the_client_called_it(prices: PriceBook, name: str) -> None:
    tokens = {"input_tokens": -1, "output_tokens": -1, name: {"cached_tokens": -1}}
    assert list(refused(prices, {"type": "text", "model": "claude-opus-4-6", "usage": tokens})) == [
        "usage.input_tokens",
        "usage.output_tokens",
        f"usage.{name}.cached_tokens",
    ]


@pytest.mark.parametrize("whole", [10.0, Decimal(10), Decimal("1E+1"), Decimal("10.000")])
def test_a_whole_number_may_be_written_in_any_way(prices: PriceBook, whole: Any) -> None:
    assert prices.rate(usage_of(prompt_tokens=whole)) == prices.rate(usage_of(prompt_tokens=10))
    assert prices.rate(usage_of(**{CACHED: whole})) == prices.rate(usage_of(**{CACHED: 10}))


def test_the_greatest_count(prices: PriceBook) -> None:
    assert prices.rate(usage_of(prompt_tokens=HUGE, completion_tokens=HUGE)).total == 36 * 10**12
