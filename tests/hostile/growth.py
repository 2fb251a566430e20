"""How the cost of an entry point grows with the size of what it is given."""

import gc
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any, NamedTuple

import pytest

from ratecard.base.errors import RateCardError

# An input must cost so many seconds more than a tiny one, so that what every call costs hides nothing.
LEAST = 0.005
# Four times the input may cost so many times as much: a linear cost and the noise of a busy machine.
MOST_TIMES = 6
REPEATS = 5


class Entry(NamedTuple):
    """An entry point, how an input of a size is made for it, and the largest size that is tried.

    Where the largest costs less than `LEAST`, its cost is bounded, which is better than linear.
    """

    name: str
    make: Callable[[int], Any]
    call: Callable[[Any], object]
    largest: int = 1 << 18


def cost(entry: Entry, size: int) -> float:
    """Return the CPU seconds of an entry point for an input of a size: the best of several."""
    best = float("inf")
    for _ in range(REPEATS):
        given = entry.make(size)
        gc.collect()
        start = process_time()
        with suppress(RateCardError):  # a refusal is an answer
            entry.call(given)
        best = min(best, process_time() - start)
        if best > 1:  # noise is small beside this
            break
    return best


def check_growth(entry: Entry) -> None:
    """Fail if four times the input costs more than `MOST_TIMES` times as much."""
    overhead, size = cost(entry, 1), 16
    while (small := cost(entry, size)) < LEAST + overhead:
        if size >= entry.largest:
            return
        size *= 2
    for _ in range(2):  # what the machine does beside it may hit every repeat of one size
        large = cost(entry, size * 4)
        if large <= MOST_TIMES * small:
            return
        small = max(small, cost(entry, size))
    words = f"{entry.name}: {size} cost {small * 1000:.1f} ms, and {size * 4} cost {large * 1000:.1f} ms"
    pytest.fail(f"{words}: {large / small:.1f} times as much")
