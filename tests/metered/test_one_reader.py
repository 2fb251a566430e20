"""One reader: a mapping, JSON and a typed usage are one usage, in the words of every provider; so are its errors."""

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import ratecard
from nightly import examples
from ratecard import PriceBook, QuoteError, TextUsage
from ratecard.requests.body import TYPES
from ratecard.testing import usages
from ratecard.testing.offer import json_text
from ratecard.testing.usage_strategies import in_any_dialect
from shipped import CARD

PRICES = CARD.at(date(2026, 9, 29))
OF_TYPE = {kind: getattr(ratecard, f"{kind.capitalize()}Usage") for kind in TYPES.words}
USAGES = {kind: usages(PRICES, types=[kind]) for kind in TYPES.words}
SETTINGS = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
# Fields of a client's object without effect on the price, which are not listed.
NOTHING = {"audio_tokens": 0, "cachedContentTokenCount": None, "cost": None, "service_tier": "default"}
SCALARS = st.none() | st.booleans() | st.integers(-1, 12) | st.text(max_size=3) | st.sampled_from(("default", "flex"))
NAMES = st.sampled_from(
    ("prompt_tokens", "input_tokens", "output_tokens", "total_tokens", "prompt_tokens_details", "input_tokens_details",
     "cached_tokens", "cache_write_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation",
     "ephemeral_5m_input_tokens", "reasoning_tokens", "text_tokens", "server_tool_use", "web_search_requests",
     "iterations", "service_tier", "inference_geo", "audio_tokens", "cost", "_errors", "a.b", "\x1b")
)  # fmt: skip
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mixed_usages(draw: st.DrawFn) -> dict[str, Any]:
    """A usage of any type; its tokens in any dialect."""
    usage = draw(st.sampled_from(TYPES.words).flatmap(USAGES.__getitem__))
    if usage["type"] in ("text", "embedding"):
        dialects = in_any_dialect(usage["usage"], PRICES.tables.meters, embedding=usage["type"] == "embedding")
        return usage | {"usage": draw(dialects)}
    return usage


def forms(usage: dict[str, Any]) -> list[Any]:
    """All the ways in which a usage may come."""
    text = json_text(usage)
    return [usage, text, text.encode(), OF_TYPE[usage["type"]].model_validate(usage)]


@settings(SETTINGS, max_examples=examples(300, nightly=100_000))
@given(mixed_usages(), st.dictionaries(st.text(max_size=5), SCALARS, max_size=2))
def test_a_usage_has_one_price_in_whatever_form_it_comes(usage: dict[str, Any], metadata: dict[str, Any]) -> None:
    quote = PRICES.rate(usage)
    further = [usage | {"metadata": metadata}]
    if usage["type"] in ("text", "embedding"):
        further += [usage | {"usage": NOTHING | usage["usage"]}, usage | {"speed": "standard", "inference_geo": None}]
    if usage["type"] == "text":
        further += [{"web_search_requests": 0} | usage] if "service_parameters" not in usage else []
    for each in (usage, *further):
        assert [PRICES.rate(form) for form in forms(each)] == [quote] * 4


def outcome(usage: Any) -> Any:
    """The quote, or every problem with its path."""
    try:
        return PRICES.rate(usage)
    except QuoteError as refusal:
        json.dumps(refusal.details)
        return sorted(refusal.problems, key=str)


@settings(SETTINGS, max_examples=examples(300, nightly=20_000))
@given(st.dictionaries(NAMES, SCALARS | OBJECTS, max_size=5), st.integers(0, 12), st.integers(0, 12))
def test_a_usage_has_one_refusal_in_whatever_form_it_comes(more: dict[str, Any], prompt: int, completion: int) -> None:
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    usage = {"type": "text", "model": "claude-opus-4-6", "usage": tokens}
    expected = outcome(usage)
    assert outcome(json.dumps(usage)) == expected
    try:
        typed = TextUsage.model_validate(usage)
    except ValidationError:  # a mapping with a count that its type refuses has no price either
        assert isinstance(expected, list)
        return
    if tokens["prompt_tokens"] is not None:  # a typed usage has None for a field that was not given
        assert outcome(typed) == expected


def nested(levels: int) -> dict[str, Any]:
    """An object in an object, so many times."""
    found: dict[str, Any] = {"cost": 1}
    for _ in range(levels):
        found = {"more": found}
    return found


def tokens(**more: Any) -> dict[str, Any]:
    return {"type": "text", "model": "grok-4-3", "usage": {"prompt_tokens": 1, "completion_tokens": 1, **more}}


def test_an_object_is_read_as_deep_as_it_may_be(prices: PriceBook) -> None:
    assert prices.rate(tokens(**nested(17))).ignored == (".".join(["usage", *["more"] * 17, "cost"]),)
    for levels in (20, 100_000):
        with pytest.raises(QuoteError) as caught:
            prices.rate(tokens(**nested(levels)))
        assert caught.value.problems == ((("usage", *["more"] * 19), "Object must be nested at most 20 levels deep"),)


def test_an_object_that_holds_itself_ends(prices: PriceBook) -> None:
    circle: dict[str, Any] = {"cost": 1}
    circle |= {"a": circle, "b": circle, "c": [circle, circle]}
    for more in ({"more": circle}, {"iterations": [circle] * 3}):
        for usage in (tokens(**more), TextUsage.model_validate(tokens(**more))):
            with pytest.raises(QuoteError) as caught:
                prices.rate(usage)
            assert (("usage",), "Object must have at most 10000 values") in caught.value.problems
            assert len(caught.value.to_json()) < 20_000


def test_a_usage_of_many_unknown_counters_is_a_short_refusal(prices: PriceBook) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.rate(tokens(**{f"{number:05}_{'token' * 20}": 1 for number in range(9_000)}))
    assert len(caught.value.problems) == 50
    assert len(caught.value.to_json()) < 10_000


class Raising:
    """An object of a client whose code fails."""

    @property
    def model_dump(self) -> Any:
        raise RuntimeError


KEYS = (5, None, True, 1.5, b"x", ("a",), "\ud800", 10**5000)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: type(key).__name__)
def test_keys_that_are_not_text(prices: PriceBook, key: Any) -> None:
    quote = prices.rate(tokens(more={key: "x", "token": None}))
    (listed,) = quote.ignored
    assert listed.startswith("usage.more.")
    assert listed.isprintable()
    with pytest.raises(QuoteError, match="No price is known for this count"):
        prices.rate(tokens(more_tokens={key: 1}))
    with pytest.raises(QuoteError, match="Unrecognized key"):
        prices.rate({**tokens(), key: 1})


def test_an_object_whose_code_fails_is_not_understood(prices: PriceBook) -> None:
    for usage in ({**tokens(), "usage": Raising()}, tokens(prompt_tokens_details=Raising())):
        with pytest.raises(QuoteError, match="Expected object, received unknown"):
            prices.rate(usage)
