"""RPC batches: credits by chain and method."""

from collections.abc import Mapping
from typing import Any

from ratecard.pricing.compiled import Metered, Rater
from ratecard.rating.quote import Quote
from ratecard.rating.rpc_credits import Tier, networks_of, rpc_lines, tier_of_method
from ratecard.requests.asked import Problems, accepted, unrecognized, usage_keys, usage_problems
from ratecard.requests.body import INVALID
from ratecard.requests.fields import Boolean, Choice, Text
from ratecard.requests.text_usage import mapping_of
from ratecard.tables.metered_charges import Chain, RpcCredits
from ratecard.words.errors import QuoteError
from ratecard.words.wording import REQUIRED, NotOffered, echo, wrong_type

_KEYS, _CALL_KEYS = usage_keys(("network", "calls")), dict.fromkeys(("method", "failed")).keys()


def price_rpc(metered: Metered, charge: RpcCredits) -> Rater:
    """The function that rates batches; a network or method without a price is an error at its place."""
    chains = networks_of(charge)
    networks = Choice(chains, fold=False)

    def rate(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        problems = usage_problems(usage, _KEYS)
        network = accepted(networks, usage.get("network"))
        if network is None:
            given = networks.messages(usage["network"]) if "network" in usage else [REQUIRED]
            problems += [(("network",), message) for message in given]
        calls = _read_calls(usage, charge, chains.get(network), problems)
        if problems:
            raise QuoteError(INVALID, problems)
        return metered.quote(rpc_lines(charge, metered.per(charge.unit), metered.model.model, network, calls))

    return rate


def _read_calls(
    usage: Mapping[str, Any], charge: RpcCredits, chain: Chain | None, problems: Problems
) -> list[Tier | None]:
    given = usage.get("calls")
    if not isinstance(given, (list, tuple)):
        message = wrong_type("array", given) if "calls" in usage else REQUIRED
        problems.append((("calls",), message))
        return []
    if not given:
        problems.append((("calls",), "Array must contain at least 1 element(s)"))
    if len(given) > charge.max_calls:
        problems.append((("calls",), f"Array must contain at most {charge.max_calls} element(s)"))
        return []
    return [_read_call(call, index, charge, chain, problems) for index, call in enumerate(given)]


def _read_call(given: object, index: int, charge: RpcCredits, chain: Chain | None, problems: Problems) -> Tier | None:
    """The tier of a call; None for one that failed, whatever it was, or that is wrong."""
    call = mapping_of(given)
    if call is None:
        problems.append((("calls", index), wrong_type("object", given)))
        return None
    problems += unrecognized(call, _CALL_KEYS, ("calls", index))
    method, failed, tier = accepted(Text(), call.get("method")), "false", None
    if "failed" in call:
        failed = accepted(Boolean(), call["failed"])
    if method is None:
        message = wrong_type("string", call["method"]) if "method" in call else REQUIRED
        problems.append((("calls", index, "method"), message))
    elif failed != "true":
        tier = tier_of_method(charge, method, chain)
        if tier is None:
            where = f" on {chain.chain}" if chain and tier_of_method(charge, method) else ""
            words = NotOffered(f"This method is not supported{where}: {echo(method)}")
            problems.append((("calls", index, "method"), words))
    if failed is None:
        problems.append((("calls", index, "failed"), wrong_type("boolean", call["failed"])))
    return tier
