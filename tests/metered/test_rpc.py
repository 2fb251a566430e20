"""RPC batches: credits by chain and method, failed calls, limits, and what the API rejects."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from metered_answers import amounts, made_up, refused, sentence, sound

from ratecard import PriceBook, RpcUsage
from ratecard.methods.rpc import RpcCredits
from shipped import CARD

CREDIT = Decimal("0.000000625")


def batch(network: str, *calls: str | dict[str, Any]) -> dict[str, Any]:
    listed = [{"method": call} if isinstance(call, str) else call for call in calls]
    return {"type": "rpc", "network": network, "calls": listed}


def credits(prices: PriceBook, usage: dict[str, Any]) -> dict[str, Decimal]:
    quote = sound(prices.rate(usage))
    assert all(line.unit_rate == CREDIT and line.unit == "credit" for line in quote.lines)
    return {line.sku.removeprefix("crypto-rpc-").removesuffix("-credit"): line.quantity for line in quote.lines}


@pytest.mark.parametrize(
    ("network", "method", "price"),
    [
        ("ethereum-mainnet", "eth_call", "0.0000125"),
        ("solana-mainnet", "getLargestAccounts", "0.0000750"),
    ],
)
def test_the_worked_examples(prices: PriceBook, network: str, method: str, price: str) -> None:
    assert sound(prices.rate(batch(network, method))).total == Decimal(price)


@pytest.mark.parametrize(
    ("tier", "factor", "methods"),
    [
        ("standard", 1, "eth_call eth_getLogs eth_blockNumber net_version web3_clientVersion"),
        ("advanced", 2, "trace_block trace_filter debug_traceTransaction txpool_inspect txpool_status arbtrace_call"),
        ("large", 4, "trace_replayBlockTransactions trace_replayTransaction txpool_content arbtrace_replayTransaction"),
        ("large", 4, "arbtrace_replayBlockTransactions"),
    ],
)
@pytest.mark.parametrize(("network", "base"), [("ethereum-mainnet", 20), ("base-mainnet", 20), ("zksync-mainnet", 30)])
def test_credits_are_those_of_the_chain_times_the_tier(
    prices: PriceBook, network: str, base: int, tier: str, factor: int, methods: str
) -> None:
    for method in methods.split():
        assert credits(prices, batch(network, method)) == {f"{network.split('-')[0]}-{tier}": base * factor}


@pytest.mark.parametrize(
    ("network", "methods", "credits_of"),
    [
        ("solana-mainnet", "getLargestAccounts getSupply", {"solana-large": 240}),
        ("solana-devnet", "getBalance getAccountInfo getBlock sendTransaction", {"solana-standard": 120}),
        ("starknet-mainnet", "starknet_call starknet_getBlockWithTxs", {"starknet-standard": 40}),
        ("zksync-mainnet", "zks_getBlockDetails eth_call", {"zksync-standard": 60}),
        ("arbitrum-mainnet", "arb_getRawBlockMetadata", {"arbitrum-standard": 20}),
        ("optimism-mainnet", "optimism_syncStatus", {"optimism-standard": 20}),
        ("base-sepolia", "optimism_syncStatus", {"base-standard": 20}),
        ("blast-mainnet", "optimism_syncStatus", {"blast-standard": 20}),
        ("polygon-amoy", "bor_getAuthor", {"polygon-standard": 20}),
        ("linea-mainnet", "linea_estimateGas", {"linea-standard": 20}),
        ("scroll-mainnet", "scroll_syncStatus", {"scroll-standard": 20}),
    ],
)
def test_methods_that_only_some_chains_have(
    prices: PriceBook, network: str, methods: str, credits_of: dict[str, int]
) -> None:
    assert credits(prices, batch(network, *methods.split())) == credits_of


@pytest.mark.parametrize(
    ("network", "methods"),
    [
        ("ethereum-mainnet", "getLargestAccounts getSupply getBalance sendTransaction starknet_call zks_gasPerPubdata"),
        (
            "base-mainnet",
            "getLargestAccounts arb_getRawBlockMetadata bor_getAuthor linea_estimateGas",
        ),
        ("polygon-mainnet", "optimism_syncStatus starknet_call"),
        ("solana-mainnet", "eth_call net_version web3_clientVersion trace_block debug_traceTransaction txpool_content"),
        ("starknet-mainnet", "eth_call getSupply trace_replayTransaction"),
        ("zksync-mainnet", "arb_getRawBlockMetadata getBlock"),
    ],
)
def test_a_method_that_the_chain_does_not_have(prices: PriceBook, network: str, methods: str) -> None:
    chain = network.partition("-")[0]
    for method in methods.split():
        said = {"calls.0.method": [f"This method is not supported on {chain}: {method}"]}
        assert refused(prices, batch(network, method)) == said
        assert credits(prices, batch(network, {"method": method, "failed": True})) == {"failed": 5}


def test_a_wrong_network_does_not_accuse_the_methods(prices: PriceBook) -> None:
    assert list(refused(prices, batch("atlantis-mainnet", "eth_call", "getSupply"))) == ["network"]
    assert list(refused(prices, batch("atlantis-mainnet", "nothing"))) == ["network", "calls.0.method"]


def test_a_batch_is_the_sum_of_its_items(prices: PriceBook) -> None:
    failed = {"method": "eth_call", "failed": True}
    usage = batch("ethereum-mainnet", "eth_call", "trace_block", failed, "eth_call", "txpool_content", failed)
    usage["calls"].append({"method": "eth_call", "failed": False})
    assert credits(prices, usage) == {
        "ethereum-standard": 60,
        "ethereum-advanced": 40,
        "failed": 10,
        "ethereum-large": 80,
    }
    assert prices.rate(usage).total == 190 * CREDIT


def test_which_model_prices_calls_is_found_once() -> None:
    prices, looked = CARD._unproved.at(date(2026, 10, 1)), PriceBook._in_effect_all
    with patch.object(PriceBook, "_in_effect_all", autospec=True, side_effect=looked) as looked_at:
        for method in ("eth_call", "eth_blockNumber"):
            prices.rate(batch("ethereum-mainnet", method))
    assert looked_at.call_count == 1


def test_a_failed_call_costs_five_credits_whatever_it_was(prices: PriceBook) -> None:
    for network in ("ethereum-mainnet", "solana-mainnet"):
        for method in ("eth_call", "getSupply", "eth_subscribe", "no_such_method", "rm -rf", ""):
            assert credits(prices, batch(network, {"method": method, "failed": True})) == {"failed": 5}
    mixed = batch("base-mainnet", "eth_call", {"method": "no_such_method", "failed": True})
    assert prices.rate(mixed).total == 25 * CREDIT


def test_every_network_of_the_table_has_a_price(prices: PriceBook) -> None:
    [charge] = prices.tables.models["crypto-rpc"].versions[0].charges
    assert isinstance(charge, RpcCredits)
    names = [f"{chain.chain}-{network}" for chain in charge.chains for network in chain.networks]
    assert len(names) == len(set(names)) > 20
    for name in names:
        method = {"solana": "getBalance", "starknet": "starknet_call"}.get(name.partition("-")[0], "eth_call")
        assert prices.rate(batch(name, method)).total in (20 * CREDIT, 30 * CREDIT)


@pytest.mark.parametrize("given", ["ethereum", "Ethereum-mainnet", "atlantis-mainnet", "", "ethereum-mainnet "])
def test_an_unknown_network(prices: PriceBook, given: str) -> None:
    [[said]] = refused(prices, batch(given, "eth_call")).values()
    assert said.startswith("Invalid enum value. Expected 'ethereum-mainnet' | 'ethereum-sepolia' | ")
    assert said.endswith(f", received '{given}'")


@pytest.mark.parametrize(
    "method",
    ["eth_subscribe", "eth_unsubscribe", "eth_newFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter",
     "eth_getFilterChanges", "eth_getFilterLogs", "eth_uninstallFilter", "logsSubscribe", "slotUnsubscribe",
     "ETH_CALL", "", "rm -rf", "eth"],
)  # fmt: skip
def test_a_method_that_the_api_rejects_or_does_not_know(prices: PriceBook, method: str) -> None:
    usage = batch("ethereum-mainnet", "eth_call", {"method": method})
    assert refused(prices, usage) == {"calls.1.method": [f"This method is not supported: {method}"]}
    usage["calls"][1]["failed"] = True
    assert credits(prices, usage) == {"ethereum-standard": 20, "failed": 5}, "what was called and failed is charged so"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, {"network": ["Required"], "calls": ["Required"]}),
        ({"network": "base-mainnet", "calls": []}, {"calls": ["Array must contain at least 1 element(s)"]}),
        ({"network": "base-mainnet", "calls": None}, {"calls": ["Expected array, received null"]}),
        ({"network": "base-mainnet", "calls": "eth_call"}, {"calls": ["Expected array, received string"]}),
        ({"network": "base-mainnet", "calls": {"method": "eth_call"}}, {"calls": ["Expected array, received object"]}),
        ({"network": "base-mainnet", "calls": ["eth_call"]}, {"calls.0": ["Expected object, received string"]}),
        ({"network": "base-mainnet", "calls": [{}]}, {"calls.0.method": ["Required"]}),
        (
            {"network": "base-mainnet", "calls": [{"method": 5}]},
            {"calls.0.method": ["Expected string, received number"]},
        ),
        (
            {"network": "base-mainnet", "calls": [{"method": "eth_call", "failed": "yes"}, {"method": "eth_call"}]},
            {"calls.0.failed": ["Expected boolean, received string"]},
        ),
        (
            {"network": "base-mainnet", "calls": [{"method": None, "failed": None}]},
            {
                "calls.0.method": ["Expected string, received null"],
                "calls.0.failed": ["Expected boolean, received null"],
            },
        ),
    ],
)
def test_a_wrong_batch(prices: PriceBook, fields: dict[str, Any], said: dict[str, list[str]]) -> None:
    assert refused(prices, {"type": "rpc", **fields}) == said


@pytest.mark.parametrize("network", [None, 5, ["base-mainnet"]])
def test_a_network_that_is_no_word(prices: PriceBook, network: Any) -> None:
    [[said]] = refused(prices, {"type": "rpc", "network": network, "calls": [{"method": "eth_call"}]}).values()
    assert said.startswith("Expected 'ethereum-mainnet' | ")


def test_at_most_a_hundred_calls(prices: PriceBook) -> None:
    calls = ({"method": "eth_call"},) * 101
    assert credits(prices, {"type": "rpc", "network": "base-mainnet", "calls": calls[:100]}) == {"base-standard": 2000}
    said = {"calls": ["Array must contain at most 100 element(s)"]}
    assert refused(prices, {"type": "rpc", "network": "base-mainnet", "calls": calls}) == said
    assert refused(prices, {"type": "rpc", "network": "base-mainnet", "calls": ["x"] * 10**6}) == said
    assert RpcUsage.model_json_schema()["properties"]["calls"]["maxItems"] == 100


def test_a_card_without_a_table_of_credits(tmp_path: Path) -> None:
    image = "{charge: image, method: per-image, unit: image, rates: [{rate: 1}]}"
    said = "Specified model not found: no model of type rpc has a price on 2026-02-01"
    assert sentence(made_up(tmp_path, "image", image), batch("base-mainnet", "eth_call")) == said


def test_unit_and_markup_of_the_table_count(tmp_path: Path) -> None:
    units = "units:\n  - {unit: kcredit, counts: RPC credit, per: 1000}\n"
    (tmp_path / "units.yaml").write_text(units, encoding="utf-8")
    facts = "failed_credits: 5, max_calls: 2, chains: [{chain: a, networks: [b], credits: 20}]"
    tiers = "tiers: [{tier: plain, factor: 1.5, methods: [x]}], refused: [y], rates: [{rate: 3}]"
    charge = f"{{charge: rpc, method: rpc-credits, unit: kcredit, markup: 1.1, {facts}, {tiers}}}"
    quote = sound(made_up(tmp_path, "rpc", charge).rate(batch("a-b", "x", "x")))
    assert amounts(quote) == {"a-plain-kcredit": Decimal("0.198")}
