"""Where a report is written until it is whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def beside(path: Path) -> Path:
    """Return a path beside a report, in the same folder; the file gets the report's name when it is complete."""
    target = path.resolve()
    return target.with_name(f".{target.name}.{os.getpid()}.new")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the file beside a place, which replaces it at the end; after an error all is as it was."""
    new = beside(path)
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
