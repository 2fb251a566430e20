"""What a report says where there is little, nothing, or too much to say."""

from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pytest
from babel import Locale
from candidate_files import candidate

import ratecard
from ratecard.base.money import total
from ratecard.simulation.report import charts, page, tables
from ratecard.simulation.report import workbook as spreadsheet
from ratecard.simulation.report.figures import ENGLISH, Figures
from ratecard.simulation.report.output import WRITERS, write
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import answer, scope
from reports import NOW, files, mixed, simulated


def test_a_small_amount_without_a_candidate(tmp_path: Path) -> None:
    row = pyarrow.table({"type": ["rpc"], "network": ["ethereum-mainnet"], "method": ["eth_call"]})
    with ratecard.simulate(row, "2026-10-01", by=["network"]) as simulation:
        report = Report(simulation, locale=Locale("de", "DE"))
        assert report.figures.money(report.rounded(0)).replace("\N{NO-BREAK SPACE}", " ") == "0,000013 $"
        simulation.write(tmp_path / "report.csv", tmp_path / "report.html")
    words = (tmp_path / "report.html").read_text(encoding="utf-8")
    for said in ("<title>Revenue</title>", "What usage brings", "Revenue is $0.000013.", "Revenue by network"):
        assert said in words
    assert "Revenue then" not in words


def test_usage_without_any_price_is_written_in_every_format(tmp_path: Path) -> None:
    """No bar is drawn, neither now nor under a candidate."""
    rows = {"type": ["text"] * 2, "model": ["no-such-model"] * 2, "prompt_tokens": [5, 6], "completion_tokens": [1, 1]}
    usage = pyarrow.table(rows | {"timestamp": ["2026-10-02", "2026-10-03"], "customer": ["a", None]})
    dearer = candidate(tmp_path, "{scale: {type: text}, factor: 1.1}")
    with ratecard.simulate(usage, NOW, by=["model", "day", "customer"], costs="60%") as simulation:
        for asked in (simulation, simulation.against(dearer)):
            asked.write(*(tmp_path / f"report{ending}" for ending in WRITERS))
            words = (tmp_path / "report.html").read_text(encoding="utf-8")
            assert "2 of 2 rows have no price" in words
            assert "data-figure" not in words or asked is not simulation


def test_rises_and_falls_that_cancel_out_are_said_so(tmp_path: Path) -> None:
    changes = "{set: stable-audio-25, rate: 0.2}", "{set: lyria-3-pro, rate: 0.09}"
    swapped = candidate(tmp_path, *changes, name="swapped", day="2026-09-30")
    songs = pyarrow.table({"type": ["music", "music"], "model": ["stable-audio-25", "lyria-3-pro"]})
    with ratecard.simulate(songs, "2026-10-01", swapped, by=["model"]) as simulation:
        assert simulation.total.difference() == Decimal(0)
        words = "Revenue stays at $0.290000 under swapped: rises and falls cancel out."
        assert answer(Report(simulation), 1) == words


def test_more_groups_than_fit_are_left_to_files_that_hold_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "MOST_SHEET_ROWS", 20)
    monkeypatch.setattr(tables, "MOST_OF_KEY", 5)
    monkeypatch.setattr(page, "MOST_OF_KEY", 5)
    monkeypatch.setattr(page, "MOST_SHOWN", 6)
    with simulated(tmp_path) as simulation:
        write(Report(simulation), [tmp_path / "report.xlsx", tmp_path / "report.html"])
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    assert "groups are more than a sheet holds; write .csv or .parquet" in str(book["Groups"]["A2"].value)
    assert book["By model"].max_row == 1 + 4 + 1
    words = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<summary>By model" in words
    assert "<summary>By day" in words
    assert "The 5 of 11 that matter most; a spreadsheet or CSV has all." in words


def test_keys_whose_names_begin_alike_have_a_sheet_each(tmp_path: Path) -> None:
    """The name of a sheet has 31 characters, and the second table once went over the first."""
    keys = ("resource.attributes.service.name", "resource.attributes.service.namespace")
    values = {key: [f"{key} {at}" for at in range(3)] for key in keys}
    text = {"type": ["text"] * 3, "model": ["claude-opus-4-6"] * 3, "prompt_tokens": [1, 2, 3]}
    usage = pyarrow.table(text | {"completion_tokens": [1, 1, 1]} | values)
    with ratecard.simulate(usage, "2026-10-01", by=keys) as simulation:
        simulation.write(tmp_path / "report.xlsx")
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    sheets = [sheet for sheet in book if sheet["A1"].value in keys and sheet.title != "Groups"]
    assert {sheet["A1"].value: [row[0].value for row in sheet.iter_rows(2, 4)] for sheet in sheets} == values
    assert all(len(sheet.title) <= 31 for sheet in sheets)


def test_a_key_called_like_a_column_stays_beside_it(tmp_path: Path) -> None:
    (table, dearer, cheaper), keys = files(tmp_path), ("Requests", "Current", "dearer text")
    usage = pyarrow.parquet.read_table(table)
    for each in keys:
        usage = usage.append_column(each, pyarrow.array([f"{each} north", f"{each} south"] * 120))
    with ratecard.simulate(usage, NOW, [dearer, cheaper], by=keys) as simulation:
        report = Report(simulation)
        for key in keys:
            [(_, narrow)] = tables.narrow(report, key)
            groups = simulation.table(key)
            pairs = zip(groups, tables.shown(report, groups), strict=True)
            shown = [(group.key[0], group.requests, amounts[0]) for group, amounts in pairs]
            assert [row[:3] for row in narrow.rows] == shown and len(shown) == 2
            assert [column.name for column in narrow.columns[:3]] == [key, "Requests", "Current"]


def test_of_many_values_the_first_and_all_others_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_OF_KEY", 2)
    with mixed(tmp_path) as simulation:
        for key in ("day", "customer", "model"):
            check_first_and_others(Report(simulation), key)


def check_first_and_others(report: Report, key: str) -> None:
    simulation = report.simulation
    listed = simulation.table(key)
    for number in (0, 1):
        rows = tables.rows_of(report, key, number)
        sizes = sorted((abs(row.difference() if number else row.amounts[0]) for row in listed), reverse=True)
        assert [abs(row.difference() if number else row.amounts[0]) for row in rows[:2]] == sizes[:2]
        assert rows[2].key == ("All others",)
        for side in (0, 1):
            assert total([row.amounts[side] for row in rows]) == simulation.total.amounts[side]
        for name in ("lost", "new", "lost_requests"):
            whole = getattr(simulation.total.beside(), name)
            assert sum(getattr(row.beside(), name) for row in rows) == whole
        assert sum(row.requests for row in rows) == simulation.total.requests
    [(_, table)] = tables.narrow(report, key)
    assert table.total is not None
    assert sum(row[2] for row in table.rows if isinstance(row[2], Decimal)) == table.total[2]
    assert tables.largest(report, key, 1).rows[1][0] == "All others"


@pytest.mark.parametrize(("rows", "said"), [(1, "1 request, "), (2, "2 requests, ")])
def test_one_is_not_many(rows: int, said: str) -> None:
    """One row with a price and one without, then two of each."""
    table = pyarrow.table({"type": ["rpc", "text"] * rows, "network": ["ethereum-mainnet", None] * rows,
                           "method": ["eth_call", None] * rows, "model": [None, "no-such-model"] * rows})  # fmt: skip
    with ratecard.simulate(table, "2026-10-01", by=["network"]) as simulation:
        left = "1 row without a price is in no figure." if rows == 1 else "2 rows without a price are in no figure."
        assert scope(Report(simulation)) == f"{said}all at the prices of 2026-10-01; {left}"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("-123", "260", ["-$100", "$0", "$100", "$200"]),
        ("0", "0.004", ["$0.000", "$0.001", "$0.002", "$0.003", "$0.004"]),
        ("-1500000", "0", ["-$1,500,000", "-$1,000,000", "-$500,000", "$0"]),
        ("97.2", "99", ["$97.50", "$98.00", "$98.50", "$99.00"]),
        ("7", "7", ["$7"]),
    ],
)
def test_a_sign_is_before_the_currency_on_an_axis(low: str, high: str, said: list[str]) -> None:
    axis = charts._money_axis(Figures(ENGLISH, "USD"), Decimal(low), Decimal(high))
    assert axis["ticktext"] == said
    assert all(Decimal(low) <= Decimal(each) <= Decimal(high) for each in axis["tickvals"])


def test_lines_that_coincide_are_said_so(tmp_path: Path) -> None:
    table, dearer, _ = files(tmp_path)
    change = "{scale: {model: claude-opus-4-6}, factor: 1.003}"
    barely = candidate(tmp_path, change, name="barely", day="2026-09-30")
    with ratecard.simulate(table, NOW, [dearer, barely], by=["day"]) as simulation:
        chart = charts.revenue_by_period(Report(simulation), "day")
        assert "look like one line" not in chart.note
        assert [line["line"]["dash"] for line in chart.data] == ["solid", "solid"]
        assert charts.waterfall(Report(simulation), 1).data[0]["customdata"][1].startswith("+")
        chart = charts.revenue_by_period(Report(simulation.against(barely)), "day")
        assert "Current and barely look like one line: they differ by at most $0.0" in chart.note
        assert [line["line"]["dash"] for line in chart.data] == ["dot", "solid"]
        later = tmp_path / "later.yaml"
        later.write_text(dearer.read_text(encoding="utf-8").replace("2026-09-30", "2026-10-05"), encoding="utf-8")
        words = charts.revenue_by_period(Report(simulation.against(later)), "day").note
        assert words.endswith("Current and dearer text are equal on 4 of 11 days.")
