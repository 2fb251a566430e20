"""How many examples a long property test tries: few in `make test`, all of them in `make nightly`."""

import os


def examples(quick: int, *, nightly: int) -> int:
    """The count for this run; `NIGHTLY=1` asks for the full one."""
    return nightly if os.environ.get("NIGHTLY") else quick
