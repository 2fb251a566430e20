"""Strategies for the parts that every made-up table has: rates, choices, and a line for every combination."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from ratecard.words.money import plain, step, text

Draft = dict[str, Any]


def numbers(*, most: int = 100_000) -> st.SearchStrategy[str]:
    """Amounts above zero with up to four decimal places, as they are written; the simplest is 1."""
    parts = st.tuples(st.integers(1, most), st.integers(0, 4))
    return parts.map(lambda number: text(plain(number[0] * step(number[1]))))


def rates_or_free() -> st.SearchStrategy[str]:
    """Amounts that may be zero too; the simplest is still 1."""
    return st.tuples(numbers(), st.integers(0, 9)).map(lambda drawn: "0" if drawn[1] == 9 else drawn[0])


def some(values: Sequence[str], *, least: int = 1) -> st.SearchStrategy[list[str]]:
    """Some of these values, in their order; the simplest is the first one."""
    drawn = st.lists(st.sampled_from(values), min_size=least, max_size=len(values), unique=True)
    return drawn.map(lambda found: sorted(found, key=values.index))


@st.composite
def rates_by(draw: st.DrawFn, choices: dict[str, list[str]]) -> list[Draft]:
    """A rate for every combination of some of these attributes; the others do not matter."""
    names = draw(st.lists(st.sampled_from(sorted(choices)), unique=True)) if choices else []
    named = {name: choices[name] for name in sorted(names)}
    keys = product(*named.values())
    return [{**dict(zip(named, key, strict=True)), "rate": draw(rates_or_free())} for key in keys]


@st.composite
def charges(draw: st.DrawFn, /, method: str, unit: str, rates: list[Draft], **options: Any) -> Draft:
    """A charge, marked up or not."""
    markup = {"markup": draw(numbers(most=3))} if draw(st.booleans()) else {}
    return {"charge": method, "method": method, "unit": unit, **markup, **options, "rates": rates}
