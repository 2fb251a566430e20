"""Every amount of every sheet is the exact amount of the answer, as far as a spreadsheet holds digits: fifteen."""

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pytest

import ratecard
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.bridge import EFFECTS
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.report.workbook import write_spreadsheet
from reports import PERIODS, fifteen, mixed, number_in

Amounts = Sequence[Decimal | Fraction | None]


@pytest.mark.parametrize("candidates", [1, 2])
def test_a_workbook_of_candidates(candidates: int, tmp_path: Path) -> None:
    """One report is written and read for all that is said of its sheets: to make one takes most of a second."""
    told: list[tuple[str, Any, float]] = []

    def progress(words: str, percent: Callable[[], Any] | None) -> None:
        told.append((words, percent, percent() if percent else -1))

    with mixed(tmp_path, candidates=candidates) as simulation:
        report, path = Report(simulation, Question(bridge=PERIODS)), tmp_path / "report.xlsx"
        write(report, [path], progress)
        (_, nothing, _), (words, percent, before) = told
        assert (words, nothing, before) == ("Writing", None, 0)
        assert percent() >= 100
        check_amounts(report, openpyxl.load_workbook(path, data_only=True))
    check_formulas(openpyxl.load_workbook(path))


def check_amounts(report: Report, book: Any) -> None:
    """Every amount is exact to fifteen digits."""
    expected = dict(_expected(report))
    seen = set()
    for sheet in book:
        headings, rows = _table(sheet)
        for place, heading in enumerate(headings):
            cells = [row[place] for row in rows]
            if not any("$" in cell.number_format for cell in cells if cell.value is not None):
                continue
            assert (sheet.title, heading) in expected, "a column of amounts that this test does not know"
            seen.add((sheet.title, heading))
            amounts = expected[sheet.title, heading]
            assert [number_in(cell.value) for cell in cells] == [fifteen(each) for each in amounts], (sheet, heading)
            assert all("0.00" in cell.number_format for cell in cells)
    assert {sheet for sheet, _ in seen} >= {"Attribution", "Margin", "Below cost", "Winners and losers", "Bridge"} or (
        len(report.candidates) > 1
    )
    assert seen == set(expected)


def check_formulas(book: Any) -> None:
    """Changes and margins are formulas."""
    computed = (": change", ": margin", ": %", ": margin %")
    for sheet in book:
        if sheet.title == "Groups" or sheet.title.startswith("By "):
            continue
        headings, rows = _table(sheet)
        for place, heading in enumerate(headings):
            if heading in ("Change", "%", "Loss") or heading.endswith(computed):
                values = [row[place].value for row in rows if row[place].value is not None]
                assert all(str(value).startswith("=") for value in values), (sheet.title, heading, values)


def test_the_groups_are_never_all_in_memory(tmp_path: Path) -> None:
    def peak(groups: int) -> int:
        rows = {"model": ["ovi-image-to-video"] * groups, "customer": [f"customer {at}" for at in range(groups)]}
        usage = pyarrow.table({"type": ["video"] * groups, **rows})
        with ratecard.simulate(usage, date(2026, 10, 1), by=["customer", "model"]) as found:
            report = Report(found)
            tracemalloc.start()
            write_spreadsheet(report, tmp_path / f"{groups}.xlsx")
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return most

    few, many = [peak(groups) for groups in (20, 500, 1_000)][1:]  # the first peak includes the imports
    # A group takes about 90 bytes of the file, and once took 1,500 of memory.
    assert many - few < 500 * 400, (few, many)


def _expected(report: Report) -> Iterator[tuple[tuple[str, str], Amounts]]:
    """The exact amounts of every column, the total last, from the simulation itself."""
    simulation, several = report.simulation, len(report.candidates) > 1
    keyed = {f"By {key}": (key,) for key in simulation.by} | {"Groups": simulation.by}
    for sheet, keys in keyed.items():
        rows = [*simulation.table(*keys), simulation.total]
        yield from _sums(report, sheet, rows)
        paid = [*simulation.costs_by(*keys).values(), simulation.costs_by()[()]]
        for side, name in enumerate(report.names):
            for at, word in enumerate(("cost", "margin")):
                yield (sheet, f"{name}: {word}"), [each[side][at] for each in paid]
    for candidate in report.candidates:
        yield from _of_candidate(report, simulation, candidate, f" {candidate}" if several else "")
    margin = simulation.margin()
    models = [*sorted(margin.models, key=lambda each: (-each.revenues[0], each.model)), margin.total]
    for side, name in enumerate(report.names):
        yield ("Margin", f"{name}: revenue"), [each.revenues[side] for each in models]
        yield ("Margin", f"{name}: cost"), [each.costs[side] for each in models]
        yield ("Margin", f"{name}: margin"), [each.revenues[side] - each.costs[side] for each in models]
    yield from _of_bridge(simulation)
    total = simulation.total
    yield ("Summary", "Revenue"), total.amounts
    yield ("Summary", "Change"), [None, *(total.difference(each) for each in report.candidates)]
    parts = {"By prices": total.change, "Lost": lambda each: -total.beside(each).lost, "New": _new(total)}
    for name, part in parts.items():
        yield ("Summary", name), [None, *map(part, report.candidates)]


def _new(row: Row) -> Callable[[int], Decimal]:
    return lambda candidate: row.beside(candidate).new


def _sums(report: Report, sheet: str, rows: Sequence[Row]) -> Iterator[tuple[tuple[str, str], Amounts]]:
    several = len(report.candidates) > 1
    yield (sheet, "Current"), [row.amounts[0] for row in rows]
    for side in report.candidates:
        name = report.names[side]
        before = f"{name}: " if several else ""
        yield (sheet, name), [row.amounts[side] for row in rows]
        yield (sheet, f"{before}change" if several else "Change"), [row.difference(side) for row in rows]
        if rows[-1].beside(side).requests:
            yield (sheet, f"{before}lost" if several else "Lost"), [-row.beside(side).lost for row in rows]
            yield (sheet, f"{before}new" if several else "New"), [row.beside(side).new for row in rows]


def _of_candidate(
    report: Report, simulation: Answers, candidate: int, number: str
) -> Iterator[tuple[tuple[str, str], Amounts]]:
    found = simulation.attribution(candidate)
    yield (f"Attribution{number}", "Adds"), [*(part.amount for part in found.parts), found.difference]
    lost, new = simulation.lost(candidate), simulation.new(candidate)
    if lost or new:
        apart = [*(-each.amount for each in lost), *(each.amount for each in new)]
        yield (f"Lost and new{number}", "Adds"), [*apart, sum(apart, Decimal(0))]
    customers = simulation.customers("customer", candidate)
    pairs = [row.both(candidate) for row in (*customers.losers, *customers.winners)]
    sheet = f"Winners and losers{number}"
    yield (sheet, "Current"), [pair[0] for pair in pairs]
    yield (sheet, "Candidate"), [pair[1] for pair in pairs]
    yield (sheet, "Change"), [pair[1] - pair[0] for pair in pairs]
    below = simulation.margin().below[candidate]
    triples = [(each.revenue, each.cost, each.revenue - each.cost) for each in below]
    for place, heading in enumerate(("Revenue", "Cost", "Loss")):
        amounts = [each[place] for each in triples]
        yield (f"Below cost{number}", heading), [*amounts, sum(amounts, Decimal(0))]
    changed = sorted(simulation.table("model"), key=lambda row: abs(row.difference(candidate)), reverse=True)
    changed = [row for row in changed if row.difference(candidate)]
    rest = [row for row in simulation.table("model") if row not in changed]
    for heading, side in (("Current", 0), (report.names[candidate], candidate)):
        last = [sum((row.amounts[side] for row in rest), Decimal(0))] if rest else []
        listed = [*(row.amounts[side] for row in changed), *last, simulation.total.amounts[side]]
        yield (f"Changes{number}", heading), listed
    same = [Decimal(0)] if rest else []
    changes = [*(row.difference(candidate) for row in changed), *same, simulation.total.difference(candidate)]
    yield (f"Changes{number}", "Change"), changes
    if simulation.total.beside(candidate).requests:
        for heading, sign, word in (("Lost", -1, "lost"), ("New", 1, "new")):
            rows = [*changed, *([None] if rest else []), simulation.total]
            listed = [sign * getattr(row.beside(candidate), word) if row else Decimal(0) for row in rows]
            yield (f"Changes{number}", heading), listed


def _of_bridge(simulation: Answers) -> Iterator[tuple[tuple[str, str], Amounts]]:
    bridge = simulation.bridge(*PERIODS)
    gone, new = list(bridge.gone.values()), list(bridge.new.values())
    apart = [None] * (len(gone) + len(new))
    for name in EFFECTS:
        amounts = [*(getattr(step, name) for step in bridge.steps), *apart, bridge.effects[name]]
        yield ("Bridge by model", name.capitalize()), amounts
    before = [*(step.revenues[0] for step in bridge.steps), *gone, *(Decimal(0) for _ in new)]
    after = [*(step.revenues[1] for step in bridge.steps), *(Decimal(0) for _ in gone), *new]
    for period, amounts, whole in zip(PERIODS, (before, after), bridge.revenues, strict=True):
        yield ("Bridge by model", f"{period}: revenue"), [*amounts, whole]
    changes = [two - one for one, two in zip(before, after, strict=True)]
    yield ("Bridge", "Adds"), [*bridge.effects.values(), bridge.revenues[1] - bridge.revenues[0]]
    yield ("Bridge by model", "Change"), [*changes, bridge.revenues[1] - bridge.revenues[0]]


def _table(sheet: Any) -> tuple[list[str], list[Any]]:
    """Headings and rows of a sheet; of the summary those below its sentences."""
    rows = list(sheet.iter_rows())
    top = next((at for at, row in enumerate(rows) if row[0].value == "Prices"), 0) if sheet.title == "Summary" else 0
    return [str(cell.value) for cell in rows[top]] if rows else [], rows[top + 1 :]
