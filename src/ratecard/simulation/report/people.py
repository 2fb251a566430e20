"""Winners and losers, and the rows that have no price."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ratecard.simulation.comparison import Row
from ratecard.simulation.customers import Customers
from ratecard.simulation.report.breakdown import NOTHING, columns_of, shown, values_of
from ratecard.simulation.report.report import Report, share_of_change
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.words.money import round_half_up


class Counts(NamedTuple):
    """How many customers pay less, more, and the same."""

    less: int
    more: int
    same: int


def changed(customers: Customers) -> Counts:
    """How many customers a candidate changes something for."""
    differences = [row.difference(customers.candidate) for row in customers.rows]
    less, more = sum(each < 0 for each in differences), sum(each > 0 for each in differences)
    return Counts(less, more, len(differences) - less - more)


def winners_table(report: Report, customers: Customers) -> Table:
    """The customers who pay less, the greatest change first."""
    return _table(report, customers, "Winners: they pay less", customers.winners)


def losers_table(report: Report, customers: Customers) -> Table:
    """The customers who pay more, the greatest change first."""
    return _table(report, customers, "Losers: they pay more", customers.losers)


def beyond_table(report: Report, candidate: int, rows: Sequence[Row]) -> Table:
    """Customers whose payments rise by more than a limit, in the order given."""
    places = report.figures.places

    def values(row: Row) -> tuple[Value, ...]:
        pair = [round_half_up(row.amounts[side], places) for side in (0, candidate)]
        name = NOTHING if row.key[0] is None else row.key[0]
        return (*values_of(pair, [share_of_change(row, candidate)]), name)

    return Table("Beyond the limit", (*columns_of(report, [candidate]), Column("Customer")), tuple(map(values, rows)))


def customers_table(report: Report, customers: Customers) -> Table:
    """Winners and losers below each other, with a word for which they are."""
    losers, winners = losers_table(report, customers), winners_table(report, customers)
    rows = (*(("pays more", *row) for row in losers.rows), *(("pays less", *row) for row in winners.rows))
    return Table("Winners and losers", (Column("Who"), *losers.columns), rows)


def _table(report: Report, customers: Customers, title: str, chosen: tuple[Row, ...]) -> Table:
    candidate = customers.candidate
    amounts = {row.key: amounts for row, amounts in zip(customers.rows, shown(report, customers.rows), strict=True)}

    def values(row: Row) -> tuple[Value, ...]:
        pair = (amounts[row.key][0], amounts[row.key][candidate])
        name = NOTHING if row.key[0] is None else row.key[0]
        return (name, row.requests, *values_of(pair, [share_of_change(row, candidate)]))

    columns = (Column("Customer"), Column("Requests", Kind.COUNT), *columns_of(report, [candidate]))
    return Table(title, columns, tuple(map(values, chosen)))


def unpriced_table(report: Report) -> Table:
    """The rows that are in no figure, by reason."""
    rows = (
        (each.rows, each.type or NOTHING, each.reason, each.side, _example(each.examples[0]))
        for each in report.simulation.unpriced
    )
    columns = (Column("Rows", Kind.COUNT), Column("Type"), Column("Reason"), Column("Prices"), Column("For example"))
    return Table("Rows without a price", columns, tuple(rows))


def disputed_table(report: Report) -> Table:
    """The rows of a billing export that do not agree with the prices under which they were billed."""
    rows = ((each.rows, each.reason, _example(each.examples[0])) for each in report.simulation.disputed)
    return Table("Disputed rows", (Column("Rows", Kind.COUNT), Column("Reason"), Column("For example")), tuple(rows))


def _example(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != "type")
