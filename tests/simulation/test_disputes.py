"""`--disputes`: every row of a bill that is not as it should be, and nothing else."""

import csv
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner
from ledgers import CHAT, CLIP, HEAD, PICTURE, card_with, entries_of, export, line, write_csv
from rows import Row, table_of
from usage import ROWS

from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.cli import main
from ratecard.ledger import ledger_csv
from ratecard.load.folder import tables_from
from ratecard.review.sides import Side
from ratecard.simulation.billing import CONTRACT_ROW
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.disputes import DISPUTE_COLUMNS, DisputedRows, write_disputes
from ratecard.simulation.simulate import simulate
from reports import small_disk
from shipped import FEW

NOW = Side("now", card_with())
WITH_REQUESTS = f"{HEAD},requestId"
# Correct rows: 0.5 x $2, 3 x $0.02, and 5 seconds of film, whose price is the same with sound and without.
GOOD = [
    f"{line(CHAT, '2', '0.5', '-1')},r-1",
    f"{line(PICTURE, '0.02', '3', '-0.06')},r-1",
    f"{line(CLIP, '0.51', '1', '-0.51')},r-2",
    # The second part of a charge that two balances paid, and a refund.
    f"{line(CHAT, '2', '1', '-1.5', currency='DIEM')},r-3",
    f"{line(CHAT, '2', '0', '-0.5')},r-3",
    f"{line(CHAT, '2', '0.5', '1')},r-1",
]
AGAIN = "requestId: this request is charged by this SKU already"
PRICE = "pricePerUnitUsd: is not the price that was in effect"
FILM = "tables.yaml:89 + tables.yaml:96"
AMOUNT = "amount: is not unit x pricePerUnitUsd"


def bill(folder: Path, *rows: str) -> str:
    return export(folder, *GOOD, *rows, head=WITH_REQUESTS)


def shipped_bill(folder: Path, *rows: str) -> str:
    """A bill by the shipped tables, all of one instant."""
    return export(folder, *(f"2026-10-02T00:00:00Z,{row}" for row in rows), head=WITH_REQUESTS)


def disputes(folder: Path, *rows: str, **settings: Any) -> tuple[DisputedRows, list[list[str]]]:
    out = folder / "disputes.csv"
    found = write_disputes(bill(folder, *rows), NOW, out, **settings)
    with out.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert tuple(head) == DISPUTE_COLUMNS
    assert found.disputed == len(lines)
    return found, lines


WRONG: list[tuple[str, list[str]]] = [
    # A metered row at another price, and a clip at three cents more than its list price.
    (f"{line(CHAT, '3', '0.5', '-1.5')},w-1", ["1.5", "1", "0.5", "USD", f"{PRICE} (tables.yaml:21)"]),
    (f"{line(CLIP, '0.54', '1', '-0.54')},w-2", ["0.54", "0.51", "0.03", "USD", f"{PRICE} ({FILM})"]),
    (f"{line(CLIP, '0.51', '1', '-0.54')},w-3", ["0.54", "0.51", "0.03", "USD", f"{AMOUNT} ({FILM})"]),
    (f"{line(CHAT, '2', '0.5', '-0.9')},w-4", ["0.9", "1", "-0.1", "USD", f"{AMOUNT} (tables.yaml:21)"]),
    # A balance counts at its worth.
    (f"{line(CHAT, '2', '1', '-3', currency='DIEM')},w-5", ["3", "2", "1", "USD", f"{AMOUNT} (tables.yaml:21)"]),
    # The same request and SKU twice.
    (f"{line(CLIP, '0.51', '1', '-0.51')},r-2", ["0.51", "0", "0.51", "USD", f"{AGAIN} ({FILM})"]),
    (f"{line(CHAT, '2', '0.75', '-1.5')},r-1", ["1.5", "0", "1.5", "USD", f"{AGAIN} (tables.yaml:21)"]),
    # No price is known.
    (f"{line('film-made-up', '9', '1', '-9')},w-6", ["9", "", "", "USD", "sku: no request of film is charged by it"]),
    (f"{line('chat-made-up', '9', '1', '-9')},w-7",
     ["9", "", "", "", "SKU chat-made-up is not in the version of 2026-01-01 of chat"]),
    (f"{line(CHAT, '2', 'x', '-9')},w-8", ["9", "", "", "", "unit: x is not a number"]),
]  # fmt: skip


def test_rows_that_are_not_as_they_should_be_are_listed(tmp_path: Path) -> None:
    found, lines = disputes(tmp_path, *(row for row, _ in WRONG))
    listed = {(row.rpartition(",")[2], *row.split(",")[:2], *cells) for row, cells in WRONG}
    assert {tuple(each) for each in lines} == listed
    assert found == DisputedRows(
        16, len(WRONG), 3, 1, sum((Decimal(cells[2] or 0) for _, cells in WRONG), Decimal(0)), "USD"
    )


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum"])
def test_csv_runs_nothing_in_a_spreadsheet(tmp_path: Path, name: str) -> None:
    """A text has an apostrophe before it, and a difference below zero is a number."""
    of_request, of_sku = f"{line(CHAT, '2', '0.5', '-0.9')},{name}", f"{line(name, '2', '0.5', f'{name}x')},r-9"
    _, lines = disputes(tmp_path, of_request, of_sku)
    assert {(request, sku, difference) for request, _, sku, _, _, difference, *_ in lines} == {
        (f"'{name}", CHAT, "-0.1"),
        ("r-9", f"'{name}", ""),
    }
    assert not [cells for cells in lines if cells[3].startswith(("=", "+", "@"))]


def test_a_file_that_cannot_be_written_is_named_and_left_as_it_was(tmp_path: Path) -> None:
    file, out = bill(tmp_path, GOOD[2]), tmp_path / "disputes.csv"
    out.write_text("before", encoding="utf-8")
    with small_disk(), pytest.raises(SimulationError, match=r"disputes\.csv cannot be written: File too large"):
        write_disputes(file, NOW, out)
    assert out.read_text(encoding="utf-8") == "before"


def test_equal_rows_are_all_listed_but_one(tmp_path: Path) -> None:
    found, lines = disputes(tmp_path, *[GOOD[2]] * 3)
    assert [each[0] for each in lines] == ["r-2"] * 3
    assert found.difference == Decimal("1.53")
    with simulate(bill(tmp_path, *[GOOD[2]] * 3), NOW, by=()) as simulation:
        assert [(each.rows, each.reason) for each in simulation.disputed] == [(3, AGAIN)]


def test_requests_of_two_accounts_may_have_one_name(tmp_path: Path) -> None:
    """Each pays for its own; two balances pay for that of one of them."""
    part = line(CHAT, "2", "0.5", "-0.25", currency="DIEM")
    rows = [f"{line(CHAT, '2', '0.5', '-1')},r-1,acme", f"{part},r-1,bolt"]
    rows += [f"{line(CHAT, '2', '0', '-0.75')},r-1,bolt", f"{line(CHAT, '2', '0.5', '-1')},r-1,cord"]
    with simulate(export(tmp_path, *rows, head=f"{WITH_REQUESTS},account"), NOW, by=()) as simulation:
        assert (simulation.rows, list(simulation.disputed)) == (4, [])


def test_requests_by_another_name_must_be_named(tmp_path: Path) -> None:
    file = Path(bill(tmp_path, GOOD[0]))
    file.write_text(file.read_text(encoding="utf-8").replace("requestId", "request_id", 1), encoding="utf-8")
    with pytest.raises(SimulationError, match="Column 'request_id' is not read"):
        write_disputes(str(file), NOW, tmp_path / "out.csv")
    found = write_disputes(str(file), NOW, tmp_path / "out.csv", columns={"requestId": "request_id"})
    assert found.disputed == 1


def test_only_chosen_rows_are_looked_at(tmp_path: Path) -> None:
    wrong = f"{line(CHAT, '3', '0.5', '-1.5', timestamp='2026-03-01T00:00:00Z')},r-9"
    found, lines = disputes(tmp_path, wrong, until="2026-03-01")
    assert (found.rows, lines) == (6, [])


def test_a_bill_of_every_type_agrees_with_the_tables_by_which_it_was_billed(tmp_path: Path) -> None:
    demo_usage(tmp_path / "usage.parquet", 2_000, seed=5, card=FEW)
    rows: list[Row] = pyarrow.parquet.read_table(tmp_path / "usage.parquet").to_pylist()
    entries = [entry for _, made in entries_of(FEW, rows) for entry in made]
    file = write_csv(tmp_path / "bill.csv", entries, {})
    found = write_disputes(file, Side("now", FEW), tmp_path / "out.csv")
    assert (found.rows, found.disputed, str(found.difference)) == (len(entries), 0, "0")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["simulate", *arguments])


def test_the_command_says_what_they_come_to(tmp_path: Path) -> None:
    when, sku, out = "2026-10-02T00:00:00Z", "ovi-image-to-video-fixed", tmp_path / "out.csv"
    rows = [f"{sku},0.22,1,-0.22,USD,,r-1", f"{sku},0.25,1,-0.25,USD,,r-2", f"{sku},0.22,1,0.22,USD,,r-1"]
    file = shipped_bill(tmp_path, *rows, "ovi,1,1,-1,USD,,r-3")
    result = run(file, "--disputes", str(out))
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "2 of 4 rows disagree with the prices of their days; what is too much in them comes to 0.03 USD.\n"
        "For 1 of them no price is known.\n"
        "Further rows that say too little to be compared, like refunds and rows of a contract: 1.\n"
    )
    assert out.read_text(encoding="utf-8").splitlines()[1:] == [
        f"r-2,{when},{sku},0.25,0.22,0.03,USD,{PRICE} (video/ovi.yaml:22)",
        f"{when},ovi,1,,,,".join(("r-3,", "\"sku: 'ovi' begins with no model, and the row names none\"")),
    ]


def test_rows_of_a_contract_are_compared_with_no_list_price(tmp_path: Path) -> None:
    """A metered row and a clip below the list; the amount of a row is still held against its units."""
    rows = (line(CHAT, "1.6", "0.5", "-0.8"), line(CLIP, "0.40", "1", "-0.40"), line(CHAT, "1.6", "0.5", "-0.9"))
    listed = line(CHAT, "2", "0.5", "-1")
    file = export(tmp_path, *(f"{row},acme" for row in rows), f"{listed},", head=f"{HEAD},contract")
    found = write_disputes(file, NOW, tmp_path / "out.csv")
    assert (found.rows, found.disputed, found.unchecked, found.difference) == (4, 1, 2, Decimal("0.1"))
    with simulate(file, NOW, (), by=[]) as simulation:
        assert simulation.total.amounts == (Decimal(1),)
        assert [(each.reason, each.rows) for each in simulation.unpriced] == [(CONTRACT_ROW, 3)]


HOURS = """\
family: made-up
models:
  - model: ear
    name: Ear
    type: transcription
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        rounding: none
        line_places: 6
        examples: [{usage: {seconds: 3600}, total: 0.35}]
        charges:
          - {charge: audio, method: per-audio-second, unit: audio_hour, rates: [{rate: 0.35}]}
"""
CONTRACT = """\
contract: acme
accounts: [acme]
from: 2026-01-01
source: a test
overrides:
  - {for: {model: ear}, percent: -20%}
"""


@pytest.mark.parametrize("kept", [False, True])
def test_rounded_units_are_not_held_against_the_amount_of_a_contract_either(tmp_path: Path, kept: bool) -> None:
    units = "units: [{unit: audio_hour, counts: second of audio, per: 3600}]\n"
    contract = CONTRACT + ("  - {for: {model: ear}, only: true}\n" if kept else "")
    files = {"units.yaml": units, "ear.yaml": HOURS, "contracts/acme.yaml": contract}
    card = RateCard(tables_from({name: text.encode() for name, text in files.items()}))
    when = datetime(2026, 10, 2, tzinfo=UTC)
    quote = card.at(when, account="acme").rate({"model": "ear", "seconds": 100})
    assert quote.contract == "acme"
    assert quote.total != quote.lines[0].quantity * quote.lines[0].unit_rate
    (entry,) = quote.ledger_entries(timestamp=when, request_id="r-1")
    file = tmp_path / "bill.csv"
    file.write_text(ledger_csv([entry]))
    found = write_disputes(file, Side("now", card), tmp_path / "out.csv")
    assert (found.rows, found.disputed, found.unchecked) == (1, 0, 1)
    with simulate(file, Side("now", card), (), by=[]) as simulation:
        assert simulation.disputed == ()


def test_too_little_and_another_currency_are_said(tmp_path: Path) -> None:
    file, out = shipped_bill(tmp_path, "ovi-image-to-video-fixed,0.20,1,-0.20,USD,,r-1"), tmp_path / "out.csv"
    result = run(file, "--disputes", str(out))
    words = "1 of 1 rows disagrees with the prices of their days; what is too little in them comes to 0.02 USD.\n"
    assert result.stdout == words
    result = run(file, "--disputes", str(out), "--currency", "EUR")
    assert (result.exit_code, result.stdout) == (
        0,
        "0 of 1 rows disagree with the prices of their days.\n"
        "Rows in another currency than EUR, which are not compared: 1. --currency names another.\n",
    )
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1


def test_what_a_bill_holds_are_rows(tmp_path: Path) -> None:
    result = run(shipped_bill(tmp_path, "ovi-image-to-video-fixed,0.22,1,-0.22,USD,,r-1", "ovi,1,1,-1,USD,,r-3"))
    assert "sku: 'ovi' begins with no model, and the row names none" in result.stdout
    said = " ".join(result.stdout.split()).partition("Revenue")[2].partition("By model")[0]
    assert "1 row of 2026" in said
    assert "request" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--disputes", "out.xlsx"), "out.xlsx ends in none of .csv"),
        (("--disputes", "out.csv", "--by", "sku", "--rise", "5%"), "leave out --by, --rise"),
        (("--disputes", "out.csv", "--current", "as-billed"), "--current names them, or leave it out"),
    ],
)
def test_wrong_use_is_refused(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    result = run(bill(tmp_path), *arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_usage_is_not_a_bill(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(table_of(ROWS), tmp_path / "usage.parquet")
    with pytest.raises(SimulationError, match="not a billing export, and does not say what was charged"):
        write_disputes(str(tmp_path / "usage.parquet"), NOW, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
