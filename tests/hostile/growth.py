"""How the cost of an entry point grows with the size of what it is given."""

import gc
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any, NamedTuple

import pytest
from click import ClickException
from starlette.exceptions import HTTPException

from ratecard.base.errors import RateCardError

# An input must take at least this many seconds more than a tiny one, so that the cost of every call hides nothing.
LEAST = 0.005
# Four times the input may cost at most this many times as much: a linear cost, and the noise of a busy machine.
MOST_TIMES = 6
# If an input no longer fits the caches of the processor, a linear cost was seen to rise by nine times in one step of
# four times the input, and by fifty in two; a quadratic cost rises by 256 times in two.
MOST_TIMES_OF_TWO = 80
REPEATS = 5


class Entry(NamedTuple):
    """An entry point, how an input of a size is made for it, and the largest size that is tried.

    Where the largest costs less than `LEAST`, its cost is bounded, which is better than linear.
    """

    name: str
    make: Callable[[int], Any]
    call: Callable[[Any], object]
    largest: int = 1 << 16


def cost(entry: Entry, size: int, repeats: int = REPEATS) -> float:
    """Return the CPU seconds of an entry point for an input of a size: the best of several."""
    best, given = float("inf"), entry.make(size)
    for _ in range(repeats):
        start = process_time()
        with suppress(RateCardError, ValueError, HTTPException, ClickException):  # a refusal is an answer
            entry.call(given)
        best = min(best, process_time() - start)
        if best > 1:  # the noise is small compared with this
            break
    return best


def check_growth(entry: Entry) -> None:
    """Fail if four times the input costs more than `MOST_TIMES` times as much."""
    overhead, size = cost(entry, 1), 16
    gc.collect()
    gc.freeze()  # the collector then scans only the objects of this input, and not all imported ones
    gc.disable()
    try:
        while cost(entry, size, 2) < LEAST + overhead:
            if size >= entry.largest:
                return
            size *= 2
        for _ in range(2):
            least, small, large = (cost(entry, tried) for tried in (size // 4, size, size * 4))
            if large <= MOST_TIMES * small or large <= MOST_TIMES_OF_TWO * least:
                return
    finally:
        gc.enable()
        gc.unfreeze()
    words = f"{entry.name}: {small * 1000:.1f} ms for {size}, and {large * 1000:.1f} ms for four times that"
    pytest.fail(f"{words}: {large / small:.1f} times as much")
