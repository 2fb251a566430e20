"""Where the money is before anything is changed: revenue by family, model and customer."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ratecard.simulation.report.breakdown import NOTHING, OTHERS, TOTAL, heading, shown
from ratecard.simulation.report.charts import Chart, bar_chart
from ratecard.simulation.report.report import CURRENT, Report
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.words.money import total

_FAMILIES = 12


def revenue_by_family(report: Report) -> Chart:
    """A bar for each family that brings most."""
    families = report.simulation.sides[0].card.tables.families
    sums: dict[str, list[Decimal]] = {}
    rows = report.simulation.by_model
    for row, amounts in zip(rows, shown(report, rows), strict=True):
        sums.setdefault(families.get(row.key[0] or "", NOTHING), []).append(amounts[0])
    order = sorted(((total(amounts), family) for family, amounts in sums.items()), key=lambda each: (-each[0], each[1]))
    bars = [(family, amount) for amount, family in order[:_FAMILIES]]
    return bar_chart(report, "Revenue by family", "The families that bring most.", bars)


def largest(report: Report, key: str, most: int) -> Table:
    """The groups of a key that bring most, each with its share of the revenue."""
    rows = report.simulation.table(key)
    amounts = [each[0] for each in shown(report, rows)]
    order = sorted(range(len(rows)), key=lambda index: (-amounts[index], rows[index].key[0] or ""))
    whole = report.rounded(0)

    def line(name: str, chosen: Sequence[int]) -> tuple[Value, ...]:
        amount = total([amounts[index] for index in chosen])
        share = Fraction(amount) / Fraction(whole) if whole else None
        return name, sum(rows[index].requests for index in chosen), amount, share

    lines = [line(rows[index].key[0] or NOTHING, [index]) for index in order[:most]]
    if order[most:]:
        lines.append(line(OTHERS, order[most:]))
    columns = (
        Column(heading(key)),
        Column("Requests", Kind.COUNT),
        Column(CURRENT, Kind.MONEY),
        Column("Share", Kind.SHARE),
    )
    return Table("", columns, tuple(lines), line(TOTAL, order))
