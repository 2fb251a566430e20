"""Charges of counted things: quantity x rate, and the credits of a batch of RPC calls. Exact."""

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
    """Compile the function (count, rate, SKU) -> line item. `per` is how many one unit holds. Exact."""
    of_unit = EXACT.divide(Decimal(1), Decimal(per))

    def line(count: _Count, rate: Rate, sku: str) -> LineItem:
        unit_rate = plain(multiply(rate.rate, charge.markup))
        by = LineRate(sku, charge.unit, unit_rate, rate.source, of_unit=of_unit)
        return LineItem(by, count, multiply(multiply(count, of_unit), unit_rate))

    return line


class Tier(NamedTuple):
    """The tier of a method: its name, and its factor on the chain's credits."""

    name: str
    factor: Decimal


def networks_of(charge: RpcCredits) -> dict[str, Chain]:
    """Every public network, `<chain>-<network>`, with its chain."""
    return {f"{chain.chain}-{network}": chain for chain in charge.chains for network in chain.networks}


def tier_of_method(charge: RpcCredits, method: str, chain: Chain | None = None) -> Tier | None:
    """The first tier that names a method and is of a chain (of any chain if it is left out).

    None if the API refuses the method or does not know it, or the chain does not have it.
    """
    if any(fnmatchcase(method, pattern) for pattern in charge.refused):
        return None
    for tier in charge.tiers:
        if (chain is None or tier.on(chain)) and any(fnmatchcase(method, pattern) for pattern in tier.methods):
            return Tier(tier.tier, tier.factor)
    return None


def rpc_lines(charge: RpcCredits, per: int, model: str, network: str, calls: Iterable[Tier | None]) -> list[LineItem]:
    """Make one line for each tier of the batch, and one for its failed calls (None). Exact."""
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
