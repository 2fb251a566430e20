"""Billing exports re-rated: what `prices.rate` charges row by row, of any tables, or a refusal that says why."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from candidate_files import candidate
from hypothesis import given, note
from hypothesis import strategies as st
from ledgers import billed, entries_of, write_csv, write_pages
from pyarrow import parquet
from rows import Row, charge
from test_row_by_row import SLOW, usage_rows

from nightly import examples
from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.line_items import LedgerEntry
from ratecard.load.folder import LIMITS, shipped_folder
from ratecard.review.sides import Side
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from ratecard.testing.card_strategies import DRAWN_METHODS, card_of, table_files
from shipped import FEW

ROWS = examples(3_000, nightly=200_000)
Sums = dict[tuple[str, ...], Decimal]


class Exported(NamedTuple):
    """Usage of every type, its entries, and its export in both forms."""

    usage: str
    entries: list[LedgerEntry]
    customers: list[str]
    csv: str
    pages: list[str]


@pytest.fixture(scope="module")
def exported(card: RateCard, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("export")
    demo_usage(folder / "usage.parquet", ROWS, seed=5, card=FEW)
    rows: list[Row] = parquet.read_table(folder / "usage.parquet").to_pylist()
    entries: list[LedgerEntry] = []
    customers: list[str] = []
    for row, made in entries_of(card, rows):
        entries += made
        customers += [row["customer"]] * len(made)
    file = write_csv(folder / "export.csv", entries, {"customer": customers})
    return Exported(str(folder / "usage.parquet"), entries, customers, file, write_pages(folder, entries, 3))


def sums(entries: Sequence[LedgerEntry], customers: Sequence[str] | None = None) -> Sums:
    found: dict[tuple[str, ...], list[LedgerEntry]] = defaultdict(list)
    for number, entry in enumerate(entries):
        more = (customers[number],) if customers else ()
        found[entry.notes, entry.timestamp[:10], *more].append(entry)
    return {key: billed(group) for key, group in found.items()}


@pytest.mark.parametrize("form", ["csv", "pages"])
def test_every_group_is_the_sum_of_prices_rate(exported: Exported, form: str) -> None:
    by = ("model", "day", "customer") if form == "csv" else ("model", "day")
    expected = sums(exported.entries, exported.customers if form == "csv" else None)
    with simulate(getattr(exported, form), None, ["as-billed"], by=by) as result:
        assert result.rows == result.priced == len(exported.entries) > ROWS
        assert result.disputed == ()
        assert {group.key: group.amounts for group in result.groups} == {
            key: (amount, amount) for key, amount in expected.items()
        }


def like_usage(exported: Exported, candidate: str, export: str | list[str]) -> Simulation:
    """The export under a candidate; where no row of a model is refused, the model is charged as its usage is."""
    with simulate(exported.usage, None, candidate, by=["model"]) as of_usage:
        # Requests that only the candidate offers were never billed.
        new = {group.key: group.beside().new for group in of_usage.groups}
        expected = {each.key: (each.amounts[0], each.amounts[1] - new[each.key]) for each in of_usage.groups}
    result = simulate(export, None, candidate, by=["model"])
    rows: Counter[tuple[str | None, ...]] = Counter((entry.notes,) for entry in exported.entries)
    whole = [group for group in result.groups if group.requests == rows[group.key]]
    assert len(whole) > len(rows) / 2
    assert {group.key: group.amounts for group in whole} == {group.key: expected[group.key] for group in whole}
    assert result.rows == result.priced + sum(each.rows for each in result.unpriced)
    return result


def test_a_candidate_of_rates_alone_gives_what_usage_gives(exported: Exported, tmp_path: Path) -> None:
    changes = "{scale: {type: text}, factor: 1.1}", "{scale: {type: video}, factor: 1.05}"
    file = candidate(tmp_path, *changes, day="2026-10-02")
    with like_usage(exported, str(file), exported.csv) as result:
        changed = {FEW.tables.models[str(group.key[0])].type for group in result.groups if group.difference()}
        assert changed == {"text", "video"}
        assert result.unpriced
        assert all("depends on the video that was sent" in each.reason for each in result.unpriced)
        attribution = result.attribution()
        assert attribution.difference == result.total.difference()
        assert {part.kind for part in attribution.parts} == {"rate", "rounding"}


def test_from_each_day_to_one_day(exported: Exported) -> None:
    """Thresholds came, models went: what a SKU cannot express is refused, the rest is what usage gives."""
    with like_usage(exported, "2026-10-20", exported.pages) as result:
        reasons = [each.reason for each in result.unpriced if each.reason.startswith("structure: ")]
        assert any("context_token_threshold of tokens was not set, is 272000" in reason for reason in reasons)
        assert all(reason.endswith("; re-rate from usage") for reason in reasons)


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
