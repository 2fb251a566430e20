"""The charts of the page, as Plotly's figures: values rounded as in the tables, colours by their names in the style."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html import escape
from itertools import accumulate, combinations
from math import ceil, floor
from textwrap import wrap
from typing import Any, NamedTuple

from ratecard.base.money import EXACT, exact_decimal, from_fraction, places_of, plain, text, total
from ratecard.simulation.answers.customers import Customers
from ratecard.simulation.report.figures import Figures, Kind
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.tables import changes_of, changing_most, greatest_parts, heading, largest, shown

_MODELS, _PARTS = 15, 8
_QUIET, _RISE, _FALL, _LOST, _NEW = "var(--quiet)", "var(--rise)", "var(--fall)", "var(--lost)", "var(--new)"
_TONES = {Kind.LOST: _LOST, Kind.NEW: _NEW}
_LINES = ("var(--line)", "var(--second)", "var(--third)", "var(--fourth)")
# Heights in pixels; and the most characters in a line of a label, so that bars have room on a phone.
_LINE, _ROW, _MARGIN = 15, 14, 70
_LABEL = 24
# Lines that differ by less than a hundredth of an axis look like one.
_SEEN = 100
# The space beside the steps of a waterfall is an eighth of their span; its axis has six decimals.
_PAD, _PLACES = 8, 6


class Chart(NamedTuple):
    """A figure with its title, and a note for readers who cannot see it; `height` is in pixels."""

    title: str
    note: str
    height: int
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def revenue_by_period(report: Report, period: str) -> Chart:
    """Draw a line for each side by day, week or month; with several candidates, the change of each."""
    rows = report.simulation.table(period)
    known = [(row.key[0], amounts) for row, amounts in zip(rows, shown(report, rows), strict=True) if row.key[0]]
    times, amounts = [time for time, _ in known], [row for _, row in known]
    several, lines = len(report.candidates) > 1, []
    plotted = {
        side: [EXACT.subtract(row[side], row[0]) if several else row[side] for row in amounts]
        for side in range(several, len(report.names))
    }
    for side, values in plotted.items():
        colour = _LINES[(side - 1) % len(_LINES)] if side else _QUIET
        line = {"color": colour, "width": 2, "dash": "solid" if side or len(plotted) == 1 else "dot"}
        points = _points(report, "y", values, signed=range(len(values)) if several else range(0))
        lines.append(
            {"type": "scatter", "mode": "lines", "name": report.names[side], "x": times, "line": line} | points
        )
    every = [value for values in plotted.values() for value in values] or [Decimal(0)]
    dates = {"type": "category"} if period == "month" else {"type": "date", "tickformat": "%Y-%m-%d"}
    axes = {"xaxis": dates | {"nticks": 6}, "yaxis": _money_axis(report.figures, min(every), max(every))}
    named = [(report.names[side], values) for side, values in plotted.items()]
    note = "What each candidate changes." if several else "A line for each set of prices." if report.candidates else ""
    same = _coinciding(report.figures, named, period, EXACT.subtract(max(every), min(every)))
    title = f"{'Change' if several else 'Revenue'} by {period}"
    layout = {**axes, "hovermode": "x unified", "showlegend": True}
    return Chart(title, " ".join(filter(None, (note, *same))), 320, lines, layout)


def _coinciding(
    figures: Figures, lines: Sequence[tuple[str, Sequence[Decimal]]], period: str, height: Decimal
) -> Iterator[str]:
    """Yield a sentence for each pair of lines that coincide, in part or almost, so that they look like one."""
    for (name, line), (other, another) in combinations(lines, 2):
        distances = [EXACT.subtract(amount, near).copy_abs() for amount, near in zip(line, another, strict=True)]
        greatest, equal_count = max(distances, default=Decimal(0)), distances.count(Decimal(0))
        if not greatest:
            yield f"{name} and {other} are one line: they are equal every {period}."
        elif greatest * _SEEN < height:
            yield f"{name} and {other} look like one line: they differ by at most {figures.money(greatest)} a {period}."
        elif equal_count:
            periods = figures.counted(len(distances), period)
            yield f"{name} and {other} are equal on {figures.count(equal_count)} of {periods}."


def largest_chart(report: Report, key: str) -> Chart:
    """Draw a bar for each value of a key with most revenue at the current prices."""
    table = largest(report, key, _MODELS)
    bars = [(str(row[0]), row[2]) for row in table.rows if isinstance(row[2], Decimal)]
    return bar_chart(report, f"Revenue by {heading(key).lower()}", "Those that bring most, and all others.", bars)


def change_by_model(report: Report, candidate: int) -> Chart:
    """Draw a bar for each model that changes most; its lost and new requests are parts in their own colours."""
    table = changing_most(report, "model", _MODELS, candidate)
    names, sums = [str(row[0]) for row in table.rows], changes_of(table)
    by_kind = {kind: changes_of(table, kind) for kind in _TONES}
    by_kind = {kind: amounts for kind, amounts in by_kind.items() if any(amounts)}
    prices = [EXACT.subtract(amount, total(list(rest))) for amount, *rest in zip(sums, *by_kind.values(), strict=True)]
    chart = bar_chart(report, "Change by model", "", list(zip(names, prices, strict=True)), _colours(prices))
    words = {"name": "by prices", "textposition": "auto", "textangle": 0, "cliponaxis": False}
    data = [chart.data[0] | words | _points(report, "x", prices, signed=range(len(prices)), labelled=True)]
    for kind, amounts in by_kind.items():
        drawn = {"name": kind.value, "marker": {"color": _TONES[kind]}}
        data.append(data[0] | drawn | _points(report, "x", amounts, signed=range(len(amounts)), labelled=True))
    parts_text = ", ".join(kind.value for kind in by_kind)
    note = "The models that change most" + (f": by prices, {parts_text}." if parts_text else ".")
    # The parts below zero go to the left of a bar, the others to the right.
    bars = [[*map(Fraction, parts)] for parts in zip(prices, *by_kind.values(), strict=True)]
    zero = Fraction(0)
    least = min(sum((min(part, zero) for part in parts), zero) for parts in bars)
    most = max(sum((max(part, zero) for part in parts), zero) for parts in bars)
    pad = (most - least) / _PAD
    ends = [from_fraction(end, _PLACES) for end in (least - pad, most + pad)]
    axis = _money_axis(report.figures, *ends) | ({"range": list(map(text, ends))} if pad else {})
    layout = chart.layout | {"barmode": "relative", "showlegend": False, "xaxis": axis}
    return chart._replace(note=note, data=data, layout=layout)


def bar_chart(
    report: Report, title: str, note: str, bars: Sequence[tuple[str, Decimal]], colours: Sequence[str] | str = _QUIET
) -> Chart:
    """Draw a bar for each name, the first one at the top."""
    names = [name for name, _ in bars]
    drawn = {"type": "bar", "orientation": "h", "y": _labels(names), "marker": {"color": colours}}
    amounts = [Decimal(0), *(amount for _, amount in bars)]
    layout = {"xaxis": _money_axis(report.figures, min(amounts), max(amounts)), "yaxis": _label_axis()}
    points = _points(report, "x", amounts[1:])
    return Chart(title, note, _height(names), [drawn | points], layout)


def customers_chart(report: Report, customers: Customers) -> Chart:
    """Draw the number of customers in each band of changes, without the empty bands at both ends."""
    filled = [number for number, band in enumerate(customers.distribution) if band.customers]
    bands = customers.distribution[filled[0] : filled[-1] + 1] if filled else ()
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
    """Draw the steps from the current total, by the rates that changed, to the candidate's."""
    before, after = report.rounded(0), report.rounded(candidate)
    parts = greatest_parts(report, candidate, _PARTS)
    changes = [amount for _, amount, _ in parts]
    names = [report.names[0], *(name for name, _, _ in parts), report.names[candidate]]
    colours = [_TONES.get(tone, colour) for (_, _, tone), colour in zip(parts, _colours(changes), strict=True)]
    low, high, cut = _span(before, changes)
    levels = list(accumulate(changes, EXACT.add, initial=before))
    # The two totals begin at the left edge, and each change where the bar before it ends.
    steps = {
        "type": "bar",
        "orientation": "h",
        "y": _labels(names),
        "base": [text(low), *map(text, levels[:-1]), text(low)],
        "marker": {"color": [_QUIET, *colours, _QUIET]},
        "textposition": "auto",
        "textangle": 0,
        "cliponaxis": False,
    } | _points(report, "x", [before, *changes, after], signed=range(1, len(parts) + 1), labelled=True)
    steps["x"] = list(map(text, [EXACT.subtract(before, low), *changes, EXACT.subtract(after, low)]))
    layout = {
        "xaxis": _money_axis(report.figures, low, high) | {"range": [text(low), text(high)]},
        "yaxis": _label_axis(),
    }
    note = "The greatest parts of the change, by rate." + (" The axis does not begin at zero." if cut else "")
    return Chart("Why revenue changes", note, _height(names), [steps], layout)


def _span(before: Decimal, changes: Sequence[Decimal]) -> tuple[Decimal, Decimal, bool]:
    """Return the ends of a waterfall's axis, and True if it leaves out zero, so that small steps can be seen."""
    levels = list(accumulate(map(Fraction, changes), initial=Fraction(before)))
    least, most = min(levels), max(levels)
    pad = (most - least or most) / _PAD
    cut = 2 * least > most
    low = least - pad if cut else min(Fraction(0), least - pad)
    return from_fraction(low, _PLACES), from_fraction(most + pad, _PLACES), cut


def _points(
    report: Report, axis: str, amounts: Sequence[Decimal], signed: range = range(0), *, labelled: bool = False
) -> dict[str, Any]:
    """Return values on an axis, each with its text under the pointer; with `labelled`, at its bar too."""
    figures = report.figures
    words = [
        figures.change(amount) if index in signed else figures.money(amount) for index, amount in enumerate(amounts)
    ]
    points = {axis: list(map(text, amounts)), "customdata": words, "hovertemplate": "%{customdata}"}
    labels = [word if amount else "" for word, amount in zip(words, amounts, strict=True)]
    return points | {"text": labels} if labelled else points


def _labels(names: Sequence[str]) -> list[str]:
    """Wrap names; each is one text with line breaks, so that the chart does not merge names with equal beginnings."""
    return ["<br>".join(wrap(escape(name), _LABEL)) for name in names]


def _height(names: Sequence[str]) -> int:
    lines = max(len(wrap(name, _LABEL)) for name in names)
    return _MARGIN + (_ROW + _LINE * lines) * len(names)


def _colours(changes: Sequence[Decimal]) -> list[str]:
    return [_RISE if change > 0 else _FALL for change in changes]


def _money_axis(figures: Figures, low: Decimal, high: Decimal) -> dict[str, Any]:
    """Return an axis of amounts, written as elsewhere in the report: with the sign before the currency's symbol."""
    ticks = _ticks(low, high)
    places = max(places_of(plain(tick)) for tick in ticks)
    written = replace(figures, places=max(places, 2) if places else 0)
    labels = {"tickvals": list(map(text, ticks)), "ticktext": list(map(written.money, ticks))}
    return {"type": "linear", "tickmode": "array", **labels, "zerolinecolor": _QUIET}


def _ticks(low: Decimal, high: Decimal) -> list[Decimal]:
    """Return at most six round amounts between two, such as -100, 0 and 100."""
    span = Fraction(high) - Fraction(low)
    if not span:
        return [low]
    size = Fraction(10) ** (len(str(int(span))) if span >= 1 else -len(str(int(1 / span))) + 1)
    step = next(round_step for times in (1, 2, 4, 5, 10, 20, 40) if span / (round_step := size / times) >= 3)
    first, last = ceil(Fraction(low) / step), floor(Fraction(high) / step)
    return [exact_decimal(step * number) for number in range(first, last + 1)]


def _label_axis() -> dict[str, Any]:
    return {"type": "category", "autorange": "reversed", "automargin": True}
