"""A response is read alike as a mapping, as JSON, as an object of a client, and in every order of its names."""

import json
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from test_wrong_counts import put

from nightly import examples
from ratecard import QuoteError, usage_from
from ratecard.requests.counters import UsageDialect, Way
from ratecard.requests.dialects import DIALECTS

COUNTS: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 12), st.sampled_from([None, True, "5", -1, 2.5, 10**18 + 1, {}, [1]])
)


@st.composite
def responses(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A response with counts near the edges at which they contradict each other, and with names that nobody knows."""
    name = draw(st.sampled_from(sorted(DIALECTS)))
    dialect = DIALECTS[name]
    ways = [draw(st.sampled_from(each.paths)) for each in dialect.counters if each.name in dialect.required]
    ways += draw(st.lists(st.sampled_from(list(dialect.counter_at)), max_size=4))
    usage: dict[str, Any] = {}
    for way in dict.fromkeys(ways):
        # The order of a list of entries matters, so one entry is enough.
        if way[0] not in usage or way[0] not in dialect.entries:
            put(usage, dialect, way, draw(COUNTS) if draw(st.integers(0, 9)) == 0 else draw(st.integers(0, 12)))
    if draw(st.integers(0, 9)) == 0:
        put(usage, UsageDialect(()), draw(unknown(dialect)), draw(COUNTS))
    for part in reversed(draw(st.sampled_from(dialect.usage))):
        usage = {part: usage}
    return name, usage


def unknown(dialect: UsageDialect) -> st.SearchStrategy[Way]:
    return st.sampled_from([(f"{dialect.prefix}note",), (f"{dialect.prefix}more_tokens",)])


def in_order(value: Any, turn: int) -> Any:
    """The same with the names of every object in another order."""
    if isinstance(value, dict):
        return {name: in_order(value[name], turn) for name in Random(turn).sample(list(value), len(value))}  # noqa: S311
    return [in_order(each, turn) for each in value] if isinstance(value, list) else value


def frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({name: frozen(each) for name, each in value.items()})
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def as_object(value: Any) -> Any:
    """Return a value as clients have it: an object if the names can be those of attributes."""
    if isinstance(value, dict):
        inside = {name: as_object(each) for name, each in value.items()}
        return SimpleNamespace(**inside) if value and all(name.isidentifier() for name in value) else inside
    return [as_object(each) for each in value] if isinstance(value, list) else value


def answer(dialect: str, response: Any) -> Any:
    try:
        return usage_from(dialect, response, model="m").model_dump(exclude_none=True)
    except QuoteError as refusal:
        return sorted((tuple(map(str, path)), str(words)) for path, words in refusal.problems)


@settings(max_examples=examples(150, nightly=400))
@given(responses())
def test_every_form_and_order_of_a_response_has_one_answer(drawn: tuple[str, dict[str, Any]]) -> None:
    name, response = drawn
    expected = answer(name, response)
    text = json.dumps(response)
    for same in (text, text.encode(), frozen(response), *(in_order(response, turn) for turn in range(4))):
        assert answer(name, same) == expected, same
    assert answer(name, as_object(response)) == expected
