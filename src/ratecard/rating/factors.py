"""Rates under conditions: the factors that hold for them, how a line shows these, and how SKUs name conditions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.money import multiply, plain, text
from ratecard.rating.compiling import slug
from ratecard.tables.metered import Conditioned
from ratecard.tables.meters import Meters
from ratecard.tables.rate import RateFactor
from ratecard.tables.token_rates import WrittenRate


class FactoredRate(NamedTuple):
    """The price of one unit after markup and factors, how it was made, and how SKUs name its conditions.

    `factors` are those that hold: their conditions in words, and their `file:line`.
    """

    unit_rate: Decimal
    notes: tuple[str, ...]
    words: tuple[str, ...]
    factors: tuple[tuple[str, str], ...]


class Factors:
    """The conditions that the rates of a charge name, and the factors on those that do not."""

    def __init__(
        self, charge: Conditioned, written: Sequence[WrittenRate], meters: Meters, of_version: Iterable[RateFactor] = ()
    ) -> None:
        self._markup, self._meters = charge.markup, meters
        self._factors = (*charge.factors, *of_version)
        self.conditions: dict[str, set[str]] = {}
        for conditions in (*(each.conditions for each in written), *(each.conditions for each in self._factors)):
            for name, value in conditions.items():
                self.conditions.setdefault(name, set()).add(value)
        self._defaults = {name: meters.condition[name].default for name in self.conditions if name in meters.condition}

    def stated(self, stated: Mapping[str, str]) -> dict[str, str]:
        """The value of each of the conditions: those stated, and the defaults of the others."""
        return {name: stated.get(name, default) for name, default in self._defaults.items()}

    def applied(self, written: WrittenRate, stated: Mapping[str, str]) -> FactoredRate:
        """A rate times the factors that hold under the stated conditions, of those that it does not name itself."""
        unit_rate, notes, used = multiply(written.rate.rate, self._markup), [], dict(written.conditions)
        multiplied = []
        for factor in self._factors:
            if factor.conditions.items() <= stated.items() and not factor.conditions.keys() & written.conditions.keys():
                shown = ", ".join(f"{name}: {value}" for name, value in factor.conditions.items())
                notes.append(f"{text(plain(unit_rate))} x {text(factor.factor)} for {shown} ({factor.source})")
                unit_rate = multiply(unit_rate, factor.factor)
                used |= factor.conditions
                multiplied.append((shown.replace(":", ""), factor.source))
        return FactoredRate(plain(unit_rate), tuple(notes), tuple(self._words(used)), tuple(multiplied))

    def _words(self, used: Mapping[str, str]) -> Iterator[str]:
        """How SKUs name conditions: by value, and by name too if a condition before it has such a value."""
        for name, condition in self._meters.condition.items():
            if name in used and used[name] != condition.default:
                first = next(each for each in self._meters.conditions if used[name] in each.values)
                yield slug(used[name] if first is condition else f"{name}-{used[name]}")
