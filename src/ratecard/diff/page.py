"""A comparison as one HTML page that needs nothing else: no script, no font, no network."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ratecard.diff.bars import bars, chart
from ratecard.diff.change import CHANGED, MARKS, CellChange, Change, percent_text
from ratecard.diff.compare import Diff
from ratecard.diff.page_style import STYLE
from ratecard.diff.wording import (
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
from ratecard.words.money import text

# So many changed models are shown with their rates; of more, each opens when it is asked for.
_OPEN = 12
_KIND_OF = {"~": "changed", "+": "added", "-": "removed"}
_RATE = ("Rate", "Old", "New", "Change", "Per", "Lines")
_TERM = ("Condition", "Old", "New")
_NUMBERS = {"Old", "New", "Change"}


def diff_page(diff: Diff) -> str:
    """The whole comparison: what it comes to, the bars, and every model."""
    title = "Price changes" if diff.changes else NO_CHANGES
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: {escape(diff.old)} to {escape(diff.new)}</title><style>{STYLE}</style></head>\n"
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


def _model(change: Change, opened: str) -> str:
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
