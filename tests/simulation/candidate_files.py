"""Candidates as files."""

from pathlib import Path


def candidate(folder: Path, *changes: str, name: str = "dearer", day: str = "2026-10-01", until: str = "") -> Path:
    """Write a candidate of these changes into a file of its name."""
    days = f"effective: {day}\n" + f"until: {until}\n" * bool(until)
    path = folder / f"{name}.yaml"
    listed = "".join(f"  - {change}\n" for change in changes)
    path.write_text(f"candidate: {name}\n{days}proposed_by: tests\nwhy: to see what it does\nchanges:\n{listed}")
    return path
