"""The place that a path or an address means, and the check that a roll-up is kept there."""

import os
import re
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.kept.place import KeptPlace
from ratecard.simulation.rows.files import LOCAL, is_remote, is_usage

# The characters that make an address a pattern of files, or begin a fragment.
_NO_PLACE = re.compile(r"[*?\[\]#]")


def place_at(given: str | os.PathLike[str], copies: Path) -> KeptPlace:
    """Return a place by its path or address; a roll-up in a storage is copied to a folder. Raises `SimulationError`."""
    if not is_remote(str(given)):
        return KeptPlace(Path(str(given).removeprefix(LOCAL)))
    if words := _no_place(str(given)):
        raise SimulationError(f"{given} {words}")
    from ratecard.simulation.groups.kept.storage import Stored

    return Stored(str(given), copies / "storage")


def _no_place(address: str) -> str:
    """Return in words why a roll-up cannot be at an address; empty if it can."""
    if is_usage(address):
        return "is named like a file of usage; a roll-up is a folder of files"
    if mark := _NO_PLACE.search(address):
        return f"has a {mark[0]}, and the address of a roll-up has none of * ? [ ] #. Name another folder"
    # Loaded here, because a folder of this machine needs no storage.
    from ratecard.simulation.groups.kept.storage import no_storage

    return no_storage(address)


def kept_place(usage: Any, copies: Path, engine: str | None = None) -> KeptPlace | None:
    """Return the place of a usage that is a kept roll-up, else None. Raises `SimulationError` for several usages."""
    listed = usage if isinstance(usage, (list, tuple)) else [usage]
    kept = next((place for part in listed if (place := _kept_at(part, copies, engine))), None)
    if kept and len(listed) > 1:
        raise SimulationError(f"{kept} is a roll-up, which is given alone")
    return kept


def _kept_at(usage: Any, copies: Path, engine: str | None) -> KeptPlace | None:
    """Return the place of a roll-up; None for other usage, and for an address where a roll-up cannot be."""
    if not isinstance(usage, (str, os.PathLike)):
        return None
    text = str(usage)
    if is_remote(text) and _no_place(text):
        return None
    try:
        place = place_at(usage, copies)
        return place if place.is_kept() else None
    except SimulationError:
        # Spark has its own storages and credentials, so it may read what could not be read here.
        if engine == "spark":
            return None
        raise
