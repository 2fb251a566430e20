"""The words of a comparison, which every format shares, and the comparison as Markdown for a pull request."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ratecard.review.compare import Diff
from ratecard.review.difference import MARKS, Difference

NO_CHANGES = "No price changes"
LEGEND = "Key: ~ changed, + added, - removed"
NONE = "none"


def counts_in_words(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return each number with its noun, which is singular for 1; zeros are left out."""
    return [
        (f"{count:,}", name if count > 1 else name.replace("s ", " ", 1)) for name, count in counts.items() if count
    ]


def summary(diff: Diff) -> str:
    """Return text like `3 rates changed, 1 model retired, 14 price cells affected`; zeros are left out."""
    return ", ".join(map(" ".join, counts_in_words(diff.counts())))


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
        f"* {name}: {change} for {code_words(change.model)}{f', {escaped(change.cell)}' if change.cell else ''}"
        for name, change in zip(("Worst rise", "Worst fall"), diff.worst, strict=True)
        if change
    ]
    if rows:
        yield "\n".join(rows)


def _models(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        if change.cells.of:
            yield (MARKS[change.kind], code_words(change.model), _when(change), str(change.cells), escaped(change.note))


def _rates(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for rate in change.rates:
            row = map(escaped, (rate.subject, *rate.amounts, rate.by, rate.unit))
            yield (rate.mark, code_words(change.model), *row, _when(change), f"`{'` → `'.join(rate.places)}`")


def _terms(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for term in change.terms:
            yield (MARKS[term.kind], code_words(change.model), *map(escaped, term), _when(change))


def _when(change: Difference) -> str:
    return change.when.removeprefix("from ")


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
