"""A comparison as Markdown, for a pull request: tables, folded away where they are long."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ratecard.diff.change import MARKS, Change
from ratecard.diff.compare import Diff
from ratecard.diff.wording import (
    LEGEND,
    NO_CHANGES,
    affected,
    amounts,
    by,
    cell,
    lines,
    mark,
    subject,
    summary,
    unit,
    when,
)

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&])")
# A longer table is folded away under its heading.
_SHORT = 20


def diff_markdown(diff: Diff) -> str:
    """The whole comparison. Nothing that stands in a table can end its cell or begin markup."""
    sides = f"{_plain(diff.old)} → {_plain(diff.new)}"
    if not diff.changes:
        return f"**{NO_CHANGES}** ({sides})\n"
    found = [f"**{summary(diff)}**", sides, *_worst(diff), f"{LEGEND}."]
    found += _table("Models", ("", "Model", "From", "Affected", ""), _models(diff))
    found += _table("Rates", ("", "Model", "Rate", "Old", "New", "Change", "Per", "From", "Lines"), _rates(diff))
    found += _table("Conditions", ("", "Model", "Condition", "Old", "New", "From"), _terms(diff))
    return "\n\n".join(["## Price changes", *found]) + "\n"


def _worst(diff: Diff) -> Iterator[str]:
    rows = [
        f"* {name}: {cell(found)} for {_code(found.model)}{f', {_plain(found.cell)}' if found.cell else ''}"
        for name, found in zip(("Worst rise", "Worst fall"), diff.worst, strict=True)
        if found
    ]
    if rows:
        yield "\n".join(rows)


def _models(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        if change.cells.of:
            yield (MARKS[change.kind], _code(change.model), _when(change), affected(change), _plain(change.note))


def _rates(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for rate in change.rates:
            places = lines(rate).replace(" -> ", "` → `")
            row = (*(_plain(one) for one in (subject(rate), *amounts(rate), by(rate), unit(rate))), _when(change))
            yield (MARKS[rate.kind], _code(change.model), *row, f"`{places}`")


def _terms(diff: Diff) -> Iterator[Sequence[str]]:
    for change in diff.changes:
        for term in change.terms:
            words = (_plain(one) for one in (term.term, term.old, term.new))
            yield (mark(term), _code(change.model), *words, _when(change))


def _when(change: Change) -> str:
    return when(change).removeprefix("from ")


def _table(name: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    body = ["| " + " | ".join(row) + " |" for row in rows]
    if not body:
        return
    table = "\n".join(["| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings), *body])
    if len(body) <= _SHORT:
        yield f"### {name}"
        yield table
    else:
        yield f"<details><summary><b>{name}</b> ({len(body)})</summary>"
        yield table
        yield "</details>"


def _plain(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)


def _code(word: str) -> str:
    return f"`{word}`" if not _SPECIAL.search(word.replace("_", "")) else _plain(word)
