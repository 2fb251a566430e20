"""One version of a metered model with what its function is compiled from, and the quote of its lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ratecard.base.money import total
from ratecard.rating.counts import LineCounter, per_unit
from ratecard.rating.quote import LineItem, PricedVersion, Quote
from ratecard.tables.limits import Rates
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge
from ratecard.tables.units import Unit
from ratecard.tables.version import Model

# The function that a version is compiled into: (usage, parameters in the model's name) -> quote.
Rater = Callable[[Mapping[str, Any], Mapping[str, Any]], Quote]


@dataclass(frozen=True, slots=True)
class Metered:
    """One version of one model, with the units and the digest of its card, and what balances are worth."""

    model: Model[Any]
    version: MeteredVersion
    units: Mapping[str, Unit]
    digest: str
    rates: Rates
    meters: Meters
    _priced: dict[str, PricedVersion] = field(default_factory=dict, init=False, compare=False, repr=False)

    def per(self, unit: str) -> int:
        """How many of what it counts one unit holds: 1,000,000 for an `mtoken`."""
        return self.units[unit].per

    def counter(self, charge: Charge) -> LineCounter:
        """The function (count, rate, SKU) -> line item of a charge of this version."""
        return per_unit(charge, self.per(charge.unit))

    def quote(
        self,
        lines: Sequence[LineItem],
        ignored: tuple[str, ...] = (),
        tokens: tuple[int, int] | None = None,
        type_: str = "",
    ) -> Quote:
        """The quote of these lines. Exact: the total is the sum of their amounts."""
        exact = total([line.amount for line in lines])
        return Quote(self.priced(type_), exact, exact, tuple(lines), ignored, tokens)

    def priced(self, type_: str = "") -> PricedVersion:
        """This version as the quotes of requests of a type name it, made once; without a type, of the model's own."""
        if type_ not in self._priced:
            model, kind = self.model, type_ or self.model.type
            found = PricedVersion(model.model, kind, model.currency, self.version.effective, self.digest, self.rates)
            self._priced[type_] = found
        return self._priced[type_]
