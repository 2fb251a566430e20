"""Surcharges: charges of a text request beside its tokens, at the rates of a model of their own."""

from collections.abc import Callable
from decimal import Decimal
from typing import ClassVar, Literal

from ratecard.line_items.quote import LineItem
from ratecard.methods.metered import Metered
from ratecard.methods.method import ANY_NUMBER, Method, Samples, UsageReading
from ratecard.requests.counters import MOST_TOKENS
from ratecard.requests.fields import Field, WholeNumber
from ratecard.requests.token_usage import count_messages
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Unit
from ratecard.tables.rate import CountedCharge

# The meter of searches that counts one for each prompt, however many searches it makes.
_ONCE = "prompt"


class Surcharge(CountedCharge, Method):
    """A charge for what a text request does beside its tokens, such as searches; its unit says what is counted."""

    METERS: ClassVar = ("search request", "search query", "search result", "scraped URL", _ONCE)
    ANY_METER: ClassVar = True
    TYPES: ClassVar = ("surcharge",)
    NUMBERS: ClassVar = ("count",)
    method: Literal["surcharge"]

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the count."""
        line = surcharge_line(metered)
        fields = {"count": surcharge_count(metered)}
        return UsageReading(lambda shape: [line(shape["count"])], fields, required=("count",))

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield one search."""
        yield {"count": 1}

    def linear(self, unit: Unit) -> bool:
        """Return True if the charge is linear, and not made once per prompt."""
        return unit.counts != _ONCE and super().linear(unit)


class _Searches(WholeNumber):
    """A whole number of searches, results or URLs."""

    def messages(self, given: object) -> list[str]:
        return count_messages(given, self.greatest)


def surcharge_count(surcharge: Metered, most: int = MOST_TOKENS) -> Field:
    """Return the check of a count: a whole number of searches, at most `most`; any number of a meter."""
    counts = surcharge.units[surcharge.version.charges[0].unit].counts
    return ANY_NUMBER if counts in surcharge.meters.by_name else _Searches(0, most)


def surcharge_line(surcharge: Metered) -> Callable[[int | Decimal], LineItem]:
    """Compile the function that charges a count; a surcharge per prompt is charged once."""
    charge = surcharge.version.charges[0]
    counter, sku = surcharge.counter(charge), f"{surcharge.model.model}-{charge.unit}"
    once = surcharge.units[charge.unit].counts == _ONCE
    return lambda count: counter(1 if once else count, charge.rates[0], sku)
