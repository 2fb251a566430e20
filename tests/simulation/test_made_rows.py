"""Rows that are made quickly, many at a time: they are like any others, and the host's garbage collector goes on."""

import gc
from typing import Any

import pytest

from ratecard.simulation.answers.rows import EVEN, Row, made_rows
from ratecard.simulation.groups.roll_up import uncollected


def test_a_row_that_is_made_quickly_is_a_row_like_any_other() -> None:
    parts: Any = (("m", None), 2, (), (1, 2), (EVEN,))
    (made,) = made_rows(*([part] for part in parts))
    assert (type(made), made, hash(made), repr(made)) == (Row, Row(*parts), hash(Row(*parts)), repr(Row(*parts)))
    assert made.beside() is EVEN


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_of_the_host_only_pauses(enabled: bool) -> None:
    was, frozen = gc.isenabled(), gc.get_freeze_count()
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            assert not gc.isenabled()
        assert (gc.isenabled(), gc.get_freeze_count()) == (enabled, frozen)
    finally:
        (gc.enable if was else gc.disable)()
