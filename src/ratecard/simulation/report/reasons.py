"""Why the total changes: the rates that changed, and those that no usage was charged by."""

from decimal import Decimal
from fractions import Fraction

from ratecard.simulation.attribution import BILLED, LOST, MOVED, NEW, RATE, Part, Untouched
from ratecard.simulation.priced_shape import ROUNDING
from ratecard.simulation.report.apportion import apportion
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.words.money import EXACT, total

_RATES = (Column("Old", Kind.RATE), Column("New", Kind.RATE), Column("Rate changes", Kind.PERCENT))
_TONES = {LOST: Kind.LOST, NEW: Kind.NEW}
_KINDS = {"terms": "other quantity", "added": "new rate", "removed": "rate gone", ROUNDING: "rounding"}
_KINDS |= {LOST: "lost", NEW: "new", MOVED: "other model", BILLED: "not known"}


def attribution_table(report: Report, candidate: int, *, exact: bool = False) -> Table:
    """Every part of a candidate's difference, the greatest first; the parts add up to it.

    With `exact`, for a workbook, the exact amounts.
    """
    found = report.attribution(candidate)
    amounts = [part.amount for part in found.parts] if exact else shown_parts(report, candidate)
    difference = found.difference if exact else _difference(report, candidate)
    rows = (
        (part.model, part.label, part.old, part.new, _share(part), part.unit, amount, part.amount, lines_of(part))
        for part, amount in zip(found.parts, amounts, strict=True)
    )
    columns = (
        *(Column("Model"), Column("Rate")),
        *_RATES,
        *(Column("Per"), Column("Adds", Kind.CHANGE), Column("Adds, exact", Kind.EXACT), Column("Lines")),
    )
    whole: tuple[Value, ...] = ("Total", "", None, None, "", "", difference, found.difference, "")
    tones = tuple(_TONES.get(part.kind, Kind.CHANGE) for part in found.parts)
    return Table("Why", columns, tuple(rows), whole, tones=tones)


def shown_parts(report: Report, candidate: int) -> tuple[Decimal, ...]:
    """The amount of every part, rounded so that they add up to the difference of the totals shown."""
    amounts = [part.amount for part in report.attribution(candidate).parts]
    return apportion(amounts, report.figures.places, _difference(report, candidate)) if amounts else ()


def greatest_parts(report: Report, candidate: int, most: int) -> list[tuple[str, Decimal, Kind]]:
    """The greatest parts by what a person calls them, whether they are lost or new, and all others as one."""
    named = [
        (name_of(part), amount, _TONES.get(part.kind, Kind.CHANGE))
        for part, amount in zip(report.attribution(candidate).parts, shown_parts(report, candidate), strict=True)
    ]
    if len(named) <= most + 1:
        return named
    rest = [amount for _, amount, _ in named[most:]]
    return [*named[:most], (f"{len(rest)} others", total(rest), Kind.CHANGE)]


def untouched_table(report: Report, candidate: int) -> Table:
    """The rates that changed and that no usage was charged by: they are in no figure."""
    rows = (_unused(each) for each in report.attribution(candidate).untouched)
    columns = (Column("Model"), Column("Rate"), *_RATES, Column("Lines"))
    return Table("Changed rates without usage", columns, tuple(rows))


def name_of(part: Part) -> str:
    """`kling-o3-pro, video: audio true`, and what happened where no rate says it."""
    kind = _KINDS.get(part.kind)
    if part.kind in _TONES:
        return f"{part.model} ({kind})"
    words = f"{part.model}, {part.label}"
    return words if part.kind in (RATE, ROUNDING) or kind is None else f"{words} ({kind})"


def lines_of(part: Part) -> str:
    """`file:line → file:line`, or the one that there is."""
    return " → ".join(filter(None, (part.old_source, part.new_source)))


def _share(part: Part) -> Fraction | str:
    """By how much a rate changes; what happened where that is not the reason."""
    return _KINDS.get(part.kind, "") if part.kind != RATE or not part.old else _change(part.old, part.new)


def _change(old: Decimal | Fraction, new: Decimal | Fraction | None) -> Fraction | str:
    return Fraction(new) / Fraction(old) - 1 if old and new is not None else "from zero"


def _difference(report: Report, candidate: int) -> Decimal:
    return EXACT.subtract(report.rounded(candidate), report.rounded(0))


def _unused(each: Untouched) -> tuple[Value, ...]:
    old, new = each.change.old, each.change.new
    label = f"{each.change.charge}: {each.change.attributes}" if each.change.attributes else each.change.charge
    lines = " → ".join(side.source for side in (old, new) if side)
    share = _change(old.each, new.each) if old and new else each.change.kind
    return (each.model, label, old and old.amount, new and new.amount, share, lines)
