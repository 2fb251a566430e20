"""Many small values at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the search for cycles while tuples that have none are made by the hundred thousand: a third of the time.

    Afterwards they are old, as if they had outlived the searches that were left out. Who has frozen objects keeps them.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was:
            gc.enable()
