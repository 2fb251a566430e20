"""A simulation as one HTML page: the answer, rows without a price, charts, and tables that sort on a click.

The page loads nothing: the library of its charts is written into it.
"""

import gzip
from base64 import b64encode
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from ratecard.base.money import EXACT, from_fraction, text
from ratecard.pages import page_parts
from ratecard.simulation.groups.plan import PERIODS
from ratecard.simulation.report import sentences, tables
from ratecard.simulation.report.charts import (
    change_by_model,
    customers_chart,
    largest_chart,
    revenue_by_period,
    waterfall,
)
from ratecard.simulation.report.figures import CHANGES, Column, Figures, Kind, Table, Value, written
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.tables import MOST_OF_KEY, heading, narrow, sides_table
from ratecard.simulation.rows.columns import DAY

_TEXTS = {Kind.TEXT, Kind.DAY}
# The most rows of a key, with the row of all others.
MOST_SHOWN = MOST_OF_KEY + 1
EXPECTED_NOTE = "Charts and tables below are of unchanged usage, unless they say that they are expected."
_SORTED_PLACES = 12
# Tables with more columns have smaller type.
_MOST_COLUMNS = 9
# How many candidates the table of margins shows beside the current prices.
_MARGINS = 2
_BRIDGES = (tables.effects_table, tables.bridge_table)

# The text of a cell, its classes, and its value for sorting; a cell of text has only the first.
_Cell = tuple[str, str, str]


def _laid(table: Table, figures: Figures) -> dict[str, Any]:
    """Lay out a table for the template; a very long one has only its first thousand rows."""
    kept = table.without(Kind.EXACT)
    tones = kept.tones or (Kind.CHANGE,) * len(kept.rows)
    rows = list(zip(kept.rows, tones, strict=True))[:MOST_SHOWN]
    more = f"The first {MOST_SHOWN:,} of {kept.size:,} rows; a spreadsheet or CSV has all."
    return {
        # Each heading, and whether numbers are below it.
        "headings": [(column.name, column.kind not in _TEXTS) for column in kept.columns],
        "rows": (_cells(row, kept.columns, figures, tone) for row, tone in rows),
        "total": _cells(kept.total, kept.columns, figures) if kept.total else None,
        "notes": [note for note in (table.note, more if kept.size > MOST_SHOWN else "") if note],
        "dense": len(kept.columns) > _MOST_COLUMNS,
    }


def _cells(row: Sequence[Value], columns: Sequence[Column], figures: Figures, tone: Kind = Kind.CHANGE) -> list[_Cell]:
    cells = []
    for value, column in zip(row, columns, strict=True):
        words, classes = written_cell(value, column.kind, figures, tone)
        cells.append((words, classes, _sortable(value) if classes else ""))
    return cells


def written_cell(value: Value, kind: Kind, figures: Figures, row: Kind = Kind.CHANGE) -> tuple[str, str]:
    """Return a cell's text and classes: empty for text, `number` and a tone for amounts. `row` is the row's tone."""
    tone = tone_of(value, kind, row)
    return written(value, kind, figures), "" if kind in _TEXTS else f"number {tone}" if tone else "number"


def tone_of(value: Value, kind: Kind, row: Kind = Kind.CHANGE) -> str:
    """Return the class that colours a value: `rise`, `fall`, `lost` or `new`; `fall` for other amounts below zero."""
    if not isinstance(value, (Decimal, Fraction)) or not value:
        return ""
    tone = row if kind is Kind.CHANGE else kind
    if tone in (Kind.LOST, Kind.NEW):
        return str(tone.value)
    if kind in CHANGES or kind is Kind.PERCENT:
        return "rise" if value > 0 else "fall"
    return "fall" if value < 0 else ""


def _sortable(value: Value) -> str:
    """Write a value so that the script of the page can sort it: a number in plain digits."""
    if isinstance(value, Fraction):
        return text(from_fraction(value, _SORTED_PLACES))
    return text(value) if isinstance(value, Decimal) else str("" if value is None else value)


def write_page(report: Report, path: Path) -> None:
    """Write the page, about two megabytes, mostly the packed library of the charts. Raises `OSError`."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(page_parts("report.html", **_values(report)))


def _values(report: Report) -> dict[str, Any]:
    figures, question, names = report.figures, report.question, count(1)
    target, result = question.target, question.reached
    left, rows = figures.count(report.unpriced), figures.counted(report.simulation.rows, "row")
    several, first = len(report.candidates) > 1, min(1, len(report.candidates))
    # A period has a line chart of its own, so it is not drawn as bars.
    sides, keys, lines = sides_table(report), _keys(report), (DAY, *PERIODS)
    has_prices = bool(report.simulation.priced)  # Without a price there is nothing to draw.
    return {
        "names": report.names,
        "locale": str(figures.locale).replace("_", "-"),
        "separators": figures.separators,
        "lay": lambda table: _laid(table, figures),
        "next_name": lambda: f"figure{next(names)}",
        # The page unpacks this text. Without a time in it, the same script always makes the same page.
        "plotly": b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode(),
        "several": several,
        "sides": sides if len(sides.rows) > 1 + first else None,
        "answers": sentences.answers(report) if several else [],
        "headline": "" if several else sentences.headline(report, first),
        "details": [] if several else list(filter(None, [sentences.details(report, first)])),
        "scope": list(filter(None, (sentences.scope(report), sentences.own_days(report)))),
        "tiles_now": [] if report.candidates else _tiles(report, 0),
        "further_now": [] if report.candidates else list(sentences.further(report, 0)),
        "reached": [sentences.reached(report, target, result)] if target and result else [],
        "unpriced": f"{left} of {rows} {'has' if report.unpriced == 1 else 'have'} no price" if report.unpriced else "",
        "unpriced_verb": "is" if report.unpriced == 1 else "are",
        "unpriced_table": tables.unpriced_table(report),
        "warnings": report.simulation.reading.warnings(),
        "disputed": tables.disputed_table(report),
        "period": revenue_by_period(report, report.period) if report.period and has_prices else None,
        "largest": [
            largest_chart(report, key) for key in keys if key not in lines and has_prices and not report.candidates
        ],
        "expected": tables.expected_table(report, report.expected) if report.expected else None,
        "unchanged": EXPECTED_NOTE if report.expected else "",
        "candidates": [_candidate(report, candidate) for candidate in report.candidates],
        "bridge": list(sentences.bridge_sentences(report, report.bridge)) if report.bridge else [],
        "bridges": [make(report, report.bridge) for make in _BRIDGES] if report.bridge else [],
        "margins": [*_discounts(report), *_margins(report)],
        "all": list(_all(report)),
        "about": tables.about_table(report),
    }


def _candidate(report: Report, candidate: int) -> dict[str, Any]:
    """Return the values of the part of the page about one candidate."""
    customers = report.customers(candidate)
    charts = [change_by_model(report, candidate)] if report.simulation.priced else []
    listed = [
        tables.attribution_table(report, candidate)._replace(title="Every rate that changes revenue"),
        tables.uncommon_table(report, candidate)._replace(title="What only one side offers"),
    ]
    if customers is not None:
        charts.append(customers_chart(report, customers))
        listed += [
            tables.lost_customers_table(report, customers, MOST_OF_KEY),
            tables.losers_table(report, customers),
            tables.winners_table(report, customers),
        ]
    if report.margin is not None:
        listed.append(tables.below_cost_table(report, report.margin, candidate))
    unused = tables.untouched_table(report, candidate)
    return {
        "name": report.names[candidate],
        "proposals": list(sentences.proposals(report, candidate)),
        "tiles": _tiles(report, candidate),
        "further": list(sentences.further(report, candidate)),
        "differs": bool(report.simulation.total.difference(candidate)) or report.lost_and_new,
        "charts": charts,
        "waterfall": waterfall(report, candidate),
        "tables": listed,
        "unused": unused,
        "unused_title": f"{report.figures.count(len(unused.rows))} changed rates that no request used",
    }


def _tiles(report: Report, candidate: int) -> list[tuple[str, str, str, str]]:
    """Return the figures that are read first, each with its label, text, tone and note."""
    figures, expected = report.figures, "Expected revenue" if report.expected else "Revenue"
    before, after = report.revenue(0), report.revenue(candidate)
    tiles = [(f"{expected} now", figures.money(before), "", "")]
    if candidate:
        change = EXACT.subtract(after, before)
        tone = tone_of(change, Kind.CHANGE)
        arrow = {"rise": "▲ ", "fall": "▼ "}.get(tone, "")
        tiles.append((f"{expected} then", figures.money(after), "", ""))
        share = figures.percent(report.share(candidate)) or "from zero"
        name = "Expected change" if report.expected else "Change"
        tiles.append((name, f"{arrow}{figures.change(change)}", tone, share))
    if report.expected is not None:
        plain = report.difference(candidate) if candidate else report.rounded(0)
        words = figures.change(plain) if candidate else figures.money(plain)
        tiles.append(("At unchanged usage", words, tone_of(plain, Kind.CHANGE) if candidate else "", ""))
    for side, word in ((0, "now"), (candidate, "then")) if candidate else ((0, "now"),):
        if (margin := report.margin_of(side)) is not None:
            left, share = figures.money(figures.rounded(margin[1])), figures.percent(margin[2], signed=False)
            name = "Expected margin" if report.expected else "Margin"
            tiles.append((f"{name} {word}", share or left, "", f"{left} of revenue"))
    if candidate and (customers := report.customers(candidate)) is not None:
        more, less = figures.count(customers.more), figures.count(customers.less)
        tiles += [("Customers pay more", more, "", ""), ("Customers pay less", less, "", "")]
    return tiles


def _keys(report: Report) -> Sequence[str]:
    """Return the model, and every key that the usage is grouped by."""
    return tuple(dict.fromkeys(("model", *report.simulation.by)))


def _discounts(report: Report) -> Iterator[Table]:
    """Yield the table of customers with contracts: the current prices beside each candidate, or alone."""
    if report.discounts:
        for chosen in [[candidate] for candidate in report.candidates] or [[]]:
            table = tables.discounts_table(report, [0, *chosen])
            yield table._replace(title=_title(report, table.title, chosen))


def _margins(report: Report) -> Iterator[Table]:
    """Yield the tables of margin, each for as many candidates as fit."""
    if report.margin is not None:
        for first in range(1, max(len(report.names), 2), _MARGINS):
            chosen = report.candidates[first - 1 : first - 1 + _MARGINS]
            table = tables.margin_table(report, report.margin, [0, *chosen])
            yield table._replace(title=_title(report, table.title, chosen))


def _all(report: Report) -> Iterator[tuple[str, Table]]:
    """Yield the title and the table of every key of the report, each for as many candidates as fit."""
    for key in _keys(report):
        for candidates, table in narrow(report, key):
            size = report.simulation.size(key)
            most = f"The {MOST_OF_KEY:,} of {size:,} that matter most; a spreadsheet or CSV has all."
            note = most if size > MOST_OF_KEY else ""
            yield _title(report, f"By {heading(key).lower()}", candidates), table._replace(note=note)


def _title(report: Report, title: str, chosen: Sequence[int]) -> str:
    """Return the title of a table of some candidates, with their names unless it shows all of them."""
    names = ", ".join(report.names[candidate] for candidate in chosen)
    return title if len(chosen) == len(report.candidates) else f"{title}: {names}"
