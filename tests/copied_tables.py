"""Folders with some of the shipped files: where others show nothing new, reading them only takes time."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from ratecard.load.folder import shipped_folder


def copy_files(folder: Path, names: Iterable[str]) -> Path:
    """Write these of the shipped files into a folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shipped_folder() / name, folder / name)
    return folder


def copy_with_shared(folder: Path, *names: str) -> Path:
    """Write these of the shipped files, and those that every table needs, into a folder."""
    return copy_files(folder, (*(path.name for path in shipped_folder().glob("*.yaml")), *names))
