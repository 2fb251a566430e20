"""Statements of simulated months: those of each account, month and side, made of the same rows."""

import csv
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import pyarrow
import pytest
from click.testing import CliRunner

from contract_tables import TABLES, card_of, contract, write
from ratecard.cli import main
from ratecard.review.sides import Side
from ratecard.simulation.rollup import rollup
from ratecard.simulation.simulate import simulate
from ratecard.statements import StatementError, statement
from ratecard.statements.simulated import simulated_months, write_months
from reports import small_disk
from token_tables import by_tokens, family, text_model

ACME = contract("- {for: {type: text}, percent: -50%}", further="monthly: [{minimum: 5, currency: USD}]\n")
OFFER = """\
candidate: offer
effective: 2026-11-01
proposed_by: sales
why: to try
contracts:
  - contract: more
    extends: acme
    accounts: [a-1]
    from: 2026-11-01
    source: offer
    monthly: [{minimum: 20, currency: USD}]
"""


def usage(folder: Path, *further: str) -> Path:
    rows = ["type,model,timestamp,account,prompt_tokens,completion_tokens"]
    for month, tokens in ((10, 4_000_000), (11, 14_000_000)):
        rows += [f"text,flat,2026-{month}-05T10:00:00Z,{account},{tokens},0" for account in ("a-1", "b-1")]
    (folder / "usage.csv").write_text("\n".join([*rows, *further]))
    return folder / "usage.csv"


def test_each_account_with_a_contract_has_a_statement_of_each_month_under_each_side(tmp_path: Path) -> None:
    card = card_of(ACME)
    (tmp_path / "offer.yaml").write_text(OFFER)
    other, place = card.with_candidate(tmp_path / "offer.yaml"), usage(tmp_path)
    found = simulated_months(place, Side("now", card), [Side("offer", other)])
    assert [(each.account, f"{each.month:%m}", each.side) for each in found] == [
        ("a-1", "10", "now"), ("a-1", "10", "offer"), ("a-1", "11", "now"), ("a-1", "11", "offer"),
    ]  # fmt: skip
    october, november = (Decimal(4), Decimal(2), Fraction(3), Decimal("5.00")), (Decimal(14), Decimal(7))
    expected = [
        october,
        october,
        (*november, Fraction(0), Decimal("7.00")),
        (*november, Fraction(13), Decimal("20.00")),
    ]
    assert [each.amounts for each in found] == expected
    for each, prices in zip(found, (card, other) * 2, strict=True):
        assert each.statement == statement(place, account="a-1", month=each.month, tables=prices)
    write_months(found, tmp_path / "months.csv")
    lines = list(csv.DictReader((tmp_path / "months.csv").read_text().splitlines()))
    assert [line["payable"] for line in lines] == ["5.00", "5.00", "7.00", "20.00"]
    assert lines[-1] | {"terms": "13", "contract": "7", "contracts": "more"} == lines[-1]


def test_a_minimum_is_due_in_a_month_without_any_row(tmp_path: Path) -> None:
    place = usage(tmp_path, "text,flat,2027-01-05T10:00:00Z,b-1,1,0")
    found = simulated_months(place, Side("now", card_of(ACME)))
    payable = {f"{month.month:%Y-%m}": month.statement and str(month.statement.payable) for month in found}
    assert payable == {"2026-10": "5.00", "2026-11": "7.00", "2026-12": "5.00", "2027-01": "5.00"}


def test_csv_runs_nothing_in_a_spreadsheet(tmp_path: Path) -> None:
    """An account has an apostrophe before it, and an amount below zero is a number."""
    card = card_of(ACME.replace("[a-1]", "[=1+1]").replace("minimum: 5, currency: USD", "included: 1, unit: mtoken"))
    place = usage(tmp_path)
    place.write_text(place.read_text().replace("a-1", "=1+1"))
    write_months(simulated_months(place, Side("@now", card)), tmp_path / "months.csv")
    lines = list(csv.DictReader((tmp_path / "months.csv").read_text().splitlines()))
    assert [(line["account"], line["prices"], line["terms"]) for line in lines] == [("'=1+1", "'@now", "-0.5")] * 2


def test_the_file_of_months_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    months, file = simulated_months(usage(tmp_path), Side("now", card_of(ACME))), tmp_path / "months.csv"
    file.write_text("before")
    with small_disk(), pytest.raises(StatementError, match=r"months.csv cannot be written: File too large"):
        write_months(months, file)
    assert (file.read_text(), len(list(tmp_path.iterdir()))) == ("before", 2)


def test_accounts_may_be_named(tmp_path: Path) -> None:
    found = simulated_months(usage(tmp_path), Side("now", card_of(ACME)), accounts=["b-1"])
    assert [each.amounts for each in found] == [
        (Decimal(amount), Decimal(amount), Fraction(0), Decimal(f"{amount}.00")) for amount in (4, 14)
    ]


def test_a_month_with_a_row_without_a_price_has_the_reason_instead(tmp_path: Path) -> None:
    place = usage(tmp_path, "text,nobody-has-it,2026-11-06T10:00:00Z,a-1,1,1")
    first, second = simulated_months(place, Side("now", card_of(ACME)))
    assert (first.reason, second.statement) == ("", None)
    assert "1 row without a price" in second.reason


@pytest.mark.parametrize("timestamp", ["9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"])
def test_a_row_of_another_account_at_the_end_of_the_calendar_stops_nothing(tmp_path: Path, timestamp: str) -> None:
    place = usage(tmp_path, f"text,flat,{timestamp},b-1,1000000,0")
    months = simulated_months(place, Side("now", card_of(ACME)))
    assert [f"{each.month:%Y-%m}" for each in months if each.statement] == ["2026-10", "2026-11"]


ODD = "2 rows of a-1: timestamp is missing or not an instant of 0001-02 to 9999-11, so their month is not known"


@pytest.mark.parametrize(
    "timestamps",
    [("2026-10-32T10:00:00Z", ""), ("2026-11-31", "yesterday"), ("9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z")],
)
def test_rows_that_may_be_of_any_month_leave_their_account_without_a_statement(
    tmp_path: Path, timestamps: tuple[str, ...]
) -> None:
    """As `ratecard statement` refuses them; the months of other accounts are stated."""
    place = usage(tmp_path, *(f"text,flat,{timestamp},a-1,1000000,0" for timestamp in timestamps))
    with pytest.raises(StatementError, match=ODD):
        statement(place, account="a-1", month="2026-10", tables=card_of(ACME))
    months = simulated_months(place, Side("now", card_of(ACME)), accounts=["a-1", "b-1"])
    assert [(month.account, month.amounts and month.amounts[-1], month.reason) for month in months] == [
        ("a-1", None, ODD), ("a-1", None, ODD), ("b-1", Decimal("4.00"), ""), ("b-1", Decimal("14.00"), ""),
    ]  # fmt: skip
    (tmp_path / "odd.csv").write_text("\n".join([place.read_text().split()[0], *place.read_text().split()[-2:]]))
    with pytest.raises(StatementError, match=ODD):
        simulated_months(tmp_path / "odd.csv", Side("now", card_of(ACME)))


def test_rows_in_other_currencies_are_counted(tmp_path: Path) -> None:
    euro = family(text_model("plume", by_tokens("- {tokens: [input, cache_input, output], rate: 1}")))
    euro = euro.replace("USD", "EUR").replace("made-up", "euro")
    card = card_of(ACME, tables={**TABLES, "euro.yaml": euro})
    place = usage(tmp_path, *(f"text,plume,2026-{month}-06T10:00:00Z,a-1,9,9" for month in ("10", "10", "12")))
    found = simulated_months(place, Side("now", card))
    write_months(found, tmp_path / "months.csv")
    lines = list(csv.DictReader((tmp_path / "months.csv").read_text().splitlines()))
    # December has terms but no row.
    assert {line["contracts"] for line in lines} == {"acme"}
    assert [(line["month"][-2:], line["payable"], line["reason"]) for line in lines] == [
        ("10", "5.00", "2 rows in EUR: on a statement of their own, --currency EUR"),
        ("11", "7.00", ""),
        ("12", "5.00", "1 row in EUR: on a statement of their own, --currency EUR"),
    ]


def test_list_prices_of_a_month_are_those_of_the_report(tmp_path: Path) -> None:
    terms = (
        "- {for: {model: flat}, only: true}\n- {for: {type: text}, percent: -20%}\n- {for: {model: hidden}, rate: 0.2}"
    )
    (tmp_path / "dearer.yaml").write_text(
        OFFER.partition("contracts:")[0] + "changes: [{scale: {type: text}, factor: 2}]\n"
    )
    card = card_of(contract(terms + "\n- {for: {model: hidden}, only: true}"))
    sides = Side("now", card), [Side("dearer", card.with_candidate(tmp_path / "dearer.yaml"))]
    place = usage(tmp_path, "video,hidden,2026-11-05T10:00:00Z,a-1,,")
    months = simulated_months(place, *sides)
    with simulate(place, *sides, by=["account"], contracts=True) as found:
        ours = next(each for each in found.discounts() if each.customer == "a-1")
    for side, name in enumerate(("now", "dearer")):
        amounts = [each.amounts[:2] for each in months if each.side == name and each.amounts]
        assert [sum(each) for each in zip(*amounts, strict=True)] == [ours.lists[side], ours.nets[side]]
    assert (ours.lists, ours.nets) == (
        (Decimal("18.30"), Decimal("32.30")), (Decimal("14.60"), Decimal("25.80")),
    )  # fmt: skip


def test_what_has_no_instants_of_rows_is_refused(tmp_path: Path) -> None:
    prices, place = write(tmp_path / "prices", ACME), usage(tmp_path)
    rollup(place, tmp_path / "kept", tables=prices, by=["model", "account"])
    for make in (simulated_months, partial(statement, account="a-1", month="2026-11")):
        with pytest.raises(StatementError, match="is a roll-up, which has no instants of its rows"):
            make(tmp_path / "kept", tables=prices)
    with pytest.raises(StatementError, match="the prices of each row's own instant"):
        simulated_months(place, "2026-10-01", tables=prices)
    bare = pyarrow.table({"type": ["text"], "model": ["flat"], "timestamp": [datetime(2026, 10, 1, tzinfo=UTC)]})
    with pytest.raises(StatementError, match="neither a column 'account' nor 'customer'"):
        simulated_months(bare, tables=prices)


def test_a_billing_export_is_refused(tmp_path: Path) -> None:
    """Its amounts are the same under every side; without a column `account`, each account would pay all of it."""
    export = tmp_path / "export.csv"
    export.write_text(
        "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes\n"
        "2026-10-05T10:00:00Z,flat-llm-input-mtoken,1,2,-2,USD,flat\n"
    )
    with pytest.raises(StatementError, match="a billing export holds what each account was charged already"):
        simulated_months(export, Side("now", card_of(ACME)), accounts=["a-1", "b-1"])


def test_the_command_writes_them_beside_its_report(tmp_path: Path) -> None:
    prices, place, out = write(tmp_path / "prices", ACME), usage(tmp_path), tmp_path / "months.csv"
    words = ["simulate", str(place), "--tables", str(prices), "--contracts", "--statements", str(out)]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert f"Wrote {out}" in ran.output
    assert [line["payable"] for line in csv.DictReader(out.read_text().splitlines())] == ["5.00", "7.00"]
    refused = CliRunner().invoke(main, [word for word in words if word != "--contracts"])
    assert refused.exit_code == 2
    assert "--contracts" in refused.output


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "months.csv"], "months.csv is a file of --out too, which can hold only one of them"),
        (["--out", "folder/../months.csv"], "months.csv is a file of --out too"),
        (["--out", "months.json", "--out", "link.csv"], "months.csv is a file of --out too"),
        (["--cost", "months.csv"], "months.csv is what --cost reads, which stays as it is"),
        (["--cost", "costs.csv", "--out", "costs.csv"], "costs.csv is what --cost reads, which stays as it is"),
        (["--candidate", "a.yaml+months.csv"], "months.csv is what --candidate reads, which stays as it is"),
        (
            ["--candidate", "costs.csv", "--out", "costs.csv"],
            "costs.csv is what --candidate reads, which stays as it is",
        ),
    ],
)
def test_no_file_is_written_over_another_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    """This is refused before the usage is read; every file is as it was."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "prices", ACME)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to("months.csv")
    for name in ("months.csv", "costs.csv"):
        (tmp_path / name).write_text("model,rate\n")
    words = ["simulate", str(usage(tmp_path)), "--tables", "prices", "--contracts", "--statements", "months.csv"]
    ran = CliRunner().invoke(main, [*words, *more])
    assert (ran.exit_code, message in ran.stderr, ran.stdout) == (2, True, ""), ran.output
    assert {(tmp_path / name).read_text() for name in ("months.csv", "costs.csv")} == {"model,rate\n"}
    assert not (tmp_path / "months.json").exists()


def test_a_month_without_a_statement_is_said_and_the_status_is_1(tmp_path: Path) -> None:
    prices, out = write(tmp_path / "prices", ACME), tmp_path / "months.csv"
    place = usage(tmp_path, "text,nobody-has-it,2026-11-06T10:00:00Z,a-1,1,1")
    words = ["simulate", str(place), "--tables", str(prices), "--contracts", "--statements", str(out)]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 1
    assert "no statement of a-1 for 2026-11: 1 row without a price" in ran.stderr
    assert [line["payable"] for line in csv.DictReader(out.read_text().splitlines())] == ["5.00", ""]


def test_a_reason_of_several_months_is_said_once(tmp_path: Path) -> None:
    prices, out = write(tmp_path / "prices", ACME), tmp_path / "months.csv"
    place = usage(tmp_path, *["text,flat,,a-1,1,1"] * 2)
    words = ["simulate", str(place), "--tables", str(prices), "--contracts", "--statements", str(out)]
    ran = CliRunner().invoke(main, words)
    assert (ran.exit_code, ran.stderr.count(ODD)) == (1, 1)
    assert [line["payable"] for line in csv.DictReader(out.read_text().splitlines())] == ["", ""]


@pytest.mark.parametrize("of", ["kept", "one instant"])
def test_what_can_have_no_statements_is_refused_before_a_report(tmp_path: Path, of: str) -> None:
    prices, out = write(tmp_path / "prices", ACME), tmp_path / "months.csv"
    place, instant = usage(tmp_path), ["--current", "2026-10-01"] if of == "one instant" else []
    if of == "kept":
        rollup(place, tmp_path / "kept", tables=prices, by=["model", "account"])
        place = tmp_path / "kept"
    words = ["simulate", str(place), "--tables", str(prices), *instant, "--contracts", "--statements", str(out)]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code in (1, 2)
    assert (ran.stdout, out.exists()) == ("", False)
    assert "roll-up" in ran.stderr or "each row's own instant" in ran.stderr
