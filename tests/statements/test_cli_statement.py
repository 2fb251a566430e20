"""`ratecard statement`: what it prints and writes, what it compares, and its exit statuses."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet
from statement_tables import rows, write_rows, write_tables
from test_booked_rows import export
from test_of_contracts import ACME, contract, text

from ratecard.cli import main
from ratecard.statements import statement
from reports import small_disk

ENDINGS = ("md", "csv", "json", "html", "xlsx", "focus.csv", "focus.parquet")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    usage, tables = write_rows(tmp_path / "usage.csv", rows(5, 200)), contract(tmp_path, ACME)
    return ["statement", str(usage), "--account", "acme", "--month", "2026-10", "--tables", str(tables)]


def run(words: list[str], *more: str) -> Result:
    return CliRunner().invoke(main, [*words, *more])


def test_it_prints_lines_terms_sums_and_the_change(words: list[str]) -> None:
    done = run(words)
    assert done.exit_code == 0, done.output
    order = ["Statement of acme for 2026-10", "Lines", "contracts/acme.yaml:9", "contracts/acme.yaml:8"]
    order += [
        "Terms of the month",
        "included: 0.5 mtoken",
        "minimum: 5 USD",
        "Sums",
        "Payable",
        "Change against 2026-09",
    ]
    order += ["Price", "Volume", "Mix", "Payable: $", "At list prices the usage would be $", "Prices "]
    places = [done.stdout.index(part) for part in order]
    assert places == sorted(places)


def test_every_format_says_the_same_payable(words: list[str], tmp_path: Path) -> None:
    outs = [part for ending in ENDINGS for part in ("--out", str(tmp_path / f"acme.{ending}"))]
    done = run(words, "--issuer", "Us", *outs)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    made = statement(words[1], account="acme", month="2026-10", tables=words[-1])
    payable = str(made.payable)
    issued = json.loads((tmp_path / "acme.json").read_text(encoding="utf-8"))
    assert (issued["payable"], issued["digest"], issued["prices"]) == (payable, made.digest, list(made.digests))
    with (tmp_path / "acme.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert (listed[-1]["part"], listed[-1]["amount"]) == ("payable", payable)
    assert sum(Decimal(row["amount"]) for row in listed if row["part"] == "line") == made.charges
    assert f"**Payable: ${payable}**" in (tmp_path / "acme.md").read_text(encoding="utf-8")
    page = (tmp_path / "acme.html").read_text(encoding="utf-8")
    assert f"<p>Payable: ${payable}</p>" in page
    assert page.count("<table>") == 4
    with ZipFile(tmp_path / "acme.xlsx") as book:
        titles = [
            each.attrib["name"]
            for each in ElementTree.fromstring(book.read("xl/workbook.xml")).iter()  # noqa: S314 (written above)
            if "name" in each.attrib
        ]
    assert titles[:3] == ["Statement", "Lines", "Terms of the month"]
    assert sorted(each.name for each in tmp_path.glob(".*")) == []


def test_names_cannot_be_markup(tmp_path: Path) -> None:
    usage = write_rows(tmp_path / "usage.csv", [{**row, "account": "<b>|x"} for row in rows(5, 20)])
    words = [
        "statement",
        str(usage),
        "--account",
        "<b>|x",
        "--month",
        "2026-10",
        "--tables",
        str(contract(tmp_path, ACME)),
    ]
    done = run(words, "--out", str(tmp_path / "x.html"), "--out", str(tmp_path / "x.md"))
    assert done.exit_code == 0, done.output
    assert "<b>|x" not in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<b>|x" not in (tmp_path / "x.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum", "\t=1", "acme"])
def test_csv_runs_nothing_in_a_spreadsheet(tmp_path: Path, name: str) -> None:
    """A text has an apostrophe before it; Parquet has it as it is, and an amount below zero is a number."""
    heading = "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,account"
    booked = [f"2026-10-0{day}T00:00:00Z,{name},4,2,{amount},USD,{name},{name}" for day, amount in ((2, -8), (3, 2))]
    words = ["statement", str(export(tmp_path, *booked, heading=heading)), f"--account={name}", "--month", "2026-10"]
    words += ["--tables", str(write_tables(tmp_path / "tables", monthly=None)), f"--issuer={name}"]
    outs = [tmp_path / f"out.{ending}" for ending in ("csv", "focus.csv", "focus.parquet")]
    done = run(words, *(part for out in outs for part in ("--out", str(out))))
    assert done.exit_code == 0, done.output
    charge, refund, _ = read_csv(outs[0])
    cell = name if name == "acme" else f"'{name}"
    assert (charge["sku"], charge["model"], charge["amount"]) == (cell, cell, "8")
    assert (refund["sku"], refund["amount"]) == (cell, "-2")
    names = ("BillingAccountId", "BillingAccountName", "InvoiceIssuerName", "ProviderName", "SkuId", "SkuMeter")
    for cells in (read_csv(outs[1])[0], parquet.read_table(outs[2]).to_pylist()[0]):
        written = cell if cells["BilledCost"] == "8" else name
        assert [cells[column] for column in names] == [written] * len(names)
    assert [row["BilledCost"] for row in read_csv(outs[1])] == ["8", "-2"]


def read_csv(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_against_an_issued_statement(words: list[str], tmp_path: Path) -> None:
    issued = tmp_path / "issued.json"
    assert run(words, "--out", str(issued)).exit_code == 0
    same = run(words, "--against", str(issued))
    assert (same.exit_code, "Nothing differs" in same.stdout) == (0, True)
    signed = tmp_path / "tables" / "contracts" / "acme.yaml"
    signed.write_text(signed.read_text(encoding="utf-8").replace("-20%", "-25%"), encoding="utf-8")
    later = run(words, "--against", str(issued), "--out", str(tmp_path / "later.md"))
    assert (later.exit_code, (tmp_path / "later.md").exists()) == (1, True)
    assert "charges" in later.stdout
    assert "included: 0.5 mtoken" in later.stdout
    assert "(1)" not in later.stdout
    other = run([*words[:3], "bolt", *words[4:]], "--against", str(issued))
    assert (other.exit_code, "is of acme 2026-10 USD, and this statement of bolt" in other.stderr) == (1, True)
    over = run(words, "--against", str(issued), "--out", str(issued))
    assert (over.exit_code, "is the statement that was issued, which stays as it is" in over.stderr) == (2, True)


@pytest.mark.parametrize(
    "content",
    ["[1]", "7", '"lines"', "null", "[" * 100_000, "[" * 900 + "]" * 900, r'[{"sku": "\ud800"}]', "9" * 5_000, "[], 1"],
    ids=["list", "number", "text", "null", "open", "deep", "surrogate", "digits", "syntax"],
)
def test_what_was_not_issued_is_not_compared(words: list[str], tmp_path: Path, content: str) -> None:
    issued = tmp_path / "issued.json"
    lines = f'{{"account": "acme", "month": "2026-10", "currency": "USD", "lines": {content}}}'
    for issued_as in (content, lines):
        issued.write_text(issued_as, encoding="utf-8")
        done = run(words, "--against", str(issued))
        assert (done.exit_code, "is not a statement that was issued as .json" in done.stderr) == (1, True), done.output


def test_an_account_without_a_row_in_the_month_is_told(words: list[str]) -> None:
    done = run([*words[:3], "bolk", *words[4:]])
    assert done.exit_code == 0
    assert "The usage has no row of bolk in 2026-10. Did you mean 'bolt'?\n" in done.stdout
    assert "bolk has no contract on 2026-10-01: prices and terms of the list\n" in done.stdout
    assert "Booked amounts" not in done.stdout


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (("--month", "2026-1"), 2, "is not a month"),
        (("--out", "x.pdf"), 2, "x.pdf ends in none of .md, .html"),
        (("--out", "x.parquet"), 2, "'.parquet' is not a format of statements. Allowed: .md, .csv"),
        (("--opening-balance", "much"), 2, "'much' is not an amount"),
        (("--opening-balance", "٣"), 2, "'٣' is not an amount"),
        (("--opening-balance", "5"), 1, "an opening balance is of one commitment, and acme has none"),
        (("--currency", "usd"), 2, "currency 'usd' is not an ISO 4217 code"),
        (("--month", "20261001"), 2, "is not a month. Write it like 2026-10"),
        (("--out", "no/such/folder/x.csv"), 2, "cannot be written: no such folder"),
        (("--out", f"{'x' * 300}.json"), 2, "x.json cannot be written: File name too long"),
        (("--out", f"{'x' * 300}/x.json"), 2, "x/x.json cannot be written: File name too long"),
        (("--account", "caf\udce9"), 2, r"caf\udce9: this word is not in UTF-8"),
        (("--issuer", "caf\udce9"), 2, r"caf\udce9: this word is not in UTF-8"),
    ],
)
def test_wrong_use(words: list[str], more: tuple[str, ...], status: int, message: str) -> None:
    # Each option is given once, so the tested month replaces the right one.
    option, value = more
    place = words.index(option) if option in words else len(words)
    done = run([*words[:place], option, value, *words[place + 2 :]])
    assert (done.exit_code, message in done.stderr) == (status, True), done.output


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "acme.focus.csv"], "acme.focus.csv: FOCUS says who sends the bill. Name it: --issuer NAME"),
        (["--out", "acme.focus.parquet", "--issuer", " "], "acme.focus.parquet: FOCUS says who sends the bill"),
        (["--issuer", "Us"], "only FOCUS says who sends the bill: add --out FILE.focus.csv, or leave out --issuer"),
        (["--out", "acme.focus.old.md", "--issuer", " "], "only FOCUS says who sends the bill"),
        (["--out", "acme.parquet"], "acme.parquet: '.parquet' is not a format of statements. Allowed: .md, .csv"),
    ],
)
def test_what_no_file_can_hold_is_refused_before_the_usage_is_read(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(words[1]).write_text("no usage", encoding="utf-8")
    done = run(words, "--out", "acme.json", *more)
    assert (done.exit_code, message in done.stderr) == (2, True), done.output
    assert {path.name for path in tmp_path.iterdir()} == {"usage.csv", "tables"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_is_full_leaves_what_was_there(words: list[str], tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"acme.{ending}"
    out.write_text("before", encoding="utf-8")
    with small_disk():
        done = run(words, *(("--issuer", "Us") if "focus" in ending else ()), "--out", str(out))
    assert (done.exit_code, done.stderr.startswith(f"{out} cannot be written: ")) == (1, True), done.output
    assert done.stderr.endswith("File too large. No file is written\n")
    assert out.read_text(encoding="utf-8") == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"usage.csv", "tables", out.name}


def test_a_file_that_fails_takes_back_those_before_it(tmp_path: Path) -> None:
    """Parquet has no room for the digits of an amount, which the other formats have."""
    digits = "0.123456789012345678901234567891"
    tiers = f"graduated: [{{up_to: {digits}, factor: {digits}}}, {{percent: 0%}}]"
    signed = ACME.replace("percent: -20%", f"rate: {digits}").replace("included: 0.5", tiers)
    tables = contract(tmp_path, signed)
    usage = write_rows(tmp_path / "usage.csv", [text("2026-10-02")])
    words = ["statement", str(usage), "--account", "acme", "--month", "2026-10", "--tables", str(tables)]
    outs = [tmp_path / f"acme.{ending}" for ending in ENDINGS]
    outs[0].write_text("before", encoding="utf-8")
    done = run(words, "--issuer", "Us", *(part for out in outs for part in ("--out", str(out))))
    assert (done.exit_code, "acme.focus.parquet: an amount has " in done.stderr) == (1, True), done.output
    assert "and a table holds 76; write .csv or .json. No file is written" in done.stderr
    assert outs[0].read_text(encoding="utf-8") == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"usage.csv", "tables", outs[0].name}


def test_the_usage_is_never_overwritten(words: list[str]) -> None:
    done = run(words, "--out", words[1])
    assert (done.exit_code, "is among the usage, which stays as it is" in done.stderr) == (2, True)


def test_a_row_without_a_price_ends_with_1_and_writes_nothing(words: list[str], tmp_path: Path) -> None:
    usage = Path(words[1])
    row = "text,nobody,2026-10-02T00:00:00Z,acme,1,1,,,\n"
    usage.write_text(usage.read_text(encoding="utf-8") + row, encoding="utf-8")
    done = run(words, "--out", str(tmp_path / "acme.json"))
    assert (done.exit_code, (tmp_path / "acme.json").exists()) == (1, False)
    assert "no statement of acme for 2026-10: 1 row without a price" in done.stderr
    assert "1 row of nobody" in done.stderr
    assert "more reason" not in done.stderr
