"""One version of a metered model: the inputs of its function, the lines of its counts, and their quote."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from ratecard.base.money import EXACT, LINE_PLACES, multiply, part_of, plain, plain_text, total
from ratecard.line_items.compiling import slug
from ratecard.line_items.conditions import charge_under, is_plain
from ratecard.line_items.quote import MINIMUM, LineItem, LineRate, PricedVersion, Quote
from ratecard.requests.service_parameters import Suffix
from ratecard.tables.limits import Rates
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters, Unit
from ratecard.tables.rate import Charge, ListRate, Rate
from ratecard.tables.version import Model

_Count = int | Decimal
LineCounter = Callable[..., LineItem]


def per_unit(charge: Charge, per: int, line_places: int = LINE_PLACES) -> LineCounter:
    """Compile the function (count, rate, SKU, times=1, note="") -> line item; one unit holds `per` counted things.

    The options of the charge may change the count, which is then charged `times` times. The amount is exact; if no
    decimal is, it is rounded to `line_places`.
    """
    of_unit = part_of(per)

    def line(count: _Count, rate: Rate, sku: str, times: int = 1, note: str = "") -> LineItem:
        count, reason = charge.charged(count)
        if times != 1:
            count, reason = multiply(count, times), reason and f"{reason}; times {times}"
        sku, factors, notes = rate.on_line(sku)
        note = "; ".join(filter(None, (*notes, note, reason)))
        unit, unit_rate = charge.unit, charge.unit_rate(rate)
        line_rate = LineRate(sku, unit, unit_rate, rate.source, note, of_unit, line_places, factors, rate.listed)
        return LineItem(line_rate, count, line_rate.price(count))

    return line


# The function that a version is compiled into: (usage, parameters in the model's name) -> quote.
Rater = Callable[[Mapping[str, Any], Suffix], Quote]


@dataclass(frozen=True, slots=True)
class Metered:
    """One version of one model, with the units and the digest of its card, and the worth of balances.

    Under a `contract`, `listed` is the version of the list.
    """

    model: Model[Any]
    version: MeteredVersion
    units: Mapping[str, Unit]
    digest: str
    rates: Rates
    meters: Meters
    contract: str | None = None
    listed: MeteredVersion | None = None
    _priced: dict[str, PricedVersion] = field(default_factory=dict, init=False, compare=False, repr=False)

    def under(self, stated: Mapping[str, str]) -> "Metered":
        """Return this version under stated conditions, with the defaults of others; itself if no condition matters.

        A condition without a default that is not stated has its first value.
        """
        if all(is_plain(charge, self.version) for charge in self.version.charges):
            return self
        version, model = self.version, self.model.model
        stated = {**version.first_values(self.meters), **stated}
        charges = tuple(charge_under(charge, version, model, self.meters, stated) for charge in version.charges)
        return replace(self, version=version.model_copy(update={"charges": charges}))

    def unit_sku(self, charge: Charge) -> str:
        """Return the SKU of a charge by its unit, with the charge's name if an earlier charge has the same unit."""
        sku = f"{self.model.model}-{slug(charge.unit)}"
        first = next(
            other for other in self.version.charges if (other.method, other.unit) == (charge.method, charge.unit)
        )
        return sku if first.charge == charge.charge else f"{sku}-{slug(charge.charge)}"

    def counter(self, charge: Charge) -> LineCounter:
        """Return the function (count, rate, SKU, times=1) -> line item of a charge of this version."""
        return per_unit(charge, self.units[charge.unit].per, self.version.places_of_lines)

    def quote(self, lines: Sequence[LineItem], ignored: tuple[str, ...] = (), type_: str = "") -> Quote:
        """Return the quote of these lines and the line of the minimum. The total is the exact sum of their amounts."""
        lines = (*lines, *self.up_to_minimum(lines))
        exact = total([line.amount for line in lines])
        return Quote(self.priced(type_), exact, exact, lines, ignored)

    def up_to_minimum(self, lines: Sequence[LineItem]) -> tuple[LineItem, ...]:
        """Return the line that raises the charges of a request to the version's minimum; empty if they reach it.

        With this line, the amounts add up to the minimum.
        """
        least = self.version.minimum
        if least is None or (charged := total([line.amount for line in lines])) >= least:
            return ()
        rest, words = plain(EXACT.subtract(least, charged)), f"{plain_text(charged)} charged; a request costs at least"
        note = f"{words} {plain_text(least)}"
        sku, listed = f"{self.model.model}-{MINIMUM}", self._list_minimum(lines)
        rate = LineRate(sku, MINIMUM, rest, self.version.minimum_place, note, listed=listed)
        return (LineItem(rate, 1, rest),)

    def _list_minimum(self, lines: Sequence[LineItem]) -> ListRate | None:
        """Return the rest up to the list's minimum, if these lines had the list's rates; None without a contract."""
        if self.listed is None or self.listed.minimum is None:
            return None
        rest = EXACT.subtract(self.listed.minimum, total([line.list_amount for line in lines]))
        return ListRate(plain(max(rest, Decimal(0))), self.listed.minimum_place)

    def priced(self, type_: str = "") -> PricedVersion:
        """Return the version as quotes name it, for requests of a type (by default the model's own); it is kept."""
        if type_ not in self._priced:
            model, kind = self.model, type_ or self.model.type
            effective, contract = self.version.effective, self.contract
            version = PricedVersion(
                model.model, kind, model.currency, effective, self.digest, self.rates, contract=contract
            )
            self._priced[type_] = version
        return self._priced[type_]
