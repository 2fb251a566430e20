"""Winners and losers, and the rows that have no price."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.simulation.customers import Customers
from ratecard.simulation.report.apportion import apportion, apportion_rows
from ratecard.simulation.report.breakdown import NOTHING, columns_of, values_of
from ratecard.simulation.report.report import Report, share_of_prices
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.simulation.row import Row
from ratecard.words.money import EXACT, round_half_up


class Counts(NamedTuple):
    """How many customers pay less, more, and the same."""

    less: int
    more: int
    same: int


def changed(customers: Customers) -> Counts:
    """How many customers a candidate changes something for."""
    differences = [row.change(customers.candidate) for row in customers.kept]
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
        pair = [round_half_up(amount, places) for amount in row.both(candidate)]
        return (*values_of(pair, [share_of_prices(row, candidate)]), _name(row))

    return Table("Beyond the limit", (*columns_of(report, [candidate]), Column("Customer")), tuple(map(values, rows)))


def customers_table(report: Report, customers: Customers, *, exact: bool = False) -> Table:
    """Winners and losers below each other, with a word for which they are; with `exact`, the exact amounts."""
    losers = _table(report, customers, "", customers.losers, exact=exact)
    winners = _table(report, customers, "", customers.winners, exact=exact)
    rows = (*(("pays more", *row) for row in losers.rows), *(("pays less", *row) for row in winners.rows))
    return Table("Winners and losers", (Column("Who"), *losers.columns), rows)


def _table(report: Report, customers: Customers, title: str, chosen: tuple[Row, ...], *, exact: bool = False) -> Table:
    candidate = customers.candidate
    pairs: Sequence[Sequence[Decimal]] = [row.both(candidate) for row in customers.rows]
    if not exact:
        pairs = apportion_rows(pairs, report.simulation.total.both(candidate), report.figures.places)
    amounts = {row.key: pair for row, pair in zip(customers.rows, pairs, strict=True)}

    def values(row: Row) -> tuple[Value, ...]:
        shares = [share_of_prices(row, candidate)]
        return (_name(row), row.both_requests(candidate), *values_of(amounts[row.key], shares))

    columns = (Column("Customer"), Column("Requests", Kind.COUNT), *columns_of(report, [candidate]))
    return Table(title, columns, tuple(map(values, chosen)))


def lost_customers_table(report: Report, customers: Customers) -> Table:
    """The customers whose requests a candidate does not offer any more, and what these bring now."""
    candidate, places = customers.candidate, report.figures.places
    amounts = apportion([row.beside(candidate).lost for row in customers.lost], places)
    rows = (
        (_name(row), row.beside(candidate).lost_requests, amount, row.requests)
        for row, amount in zip(customers.lost, amounts, strict=True)
    )
    columns = (Column("Customer"), Column("Requests lost", Kind.COUNT), Column("Lost", Kind.MONEY))
    return Table("They lose requests", (*columns, Column("Of requests", Kind.COUNT)), tuple(rows))


def uncommon_table(report: Report, candidate: int, *, exact: bool = False) -> Table:
    """What only one of the current prices and a candidate offer, with the reason of the other; the most first.

    With `exact`, for a workbook, the exact amounts.
    """
    simulation, places = report.simulation, report.figures.places
    _, taken, added = report.parts(candidate, exact=exact)
    lost, new = simulation.lost(candidate), simulation.new(candidate)
    found = [*(("lost", each) for each in lost), *(("new", each) for each in new)]
    parts = ([EXACT.minus(each.amount) for each in lost], taken), ([each.amount for each in new], added)
    amounts = [
        amount for each, whole in parts for amount in (each if exact or not each else apportion(each, places, whole))
    ]
    rows = tuple(
        (word, each.requests, each.type or NOTHING, each.model or NOTHING, each.reason, amount)
        for (word, each), amount in zip(found, amounts, strict=True)
    )
    columns = (Column("What"), Column("Requests", Kind.COUNT), Column("Type"), Column("Model"), Column("Reason"))
    tones = [Kind(word) for word, _ in found]
    requests, whole = sum(each.requests for _, each in found), EXACT.add(taken, added)
    total = ("Total", requests, "", "", "", whole) if found else None
    return Table("Lost and new", (*columns, Column("Adds", Kind.CHANGE)), rows, total, tones=tuple(tones))


def _name(row: Row) -> str:
    return NOTHING if row.key[0] is None else row.key[0]


def unpriced_table(report: Report) -> Table:
    """The rows that are in no figure, by reason."""
    rows = (
        (each.rows, each.type or NOTHING, each.reason, each.side, _example(each.examples[0]))
        for each in report.without_price
    )
    columns = (Column("Rows", Kind.COUNT), Column("Type"), Column("Reason"), Column("Prices"), Column("For example"))
    return Table("Rows without a price", columns, tuple(rows))


def disputed_table(report: Report) -> Table:
    """The rows of a billing export that do not agree with the prices under which they were billed."""
    rows = ((each.rows, each.reason, _example(each.examples[0])) for each in report.simulation.disputed)
    return Table("Disputed rows", (Column("Rows", Kind.COUNT), Column("Reason"), Column("For example")), tuple(rows))


def _example(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != "type")
