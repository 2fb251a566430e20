"""Counts of any meter in meters.yaml, alone or beside the other charges of a model: a fee per page or request."""

from typing import ClassVar, Literal

from ratecard.line_items.quote import LineItem
from ratecard.methods.metered import Metered
from ratecard.methods.method import ANY_NUMBER, Method, Samples, UsageReading, least_charged
from ratecard.requests.body import METERED_TYPES
from ratecard.requests.fields import RequestShape
from ratecard.requests.metered import Meterage
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import CountedCharge


class PerCount(CountedCharge, Method):
    """What a meter of meters.yaml counts, as pages, requests or sessions."""

    ANY_METER: ClassVar = True
    TYPES: ClassVar = METERED_TYPES
    BESIDE: ClassVar = True
    SEVERAL: ClassVar = True
    method: Literal["count"]

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the count of the unit's meter."""
        meter, count = metered.units[self.unit].counts, metered.counter(self)
        sku = metered.unit_sku(self)

        def lines(shape: RequestShape) -> list[LineItem]:
            number = shape["counts"].get(meter)
            return [count(number, self.rates[0], sku)] if number else []

        return UsageReading(lines)

    def meters(self, of: Metered | Tables) -> dict[str, Meterage]:
        """Return the meter of the unit; a usage may count any number of it."""
        meter = of.units[self.unit].counts
        return {meter: Meterage(ANY_NUMBER, of.meters.by_name[meter].every_usage)}

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield one unit."""
        unit = tables.units[self.unit]
        yield {"counts": {unit.counts: least_charged(self, unit.per)}}
