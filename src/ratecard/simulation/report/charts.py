"""The charts of the page, as Plotly's figures: values rounded as in the tables, colours by their names in the style."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from html import escape
from itertools import accumulate
from textwrap import wrap
from typing import Any, NamedTuple

from ratecard.simulation.customers import Customers
from ratecard.simulation.report.breakdown import changes_of, changing_most, shown
from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.reasons import greatest_parts
from ratecard.simulation.report.report import Report
from ratecard.words.money import EXACT, from_fraction, text

_MODELS, _PARTS = 15, 8
_INK, _QUIET, _RISE, _FALL = "var(--ink)", "var(--quiet)", "var(--rise)", "var(--fall)"
_LINES = ("var(--line)", "var(--second)", "var(--third)", "var(--fourth)")
# In pixels; what a label may have in a line leaves room for the bars on a phone.
_LINE, _ROW, _MARGIN = 15, 14, 70
_LABEL = 24
# What is left free beside the steps of a waterfall: an eighth of them; and the decimals of its axis.
_PAD, _PLACES = 8, 6


class Chart(NamedTuple):
    """A figure with what it says, for those who cannot see it; `height` in pixels."""

    title: str
    note: str
    height: int
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def revenue_by_period(report: Report, period: str) -> Chart:
    """A line for each side by day, week or month; of several candidates what each of them changes."""
    rows = report.simulation.table(period)
    known = [(row.key[0], amounts) for row, amounts in zip(rows, shown(report, rows), strict=True) if row.key[0]]
    times, amounts = [time for time, _ in known], [each for _, each in known]
    several = len(report.candidates) > 1
    lines = []
    for side, name in enumerate(report.names):
        if several and not side:
            continue
        colour = _LINES[(side - 1) % len(_LINES)] if side else _QUIET
        line = {"color": colour, "width": 2, "dash": "solid" if side else "dot"}
        values = [EXACT.subtract(row[side], row[0]) if several else row[side] for row in amounts]
        points = _points(report, "y", values, signed=range(len(values)) if several else range(0))
        lines.append({"type": "scatter", "mode": "lines", "name": name, "x": times, "line": line} | points)
    dates = {"type": "category"} if period == "month" else {"type": "date", "tickformat": "%Y-%m-%d"}
    axes = {"xaxis": dates | {"nticks": 6}, "yaxis": _money_axis(report.figures)}
    note = "What each candidate changes." if several else "A line for each set of prices."
    title = f"{'Change' if several else 'Revenue'} by {period}"
    return Chart(title, note, 320, lines, {**axes, "hovermode": "x unified", "showlegend": True})


def change_by_model(report: Report, candidate: int) -> Chart:
    """A bar for each model that changes most."""
    table = changing_most(report, "model", _MODELS, candidate)
    bars = list(zip([str(row[0]) for row in table.rows], changes_of(table), strict=True))
    return bar_chart(report, "Change by model", "The models that change most.", bars, _colours(changes_of(table)))


def bar_chart(
    report: Report, title: str, note: str, bars: Sequence[tuple[str, Decimal]], colours: Sequence[str] | str = _QUIET
) -> Chart:
    """A bar for each name, the first one at the top."""
    names = [name for name, _ in bars]
    drawn = {"type": "bar", "orientation": "h", "y": _labels(names), "marker": {"color": colours}}
    layout = {"xaxis": _money_axis(report.figures), "yaxis": _label_axis()}
    points = _points(report, "x", [amount for _, amount in bars])
    return Chart(title, note, _height(names), [drawn | points], layout)


def customers_chart(report: Report, customers: Customers) -> Chart:
    """How many customers see which change, without the empty bands at both ends."""
    bands = list(customers.distribution)
    while bands and not bands[0].customers:
        bands.pop(0)
    while bands and not bands[-1].customers:
        bands.pop()
    colours = [_QUIET if band.least == band.most == 0 else _FALL if band.falls else _RISE for band in bands]
    counts = [band.customers for band in bands]
    bars = {"type": "bar", "x": [band.label for band in bands], "y": counts, "marker": {"color": colours}}
    words = {"text": list(map(report.figures.count, counts)), "textposition": "outside", "cliponaxis": False}
    layout = {
        "xaxis": {"type": "category", "tickangle": -45},
        "yaxis": {"title": {"text": "customers"}, "rangemode": "tozero"},
    }
    return Chart("Customers by change", "How many customers pay how much more or less.", 340, [bars | words], layout)


def waterfall(report: Report, candidate: int) -> Chart:
    """From the current total by the rates that changed to that of the candidate."""
    before, after = report.rounded(0), report.rounded(candidate)
    parts = greatest_parts(report, candidate, _PARTS)
    changes = [amount for _, amount in parts]
    names = [report.names[0], *(name for name, _ in parts), report.names[candidate]]
    steps = {
        "type": "waterfall",
        "orientation": "h",
        "measure": ["absolute", *["relative"] * len(parts), "total"],
        "y": _labels(names),
        "increasing": {"marker": {"color": _RISE}},
        "decreasing": {"marker": {"color": _FALL}},
        "totals": {"marker": {"color": _QUIET}},
        "connector": {"line": {"color": "var(--edge)"}},
    } | _points(report, "x", [before, *changes, after], signed=range(1, len(parts) + 1))
    low, high, cut = _span(before, changes)
    layout = {"xaxis": _money_axis(report.figures) | {"range": [text(low), text(high)]}, "yaxis": _label_axis()}
    note = "The greatest parts of the change, by rate." + (" The axis does not begin at zero." if cut else "")
    return Chart("Why revenue changes", note, _height(names), [steps], layout)


def _span(before: Decimal, changes: Sequence[Decimal]) -> tuple[Decimal, Decimal, bool]:
    """What the axis of a waterfall shows: all steps; from zero on unless they would be too small to see."""
    levels = list(accumulate(map(Fraction, changes), initial=Fraction(before)))
    least, most = min(levels), max(levels)
    pad = (most - least or most) / _PAD
    cut = 2 * least > most
    low = least - pad if cut else min(Fraction(0), least - pad)
    return from_fraction(low, _PLACES), from_fraction(most + pad, _PLACES), cut


def _points(report: Report, axis: str, amounts: Sequence[Decimal], signed: range = range(0)) -> dict[str, Any]:
    """Values on an axis, and how each is written where the pointer is."""
    figures = report.figures
    words = [
        figures.change(amount) if index in signed else figures.money(amount) for index, amount in enumerate(amounts)
    ]
    return {axis: list(map(text, amounts)), "customdata": words, "hovertemplate": "%{customdata}"}


def _labels(names: Sequence[str]) -> list[str]:
    """Names on several lines; each is one word for the chart, so that equal beginnings stay apart."""
    return ["<br>".join(wrap(escape(name), _LABEL)) for name in names]


def _height(names: Sequence[str]) -> int:
    lines = max(len(wrap(name, _LABEL)) for name in names)
    return _MARGIN + (_ROW + _LINE * lines) * len(names)


def _colours(changes: Sequence[Decimal]) -> list[str]:
    return [_RISE if change > 0 else _FALL for change in changes]


def _money_axis(figures: Figures) -> dict[str, Any]:
    before, behind = figures.symbol
    own = {"type": "linear", "tickprefix": before, "ticksuffix": behind, "exponentformat": "B", "nticks": 5}
    return {**own, "separatethousands": True, "zerolinecolor": _QUIET}


def _label_axis() -> dict[str, Any]:
    return {"type": "category", "autorange": "reversed", "automargin": True}
