"""Outcomes of shapes, kept beside a roll-up: what the current prices charge for each shape, or why there is no price.

A file is of one card at one instant (or at each row's own time), one release of the library and one way to group. It
is plain data: it says which of these it is of, and its name has the digest of its bytes. What is not as it should be is
made again.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import duckdb

from ratecard.base.money import READING
from ratecard.changes.sides import Side
from ratecard.simulation.pricing.outcome import (
    NOT_ADDED,
    NOT_OFFERED,
    WRONG,
    Outcome,
    PricedLine,
    PricedShape,
    Refused,
    Vector,
)
from ratecard.simulation.pricing.pricer import Pricer
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.kept.manifest import Distinguished
from ratecard.simulation.usage.roll_up import Counted
from ratecard.simulation.usage.shape import UsageShape

OUTCOMES = "outcomes"
_DIGITS = 32
_COLUMNS = dict.fromkeys(("type", "model", "attributes", "moment", "amounts", "reason", "kind"), "VARCHAR")
# Amounts as they are written: per request, then per unit of each quantity.
_AMOUNTS = re.compile(r"-?\d+(\.\d+)?(E[+-]\d+)?( -?\d+(\.\d+)?(E[+-]\d+)?)*", re.ASCII)
_KINDS = (WRONG, NOT_OFFERED, NOT_ADDED)


class KeptOutcomes:
    """The outcomes of a side for the shapes of a roll-up, in its folder; `asked` is what the shapes distinguish."""

    def __init__(self, folder: Path, side: Side, asked: Distinguished, currency: str) -> None:
        self._folder, self._side, self._currency = folder / OUTCOMES, side, currency
        of = {
            "card": side.card.digest,
            "at": side.at.isoformat() if side.at else "each row's own time",
            "ratecard": version("ratecard"),
            "tzdata": version("tzdata"),
            "currency": currency,
            "groups": sha256(asked.model_dump_json().encode()).hexdigest(),
        }
        self._of = json.dumps(of)
        self._name = sha256(self._of.encode()).hexdigest()[:_DIGITS]

    def read(self, connection: duckdb.DuckDBPyConnection, pricer: Pricer) -> dict[UsageShape, Outcome]:
        """The outcomes by shape; none where there are none, or not as they were written."""
        for file in self._files():
            with suppress(OSError, ValueError, duckdb.Error):
                return self._read(connection, file, pricer)
        return {}

    def write(
        self, connection: duckdb.DuckDBPyConnection, shapes: Sequence[Counted], outcomes: Sequence[Outcome]
    ) -> None:
        """Keep outcomes, whole or not at all; not in a folder that cannot be written."""
        with suppress(OSError, duckdb.Error):
            self._folder.mkdir(exist_ok=True)
            new = self._folder / f".{self._name}.{id(self)}.new"
            try:
                self._write(connection, new, shapes, outcomes)
                place = self._folder / f"{self._name}-{_digest(new)}.parquet"
                new.replace(place)
            finally:
                new.unlink(missing_ok=True)
            for other in self._files():
                if other != place:
                    other.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._name}-*.parquet"))

    def _read(self, connection: duckdb.DuckDBPyConnection, file: Path, pricer: Pricer) -> dict[UsageShape, Outcome]:
        if file.stem != f"{self._name}-{_digest(file)}":
            raise ValueError
        quoted = DuckDbSql.literal(str(file))
        ((of,),) = connection.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({quoted}) WHERE key = 'ratecard'"
        ).fetchall()
        rows = f"SELECT * FROM read_parquet({quoted})"
        described = {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {rows}").fetchall()}
        if of != self._of or described != _COLUMNS:
            raise ValueError
        vectors: dict[str, Vector] = {}
        moments: dict[str | None, date | None] = {None: None}
        side, found = self._side, dict[UsageShape, Outcome]()
        for type_, model, attributes, moment, amounts, reason, kind in connection.execute(rows).fetchall():
            if moment not in moments:
                moments[moment] = _moment(moment)
            shape = UsageShape(type_, model, attributes, moments[moment])
            if amounts is None:
                if kind not in _KINDS:
                    raise ValueError
                found[shape] = Refused(reason, kind)
                continue
            if (vector := vectors.get(amounts)) is None:
                vector = vectors[amounts] = _vector(amounts)
            found[shape] = PricedShape(vector, _PricedAnew(pricer, side, shape), self._currency)
        return found

    def _write(
        self,
        connection: duckdb.DuckDBPyConnection,
        file: Path,
        shapes: Sequence[Counted],
        outcomes: Sequence[Outcome],
    ) -> None:
        import pyarrow

        rows = list(zip(*_rows(shapes, outcomes), strict=True)) or [()] * len(_COLUMNS)
        table = pyarrow.Table.from_arrays([pyarrow.array(each, pyarrow.string()) for each in rows], list(_COLUMNS))
        connection.register("outcomes_to_keep", table)
        written = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{ratecard: {DuckDbSql.literal(self._of)}}}"
        connection.execute(f"COPY outcomes_to_keep TO {DuckDbSql.literal(str(file))} ({written})")
        connection.unregister("outcomes_to_keep")


class _PricedAnew:
    """The lines of a price that was kept without them, by the code that prices its shape."""

    __slots__ = ("_pricer", "_shape", "_side")

    def __init__(self, pricer: Pricer, side: Side, shape: UsageShape) -> None:
        self._pricer, self._side, self._shape = pricer, side, shape

    def made(self) -> tuple[PricedLine, ...]:
        """Make the lines."""
        price = self._pricer.priced_anew(self._side, self._shape).price
        return price.lines if price else ()


def _rows(shapes: Sequence[Counted], outcomes: Sequence[Outcome]) -> Iterator[tuple[str | None, ...]]:
    for (shape, *_), outcome in zip(shapes, outcomes, strict=True):
        moment = shape.moment.isoformat() if shape.moment else None
        if price := outcome.price:
            yield shape.type, shape.model, shape.attributes, moment, " ".join(map(str, price.amounts)), None, None
        elif why := outcome.refusal:
            yield shape.type, shape.model, shape.attributes, moment, None, why.reason, why.kind


def _vector(text: str) -> Vector:
    if not _AMOUNTS.fullmatch(text):
        raise ValueError
    return tuple(READING.create_decimal(each) for each in text.split(" "))


def _moment(text: str) -> date:
    if len(text) == len("2026-10-01"):
        return date.fromisoformat(text)
    return datetime.fromisoformat(text).astimezone(UTC)


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()[:_DIGITS]
