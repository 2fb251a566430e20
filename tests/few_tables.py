"""A folder of tables with few of the shipped files: where others show nothing new, reading them only takes time."""

import shutil
from pathlib import Path

from ratecard.load.folder import shipped_folder


def few_tables(folder: Path, *files: str) -> Path:
    """Write these of the shipped files, and those that every table needs, into a folder."""
    shipped = shipped_folder()
    for name in (*(path.name for path in shipped.glob("*.yaml")), *files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shipped / name, folder / name)
    return folder
