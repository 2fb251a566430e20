"""A statement as cost and usage of FOCUS 1.3, held against the published rules of its columns.

The rules of 1.3 are written here. Its published validator (2.2.1) brings those of 1.2, needs Python 3.12, and numpy
below 2, so it has an environment of its own: `FOCUS_VALIDATOR` names its program, and a test holds the file against it
(`make focus`).
"""

import csv
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from statement_tables import rows, write_rows, write_tables
from test_booked_rows import HEADING, INPUT, LIMITS, export
from test_of_contracts import ACME, contract

from ratecard.base.money import ISO_4217
from ratecard.statements import Statement, StatementError, statement
from ratecard.statements.focus import COSTS, DECIMALS, FOCUS_COLUMNS, focus_rows, write_focus
from ratecard.statements.report import tables_of, write_statement
from ratecard.tables.monthly import COMMITMENT

MANDATORY = {
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd"),
    *("BillingPeriodStart", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodEnd"),
    *("ChargePeriodStart", "ContractedCost", "EffectiveCost", "HostProviderName", "InvoiceIssuerName", "ListCost"),
    *("PricingQuantity", "PricingUnit", "ServiceCategory", "ServiceName", "ServiceProviderName"),
    # Columns that are deprecated in 1.3, but still mandatory.
    *("ProviderName", "PublisherName"),
}
# Columns for services that publish unit prices, negotiate prices, measure usage, or price in virtual currencies.
CONDITIONAL = {
    *("ConsumedQuantity", "ConsumedUnit", "ContractedUnitPrice", "ListUnitPrice", "PricingCategory"),
    *("PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost"),
    *("PricingCurrencyListUnitPrice", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "ContractApplied"),
    # Columns that are recommended.
    *("ChargeFrequency", "InvoiceId", "ServiceSubcategory"),
}
NEVER_NULL = MANDATORY - {"ChargeClass", "PricingQuantity", "PricingUnit"} | {"PricingCurrency"}
OF_A_PRICE: tuple[str, ...] = (
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedUnitPrice",
    "ListUnitPrice",
    "PricingCategory",
)
OF_A_PRICE += ("PricingQuantity", "PricingUnit", "SkuId")
UNIT = re.compile(r"[A-Za-z][A-Za-z0-9]*( [A-Za-z][A-Za-z0-9]*)*")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def check(found: Statement, made: Sequence[Mapping[str, Any]]) -> None:
    """Hold rows against the published rules."""
    assert set(FOCUS_COLUMNS) >= MANDATORY | CONDITIONAL
    assert all(re.fullmatch(r"(x_)?([A-Z][a-z]*)+", name) for name in FOCUS_COLUMNS)
    for row in made:
        assert all(row[name] is not None and row[name] != "" for name in NEVER_NULL), row
        assert row["ChargeCategory"] in ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
        assert row["ChargeClass"] in (None, "Correction")
        assert row["ChargeFrequency"] in ("One-Time", "Recurring", "Usage-Based")
        assert (row["ServiceCategory"], row["ServiceSubcategory"]) == ("AI and Machine Learning", "Generative AI")
        # A statement is not an invoice.
        assert row["InvoiceId"] is None
        assert all(row[name] is None or UNIT.fullmatch(row[name]) for name in ("PricingUnit", "ConsumedUnit"))
        details = json.loads(row["SkuPriceDetails"] or "{}")
        assert all(name.startswith("x_") for name in details)
        assert not (details and row["SkuPriceId"] is None)
        applied = json.loads(row["ContractApplied"] or '{"Elements": []}', parse_float=Decimal)["Elements"]
        for each in applied:
            assert {name.removeprefix("Contract") for name in each} == {
                *("ID", "CommitmentID", "CommitmentAppliedCost", "CommitmentAppliedQuantity", "CommitmentAppliedUnit")
            }
            assert each["ContractCommitmentAppliedCost"] == -row["BilledCost"]
        assert bool(applied) == row["ChargeDescription"].startswith("commitment:")
        assert row["BillingCurrency"] in ISO_4217
        for name in ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"):
            assert INSTANT.fullmatch(row[name])
        assert row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]
        assert all(row[name] is None or isinstance(row[name], Decimal) for name in DECIMALS)
        if row["SkuPriceId"] is None:
            assert all(row[name] is None for name in OF_A_PRICE), row
        if row["ChargeCategory"] == "Usage":
            assert all(row[name] is not None for name in (*OF_A_PRICE, "SkuPriceId")), row
            assert row["PricingCategory"] == "Standard"
        else:
            assert row["ConsumedQuantity"] is None
        for cost, price in (("ListCost", "ListUnitPrice"), ("ContractedCost", "ContractedUnitPrice")):
            if row[price] is not None and row["PricingQuantity"] is not None:
                assert row[price] >= 0
                assert row[cost] == row[price] * row["PricingQuantity"], row
        if row["ChargeCategory"] == "Credit":
            assert row["ContractedCost"] == row["BilledCost"]
    sums = {name: sum(row[name] for row in made) for name in COSTS}
    drawn = sum((line.amount for line in found.terms if line.kind == COMMITMENT), Fraction(0))
    assert sums["BilledCost"] == found.payable
    assert Fraction(sums["EffectiveCost"]) == Fraction(found.payable) - drawn


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("focus")
    return write_rows(folder / "usage.csv", rows(5, 300)), contract(folder, ACME)


def test_usage_of_a_contract(places: tuple[Path, Path]) -> None:
    usage, tables = places
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    made = focus_rows(found, "Inference Ltd")
    check(found, made)
    usage_rows = [row for row in made if row["ChargeCategory"] == "Usage"]
    assert sum(row["ListCost"] for row in usage_rows) > sum(row["ContractedCost"] for row in usage_rows)
    assert {
        row["ContractedUnitPrice"] / row["ListUnitPrice"] for row in usage_rows if row["ServiceName"] == "text"
    } == {Decimal("0.8")}
    listed = sum(row["ListCost"] for row in made if row["ChargeCategory"] != "Credit")
    assert listed == found.list_total
    details = {row["SkuId"]: (row["SkuMeter"], json.loads(row["SkuPriceDetails"] or "{}")) for row in usage_rows}
    assert details == {
        "reel-duration-rate-5s": ("video", {}),
        "reel-duration-rate-10s": ("video", {}),
        "scribe-llm-input-mtoken": ("tokens", {"x_context": "base", "x_tokens": "input"}),
        "scribe-llm-output-mtoken": ("tokens", {"x_context": "base", "x_tokens": "output"}),
        "scribe-llm-cache-input-mtoken": ("tokens", {"x_context": "base", "x_tokens": "cache_input"}),
        "voice-mcharacter": ("speech", {}),
    }


def test_all_terms(tmp_path: Path) -> None:
    usage, tables = write_rows(tmp_path / "usage.csv", rows(7, 700)), write_tables(tmp_path / "tables")
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    made = focus_rows(found, "Inference Ltd")
    check(found, made)
    assert {row["ChargeCategory"] for row in made} == {"Usage", "Credit", "Adjustment"}
    assert {row["ChargeDescription"].partition(":")[0] for row in made if row["SkuId"] is None} == {
        *("included", "graduated", "volume", "commitment", "minimum", "rounding")
    }


def test_each_commitment_has_an_id_of_its_own_that_stays_when_the_file_is_edited(tmp_path: Path) -> None:
    usage = write_rows(tmp_path / "usage.csv", rows(7, 50))
    terms = (
        f"{{commitment: 5, currency: USD, for: {{type: {type_}}}, from: 2026-10-01}}" for type_ in ("text", "speech")
    )
    line, ids = f"monthly: [{', '.join(terms)}]\n", []
    for number, monthly in enumerate((line, f"# A remark.\n{line}")):
        tables = write_tables(tmp_path / f"tables{number}", monthly=monthly)
        made = focus_rows(statement(usage, account="acme", month="2026-10", tables=tables), "Inference Ltd")
        applied = [json.loads(row["ContractApplied"])["Elements"][0] for row in made if row["ContractApplied"]]
        ids.append([element["ContractCommitmentID"] for element in applied])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2


def of_booked(tmp_path: Path, tables: Path, *rows: str) -> tuple[Statement, Sequence[Mapping[str, Any]]]:
    """The statement of booked rows, and its checked rows of FOCUS."""
    found = statement(export(tmp_path, *rows, heading=HEADING), account="acme", month="2026-10", tables=tables)
    made = focus_rows(found, "Inference Ltd")
    check(found, made)
    return found, made


def test_an_amount_that_no_decimal_holds_has_12_places(tmp_path: Path) -> None:
    """Of 3 units for 10 dollars one is included, and 6.67 dollars are to be paid."""
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 1, unit: mtoken}\n")
    _, made = of_booked(tmp_path, tables, f"2026-10-02T00:00:00Z,{INPUT},4,3,-10,USD,scribe,r-1")
    assert [str(row["BilledCost"]) for row in made] == ["10", "-3.333333333333", "0.003333333333"]


def test_balances_are_virtual_currencies(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    booked = f"2026-10-02T00:00:00Z,{INPUT},4,2,-16,CREDITS,scribe,r-1"
    refund = f"2026-10-03T00:00:00Z,{INPUT},4,0,2,CREDITS,scribe,r-1"
    _, made = of_booked(tmp_path, tables, booked, refund)
    credits, back = made
    assert (credits["PricingCurrency"], credits["BillingCurrency"]) == ("CREDITS", "USD")
    assert (credits["PricingCurrencyEffectiveCost"], credits["EffectiveCost"]) == (16, 8)
    assert (credits["PricingCurrencyListUnitPrice"], credits["ListUnitPrice"]) == (8, 4)
    assert (back["ChargeCategory"], back["BilledCost"]) == ("Credit", -1)


def test_a_charge_that_two_balances_paid_and_what_is_paid_back_to_one(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    (tables / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    booked = (
        f"2026-10-02T00:00:00Z,{INPUT},4,2,-6,CREDITS,scribe,r-1",
        f"2026-10-02T00:00:00Z,{INPUT},4,0,-5,USD,scribe,r-1",
        f"2026-10-03T00:00:00Z,{INPUT},4,0,4,CREDITS,scribe,r-1",
    )
    _, made = of_booked(tmp_path, tables, *booked)
    paid = {
        (row["ChargeCategory"], row["PricingCurrency"]): (row["BilledCost"], row["PricingCurrencyEffectiveCost"])
        for row in made
    }
    assert paid == {("Usage", "CREDITS"): (3, 6), ("Usage", "USD"): (5, 5), ("Credit", "CREDITS"): (-2, -4)}


def test_a_refund_of_what_an_earlier_month_charged_is_a_correction(tmp_path: Path) -> None:
    monthly = "monthly:\n  - {volume: [{percent: -50%}], unit: mtoken}\n"
    tables = write_tables(tmp_path / "tables", monthly=monthly)
    booked = (
        f"2026-09-30T23:59:59Z,{INPUT},4,2,-8,USD,scribe,r-1",
        f"2026-10-01T00:00:00Z,{INPUT},4,2,-8,USD,scribe,r-2",
        *(f"2026-10-03T00:00:00Z,{INPUT},4,0,{back},USD,scribe,{of}" for of, back in (("r-1", 2), ("r-2", 1))),
        # Refunds of a charge that is not in the usage, and of an unnamed one.
        f"2026-10-04T00:00:00Z,{INPUT},4,0,3,USD,scribe,r-0",
        f"2026-10-05T00:00:00Z,{INPUT},4,0,5,USD,scribe,",
    )
    found, made = of_booked(tmp_path, tables, *booked)
    corrected = [(row["BilledCost"], row["ChargeClass"]) for row in made if row["BilledCost"]]
    assert sorted(corrected, key=lambda pair: pair[0]) == [
        *((-6, None), (-5, "Correction"), (-4, None), (Decimal("0.5"), None), (1, "Correction"), (8, None))
    ]
    corrections = [line for line in tables_of(found)[2].rows if "(of an earlier month)" in str(line[0])]
    assert [line[4] for line in corrections] == [-5]
    assert [line["amount"] for line in found.to_dict()["refunds"] if line.get("words")] == ["-5"]


def test_files_have_every_digit(places: tuple[Path, Path], tmp_path: Path) -> None:
    usage, tables = places
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    made = focus_rows(found, "Inference Ltd")
    for ending in ("csv", "parquet"):
        write_statement(found, tmp_path / f"acme.focus.{ending}", issuer="Inference Ltd")
    with (tmp_path / "acme.focus.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    read = parquet.read_table(tmp_path / "acme.focus.parquet").to_pylist()
    assert len(listed) == len(read) == len(made)
    for row, cells, values in zip(made, listed, read, strict=True):
        assert list(cells) == list(values) == list(FOCUS_COLUMNS)
        assert all(values[name] == row[name] for name in FOCUS_COLUMNS)
        assert all(NUMBER.fullmatch(cells[name]) for name in DECIMALS if row[name] is not None)
        assert all(Decimal(cells[name]) == row[name] for name in DECIMALS if row[name] is not None)
        assert all((cells[name] or None) == row[name] for name in FOCUS_COLUMNS if name not in DECIMALS)


def test_a_month_without_usage_is_a_file_without_rows(places: tuple[Path, Path], tmp_path: Path) -> None:
    usage, tables = places
    found = statement(usage, account="nobody", month="2026-10", tables=tables)
    for ending in ("csv", "parquet"):
        write_focus(found, "Inference Ltd", tmp_path / f"none.{ending}")
    assert (tmp_path / "none.csv").read_text(encoding="utf-8") == ",".join(FOCUS_COLUMNS) + "\n"
    assert parquet.read_table(tmp_path / "none.parquet").num_rows == 0


def test_the_issuer_has_to_be_named(places: tuple[Path, Path], tmp_path: Path) -> None:
    usage, tables = places
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    with pytest.raises(StatementError, match=r"FOCUS says who sends the bill\. Name it: --issuer NAME"):
        write_statement(found, tmp_path / "acme.focus.csv")
    assert not (tmp_path / "acme.focus.csv").exists()


# Failures of the validator for rules that a file of 1.3 cannot pass, or that it checks without their condition.
NOT_OURS = {
    # Checked even for rows that are not usage.
    *("ConsumedQuantity-C-000-C", "ConsumedQuantity-C-003-C", "ConsumedQuantity-C-004-C"),
    *("ConsumedQuantity-C-005-C", "ConsumedQuantity-C-006-C"),
    # A statement is not an invoice, so it has no number of an invoice.
    "InvoiceId-C-005-C",
}
APPLICABLE = (
    "ACCOUNT_NAMING_SUPPORTED,NEGOTIATED_PRICING_SUPPORTED,PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED,"
    "PUBLIC_PRICE_LIST_SUPPORTED,UNIT_PRICING_SUPPORTED,USAGE_MEASUREMENT_SUPPORTED,VIRTUAL_CURRENCY_SUPPORTED"
)


@pytest.mark.skipif("FOCUS_VALIDATOR" not in os.environ, reason="FOCUS_VALIDATOR names no program")
def test_the_published_validator_finds_no_fault(tmp_path: Path) -> None:
    usage, tables = write_rows(tmp_path / "usage.csv", rows(7, 700)), write_tables(tmp_path / "tables")
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    write_statement(found, tmp_path / "acme.focus.csv", issuer="Inference Ltd")
    program = Path(os.environ["FOCUS_VALIDATOR"]).resolve()
    # The validator reads a file of currencies from the current folder.
    (package,) = program.parent.parent.glob("lib/python*/site-packages")
    words = [str(program), "--block-download", "--validate-version", "1.2.0.1", "--applicability-criteria", APPLICABLE]
    words += ["--data-file", str(tmp_path / "acme.focus.csv")]
    done = subprocess.run(words, cwd=package, capture_output=True, text=True, check=False)
    said = dict(re.findall(r"(\S+): (PASS|FAIL)  \(", done.stdout + done.stderr))
    assert said.get("BilledCost-C-000-M") == "PASS", done.stdout + done.stderr
    assert {name for name, result in said.items() if result == "FAIL"} - NOT_OURS == set()
