"""Anything that meters.yaml declares, by itself or beside what a model charges otherwise: a fee per page or request."""

from typing import ClassVar, Literal

from ratecard.methods.metered import Metered
from ratecard.methods.method import ANY_NUMBER, Method, Samples, UsageReading, least_charged
from ratecard.rating.quote import LineItem
from ratecard.requests.counts import Meterage
from ratecard.requests.fields import RequestShape
from ratecard.requests.usage import METERED_TYPES
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import CountedCharge


class PerCount(CountedCharge):
    """What a meter of meters.yaml counts, as pages, requests or sessions."""

    ANY_METER: ClassVar = True
    method: Literal["count"]


class PricedByCount(Method[PerCount]):
    """A count of `counts`."""

    charge = PerCount
    types = METERED_TYPES
    beside = several = True

    def reading(self, charge: PerCount, metered: Metered, kind: str) -> UsageReading | None:
        """The count of the unit's meter."""
        meter, count = metered.units[charge.unit].counts, metered.counter(charge)
        sku = metered.unit_sku(charge)

        def lines(shape: RequestShape) -> list[LineItem]:
            number = shape["counts"].get(meter)
            return [count(number, charge.rates[0], sku)] if number else []

        return UsageReading(lines)

    def meters(self, charge: PerCount, of: Metered | Tables) -> dict[str, Meterage]:
        """The meter of the unit, of which a usage may have any number."""
        meter = of.units[charge.unit].counts
        return {meter: Meterage(ANY_NUMBER, of.meters.by_name[meter].every_usage)}

    def samples(self, charge: PerCount, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """One unit."""
        unit = tables.units[charge.unit]
        yield {"counts": {unit.counts: least_charged(charge, unit.per)}}
