"""Rates under conditions: the factors that hold for them, how a line shows these, and how SKUs name conditions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice, product
from typing import NamedTuple

from ratecard.base.messages import NotOffered, allowed_values
from ratecard.base.money import multiply, plain, text
from ratecard.rating.compiling import slug
from ratecard.tables.conditions import beside_defaults, held_under, in_full, named_conditions
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Conditioned, HeldRate, Rate, RateFactor

NO_FACTORS: tuple[tuple[str, str], ...] = ()
# The most combinations of conditions that a message lists.
_MOST_LISTED = 10


class FactoredRate(NamedTuple):
    """The price of one unit after markup and factors, how it was made, and how SKUs name its conditions.

    `factors` are those that hold: their conditions in words, and their `file:line`; `conditions` those that the rate or
    a factor names; `unmet` those stated ones that neither names, for which this is not the price.
    """

    unit_rate: Decimal
    notes: tuple[str, ...]
    words: tuple[str, ...]
    factors: tuple[tuple[str, str], ...]
    conditions: Mapping[str, str]
    unmet: tuple[str, ...]


class Refusal(NamedTuple):
    """Why a rate of a charge is not one for a request that states conditions: its message says which are sold."""

    charge: Conditioned
    version: MeteredVersion
    meters: Meters
    stated: Mapping[str, str]
    rate: Rate

    def message(self) -> str:
        """Return the message, with the combinations for which the charge has a rate with the same attributes."""
        charge, version, meters, stated, refused = self
        factors = Factors(charge, meters, version.factors)
        sold = (
            each
            for each in factors.offered()
            if not version.refuses(each, meters)
            and any(
                not factored.unmet and _for_one_request(rate, refused)
                for rate, factored in _rates_under(charge, version, meters, each)
            )
        )
        return not_sold({name: stated[name] for name in factors.named if name in stated}, sold)


class StatedRate(Rate):
    """A rate under the conditions that a request states, after markup and factors; `refusal` where it has unmet ones."""

    model: str
    factored: FactoredRate
    refusal: Refusal

    def sku(self, plain: str) -> str:
        """A SKU of the model with its conditions, which follow the model's name."""
        return "-".join((self.model, *self.factored.words)) + plain.removeprefix(self.model)


class Factors:
    """The factors on those rates of a charge that do not name their conditions; `of_version` are further ones."""

    def __init__(self, charge: Conditioned, meters: Meters, of_version: Iterable[RateFactor] = ()) -> None:
        self._charge, self._markup, self._meters = charge, charge.markup, meters
        self._factors = (*charge.factors, *of_version)
        self.named = named_conditions([charge], of_version)

    def applied(self, rate: Rate, named: Mapping[str, str], stated: Mapping[str, str]) -> FactoredRate:
        """A rate that names conditions, times the factors of others that hold under the stated ones."""
        unit_rate, notes, used, multiplied = multiply(rate.rate, self._markup), [], dict(named), []
        for factor in self._factors:
            if factor.conditions.items() <= stated.items() and not factor.conditions.keys() & named.keys():
                shown = ", ".join(f"{name}: {value}" for name, value in factor.conditions.items())
                notes.append(f"{text(plain(unit_rate))} x {text(factor.factor)} for {shown} ({factor.source})")
                unit_rate = multiply(unit_rate, factor.factor)
                used |= factor.conditions
                multiplied.append((shown.replace(":", ""), factor.source))
        unmet = tuple(name for name, value in stated.items() if name not in used and self._must_meet(name, value))
        words = tuple(self._words(used))
        return FactoredRate(plain(unit_rate), tuple(notes), words, tuple(multiplied), used, unmet)

    def _must_meet(self, name: str, value: str) -> bool:
        """Return True for a stated value that a rate or a factor has to name."""
        said = self._charge.without_rate or {}
        return value != self._meters.condition[name].default and said.get(value, said.get(name)) != "default"

    def offered(self) -> list[dict[str, str]]:
        """Return each combination of conditions that a rate or factors name, without defaults; that of none first."""
        named = [self._charge.conditions_of(rate) for rate in self._charge.rates]
        listed = [dict(zip(each, values, strict=True)) for each in named for values in product(*each.values())]
        listed = [{}, *listed, *(dict(factor.conditions) for factor in self._factors)]
        stated = [beside_defaults(each, self._meters) for each in listed]
        needed = {name for name in self.named if self._meters.condition[name].default is None}
        return list({tuple(each.items()): each for each in stated if needed <= each.keys()}.values())

    def _words(self, used: Mapping[str, str]) -> Iterator[str]:
        """How SKUs name conditions: by value, and by name too if a condition before it has such a value."""
        for name, condition in self._meters.condition.items():
            if name in used and used[name] != condition.default:
                first = next(each for each in self._meters.conditions if used[name] in each.values)
                yield slug(used[name] if first is condition else f"{name}-{used[name]}")


class NotSoldError(Exception):
    """The conditions that a request states and that are not sold together, each with its message."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__(*problems)
        self.problems = problems


def not_sold(stated: Mapping[str, str], sold: Iterable[Mapping[str, str]], what: str = "") -> NotOffered:
    """Return the message for conditions that are not sold together, which says what is; `what` has no price.

    >>> str(not_sold({"service_tier": "priority"}, [{}, {"service_tier": "batch"}]))
    "Not sold. Expected 'no condition' | 'service_tier: batch', received 'service_tier: priority'"
    """
    listed = list(islice(sold, _MOST_LISTED + 1))
    words = allowed_values(map(in_words, listed[:_MOST_LISTED])) + (" | ..." if len(listed) > _MOST_LISTED else "")
    reason = f"No price is known for {what} under these conditions" if what else "Not sold"
    expected = f"Expected {words}" if listed else "Expected another hour or length of the prompt"
    return NotOffered(f"{reason}. {expected}, received '{in_words(stated)}'")


def in_words(stated: Mapping[str, str]) -> str:
    """Return conditions as a message names them."""
    return ", ".join(f"{name}: {value}" for name, value in stated.items()) or "no condition"


def is_plain(charge: Charge, version: MeteredVersion) -> bool:
    """Whether a charge is compiled as it is, whatever a request states.

    So are tokens, because their buckets and tiers choose together with the conditions.
    """
    if isinstance(charge, Tokens):
        return True
    timed = any(isinstance(rate, HeldRate) for rate in charge.rates)
    return not (timed or named_conditions([charge], version.factors))


def charge_under(
    charge: Charge, version: MeteredVersion, model: str, meters: Meters, stated: Mapping[str, str]
) -> Charge:
    """A charge of a version as it is for requests that state these conditions: without them, and without factors."""
    if not isinstance(charge, Conditioned) or is_plain(charge, version):
        return charge
    rates = [
        StatedRate.model_construct(
            rate=factored.unit_rate,
            attributes=rate.attributes,
            source=rate.source,
            model=model,
            factored=factored,
            refusal=Refusal(charge, version, meters, stated, rate),
        )
        for rate, factored in _rates_under(charge, version, meters, stated)
    ]
    return charge.model_copy(update={"rates": tuple(rates), "markup": Decimal(1)})


def _rates_under(
    charge: Conditioned, version: MeteredVersion, meters: Meters, stated: Mapping[str, str]
) -> Iterator[tuple[Rate, FactoredRate]]:
    factors = Factors(charge, meters, version.factors)
    full = in_full(factors.named, stated, meters)
    for index, rate in held_under(version, charge, full):
        named = {name: full[name] for name in charge.conditions_of(charge.rates[index])}
        yield rate, factors.applied(rate, named, full)


def _for_one_request(one: Rate, other: Rate) -> bool:
    """Return True if some request has the attributes of both rates."""
    return all({*one.attributes.get(name, values)} & {*values} for name, values in other.attributes.items())
