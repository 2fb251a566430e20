"""Random tables, random usage: a row of the ledger is re-rated to what its request would be charged, or refused."""

import re
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from ledgers import entries_of, write_csv
from rows import charge
from test_row_by_row import SLOW, usage_rows

from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.load.folder import LIMITS, shipped_folder
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate
from ratecard.testing.card_strategies import DRAWN_METHODS, card_of, table_files

Files = dict[str, bytes]
RATES = ("0", "0.003", "0.5", "2", "7")


def in_usd(files: Files) -> Files:
    """The tables in dollars, with what balances are worth: they pay some of the rows."""
    limits = {LIMITS: (shipped_folder() / LIMITS).read_bytes()}
    return limits | {name: content.replace(b"EUR", b"USD") for name, content in files.items()}


def other_rates(files: Files, random: Random) -> Files:
    """The same tables with half of their rates changed."""

    def changed(found: re.Match[bytes]) -> bytes:
        return found[1] + random.choice(RATES).encode() if random.random() < 0.5 else found[0]

    return {name: re.sub(rb"(\brate: )\"?[0-9.]+\"?", changed, content) for name, content in files.items()}


@st.composite
def two_cards(draw: st.DrawFn) -> tuple[RateCard, RateCard]:
    """One card and another one with other rates, or any other of the same method."""
    if draw(st.booleans()):
        files = in_usd(draw(table_files()))
        # Their examples have the totals of the first rates.
        return card_of(files), card_of(other_rates(files, draw(st.randoms(use_true_random=False))))._unproved
    alike = table_files(methods=[draw(st.sampled_from(DRAWN_METHODS))], max_models=1)
    return card_of(in_usd(draw(alike))), card_of(in_usd(draw(alike)))


@SLOW
@given(st.data())
def test_a_row_is_charged_as_its_request(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    card, candidate = data.draw(two_cards())
    rows = data.draw(usage_rows(card, datetime(2026, 1, 1, tzinfo=UTC), 300))
    note(rows)
    charged = [(row, entries) for row, entries in entries_of(card, rows) if entries]
    made = {entries[0].details.request_id: (row, entries) for row, entries in charged if entries[0].details}
    written = [entry for _, entries in charged for entry in entries]
    file = write_csv(tmp_path_factory.mktemp("law") / "export.csv", written, {})
    try:
        result = simulate(file, Side("now", card), [Side("then", candidate), "as-billed"], by=["requestId"])
    except SimulationError as error:
        refused = f"{len(written)} of {len(written)} rows cannot be priced"
        assert "changes nothing" in str(error) or refused in str(error) or not made
        return
    with result:
        assert result.rows == len(written)
        assert result.rows == result.priced + sum(each.rows for each in result.unpriced)
        assert not result.disputed
        for group in result.groups:
            row, entries = made[group.key[0] or ""]
            if group.requests == len(entries):  # no row was refused
                assert (group.amounts[0], group.amounts[2]) == (charge(card, row), charge(card, row))
                if group.beside(1).lost_requests:
                    with pytest.raises(QuoteError):
                        charge(candidate, row)
                else:
                    assert group.amounts[1] == charge(candidate, row)
