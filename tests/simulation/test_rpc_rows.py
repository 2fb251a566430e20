"""Rows of RPC take the prices of RPC, whatever model they name: under a candidate, too."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from rows import table_of
from usage import CALL, row

from ratecard.base.money import EXACT
from ratecard.simulation.simulate import simulate
from shipped import CARD

DEARER = """\
candidate: dearer
effective: 2026-10-12
proposed_by: tests
why: to see what it does
changes:
  - scale: {type: rpc}
    factor: 3
"""


@pytest.mark.parametrize("name", [None, "claude-opus-4-6", "kling-o3-pro-text-to-video", "nobody's"])
@pytest.mark.parametrize("by", [[], ["model", "day"]], ids=["periods", "days"])
def test_a_change_of_rpc_is_applied_whatever_model_a_row_names(tmp_path: Path, name: str | None, by: list[str]) -> None:
    (tmp_path / "dearer.yaml").write_text(DEARER)
    call = row("rpc", name, "a", network="ethereum-mainnet", method="eth_call")
    rows = [call | {"timestamp": datetime(2026, 10, day, 12, tzinfo=UTC)} for day in (2, 11, 12, 20)]
    with simulate(table_of(rows), CARD, tmp_path / "dearer.yaml", by=by) as found:
        once, thrice = (EXACT.multiply(Decimal(CALL), Decimal(times)) for times in (4, 2 + 2 * 3))
        assert found.total.amounts == (once, thrice)
        assert {each.key[0] for each in found.by_model} == {name or "crypto-rpc"}
