"""Every count of every dialect with every wrong value is refused at its path; the table is made of the dialects."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from ratecard import QuoteError, usage_from
from ratecard.requests.counters import COUNTERS, Counter, UsageDialect, Way
from ratecard.requests.dialects import DIALECTS

NOT_WHOLE, TOO_LARGE = "Expected integer, received float", "Number must be less than or equal to 1000000000000000000"
NEGATIVE = "Number must be greater than or equal to 0"
# The message for each wrong value of a count.
WRONG: Mapping[str, tuple[Any, str]] = {
    "a fraction": (1.5, NOT_WHOLE),
    "a fraction of a decimal": (Decimal("1.5"), NOT_WHOLE),
    "text": ("7", "Expected number, received string"),
    "a boolean": (True, "Expected number, received boolean"),
    "a negative number": (-1, NEGATIVE),
    "a negative fraction": (Decimal("-0.5"), NEGATIVE),
    "a number that is too large": (10**30, TOO_LARGE),
    "infinity": (float("inf"), TOO_LARGE),
    "no number": (float("nan"), "Expected number, received nan"),
    "a list": ([7], "Expected number, received array"),
    "an object": ({"a": 7}, "Expected number, received object"),
}


def put(usage: dict[str, Any], dialect: UsageDialect, way: Way, given: Any) -> None:
    """Write a count where a dialect has it: in an object, or in a list whose entries say what they count."""
    if way[0] in dialect.entries:
        of, count = dialect.entries[way[0]]
        usage[way[0]] = [{of[0]: way[1], count[0]: given}]
        return
    for name in way[:-1]:
        usage = usage.setdefault(name, {})
    usage[way[-1]] = given


def sound(dialect: UsageDialect, but: str = "") -> dict[str, Any]:
    """A usage of the counts that every usage of a dialect has."""
    usage: dict[str, Any] = {}
    for counter in dialect.counters:
        if counter.name in dialect.required and counter.name != but:
            put(usage, dialect, counter.paths[0], 3)
    return usage


def response(dialect: UsageDialect, usage: Any) -> Any:
    for name in reversed(dialect.usage[0]):
        usage = {name: usage}
    return usage


def refusals(name: str, given: Any) -> dict[Way, str]:
    """What is said at each path; empty where nothing is refused."""
    try:
        usage_from(name, given, model="m")
    except QuoteError as refusal:
        return {tuple(map(str, path)): message for path, message in refusal.problems}
    return {}


def every_count(dialect: UsageDialect) -> Iterator[tuple[Counter, Way]]:
    return ((counter, way) for counter in dialect.counters for way in counter.paths)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_count_with_a_wrong_value_is_refused_at_its_path(name: str) -> None:
    dialect, wrong = DIALECTS[name], []
    for (counter, way), (what, (given, said)) in product(every_count(dialect), WRONG.items()):
        usage = sound(dialect, counter.name)
        put(usage, dialect, way, given)
        if said == NOT_WHOLE and counter.fractions:
            whole = next((each for each in dialect.counters if each.name == counter.whole), None)
            if whole:
                put(usage, dialect, whole.paths[0], given)
            read = usage_from(name, response(dialect, usage), model="m")
            found: Any = read.counts
            expected: Any = {each.meter: Decimal("1.5") for each in (counter, whole) if each}
        else:
            found, expected = refusals(name, response(dialect, usage)).get((*dialect.usage[0], *way)), said
        wrong += [(way, what, found)] if found != expected else []
    assert not wrong


@pytest.mark.parametrize("name", DIALECTS)
def test_null_is_no_count(name: str) -> None:
    dialect, wrong = DIALECTS[name], []
    for counter, way in every_count(dialect):
        usage = sound(dialect, counter.name)
        put(usage, dialect, way, None)
        if counter.name in dialect.required or not dialect.required:
            found: Any = {*refusals(name, response(dialect, usage)).values()}
            expected: Any = {"Required"}
        else:
            found = usage_from(name, response(dialect, usage), model="m")
            expected = usage_from(name, response(dialect, sound(dialect)), model="m")
        wrong += [(way, found)] if found != expected else []
    assert not wrong


def sums() -> Iterator[Any]:
    for name, dialect in DIALECTS.items():
        for whole, parts in dialect.sums.items():
            yield pytest.param(name, whole, parts, id=f"{name} {whole}")


@pytest.mark.parametrize(("name", "whole", "parts"), list(sums()))
def test_a_sum_that_is_not_that_of_its_parts_is_refused_at_its_path(name: str, whole: str, parts: Way) -> None:
    dialect = DIALECTS[name]
    of = {counter.name: counter for counter in dialect.counters}
    for way in of[whole].paths:
        for wrong in (-1, 1, 84):
            usage = sound(dialect, whole)
            for number, part in enumerate(parts, 1):
                put(usage, dialect, of[part].paths[0], 10 * number)
            right = sum(10 * number for number, _ in enumerate(parts, 1))
            put(usage, dialect, way, right + wrong)
            said = refusals(name, response(dialect, usage))
            assert said[(*dialect.usage[0], *way)].startswith(f"Expected {right}, the sum of "), (way, wrong)
            put(usage, dialect, way, right)
            usage_from(name, response(dialect, usage), model="m")


def test_every_dialect_that_has_a_total_checks_it() -> None:
    """Tokens that are in the total alone would cost nothing."""
    for name, dialect in DIALECTS.items():
        if any(counter.name == "total" for counter in dialect.counters):
            assert {*dialect.required} <= {*dialect.sums["total"]}, name
            assert dialect.sums["total"][-1] in dialect.required, name


def lists_of_counts() -> Iterator[Any]:
    for name, dialect in DIALECTS.items():
        for of in dialect.entries:
            word = next(way[1] for each in dialect.counters for way in each.paths if way[0] == of)
            yield pytest.param(name, of, word, id=f"{name} {of}")


@pytest.mark.parametrize(("name", "of", "word"), list(lists_of_counts()))
def test_a_list_of_counts_drops_nothing(name: str, of: str, word: str) -> None:
    dialect = DIALECTS[name]
    (key, *_), (count, *_) = dialect.entries[of]
    at = (*dialect.usage[0], of)
    no_price = "No price is known for this count"
    for given, path, said in (
        (7, at, "Expected array, received number"),
        ({key: word, count: 7}, at, "Expected array, received object"),
        ([7], (*at, "0"), "Expected object, received number"),
        ([{key: word, count: 2}, {key: word, count: 1}], (*at, "1"), f"{word} is counted twice in this list"),
        ([{key: word, count: 2, "others": 1}], (*at, word, "others"), no_price),
        ([{key: "SMELL", count: 2}], (*at, "SMELL"), no_price),
        ([{count: 2}], (*at, "None"), no_price),
    ):
        assert refusals(name, response(dialect, sound(dialect) | {of: given})) == {path: said}, given
    each = {(*at, str(index)): "Expected object, received number" for index in range(2)}
    assert refusals(name, response(dialect, sound(dialect) | {of: [7, 8]})) == each


def test_calls_of_tools_beside_a_usage_are_checked_like_counts() -> None:
    for name, dialect in DIALECTS.items():
        for meter, ways in dialect.calls_at.items():
            for way in ways:
                for what, (given, said) in WRONG.items():
                    part = response(dialect, sound(dialect))
                    put(part, UsageDialect(()), way, given)
                    assert refusals(name, part).get(way) == said, (meter, what)


def test_seconds_of_audio_are_a_number() -> None:
    for name, dialect in DIALECTS.items():
        for way in dialect.seconds:
            for what, (given, said) in WRONG.items():
                part: dict[str, Any] = {}
                put(part, UsageDialect(()), way, given)
                if said == NOT_WHOLE:
                    assert usage_from(name, part, model="m").seconds == Decimal("1.5")  # type: ignore[union-attr]
                else:
                    assert refusals(name, part).get(way) == said, what


def test_tokens_of_audio_are_not_dropped_for_its_seconds() -> None:
    counts = {"type": "tokens", "input_tokens": 30, "output_tokens": 5, "total_tokens": 35}
    read = usage_from("openai", {"duration": 8.5, "text": "Hi", "usage": counts}, model="m")
    assert read.tokens == {"input": 30, "output": 5}  # type: ignore[union-attr]


def test_another_count_beside_seconds_is_refused_as_beside_tokens() -> None:
    usage = {"type": "duration", "seconds": 5}
    assert list(refusals("openai", {"usage": usage | {"fresh_tokens": 9}})) == [("usage", "fresh_tokens")]
    assert list(refusals("openai", {"usage": usage | {"details": {"fresh": 9}}})) == [("usage", "details", "fresh")]
    # What a transcript has beside its usage is not counted.
    part = {"usage": usage | {"fresh_tokens": 0}, "segments": [{"id": 1, "tokens": [5]}], "duration": 4.2}
    assert usage_from("openai", part, model="m").seconds == 5  # type: ignore[union-attr]


def test_a_usage_in_seconds_and_one_in_tokens_are_not_one_stream() -> None:
    seconds = {"type": "transcript.text.done", "usage": {"type": "duration", "seconds": 5}}
    counts = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    tokens = {"type": "response.completed", "response": {"id": "a", "usage": counts}}
    said = "This usage is in seconds, and another in tokens: give each by itself"
    assert refusals("openai", [seconds, tokens]) == {("0",): said}
    assert refusals("openai", [tokens, seconds | {"id": "a"}]) == {("1",): said}


@pytest.mark.parametrize("odd", [["x"], {"a": 1}, 5, True])
def test_a_word_of_another_type_is_refused_or_says_nothing(odd: Any) -> None:
    for name, dialect in DIALECTS.items():
        if dialect.kinds:
            part = response(dialect, sound(dialect))
            put(part, UsageDialect(()), dialect.kinds[0], odd)
            assert list(refusals(name, part)) == [dialect.kinds[0]]
    calls = [{"type": odd, "action": {"type": odd}}, {"type": "web_search_call", "action": {"type": odd}}]
    part = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}, "output": calls}
    assert usage_from("openai", part, model="m").counts is None


def test_only_seconds_may_be_fractions() -> None:
    counters = (*COUNTERS, *(counter for dialect in DIALECTS.values() for counter in dialect.counters))
    assert {each.meter for each in counters if each.fractions} == {
        "audio_second",
        "input_audio_second",
        "output_audio_second",
    }
