"""Random contracts over random tables: every rate is what a plain reading of the contract makes of the list's, exactly.

The oracle reads overrides as they are written and computes with fractions; of the library it takes the list's line.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from contract_tables import card_of, contract
from nightly import examples
from ratecard.base.errors import QuoteError, TableError
from ratecard.card import RateCard
from token_tables import by_tokens, family, text_model

BUCKETS = ("input", "cache_input", "output")
TIERS, GEOS, SPEEDS = ("standard", "batch", "priority"), ("global", "us"), ("standard", "fast")
NIGHT, DAYTIME = datetime(2026, 11, 2, 3, tzinfo=UTC), datetime(2026, 11, 2, 15, tzinfo=UTC)


class Written(NamedTuple):
    """An override as the oracle knows it: its line, models or all, conditions, what it does and by how much."""

    line: int
    target: str
    conditions: dict[str, tuple[str, ...]]
    kind: str
    amount: Fraction

    @property
    def text(self) -> str:
        named = "".join(f"{name}: [{', '.join(values)}], " for name, values in self.conditions.items())
        amount = f"{float(self.amount * 100 - 100):.0f}%" if self.kind == "percent" else f"{float(self.amount):g}"
        return f"- {{for: {{{self.target}, conditions: {{{named}}}}}, {self.kind}: {amount}}}"

    def names_more(self, other: "Written") -> bool:
        mine, theirs = ({"model"} if "model" in each.target else set() for each in (self, other))
        return (mine | self.conditions.keys()) > (theirs | other.conditions.keys())


def random_tables(chance: Random) -> str:
    """Models `m` and `n` by tokens, with tiers, hours, rates under conditions and factors."""

    def rate() -> str:
        return f"rate: {chance.randint(1, 40) / 4:g}"

    def rates() -> Iterator[str]:
        yield from (f"- {{tokens: {bucket}, {rate()}}}" for bucket in BUCKETS)
        if chance.random() < 0.6:
            yield from (f"- {{tokens: {bucket}, above: 1000, {rate()}}}" for bucket in BUCKETS[: chance.randint(1, 3)])
        if chance.random() < 0.4:
            yield f"- {{tokens: [input, cache_input, output], service_tier: batch, {rate()}}}"
        if chance.random() < 0.3:
            yield f'- {{tokens: output, hours: "00:00..12:00", zone: UTC, {rate()}}}'
        if chance.random() < 0.4:
            yield f"- {{tokens: [input, cache_input, output], speed: fast, {rate()}}}"

    offered = ["service_tier: batch", "service_tier: priority", "inference_geo: us"]
    factors = [f"{{{each}, factor: {chance.randint(1, 8) / 4:g}}}" for each in offered if chance.random() < 0.6]
    if chance.random() < 0.2:
        factors = [f"{{service_tier: batch, inference_geo: us, factor: {chance.randint(1, 8) / 4:g}}}"]
    further = f"factors: [{', '.join(factors)}]\n" if factors else ""
    if chance.random() < 0.3:
        further += "markup: 1.25\n"
    return family(
        *(text_model(name, by_tokens("\n".join(rates()), further)) for name in ("m", "n")),
    )


def random_overrides(chance: Random) -> list[Written]:
    found = []
    for number in range(chance.randint(1, 6)):
        named: dict[str, tuple[str, ...]] = {}
        if chance.random() < 0.5:
            named["tokens"] = tuple(chance.sample(BUCKETS, chance.randint(1, 2)))
        if chance.random() < 0.45:
            named["service_tier"] = tuple(chance.sample(TIERS, chance.randint(1, 2)))
        if chance.random() < 0.2:
            named["inference_geo"] = (chance.choice(GEOS),)
        if chance.random() < 0.1:
            named["speed"] = (chance.choice(SPEEDS),)
        if chance.random() < 0.15:
            named["above"] = ("1000",)
        elif chance.random() < 0.1:
            named["context"] = ("base",)
        kind = chance.choice(("percent", "factor", "rate", "at_most", "at_least"))
        amount = Fraction(chance.randint(1, 40), 4) if kind != "percent" else Fraction(chance.randint(1, 150), 100)
        found.append(Written(number, chance.choice(("type: text", "model: m")), named, kind, amount))
    return found


def group(override: Written) -> str:
    return override.kind if override.kind.startswith("at_") else "price"


def expected(
    card: RateCard, overrides: list[Written], model: str, bucket: str, line: Any, full: dict[str, str]
) -> Fraction | None:
    """The price of a line of the list under these overrides; None where they contradict each other."""
    [charge] = card.tables.models[model].versions[0].charges
    [rate] = {id(each): each for each in charge.rates if each.source == line.source}.values()
    named = {name for name in rate.attributes if name in ("service_tier", "inference_geo", "speed")}
    held = [
        each
        for each in getattr(charge, "factors", ())
        if all(full[name] == value for name, value in each.conditions.items()) and not named & each.conditions.keys()
    ]

    def times(amount: Fraction, but: set[str]) -> Fraction:
        for each in held:
            if not but & each.conditions.keys():
                amount *= Fraction(each.factor)
        return amount

    # A condition that the list names nowhere is never met, not even by its default.
    priced = {name for factor in charge.multipliers for name in factor.conditions}
    priced |= {name for rate in charge.rates for name in rate.attributes}
    has = {"tokens": bucket, **{name: value for name, value in full.items() if name in priced}}
    has["above"] = rate.attributes.get("above", ("",))[0]
    has["context"] = "base" if "above" not in rate.attributes else ""
    meeting = [
        each
        for each in overrides
        if each.target in ("type: text", f"model: {model}")
        and all(has.get(name) in values for name, values in each.conditions.items())
    ]
    winners: dict[str, Written] = {}
    for of in ("price", "at_most", "at_least"):
        rivals = [each for each in meeting if group(each) == of]
        best = [each for each in rivals if all(each is other or each.names_more(other) for other in rivals)]
        if rivals and not best:
            return None
        winners |= {of: best[0]} if best else {}
    amount = times(Fraction(rate.rate) * Fraction(charge.markup), set())
    if price := winners.get("price"):
        amount = times(price.amount, {*price.conditions}) if price.kind == "rate" else amount * price.amount
    bounds = {of: times(each.amount, {*each.conditions}) for of, each in winners.items() if of != "price"}
    if "at_most" in bounds and "at_least" in bounds and bounds["at_least"] > bounds["at_most"]:
        return None
    amount = min(amount, bounds.get("at_most", amount))
    return max(amount, bounds.get("at_least", amount))


@pytest.mark.parametrize("seed", range(examples(80, nightly=100)))
def test_every_rate_is_that_of_the_oracle(seed: int) -> None:
    chance = Random(seed)  # noqa: S311 (not a secret)
    tables, plain = sound_tables(chance)
    overrides = [each for each in random_overrides(chance) if is_sound(each, tables)]
    wrong, card = "", plain
    try:
        card = card_of(contract("\n".join(each.text for each in overrides)), tables=tables)
    except TableError as error:
        wrong = str(error)
        assert "neither names more" in wrong or "contradict each other" in wrong
    compared, contradicted = 0, False
    asked = list(product((NIGHT, DAYTIME), "mn", BUCKETS, (500, 1500), TIERS, GEOS, SPEEDS))
    # Where the contract is refused, one of all these has two prices.
    some = asked if wrong else chance.sample(asked, examples(len(asked) // 2, nightly=len(asked)))
    for instant, model, bucket, prompt, *values in some:
        full = dict(zip(("service_tier", "inference_geo", "speed"), values, strict=True))
        tokens = {"input": prompt, "cache_input": 0, "output": 0}
        tokens |= {"cache_input": prompt} if bucket == "cache_input" else {"output": 7} if bucket == "output" else {}
        usage = {"type": "text", "model": model, "tokens": tokens, **full}
        try:
            listed = plain.at(instant).rate(usage)
        except QuoteError as refusal:
            if not wrong:
                with pytest.raises(QuoteError) as again:
                    card.at(instant, contract="acme").rate(usage)
                assert again.value.body() == refusal.body()
            continue
        price = expected(plain, overrides, model, bucket, listed.lines[-1], full)
        contradicted = contradicted or price is None
        if not wrong:
            quote = card.at(instant, contract="acme").rate(usage)
            assert [each.sku for each in quote.lines] == [each.sku for each in listed.lines]
            assert price is not None
            assert Fraction(quote.lines[-1].unit_rate) == price, (usage, [each.text for each in overrides])
            assert [each.list_rate for each in quote.lines] == [each.unit_rate for each in listed.lines]
            assert [each.list_source for each in quote.lines] == [each.source for each in listed.lines]
            compared += 1
    assert bool(wrong) <= contradicted
    assert compared or wrong


def sound_tables(chance: Random) -> tuple[dict[str, str], RateCard]:
    """Return random tables without a fault; one may be a part without a price under the conditions of its whole."""
    while True:
        tables = {"text.yaml": random_tables(chance)}
        with suppress(TableError):
            return tables, card_of(tables=tables)


def is_sound(override: Written, tables: dict[str, str]) -> bool:
    """Return False for an override that meets nothing, which is a fault by itself."""
    try:
        card_of(contract(override.text), tables=tables)
    except TableError as error:
        assert "matches nothing" in str(error)
        return False
    return True
