"""Writes the revision of the service into what is built: a wheel, or an archive of the sources.

An editable install has nothing built: its sources say the revision themselves, when the server starts.
"""

import runpy
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Revision(BuildHookInterface):  # type: ignore[misc, type-arg]
    """Puts the file with the revision where the server of the built package reads it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a target is built."""
        root = Path(self.root)
        revision = runpy.run_path(str(root / "src" / "ratecard" / "server" / "revision.py"))
        if version == "editable":
            return
        made = Path(mkdtemp(prefix="ratecard-build-")) / revision["BUILT"]
        made.write_text(f"{revision['derived'](root)}\n", encoding="ascii")
        places = {"wheel": f"ratecard/{made.name}", "sdist": made.name}
        build_data["force_include"][str(made)] = places[self.target_name]
        self.made = made

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after a target is built: nothing of it is left."""
        if version != "editable":
            self.made.unlink()
            self.made.parent.rmdir()
