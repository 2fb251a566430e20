"""The revision of the service and of its OpenAPI description: a date and a time, like `20261005.123015`.

It is derived from the time of the sources and the dates of the tables: when the package is built (`hatch_build.py`
loads this file by its path and writes the result into the wheel), or in a source tree when the server starts. This file
imports the standard library only.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

# The file of the revision, in the package and at the top of an archive of the sources.
BUILT = "built.txt"
# The folders of the package's files.
_SOURCES = ("src", "pricing_tables")
_CHECKED = re.compile(rb"\bchecked: *(\d{4})-(\d{2})-(\d{2})\b")


def derived(root: Path) -> str:
    """Return the time of the sources of a tree, or the last day on which a table was checked, if that is later.

    The time is `SOURCE_DATE_EPOCH`, else that of the newest commit, else that of the newest file.
    """
    archived = root / BUILT
    if archived.is_file():
        return archived.read_text(encoding="ascii").strip()
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or _committed(root) or max(_times(root), default=0)
    made = datetime.fromtimestamp(int(seconds), UTC)
    return f"{max(made, *_checked_days(root)):%Y%m%d.%H%M%S}"


def _committed(root: Path) -> str:
    """Return the seconds of the newest commit since 1970; empty without git or a repository of its own."""
    git = ["git", "-C", str(root)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        words = [*git, "log", "-1", "--format=%ct", "--", *_SOURCES]
        outputs = [
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()  # noqa: S603
            for command in ([*git, "rev-parse", "--show-toplevel"], words)
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    top, committed = outputs
    return committed if Path(top) == root.resolve() else ""


def _times(root: Path) -> Iterator[int]:
    for folder in _SOURCES:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".yaml"):
                yield int(path.stat().st_mtime)


def _checked_days(root: Path) -> Iterator[datetime]:
    yield datetime.min.replace(tzinfo=UTC)
    for path in (root / "pricing_tables").rglob("*.yaml"):
        for year, month, day in _CHECKED.findall(path.read_bytes()):
            yield datetime(int(year), int(month), int(day), tzinfo=UTC)


def revision_of_package(package: Path) -> str:
    """Return the revision with which a package was built, or that of its source tree."""
    built = package / BUILT
    return built.read_text(encoding="ascii").strip() if built.is_file() else derived(package.parent.parent)


SERVICE_VERSION = revision_of_package(Path(__file__).parent.parent)
