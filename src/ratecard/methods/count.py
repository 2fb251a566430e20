"""Anything that meters.yaml declares, by itself or beside what a model charges otherwise: a fee per page or request."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar, Literal

from ratecard.base.messages import Finding
from ratecard.methods.conditions import check_attribute, check_factors, check_twice, stated_conditions
from ratecard.methods.metered import Metered
from ratecard.methods.method import ANY_NUMBER, Method, UsageReading, least_charged
from ratecard.rating.compiling import slug
from ratecard.rating.factors import FactoredRate, Factors
from ratecard.rating.quote import LineItem
from ratecard.requests.counts import Meterage
from ratecard.requests.fields import RequestShape
from ratecard.tables.card import Tables
from ratecard.tables.metered import Conditioned, MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import CountedCharge, Rate
from ratecard.tables.token_rates import EVERY_PROMPT, EVERYTHING, chosen, written_rates


class PerCount(CountedCharge, Conditioned):
    """What a meter of meters.yaml counts, as pages, requests or sessions; rates may name conditions."""

    ANY_METER: ClassVar = True
    method: Literal["count"]


class PricedByCount(Method[PerCount]):
    """A count of `counts`."""

    charge = PerCount
    types = ("text", "embedding", "image", "edit", "upscale", "speech", "transcription", "music", "rpc")
    beside = True

    def check(self, charge: PerCount, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Rates and factors name conditions that there are, and a request without any has a rate."""
        known = {each.condition: each.values for each in meters.conditions}
        found = [
            each
            for index, rate in enumerate(charge.rates)
            for name in rate.attributes
            for each in check_attribute(index, rate, name, known)
        ]
        factors = check_factors(charge.factors, meters, version.factors)
        found += [(("factors", index, *path), words) for index, path, words in factors]
        if not found:
            written = list(written_rates(charge))
            found += check_twice(charge, written)
            if chosen(written, EVERYTHING, EVERY_PROMPT.above, {}) is None:
                found.append((("rates",), "no rate for a request without conditions. Write one"))
        yield from found

    def reading(self, charge: PerCount, metered: Metered, kind: str) -> UsageReading | None:
        """The count of the unit's meter, and the conditions that choose its rate."""
        written = list(written_rates(charge))
        factors = Factors(charge, written, metered.meters, metered.version.factors)
        meter = metered.units[charge.unit].counts
        count = metered.counter(charge.model_copy(update={"markup": Decimal(1)}))
        # By the values of the conditions: the rate, what markup and factors make of it, and the SKU.
        found: dict[tuple[str, ...], tuple[Rate, FactoredRate, str]] = {}

        def priced(stated: Mapping[str, str]) -> tuple[Rate, FactoredRate, str]:
            # There is one: the check of tables asks for a rate without conditions.
            rate: Any = chosen(written, EVERYTHING, EVERY_PROMPT.above, stated)
            applied = factors.applied(rate, stated)
            sku = "-".join((metered.model.model, *applied.words, slug(charge.unit)))
            return rate.rate.model_copy(update={"rate": applied.unit_rate}), applied, sku

        def lines(shape: RequestShape) -> list[LineItem]:
            number = shape["counts"].get(meter)
            if not number:
                return []
            stated = factors.stated(shape["conditions"])
            key = tuple(stated.values())
            if key not in found:
                found[key] = priced(stated)
            rate, applied, sku = found[key]
            line = count(number, rate, sku)
            if applied.notes:
                note = "; ".join((*applied.notes, *filter(None, (line.note,))))
                line = LineItem(replace(line.rate, note=note, factors=applied.factors), line.count, line.amount)
            return [line]

        every = metered.meters.by_name[meter].every_usage
        return UsageReading(lines, meters={meter: Meterage(ANY_NUMBER, every)}, conditions=factors.conditions)

    def samples(
        self, charge: PerCount, version: MeteredVersion, type_: str, tables: Tables
    ) -> Iterator[dict[str, Any]]:
        """One unit under every combination of conditions."""
        unit = tables.units[charge.unit]
        for conditions in stated_conditions(charge, (*charge.factors, *version.factors)):
            yield {"counts": {unit.counts: least_charged(charge, unit.per)}, **conditions}

    def needed(self, charge: PerCount, tables: Tables) -> tuple[str, ...]:
        """The meter, unless every usage has some of it."""
        meter = tables.units[charge.unit].counts
        return () if tables.meters.by_name[meter].every_usage is not None else (meter,)
