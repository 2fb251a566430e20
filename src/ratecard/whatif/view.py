"""The parts of an answer on the page: a sentence, a few large figures, charts and tables."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.money import EXACT, round_half_up, total
from ratecard.pages import page_text
from ratecard.requests.service_parameters import family_of
from ratecard.simulation.answers.customers import Discounted
from ratecard.simulation.report.charts import Chart, bar_chart, change_by_model, revenue_by_period
from ratecard.simulation.report.figures import Column, Figures, Kind, Table, Value
from ratecard.simulation.report.page import written_cell
from ratecard.simulation.report.report import CUSTOMER, Report
from ratecard.simulation.report.sentences import details, further, headline, scope
from ratecard.simulation.report.tables import (
    NO_VALUE,
    changing_most,
    largest,
    losers_table,
    shown,
    unpriced_table,
    winners_table,
)
from ratecard.simulation.rows.columns import DAY


def _table_html(table: Table, figures: Figures) -> str:
    if not table.rows:
        return ""
    kinds = [column.kind for column in table.columns]

    def cells(row: Sequence[Value]) -> list[tuple[str, str]]:
        return [written_cell(value, kind, figures) for value, kind in zip(row, kinds, strict=True)]

    return page_text(
        "whatif_table.html",
        headings=[(column.name, written_cell(None, column.kind, figures)[1]) for column in table.columns],
        rows=list(map(cells, table.rows)),
        total=cells(table.total) if table.total else None,
    )


# Readable colours for light and for dark pages, because the server does not know which kind the browser shows.
_COLOURS = {
    "var(--ink)": "#76808d",
    "var(--quiet)": "#8a939f",
    "var(--edge)": "rgba(128, 138, 150, 0.25)",
    "var(--rise)": "#3b86d1",
    "var(--fall)": "#d0642a",
    "var(--lost)": "#c2508f",
    "var(--new)": "#3d9a5b",
    "var(--line)": "#3b86d1",
}


class Plot(NamedTuple):
    """A chart as a figure of Plotly, with its title and height in pixels."""

    title: str
    height: int
    figure: dict[str, Any]


def plot(chart: Chart, figures: Figures) -> Plot:
    """Make the figure of a chart."""
    axis = {"gridcolor": "var(--edge)", "linecolor": "var(--edge)", "fixedrange": True, "automargin": True}
    layout = {
        "paper_bgcolor": "transparent",
        "plot_bgcolor": "transparent",
        "margin": {"l": 8, "r": 24, "t": 24, "b": 8},
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "var(--ink)"},
        "showlegend": len(chart.data) > 1,
        "separators": figures.separators,
        **chart.layout,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        **{name: {**axis, **chart.layout.get(name, {})} for name in ("xaxis", "yaxis")},
    }
    figure = {"data": chart.data, "layout": layout, "config": {"displayModeBar": False}}
    return Plot(chart.title, chart.height, _coloured(figure))


def _coloured(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _coloured(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_coloured(part) for part in value]
    return _COLOURS.get(value, value) if isinstance(value, str) else value


_FAMILIES = 12


def revenue_by_family(report: Report) -> Chart:
    """Draw a bar for each family with most revenue."""
    tables = report.simulation.sides[0].card.tables
    sums: dict[str, list[Decimal]] = {}
    rows = report.simulation.by_model
    for row, amounts in zip(rows, shown(report, rows), strict=True):
        sums.setdefault(family_of(tables, row.key[0]) or NO_VALUE, []).append(amounts[0])
    order = sorted(((total(amounts), family) for family, amounts in sums.items()), key=lambda pair: (-pair[0], pair[1]))
    bars = [(family, amount) for amount, family in order[:_FAMILIES]]
    return bar_chart(report, "Revenue by family", "The families that bring most.", bars)


# The number of models, and of customers in each list, on the page.
_MODELS, _CUSTOMERS = 12, 10


class Tile(NamedTuple):
    """A large figure; `direction` is -1 for a fall, 1 for a rise, else 0."""

    label: str
    value: str
    note: str = ""
    direction: int = 0


class CustomerPrices(NamedTuple):
    """The charges of every customer by contract, and at list prices, under each side."""

    customers: Mapping[str, Discounted]
    sides: tuple[str, ...]
    figures: Figures

    @classmethod
    def of(cls, report: Report) -> "CustomerPrices":
        """Return the prices of the customers of a report, the greatest discount first."""
        ranked = sorted(report.discounts, key=lambda customer: (-customer.discount(0), customer.customer or ""))
        names, nobody = {customer.customer for customer in ranked}, NO_VALUE
        while nobody in names:  # a customer may have this name
            nobody = f"({nobody})"
        named = {nobody if customer.customer is None else customer.customer: customer for customer in ranked}
        return cls(named, ("Now", *(f"With {name}" for name in report.names[1:])), report.figures)

    def table(self, customer: str) -> str:
        """Show list, discount and net of one customer, rounded so that they add up."""
        columns = (Column("Prices"), *(Column(name, Kind.MONEY) for name in ("List", "Discount", "Net")))
        discounted, places = self.customers[customer], self.figures.places
        rows = []
        for side, name in enumerate(self.sides):
            listed, net = (round_half_up(amounts[side], places) for amounts in (discounted.lists, discounted.nets))
            rows.append((name, listed, EXACT.subtract(listed, net), net))
        return _table_html(Table("", columns, tuple(rows)), self.figures)


class Panel(NamedTuple):
    """Everything that changes with a draft, tables as HTML. Parts that the usage does not have are None or empty."""

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
    # Present only without changes.
    largest: str = ""
    payers: str = ""
    # Present only where rows are priced by contract.
    customers: CustomerPrices | None = None


def panel_now(report: Report) -> Panel:
    """Return the panel of the current prices alone."""
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
        largest=_table_html(largest(report, "model", _MODELS), report.figures),
        payers=_table_html(largest(report, CUSTOMER, _CUSTOMERS), report.figures) if report.has(CUSTOMER) else "",
        customers=CustomerPrices.of(report) if report.discounts else None,
    )


def panel_of(report: Report) -> Panel:
    """Return the panel of the current prices and a candidate."""
    customers = report.customers(1) if report.has(CUSTOMER) else None
    unchanged = "Charts and tables are at unchanged usage." if report.expected is not None else ""
    return Panel(
        headline(report, 1),
        scope(report),
        tuple(filter(None, (details(report, 1), *further(report, 1), unchanged))),
        tuple(_tiles(report)),
        plot(change_by_model(report, 1), report.figures),
        _by_day(report),
        _html(report, changing_most(report, "model", _MODELS, 1)),
        _html(report, winners_table(report, customers), _CUSTOMERS) if customers else "",
        _html(report, losers_table(report, customers), _CUSTOMERS) if customers else "",
        _unpriced(report),
        customers=CustomerPrices.of(report) if report.discounts else None,
    )


def _unpriced(report: Report) -> str:
    return _table_html(unpriced_table(report), report.figures) if report.unpriced else ""


def _by_day(report: Report) -> Plot | None:
    return plot(revenue_by_period(report, DAY), report.figures) if report.has(DAY) else None


def _tiles(report: Report) -> Iterator[Tile]:
    figures, before = report.figures, report.revenue(0)
    yield Tile("Revenue now", figures.money(before))
    if len(report.names) > 1:
        difference = EXACT.subtract(report.revenue(1), before)
        words = ("Expected with", "Expected difference") if report.expected is not None else ("With", "Difference")
        yield Tile(f"{words[0]} {report.names[1]}", figures.money(report.revenue(1)))
        direction = (difference > 0) - (difference < 0)
        yield Tile(words[1], figures.change(difference), figures.percent(report.share(1)), direction)
    for side, label in enumerate(("Margin now", "Margin then")[: len(report.names)]):
        if (margin := report.margin_of(side)) is not None:
            _, left, share = margin
            note = f"{figures.percent(share, signed=False)} of revenue" if share is not None else ""
            yield Tile(label, figures.money(figures.rounded(left)), note)


def _html(report: Report, table: Table, most: int | None = None) -> str:
    return _table_html(table._replace(rows=table.rows[:most]).without(Kind.COUNT), report.figures)
