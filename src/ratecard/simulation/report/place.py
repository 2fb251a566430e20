"""Where a report is written until it is whole."""

import os
from pathlib import Path


def beside(path: Path) -> Path:
    """The file beside the place of a report, in the same folder, that gets its name at the end."""
    target = path.resolve()
    return target.with_name(f".{target.name}.{os.getpid()}.new")
