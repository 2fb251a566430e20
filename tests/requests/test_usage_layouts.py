"""Ordinary usage objects are read by compiled functions of their layouts, which agree with a careful reading."""

from collections.abc import Mapping
from itertools import permutations
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratecard.base.messages import Problems
from ratecard.requests.counters import COUNTERS
from ratecard.requests.token_usage import MOST_LAYOUTS, LayoutReaders, read_tokens

PATHS = [path for counter in COUNTERS for path in counter.paths]
COUNTS = st.one_of(st.integers(0, 40), st.sampled_from([None, True, "5", -1, 2.5, 10**18 + 1, {}, {"x": 1}]))


WHOLES = [("prompt_tokens",), ("input_tokens",)]


@st.composite
def usages(draw: st.DrawFn) -> dict[str, Any]:
    """Usage objects of known names, whose counts are near the edges at which they contradict each other."""
    prompt, completion = draw(st.integers(8, 12)), draw(st.integers(0, 4))
    paths = draw(st.lists(st.sampled_from([path for path in PATHS if path not in WHOLES]), max_size=4, unique=True))
    paths += draw(st.sampled_from([WHOLES[:1], WHOLES[:1], WHOLES[1:], WHOLES[1:], WHOLES, []]))
    paths += draw(st.sampled_from([[("completion_tokens",)], [("output_tokens",)], []]))
    near = st.sampled_from([0, 1, 5, completion, completion + 1, prompt - 1, prompt, prompt + 1, prompt + completion])
    usage: dict[str, Any] = {}
    for *way, name in draw(st.permutations(list(dict.fromkeys(paths)))):
        within = usage
        for part in way:
            within = within.setdefault(part, {})
        whole = {"prompt_tokens": prompt, "input_tokens": prompt + draw(st.sampled_from([0, 0, 1]))}.get(
            name, completion
        )
        within[name] = draw(COUNTS if draw(st.integers(0, 19)) == 0 else near) if way or name[0] in "ct" else whole
    if draw(st.integers(0, 19)) == 0:
        usage[draw(st.sampled_from(["note", "foo_tokens", "prompt_tokens_details"]))] = draw(COUNTS)
    return usage


def with_care(fields: Any) -> Any:
    """The same usage in mappings that no layout is compiled for."""
    if not isinstance(fields, dict):
        return fields
    return MappingProxyType({name: with_care(value) for name, value in fields.items()})


def answer(usage: Mapping[str, Any], is_text: bool) -> tuple[Any, ...]:
    problems: Problems = []
    names, values, searches, ignored = read_tokens(usage, problems, is_text, {}, {})
    counts = {name: value for name, value in zip(names, values, strict=True) if value}
    return counts, searches, ignored, [(path, str(message)) for path, message in problems]


@settings(max_examples=500)
@given(usages(), st.booleans())
def test_a_layout_is_read_as_with_care(usage: dict[str, Any], is_text: bool) -> None:
    expected = answer(with_care(usage), is_text)
    for _ in range(2):  # the first call compiles, the second one uses the result
        assert answer(usage, is_text) == expected


def test_truth_values_are_no_counts() -> None:
    usage = {"prompt_tokens": True, "completion_tokens": True}
    assert [words for _, words in answer(usage, True)[3]] == ["Expected number, received boolean"] * 2


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_every_order_of_names_gives_one_answer(order: tuple[int, ...]) -> None:
    items = [
        ("prompt_tokens", 90),
        ("completion_tokens", 7),
        ("total_tokens", 97),
        ("prompt_tokens_details", {"cached_tokens": 60, "cached_tokens_details": {"audio_tokens": 5}}),
    ]
    usage = dict(items[place] for place in order)
    expected = {"input": 90, "output": 7, "cache_input": 60, "cache_input_audio": 5}
    assert answer(usage, True) == (expected, None, (), [])


@pytest.mark.parametrize("value", [None, {}, {"cached_tokens": 4}, 5, "x", [1]])
@pytest.mark.parametrize("first", [None, {}, {"cached_tokens": 4}])
def test_a_first_usage_decides_nothing_for_others(first: Any, value: Any) -> None:
    """Objects and nulls under the same names are layouts of their own."""
    readers = LayoutReaders(is_text=True)
    readers.read({"output_tokens": 1, "input_tokens": 9, "input_tokens_details": first})
    usage = {"output_tokens": 1, "input_tokens": 9, "input_tokens_details": value}
    counts = readers.read(usage)
    if value is None or isinstance(value, dict):
        assert counts is not None
        assert dict(zip(*counts[:2], strict=True)).get("cache_input", 0) == (value or {}).get("cached_tokens", 0)
    else:
        assert counts is None


def test_hostile_layouts_do_not_fill_memory() -> None:
    readers = LayoutReaders(is_text=False)
    names = ["prompt_tokens", "completion_tokens", "total_tokens", *(f"unknown {number}" for number in range(5))]
    for order in permutations(names):  # layouts with unknown names are not kept
        readers.read(dict.fromkeys(order, 0))
    assert len(readers) == 0
    details = ["cached_tokens", "audio_tokens", "text_tokens", "image_tokens", "video_tokens", "cache_write_tokens"]
    for order in permutations(details):
        for whole in ("prompt_tokens", "input_tokens"):
            readers.read({whole: 9, "prompt_tokens_details": dict.fromkeys(order, 0)})
    assert len(readers) == MOST_LAYOUTS
    late = {"prompt_tokens": 9, "input_tokens_details": {"cached_tokens": 5}, "completion_tokens": 2}
    assert readers.read(late) is None
    assert answer(late, False) == ({"input": 9, "output": 2, "cache_input": 5}, None, (), [])
