"""Writes reports to files: each whole or not at all."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb

from ratecard.simulation.failure import SimulationError
from ratecard.simulation.report.document import write_json
from ratecard.simulation.report.groups_file import write_csv, write_parquet
from ratecard.simulation.report.page import write_page
from ratecard.simulation.report.place import beside
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.spreadsheet import write_spreadsheet

Write = Callable[[Report, Path], None]

WRITERS: Mapping[str, Write] = {
    ".html": write_page,
    ".xlsx": write_spreadsheet,
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".json": write_json,
}
ALLOWED = ", ".join(WRITERS)


def write(report: Report, paths: Sequence[Path]) -> None:
    """Write a report in the formats that the names end in; a file that is there is replaced.

    Everything is written beside the files first, and only when all is on the disk they get their names. Raises
    `SimulationError` where that fails; then every file is as it was before.
    """
    for path in paths:
        if path.suffix.lower() not in WRITERS:
            raise SimulationError(f"{path}: '{path.suffix}' is not a format of reports. Allowed: {ALLOWED}")
    made: dict[Path, Path] = {}
    path = Path()
    try:
        for path in paths:
            made[path.resolve()] = place = beside(path)
            WRITERS[path.suffix.lower()](report, place)
            _keep(place)
        for target, place in made.items():
            place.replace(target)
    except (OSError, duckdb.Error) as error:
        raise SimulationError(f"{path} cannot be written: {_reason(error)}. No report is written") from None
    finally:
        for place in made.values():
            place.unlink(missing_ok=True)


def _keep(path: Path) -> None:
    """Returns when the file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _reason(error: OSError | duckdb.Error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).splitlines()[0].rpartition(": ")[2].rstrip(".")
