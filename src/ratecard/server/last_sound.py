"""The tables that were sound last, in a file that the workers of one server share.

A worker that is started anew while the folder is broken serves these, like the workers beside it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path


class LastSound:
    """Keeps the files of a folder of tables with their bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Keep these; whoever reads meanwhile has them whole, or those before."""
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        new.write_text(json.dumps({name: content.decode() for name, content in contents.items()}), encoding="utf-8")
        new.replace(self.path)

    def read(self) -> dict[str, bytes] | None:
        """What was kept; None where nothing was."""
        if not self.path.exists():
            return None
        kept: dict[str, str] = json.loads(self.path.read_text(encoding="utf-8"))
        return {name: content.encode() for name, content in kept.items()}
