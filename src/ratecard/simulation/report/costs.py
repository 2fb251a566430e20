"""Tables of margin: what is left after cost, and what is sold below it."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ratecard.simulation.margin import Cost, Margin
from ratecard.simulation.report.apportion import apportion
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.words.money import EXACT, round_half_up, total

# What a request is called that has nothing but its quantities.
PLAIN = "(plain)"


def margin_table(report: Report, margin: Margin) -> Table:
    """Cost by model, and what is left under each side, of the rows whose cost is known."""
    places, sides = report.figures.places, range(len(report.names))
    columns = [Column("Model"), Column("Requests", Kind.COUNT), Column("Without cost", Kind.COUNT)]
    columns.append(Column("Cost", Kind.MONEY))
    for name in report.names:
        columns += [Column(f"{name}: margin", Kind.CHANGE), Column(f"{name}: margin %", Kind.PERCENT)]

    def values(each: Cost, cost: Decimal, left: Sequence[Decimal]) -> tuple[Value, ...]:
        pairs = ((amount, share_left(each, side)) for side, amount in zip(sides, left, strict=True))
        return (each.model, each.requests, each.unknown, cost, *(value for pair in pairs for value in pair))

    costs = apportion([each.cost for each in margin.models], places)
    margins = [apportion([each.margin(side) for each in margin.models], places) for side in sides]
    rows = zip(margin.models, costs, zip(*margins, strict=True), strict=True)
    whole = margin.total._replace(model="Total")
    rounded = [round_half_up(whole.margin(side), places) for side in sides]
    last = values(whole, round_half_up(whole.cost, places), rounded)
    return Table("Margin by model", tuple(columns), tuple(values(*row) for row in rows), last)


def share_left(cost: Cost, side: int) -> Fraction | None:
    """The margin as a share of revenue; None where there is none."""
    return Fraction(cost.margin(side)) / Fraction(cost.revenues[side]) if cost.revenues[side] else None


def below_cost_table(report: Report, margin: Margin, side: int) -> Table:
    """What a side sells for less than it costs, the greatest loss first."""
    cells, places = margin.below[side], report.figures.places
    losses = [EXACT.subtract(cell.revenue, cell.cost) for cell in cells]
    rows = tuple(
        (cell.model, cell.asked or PLAIN, cell.requests, cell.revenue, cell.cost, loss)
        for cell, loss in zip(cells, apportion(losses, places), strict=True)
    )
    columns = [Column("Model"), Column("Request"), Column("Requests", Kind.COUNT)]
    columns += [Column("Revenue", Kind.RATE), Column("Cost", Kind.RATE), Column("Loss", Kind.CHANGE)]
    requests = sum(cell.requests for cell in cells)
    revenue, cost = total([cell.revenue for cell in cells]), total([cell.cost for cell in cells])
    whole = ("Total", "", requests, revenue, cost, round_half_up(total(losses), places))
    return Table(f"Below cost: {report.names[side]}", tuple(columns), rows, whole if cells else None)
