"""Batches of RPC calls: the credits of a chain, times the tier of each method."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import product
from random import Random
from typing import Any, ClassVar, Literal

from ratecard.base.messages import REQUIRED, Finding, NotOffered, Problems, below, echo, listed_twice, wrong_type
from ratecard.base.money import add, multiply, text
from ratecard.base.suggestions import did_you_mean
from ratecard.line_items.quote import LineItem
from ratecard.methods.metered import LineCounter, Metered
from ratecard.methods.method import Items, Method, Samples, UsageReading
from ratecard.requests.body import mapping_of
from ratecard.requests.fields import Boolean, Choice, Field, RequestShape, TextField, field_problems
from ratecard.requests.metered import unrecognized
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Conditioned
from ratecard.tables.scalars import Frozen, Integer, Positive, Text, Words

# The methods that are called most.
_COMMON = (
    "eth_call", "eth_getBalance", "eth_blockNumber", "eth_getLogs", "eth_getTransactionReceipt",
    "eth_sendRawTransaction", "net_version", "debug_traceTransaction", "trace_block", "txpool_status",
    "trace_replayTransaction", "starknet_call", "starknet_getStorageAt", "starknet_blockNumber", "starknet_getEvents",
    "starknet_getTransactionReceipt", "starknet_addInvokeTransaction", "starknet_chainId", "starknet_estimateFee",
    "starknet_getNonce", "starknet_getClassAt", "starknet_getBlockWithTxs", "getBalance", "getSlot", "getAccountInfo",
    "getSignatureStatuses", "sendTransaction", "getSupply",
)  # fmt: skip
_CALL: Mapping[str, Field] = {"method": TextField(), "failed": Boolean()}


class Chain(Frozen):
    """A blockchain, its public networks, and the credits of a standard call; chains of one `kind` share methods."""

    chain: Text
    kind: Text | None = None
    networks: Words
    credits: Integer


class MethodTier(Frozen):
    """RPC methods (`*` matches any ending) and the factor on a chain's credits.

    `chains` names the chains, or kinds of chains, that have these methods; all chains if it is left out.
    """

    tier: Text
    factor: Positive
    chains: Words | None = None
    methods: Words

    def on(self, chain: Chain) -> bool:
        """Return True if a chain has these methods."""
        return self.chains is None or chain.chain in self.chains or chain.kind in self.chains


class RpcCredits(Conditioned, Method):
    """Credits of a batch of calls: the chain's credits times the tier of each method; a failed call has its own."""

    METERS: ClassVar = ("RPC credit",)
    TYPES: ClassVar = ("rpc",)
    method: Literal["rpc-credits"]
    failed_credits: Integer
    max_calls: Integer
    chains: tuple[Chain, ...]
    tiers: tuple[MethodTier, ...]
    refused: Words

    def check(self, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Find chains listed twice, tiers with two factors, and chains, kinds and tiers that do not fit each other."""
        yield from super().check(version, type_, meters)
        names = [chain.chain for chain in self.chains]
        yield from listed_twice("chains", "chain", names)
        known = dict.fromkeys([*names, *(chain.kind for chain in self.chains if chain.kind)])
        factors = {tier.tier: tier.factor for tier in reversed(self.tiers)}
        for index, tier in enumerate(self.tiers):
            if tier.factor != factors[tier.tier]:
                words = f"tier '{tier.tier}' has factor {text(factors[tier.tier])} above. Name this one differently"
                yield ("tiers", index, "factor"), words
            for word in tier.chains or ():
                if word not in known:
                    words = f"'{word}' is not a chain or a kind of chains.{did_you_mean(word, known)}"
                    yield ("tiers", index, "chains"), f"{words} Known: {', '.join(known)}"
        for index, chain in enumerate(self.chains):
            if chain.kind in names:
                words = f"kind '{chain.kind}' is the name of a chain. Name the kind differently, or leave it out"
                yield ("chains", index, "kind"), words
            if self.tiers and not any(tier.on(chain) for tier in self.tiers):
                words = f"no tier has methods of chain '{chain.chain}'. Add one, or leave the chain out"
                yield ("chains", index), words
        for name in ("chains", "tiers"):
            if not getattr(self, name):
                yield (name,), f"{name} is empty. Write at least one"

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the network, and the calls, which must be of its chain."""
        chains, count, model = networks_of(self), metered.counter(self), metered.model.model

        def settle(usage: Mapping[str, Any], shape: RequestShape, problems: Problems) -> None:
            shape["calls"] = _read_calls(usage, self, chains.get(shape.get("network", "")), problems)

        return UsageReading(
            lambda shape: rpc_lines(self, count, model, chains[shape["network"]], shape["calls"]),
            {"network": Choice(chains)},
            required=("network",),
            further={"calls": Items(lambda usage: _calls(self, chains[usage["network"]]), self.max_calls)},
            settle=settle,
        )

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield the first method of each tier on each chain: several lines of a table may be of one tier."""
        for chain in self.chains:
            tiers = {tier.tier: tier for tier in reversed(self.tiers) if tier.on(chain)}
            for tier in (tier for tier in self.tiers if tier is tiers.get(tier.tier)):
                yield _call(chain, tier.methods[0])

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Return the values of an attribute; those of `network` are the public networks, which rates do not name."""
        return tuple(networks_of(self)) if attribute == "network" else super().values_of(attribute)

    def edges(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield every method, answered and failed."""
        for chain, tier in product(self.chains, self.tiers):
            for method, failed in product(tier.methods if tier.on(chain) else (), (False, True)):
                yield _call(chain, method, failed=failed)

    def typical(self, usages: Iterable[dict[str, Any]], chance: Random) -> Samples:
        """Yield calls of common methods on every network; for a chain without any of them, calls of its methods."""
        named = {name: value for name, value in next(iter(usages)).items() if name not in ("network", "calls")}
        for chain in self.chains:
            all_methods = dict.fromkeys(call["method"] for call in _calls(self, chain))
            methods = [common for common in _COMMON if tier_of_method(self, common, chain)] or list(all_methods)
            for network, method in product(chain.networks, methods):
                failed = {"failed": True} if not chance.randrange(20) else {}
                yield {**named, "network": f"{chain.chain}-{network}", "calls": [{"method": method, **failed}]}


def _calls(charge: RpcCredits, chain: Chain) -> list[dict[str, Any]]:
    """Return a call, and a failed call, of every method of a chain that the table names."""
    named = [method.replace("*", "x") for tier in charge.tiers if tier.on(chain) for method in tier.methods]
    known = [method for method in named if tier_of_method(charge, method, chain)]
    return [{"method": method, **failed} for failed in ({}, {"failed": True}) for method in known]


def _call(chain: Chain, method: str, **further: bool) -> dict[str, Any]:
    call = {"method": method.replace("*", "x"), **further}
    return {"network": f"{chain.chain}-{chain.networks[0]}", "calls": [call]}


def networks_of(charge: RpcCredits) -> dict[str, Chain]:
    """Return every public network, `<chain>-<network>`, with its chain."""
    return {f"{chain.chain}-{network}": chain for chain in charge.chains for network in chain.networks}


def tier_of_method(charge: RpcCredits, method: str, chain: Chain | None = None) -> MethodTier | None:
    """Return the first tier that names a method, on the chain if one is given; None if it is refused or unknown."""
    if any(fnmatchcase(method, pattern) for pattern in charge.refused):
        return None
    for tier in charge.tiers:
        if (chain is None or tier.on(chain)) and any(fnmatchcase(method, pattern) for pattern in tier.methods):
            return tier
    return None


def rpc_lines(
    charge: RpcCredits, count: LineCounter, model: str, chain: Chain, calls: Iterable[MethodTier | None]
) -> list[LineItem]:
    """Make one line for each tier of a batch on a chain, and one for its failed calls (None). Amounts are exact."""
    credits_by: dict[str, Decimal] = {}
    for call in calls:
        if call is None:
            name, amount = "failed", Decimal(charge.failed_credits)
        else:
            name, amount = f"{chain.chain}-{call.tier}", multiply(call.factor, chain.credits)
        credits_by[name] = add(credits_by.get(name, Decimal(0)), amount)
    return [count(amount, charge.rates[0], f"{model}-{name}-{charge.unit}") for name, amount in credits_by.items()]


def _read_calls(
    usage: Mapping[str, Any], charge: RpcCredits, chain: Chain | None, problems: Problems
) -> list[MethodTier | None]:
    calls = usage.get("calls")
    if not isinstance(calls, (list, tuple)):
        message = wrong_type("array", calls) if "calls" in usage else REQUIRED
        problems.append((("calls",), message))
        return []
    if not calls:
        problems.append((("calls",), "Array must contain at least 1 element(s)"))
    if len(calls) > charge.max_calls:
        problems.append((("calls",), f"Array must contain at most {charge.max_calls} element(s)"))
        return []
    return [_read_call(call, index, charge, chain, problems) for index, call in enumerate(calls)]


def _read_call(
    given: object, index: int, charge: RpcCredits, chain: Chain | None, problems: Problems
) -> MethodTier | None:
    """Read the tier of a call; None if the call failed, or is wrong."""
    call = mapping_of(given)
    if call is None:
        problems.append((("calls", index), wrong_type("object", given)))
        return None
    problems += unrecognized(call, _CALL.keys(), ("calls", index))
    read: RequestShape = {}
    wrong, tier = field_problems(call, _CALL, read, required=("method",)), None
    if "method" in read and read.get("failed") != "true":
        method = read["method"]
        tier = tier_of_method(charge, method, chain)
        if tier is None:
            where = f" on {chain.chain}" if chain and tier_of_method(charge, method) else ""
            words = NotOffered(f"This method is not supported{where}: {echo(method)}")
            problems.append((("calls", index, "method"), words))
    problems += below(("calls", index), wrong)
    return tier
