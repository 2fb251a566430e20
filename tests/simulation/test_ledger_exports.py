"""What an export may look like, and what is said of rows that are no charges."""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pytest
from candidate_files import candidate
from ledgers import CHAT, HEAD, PICTURE, card_with, export, line

from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate

CURRENT = card_with()
NOW, BILLED = Side("now", CURRENT), AsBilled("as-billed", CURRENT)
REFUND = "amount: above zero, or units or price below: a refund or a credit, which has no rate"
UNKNOWN = "currency: VCU has no worth in USD that is known. Allowed: USD, DIEM, BUNDLED_CREDITS"
# Every row belongs to a request of its own.
IDS = count()
ROWS = [line(CHAT, "2", "0.5", "-1"), line(PICTURE, "0.02", "3", "-0.06")]


def opened(usage: Any, *candidates: Any, by: tuple[str, ...] = (), **more: Any) -> Simulation:
    return simulate(usage, NOW, candidates, by=by, **more)


def total(usage: Any, **more: Any) -> Decimal:
    with opened(usage, **more) as result:
        assert not result.unpriced and not result.disputed
        return result.total.amounts[0]


def page(*rows: str) -> dict[str, Any]:
    names = HEAD.split(",")
    made = [dict(zip(names, row.split(","), strict=True)) for row in rows]
    return {"data": [{**row, "inferenceDetails": {"requestId": f"r{next(IDS)}"}} for row in made], "nextCursor": None}


def test_csv_with_further_columns(tmp_path: Path) -> None:
    rows = [f"{row},{name},{number}" for number, (row, name) in enumerate(zip(ROWS, ("ann", "bob"), strict=True))]
    file = export(tmp_path, *rows, head=f"{HEAD.replace('unit,', 'units,')},customer,model")
    with opened(file, by=("customer", "sku", "currency")) as result:
        assert {group.key: group.amounts[0] for group in result.groups} == {
            ("ann", CHAT, "USD"): 1,
            ("bob", PICTURE, "USD"): Decimal("0.06"),
        }


def test_pages_lists_and_packed_pages(tmp_path: Path) -> None:
    one, both = tmp_path / "a.json", tmp_path / "b.json.gz"
    one.write_text(json.dumps(page(*ROWS)["data"]), encoding="utf-8")
    both.write_bytes(gzip.compress((json.dumps(page(ROWS[0])) + "\n" + json.dumps(page(ROWS[1]))).encode()))
    assert total(str(both)) == total(str(tmp_path)) / 2 == Decimal("1.06")


def test_numbers_of_a_page_keep_their_digits_and_do_not_fill_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "page.json"
    text = json.dumps(page(line(CHAT, "2", "U", "A"), line(CHAT, "2", "1", "B"))["data"])
    file.write_text(text.replace('"U"', "1e-18").replace('"A"', "-2.0E-18").replace('"B"', "-1e5000"), encoding="utf-8")
    with opened(str(file)) as result:
        assert (result.disputed, result.total.amounts) == ((), (Decimal("2e-18"),))
        assert [each.reason for each in result.unpriced] == ["amount: -1E+5000 has more than 15 digits or 18 decimals"]


def test_a_page_without_rows(tmp_path: Path) -> None:
    file = tmp_path / "page.json"
    file.write_text('{"data": [], "nextCursor": null}', encoding="utf-8")
    with opened(str(file)) as result:
        assert (result.rows, result.total.amounts) == (0, (Decimal(0),))


def test_frames(tmp_path: Path) -> None:
    frame = pandas.read_csv(export(tmp_path, *ROWS))
    assert total(frame) == Decimal("1.06")
    exact = pyarrow.table(
        {
            name: list(values)
            for name, values in zip(HEAD.split(","), zip(*(row.split(",") for row in ROWS), strict=True), strict=True)
        }
    )
    exact = exact.set_column(4, "amount", exact["amount"].cast(pyarrow.decimal128(30, 10)))
    assert total(exact) == Decimal("1.06")


def test_other_names(tmp_path: Path) -> None:
    file = export(tmp_path, *ROWS, head="When,Product,Rate,Count,Charged,currency,notes")
    names = {"timestamp": "When", "sku": "Product", "pricePerUnitUsd": "Rate", "unit": "Count", "amount": "Charged"}
    with opened(file, by=("day", "model"), columns=names) as result:
        assert [group.key for group in result.groups] == [("2026-02-01", "chat"), ("2026-02-01", "picture")]


def test_a_page_that_is_cut_off(tmp_path: Path) -> None:
    whole = json.dumps(page(*ROWS), indent=1)
    file = tmp_path / "page.json"
    file.write_text(whole[:-60], encoding="utf-8")
    with pytest.raises(SimulationError, match=r"page.json: line \d+: not JSON"):
        opened(str(file))


def test_a_second_file_that_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(page(*ROWS)), encoding="utf-8")
    (tmp_path / "b.json").write_text('{"type": "text"}', encoding="utf-8")
    with pytest.raises(SimulationError, match=r'b.json: the page has no list "data"'):
        opened(str(tmp_path))


REFUSED = [
    (line(CHAT, "2", "0.5", "1"), REFUND),
    (line(CHAT, "2", "-0.5", "1"), REFUND),
    (line(CHAT, "2", "5E-1", "1"), REFUND),
    (line(CHAT, "2", "0.5", "-1", currency="VCU"), UNKNOWN),
    (line(CHAT, "2", "many", "-1"), "unit: many is not a number"),
    (line(CHAT, "", "0.5", "-1"), "pricePerUnitUsd: missing"),
    (line(CHAT, "2", "0.5", "-1e999999999999"), "amount: -1e999999999999 has more than 15 digits or 18 decimals"),
    (line(CHAT, "2", "NaN", "-1"), "unit: NaN is not a number"),
    (line("", "2", "0.5", "-1", "chat"), "sku: missing"),
    (line(CHAT, "2", "0.5", "-1", timestamp="yesterday"), "timestamp: missing, or not an instant"),
    (line("none-krequest", "2", "0.5", "-1", "none"),
     "sku: 'none-krequest' begins with no model, and no model is called none."),
]  # fmt: skip


def test_rows_that_are_no_charge(tmp_path: Path) -> None:
    """They are not lost either where a candidate retires their model: they have no price on either side."""
    gone = Side("gone", card_with(("model: chat\n", "model: chatter\n")))
    with opened(export(tmp_path, *ROWS, *(row for row, _ in REFUSED)), gone) as result:
        assert Counter({each.reason: each.rows for each in result.unpriced}) == Counter(said for _, said in REFUSED)
        assert (result.rows, result.priced) == (2 + len(REFUSED), 2)
        assert [(each.model, each.requests, each.amount) for each in result.lost()] == [("chat", 1, Decimal(1))]
        assert result.total.amounts == (Decimal("1.06"), Decimal("0.06"))


def test_units_that_two_columns_say_otherwise_are_refused(tmp_path: Path) -> None:
    """A row of `unit` and `units` is one of 0.5 where they are the same number, or one of them is empty."""
    rows = [f"{line(CHAT, '2', unit, '-1')},{units}" for unit, units in (("0.5", "0.50"), ("", "0.5"), ("0.5", "5"))]
    with opened(export(tmp_path, *rows, head=f"{HEAD},units")) as result:
        assert [(each.rows, each.reason) for each in result.unpriced] == [(1, "unit: 0.5 (units 5) is not a number")]
        assert result.total.amounts == (Decimal(2),)


CHARGES = [
    (line(CHAT, "2", "0.5", "-1", currency="DIEM"), "1"),
    (line(CHAT, "2", "0.5", "-1", currency="BUNDLED_CREDITS"), "1"),
    (line(CHAT, "2", "5E-1", "-1.0"), "1"),
    (line(CHAT, "2.000", "0.500", "-1.000"), "1"),
    (line(CHAT, "2", "1000000000000", "-2000000000000"), "2000000000000"),
    (line(CHAT, "2", "0", "0"), "0"),
]
TINY = [
    (line(CHAT, "2", "0.000000000000000001", "-0.000000000000000002"), "2e-18"),
    # The writer of the export rounded to twelve places.
    (line(CHAT, "2", "0.00000000000012", "0"), "0.00000000000024"),
]


def export_of_customers(folder: Path, rows: Sequence[str]) -> str:
    """An export of rows each of which is of a customer of its own: its number."""
    return export(folder, *(f"{row},{number}" for number, row in enumerate(rows)), head=f"{HEAD},customer")


@pytest.mark.parametrize("rows", [CHARGES, TINY])
def test_rows_that_are_charges(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with opened(export_of_customers(tmp_path, [row for row, _ in rows]), by=("customer",)) as result:
        assert not result.unpriced and not result.disputed
        assert [group.amounts for group in result.groups] == [(Decimal(charged),) for _, charged in rows]


DISPUTED = [
    (line(CHAT, "2", "0.5", "-1.000000000001"), "amount: is not unit x pricePerUnitUsd"),
    (line(CHAT, "2", "5e-1", "-1.1"), "amount: is not unit x pricePerUnitUsd"),
    (line(CHAT, "3", "0.5", "-1.5"), "pricePerUnitUsd: is not the price that was in effect"),
]


def test_disputed_rows_are_counted_and_charged_by_their_units(tmp_path: Path) -> None:
    rows = [ROWS[0], *(row for row, _ in DISPUTED)]
    with opened(export_of_customers(tmp_path, rows), BILLED, by=("customer",)) as result:
        assert result.unpriced == ()
        assert {each.reason: each.rows for each in result.disputed} == Counter(reason for _, reason in DISPUTED)
        assert [group.amounts for group in result.groups] == [(Decimal(1), -Decimal(row.split(",")[4])) for row in rows]


def test_a_disputed_clip_has_no_other_price(tmp_path: Path) -> None:
    clip = line("film-resolution-rate-5s-720p", "0.51", "1", "-0.5")
    with opened(export(tmp_path, *ROWS, clip), BILLED) as result:
        [unpriced] = result.unpriced
        assert unpriced.reason.startswith("structure: amount: is not unit x pricePerUnitUsd")
        assert len(result.disputed) == 1


def test_as_billed_takes_refunds_too(tmp_path: Path) -> None:
    with simulate(export(tmp_path, *ROWS, line(CHAT, "2", "0.5", "0.25")), BILLED, by=()) as result:
        assert (result.unpriced, result.total.amounts) == ((), (Decimal("0.81"),))


def test_as_billed_is_of_a_ledger_only(tmp_path: Path, card: RateCard) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("type,model,timestamp,characters\nspeech,tts-kokoro,2026-09-01,5\n", encoding="utf-8")
    with pytest.raises(SimulationError, match="as-billed: the usage is not a billing export"):
        simulate(str(usage), Side("now", card), "as-billed", by=())


def test_a_candidate_is_laid_over_the_card_that_was_billed_under(tmp_path: Path) -> None:
    file = candidate(tmp_path, "{set: picture, where: {resolution: 1K}, rate: 0.05}", day="2026-01-15")
    with simulate(export(tmp_path, *ROWS), BILLED, str(file), by=()) as result:
        assert result.total.amounts == (Decimal("1.06"), Decimal("1.15"))
