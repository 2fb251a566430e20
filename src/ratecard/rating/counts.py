"""Charges of counted things: units, and credits of RPC calls.

Counts of one thing: images, characters, seconds of audio, songs, searches; quantity x rate, exact.

`rpc-credits`: the chain's credits x the tier of the method; a failed call costs what the table says.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import NamedTuple

from ratecard.base.money import EXACT, add, multiply, plain
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.metered import Chain, RpcCredits
from ratecard.tables.rate import Charge, Rate

_Count = int | Decimal
_Counter = Callable[[_Count, Rate, str], LineItem]


def per_unit(charge: Charge, per: int) -> _Counter:
    """The function (count, rate, SKU) -> line. The quantity is the count in units, such as millions of characters."""
    of_unit = EXACT.divide(Decimal(1), Decimal(per))

    def line(count: _Count, rate: Rate, sku: str) -> LineItem:
        unit_rate = plain(multiply(rate.rate, charge.markup))
        by = LineRate(sku, charge.unit, unit_rate, rate.source, of_unit=of_unit)
        return LineItem(by, count, multiply(multiply(count, of_unit), unit_rate))

    return line


class Tier(NamedTuple):
    """What a method is charged as: the name of its tier, and the factor on the chain's credits."""

    name: str
    factor: Decimal


def networks_of(charge: RpcCredits) -> dict[str, Chain]:
    """Every public network, `<chain>-<network>`, with its chain."""
    return {f"{chain.chain}-{network}": chain for chain in charge.chains for network in chain.networks}


def tier_of_method(charge: RpcCredits, method: str, chain: Chain | None = None) -> Tier | None:
    """The first tier that names a method of a chain (of any, where none is named); None where there is none.

    The API rejects such a method, does not know it, or the chain does not have it.
    """
    if any(fnmatchcase(method, pattern) for pattern in charge.refused):
        return None
    for tier in charge.tiers:
        if (chain is None or tier.on(chain)) and any(fnmatchcase(method, pattern) for pattern in tier.methods):
            return Tier(tier.tier, tier.factor)
    return None


def rpc_lines(charge: RpcCredits, per: int, model: str, network: str, calls: Iterable[Tier | None]) -> list[LineItem]:
    """One line for each tier of the batch, and one for its failed calls (None); exact."""
    chain = networks_of(charge)[network]
    credits_by: dict[str, Decimal] = {}
    for call in calls:
        if call is None:
            name, amount = "failed", Decimal(charge.failed_credits)
        else:
            name, amount = f"{chain.chain}-{call.name}", multiply(call.factor, chain.credits)
        credits_by[name] = add(credits_by.get(name, Decimal(0)), amount)
    count = per_unit(charge, per)
    return [count(amount, charge.rates[0], f"{model}-{name}-{charge.unit}") for name, amount in credits_by.items()]
