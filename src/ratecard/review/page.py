"""A comparison as one HTML page, with a bar for each model whose prices move."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.pages import page_text
from ratecard.review.compare import Diff
from ratecard.review.difference import CHANGED, MARKS, Difference, extremes
from ratecard.review.markdown import LEGEND, NO_CHANGES, counts_in_words

# The width of a drawing in its own units. A bar is never so short that it cannot be seen.
_WIDTH, _LEAST = 10_000, 40
_MOST_BARS = 30
# Changes from zero have no percentage; they are drawn as if the price doubled.
_FROM_ZERO = Fraction(1)
# The rates are unfolded for at most this many changed models.
_OPEN = 12


class _Move(NamedTuple):
    """The worst `fall` or `rise` of a model's prices: its share of the old price (1 from zero), and in percent."""

    tone: str
    share: Fraction
    by: str


def _moves(change: Difference) -> list[_Move]:
    rise, fall = extremes(change.cells.differing)
    worst = [(tone, cell) for tone, cell in (("fall", fall), ("rise", rise)) if cell]
    return [_Move(tone, _FROM_ZERO if cell.ratio is None else abs(cell.ratio - 1), cell.by) for tone, cell in worst]


def diff_page(diff: Diff) -> str:
    """Return the whole comparison as one file: counts, bars on one scale (the greatest first), and every model."""
    moving = [(change, moves) for change in diff.changes if (moves := _moves(change))]
    moving.sort(key=lambda bar: (-max(move.share for move in bar[1]), bar[0].model, bar[0].effective))
    shown = moving[:_MOST_BARS]
    every = [move for _, moves in shown for move in moves]
    up, down = (max((move.share for move in every if move.tone == tone), default=0) for tone in ("rise", "fall"))
    return page_text(
        "diff.html",
        diff=diff,
        title="Price changes" if diff.changes else NO_CHANGES,
        counts=counts_in_words(diff.counts()),
        worst=list(_worst(diff)),
        bars=[(change, _drawn(moves, up, down), [(move.tone, move.by) for move in moves]) for change, moves in shown],
        more=len(moving) - len(shown),
        legend=LEGEND,
        few=sum(change.kind == CHANGED for change in diff.changes) <= _OPEN,
        marks=MARKS,
        about=_about,
    )


def _worst(diff: Diff) -> Iterator[tuple[str, ...]]:
    for name, tone, cell in zip(("Worst rise", "Worst fall"), ("rise", "fall"), diff.worst, strict=True):
        if cell:
            cell_name = ", ".join(filter(None, (cell.model, cell.cell)))
            yield name, tone, cell_name, text(cell.old), text(cell.new), cell.by


def _drawn(
    moves: Sequence[_Move], up: Fraction | int, down: Fraction | int
) -> tuple[int, int, list[tuple[str, int, int]]]:
    """Return (width, place of zero, bars); zero is between the greatest fall and the greatest rise of all models."""
    zero, drawn = int(_WIDTH * down / (up + down)), []
    for tone, share, _ in moves:
        length = max(_LEAST, int(_WIDTH * share / (up + down)))
        drawn.append((tone, zero if tone == "rise" else max(0, zero - length), length))
    return _WIDTH, zero, drawn


def _about(change: Difference) -> list[str]:
    """Return sentences that say when and why a model changes, and how many of its prices are affected."""
    cells = f"{change.cells} affected" if change.cells.affected else ""
    return list(filter(None, (change.when, change.note, cells)))
