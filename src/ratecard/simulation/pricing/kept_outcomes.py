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
from ratecard.simulation.usage.shape import UsageShape
from ratecard.simulation.usage.shapes import Counted

OUTCOMES = "outcomes"
_DIGITS = 32
_COLUMNS = ("type", "model", "attributes", "moment", "amounts", "reason", "kind")
_SCHEMA = [(name, "string") for name in _COLUMNS]
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
        self._known: dict[tuple[object, ...], tuple[Vector | None, str, str]] = {}
        # Whether all shapes that were asked for are kept.
        self.complete = False

    def read(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Read what is kept; nothing where there is nothing, or not as it was written. Gives whether something is."""
        for file in self._files():
            with suppress(OSError, ValueError, duckdb.Error):
                self._known = self._read(connection, file)
                self.complete = True
                break
        return self.complete

    def of(self, shape: UsageShape, pricer: Pricer) -> Outcome | None:
        """The outcome of a shape, if it is kept; its lines are made by the pricer."""
        if (found := self._known.get(shape)) is None:
            self.complete = False
            return None
        vector, reason, kind = found
        if vector is None:
            return Refused(reason, kind)
        return PricedShape(vector, _PricedAnew(pricer, self._side, shape), self._currency)

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

    def _read(
        self, connection: duckdb.DuckDBPyConnection, file: Path
    ) -> dict[tuple[object, ...], tuple[Vector | None, str, str]]:
        if file.stem != f"{self._name}-{_digest(file)}":
            raise ValueError
        quoted = DuckDbSql.literal(str(file))
        ((of,),) = connection.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({quoted}) WHERE key = 'ratecard'"
        ).fetchall()
        table = connection.sql(f"SELECT * FROM read_parquet({quoted})").to_arrow_table()
        if of != self._of or [(each.name, str(each.type)) for each in table.schema] != _SCHEMA:
            raise ValueError
        # Column by column, as there are many shapes.
        types, models, attributes, moments, amounts, reasons, kinds = (each.to_pylist() for each in table.columns)
        if not {kind for kind, amount in zip(kinds, amounts, strict=True) if amount is None} <= {*_KINDS}:
            raise ValueError
        vectors = {text: None if text is None else _vector(text) for text in dict.fromkeys(amounts)}
        at = {text: None if text is None else _moment(text) for text in dict.fromkeys(moments)}
        shapes = zip(types, models, attributes, map(at.get, moments), strict=True)
        return dict(zip(shapes, zip(map(vectors.get, amounts), reasons, kinds, strict=True), strict=True))

    def _write(
        self,
        connection: duckdb.DuckDBPyConnection,
        file: Path,
        shapes: Sequence[Counted],
        outcomes: Sequence[Outcome],
    ) -> None:
        import pyarrow

        rows = list(zip(*_rows(shapes, outcomes), strict=True)) or [()] * len(_COLUMNS)
        table = pyarrow.Table.from_arrays([pyarrow.array(each, pyarrow.string()) for each in rows], _COLUMNS)
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
