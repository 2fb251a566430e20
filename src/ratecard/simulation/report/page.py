"""The report as an HTML page.

How the page of a simulation looks: on a wide screen, on a phone, on paper, by day and by night.

What the page does by itself: sorts a table by a column, and draws the charts in the colours of the style.

A table of the report as HTML that sorts on a click.

A simulation as one HTML page that needs nothing else: no file beside it, no network.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from html import escape
from itertools import count
from pathlib import Path

from plotly.offline import get_plotlyjs

from ratecard.base.money import EXACT, from_fraction, text
from ratecard.simulation.report.breakdown import narrow, sides_table
from ratecard.simulation.report.charts import Chart, change_by_model, customers_chart, revenue_by_period, waterfall
from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.report import CUSTOMER, Report, share_of_change
from ratecard.simulation.report.sections import (
    about_table,
    attribution_table,
    below_cost_table,
    bridge_table,
    changed,
    disputed_table,
    losers_table,
    lost_customers_table,
    margin_table,
    uncommon_table,
    unpriced_table,
    untouched_table,
    winners_table,
)
from ratecard.simulation.report.sentences import answer, details, further, headline, proposals, reached, scope
from ratecard.simulation.report.table import CHANGES, Column, Kind, Table, Value, written

STYLE = """
:root { --ink: #1c2430; --quiet: #5b6675; --paper: #ffffff; --card: #f5f6f8; --edge: #dde1e7; --warn: #8a5a00;
  --warned: #fff6e0; --rise: #1c62a8; --fall: #b4460f; --lost: #8c1d5f; --new: #1d6b3a; --line: #1c62a8;
  --second: #b4460f; --third: #2b7a3d; --fourth: #7a3fa0; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #a3adba; --paper: #14181e; --card: #1d232b;
  --edge: #343c47; --warn: #ffcf70; --warned: #2d2614; --rise: #74b3f5; --fall: #ff9a5c; --lost: #f58cc4;
  --new: #6fcf86; --line: #74b3f5; --second: #ff9a5c; --third: #6fcf86; --fourth: #c79bea; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 88rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.kicker { color: var(--quiet); margin: 0 0 .25rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; max-width: 46rem; text-wrap: balance; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; }
.quiet, th { color: var(--quiet); }
p { margin: .25rem 0; max-width: 46rem; }
.warning { background: var(--warned); border-left: .3rem solid var(--warn); border-radius: .35rem; padding: .75rem 1rem;
  margin-bottom: 1.5rem; }
.warning .scroll { max-height: 14rem; margin-bottom: 0; background: var(--paper); }
.warning h2 { margin: 0; font-size: 1.05rem; color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; padding: 0;
  margin: 1.25rem 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .6rem .8rem;
  color: var(--quiet); font-size: .9rem; line-height: 1.3; }
.tiles b { display: block; color: var(--ink); font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.rise, .tiles b.rise { color: var(--rise); } .fall, .tiles b.fall { color: var(--fall); }
.lost { color: var(--lost); } .new { color: var(--new); }
.signs { display: flex; flex-wrap: wrap; gap: 0 1.25rem; font-size: .9rem; max-width: none; margin-top: 1rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
.charts > * { min-width: 0; }
.chart { width: 100%; }
.scroll { overflow: auto; max-height: 34rem; margin: .5rem 0 1rem; border: 1px solid var(--edge);
  border-radius: .5rem; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .9rem; overflow-wrap: normal; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--edge); vertical-align: top; }
/* Headings and names break where they must, so that no table is wider than a screen; numbers never do. */
td:not(.number) { overflow-wrap: anywhere; min-width: 8rem; }
td:first-child:not(.number) { min-width: 10rem; }
th { overflow-wrap: anywhere; min-width: 4.5rem; vertical-align: bottom; }
tbody tr:last-child td, tfoot td { border-bottom: 0; }
thead th { position: sticky; top: 0; background: var(--card); font-weight: 500; z-index: 1; }
tfoot td { position: sticky; bottom: 0; background: var(--card); font-weight: 600; border-top: 1px solid var(--edge); }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--line); outline-offset: 2px; }
th[aria-sort] button::after { content: "\\00a0\\2195"; opacity: .45; }
th[aria-sort=ascending] button::after { content: "\\00a0\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\00a0\\2193"; opacity: 1; }
.number { text-align: right; font-variant-numeric: tabular-nums; min-width: 0; }
td.number { white-space: nowrap; }
th.number { min-width: 6.6rem; }
.dense { font-size: .8rem; } .dense th, .dense td { padding: .35rem .4rem; } .dense th.number { min-width: 5.6rem; }
details { border: 1px solid var(--edge); border-radius: .5rem; margin: .75rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; background: var(--card); border-radius: .5rem; font-weight: 600; }
details > :not(summary) { margin-left: .8rem; margin-right: .8rem; }
@media (max-width: 44rem) {
  body { padding: 1.25rem .9rem 3rem; }
  h1 { font-size: 1.35rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; } .tiles b { font-size: 1.15rem; }
  th:first-child:not(.number), td:first-child:not(.number) { position: sticky; left: 0; min-width: 7rem; }
  tbody td:first-child:not(.number) { background: var(--paper); } thead th:first-child:not(.number) { z-index: 2; }
  table, .dense { font-size: .82rem; } th.number { min-width: 5.8rem; } th, td { padding: .3rem .5rem; }
}
@media print { body { max-width: none; padding: 0; } .scroll { max-height: none; overflow: visible; } }
"""


SCRIPT = """
const coloured = value => Array.isArray(value) ? value.map(coloured)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]))
  : typeof value === "string" && value.startsWith("var(")
    ? getComputedStyle(document.documentElement).getPropertyValue(value.slice(4, -1)).trim() : value;

function draw() {
  for (const place of document.querySelectorAll(".chart")) {
    const {data, layout} = JSON.parse(document.getElementById(place.dataset.figure).textContent);
    // On a phone there is no room for amounts beside the bars.
    if (innerWidth < 700) for (const each of data) if (each.orientation === "h") each.textposition = "none";
    const axis = {gridcolor: "var(--edge)", linecolor: "var(--edge)", fixedrange: true, automargin: true};
    const whole = {paper_bgcolor: "transparent", plot_bgcolor: "transparent", margin: {l: 8, r: 24, t: 24, b: 8},
      font: {family: "system-ui, sans-serif", size: 12, color: "var(--ink)"}, showlegend: data.length > 1,
      hoverlabel: {bgcolor: "var(--card)", bordercolor: "var(--edge)", font: {color: "var(--ink)"}, namelength: -1},
      separators: document.body.dataset.separators, height: +place.dataset.height, bargap: 0.3,
      legend: {orientation: "h", x: 0, y: 1.15}, ...layout,
      xaxis: {...axis, ...layout.xaxis}, yaxis: {...axis, ...layout.yaxis}};
    Plotly.react(place, coloured(data), coloured(whole), {displayModeBar: false, responsive: true});
  }
}

function sort(button) {
  const head = button.closest("th"), column = head.cellIndex, body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "descending";
  for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "ascending" : "descending");
  const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const number = head.classList.contains("number");
  const compare = (a, b) => number ? (+value(a) || 0) - (+value(b) || 0) : value(a).localeCompare(value(b));
  body.append(...[...body.rows].sort((a, b) => (down ? 1 : -1) * compare(a, b)));
}

document.addEventListener("click", event => {
  const button = event.target.closest("th button");
  if (button) sort(button);
});
const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), each => each.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const library = document.createElement("script");
library.textContent = await new Response(unpacked).text();
document.head.append(library);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
"""


_TEXTS = {Kind.TEXT, Kind.DAY}
# More rows than a person reads, and than a browser sorts at once; the files have all.
_MOST_ROWS = 1_000
_SORTED_PLACES = 12
# More columns than these are written smaller.
_MOST_COLUMNS = 9


def _table_html(table: Table, figures: Figures) -> str:
    """The table with its note; of a very long one the first thousand rows."""
    kept = table.without(Kind.EXACT)
    head = "".join(_heading(column) for column in kept.columns)
    tones = kept.tones or (Kind.CHANGE,) * len(kept.rows)
    rows = list(zip(kept.rows, tones, strict=True))[:_MOST_ROWS]
    body = "".join(f"<tr>{_cells(row, kept.columns, figures, tone)}</tr>" for row, tone in rows)
    foot = f"<tfoot><tr>{_cells(kept.total, kept.columns, figures)}</tr></tfoot>" if kept.total else ""
    more = (
        f"The first {_MOST_ROWS:,} of {len(kept.rows):,} rows; a spreadsheet or CSV has all."
        if len(kept.rows) > _MOST_ROWS
        else ""
    )
    dense = ' class="dense"' if len(kept.columns) > _MOST_COLUMNS else ""
    notes = "".join(f'<p class="quiet">{escape(note)}</p>' for note in (table.note, more) if note)
    return (
        f'{notes}<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table{dense}>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>\n"
    )


def _heading(column: Column) -> str:
    number = "" if column.kind in _TEXTS else ' class="number"'
    return f'<th scope="col" aria-sort="none"{number}><button type="button">{escape(column.name)}</button></th>'


def tone_of(value: Value, kind: Kind, row: Kind = Kind.CHANGE) -> str:
    """The class of a change, for its colour: `rise`, `fall`, `lost` or `new`; of an amount below zero `fall`."""
    if not isinstance(value, (Decimal, Fraction)) or not value:
        return ""
    tone = row if kind is Kind.CHANGE else kind
    if tone in (Kind.LOST, Kind.NEW):
        return f" {tone.value}"
    if kind in CHANGES or kind is Kind.PERCENT:
        return " rise" if value > 0 else " fall"
    return " fall" if value < 0 else ""


def _cells(row: tuple[Value, ...], columns: tuple[Column, ...], figures: Figures, tone: Kind = Kind.CHANGE) -> str:
    return "".join(_cell(value, column.kind, figures, tone) for value, column in zip(row, columns, strict=True))


def _cell(value: Value, kind: Kind, figures: Figures, tone: Kind) -> str:
    words = escape(written(value, kind, figures))
    if kind in _TEXTS:
        return f"<td>{words}</td>"
    return f'<td class="number{tone_of(value, kind, tone)}" data-value="{_sortable(value)}">{words}</td>'


def _sortable(value: Value) -> str:
    """A number as a program reads it."""
    if isinstance(value, Fraction):
        return text(from_fraction(value, _SORTED_PLACES))
    return text(value) if isinstance(value, Decimal) else str("" if value is None else value)


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
            if key != CUSTOMER and report.simulation.size(key) <= _MOST_ROWS:
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
        return _table_html(table, self.figures)

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
