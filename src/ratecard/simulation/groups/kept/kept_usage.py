"""A kept roll-up as usage, by its path or address: the same groups as its rows would give.

An error says what it does not distinguish.
"""

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError
from ratecard.requests.dialects import TableDialect
from ratecard.simulation.groups.kept.place import (
    MANIFEST,
    Distinguished,
    KeptPlace,
    Manifest,
    PackedFile,
    PackedPart,
    missing_of,
)
from ratecard.simulation.groups.plan import PREDICATES, RAW_QUANTITIES, SUMMED, Plan
from ratecard.simulation.groups.queries import Grouping, OpenUsage, RollUpSql, RowQuantities, Summed
from ratecard.simulation.rows.columns import DAY, Layout, LayoutsOf, UsageColumn
from ratecard.simulation.rows.files import LOCAL, Stamps, is_remote, is_usage, local_stamps, pattern_escaped, unchanged
from ratecard.simulation.sql import ColumnType, DuckDbSql
from ratecard.simulation.workspace import Workspace, readable

# Columns of a kept group: the number of its shape, the number of its file's share, the last cut of the day before its
# instants, and its number of requests.
SHAPE, SHARE, SECOND, ROWS = "shape", "share", "second", "requests"
_OWN = ("type", "model")
_OF_QUANTITIES = (RAW_QUANTITIES, PREDICATES, SUMMED)


def key_column(name: str) -> str:
    """Return the column of a key."""
    return f"key.{name}"


def shape_column(name: str) -> str:
    """Return the column of a part of a shape."""
    return name if name in _OF_QUANTITIES else f"shape.{name}"


def is_of_shape(column: str) -> bool:
    """Return True for a column of kept rows that is a part of their shape."""
    return column in (*_OWN, *_OF_QUANTITIES) or column.startswith(shape_column(""))


class KeptSql(RollUpSql):
    """The same queries over kept groups, made of the columns of their shapes.

    `tables` has, for each part, the table of its groups with their shapes.
    """

    _requests = f"CAST(sum({ROWS}) AS BIGINT)"
    _instant_column = DAY

    def __init__(self, kept: Manifest, plan: Plan, tables: Mapping[str, str]) -> None:
        usage, self._kept, self._tables = kept.usage_table, kept, tables
        columns = {name: name if name in _OWN else shape_column(name) for name in (*usage.columns, "type")}
        types: dict[str, ColumnType] = {columns[name]: usage.types[column] for name, column in usage.columns.items()}
        scales = {columns[name]: usage.scales.get(column, 0) for name, column in usage.columns.items()}
        usage = usage._replace(
            columns=columns, types={"type": "text", **types}, scales=scales, untyped=False, layouts=plan.layouts
        )
        super().__init__(usage, plan, DuckDbSql())

    def groupings(self) -> Iterator[Grouping]:
        """Yield the grouping of each part that has groups."""
        return (grouping for grouping in super().groupings() if grouping.name in self._tables)

    def undated(self, part: str) -> str:
        """Return a query that counts the rows of a part without an instant."""
        return f"SELECT coalesce(sum({ROWS}) FILTER ({self._day()} IS NULL), 0) FROM {self._tables[part]}"

    def _rows_of(self, part: str) -> str:
        return f"(SELECT * FROM {self._tables.get(part)} WHERE {self._chosen}) AS chosen"

    def _total_of(self, name: str, _: Summed) -> str:
        return f"sum({name})"

    def _named(self, name: str) -> tuple[str, ColumnType]:
        column = name if name in _OWN else key_column(name)
        return self.dialect.quoted(column), self.usage.types[self.usage.columns[name]]

    def _key(self, key: str) -> str:
        return self.dialect.quoted(key_column(key))

    def _day(self) -> str:
        return DAY if self._kept.dated else "CAST(NULL AS DATE)"

    def _instant(self) -> tuple[str, ColumnType]:
        return self._day(), "date"

    def _second(self) -> str:
        return SECOND

    def _counts(self, layouts: Mapping[str, Layout], added: Mapping[UsageColumn, str]) -> dict[str, str]:
        return {column.name: self._column(column.name) for column in added} | {SUMMED: SUMMED}

    def _predicates(self, quantities: RowQuantities) -> dict[str, str]:
        columns = super()._predicates(quantities)
        layouts = quantities.layouts
        return {name: RAW_QUANTITIES if name == RAW_QUANTITIES else self._number_of_shape(layouts) for name in columns}

    def _number_of_shape(self, counted: Mapping[str, Layout]) -> str:
        """Return the number for the tier and the buckets that a plan distinguishes, computed from the kept number."""
        kept, needs = self._kept.distinguished, self.plan.predicates
        if (kept.thresholds, kept.lacking) == (needs.thresholds, dict(needs.lacking)):
            return PREDICATES
        tiers = len(kept.thresholds) + 1
        conditions = (f"{PREDICATES} % {tiers} > {kept.thresholds.index(edge)}" for edge in needs.thresholds)
        terms, by_type = [f"CAST({condition} AS INTEGER)" for condition in conditions], {}
        for type_ in counted:
            used = (
                f"({PREDICATES} // {tiers} >> {kept.lacking[type_].index(bucket)} & 1) * {needs.weight(type_, bucket)}"
                for bucket in needs.lacking.get(type_, ())
            )
            if weights := " + ".join(used):
                by_type[type_] = weights
        return " + ".join((*terms, self._of_type(counted, by_type, "0")))


def packed(place: KeptPlace, kept: Manifest) -> dict[str, list[PackedPart]]:
    """Return the files of each part of the types. Raises `SimulationError` where one is missing or has another size."""
    parts: dict[str, list[PackedPart]] = {}
    for file in missing_of(place.folder, kept):
        words = f"{place}/{file.name} is not what was kept. Make the roll-up again: {again(kept, place)}"
        raise SimulationError(words)
    for pack in kept.packs:
        for part, files in pack.parts.items():
            parts.setdefault(part, []).append(files)
    return parts


def rows_in(folder: Path, files: Sequence[PackedFile]) -> str:
    """Return the query of files of one kind, with numbers of shapes that are unique in all packs."""
    queries = []
    for at, file in enumerate(files):
        listed = DuckDbSql.literal(pattern_escaped(str(folder / file.name)))
        queries.append(f"SELECT * REPLACE ({SHAPE} + {at << 32} AS {SHAPE}) FROM read_parquet({listed})")
    return " UNION ALL BY NAME ".join(queries)


def again(
    kept: Manifest, place: KeptPlace, keys: Collection[str] = (), prices: Sequence[str] = (), *, alone: bool = False
) -> str:
    """Return the command that makes a roll-up with further keys and prices; `alone`: with these prices only."""
    arguments = kept.asked
    current, *others = prices if alone else (*kept.tables, *filter(None, prices))
    words = ["ratecard", "rollup", *kept.usage, "--out", str(place), "--by", ",".join((*arguments.by, *keys))]
    words += [word for name, column in arguments.columns.items() for word in ("--map", f"{name}={column}")]
    for option, value in (("--dialect", arguments.dialect), ("--where", arguments.where), ("--tables", current)):
        words += [option, value] if value else []
    words += ["--engine", arguments.engine] if arguments.engine != "duckdb" else []
    candidates = dict.fromkeys(price_name for price_name in others if price_name != current)
    return shlex.join(words + [word for price_name in candidates for word in ("--candidate", price_name)])


class KeptUsage(OpenUsage):
    """Usage whose rows are groups. `prices` are the names of a simulation's prices: the tables, then all others."""

    def __init__(
        self, workspace: Workspace, place: KeptPlace, kept: Manifest, prices: Sequence[str], layouts: LayoutsOf
    ) -> None:
        usage = kept.usage_table
        # The columns of the usage that was rolled up, as the compared cards understand them.
        known = usage._replace(by=kept.asked.by, where=kept.asked.where, layouts=layouts(usage.columns))
        super().__init__(workspace, known, {file: kept_file.stamp for file, kept_file in kept.files.items()})
        self.place, self.kept, self._prices = place, kept, tuple(prices)
        self._tables: dict[str, str] = {}
        for part, files in packed(place, kept).items():
            groups, shapes = (
                rows_in(place.folder, [getattr(pair, name) for pair in files]) for name in ("groups", "shapes")
            )
            self._tables[part] = workspace.new_table("kept")
            with readable():
                query = f"SELECT * FROM ({groups}) JOIN ({shapes}) USING ({SHAPE})"
                workspace.connection.execute(f"CREATE VIEW {self._tables[part]} AS {query}")

    def rows(self) -> int:
        """Return how many rows were rolled up."""
        return self.kept.rows

    def sql(self, plan: Plan) -> KeptSql:
        """Return the queries of kept groups for a plan."""
        return KeptSql(self.kept, plan, self._tables)

    def check(self, plan: Plan, unmapped: Plan) -> None:
        """Raise `SimulationError` if a plan needs more than the groups distinguish, with the command of a new roll-up.

        `unmapped` is the same plan without rows that are priced as another model's: no roll-up can be made for these.
        """
        self._check(unmapped, remapped=False)
        if plan is not unmapped:
            self._check(plan, remapped=True)

    def _check(self, plan: Plan, *, remapped: bool) -> None:
        column_names = dict.fromkeys((*plan.keys, *filter(None, [plan.account]), *plan.chosen.columns))
        keys = [name for name in column_names if name not in ("type", "model", DAY, *self.kept.keys)]
        needed = Distinguished.of(plan, untyped=self.kept.untyped)
        known = self.kept.distinguished
        missing = list(dict.fromkeys(known.missing(needed, self._models)))
        if finer := list(needed.summed_here_only(known, self._models)):
            words = f"the roll-up {self.place} keeps {', '.join(finer)} apart, which are to be added up"
            command = again(self.kept, self.place, keys, self._prices, alone=True)
            raise SimulationError(f"{words}. This one would: {command}")
        if keys or missing:
            words = f"the roll-up {self.place} does not distinguish {', '.join((*keys, *missing))}"
            if remapped:
                raise SimulationError(f"{words}, as the model asks whose prices they take. Simulate the usage itself")
            command = again(self.kept, self.place, keys, self._prices if missing else ())
            raise SimulationError(f"{words}. This one would: {command}")

    def counted(self, plan: Plan) -> tuple[int, int]:
        """Count all rows, and the rows without an instant if days are chosen."""
        queries = map(self.sql(plan).undated, self._tables) if plan.chosen.by_day else ()
        files, undated = self.kept.files.values(), sum(int(self.ask(query)[0][0]) for query in queries)
        return sum(file.found for file in files), undated + sum(file.undated for file in files)

    def odd_instant(self, plan: Plan) -> str:
        """Return a timestamp that is not an instant, as it was in the usage."""
        return self.kept.odd

    @cached_property
    def _models(self) -> Mapping[str | None, set[str | None]]:
        models: dict[str | None, set[str | None]] = {}
        for parts in packed(self.place, self.kept).values():
            shapes = rows_in(self.place.folder, [part.shapes for part in parts])
            for type_, model in self.ask(f"SELECT DISTINCT type, model FROM ({shapes})"):
                models.setdefault(type_, set()).add(model)
        return models

    def check_rows(self) -> None:
        """Raise `SimulationError` if the groups have another number of rows than the manifest says."""
        counts = (self.ask(f"SELECT coalesce(sum({ROWS}), 0) FROM {groups}") for groups in self._tables.values())
        rows = sum(int(count) for ((count,),) in counts)
        if rows != self.kept.rows:
            words = f"the groups of {self.place} are of {rows} rows, and its manifest has {self.kept.rows}"
            raise SimulationError(f"{words}. Remove it, and make it again: {again(self.kept, self.place)}")


@contextmanager
def open_kept(
    workspace: Workspace,
    place: KeptPlace,
    names: Mapping[str, str],
    dialect: TableDialect | None,
    prices: Sequence[str],
    layouts: LayoutsOf,
) -> Iterator[KeptUsage]:
    """Open a kept roll-up. Raises `SimulationError` where it was made of other columns, or changes meanwhile."""
    kept = place.opened()
    other = {"columns": dict(names) or kept.asked.columns, "dialect": dialect or kept.asked.dialect}
    if (arguments := kept.asked.model_copy(update=other)) != kept.asked:
        words = f"the roll-up {place} was made of other columns or another dialect; leave out --map and --dialect"
        raise SimulationError(f"{words}, or make it so: {again(kept.model_copy(update={'asked': arguments}), place)}")

    def look() -> Stamps:
        files = [str(place.folder / file.name) for pack in kept.packs for file in pack.files]
        return local_stamps([str(place.folder / MANIFEST), *files])

    before = look()
    with unchanged(before, look):
        opened = KeptUsage(workspace, place, kept, prices, layouts)
        opened.check_rows()
        yield opened


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
