"""Prices of requests of one shape: the lines of every request, and a rate for each counted thing."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.money import add, total
from ratecard.line_items.conditions import accepted_conditions
from ratecard.line_items.quote import LineItem, LineRate
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.metered import Metered
from ratecard.requests.token_usage import read_conditions


class ShapeRates(NamedTuple):
    """The lines of every request of a shape, and the rates of what it counts.

    `fixed` are lines of the model; `beside` are those of searches, to which a minimum does not apply. `rates` has the
    rates for one more of each counted thing; several may share a line. A thing without a rate has no price.
    """

    metered: Metered
    fixed: tuple[LineItem, ...]
    beside: tuple[LineItem, ...]
    rates: Mapping[str, tuple[LineRate, ...]]

    @property
    def lines(self) -> tuple[LineItem, ...]:
        """Return the lines of a request that counts nothing, without the line of a minimum."""
        return (*self.fixed, *self.beside)

    def total(self, counts: Mapping[str, int | Decimal]) -> Decimal:
        """Return the total of a request with these counts; the tokens of a bucket do not include its parts."""
        counted: dict[LineRate, int | Decimal] = {}
        for name, count in counts.items():
            for rate in self.rates[name] if count else ():
                counted[rate] = add(counted.get(rate, 0), count)
        lines = (*self.fixed, *(LineItem(rate, count, rate.price(count)) for rate, count in counted.items()))
        return total([line.amount for line in (*lines, *self.metered.up_to_minimum(lines), *self.beside)])


def rates_of_tokens(rates: TokenRates, stated: Mapping[str, str], prompt: int) -> Mapping[str, LineRate]:
    """Return the rate of each bucket that has a price, for a whole prompt under these conditions."""
    tier = rates.tier(prompt, stated)
    bucket_rates = ((bucket, tier.rate_of(bucket)) for bucket in rates.buckets)
    return {bucket: rate.rate for bucket, rate in bucket_rates if rate is not None}


def stated_in(metered: Metered, usage: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the conditions that a priced usage states, if the version names them; most usages state none."""
    if metered.meters.condition.keys().isdisjoint(usage):
        return {}
    return read_conditions(usage, accepted_conditions([metered.version.conditions], metered.meters), [])
