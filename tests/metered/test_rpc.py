"""RPC batches: credits by chain and method, failed calls, limits, and what the API rejects."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from metered_answers import amounts, made_up, refused, sentence, sound

from ratecard import PriceBook, RpcUsage
from ratecard.tables.metered_charges import RpcCredits

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
        ("large", 4, "arbtrace_replayBlockTransactions getLargestAccounts getSupply"),
        ("standard", 1, "getBalance getAccountInfo getBlock sendTransaction"),
    ],
)
@pytest.mark.parametrize(
    ("network", "base"),
    [("ethereum-mainnet", 20), ("base-mainnet", 20), ("starknet-mainnet", 20), ("zksync-mainnet", 30),
     ("solana-mainnet", 30)],
)  # fmt: skip
def test_credits_are_those_of_the_chain_times_the_tier(
    prices: PriceBook, network: str, base: int, tier: str, factor: int, methods: str
) -> None:
    for method in methods.split():
        assert credits(prices, batch(network, method)) == {f"{network.split('-')[0]}-{tier}": base * factor}


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


def test_a_failed_call_costs_five_credits_whatever_it_was(prices: PriceBook) -> None:
    for network, method in (("ethereum-mainnet", "eth_call"), ("solana-mainnet", "getSupply")):
        assert credits(prices, batch(network, {"method": method, "failed": True})) == {"failed": 5}


def test_every_network_of_the_table_has_a_price(prices: PriceBook) -> None:
    [charge] = prices.card.tables.models["crypto-rpc"].versions[0].charges
    assert isinstance(charge, RpcCredits)
    names = [f"{chain.chain}-{network}" for chain in charge.chains for network in chain.networks]
    assert len(names) == len(set(names)) > 20
    for name in names:
        assert prices.rate(batch(name, "eth_call")).total in (20 * CREDIT, 30 * CREDIT)


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
    assert list(refused(prices, usage)) == ["calls.1.method"], "a failed call of such a method is refused too"


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
