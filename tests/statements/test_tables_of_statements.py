"""What a statement shows in its tables: numbers as numbers, and each place once."""

from decimal import Decimal
from pathlib import Path

import pytest
from statement_tables import WORDS, write_tables
from test_edges_of_terms import lines, settled, term
from test_of_contracts import ACME, clip, contract, made, text

from ratecard.statements.focus import focus_rows
from ratecard.statements.issued import differences
from ratecard.statements.report import statement_markdown, written_tables


def test_numbers_are_told_from_words_and_a_list_rate_has_a_place_where_it_is_another(tmp_path: Path) -> None:
    rows = [text("2026-10-02"), text("2026-10-02", "bolt")]
    own, *_ = written_tables(made(tmp_path, contract(tmp_path, ACME), rows, "2026-10"))
    numbers = ["Quantity", "Rate", "Amount", "List rate", "List amount"]
    assert [name for name, number in own.headings if number] == numbers
    assert [name for name, number in own.headings if not number] == [
        "SKU", "Unit", "Contract", "Rate from", "List rate from",
    ]  # fmt: skip
    listed, *_ = written_tables(made(tmp_path, tmp_path / "tables", rows, "2026-10", "bolt"))
    assert [name for name, number in listed.headings if not number] == ["SKU", "Unit", "Rate from"]


def test_markdown_and_focus_have_every_line_with_its_unit(tmp_path: Path) -> None:
    found = made(tmp_path, contract(tmp_path, ACME), [text("2026-10-02"), clip("2026-10-03")], "2026-10")
    words, units = statement_markdown(found), {row["SkuId"]: row["PricingUnit"] for row in focus_rows(found, "Us")}
    for line in found.lines:
        assert f"| {line.rated.sku} |" in words
        if line.quantity:
            assert units[line.rated.sku] == (line.rated.unit or "").replace("_", " ")
    assert {"mtoken", "video_second"} <= {line.rated.unit for line in found.lines}


@pytest.mark.parametrize(("percent", "words"), [("-0.5%", "-0.5 %"), ("0.5%", "+0.5 %"), ("5%", "+5 %")])
def test_the_percent_of_a_tier_has_one_sign(percent: str, words: str) -> None:
    found = settled(lines("4"), term(graduated=[{"up_to": "2", "percent": "0%"}, {"percent": percent}], unit="mtoken"))
    assert found.terms[-1].words == f"graduated: above 2 mtoken at {words} of contract prices"


def test_of_several_lines_of_one_name_each_is_compared(tmp_path: Path) -> None:
    """One contract rate and two list rates make two lines, of which one is no longer what was issued."""
    tables = contract(tmp_path, ACME.replace("percent: -20%", "rate: 3"))
    found = made(tmp_path, tables, [text("2026-10-05"), text("2026-10-20"), text("2026-10-21")], "2026-10")
    issued = found.to_dict()
    assert differences(issued, found) == ()
    for at, line in enumerate(found.lines):
        changed = [dict(each) for each in issued["lines"]]
        changed[at]["amount"] = str(line.amount + 1)
        (difference,) = differences(issued | {"lines": changed}, found)
        assert (difference.figure, Decimal(difference.now)) == ("amount", line.amount)
        assert difference.line.endswith("(2)") == bool(at)


def test_an_edit_above_the_rates_of_one_name_changes_none_of_them(tmp_path: Path) -> None:
    """The same rate in two versions makes two lines; lines 18 and 33 of the file become 88 and 103."""
    words = WORDS.replace("rate: 3.3", "rate: 4").replace("total: 10.3", "total: 11")
    rows = [text("2026-10-05"), text("2026-10-20"), text("2026-10-21")]
    issued = made(tmp_path, write_tables(tmp_path / "tables", words=words, monthly=None), rows, "2026-10")
    tables = write_tables(tmp_path / "tables", words="# A remark\n" * 70 + words, monthly=None)
    later = made(tmp_path, tables, rows, "2026-10")
    assert [line.rated.source for line in (*issued.lines, *later.lines)] == [
        "words.yaml:18", "words.yaml:33", "words.yaml:88", "words.yaml:103"
    ]  # fmt: skip
    assert differences(issued.to_dict(), later) == ()
