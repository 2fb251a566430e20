"""The lines of a new version: those of the version that it is based on, with other dates, rates and totals."""

from collections.abc import Sequence
from datetime import date

from ratecard.load.insertion import Insertion
from ratecard.load.positions import Positions, Span, literal
from ratecard.tables.version import Retirement, Version
from ratecard.words.money import plain, text
from ratecard.words.tree import Path

# What a version says of itself; of a new one, what is not known is left out.
_HEAD = ("effective", "announced", "checked", "source", "reference", "correction", "expected_change")


def new_version(
    at: Positions, path: Path, base: Version, version: Version, totals: Sequence[str | None], checked: date
) -> Insertion:
    """A version to go above its base, which stands at `path`; a total that is None stays as it is written.

    Comments between the lines of the base are copied too, since they tell how its lines are meant; those beside its
    dates and source are not, since these are new. Raises `TableError` where the base is not written line by line.
    """
    at.dash(path)
    start, end = at.line(at.spans[path].start).start, at.line(at.spans[path].end - 1).end
    replaced = _head(at, path, version, checked)
    for c, (old, new) in enumerate(zip(base.charges, version.charges, strict=True)):
        for r, (before, after) in enumerate(zip(old.rates, new.rates, strict=True)):
            if before.rate != after.rate:
                replaced[at.spans[*path, "charges", c, "rates", r, "rate"]] = text(plain(after.rate))
    for number, total in enumerate(totals):
        if total is not None:
            replaced[at.spans[*path, "examples", number, "total"]] = total
    lines = at.copy(Span(start, end), replaced)
    if not lines.endswith(("\n", "\r")):  # the base ends the file, within its last line
        lines += at.eol
    return Insertion(at.above(path), lines, f"from {version.effective}")


def _head(at: Positions, path: Path, version: Version, checked: date) -> dict[Span, str]:
    """Its dates and source, where the first of them stands in the base; the lines of the others are left out."""
    known = {"effective": str(version.effective), "checked": str(checked), "source": literal(version.source)}
    if version.announced:
        known["announced"] = str(version.announced)
    first, *others = sorted(at.keys[*path, name] for name in _HEAD if (*path, name) in at.keys)
    ends = {at.keys[*path, name]: at.spans[*path, name].end for name in _HEAD if (*path, name) in at.keys}
    indent = at.eol + " " * at.column(at.spans[path].start)
    head = indent.join(f"{name}: {known[name]}" for name in _HEAD if name in known)
    replaced = {Span(first, at.line(ends[first] - 1).end): head + at.eol}
    for key in others:
        replaced[Span(at.line(key).start, at.line(ends[key] - 1).end)] = ""
    return replaced


def new_retirement(at: Positions, path: Path, retired: Retirement) -> Insertion:
    """The line that retires a model, which stands at `path`, below its currency. Raises `TableError`."""
    at.dash(path)
    below = at.after((*path, "currency"))
    if (*path, "retired") in at.spans:
        words = "is there already; change that line by hand, since promote only adds lines"
        raise at.refusal((*path, "retired"), f"retired {words}")
    if below is None:
        raise at.refusal((*path, "currency"), "ends the file without the end of its line; add that first")
    successor = f", successor: {literal(retired.successor)}" if retired.successor else ""
    indent = " " * at.column(at.spans[path].start)
    words = f"{indent}retired: {{on: {retired.on}{successor}}}{at.eol}"
    return Insertion(below, words, f"retired on {retired.on}")
