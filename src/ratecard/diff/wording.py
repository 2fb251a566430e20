"""How a change is said, in every format the same."""

from ratecard.diff.change import CellChange, Change, Priced, RateChange, TermChange, percent_text
from ratecard.diff.compare import Diff
from ratecard.words.money import text

NO_CHANGES = "No price changes"
LEGEND = "Key: ~ changed, + added, - removed"
NONE = "none"


def summary(diff: Diff) -> str:
    """`3 rates changed, 1 model retired, 14 price cells affected`: what there is none of is left out."""
    counted = ((count, name if count > 1 else name.replace("s ", " ", 1)) for name, count in diff.counts().items())
    return ", ".join(f"{count:,} {name}" for count, name in counted if count)


def when(change: Change) -> str:
    """`from 2026-10-16`, and until when if it ends."""
    return f"from {change.effective}{f' until {change.until}' if change.until else ''}"


def subject(rate: RateChange) -> str:
    """`video, audio true`: which rate."""
    return f"{rate.charge}, {rate.attributes}" if rate.attributes else rate.charge


def amounts(rate: RateChange) -> tuple[str, str]:
    """Both rates; their units beside them where these differ."""
    units = {side.unit for side in (rate.old, rate.new) if side}
    return _amount(rate.old, len(units) > 1), _amount(rate.new, len(units) > 1)


def _amount(side: Priced | None, with_unit: bool) -> str:
    if side is None:
        return ""
    return f"{text(side.amount)} per {side.unit}" if with_unit else text(side.amount)


def unit(rate: RateChange) -> str:
    """The unit that both sides have, or the one that there is."""
    units = {side.unit for side in (rate.old, rate.new) if side}
    return units.pop() if len(units) == 1 else ""


def lines(rate: RateChange) -> str:
    """`file:line -> file:line`, or the one that there is."""
    return " -> ".join(side.source for side in (rate.old, rate.new) if side)


def by(rate: RateChange) -> str:
    """`+10.39%`; of a price that was nothing, so."""
    return rate.percent or ("from zero" if rate.old and rate.new else "")


def mark(term: TermChange) -> str:
    """`~`, or `+` and `-` where only one side has the condition."""
    return "~" if term.old and term.new else "+" if term.new else "-"


def cell(change: CellChange) -> str:
    """`0.46 -> 0.51 (+10.87%)`."""
    return f"{text(change.old)} -> {text(change.new)} ({percent_text(change.old, change.new) or 'from zero'})"


def affected(change: Change) -> str:
    """`13 of 26 price cells`."""
    return f"{change.cells.affected:,} of {change.cells.of:,} price cell{'' if change.cells.of == 1 else 's'}"
