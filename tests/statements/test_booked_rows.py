"""A statement of a billing export: what was booked, never rated again, and refunds in their own month."""

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
from statement_tables import WORDS, write_tables

from ratecard import load_rate_card
from ratecard.base.errors import SimulationError
from ratecard.ledger.files import ledger_csv, ledger_json
from ratecard.line_items import LedgerEntry
from ratecard.statements import StatementError, differences, statement
from ratecard.statements.report import statement_csv

HEADING = "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,requestId"
INPUT = "scribe-llm-input-mtoken"
LIMITS = """
limits:
  - effective: 2026-01-01
    checked: 2026-01-01
    source: a test
    rates: {CREDITS: 0.5}
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "tables", monthly=None)


def export(folder: Path, *rows: str, heading: str = HEADING) -> Path:
    file = folder / "export.csv"
    file.write_text("\n".join((heading, *rows)) + "\n", encoding="utf-8")
    return file


def made(folder: Path, tables: Path, *rows: str, **given: Any) -> Any:
    heading = given.pop("heading", HEADING)
    return statement(export(folder, *rows, heading=heading), account="acme", month="2026-10", tables=tables, **given)


def test_what_was_booked_is_on_it_whatever_the_tables_say(tmp_path: Path, tables: Path) -> None:
    found = made(
        tmp_path,
        tables,
        f"2026-10-02T00:00:00Z,{INPUT},1.23,2,-2.46,USD,scribe,r-1",
        f"2026-10-03T00:00:00Z,{INPUT},1.23,3,-3.69,USD,scribe,r-2",
        f"2026-11-01T00:00:00Z,{INPUT},1.23,3,-3.69,USD,scribe,r-3",
        "2026-10-04T00:00:00Z,no-such-sku,5,1,-5,USD,gone-model,r-4",
    )
    assert [
        (line.rated.sku, line.rated.unit, line.rated.unit_rate, line.quantity, line.amount) for line in found.lines
    ] == [
        ("no-such-sku", None, Decimal(5), Decimal(1), Decimal(5)),
        (INPUT, "mtoken", Decimal("1.23"), Decimal(5), Decimal("6.15")),
    ]
    assert (found.list_total, str(found.payable), found.digests) == (None, "11.15", ())


def test_an_amount_that_is_not_unit_x_price_is_on_it_as_booked_and_told(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    split, other = (CHARGED.replace("-4,", "-3.50,"), PART, BACK), CHARGED.replace("r-1", "r-2")
    earlier = CHARGED.replace("10-02", "09-02").replace("-4,", "-3,").replace("r-1", "r-3")
    for rows, told in (
        ((*split, other, earlier), []),
        ((CHARGED, PART, other.replace("-4,", "-40,")), ["3 rows with an amount that is not unit x price"]),
    ):
        notes = made(tmp_path, tables, *rows).notes
        assert [note.partition(":")[0] for note in notes if "unit x price" in note] == told


def test_what_was_booked_before_the_first_price_of_its_model_has_no_unit(tmp_path: Path, tables: Path) -> None:
    file = export(tmp_path, f"2026-07-02T00:00:00Z,{INPUT},1.23,2,-2.46,USD,scribe,r-1")
    (line,) = statement(file, account="acme", month="2026-07", tables=tables).lines
    assert (line.rated.unit, line.quantity, line.amount) == (None, Decimal(2), Decimal("2.46"))


@pytest.mark.parametrize("first", ["12:00", "23:00"])
def test_a_rate_is_that_of_the_hour_of_its_row(tmp_path: Path, tables: Path, first: str) -> None:
    """SKUs do not name hours, so rows of one SKU have the rates of several."""
    rate = "- {tokens: input, rate: 4}\n"
    nightly = f"{' ' * 14}- {{tokens: input, hours: '22:00..24:00', zone: UTC, rate: 1}}\n"
    words = (tables / "words.yaml").read_text()
    assert rate in words
    (tables / "words.yaml").write_text(words.replace(rate, rate + nightly))
    charges = {"12:00": "4,2,-8", "23:00": "1,2,-2"}
    rows = [
        f"2026-10-{20 + number}T{hour}:00Z,{INPUT},{charges[hour]},USD,scribe,r-{number}"
        for number, hour in enumerate((first, *charges))
    ]
    found = made(tmp_path, tables, *rows)
    hours = {line.rated.unit_rate: dict(line.rated.attributes).get("hours") for line in found.lines}
    assert hours == {Decimal(4): None, Decimal(1): ("22:00..24:00",)}


def test_an_export_may_say_nothing_of_requests(tmp_path: Path, tables: Path) -> None:
    heading = HEADING.removesuffix(",requestId")
    found = made(tmp_path, tables, f"2026-10-02T00:00:00Z,{INPUT},1.23,2,-2.46,USD,scribe", heading=heading)
    assert str(found.payable) == "2.46"


def test_a_refund_is_a_line_of_the_month_in_which_it_was_booked(tmp_path: Path, tables: Path) -> None:
    rows = (
        f"2026-09-02T00:00:00Z,{INPUT},4,2,-8,USD,scribe,r-1",
        f"2026-10-03T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-2",
        f"2026-10-05T00:00:00Z,{INPUT},4,0,2.50,USD,scribe,r-1",
    )
    found = made(tmp_path, tables, *rows)
    assert [(line.rated.sku, line.quantity, line.amount) for line in found.refunds] == [(INPUT, 0, Decimal("-2.5"))]
    assert (found.charges, str(found.payable)) == (4, "1.50")
    assert found.change is not None
    assert found.change.refunds == Decimal("-2.5")
    earlier = statement(tmp_path / "export.csv", account="acme", month="2026-09", tables=tables)
    assert (earlier.refunds, str(earlier.payable)) == ((), "8.00")


def test_more_paid_back_than_charged_is_payable_below_zero(tmp_path: Path, tables: Path) -> None:
    found = made(tmp_path, tables, f"2026-10-05T00:00:00Z,{INPUT},4,0,2.505,USD,scribe,r-1")
    assert str(found.payable) == "-2.51"


def test_what_balances_paid_is_in_the_currency_at_their_worth(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    found = made(
        tmp_path,
        tables,
        f"2026-10-02T00:00:00Z,{INPUT},4,2,-6,CREDITS,scribe,r-1",
        f"2026-10-02T00:00:00Z,{INPUT},4,0,-5,USD,scribe,r-1",
    )
    assert {(line.rated.paid_in, line.rated.worth, line.quantity, line.amount) for line in found.lines} == {
        ("CREDITS", Decimal("0.5"), Decimal(2), Decimal(3)),
        ("", Decimal(1), Decimal(0), Decimal(5)),
    }
    assert str(found.payable) == "8.00"
    assert [(line["quantity"], line.get("paid_in")) for line in found.to_dict()["lines"]] == [
        ("0", None),
        ("2", "CREDITS"),
    ]
    by_balance = [(line["amount"], line["paid_in"]) for line in csv.DictReader(StringIO(statement_csv(found)))]
    assert by_balance == [("5", ""), ("3", "CREDITS"), ("8.00", "")]
    dollars = [f"2026-10-02T00:00:00Z,{INPUT},4,2,-8,USD,scribe,r-1"]
    assert {each.line for each in differences(found.to_dict(), made(tmp_path, tables, *dollars)) if each.line} == {
        f"scribe {INPUT} mtoken 4",
        f"scribe {INPUT} mtoken 4 CREDITS",
    }


UNREAD = (
    (f"2026-10-02T00:00:00Z,{INPUT},4,2,-6,DIEMS,scribe,r-1", "currency 'DIEMS' is not known"),
    (f"2026-10-02T00:00:00Z,{INPUT},x,2,-6,USD,scribe,r-2", "pricePerUnitUsd 'x' is not a number"),
    (f"2026-10-02T00:00:00Z,{INPUT},4,,-6,USD,scribe,r-3", "unit is missing"),
    (f"2026-10-02T00:00:00Z,{INPUT},4,-1,-4,USD,scribe,r-4", "unit -1 is below zero, and amount -4 is not a refund"),
    (f"2026-10-02T00:00:00Z,{INPUT},4,-1,0,USD,scribe,r-5", "unit -1 is below zero, and amount 0 is not a refund"),
    (f"2026-10-02T00:00:00Z,{INPUT},-4,1,-4,USD,scribe,r-6", "pricePerUnitUsd -4 is below zero"),
)


def test_rows_that_cannot_be_read_stop_it_and_each_says_why(tmp_path: Path, tables: Path) -> None:
    with pytest.raises(StatementError, match="6 rows without a price") as caught:
        made(tmp_path, tables, *(row for row, _ in UNREAD))
    assert [words for _, words in UNREAD if f"1 row of scribe: {words}" not in str(caught.value)] == []


def test_a_refund_before_its_charge_stops_it_as_the_ledger_refuses_one(tmp_path: Path, tables: Path) -> None:
    charged = f"2026-10-02T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-1"
    assert str(made(tmp_path, tables, charged, f"2026-10-02T00:00:00Z,{INPUT},4,0,1,USD,scribe,r-1").payable) == "3.00"
    words = "timestamp: a refund must not be before its charge, which is of 2026-10-02T00:00:00"
    with pytest.raises(StatementError, match=words):
        made(tmp_path, tables, charged, f"2026-10-01T23:59:59Z,{INPUT},4,0,1,USD,scribe,r-1")


def test_a_refund_is_read_however_its_units_are_written(tmp_path: Path) -> None:
    """The first of 3 units is included, whatever refunds of other requests say."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 1, unit: mtoken}\n")
    back = [f"2026-10-01T00:00:00Z,{INPUT},4,{unit},2,USD,refund f-1,r-0{unit}" for unit in (0, 1, -1)]
    found = made(tmp_path, tables, *back, f"2026-10-02T00:00:00Z,{INPUT},4,3,-12,USD,scribe,r-1")
    assert [(line.kind, line.quantity, line.amount) for line in found.terms] == [("included", 1, -4)]
    assert str(found.payable) == "2.00"


CHARGED = f"2026-10-02T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-1"
PART = f"2026-10-02T00:00:00Z,{INPUT},4,0,-1,CREDITS,scribe,r-1"
BACK = f"2026-10-03T00:00:00Z,{INPUT},4,0,2,USD,scribe,r-1"
CHARGED_AGAIN = "requestId: this request is charged by this SKU already. Leave the row out"


BACK_AGAIN = "requestId: this refund is in the usage already. Leave the row out"
BEYOND = "amount: the refunds of this request by this SKU are more than was charged"


def of_case(case: int, rows: tuple[str, ...]) -> list[str]:
    """The rows of a case with a model, SKUs and requests of their own, so that one export may hold many cases."""
    return [row.replace("scribe", f"scribe-{case}").replace("r-", f"r-{case}-") for row in rows]


def of_all(cases: tuple[tuple[tuple[str, ...], Any], ...], order: int = 1) -> list[str]:
    return [row for case, (rows, _) in enumerate(cases) for row in of_case(case, rows)][::order]


def refusals(folder: Path, *rows: str) -> list[str]:
    """What is said of rows without a price, a line for each model."""
    tables = write_tables(folder / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    with pytest.raises(StatementError) as caught:
        made(folder, tables, *rows)
    return str(caught.value).splitlines()[1:]


TWICE: tuple[tuple[tuple[str, ...], str], ...] = (
    ((CHARGED, CHARGED), f"1 row of scribe-0: {CHARGED_AGAIN}"),
    ((CHARGED, CHARGED, CHARGED), f"2 rows of scribe-1: {CHARGED_AGAIN}"),
    (
        (CHARGED, CHARGED.replace("10-02", "10-05")),
        f"1 row of scribe-2: {CHARGED_AGAIN}, as where pages of an export overlap (the first at 2026-10-05",
    ),
    ((CHARGED, CHARGED.replace(",4,1,-4,", ",4.00,1.0,-4.00,")), f"1 row of scribe-3: {CHARGED_AGAIN}"),
    ((CHARGED, CHARGED.replace(",1,-4,USD", ",2,-8,CREDITS")), f"1 row of scribe-4: {CHARGED_AGAIN}"),
    ((CHARGED.replace("10-02", "09-30"), CHARGED), f"1 row of scribe-5: {CHARGED_AGAIN}"),
    ((CHARGED, PART, PART), f"1 row of scribe-6: {CHARGED_AGAIN}"),
    ((CHARGED, BACK, BACK), f"1 row of scribe-7: {BACK_AGAIN}"),
    ((CHARGED.replace(",4,1,-4,", ",0,1,0,"),) * 2, f"1 row of scribe-8: {CHARGED_AGAIN}"),
)


@pytest.mark.parametrize("order", [1, -1])
def test_a_row_that_is_there_twice_is_not_billed_twice(tmp_path: Path, order: int) -> None:
    found = refusals(tmp_path, *of_all(TWICE, order))
    assert [words for _, words in TWICE if not any(words in line for line in found)] == []
    assert len(found) == len(TWICE)


# What is charged, without its sign, and paid back.
NOT_THE_SAME: tuple[tuple[tuple[str, ...], str], ...] = (
    # A charge that two balances paid, then other rows: another request, another SKU, another price, two parts paid
    # back.
    ((CHARGED, PART), "4.50"),
    ((PART.replace(",0,", ",1,"), PART.replace("CREDITS", "USD")), "1.50"),
    ((CHARGED, CHARGED.replace("r-1", "r-2")), "8"),
    ((CHARGED, CHARGED.replace("input", "output")), "8"),
    ((CHARGED, CHARGED.replace(",4,", ",5,")), "8"),
    ((CHARGED, BACK, BACK.replace("10-03", "10-04")), "0"),
    ((CHARGED, BACK.replace("USD,scribe", "USD,f-1"), BACK.replace("USD,scribe", "USD,f-2")), "0"),
    # It is not known whether rows without a request belong together.
    ((CHARGED.replace("r-1", ""), CHARGED.replace("r-1", "")), "8"),
    ((CHARGED, CHARGED.replace("10-02", "11-02")), "4"),
)


def test_rows_of_one_request_that_are_not_the_same_are_all_on_it(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    found = made(tmp_path, tables, *of_all(NOT_THE_SAME))
    sums = dict.fromkeys(range(len(NOT_THE_SAME)), Decimal(0))
    for line in (*found.lines, *found.refunds):
        sums[int(line.rated.sku.split("-")[1])] += line.amount
    assert sums == {case: Decimal(amount) for case, (_, amount) in enumerate(NOT_THE_SAME)}
    assert found.payable == sum(sums.values())


REFUNDS: tuple[tuple[tuple[str, ...], str], ...] = (
    ((CHARGED, BACK.replace(",2,USD", ",4,USD")), ""),
    ((CHARGED, BACK.replace(",2,USD", ",4.01,USD")), "2026-10-03"),
    ((CHARGED, BACK.replace(",2,USD", f",{10**30},USD")), "2026-10-03"),
    ((CHARGED, BACK.replace(",2,USD", ",1e21,USD")), "2026-10-03"),
    ((CHARGED, BACK, BACK.replace("10-03", "10-04")), ""),
    ((CHARGED, BACK, BACK.replace("10-03", "10-04").replace(",2,USD", ",2.01,USD")), "2026-10-04"),
    ((CHARGED, BACK, BACK.replace("10-03", "11-04").replace(",2,USD", ",2.01,USD")), ""),
    ((CHARGED.replace("10-02", "09-02"), BACK.replace(",2,USD", ",4.01,USD")), "2026-10-03"),
    # Decimals behind the eighteenth count too.
    ((CHARGED, BACK.replace(",2,USD", ",4.0000000000000000001,USD")), "2026-10-03"),
    ((CHARGED, BACK.replace(",2,USD", ",3.9999999999999999995,USD"), BACK.replace(",2,USD", f",0.{'5':0>19},USD")), ""),
    # A refund goes only to the balance that paid.
    ((CHARGED, BACK.replace(",2,USD", ",1,CREDITS")), "2026-10-03"),
    ((CHARGED, PART, BACK.replace(",2,USD", ",1,CREDITS")), ""),
    ((CHARGED, PART, BACK.replace(",2,USD", ",1.01,CREDITS")), "2026-10-03"),
    # The charge of a refund is not in the usage: its request has no row, or only rows of another SKU.
    ((CHARGED, BACK.replace("r-1", "r-2").replace(",2,USD", ",40,USD")), ""),
    ((CHARGED, BACK.replace("input", "output").replace(",2,USD", ",40,USD")), ""),
    ((CHARGED.replace("r-1", ""), BACK.replace("r-1", "").replace(",2,USD", ",40,USD")), ""),
)


def test_refunds_beyond_the_charge_that_they_name_are_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, *of_all(REFUNDS))
    assert len(found) == sum(bool(day) for _, day in REFUNDS)
    for case, (_, day) in enumerate(REFUNDS):
        of_this = [line for line in found if f"of scribe-{case}:" in line]
        assert [(f"1 row of scribe-{case}: {BEYOND}" in line, f"first at {day}" in line) for line in of_this] == (
            [(True, True)] if day else []
        ), case


@pytest.mark.parametrize("charged", ["10-02", "09-02"])
def test_a_refund_goes_back_at_what_its_balance_was_worth_when_it_paid(tmp_path: Path, charged: str) -> None:
    """CREDITS are worth 2 since the charge of 4 dollars, 8 CREDITS at 0.5; 3 of the 4 dollars are paid back."""
    tables = write_tables(tmp_path / "tables", monthly=None)
    later = LIMITS.replace("limits:", "").replace("2026-01-01", "2026-10-03", 1).replace("0.5", "2")
    (tables / "limits.yaml").write_text(f"limits:{later}{LIMITS.replace('limits:', '')}", encoding="utf-8")
    charge = CHARGED.replace("-4,USD", "-8,CREDITS").replace("10-02", charged)
    found = made(tmp_path, tables, charge, BACK.replace("2,USD", "6,CREDITS"))
    assert [(line.rated.worth, line.amount) for line in found.refunds] == [(Decimal("0.5"), -3)]
    with pytest.raises(StatementError, match="what one CREDITS was worth when it paid is not known"):
        made(tmp_path, tables, BACK.replace("2,USD", "6,CREDITS"))


def test_requests_of_two_accounts_may_have_one_name(tmp_path: Path, tables: Path) -> None:
    rows = (f"{CHARGED},acme", f"{CHARGED},bolt")
    assert str(made(tmp_path, tables, *rows, heading=f"{HEADING},account").payable) == "4.00"


def test_an_export_of_several_accounts_names_them(tmp_path: Path, tables: Path) -> None:
    rows = [f"2026-10-02T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-{at},{who}" for at, who in enumerate(("acme", "bolt"))]
    assert str(made(tmp_path, tables, *rows, heading=f"{HEADING},account").payable) == "4.00"


@pytest.mark.parametrize("name", ["Account", "account_id", "customerId"])
def test_accounts_by_another_name_are_not_taken_for_one(tmp_path: Path, tables: Path, name: str) -> None:
    rows = [f"2026-10-02T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-{at},{who}" for at, who in enumerate(("acme", "bolt"))]
    with pytest.raises(StatementError, match=f"Column '{name}' is not read. Did you mean '(account|customer)'"):
        made(tmp_path, tables, *rows, heading=f"{HEADING},{name}")
    named = made(tmp_path, tables, *rows, heading=f"{HEADING},{name}", columns={"account": name})
    assert str(named.payable) == "4.00"


@pytest.mark.parametrize("name", ["request_id", "RequestID", "Request Id", "inferenceDetails_requestId"])
def test_requests_by_another_name_are_not_billed_twice(tmp_path: Path, tables: Path, name: str) -> None:
    heading = HEADING.replace("requestId", name)
    with pytest.raises(StatementError, match=f"Column '{name}' is not read. Did you mean 'requestId'"):
        made(tmp_path, tables, CHARGED, CHARGED, heading=heading)
    with pytest.raises(StatementError, match=CHARGED_AGAIN):
        made(tmp_path, tables, CHARGED, CHARGED, heading=heading, columns={"requestId": name})


def as_lines(rows: list[dict[str, Any]], folder: Path) -> Any:
    file = folder / "export.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def as_csv(rows: list[dict[str, Any]], folder: Path) -> Any:
    pandas.json_normalize(rows).to_csv(folder / "export.csv", index=False)
    return folder / "export.csv"


@pytest.mark.parametrize(
    "form", [as_lines, as_csv, lambda rows, _: pandas.DataFrame(rows), lambda rows, _: polars.DataFrame(rows)]
)
@pytest.mark.parametrize("more", [{}, {"promptTokens": 5}])
def test_the_request_of_a_row_is_read_from_its_details(
    tmp_path: Path, tables: Path, form: Callable[..., Any], more: dict[str, int]
) -> None:
    names = HEADING.removesuffix(",requestId").split(",")
    row = dict(zip(names, CHARGED.split(","), strict=False))
    given = [{**row, "inferenceDetails": {"requestId": "r-1", **details}} for details in ({}, more)]
    with pytest.raises(StatementError, match=CHARGED_AGAIN):
        statement(form(given, tmp_path), account="acme", month="2026-10", tables=tables)
    given[1]["inferenceDetails"] = {"requestId": "r-2", **more}
    assert str(statement(form(given, tmp_path), account="acme", month="2026-10", tables=tables).payable) == "8.00"


def test_details_that_are_text_are_not_left_out_in_silence(tmp_path: Path, tables: Path) -> None:
    heading = HEADING.replace("requestId", "inferenceDetails")
    with pytest.raises(SimulationError, match="column 'inferenceDetails' is VARCHAR, and must be an object"):
        made(tmp_path, tables, CHARGED.replace("r-1", "{'requestId': 'r-1'}"), heading=heading)


def test_nanoseconds_are_of_their_month(tables: Path) -> None:
    frame = pandas.read_csv(StringIO(f"{HEADING}\n{CHARGED}"))
    frame["timestamp"] = pandas.to_datetime(["2026-10-31T23:59:59.999999999"]).astype("datetime64[ns]")
    assert str(statement(frame, account="acme", month="2026-10", tables=tables).payable) == "4.00"


def test_terms_of_the_month_are_over_booked_rows_too(tmp_path: Path) -> None:
    terms = "monthly:\n  - {included: 1, unit: mtoken}\n  - {minimum: 10, currency: USD}\n"
    tables = write_tables(tmp_path / "tables", monthly=terms)
    found = made(tmp_path, tables, f"2026-10-02T00:00:00Z,{INPUT},4,3,-12,USD,scribe,r-1")
    assert [(line.kind, line.amount) for line in found.terms] == [("included", -4), ("minimum", 2)]
    # A part of a charge counts too where the row with its units is not in the usage.
    part = made(tmp_path, tables, f"2026-10-02T00:00:00Z,{INPUT},4,0,-3,USD,scribe,r-1")
    assert [(line.kind, line.amount) for line in part.terms] == [("included", 0), ("minimum", 7)]
    video = "2026-10-02T00:00:00Z,reel-duration-rate-5s,0.17,1,-0.17,USD,reel,r-2"
    with_clips = "monthly:\n  - {included: 1, unit: video_second}\n"
    tables = write_tables(tmp_path / "clips", monthly=with_clips)
    with pytest.raises(StatementError, match="a video in the ledger has its total alone"):
        made(tmp_path, tables, video)


@pytest.mark.parametrize(
    "term", ["{included: 1, unit: mtoken}", "{graduated: [{up_to: 1, rate: 0}, {percent: 0%}], unit: mtoken}"]
)
def test_the_minimum_in_a_ledger_is_a_line_of_its_own_that_terms_of_units_leave(tmp_path: Path, term: str) -> None:
    """Of requests of 0.04 and 0.40 that cost at least 0.50 each, tokens are free, and what the minimum added stays."""
    words = WORDS.replace("rounding: none", "minimum: 0.5\n        rounding: none")
    tables = write_tables(tmp_path / "tables", monthly=f"monthly:\n  - {term}\n", words=words)
    card, entries = load_rate_card(tables), list[LedgerEntry]()
    for request, tokens in (("r-1", 10_000), ("r-2", 100_000)):
        moment = datetime(2026, 10, 20, tzinfo=UTC)
        quote = card.at(moment).rate({"model": "scribe", "usage": {"prompt_tokens": tokens, "completion_tokens": 0}})
        entries += quote.ledger_entries(timestamp=moment, request_id=request)
    file = tmp_path / "ledger.csv"
    file.write_text(ledger_csv(entries), encoding="utf-8")
    found = statement(file, account="acme", month="2026-10", tables=tables)
    assert [(line.rated.sku, line.rated.unit, line.rated.unit_rate, line.quantity) for line in found.lines] == [
        (INPUT, "mtoken", Decimal(4), Decimal("0.11")),
        ("scribe-minimum", "minimum", Decimal(1), Decimal("0.56")),
    ]
    assert (found.charges, str(found.payable)) == (Decimal(1), "0.56")


@pytest.mark.parametrize("day", ["2026-10-09", "2026-09-09"])
def test_a_refund_of_what_was_free_pays_nothing_back(tmp_path: Path, day: str) -> None:
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 2, unit: mtoken}\n")
    rows = (
        f"{day}T00:00:00Z,{INPUT},4,2,-8,USD,scribe,free",
        f"{day}T01:00:00Z,{INPUT},4,3,-12,USD,scribe,paid",
        f"2026-10-20T00:00:00Z,{INPUT},4,0,8,USD,scribe,free",
        f"2026-10-21T00:00:00Z,{INPUT},4,0,5,USD,scribe,paid",
    )
    found = made(tmp_path, tables, *rows)
    words = [(line.words, line.amount) for line in found.terms if line.kind.startswith("refunds")]
    of = "" if day > "2026-10" else " of earlier months"
    assert words == [(f"refunds{of}: what terms had taken off the refunded requests", 8)]
    assert str(found.payable) == ("7.00" if day > "2026-10" else "-5.00")


def test_a_refund_needs_each_row_of_the_month_in_which_its_request_was_charged(tmp_path: Path) -> None:
    """A row that cannot be read may have used up what was included, so that the request was paid for."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 1, unit: mtoken}\n")
    rows = (
        f"2026-09-02T00:00:00Z,{INPUT},4,1,-4,XXQ,scribe,r-0",
        f"2026-09-03T00:00:00Z,{INPUT},4,1,-4,USD,scribe,r-1",
        f"2026-10-03T00:00:00Z,{INPUT},4,0,4,USD,scribe,r-1",
    )
    with pytest.raises(StatementError, match=r"for 2026-09: 1 row without a price\s+1 row of scribe: currency"):
        made(tmp_path, tables, *rows)


def test_a_refund_needs_no_row_of_a_later_month(tmp_path: Path) -> None:
    """A request of November that was refunded, too, and a row that cannot be read, are of that month alone."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 1, unit: mtoken}\n")
    later = (row.replace("r-1", "r-2").replace("2026-10", "2026-11") for row in (CHARGED, BACK))
    unread = f"2026-11-04T00:00:00Z,{INPUT},4,1,-4,XXQ,scribe,r-3"
    assert str(made(tmp_path, tables, CHARGED, BACK, *later, unread).payable) == "0.00"


def test_a_line_that_cost_nothing_is_no_refund_of_its_request(tmp_path: Path) -> None:
    """So the month of the request, which has a row that cannot be read, does not matter later."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 1, unit: mtoken}\n")
    earlier = CHARGED.replace("10-02", "09-02")
    free = earlier.replace(f"{INPUT},4,1,-4", "scribe-llm-cache-input-mtoken,0,1,0")
    unread = f"2026-09-04T00:00:00Z,{INPUT},4,1,-4,XXQ,scribe,r-3"
    assert str(made(tmp_path, tables, earlier, free, unread, CHARGED.replace("r-1", "r-2")).payable) == "0.00"


@pytest.mark.parametrize("day", ["2026-10-09", "2026-09-09"])
@pytest.mark.parametrize(("kind", "first", "second"), [("graduated", 3, 6), ("volume", 9, 6)])
def test_a_refund_pays_back_what_its_request_paid_in_its_tiers(
    tmp_path: Path, kind: str, first: int, second: int, day: str
) -> None:
    """Of graduated tiers the first request paid 2 x 4 + 1 x 1 = 9 of 12, and the second 2 x 1 = 2 of 8."""
    tiers = f"monthly:\n  - {{{kind}: [{{up_to: 2, percent: 0%}}, {{rate: 1}}], unit: mtoken}}\n"
    tables = write_tables(tmp_path / "tables", monthly=tiers)
    rows = (
        f"{day}T00:00:00Z,{INPUT},4,3,-12,USD,scribe,first",
        f"{day}T01:00:00Z,{INPUT},4,2,-8,USD,scribe,second",
    )
    for request, booked, taken_off in (("first", 12, first), ("second", 8, second)):
        found = made(tmp_path, tables, *rows, f"2026-10-20T00:00:00Z,{INPUT},4,0,{booked},USD,scribe,{request}")
        assert [line.amount for line in found.terms if line.kind.startswith("refunds")] == [taken_off]


@pytest.mark.parametrize(
    ("term", "payable"),
    [
        ("{included: 1, unit: mtoken}", "16.00"),
        ("{included: 2, unit: mtoken}", "12.00"),
        ("{included: 9, currency: USD}", "11.00"),
        ("{graduated: [{up_to: 1, percent: 0%}, {rate: 2}], unit: mtoken}", "12.00"),
        ("{graduated: [{up_to: 4, rate: 1}, {percent: 0%}], unit: mtoken}", "8.00"),
        ("{graduated: [{up_to: 4, factor: 0.5}, {percent: 0%}], unit: mtoken}", "12.00"),
        ("{volume: [{rate: 1}], unit: mtoken}", "5.00"),
        ("{volume: [{percent: -50%}], unit: mtoken}", "10.00"),
    ],
)
def test_a_charge_that_two_balances_paid_has_the_terms_of_one(tmp_path: Path, term: str, payable: str) -> None:
    """Two charges of 8 and 12 for 2 and 3 units, of which CREDITS paid 3 and 1; a month before, dollars paid all."""
    tables = write_tables(tmp_path / "tables", monthly=f"monthly:\n  - {term}\n")
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    rows = (
        f"2026-09-02T00:00:00Z,{INPUT},4,2,-8,USD,scribe,r-1",
        f"2026-09-03T00:00:00Z,{INPUT},4,3,-12,USD,scribe,r-2",
        f"2026-10-02T00:00:00Z,{INPUT},4,2,-6,CREDITS,scribe,r-3",
        f"2026-10-02T00:00:00Z,{INPUT},4,0,-5,USD,scribe,r-3",
        f"2026-10-03T00:00:00Z,{INPUT},4,0,-2,CREDITS,scribe,r-4",
        f"2026-10-03T00:00:00Z,{INPUT},4,3,-11,USD,scribe,r-4",
    )
    # Where a further row stands in the file matters to no term.
    for given in (rows, rows[::-1])[: 2 if "included: 1" in term else 1]:
        found = made(tmp_path, tables, *given)
        assert (found.charges, str(found.payable), found.exact) == (20, payable, Decimal(payable))
        assert (found.change.before, found.change.after) == (found.exact, found.exact)


def test_a_term_that_ends_within_a_request_is_the_same_of_usage_and_of_its_ledger(tmp_path: Path) -> None:
    """0.3 million tokens are free: the 0.1 from the cache, and of the input the first 0.2, in the order of SKUs."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 0.3, unit: mtoken}\n")
    when, counts = "2026-10-02T08:00:00+00:00", {"prompt_tokens": 500_000, "completion_tokens": 100_000}
    used = {"type": "text", "model": "scribe", "usage": {**counts, "prompt_tokens_details": {"cached_tokens": 100_000}}}
    quote = load_rate_card(tables).at(datetime.fromisoformat(when)).rate(used)
    ledger, usage = tmp_path / "ledger.csv", tmp_path / "usage.csv"
    rows = quote.ledger_entries(timestamp=datetime.fromisoformat(when), request_id="r-1")
    ledger.write_text(ledger_csv(rows), encoding="utf-8")
    heading = "type,model,timestamp,account,prompt_tokens,completion_tokens,cached_tokens"
    usage.write_text(f"{heading}\ntext,scribe,{when},acme,500000,100000,100000\n", encoding="utf-8")
    found = [statement(file, account="acme", month="2026-10", tables=tables) for file in (ledger, usage)]
    free = -(Fraction("0.1") * Fraction("0.3") + Fraction("0.2") * Fraction("3.3"))
    assert [[line.amount for line in each.terms] for each in found] == [[free], [free]]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_charges_of_usage_and_their_ledger_come_to_the_same(tmp_path: Path, tables: Path, form: str) -> None:
    card = load_rate_card(tables)
    bodies = [
        (
            "2026-10-02T08:00:00+00:00",
            {"type": "text", "model": "scribe", "prompt_tokens": 1234, "completion_tokens": 7},
        ),
        ("2026-10-20T08:00:00+00:00", {"type": "speech", "model": "voice", "characters": 4321}),
    ]
    entries: list[LedgerEntry] = []
    for number, (when, body) in enumerate(bodies):
        moment = datetime.fromisoformat(when)
        usage = {"usage": {key: body.pop(key) for key in list(body) if "tokens" in key}, **body}
        quote = card.at(moment).rate(usage if usage["usage"] else body)
        entries += quote.ledger_entries(timestamp=moment, request_id=f"r-{number}")
    quote = card.at(moment).quote_video({"model": "reel", "duration": "5s"})
    entries += quote.ledger_entries(timestamp=moment, request_id="r-9")
    file = tmp_path / f"ledger.{form}"
    file.write_text(ledger_csv(entries) if form == "csv" else ledger_json(entries), encoding="utf-8")
    found = statement(file, account="acme", month="2026-10", tables=tables)
    assert found.charges == -sum(entry.amount for entry in entries)
