"""What the price book says of a shape comes to its quotes: over random tables, rounding and minimums in."""

from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nightly import examples
from ratecard import PriceBook, QuoteError
from ratecard.tables.meters import COMPLETION, PROMPT
from ratecard.testing.card_strategies import rate_cards
from shipped import CARD

DAY = date(2026, 10, 1)
# The field of a usage that is charged in proportion, by the method that counts it.
FIELDS = {"per-character": ("characters", "character_count"), "per-audio-second": ("seconds", "duration_seconds"),
          "surcharge": ("count",)}  # fmt: skip
TOKENS = st.integers(0, 10) | st.integers(0, 10**7)


def counted_fields(prices: PriceBook, version: Any, type_: str) -> list[str]:
    """The fields and meters that a version charges in proportion."""
    found = []
    for charge in version.charges:
        if charge.options or prices.tables.units[charge.unit].counts == "prompt":
            continue
        if charge.method == "count":
            found.append(f"counts.{prices.tables.units[charge.unit].counts}")
        elif charge.method in FIELDS and type_ != "music":  # the fields of music may not be 0
            found.append(FIELDS[charge.method][0])
    return found


@pytest.mark.parametrize("method", ["tokens", "per-character", "per-audio-second", "surcharge"])
@settings(
    max_examples=examples(20, nightly=60),
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_the_rates_of_a_shape_come_to_its_quotes(method: str, data: st.DataObject) -> None:
    prices = data.draw(rate_cards(methods=[method], max_models=1))._unproved.at(DAY)
    [(model, version)] = prices._in_effect_all()
    held: Any = prices._at_hour(version)
    if model.type == "music" or not any(charge.method in ("tokens", *FIELDS) for charge in held.charges):
        return
    for _ in range(3):  # drawing a card takes longer than what is asked of it
        compare(prices, model, held, data)


def compare(prices: PriceBook, model: Any, held: Any, data: st.DataObject) -> None:
    """Compare one usage of a model, drawn with its conditions and counts, with the rates of its shape."""
    fields = counted_fields(prices, held, model.type)
    conditions = {
        name: data.draw(st.sampled_from(sorted(values)))
        for name, values in held.conditions.items()
        if data.draw(st.booleans())
    }
    usage: dict[str, Any] = {"type": model.type, "model": model.model, **conditions}
    others = {field: 7 for charge in held.charges for field in FIELDS.get(charge.method, ())[:1] if field not in fields}
    usage |= others | {field: 0 for field in fields if "." not in field}
    meters = {prices.tables.units[charge.unit].counts for charge in held.charges if charge.method == "count"}
    # Counts that are not charged in proportion are part of the shape.
    counts = {meter: 0 if f"counts.{meter}" in fields else 1500 for meter in meters}
    usage |= {"counts": counts} if counts else {}
    own, buckets = dict[str, Any](), prices.tables.meters.buckets
    if held.tokens:
        usage["tokens"] = {PROMPT: 0, COMPLETION: 0} if model.type == "text" else {PROMPT: 0}
    if refused(prices, usage, counts, fields):
        with pytest.raises(QuoteError):
            prices.rates_of(usage, fields)
        return
    if held.tokens:
        offered = prices.rates_of(usage, buckets).rates
        named = [name for name in offered if model.type == "text" or not in_completion(prices, name)]
        own = {name: data.draw(TOKENS) for name in data.draw(st.lists(st.sampled_from(named), max_size=4, unique=True))}
    prompt = sum(count for name, count in own.items() if not in_completion(prices, name))
    counted = own | {field: data.draw(TOKENS) for field in fields}
    shape = prices.rates_of(usage, [*buckets, *fields], prompt=prompt)

    asked = {**usage, **{field: counted[field] for field in fields if "." not in field}}
    asked |= {"counts": {**counts, **{f.partition(".")[2]: counted[f] for f in fields if "." in f}}} if counts else {}
    if held.tokens:
        inclusive = {name: sum(own[part] for part in own if part == name or buckets[part].within(buckets[name]))
                     for name in buckets if model.type == "text" or not in_completion(prices, name)}  # fmt: skip
        asked["tokens"] = inclusive
        for one, other in combinations((name for name, count in inclusive.items() if count), 2):
            if buckets[one].overlaps(buckets[other]) and common(buckets, one, other) not in inclusive:
                return  # a usage cannot state the tokens that these buckets share
    unpriced = [name for name, count in own.items() if count and name not in shape.rates]
    if unpriced:
        with pytest.raises(QuoteError):
            prices.rate(asked)
        return
    quote = prices.rate(asked)
    assert shape.total(counted) == quote.exact == quote.total
    assert {line.sku for line in quote.lines if line.unit != "minimum"} <= {
        *(line.sku for line in shape.lines), *(rate.sku for rates in shape.rates.values() for rate in rates)
    }  # fmt: skip


def refused(prices: PriceBook, usage: dict[str, Any], counts: dict[str, Any], fields: list[str]) -> bool:
    """Say whether a usage, or one more of something that it counts, is not sold under the conditions that it states."""
    ones = [{"counts": {**counts, field.partition(".")[2]: 1}} if "." in field else {field: 1} for field in fields]
    for one in ({}, *ones):
        try:
            prices.rate({**usage, **one})
        except QuoteError:
            return True
    return False


def common(buckets: Any, one: str, other: str) -> str:
    dimensions = {**buckets[one].dimensions, **buckets[other].dimensions}
    return next((name for name, bucket in buckets.items() if bucket.dimensions == dimensions), "")


def in_completion(prices: PriceBook, bucket: str) -> bool:
    return prices.tables.meters.in_completion(bucket)


def test_searches_are_beside_what_a_minimum_knows() -> None:
    usage = {"type": "text", "model": "claude-opus-4-6", "tokens": {"input": 0}, "web_search_requests": 2}
    shape = CARD.at(DAY).rates_of(usage, ["input", "cache_input"], prompt=10)
    assert [line.sku for line in shape.beside] == ["web-search-krequest"]
    assert shape.fixed == ()
    asked = {**usage, "tokens": {"input": 10, "cache_input": 4}}
    assert shape.total({"input": 6, "cache_input": 4}) == CARD.at(DAY).rate(asked).total


def test_a_usage_that_has_no_price_has_no_rates() -> None:
    with pytest.raises(QuoteError, match="Specified model not found"):
        CARD.at(DAY).rates_of({"type": "text", "model": "claude-opus-4-66", "tokens": {}}, ["input"])
    with pytest.raises(QuoteError, match="service_tier"):
        usage = {"type": "text", "model": "claude-opus-4-6", "tokens": {"input": 0}, "service_tier": "batch"}
        CARD.at(DAY).rates_of(usage, ["input"])


def test_the_rate_is_that_of_the_tier_of_the_prompt() -> None:
    usage = {"type": "text", "model": "grok-4-3", "tokens": {"input": 0}}
    prices = CARD.at(DAY)
    rates = [prices.rates_of(usage, ["input"], prompt=prompt).rates["input"][0].unit_rate for prompt in (1, 200_001)]
    assert rates == [
        prices.rate({**usage, "tokens": {"input": tokens}}).lines[0].unit_rate for tokens in (1, 200_001)
    ] and rates[0] < rates[1]  # fmt: skip
    assert isinstance(rates[0], Decimal)
