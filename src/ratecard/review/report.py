"""A comparison as Markdown for a pull request and as a page, and the words that every format shares."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from ratecard.base.money import text
from ratecard.review.compare import Diff
from ratecard.review.difference import CHANGED, MARKS, CellChange, Difference, extremes

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
    worst = [
        f"* {name}: {change} for {code_words(change.model)}{f', {escaped(change.cell)}' if change.cell else ''}"
        for name, _, change in _worst(diff)
    ]
    parts = [f"**{summary(diff)}**", sides, *(["\n".join(worst)] if worst else []), f"{LEGEND}."]
    parts += markdown_table("Models", ("", "Model", "From", "Affected", ""), _models(diff))
    parts += markdown_table(
        "Rates", ("", "Model", "Rate", "Old", "New", "Difference", "Per", "From", "Lines"), _rates(diff)
    )
    parts += markdown_table("Conditions", ("", "Model", "Condition", "Old", "New", "From"), _terms(diff))
    return "\n\n".join(["## Price changes", *parts]) + "\n"


def _worst(diff: Diff) -> Iterator[tuple[str, str, CellChange]]:
    """Yield the worst rise and the worst fall of a price, if there are any, each with its name and tone."""
    for name, tone, change in zip(("Worst rise", "Worst fall"), ("rise", "fall"), diff.worst, strict=True):
        if change:
            yield name, tone, change


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
    from ratecard.pages import page_text  # loaded here, because the other formats need no templates

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
        worst=[
            (name, tone, ", ".join(filter(None, (cell.model, cell.cell))), text(cell.old), text(cell.new), cell.by)
            for name, tone, cell in _worst(diff)
        ],
        bars=[(change, _drawn(moves, up, down), [(move.tone, move.by) for move in moves]) for change, moves in shown],
        more=len(moving) - len(shown),
        legend=LEGEND,
        few=sum(change.kind == CHANGED for change in diff.changes) <= _OPEN,
        marks=MARKS,
        about=_about,
    )


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
