"""`rollup`: recorded usage as groups that are kept in a folder, which is then usage itself."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError
from ratecard.requests.dialects import TableDialect
from ratecard.review.sides import Side
from ratecard.simulation.groups.engines import Engine, opened_usage
from ratecard.simulation.groups.grouped_usage import Reading
from ratecard.simulation.groups.kept.keep import Changes, Written, keep
from ratecard.simulation.groups.kept.kept_usage import kept_place, place_at
from ratecard.simulation.groups.kept.place import MANIFEST, PACKS, Asked, Distinguished, KeptPlace, Manifest
from ratecard.simulation.prices.sides import Specification, sides
from ratecard.simulation.progress import OPENED, PRICED, READ, Progress, silent, within
from ratecard.simulation.rows.columns import DAY
from ratecard.simulation.rows.duckdb_responses import requests_only, table_dialect
from ratecard.simulation.rows.files import FILE, is_read_of, is_remote
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.simulate import keys_of, plan_of
from ratecard.simulation.workspace import Workspace, enough_memory

_BY = ("model", DAY)
# Groups without a day need no instant.
_ANY_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KeptRollUp:
    """The result of a run of `rollup`: the folder (or its address), rows, groups, bytes, files read or dropped.

    `anew` says why all files were read again; empty where they were not.
    """

    folder: Path | str
    rows: int
    groups: int
    bytes: int
    changes: Changes
    anew: str = ""
    # Warnings of columns that were not read, and look like some that the usage does not have.
    warnings: tuple[str, ...] = ()


@enough_memory()
def rollup(
    usage: str | Path | Sequence[str | Path],
    out: str | Path,
    current: Specification | None = None,
    candidates: Specification | Sequence[Specification] = (),
    *,
    by: Sequence[str] | None = None,
    tables: str | Path | None = None,
    where: str | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: TableDialect | None = None,
    memory: str | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    progress: Progress = silent,
) -> KeptRollUp:
    """Keep usage as groups in the folder `out`, which `simulate` then takes as usage, for the same answers.

    The folder is on this machine, or in an object storage: "s3://bucket/folder", "gs://...", "az://...".

    The arguments are those of `simulate`; usage is files. `by` names the columns that can be grouped by later (by
    default model and day); model and day always can. Groups distinguish what the current prices and the candidates
    depend on (thresholds, conditions, buckets, hours), and most other prices depend on the same.

    A further run reads only new and changed files, and drops those that are gone; with other arguments, or tables that
    distinguish more, it reads all files. The folder is written whole or not at all. Raises `SimulationError`.
    """
    compared = sides(current, candidates, Path(tables) if tables else None)
    named = _named(current, compared, tables)
    usage_dialect = table_dialect(dialect) if dialect is not None else None
    chosen, names = Chosen.of(where, None, None), dict(columns or {})
    workspace = Workspace(memory)
    try:
        place = place_at(out, workspace.folder)
        _state(place)
        paths = _given(usage, place, workspace.folder, engine)
        places = [path if is_remote(path) else os.path.abspath(path) for path in paths]  # noqa: PTH100
        opening_progress = within(progress, 0, OPENED)
        cards = [side.card for side in compared]
        opening = opened_usage(
            workspace, places, names, engine, master, cards, opening_progress, usage_dialect, by_file=True
        )
        with opening as opened:
            known = opened.known
            if known.is_ledger:
                raise SimulationError("a billing export is rated row by row: give the export itself to simulate")
            if usage_dialect:
                chosen = Chosen.of(requests_only(usage_dialect, known.types, where), None, None)
            dated = known.has("timestamp")
            # With days, later prices of any day can be simulated; without, all usage is priced at one instant.
            compared = tuple(replace(side, at=None if dated else side.at or _ANY_INSTANT) for side in compared)
            keys = tuple(key for key in keys_of(known) if key in _BY) if by is None else tuple(dict.fromkeys(by))
            grouped = (*dict.fromkeys((*keys, *([DAY] if dated else []))), FILE)
            known.check_names(names, (*grouped, *chosen.columns))
            plan = plan_of(compared, grouped, known, chosen)
            reading = Reading(opened.source).with_columns(known, plan, known.layouts)
            manifest = Manifest(
                version=version("ratecard"),
                usage=tuple(paths),
                tables=named,
                asked=Asked(by=keys, where=where, columns=names, dialect=dialect, engine=engine or "duckdb"),
                declared=_without_file(known.declared),
                known=_without_file(known.columns),
                types=_without_file(known.types),
                scales=_without_file(known.scales),
                dated=dated,
                untyped=known.untyped,
                distinguished=Distinguished.of(plan, untyped=known.untyped),
                files={},
                packs=(),
            )
            with place.locked():
                before = _state(place)
                anew = _anew(before, manifest, place)
                changes = Changes.of(None if anew else before, opened.stamps)
                if anew and before:
                    changes = replace(changes, gone=tuple(file for file in before.files if file not in opened.stamps))
                previous = None if anew else before
                first = 1 + max((file.share for file in previous.files.values()), default=0) if previous else 0
                written = Written(workspace, {file: opened.stamps[file] for file in changes.read}, first)
                if changes.read:
                    part = opened if not changes.same else opened.of_files(changes.read)
                    written.read(part, plan, progress)
                    odd = part.odd_instant(plan) if written.undated else ""
                    manifest = manifest.model_copy(update={"odd": odd or (previous.odd if previous else "")})
                within(progress, READ, PRICED)("Writing", None)
                if changes.read or changes.gone or anew or not before:
                    before = keep(place, manifest, previous, changes, written)
        size = sum(file.bytes for pack in before.packs for file in pack.files)
        return KeptRollUp(
            str(place) if is_remote(str(out)) else place.folder,
            before.rows,
            sum(pack.groups for pack in before.packs),
            size,
            changes,
            anew,
            tuple(reading.warnings()),
        )
    finally:
        workspace.close()


def _named(current: Specification | None, compared: Sequence[Side], tables: str | Path | None) -> tuple[str, ...]:
    """Return the prices as words of a command: the folder of the tables, a current revision, and the candidates."""
    is_folder = isinstance(current, (str, Path)) and Path(current).is_dir()
    is_revision = isinstance(current, str) and not is_folder and compared[0].at is None
    others = (*([current] if is_revision else []), *(side.label for side in compared[1:]))
    return (str((current if is_folder else tables) or ""), *map(str, others))


def _given(usage: Any, place: KeptPlace, copies: Path, engine: Engine | None) -> list[str]:
    """Return the places of the usage. Raises `SimulationError` for anything but files outside of the roll-up."""
    paths = usage if isinstance(usage, (list, tuple)) else [usage]
    if wrong := next((path for path in paths if not isinstance(path, (str, Path))), None):
        raise SimulationError(f"usage is {type(wrong).__name__}, and a roll-up is kept of files: give their paths")
    if kept := kept_place(list(paths), copies, engine):
        raise SimulationError(f"{kept} is a roll-up already; give the usage that it was made of")
    files = [f"{place}/{name}" for name in (MANIFEST, f"{PACKS}/0/1.parquet")]
    for path in map(str, paths):
        if any(is_read_of(path, file) for file in files):
            raise SimulationError(f"{place} is in {path}, so that it would be usage itself. Name a folder outside")
    return [str(path) for path in paths]


def _without_file(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the usage without that of its file."""
    return {name: value for name, value in named.items() if name != FILE}


def _state(place: KeptPlace) -> Manifest | None:
    """Return the manifest of the roll-up at a place; None if it is free. Raises `SimulationError` for anything else."""
    if place.is_kept():
        return place.manifest()
    if not place.is_free():
        raise SimulationError(f"{place} exists, and is not a roll-up. Name a folder that is new or empty")
    return None


def _anew(before: Manifest | None, made: Manifest, place: KeptPlace) -> str:
    """Return why all files are read again; empty where there are no groups, or they can be kept."""
    if before is None:
        return ""
    parts: dict[str, tuple[Any, Any]] = {
        "the release of ratecard": (before.version, made.version),
        "the arguments": (before.asked, made.asked),
        "the columns of the usage": (
            (before.declared, before.known, before.untyped),
            (made.declared, made.known, made.untyped),
        ),
        "what the prices ask": (before.distinguished, made.distinguished),
        "the files of the groups": (place.is_whole(before), True),
    }
    other = [name for name, (one, two) in parts.items() if one != two]
    return f"{' and '.join(other)} changed" if other else ""
