"""A comparison as an HTML page.

Bars as plain SVG: how far prices rise and fall, each model on its own row, all on one scale.

How the page of a comparison looks: on a wide screen, on a phone, on paper, by day and by night.

A comparison as one HTML page that needs nothing else: no script, no font, no network.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.changes.compare import Diff
from ratecard.changes.difference import CHANGED, MARKS, CellChange, Difference, extremes, percent_text
from ratecard.changes.markdown import (
    LEGEND,
    NO_CHANGES,
    affected,
    amounts,
    by,
    lines,
    mark,
    subject,
    summary,
    unit,
    when,
)

# The width of the drawing in its own units; the page stretches it. A bar is never so short that it cannot be seen.
_WIDTH, _HEIGHT, _LEAST = 10_000, 16, 40
_MOST = 30
# What no percentage can say (a price that was nothing) is drawn as long as the longest, or as this.
_FROM_ZERO = Fraction(1)


class Bar(NamedTuple):
    """The worst rise and the worst fall of one model, each as a share of the old price."""

    change: Difference
    rise: CellChange | None
    fall: CellChange | None

    @property
    def up(self) -> Fraction:
        """How much more, of the old price."""
        if self.rise is None:
            return Fraction(0)
        return self.rise.ratio - 1 if self.rise.ratio is not None else _FROM_ZERO

    @property
    def down(self) -> Fraction:
        """How much less, of the old price."""
        return 1 - self.fall.ratio if self.fall and self.fall.ratio is not None else Fraction(0)


def bars(changes: Sequence[Difference]) -> list[Bar]:
    """A bar for every change that moves a price, the greatest first."""
    found = [Bar(change, *extremes(change.cells.differing)) for change in changes]
    moving = [bar for bar in found if bar.rise or bar.fall]
    return sorted(moving, key=lambda bar: (-max(bar.up, bar.down), bar.change.model, bar.change.effective))


def chart(found: Sequence[Bar]) -> str:
    """The bars as rows of a list; where there are more than thirty, a line says how many are left out."""
    shown = found[:_MOST]
    up, down = max(bar.up for bar in shown), max(bar.down for bar in shown)
    rows = "".join(_row(bar, up, down) for bar in shown)
    more = f'<p class="quiet">and {len(found) - _MOST} more below</p>' if len(found) > _MOST else ""
    return f'<ol class="bars">{rows}</ol>{more}'


def _row(bar: Bar, up: Fraction, down: Fraction) -> str:
    words = [
        f'<span class="{name}">{escape(percent_text(cell.old, cell.new) or "from zero")}</span>'
        for name, cell in (("fall", bar.fall), ("rise", bar.rise))
        if cell
    ]
    return (
        f'<li><span class="name">{escape(bar.change.model)}<small>from {bar.change.effective}</small></span>'
        f"{_svg(bar, up, down)}"
        f'<span class="by">{" ".join(words)}</span></li>'
    )


def _svg(bar: Bar, up: Fraction, down: Fraction) -> str:
    zero = int(_WIDTH * down / (up + down))
    parts = []
    if bar.fall:
        length = max(_LEAST, int(_WIDTH * bar.down / (up + down)))
        parts.append(f'<rect class="fall" x="{max(0, zero - length)}" y="2" width="{length}" height="{_HEIGHT - 4}"/>')
    if bar.rise:
        length = max(_LEAST, int(_WIDTH * bar.up / (up + down)))
        parts.append(f'<rect class="rise" x="{zero}" y="2" width="{length}" height="{_HEIGHT - 4}"/>')
    line = f'<line x1="{zero}" x2="{zero}" y1="0" y2="{_HEIGHT}"/>'
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true"'
    return f"<svg {box}>{''.join(parts)}{line}</svg>"


_STYLE = """
:root { --ink: #1c2430; --quiet: #5b6675; --paper: #ffffff; --card: #f5f6f8; --edge: #dde1e7;
  --rise: #b4460f; --fall: #1c62a8; --add: #2b7a3d; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #a3adba; --paper: #14181e; --card: #1d232b;
  --edge: #343c47; --rise: #ff9a5c; --fall: #74b3f5; --add: #6fcf86; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
.quiet, small, th { color: var(--quiet); }
small { display: block; font-size: .8rem; }
code { font-size: .85rem; }
.rise { color: var(--rise); fill: var(--rise); } .fall { color: var(--fall); fill: var(--fall); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; padding: 0;
  margin: 1.5rem 0 .75rem; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .6rem .8rem;
  color: var(--quiet); font-size: .9rem; line-height: 1.3; }
.tiles.worst { grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); margin-top: .75rem; }
.tiles b { display: block; color: var(--ink); font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.tiles b.rise { color: var(--rise); } .tiles b.fall { color: var(--fall); }
.bars { list-style: none; margin: 0; padding: 0; }
.bars li { display: grid; grid-template-columns: minmax(10rem, 20rem) 1fr 8rem; gap: 1rem; align-items: center;
  padding: .3rem 0; border-top: 1px solid var(--edge); }
.bars svg { width: 100%; height: 1.1rem; display: block; }
.bars line { stroke: var(--quiet); stroke-width: 1; vector-effect: non-scaling-stroke; }
.by { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
details { border: 1px solid var(--edge); border-radius: .5rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; background: var(--card); border-radius: .5rem; }
.part { display: inline-block; }
summary b { margin-right: .5rem; }
details > div { padding: .25rem .8rem .8rem; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
th { font-weight: 500; font-size: .85rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.sign { display: inline-block; width: 1.1em; text-align: center; font-weight: 700; margin-right: .35rem; }
.changed { color: var(--rise); } .added { color: var(--add); } .removed, .retired { color: var(--fall); }
@media (max-width: 44rem) {
  body { padding: 1.25rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  .tiles { grid-template-columns: 1fr 1fr; } .tiles.worst { grid-template-columns: 1fr; }
  .bars li { grid-template-columns: 1fr auto; gap: .1rem .75rem; }
  .bars svg { grid-column: 1 / -1; grid-row: 2; }
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--edge); }
  td { display: flex; gap: 1rem; justify-content: space-between; border: 0; padding: .12rem 0; text-align: right; }
  td::before { content: attr(data-label); color: var(--quiet); flex: none; }
  td:first-child { font-weight: 600; text-align: left; } td:first-child::before { content: none; }
  td:empty { display: none; }
}
@media print { body { max-width: none; padding: 0; } details { break-inside: avoid; } }
"""


# So many changed models are shown with their rates; of more, each opens when it is asked for.
_OPEN = 12
_KIND_OF = {"~": "changed", "+": "added", "-": "removed"}
_RATE = ("Rate", "Old", "New", "Difference", "Per", "Lines")
_TERM = ("Condition", "Old", "New")
_NUMBERS = {"Old", "New", "Difference"}


def diff_page(diff: Diff) -> str:
    """The whole comparison: what it comes to, the bars, and every model."""
    title = "Price changes" if diff.changes else NO_CHANGES
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: {escape(diff.old)} to {escape(diff.new)}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1>{title}</h1><p class="quiet">{escape(diff.old)} &rarr; {escape(diff.new)}</p>\n'
        f"{''.join(_body(diff))}</body></html>\n"
    )


def _body(diff: Diff) -> Iterator[str]:
    if not diff.changes:
        return
    yield _tiles(diff)
    moving = bars(diff.changes)
    if moving:
        yield '<h2>How far prices move</h2><p class="quiet">The worst fall and the worst rise of each model.</p>\n'
        yield chart(moving)
    yield f'\n<h2>Model by model</h2><p class="quiet">{LEGEND}</p>\n'
    few = sum(change.kind == CHANGED for change in diff.changes) <= _OPEN
    yield from (_model(change, " open" if few and change.kind == CHANGED else "") for change in diff.changes)


def _tiles(diff: Diff) -> str:
    counts = [each.split(" ", 1) for each in summary(diff).split(", ")]
    found = "".join(f"<li><b>{count}</b>{words}</li>" for count, words in counts)
    worst = "".join(
        _worst(name, kind, cell)
        for name, kind, cell in zip(("Worst rise", "Worst fall"), ("rise", "fall"), diff.worst, strict=True)
        if cell
    )
    return f'<ul class="tiles">{found}</ul>' + (f'<ul class="tiles worst">{worst}</ul>\n' if worst else "\n")


def _worst(name: str, kind: str, cell: CellChange) -> str:
    percent = escape(percent_text(cell.old, cell.new) or "from zero")
    asked = escape(", ".join(filter(None, (cell.model, cell.cell))))
    return (
        f'<li>{name}<b class="{kind}">{percent}</b>{text(cell.old)} &rarr; {text(cell.new)}<small>{asked}</small></li>'
    )


def _model(change: Difference, opened: str) -> str:
    words = [when(change), change.note, f"{affected(change)} affected" if change.cells.affected else ""]
    rates = (
        (
            _sign(MARKS[rate.kind], subject(rate)),
            *(
                escape(one)
                for one in (*amounts(rate), by(rate), f"{change.currency} / {unit(rate)}" if unit(rate) else "")
            ),
            f"<code>{escape(lines(rate)).replace('-&gt;', '&rarr;')}</code>",
        )
        for rate in change.rates
    )
    terms = ((_sign(mark(term), term.term), escape(term.old), escape(term.new)) for term in change.terms)
    return (
        f"<details{opened}><summary>{_sign(MARKS[change.kind], '', change.kind)}<b>{escape(change.model)}</b>"
        f"{_parts(words)}</summary>"
        f"<div>{_table(_RATE, rates)}{_table(_TERM, terms)}</div></details>\n"
    )


def _parts(words: Iterable[str]) -> str:
    """Words that break between them and not within a date."""
    shown = ", ".join(f'<span class="part">{escape(one)}</span>' for one in words if one)
    return f'<span class="quiet">{shown}</span>'


def _sign(sign: str, words: str, kind: str = "") -> str:
    return f'<span><span class="sign {kind or _KIND_OF[sign]}">{sign}</span>{escape(words)}</span>'


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    numbers = {name for name in headings if headings is _RATE and name in _NUMBERS}
    body = "".join(
        "<tr>"
        + "".join(_cell(name, words, name in numbers) for name, words in zip(headings, row, strict=True))
        + "</tr>"
        for row in rows
    )
    if not body:
        return ""
    head = "".join(f"<th{' class=number' if name in numbers else ''}>{name}</th>" for name in headings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(name: str, words: str, number: bool) -> str:
    return f'<td data-label="{name}"{" class=number" if number else ""}>{words}</td>'
