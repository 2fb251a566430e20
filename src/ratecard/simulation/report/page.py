"""A simulation as one HTML page that needs nothing else: no file beside it, no network."""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import count
from pathlib import Path

from plotly.offline import get_plotlyjs

from ratecard.simulation.report.about import about_table
from ratecard.simulation.report.breakdown import narrow, sides_table
from ratecard.simulation.report.charts import Chart, change_by_model, customers_chart, revenue_by_period, waterfall
from ratecard.simulation.report.costs import below_cost_table, margin_table
from ratecard.simulation.report.page_script import SCRIPT
from ratecard.simulation.report.page_style import STYLE
from ratecard.simulation.report.page_table import MOST_ROWS, table_html
from ratecard.simulation.report.people import (
    changed,
    disputed_table,
    losers_table,
    lost_customers_table,
    uncommon_table,
    unpriced_table,
    winners_table,
)
from ratecard.simulation.report.periods import bridge_table
from ratecard.simulation.report.reasons import attribution_table, untouched_table
from ratecard.simulation.report.report import CUSTOMER, Report, share_of_change
from ratecard.simulation.report.sentences import answer, details, further, headline, proposals, reached, scope
from ratecard.simulation.report.table import Table
from ratecard.words.money import EXACT

# How many candidates the table of margins shows beside the current prices.
_MARGINS = 2
_LEGEND = """<p class="signs"><span class="rise">▲ more revenue</span> <span class="fall">▼ less revenue</span>
<span class="lost">▼ lost: only the current prices offer it</span>
<span class="new">▲ new: only the candidate offers it</span></p>
"""
# The browser itself then refuses to ask for anything.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write_page(report: Report, path: Path) -> None:
    """The page, with the library of its charts inside, packed: two megabytes."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(_Page(report).parts())


class _Page:
    def __init__(self, report: Report) -> None:
        self.report, self.figures, self._number = report, report.figures, count(1)

    def parts(self) -> Iterator[str]:
        locale = str(self.figures.locale).replace("_", "-")
        yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        title = escape(", ".join(self.report.names[1:]))
        yield f"<title>Price simulation: {title}</title><style>{STYLE}</style></head>\n"
        yield f'<body data-separators="{escape(self.figures.separators)}" data-locale="{escape(locale)}"><main>\n'
        several = len(self.report.candidates) > 1
        yield from self._answer()
        yield from self._missing()
        yield self._further(1) if not several else ""
        if (period := self.report.period) is not None:
            chart = revenue_by_period(self.report, period)
            yield f"<h2>{escape(chart.title)}</h2>{self._chart(chart)}"
        for candidate in self.report.candidates:
            yield f"<h2>{escape(self.report.names[candidate])}</h2>\n{self._first(candidate)}" if several else ""
            yield self._further(candidate) if several else ""
            yield from self._candidate(candidate)
        if self.report.bridge is not None:
            table = bridge_table(self.report, self.report.bridge)
            yield f"<h2>{escape(table.title)}</h2>{self._table(table)}"
        yield from self._all()
        yield f'</main>\n<script type="text/plain" id="plotly">{_packed(get_plotlyjs())}</script>\n'
        yield f'<script type="module">{SCRIPT}</script></body></html>\n'

    def _answer(self) -> Iterator[str]:
        report = self.report
        several = len(report.candidates) > 1
        yield '<p class="kicker">What if prices changed?</p>\n'
        if several:
            yield f"<h1>{len(report.candidates)} candidates compared with the current prices</h1>\n"
            yield self._table(sides_table(report))
            yield from (f"<p>{escape(answer(report, candidate))}</p>\n" for candidate in report.candidates)
        else:
            yield f"<h1>{escape(headline(report, 1))}</h1>\n"
            yield f"<p>{escape(words)}</p>\n" if (words := details(report, 1)) else ""
            yield self._first(1)
        yield f'<p class="quiet">{escape(scope(report))}</p>\n'
        question = report.question
        if question.target and question.reached:
            yield f"<p>{escape(reached(report, question.target, question.reached))}</p>\n"

    def _missing(self) -> Iterator[str]:
        report = self.report
        if report.unpriced:
            left, of = self.figures.count(report.unpriced), self.figures.count(report.simulation.rows)
            yield f'<section class="warning"><h2>{left} of {of} rows have no price, and are in no figure</h2>'
            yield f"{self._table(unpriced_table(report))}</section>\n"
        if said := report.simulation.reading.warnings():
            lines = "".join(f"<p>{escape(words)}</p>\n" for words in said)
            yield f'<section class="warning"><h2>What was read</h2>\n{lines}</section>\n'
        yield self._titled(disputed_table(report))

    def _candidate(self, candidate: int) -> Iterator[str]:
        report = self.report
        customers = report.customers(candidate)
        yield '<div class="charts">'
        yield self._section(change_by_model(report, candidate))
        if customers is not None:
            yield self._section(customers_chart(report, customers))
        yield f"</div>\n{self._section(waterfall(report, candidate))}"
        yield self._titled(attribution_table(report, candidate)._replace(title="Every rate that changes revenue"))
        yield self._titled(uncommon_table(report, candidate)._replace(title="What only one side offers"))
        if customers is not None:
            yield self._titled(lost_customers_table(report, customers))
            yield self._titled(losers_table(report, customers)) + self._titled(winners_table(report, customers))
        if report.margin is not None:
            yield self._titled(below_cost_table(report, report.margin, candidate))
        unused = untouched_table(report, candidate)
        yield self._folded(unused, f"{self.figures.count(len(unused.rows))} changed rates that no request used")

    def _all(self) -> Iterator[str]:
        report = self.report
        yield "<h2>All figures</h2>\n"
        if report.margin is not None:
            for first in range(1, len(report.names), _MARGINS):
                chosen = report.candidates[first - 1 : first - 1 + _MARGINS]
                yield self._folded(
                    margin_table(report, report.margin, [0, *chosen]), self._some("Margin by model", chosen)
                )
        for key in dict.fromkeys(("model", *report.simulation.by)):
            if key != CUSTOMER and report.simulation.size(key) <= MOST_ROWS:
                for shown, table in narrow(report, key):
                    yield self._folded(table, self._some(f"By {key}", shown))
        yield f"<h2>About</h2>\n{self._table(about_table(report))}"

    def _some(self, title: str, chosen: Sequence[int]) -> str:
        """The title of a table of some candidates; their names where there are others."""
        names = ", ".join(self.report.names[candidate] for candidate in chosen)
        return title if len(chosen) == len(self.report.candidates) else f"{title}: {names}"

    def _first(self, candidate: int) -> str:
        """What a candidate is, and its figures."""
        return f"{_paragraphs(proposals(self.report, candidate))}{self._tiles(candidate)}"

    def _further(self, candidate: int) -> str:
        legend = _LEGEND if self.report.simulation.total.difference(candidate) or self.report.uneven else ""
        return f"{_paragraphs(further(self.report, candidate))}{legend}"

    def _tiles(self, candidate: int) -> str:
        report, figures = self.report, self.figures
        before, after = report.rounded(0), report.rounded(candidate)
        change = EXACT.subtract(after, before)
        kind = "rise" if change > 0 else "fall" if change < 0 else ""
        share = figures.percent(share_of_change(report.simulation.total, candidate))
        tiles = [("Revenue now", figures.money(before), ""), ("Revenue then", figures.money(after), "")]
        arrow = {"rise": "▲ ", "fall": "▼ "}.get(kind, "")
        tiles += [
            ("Change", f"{arrow}{figures.change(change)}", kind),
            ("Change in percent", share or "from zero", kind),
        ]
        if (customers := report.customers(candidate)) is not None:
            less, more, _ = changed(customers)
            tiles += [("Customers pay more", figures.count(more), ""), ("Customers pay less", figures.count(less), "")]
        found = "".join(f'<li>{name}<b class="{kind}">{escape(words)}</b></li>' for name, words, kind in tiles)
        return f'<ul class="tiles">{found}</ul>\n'

    def _table(self, table: Table) -> str:
        return table_html(table, self.figures)

    def _titled(self, table: Table) -> str:
        return f"<h3>{escape(table.title)}</h3>{self._table(table)}" if table.rows else ""

    def _folded(self, table: Table, title: str) -> str:
        return f"<details><summary>{escape(title)}</summary>{self._table(table)}</details>\n" if table.rows else ""

    def _section(self, chart: Chart) -> str:
        return f"<section><h3>{escape(chart.title)}</h3>{self._chart(chart)}</section>\n"

    def _chart(self, chart: Chart) -> str:
        name = f"figure{next(self._number)}"
        # In a script nothing is escaped but what would end it.
        figure = json.dumps({"data": chart.data, "layout": chart.layout}, ensure_ascii=False).replace("<", "\\u003c")
        return (
            f'<p class="quiet">{escape(chart.note)}</p><div class="chart" role="img" aria-label="{escape(chart.title)}"'
            f' data-figure="{name}" data-height="{chart.height}" style="min-height: {chart.height}px"></div>'
            f'<script type="application/json" id="{name}">{figure}</script>\n'
        )


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>\n" for sentence in sentences)


def _packed(script: str) -> str:
    """A script as text that the page unpacks; the same bytes for the same script."""
    return b64encode(gzip.compress(script.encode(), mtime=0)).decode()
