"""The writing of kept roll-ups: only new or changed files are read, and the folder changes completely or not at all."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.kept.kept_usage import (
    ROWS,
    SECOND,
    SHAPE,
    SHARE,
    is_of_shape,
    key_column,
    packed,
    rows_in,
    shape_column,
)
from ratecard.simulation.groups.kept.place import (
    BEING_WRITTEN,
    MANIFEST,
    PACKS,
    SHAPES,
    KeptFile,
    KeptPlace,
    Manifest,
    Pack,
    PackedFile,
    PackedPart,
    name_in_pack,
)
from ratecard.simulation.groups.plan import Plan
from ratecard.simulation.groups.queries import SLOT, Grouping, OpenUsage
from ratecard.simulation.progress import Progress
from ratecard.simulation.rows.columns import DAY
from ratecard.simulation.rows.files import FILE, Stamps
from ratecard.simulation.sql import DuckDbSql, system_reason
from ratecard.simulation.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changes:
    """The files of a usage, compared with those that a roll-up has read: new, changed, gone, or the same."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    same: tuple[str, ...]

    @classmethod
    def of(cls, before: Manifest | None, stamps: Stamps) -> "Changes":
        """Compare the files of a usage with those that a roll-up has read."""
        known = {file: kept_file.stamp for file, kept_file in before.files.items()} if before else {}
        read_before = [file for file in stamps if file in known]
        return cls(
            tuple(file for file in stamps if file not in known),
            tuple(file for file in read_before if stamps[file] != known[file]),
            tuple(file for file in known if file not in stamps),
            tuple(file for file in read_before if stamps[file] == known[file]),
        )

    @property
    def read(self) -> tuple[str, ...]:
        """Return the files that are read."""
        return (*self.new, *self.changed)


def keep(
    place: KeptPlace,
    made: Manifest,
    before: Manifest | None,
    changes: Changes,
    written: "Written",
) -> Manifest:
    """Write the new packs, then the manifest, which makes them part of the folder. Return the manifest.

    `made` is the manifest without files and packs; `before` is the manifest until now, if its groups stay.
    """
    dropped_shares = {before.files[file].share for file in (*changes.changed, *changes.gone)} if before else set()
    old_packs = list(before.packs) if before else []
    folder = place.folder
    # Packs with a share that is dropped are written again; small packs are too, so that there are only a few.
    merged_packs = [pack for pack in old_packs if dropped_shares & set(pack.shares)]
    groups = written.groups + sum(pack.groups for pack in merged_packs)
    for pack in sorted((pack for pack in old_packs if pack not in merged_packs), key=lambda pack: pack.groups):
        if pack.groups <= groups:
            merged_packs.append(pack)
            groups += pack.groups
    staying_packs = [pack for pack in old_packs if pack not in merged_packs]
    names = {pack.name for pack in old_packs} | {
        path.name.removesuffix(BEING_WRITTEN) for path in (folder / PACKS).glob("*")
    }
    name = place.new_name(names)
    new_folder, manifest_file = folder / PACKS / f"{name}{BEING_WRITTEN}", folder / f".{MANIFEST}{BEING_WRITTEN}"
    new_folder.mkdir(parents=True)
    files = {file: before.files[file] for file in changes.same} if before else {}
    files |= written.files
    try:
        sources = dict[str, list[PackedPart]]()
        if before:
            merged_manifest = before.model_copy(update={"packs": tuple(merged_packs)})
            place.need(merged_manifest)
            sources = packed(place, merged_manifest)
        pack = written.pack(folder, new_folder, name, sources, dropped_shares)
        packs = (*staying_packs, pack) if pack.groups else tuple(staying_packs)
        manifest = made.model_copy(update={"files": dict(sorted(files.items())), "packs": packs})
        manifest_file.write_text(manifest.text(), encoding="utf-8")
        to_disk([manifest_file, *new_folder.iterdir(), new_folder])
        new_folder.rename(folder / PACKS / name)
        to_disk([folder / PACKS])
        manifest_file.replace(folder / MANIFEST)
    except BaseException as error:
        manifest_file.unlink(missing_ok=True)
        for path in (new_folder, folder / PACKS / name):
            shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, (OSError, duckdb.Error)):
            cause = system_reason(error) or error
            raise SimulationError(f"{place} cannot be written, and is as it was: {cause}") from error
        raise
    to_disk([folder])
    for path in (folder / PACKS).iterdir():
        if path.name not in {pack.name for pack in packs}:
            shutil.rmtree(path, ignore_errors=True)
    place.publish(manifest)
    return manifest


def to_disk(places: Collection[Path]) -> None:
    """Flush what was written to the disk, before the next step relies on it."""
    for place in places:
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Written:
    """The groups of new files, in tables with the columns of kept groups."""

    def __init__(self, workspace: Workspace, stamps: Stamps, first_share: int) -> None:
        self._workspace, self._tables, self._stamps = workspace, dict[str, str](), stamps
        self._shares = {file: first_share + number for number, file in enumerate(stamps)}
        self.files: dict[str, KeptFile] = {}
        self.groups = 0
        # True if some rows have no instant.
        self.undated = False

    def read(self, opened: OpenUsage, plan: Plan, progress: Progress) -> None:
        """Group the rows of the files; the last key of the plan is the file."""
        rows = dict.fromkeys(self._stamps, 0)
        with self._workspace.another() as connection:
            share_columns = [list(self._shares), list(self._shares.values())]
            shares = self._workspace.new_table("shares")
            connection.execute(
                f"CREATE TABLE {shares} AS SELECT unnest(?::VARCHAR[]) AS file, unnest(?::BIGINT[]) AS share",
                share_columns,
            )
            for grouping, groups in opened.groups(plan, progress):
                table = self._workspace.new_table("kept")
                columns = ", ".join(_columns(connection, grouping, groups, plan))
                joined = f"{groups} JOIN {shares} ON file = key{plan.keys.index(FILE)}"
                connection.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM {joined}")
                query = f"SELECT file, sum({ROWS}), count(*) FROM {table} JOIN {shares} USING (share) GROUP BY file"
                counts = connection.execute(query).fetchall()
                for file, requests, count in counts:
                    rows[file] += int(requests)
                    self.groups += count
                if plan.by_day and not self.undated:
                    undated_rows = f"SELECT count(*) FROM {table} WHERE {DAY} IS NULL"
                    self.undated = bool(connection.execute(undated_rows).fetchall()[0][0])
                (of_groups,) = connection.execute(f"SELECT coalesce(sum(requests), 0) FROM {groups}").fetchall()
                if int(of_groups[0]) != sum(int(requests) for _, requests, _ in counts):
                    raise SimulationError("the usage has rows of files that it does not name. Roll it up again")
                connection.execute(f"DROP TABLE {groups}")
                if counts:
                    self._tables[grouping.name] = table
        counted = opened.counted_by_file(plan) if plan.chosen else {}
        for file, requests in rows.items():
            found_rows, undated = counted.get(file, (0, 0)) if plan.chosen else (requests, 0)
            self.files[file] = KeptFile(
                share=self._shares[file], stamp=self._stamps[file], found=found_rows, rows=requests, undated=undated
            )

    def pack(
        self,
        folder: Path,
        place: Path,
        name: str,
        merged: Mapping[str, Sequence[PackedPart]],
        dropped: Collection[int],
    ) -> Pack:
        """Write and return a pack of these and merged groups, without dropped shares, by day; and each shape once."""
        parts: dict[str, PackedPart] = {}
        shares, groups = set[int](), 0
        where = f" WHERE {SHARE} NOT IN ({', '.join(map(str, sorted(dropped)))})" if dropped else ""
        for part in dict.fromkeys((*self._tables, *merged)):
            queries = [f"SELECT * FROM {self._tables[part]}"] if part in self._tables else []
            if files := merged.get(part):
                group_files, shapes = [pair.groups for pair in files], [pair.shapes for pair in files]
                joined = f"({rows_in(folder, group_files)}) JOIN ({rows_in(folder, shapes)})"
                queries.append(f"SELECT * EXCLUDE ({SHAPE}) FROM {joined} USING ({SHAPE}){where}")
            with self._workspace.another() as connection:
                connection.execute("SET preserve_insertion_order = true")
                rows_of_share = _write(connection, " UNION ALL BY NAME ".join(queries), _files_of(place, part))
            if rows_of_share:
                shares |= rows_of_share.keys()
                groups += sum(rows_of_share.values())
                of_groups, of_shapes = (
                    PackedFile(name=f"{PACKS}/{name}/{file.name}", bytes=file.stat().st_size)
                    for file in _files_of(place, part)
                )
                parts[part] = PackedPart(groups=of_groups, shapes=of_shapes)
        return Pack(name=name, shares=tuple(sorted(shares)), groups=groups, parts=parts)


def _files_of(place: Path, part: str) -> tuple[Path, Path]:
    """Return the files of the groups and the shapes of a part of the types, in the folder of a pack."""
    name = name_in_pack(part)
    return place / f"{name}.parquet", place / f"{name}{SHAPES}.parquet"


def _write(connection: duckdb.DuckDBPyConnection, rows: str, files: Sequence[Path]) -> dict[int, int]:
    """Write rows as groups, by day, and as numbered shapes. Return the number of groups of each share."""
    names = _names(connection, rows)
    of_shape, others = (
        [DuckDbSql.quoted(name) for name in names if is_of_shape(name) is wanted] for wanted in (True, False)
    )
    run, listed = connection.execute, ", ".join(of_shape)
    rows_of_share = dict(run(f"SELECT {SHARE}, count(*) FROM ({rows}) GROUP BY 1").fetchall())
    if not rows_of_share:
        return rows_of_share
    kinds = f"SELECT row_number() OVER (ORDER BY {listed}) AS {SHAPE}, * FROM (SELECT DISTINCT {listed} FROM ({rows}))"
    run(f"CREATE TEMP TABLE kinds AS {kinds}")
    same_kind = " AND ".join(f"given.{column} IS NOT DISTINCT FROM kinds.{column}" for column in of_shape)
    groups = f"SELECT {', '.join((SHAPE, *others))} FROM ({rows}) AS given JOIN kinds ON {same_kind}"
    order = ", ".join(column for column in (DAY, SHARE, SHAPE) if column in (*names, SHAPE))
    for query, file in zip((f"{groups} ORDER BY {order}", f"FROM kinds ORDER BY {SHAPE}"), files, strict=True):
        run(f"COPY ({query}) TO {DuckDbSql.literal(str(file))} (FORMAT parquet, COMPRESSION zstd)")
    run("DROP TABLE kinds")
    return rows_of_share


def _names(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    return {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}


def _columns(connection: duckdb.DuckDBPyConnection, grouping: Grouping, groups: str, plan: Plan) -> Iterator[str]:
    """Yield the columns of kept groups, made of the columns of a query."""
    names = _names(connection, f"SELECT * FROM {groups}")
    yield from (SHARE, "type", "model")
    if plan.by_day:
        yield DAY
    if plan.cuts:
        yield f"CAST({list(plan.cuts)}[{SLOT}] AS INTEGER) AS {SECOND}"
    for number, key in enumerate(plan.keys):
        if f"key{number}" in names and key != FILE:
            yield f"key{number} AS {DuckDbSql.quoted(key_column(key))}"
    for name, column in grouping.shape.items():
        yield f"{column} AS {DuckDbSql.quoted(shape_column(name))}"
    for total in grouping.totals:
        yield f"CAST({total} AS DECIMAL(38, 0)) AS {total}" if names[total] == "HUGEINT" else total
    yield ROWS
