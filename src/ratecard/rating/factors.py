"""Rates under conditions: the factors that hold for them, how a line shows these, and how SKUs name conditions."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.money import multiply, plain, text
from ratecard.rating.compiling import slug
from ratecard.tables.conditions import held_under, in_full, named_conditions
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Conditioned, HeldRate, Rate, RateFactor

NO_FACTORS: tuple[tuple[str, str], ...] = ()


class FactoredRate(NamedTuple):
    """The price of one unit after markup and factors, how it was made, and how SKUs name its conditions.

    `factors` are those that hold: their conditions in words, and their `file:line`; `conditions` those that the rate or
    a factor names.
    """

    unit_rate: Decimal
    notes: tuple[str, ...]
    words: tuple[str, ...]
    factors: tuple[tuple[str, str], ...]
    conditions: Mapping[str, str]


class StatedRate(Rate):
    """A rate under the conditions that a request states, after markup and factors."""

    model: str
    factored: FactoredRate

    def sku(self, plain: str) -> str:
        """A SKU of the model with its conditions, which follow the model's name."""
        return "-".join((self.model, *self.factored.words)) + plain.removeprefix(self.model)


class Factors:
    """The factors on those rates of a charge that do not name their conditions; `of_version` are further ones."""

    def __init__(self, charge: Conditioned, meters: Meters, of_version: Iterable[RateFactor] = ()) -> None:
        self._markup, self._meters = charge.markup, meters
        self._factors = (*charge.factors, *of_version)

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
        return FactoredRate(plain(unit_rate), tuple(notes), tuple(self._words(used)), tuple(multiplied), used)

    def _words(self, used: Mapping[str, str]) -> Iterator[str]:
        """How SKUs name conditions: by value, and by name too if a condition before it has such a value."""
        for name, condition in self._meters.condition.items():
            if name in used and used[name] != condition.default:
                first = next(each for each in self._meters.conditions if used[name] in each.values)
                yield slug(used[name] if first is condition else f"{name}-{used[name]}")


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
    full = in_full(named_conditions([charge], version.factors), stated, meters)
    factors, rates = Factors(charge, meters, version.factors), []
    for index, rate in held_under(version, charge, full):
        named = {name: full[name] for name in charge.conditions_of(charge.rates[index])}
        factored = factors.applied(rate, named, full)
        attributes, amount, source = rate.attributes, factored.unit_rate, rate.source
        rates.append(
            StatedRate.model_construct(
                rate=amount, attributes=attributes, source=source, model=model, factored=factored
            )
        )
    return charge.model_copy(update={"rates": tuple(rates), "markup": Decimal(1)})
