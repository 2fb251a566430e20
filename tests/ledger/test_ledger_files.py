"""Rows written as JSON and as CSV, and read again: the same, to the digit."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_rows import ROWS, all_rows
from nightly import examples
from ratecard import PriceBook
from ratecard.ledger import iter_ledger, ledger_csv, ledger_json, read_ledger
from ratecard.line_items import InferenceDetails, LedgerEntry

Write = Callable[[Iterable[LedgerEntry]], str]
WRITERS: list[Write] = [ledger_json, ledger_csv]
HEADING = (
    "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,"
    "requestId,inferenceExecutionTime,promptTokens,completionTokens\n"
)


@settings(max_examples=examples(40, nightly=200))
@given(rows=st.lists(ROWS, max_size=4))
def test_what_was_written_is_read(rows: list[LedgerEntry]) -> None:
    """At once, and from a file one by one."""
    for write in WRITERS:
        written = write(rows)
        found = read_ledger(written)
        assert found == tuple(rows)
        assert write(found) == written
        with NamedTemporaryFile() as file:
            Path(file.name).write_bytes(written.encode())
            assert tuple(iter_ledger(file.name)) == found
        for one, other in zip(found, rows, strict=True):
            for name in ("price_per_unit", "unit", "amount"):
                assert format(getattr(one, name), "f") == format(getattr(other, name), "f")


@pytest.mark.parametrize("write", WRITERS)
def test_the_rows_of_every_type_of_quote(prices: PriceBook, write: Write) -> None:
    rows = all_rows(prices)
    assert list(read_ledger(write(rows))) == rows
    assert list(read_ledger(write(rows).encode())) == rows
    assert list(read_ledger(b"\xef\xbb\xbf" + write(rows).encode())) == rows
    assert list(read_ledger("\ufeff" + write(rows))) == rows
    assert list(read_ledger(write(iter(rows)))) == rows


def test_json_is_a_page_of_numbers_with_all_their_digits(prices: PriceBook) -> None:
    rows = all_rows(prices)
    page = json.loads(ledger_json(rows, next_cursor="abc"), parse_float=Decimal, parse_int=Decimal)
    assert page["nextCursor"] == "abc"
    assert [row["amount"] for row in page["data"]] == [row.amount for row in rows]
    assert ledger_json([]) == '{"object":"list","data":[],"nextCursor":null}', "as every list of the API"
    former = json.dumps({"data": json.loads(ledger_json(rows[:1]))["data"], "nextCursor": None})
    assert read_ledger(former) == tuple(rows[:1]), "of an earlier release"
    exact = replace(rows[0], amount=Decimal("-0.1234567890123456789012345678901234567890"), details=None)
    assert '"amount":-0.1234567890123456789012345678901234567890,' in ledger_json([exact])
    assert '"amount":-0.000000625,' in ledger_json([replace(exact, amount=Decimal("-6.25E-7"))])
    assert '"inferenceDetails":null' in ledger_json([exact])
    for space in ("", "\n", "\n\n"):
        assert read_ledger(space + "[]") == ()


def test_csv_is_read_by_any_reader(prices: PriceBook) -> None:
    row = all_rows(prices)[0]
    assert ledger_csv([]) == HEADING
    assert ledger_csv([row]) == HEADING + (
        "2026-09-29T12:30:01.250000+00:00,claude-opus-4-6-llm-input-mtoken,6,0.0005,-0.003,USD,claude-opus-4-6,"
        "chatcmpl-1,5,5500,700\n"
    )
    noted = replace(row, notes='a "quoted", noté\r\nline', details=InferenceDetails("r", None))
    [read] = csv.DictReader(io.StringIO(ledger_csv([noted]), newline=""))
    assert (read["notes"], read["requestId"], read["promptTokens"]) == ('a "quoted", noté\r\nline', "r", "")
    assert ledger_csv([replace(row, notes="a\rb")]).count('"') == 2


REAL = {
    "timestamp": "2026-09-29T12:30:01Z",
    "sku": "zai-org-glm-5-1-llm-output-mtoken",
    "pricePerUnitUsd": 5.5,
    "units": 0.000227,
    "amount": -0.0012485,
    "currency": "DIEM",
    "notes": "API Inference",
    "inferenceDetails": {"requestId": "r", "inferenceExecutionTime": 5, "promptTokens": 10, "completionTokens": 227},
}


@pytest.mark.parametrize(
    "changed", [{}, {"unit": None}, {"unit": 0.000227, "units": None}, {"unit": 0.000227, "units": "2.27e-4"}]
)
def test_the_count_may_be_called_unit_or_units(changed: dict[str, float | None]) -> None:
    for content in (json.dumps([REAL | changed]), json.dumps({"data": [REAL | changed], "nextCursor": "x", "more": 1})):
        [row] = read_ledger(content)
        assert (row.unit, row.amount) == (Decimal("0.000227"), Decimal("-0.0012485"))
        assert row.details == InferenceDetails("r", 5, 10, 227)
        assert '"unit":0.000227' in ledger_json([row]), "written as unit"
    lines = ledger_csv([row])
    assert read_ledger(lines.replace(",unit,", ",units,")) == (row,)


def test_what_may_be_missing() -> None:
    bare = {name: value for name, value in REAL.items() if name not in ("notes", "inferenceDetails")}
    for row in (bare, {**bare, "notes": None, "inferenceDetails": None}, {**bare, "inferenceDetails": {}}):
        [read] = read_ledger(json.dumps([row]))
        assert (read.notes, read.details) == ("", None)
    partly = {**bare, "inferenceDetails": {"requestId": None, "promptTokens": None, "completionTokens": ""}}
    assert read_ledger(json.dumps([partly]))[0].details == InferenceDetails("", None)
    columns = "timestamp,sku,pricePerUnitUsd,units,amount,currency\n"
    [read] = read_ledger(columns + "2026-10-01,s,1,2,-2,USD\n")
    assert (read.unit, read.notes, read.details) == (Decimal(2), "", None)
    assert [
        read_ledger(columns + f"2026-10-01,s,{number},2,-2,USD\n")[0].price_per_unit for number in ("1.10", "1e-7")
    ] == [
        Decimal("1.10"),
        Decimal("1E-7"),
    ]
    strings = {**REAL, "amount": "-1.10", "units": "2"}
    assert str(read_ledger(json.dumps([strings]))[0].amount) == "-1.10"
