"""Writes into what is built: the revision of the service, and into a wheel what is made of its sound tables.

An editable install has nothing built: its sources say the revision themselves when the server starts, and its tables
are read from their YAML.
"""

import runpy
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Built(BuildHookInterface):  # type: ignore[misc, type-arg]
    """Puts the files that are made of the sources where the built package reads them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a target is built."""
        if version == "editable":
            return
        root = Path(self.root)
        self.made = Path(mkdtemp(prefix="ratecard-build-"))
        revision = runpy.run_path(str(root / "src" / "ratecard" / "server" / "revision.py"))
        (self.made / revision["BUILT"]).write_text(f"{revision['derived'](root)}\n", encoding="ascii")
        if self.target_name == "wheel":
            self.write_tables(root)
        folder = "ratecard/" if self.target_name == "wheel" else ""
        for path in self.made.iterdir():
            build_data["force_include"][str(path)] = folder + path.name

    def write_tables(self, root: Path) -> None:
        """Write the file of the tables by the code of the package that is built. Raises `TableError`."""
        sys.path.insert(0, str(root / "src"))
        from ratecard.load.built import BUILT_TABLES
        from ratecard.load.folder import build_tables, read_folder

        (self.made / BUILT_TABLES).write_bytes(build_tables(read_folder(root / "pricing_tables")))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after a target is built: nothing of it is left."""
        if version != "editable":
            shutil.rmtree(self.made)
