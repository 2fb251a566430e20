"""The table of customers with contracts: list, discount and net under each side, and who is below cost."""

from collections.abc import Sequence
from decimal import Decimal

from ratecard.base.money import EXACT, round_half_up
from ratecard.base.money import total as total_of
from ratecard.simulation.answers.discounts import Discounted
from ratecard.simulation.report.breakdown import ALL_OTHERS, MOST_OF_KEY, NO_VALUE, TOTAL, heading
from ratecard.simulation.report.figures import apportion
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Kind, Table, Value


def discounts_table(report: Report, sides: Sequence[int], *, exact: bool = False) -> Table:
    """List who is below cost, then who does not pay the list's amount, the greatest discount first; then others.

    Of each side what the list comes to, the discount on it and what is left; with `exact`, for a workbook, exactly.
    """
    customers, names = report.discounts, [report.names[side] for side in sides]
    columns = [Column(heading(report.simulation.by_account)), Column("Requests", Kind.COUNT)]
    for name in names:
        columns.append(Column(f"{name}: list", Kind.MONEY))
        columns.append(Column(f"{name}: discount", Kind.MONEY, f"{name}: net", f"{name}: list"))
        columns.append(Column(f"{name}: net", Kind.MONEY))
    shown = {side: _shown(report, customers, side, exact=exact) for side in sides}
    ranked = []
    for at, each in enumerate(customers):
        below, discounts = any(map(each.below_cost, sides)), list(map(each.discount, sides))
        if below or any(discounts):
            ranked.append((not below, -max(discounts), each.customer or "", at))
    named = [at for *_, at in sorted(ranked)[:MOST_OF_KEY]]

    def line(name: str, chosen: Sequence[int]) -> tuple[Value, ...]:
        cells: list[Value] = [name, sum(customers[at].requests for at in chosen)]
        for side in sides:
            listed, net = (total_of([amounts[at] for at in chosen]) for amounts in shown[side])
            cells += [listed, EXACT.subtract(listed, net), net]
        below = (report.names[side] for side in sides if len(chosen) == 1 and customers[chosen[0]].below_cost(side))
        return (*cells, ", ".join(below)) if report.margin else tuple(cells)

    lines = [line(NO_VALUE if (customer := customers[at].customer) is None else customer, [at]) for at in named]
    if others := sorted({*range(len(customers))} - {*named}):
        lines.append(line(ALL_OTHERS, others))
    columns += [Column("Below cost under")] if report.margin else []
    return Table("List, discount and net", tuple(columns), tuple(lines), line(TOTAL, range(len(customers))))


def _shown(
    report: Report, customers: Sequence[Discounted], side: int, *, exact: bool
) -> tuple[Sequence[Decimal], Sequence[Decimal]]:
    """Return list and net of each customer, exact; or rounded so that they add up, as the discounts between them do."""
    lists, nets = [each.lists[side] for each in customers], [each.nets[side] for each in customers]
    if exact:
        return lists, nets
    places, net = report.figures.places, report.rounded(side)
    given_up = EXACT.subtract(round_half_up(total_of(lists), places), net)
    shown = apportion(nets, places, net)
    discounts = apportion([each.discount(side) for each in customers], places, given_up)
    return list(map(EXACT.add, shown, discounts)), shown
