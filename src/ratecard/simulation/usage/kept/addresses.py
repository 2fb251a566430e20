"""Which place a path or an address means, and whether a roll-up is kept there."""

import os
from pathlib import Path
from typing import Any

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.usage.files import is_pattern, is_remote, is_usage
from ratecard.simulation.usage.kept.place import KeptPlace, local_folder


def place_at(given: str | os.PathLike[str], copies: Path) -> KeptPlace:
    """A place by its path or address; what is in a storage is copied to a folder. Raises `SimulationError`."""
    if not is_remote(str(given)):
        return KeptPlace(local_folder(given))
    if is_usage(str(given)):
        raise SimulationError(f"{given} is named like a file of usage; a roll-up is a folder of files")
    # Loaded here, because a folder of this machine needs no storage.
    from ratecard.simulation.usage.kept.storage import Stored

    return Stored(str(given), copies / "storage")


def kept_place(usage: Any, copies: Path, engine: str | None = None) -> KeptPlace | None:
    """The place of a usage that is a kept roll-up; None for another. Raises `SimulationError` for one of several."""
    listed = usage if isinstance(usage, (list, tuple)) else [usage]
    found = next((place for each in listed if (place := _kept_at(each, copies, engine))), None)
    if found and len(listed) > 1:
        raise SimulationError(f"{found} is a roll-up, which is given alone")
    return found


def _kept_at(given: Any, copies: Path, engine: str | None) -> KeptPlace | None:
    """The place of a roll-up; an address of files, or of nothing that a storage is known for, has none."""
    if not isinstance(given, (str, os.PathLike)):
        return None
    text = str(given)
    if is_remote(text) and (is_pattern(text) or is_usage(text)):
        return None
    try:
        place = place_at(given, copies)
        return place if place.is_kept() else None
    except SimulationError:
        # Spark has storages and credentials of its own.
        if engine == "spark":
            return None
        raise
