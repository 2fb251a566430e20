"""What the page shows of a draft: a sentence, a few large figures, charts and tables."""

from collections.abc import Iterator
from typing import NamedTuple

from ratecard.simulation.columns import DAY
from ratecard.simulation.report.breakdown import changing_most
from ratecard.simulation.report.charts import change_by_model, revenue_by_period
from ratecard.simulation.report.costs import share_left
from ratecard.simulation.report.people import losers_table, unpriced_table, winners_table
from ratecard.simulation.report.report import CUSTOMER, Report, share_of_change
from ratecard.simulation.report.sentences import details, further, headline, scope
from ratecard.simulation.report.table import Kind, Table
from ratecard.whatif.figure import Plot, plot
from ratecard.whatif.money import largest, revenue_by_family
from ratecard.whatif.table import table_html
from ratecard.words.money import EXACT, round_half_up

# So many models, and customers on each side, fit on a page.
_MODELS, _CUSTOMERS = 12, 10


class Tile(NamedTuple):
    """A figure that is read first; `direction` is -1, 0 or 1."""

    label: str
    value: str
    note: str = ""
    direction: int = 0


class Panel(NamedTuple):
    """Everything that changes with a draft, tables as HTML. What the usage does not tell is None, or empty."""

    sentence: str
    scope: str
    notes: tuple[str, ...]
    tiles: tuple[Tile, ...]
    by_model: Plot | None
    by_day: Plot | None
    models: str = ""
    winners: str = ""
    losers: str = ""
    unpriced: str = ""
    # Where the money is, while nothing is changed.
    largest: str = ""
    payers: str = ""


def panel_now(report: Report) -> Panel:
    """The panel of the current prices alone."""
    day = report.simulation.sides[0].label
    words = f"This usage brings {report.figures.money(report.rounded(0))} at the prices of {day}."
    return Panel(
        words,
        scope(report),
        (),
        tuple(_tiles(report)),
        plot(revenue_by_family(report), report.figures),
        _by_day(report),
        unpriced=_unpriced(report),
        largest=table_html(largest(report, "model", _MODELS), report.figures),
        payers=table_html(largest(report, CUSTOMER, _CUSTOMERS), report.figures) if report.has(CUSTOMER) else "",
    )


def panel_of(report: Report, now: Panel) -> Panel:
    """The panel of the current prices and a candidate; `now` is that of the current prices alone."""
    customers = report.customers(1) if report.has(CUSTOMER) else None
    return Panel(
        headline(report, 1),
        scope(report),
        tuple(filter(None, (details(report, 1), *further(report, 1)))),
        tuple(_tiles(report)),
        plot(change_by_model(report, 1), report.figures),
        _by_day(report),
        _html(report, changing_most(report, "model", _MODELS, 1)),
        _html(report, winners_table(report, customers), _CUSTOMERS) if customers else "",
        _html(report, losers_table(report, customers), _CUSTOMERS) if customers else "",
        # A factor or a rate refuses nobody: the reasons are the same, as long as there are as many.
        now.unpriced if scope(report) == now.scope else _unpriced(report),
    )


def _unpriced(report: Report) -> str:
    return table_html(unpriced_table(report), report.figures) if report.unpriced else ""


def _by_day(report: Report) -> Plot | None:
    return plot(revenue_by_period(report, DAY), report.figures) if report.has(DAY) else None


def _tiles(report: Report) -> Iterator[Tile]:
    figures, before = report.figures, report.rounded(0)
    yield Tile("Revenue now", figures.money(before))
    if len(report.names) > 1:
        difference = EXACT.subtract(report.rounded(1), before)
        share = figures.percent(share_of_change(report.simulation.total, 1))
        yield Tile("With your changes", figures.money(report.rounded(1)))
        yield Tile("Difference", figures.change(difference), share, (difference > 0) - (difference < 0))
    if report.margin is not None:
        yield Tile("Margin now", *_margin(report, 0))
    if report.margin is not None and len(report.names) > 1:
        yield Tile("Margin then", *_margin(report, 1))


def _margin(report: Report, side: int) -> tuple[str, str]:
    """What is left under a side, and as a share of revenue."""
    if report.margin is None:
        return "", ""
    left = round_half_up(report.margin.total.margin(side), report.figures.places)
    share = report.figures.percent(share_left(report.margin.total, side), signed=False)
    return report.figures.money(left), f"{share} of revenue" if share else ""


def _html(report: Report, table: Table, most: int | None = None) -> str:
    return table_html(table._replace(rows=table.rows[:most]).without(Kind.COUNT), report.figures)
