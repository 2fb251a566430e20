"""How long a property test tries: few examples, always the same, or in `make nightly` many, and new ones."""

import os


def is_nightly() -> bool:
    """Return True for the long run."""
    return bool(os.environ.get("NIGHTLY"))


def examples(quick: int, *, nightly: int) -> int:
    """Return the number of examples that this run tries."""
    return nightly if is_nightly() else quick
