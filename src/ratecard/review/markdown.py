"""The words of a comparison, which every format shares, and the comparison as Markdown for a pull request."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ratecard.base.money import text
from ratecard.review.compare import Diff
from ratecard.review.difference import MARKS, CellChange, Difference, Priced, RateChange, TermChange, percent_text

NO_CHANGES = "No price changes"
LEGEND = "Key: ~ changed, + added, - removed"
NONE = "none"


def summary(diff: Diff) -> str:
    """Return text like `3 rates changed, 1 model retired, 14 price cells affected`; zeros are left out."""
    counted = ((count, name if count > 1 else name.replace("s ", " ", 1)) for name, count in diff.counts().items())
    return ", ".join(f"{count:,} {name}" for count, name in counted if count)


def when(change: Difference) -> str:
    """Return text like `from 2026-10-16`, or `from 2026-10-16, before 2026-11-01`."""
    return f"from {change.effective}{f', before {change.until}' if change.until else ''}"


def subject(rate: RateChange) -> str:
    """Return the charge and attributes of a rate: `video, audio true`."""
    return f"{rate.charge}, {rate.attributes}" if rate.attributes else rate.charge


def amounts(rate: RateChange) -> tuple[str, str]:
    """Return both rates as text, with their units if these differ."""
    units = {side.unit for side in (rate.old, rate.new) if side}
    return _amount(rate.old, len(units) > 1), _amount(rate.new, len(units) > 1)


def _amount(side: Priced | None, with_unit: bool) -> str:
    if side is None:
        return ""
    return f"{text(side.amount)} per {side.unit}" if with_unit else text(side.amount)


def unit(rate: RateChange) -> str:
    """Return the unit of both rates, or of the only one; empty if they differ."""
    units = {side.unit for side in (rate.old, rate.new) if side}
    return units.pop() if len(units) == 1 else ""


def places(rate: RateChange) -> list[str]:
    """Return `file:line` of the old and of the new rate, or of the only one."""
    return [side.source for side in (rate.old, rate.new) if side]


def by(rate: RateChange) -> str:
    """Return text like `+10.39%`, or `from zero`."""
    return rate.percent or ("from zero" if rate.old and rate.new else "")


def mark(term: TermChange) -> str:
    """Return `~`, or `+` or `-` if only one side has the condition."""
    return "~" if term.old and term.new else "+" if term.new else "-"


def cell(change: CellChange) -> str:
    """Return text like `0.46 -> 0.51 (+10.87%)`."""
    return f"{text(change.old)} -> {text(change.new)} ({percent_text(change.old, change.new) or 'from zero'})"


def affected(change: Difference) -> str:
    """Return text like `13 of 26 price cells`."""
    return f"{change.cells.affected:,} of {change.cells.of:,} price cell{'' if change.cells.of == 1 else 's'}"


_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&])")
# Tables of more rows are folded under their heading.
_SHORT = 20


def diff_markdown(diff: Diff) -> str:
    """Return the comparison as Markdown. Names are escaped: they cannot end a cell or begin markup."""
    sides = f"{escaped(diff.old)} → {escaped(diff.new)}"
    if not diff.changes:
        return f"**{NO_CHANGES}** ({sides})\n"
    parts = [f"**{summary(diff)}**", sides, *_worst(diff), f"{LEGEND}."]
    parts += markdown_table("Models", ("", "Model", "From", "Affected", ""), _models(diff))
    parts += markdown_table(
        "Rates", ("", "Model", "Rate", "Old", "New", "Difference", "Per", "From", "Lines"), _rates(diff)
    )
    parts += markdown_table("Conditions", ("", "Model", "Condition", "Old", "New", "From"), _terms(diff))
    return "\n\n".join(["## Price changes", *parts]) + "\n"


def _worst(diff: Diff) -> Iterator[str]:
    rows = [
        f"* {name}: {cell(change)} for {code_words(change.model)}{f', {escaped(change.cell)}' if change.cell else ''}"
        for name, change in zip(("Worst rise", "Worst fall"), diff.worst, strict=True)
        if change
    ]
    if rows:
        yield "\n".join(rows)


def _models(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        if change.cells.of:
            yield (MARKS[change.kind], code_words(change.model), _when(change), affected(change), escaped(change.note))


def _rates(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for rate in change.rates:
            row = (*(escaped(field) for field in (subject(rate), *amounts(rate), by(rate), unit(rate))), _when(change))
            yield (MARKS[rate.kind], code_words(change.model), *row, f"`{'` → `'.join(places(rate))}`")


def _terms(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for term in change.terms:
            words = (escaped(field) for field in (term.term, term.old, term.new))
            yield (mark(term), code_words(change.model), *words, _when(change))


def _when(change: Difference) -> str:
    return when(change).removeprefix("from ")


def markdown_table(name: str, headings: Sequence[str], rows: Iterable[Sequence[str]], level: int = 3) -> Iterator[str]:
    """Yield a heading of a level and a table, folded if it has many rows. Nothing without rows."""
    body = ["| " + " | ".join(row) + " |" for row in rows]
    if not body:
        return
    table = "\n".join(["| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings), *body])
    if len(body) <= _SHORT:
        yield f"{'#' * level} {name}"
        yield table
    else:
        yield f"<details><summary><b>{name}</b> ({len(body)})</summary>"
        yield table
        yield "</details>"


def escaped(words: str) -> str:
    """Return words escaped, so that they cannot end a cell or begin markup."""
    return _SPECIAL.sub(r"\\\1", words)


def code_words(word: str) -> str:
    """Return a name as code, unless it has signs that are markup."""
    return f"`{word}`" if not _SPECIAL.search(word.replace("_", "")) else escaped(word)
