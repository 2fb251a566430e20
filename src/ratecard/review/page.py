"""A comparison as one HTML page, with a bar for each model whose prices move."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.pages import page_text
from ratecard.review.compare import Diff
from ratecard.review.difference import CHANGED, MARKS, CellChange, Difference, extremes
from ratecard.review.markdown import LEGEND, NO_CHANGES, counts_in_words

# The width of a drawing in its own units. A bar is never so short that it cannot be seen.
_WIDTH, _LEAST = 10_000, 40
_MOST_BARS = 30
# Changes from zero have no percentage; they are drawn as if the price doubled.
_FROM_ZERO = Fraction(1)
# The rates are unfolded for at most this many changed models.
_OPEN = 12


class Bar(NamedTuple):
    """The worst rise and the worst fall of one model."""

    change: Difference
    rise: CellChange | None
    fall: CellChange | None

    @property
    def up(self) -> Fraction:
        """Return the rise as a share of the old price; 1 from zero."""
        if self.rise is None:
            return Fraction(0)
        return self.rise.ratio - 1 if self.rise.ratio is not None else _FROM_ZERO

    @property
    def down(self) -> Fraction:
        """Return the fall as a share of the old price."""
        return 1 - self.fall.ratio if self.fall and self.fall.ratio is not None else Fraction(0)


def bars(changes: Sequence[Difference]) -> list[Bar]:
    """Return a bar for every change that moves a price, the greatest first."""
    all_bars = [Bar(change, *extremes(change.cells.differing)) for change in changes]
    moving = [bar for bar in all_bars if bar.rise or bar.fall]
    return sorted(moving, key=lambda bar: (-max(bar.up, bar.down), bar.change.model, bar.change.effective))


def diff_page(diff: Diff) -> str:
    """Return the whole comparison as one file: counts, bars on one scale, and every model."""
    moving = bars(diff.changes)
    shown = moving[:_MOST_BARS]
    zero = Fraction(0)
    scale = max((bar.up for bar in shown), default=zero), max((bar.down for bar in shown), default=zero)
    return page_text(
        "diff.html",
        diff=diff,
        title="Price changes" if diff.changes else NO_CHANGES,
        counts=counts_in_words(diff.counts()),
        worst=list(_worst(diff)),
        bars=[(bar.change, _drawn(bar, *scale), _percents(bar)) for bar in shown],
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


def _drawn(bar: Bar, up: Fraction, down: Fraction) -> tuple[int, int, list[tuple[str, int, int]]]:
    """Return (width, place of zero, bars); zero is between the greatest fall and the greatest rise of all models."""
    zero = int(_WIDTH * down / (up + down))
    drawn = []
    if bar.fall:
        length = max(_LEAST, int(_WIDTH * bar.down / (up + down)))
        drawn.append(("fall", max(0, zero - length), length))
    if bar.rise:
        drawn.append(("rise", zero, max(_LEAST, int(_WIDTH * bar.up / (up + down)))))
    return _WIDTH, zero, drawn


def _percents(bar: Bar) -> list[tuple[str, str]]:
    return [(tone, cell.by) for tone, cell in (("fall", bar.fall), ("rise", bar.rise)) if cell]


def _about(change: Difference) -> list[str]:
    """Return sentences that say when and why a model changes, and how many of its prices are affected."""
    cells = f"{change.cells} affected" if change.cells.affected else ""
    return list(filter(None, (change.when, change.note, cells)))
