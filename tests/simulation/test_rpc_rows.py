"""Rows of RPC take the prices of RPC, whatever model they name: under a candidate, too."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from candidate_files import candidate
from rows import table_of
from usage import CALL, row

from ratecard.base.money import EXACT
from ratecard.simulation.simulate import simulate
from shipped import FEW as CARD

NAMES = (None, "claude-opus-4-6", "kling-o3-pro-text-to-video", "nobody's")


def test_a_change_of_rpc_is_applied_whatever_model_a_row_names(tmp_path: Path) -> None:
    dearer = candidate(tmp_path, "{scale: {type: rpc}, factor: 3}", day="2026-10-12")
    calls = [row("rpc", name, "a", network="ethereum-mainnet", method="eth_call") for name in NAMES]
    days = [datetime(2026, 10, day, 12, tzinfo=UTC) for day in (2, 11, 12, 20)]
    rows = [call | {"timestamp": day} for call in calls for day in days]
    with simulate(table_of(rows), CARD, dearer, by=["model"]) as found:
        once, thrice = (EXACT.multiply(Decimal(CALL), Decimal(times)) for times in (4, 2 + 2 * 3))
        assert {each.key[0]: each.amounts for each in found.by_model} == {
            name or "crypto-rpc": (once, thrice) for name in NAMES
        }
