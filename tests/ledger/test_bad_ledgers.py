"""A ledger that cannot be read is refused with its row and its field."""

import csv
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import RateCardError
from ratecard.ledger import LedgerError, ledger_csv, ledger_json, read_ledger
from ratecard.line_items import InferenceDetails

ROW = {"timestamp": "2026-10-01", "sku": "s", "pricePerUnitUsd": 1, "unit": 2, "amount": -2, "currency": "USD"}
HEADING = "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,requestId,promptTokens\n"
FIELDS = ("timestamp", "sku", "pricePerUnitUsd", "unit", "amount", "currency", "notes")


def refusal(content: str | bytes) -> str:
    with pytest.raises(LedgerError) as caught:
        read_ledger(content)
    assert isinstance(caught.value, RateCardError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the heading has no timestamp, sku, pricePerUnitUsd, unit, amount, currency"),
        ("hello", "the heading has no timestamp, sku, pricePerUnitUsd, unit, amount, currency"),
        ("timestamp,sku,pricePerUnitUsd,units,currency\n", "the heading has no amount"),
        (HEADING + "2026-10-01,s,1,2,,,,,\n", "row 1: amount is missing"),
        (HEADING + "2026-10-01,s,1,2,-2,USD,,,\nt,,1,2,-2,USD,,,\n", "row 2: sku is missing"),
        (HEADING + "2026-10-01,s,1,2,-2,USD,n,r,5,surplus\n", "row 1 has more cells than the heading"),
        (HEADING + "2026-10-01,s,1,2,-2,USD,n", "row 1 has fewer cells than the heading. Is the file cut off?"),
        (HEADING + "2026-10-01,s,one,2,-2,USD,,,\n", "row 1: pricePerUnitUsd 'one' is not a number"),
        (HEADING + "yesterday,s,1,2,-2,USD,,,\n",
         "row 1: timestamp 'yesterday' is not an instant. Write it like 2026-10-01T12:00:00Z"),
        (HEADING + "2026-10-01,s,1,2,NaN,USD,,,\n", "row 1: amount 'NaN' is not a number"),
        (HEADING + "2026-10-01,s,1,Infinity,-2,USD,,,\n", "row 1: unit 'Infinity' is not a number"),
        (HEADING + "2026-10-01,s,1,1e999999,-2,USD,,,\n", "row 1: unit '1e999999' is not a number"),
        (HEADING + f"2026-10-01,s,1,2,-1.{'1' * 402},USD,,,\n", f"row 1: amount '-1.{'1' * 77}' is not a number"),
        (HEADING + '2026-10-01,s,"1,5",2,-2,USD,,,\n', "row 1: pricePerUnitUsd '1,5' is not a number"),
        (HEADING + "2026-10-01,s,1,2,-2,USD,n,r,1.5\n", "row 1: promptTokens 1.5 is not a whole number, zero or more"),
        (HEADING + "2026-10-01,s,1,2,-2,USD,n,r,-1\n", "row 1: promptTokens -1 is not a whole number, zero or more"),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        ("{", "line 1: not JSON: Expecting property name enclosed in double quotes"),
        ('{"data":\n [}', "line 2: not JSON: Expecting value"),
        ("[" * 100_000, "not JSON: it is nested too deeply"),
        ("{}", 'the page has no list "data"'),
        ('{"data": {}}', 'the page has no list "data"'),
        ("[5]", "row 1 must be an object, not number"),
        (json.dumps([ROW, None]), "row 2 must be an object, not null"),
        (json.dumps([ROW, ROW | {"inferenceDetails": "r"}]), "row 2: inferenceDetails is not an object"),
        (json.dumps([ROW | {"inferenceDetails": [5]}]), "row 1: inferenceDetails is not an object"),
        (json.dumps([ROW | {"inferenceDetails": []}]), "row 1: inferenceDetails is not an object"),
        (json.dumps([ROW | {"inferenceDetails": 0}]), "row 1: inferenceDetails is not an object"),
        (json.dumps([ROW | {"inferenceDetails": {"requestId": 5}}]), "row 1: requestId 5 is not text"),
        (
            json.dumps([ROW | {"inferenceDetails": {"requestId": "r", "promptTokens": 0.5}}]),
            "row 1: promptTokens 0.5 is not a whole number, zero or more",
        ),
        (
            json.dumps([ROW | {"inferenceDetails": {"requestId": "r", "completionTokens": True}}]),
            "row 1: completionTokens 'True' is not a number",
        ),
        ('[{"timestamp":"2026-10-01","sku":"s","pricePerUnitUsd":1,"unit":NaN,"amount":1,"currency":"USD"}]',
         "row 1: unit 'nan' is not a number"),
    ],
    ids=map(str, range(30)),
)  # fmt: skip
def test_what_is_wrong_is_said(content: str | bytes, said: str) -> None:
    assert refusal(content) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (HEADING.replace("requestId", "request_id") + "2026-10-01,s,1,2,-2,USD,n,r,5\n", "'request_id'"),
        (json.dumps([ROW | {"inferenceDetails": {"requestID": "r"}}]), "'requestID'"),
        (json.dumps([ROW, ROW | {"Contract": "acme"}]), "'Contract'"),
    ],
)
def test_a_name_that_is_nearly_that_of_a_request_or_contract_is_refused_as_by_a_statement(
    content: str, said: str
) -> None:
    assert f": {said} is not read. Did you mean '" in refusal(content)


def test_the_details_of_a_json_row_may_be_beside_its_other_fields_as_a_simulation_reads_them() -> None:
    [row] = read_ledger(json.dumps([ROW | {"requestId": "r", "promptTokens": 5}]))
    assert row.details == InferenceDetails("r", None, 5)
    column = f"{HEADING.strip()},inferenceDetails\n2026-10-01,s,1,2,-2,USD,n,,,x\n"
    assert refusal(column) == "row 1: inferenceDetails is not an object"


def test_a_cell_beyond_the_hosts_limit_is_refused() -> None:
    before = csv.field_size_limit(100)
    try:
        said = refusal(HEADING + "2026-10-01,s,1,2,-2,USD," + "n" * 101)
    finally:
        csv.field_size_limit(before)
    assert said == "after line 1: not CSV: field larger than field limit (100)"


@pytest.mark.parametrize("field", FIELDS[:6])
def test_every_field_of_a_row_is_required(field: str) -> None:
    for wrong in ({}, {field: None}, {field: ""}):
        row = {name: value for name, value in ROW.items() if name != field} | wrong
        assert refusal(json.dumps({"data": [ROW, row]})) == f"row 2: {field} is missing"


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("given", [True, [1], {"usd": 1}])
def test_a_field_of_another_kind(field: str, given: Any) -> None:
    said = refusal(json.dumps([ROW | {field: given}]))
    assert said.startswith(f"row 1: {field} ")
    assert said.endswith(("is not text", "is not a number"))


def test_an_error_does_not_repeat_the_file() -> None:
    assert len(refusal(json.dumps([ROW | {"amount": "x" * 10_000}]))) < 200
    assert len(refusal(json.dumps([ROW | {"sku": ["x" * 10_000]}]))) < 200


@given(st.text() | st.binary() | st.text().map(lambda row: HEADING + row) | st.lists(st.text()).map(json.dumps))
def test_anything_is_read_or_refused(content: str | bytes) -> None:
    try:
        read_ledger(content)
    except LedgerError as error:
        assert str(error)


@pytest.mark.parametrize("given", ["2026-10-01 12:00:00 UTC", "2026-10-01 12:00", "2026-10-01T12:00:00.123456789+02"])
def test_an_instant_is_read_as_a_simulation_reads_it(given: str) -> None:
    assert read_ledger(json.dumps([ROW | {"timestamp": given}]))[0].timestamp == given
    for other in ("2026-W40-4", "20261001", "2026-06-31", f"{given}X"):
        assert "is not an instant" in refusal(json.dumps([ROW | {"timestamp": other}]))


@pytest.mark.parametrize("name", ["pricePerUnitUsd", "unit", "amount"])
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("1e400", "1" + "0" * 400),
        ("-9.5E+400", "-95" + "0" * 399),
        ("1e-400", "0." + "0" * 399 + "1"),
        ("12E-1", "1.2"),
        ("1E+2", "100"),
        ("+5", "5"),
        ("0e5", "0"),
    ],
)
def test_an_exponent_is_read_to_the_limit_and_written_out(name: str, given: str, written: str) -> None:
    cells = {
        "timestamp": "2026-10-01",
        "sku": "s",
        "pricePerUnitUsd": "1",
        "unit": "2",
        "amount": "-2",
        "currency": "USD",
    }
    cells[name] = given
    lines = f"{','.join(cells)}\n{','.join(cells.values())}\n"
    as_json = json.dumps([{key: value for key, value in cells.items() if key != name}])
    as_json = as_json.replace("}]", f', "{name}": {given.removeprefix("+")}}}]')
    place = list(cells).index(name)
    own = {"pricePerUnitUsd": "price_per_unit"}.get(name, name)
    for content in (lines, as_json):
        [row] = read_ledger(content)
        again = ledger_csv([row]).splitlines()[1].split(",")[place]
        assert again.rstrip("0").rstrip(".") in (written.rstrip("0").rstrip("."), written)
        assert Decimal(again) == Decimal(written) == getattr(read_ledger(ledger_json([row]))[0], own)


@pytest.mark.parametrize("given", ["1e401", "-1e401", "1e-401", "9.99e-401", "1e999999999999", "Infinity", "-NaN", ""])
def test_a_number_beyond_the_limit_is_refused(given: str) -> None:
    said = refusal(f"{HEADING}2026-10-01,s,1,{given},-2,USD,,,\n")
    assert said == ("row 1: unit is missing" if not given else f"row 1: unit '{given}' is not a number")
    if given and given[-1].isdigit():
        shown = Decimal(given) if abs(Decimal(given).adjusted()) < 10**6 else Decimal("1E+999999999999")
        said = refusal(json.dumps([ROW]).replace('"unit": 2', f'"unit": {given}'))
        assert said == f"row 1: unit '{shown}' is not a number"
