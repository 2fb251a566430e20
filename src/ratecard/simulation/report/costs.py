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


def margin_table(report: Report, margin: Margin, sides: Sequence[int]) -> Table:
    """Cost by model under some sides, and what is left, of the rows whose cost is known."""
    places = report.figures.places
    columns = [Column("Model"), Column("Requests", Kind.COUNT), Column("Without cost", Kind.COUNT)]
    for name in (report.names[side] for side in sides):
        columns += [Column(f"{name}: cost", Kind.MONEY), Column(f"{name}: margin", Kind.MONEY)]
        columns.append(Column(f"{name}: margin %", Kind.SHARE))

    def values(each: Cost, costs: Sequence[Decimal], left: Sequence[Decimal]) -> tuple[Value, ...]:
        parts = zip(costs, left, (share_left(each, side) for side in sides), strict=True)
        return (each.model, each.requests, each.unknown, *(value for part in parts for value in part))

    costs = [apportion([each.costs[side] for each in margin.models], places) for side in sides]
    margins = [apportion([each.margin(side) for each in margin.models], places) for side in sides]
    rows = zip(margin.models, zip(*costs, strict=True), zip(*margins, strict=True), strict=True)
    whole = margin.total._replace(model="Total")
    paid, rounded = (
        [round_half_up(amount, places) for amount in amounts]
        for amounts in ([whole.costs[side] for side in sides], [whole.margin(side) for side in sides])
    )
    last = values(whole, paid, rounded)
    return Table("Margin by model", tuple(columns), tuple(values(*row) for row in rows), last)


def share_left(cost: Cost, side: int) -> Fraction | None:
    """The margin as a share of revenue; None where there is none."""
    return Fraction(cost.margin(side)) / Fraction(cost.revenues[side]) if cost.revenues[side] else None


def exact_margin_table(report: Report, margin: Margin) -> Table:
    """The same for a workbook: exact amounts, with the revenue that a margin is of."""
    columns = [Column("Model"), Column("Requests", Kind.COUNT), Column("Without cost", Kind.COUNT)]
    for name in report.names:
        revenue, cost = f"{name}: revenue", f"{name}: cost"
        columns += [Column(revenue, Kind.MONEY), Column(cost, Kind.MONEY)]
        columns.append(Column(f"{name}: margin", Kind.MONEY, cost, revenue))
        columns.append(Column(f"{name}: margin %", Kind.SHARE, revenue))

    def values(each: Cost) -> tuple[Value, ...]:
        sides = range(len(report.names))
        parts = ((each.revenues[side], each.costs[side], each.margin(side), share_left(each, side)) for side in sides)
        return (each.model, each.requests, each.unknown, *(value for part in parts for value in part))

    whole = values(margin.total._replace(model="Total"))
    return Table("Margin by model", tuple(columns), tuple(map(values, margin.models)), whole)


def below_cost_table(report: Report, margin: Margin, side: int, *, exact: bool = False) -> Table:
    """What a side sells for less than it costs, the greatest loss first; with `exact`, the exact losses."""
    cells, places = margin.below[side], report.figures.places
    losses = [EXACT.subtract(cell.revenue, cell.cost) for cell in cells]
    rows = tuple(
        (cell.model, cell.asked or PLAIN, cell.requests, cell.revenue, cell.cost, loss)
        for cell, loss in zip(cells, losses if exact else apportion(losses, places), strict=True)
    )
    columns = [Column("Model"), Column("Request"), Column("Requests", Kind.COUNT)]
    kind = Kind.MONEY if exact else Kind.RATE
    columns += [Column("Revenue", kind), Column("Cost", kind), Column("Loss", Kind.CHANGE, "Cost", "Revenue")]
    requests = sum(cell.requests for cell in cells)
    revenue, cost = total([cell.revenue for cell in cells]), total([cell.cost for cell in cells])
    whole = ("Total", "", requests, revenue, cost, total(losses) if exact else round_half_up(total(losses), places))
    return Table(f"Below cost: {report.names[side]}", tuple(columns), rows, whole if cells else None)
