"""A comparison as text: a block for each model, with colours on a terminal only."""

from collections.abc import Iterator

import click

from ratecard.cli.screen import heading_style, paragraph
from ratecard.review.compare import Diff
from ratecard.review.difference import ADDED, CHANGED, MARKS, CellChange, Difference, RateChange, extremes
from ratecard.review.markdown import (
    LEGEND,
    NO_CHANGES,
    affected,
    amounts,
    by,
    cell,
    mark,
    places,
    subject,
    summary,
    unit,
    when,
)

_COLOURS = {"~": "yellow", "+": "green", "-": "red"}


def diff_text(diff: Diff) -> str:
    """Return the whole comparison, with the legend first."""
    if not diff.changes:
        return f"{NO_CHANGES}\n"
    head = [LEGEND, paragraph(f"{diff.old} -> {diff.new}", indent="  "), ""]
    body = [line for change in diff.changes for line in (*_of_model(change), "")]
    ending = [heading_style(paragraph(summary(diff))), *_extremes(*diff.worst, "", with_model=True)]
    return "\n".join([*head, *body, *ending]) + "\n"


def _of_model(change: Difference) -> Iterator[str]:
    words = f"{change.model}, {when(change)}{f': {change.note}' if change.note else ''}"
    yield heading_style(_marked(MARKS[change.kind], "", words))
    # The rates of a removed model are not listed.
    for rate in change.rates if change.kind in (CHANGED, ADDED) else ():
        yield from _of_rate(rate, change.currency)
    for term in change.terms:
        both = f"{term.old} -> {term.new}" if term.old and term.new else term.old or term.new
        yield _marked(mark(term), "    ", f"{term.term}: {both}")
    if change.cells.affected:
        yield f"    {affected(change)} affected"
    yield from (line for line in _extremes(*extremes(change.cells.differing), "    ") if change.kind == CHANGED)


def _of_rate(rate: RateChange, currency: str) -> Iterator[str]:
    shown = " -> ".join(filter(None, amounts(rate)))
    per = f" {currency} per {unit(rate)}" if unit(rate) else f" {currency}"
    percent = f" ({by(rate)})" if by(rate) else ""
    yield _marked(MARKS[rate.kind], "    ", f"{subject(rate)}: {shown}{per}{percent}")
    yield paragraph(f"      {' -> '.join(places(rate))}", indent="      ")


def _extremes(
    rise: CellChange | None, fall: CellChange | None, indent: str, *, with_model: bool = False
) -> Iterator[str]:
    for name, change in (("Worst rise", rise), ("Worst fall", fall)):
        if change:
            where = ", ".join(filter(None, (change.model if with_model else "", change.cell)))
            yield paragraph(f"{indent}{name}: {cell(change)}{f' for {where}' if where else ''}", indent=f"{indent}  ")


def _marked(sign: str, indent: str, words: str) -> str:
    """Return words behind their mark; only the mark has a colour."""
    wrapped = paragraph(f"{indent}{sign} {words}", indent=f"{indent}    ")
    return wrapped.replace(f"{indent}{sign}", f"{indent}{click.style(sign, fg=_COLOURS[sign])}", 1)
