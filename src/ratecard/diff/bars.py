"""Bars as plain SVG: how far prices rise and fall, each model on its own row, all on one scale."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import NamedTuple

from ratecard.diff.change import CellChange, Change, extremes, percent_text

# The width of the drawing in its own units; the page stretches it. A bar is never so short that it cannot be seen.
_WIDTH, _HEIGHT, _LEAST = 10_000, 16, 40
_MOST = 30
# What no percentage can say (a price that was nothing) is drawn as long as the longest, or as this.
_FROM_ZERO = Fraction(1)


class Bar(NamedTuple):
    """The worst rise and the worst fall of one model, each as a share of the old price."""

    change: Change
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


def bars(changes: Sequence[Change]) -> list[Bar]:
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
