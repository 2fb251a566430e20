"""Numbered shapes, kept beside a roll-up: a further simulation that asks the same reads them, and groups nothing.

The tables of a part of the types are a folder. Its name says of which roll-up and plan they are, as its files do, and
has the digest of their bytes. What is not as it should be is made again.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from os import getpid
from pathlib import Path

import duckdb

from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.kept.manifest import Distinguished, Manifest
from ratecard.simulation.usage.kept.place import KeptPlace
from ratecard.simulation.usage.plan import Plan

NUMBERS = "numbers"
_DIGITS = 32
# Parts that stay: candidates that begin on other days number shapes in another way.
_MOST = 12
# Parquet has no integers of 128 bits.
_HUGE, _AS_KEPT = "HUGEINT", "DECIMAL(38,0)"
_TYPES = {"VARCHAR", "DATE", "TIMESTAMP", "INTEGER", "BIGINT", _AS_KEPT}


class KeptNumbering:
    """The tables that a plan makes of each part of the types of a roll-up.

    `unchanged` says whether the files of the roll-up are still those that were opened.
    """

    def __init__(self, place: KeptPlace, kept: Manifest, plan: Plan, unchanged: Callable[[], bool]) -> None:
        predicates = plan.predicates
        of = {
            **{name: version(name) for name in ("ratecard", "tzdata", "duckdb")},
            "asked": Distinguished.of(plan, untyped=kept.untyped).model_dump(mode="json"),
            "keys": plan.keys,
            "dated": plan.dated,
            "rpc": plan.rpc_model,
            "boundaries": [each.isoformat() for each in predicates.boundaries],
            "of_model": {name: [each.isoformat() for each in days] for name, days in predicates.of_model.items()},
            "windows": predicates.windows,
        }
        self._place, self._folder, self._unchanged = place, place.folder / NUMBERS, unchanged
        self._roll_up, self._of = _digest(kept.text().encode()), json.dumps(of, sort_keys=True)

    def has(self, part: str) -> bool:
        """Whether there may be tables of a part."""
        return any(self._places(part))

    def read(
        self, connection: duckdb.DuckDBPyConnection, part: str, tables: Mapping[str, Sequence[str]]
    ) -> dict[str, str]:
        """The query of each table, which has these columns; of none where one is missing, or not as it was written."""
        name = self._name(part)
        for place in self._places(part):
            with suppress(OSError, duckdb.Error):
                if place.name == f"{name}-{_digest_of(place, tables)}":
                    files = {table: (_file(place, table), own) for table, own in tables.items()}
                    found = {table: _query(connection, *own, name) for table, own in files.items()}
                    if all(found.values()):
                        return found
        return {}

    def write(self, connection: duckdb.DuckDBPyConnection, part: str, tables: Mapping[str, str]) -> None:
        """Keep what these queries give, whole or not at all; not in a folder that cannot be written."""
        name = self._name(part)
        new, how = (
            self._folder / f".{name}.{getpid()}.{id(self)}.new",
            f"KV_METADATA {{ratecard: {DuckDbSql.literal(name)}}}",
        )
        with suppress(OSError, duckdb.Error):
            try:
                new.mkdir(parents=True)
                for table, query in tables.items():
                    huge = (each for each, type_ in _types(connection, query).items() if type_ == _HUGE)
                    columns = _replaced({each: f"CAST({each} AS {_AS_KEPT})" for each in huge})
                    file = DuckDbSql.literal(str(_file(new, table)))
                    written = f"COPY (SELECT {columns} FROM ({query})) TO {file}"
                    connection.execute(f"{written} (FORMAT parquet, COMPRESSION zstd, {how})")
                for other in self._places(part):
                    shutil.rmtree(other)
                if self._unchanged():
                    new.rename(self._folder / f"{name}-{_digest_of(new, tables)}")
            finally:
                shutil.rmtree(new, ignore_errors=True)
            self._forget()
            self._place.send(NUMBERS, name, self._roll_up, _MOST)

    def _places(self, part: str) -> list[Path]:
        name = self._name(part)
        self._place.bring(NUMBERS, name)
        return sorted(self._folder.glob(f"{name}-*"))

    def _name(self, part: str) -> str:
        return f"{self._roll_up}-{_digest(json.dumps([self._of, part]).encode())}"

    def _forget(self) -> None:
        """Remove what is of another state of the roll-up, and the oldest of what is too much."""
        there = {each: each.stat().st_mtime_ns for each in self._folder.iterdir() if not each.name.startswith(".")}
        own = sorted((each for each in there if each.name.startswith(self._roll_up)), key=lambda each: there[each])
        for place in there.keys() - {*own[-_MOST:]}:
            shutil.rmtree(place)


def _query(connection: duckdb.DuckDBPyConnection, file: Path, names: Sequence[str], of: str) -> str:
    """The query of a file with these columns; empty if it has others, or is of something else."""
    quoted = DuckDbSql.literal(str(file))
    said = connection.execute(
        f"SELECT decode(value) FROM parquet_kv_metadata({quoted}) WHERE key = 'ratecard'"
    ).fetchall()
    source = f"FROM read_parquet({quoted})"
    types = _types(connection, source)
    if said != [(of,)] or list(types) != list(names) or not {*types.values()} <= _TYPES:
        return ""
    kept = (name for name, type_ in types.items() if type_ == _AS_KEPT)
    return f"SELECT {_replaced({name: f'CAST({name} AS {_HUGE})' for name in kept})} {source}"


def _replaced(columns: Mapping[str, str]) -> str:
    """All columns, some of them as something else."""
    replaced = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
    return f"* REPLACE ({replaced})" if replaced else "*"


def _types(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    return {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}


def _file(place: Path, table: str) -> Path:
    return place / f"{table}.parquet"


def _digest_of(place: Path, tables: Iterable[str]) -> str:
    return _digest(b"".join(sha256(_file(place, table).read_bytes()).digest() for table in tables))


def _digest(given: bytes) -> str:
    return sha256(given).hexdigest()[:_DIGITS]
