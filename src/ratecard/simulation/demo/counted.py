"""Samples of what is counted: images, edits, upscales, speech, transcription, music and RPC calls."""

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

from ratecard.rating.rpc_credits import tier_of_method
from ratecard.simulation.demo.sample import Sample
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.metered_charges import PerAudioSecond, RpcCredits
from ratecard.tables.version import Model
from ratecard.unit_usages import unit_usages

# Medians of what one request has.
_CHARACTERS, _SECONDS = 700, Decimal(150)
_SOUND_SECONDS = (5, 10, 30, 60)
_METHODS = (
    "eth_call",
    "eth_getBalance",
    "eth_blockNumber",
    "eth_getLogs",
    "eth_getTransactionReceipt",
    "eth_sendRawTransaction",
    "net_version",
    "debug_traceTransaction",
    "trace_block",
    "txpool_status",
    "trace_replayTransaction",
    "starknet_call",
    "starknet_getStorageAt",
    "starknet_blockNumber",
    "starknet_getEvents",
    "starknet_getTransactionReceipt",
    "starknet_addInvokeTransaction",
    "starknet_chainId",
    "starknet_estimateFee",
    "starknet_getNonce",
    "starknet_getClassAt",
    "starknet_getBlockWithTxs",
    "getBalance",
    "getSlot",
    "getAccountInfo",
    "getSignatureStatuses",
    "sendTransaction",
    "getSupply",
)


def counted_samples(model: Model[Any], version: MeteredVersion, chance: Random) -> Iterator[Sample]:
    """Samples of every rate of a model that is neither video nor tokens."""
    charge = version.charges[0]
    if isinstance(charge, RpcCredits):
        yield from (Sample({"type": "rpc", "model": model.model, **call}) for call in _calls(charge, chance))
        return
    for usage in unit_usages(model, version):
        if usage["type"] in ("image", "edit"):
            inputs = {"input_images": chance.randint(1, 4)} if usage["type"] == "edit" else {}
            yield from (Sample(usage | {"n": n} | inputs) for n in (1, chance.randint(2, 4)))
        elif "characters" in usage or "character_count" in usage:
            yield Sample({name: _CHARACTERS if name.startswith("character") else usage[name] for name in usage})
        elif "seconds" in usage:
            yield Sample(usage | {"seconds": _SECONDS})
        elif isinstance(charge, PerAudioSecond):
            yield from (Sample(usage | {"duration_seconds": seconds}) for seconds in _SOUND_SECONDS)
        else:
            yield Sample(usage)


def _calls(charge: RpcCredits, chance: Random) -> Iterator[dict[str, Any]]:
    """Calls of every network, by methods of its chain; a table without any of these shows its own."""
    named = tuple(method.replace("*", "x") for tier in charge.tiers for method in tier.methods)
    for chain in charge.chains:
        known, own = ([each for each in some if tier_of_method(charge, each, chain)] for some in (_METHODS, named))
        methods = known or own
        for network in chain.networks:
            for method in methods:
                failed = {"failed": True} if not chance.randrange(20) else {}
                yield {"network": f"{chain.chain}-{network}", "method": method, **failed}
