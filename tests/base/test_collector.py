"""Many small values are made while the host's garbage collector pauses; then it goes on."""

import gc

import pytest

from ratecard.base.collector import uncollected


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
