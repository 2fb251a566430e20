"""Outcomes of shapes, kept beside a roll-up: what the current prices charge for each shape, or why there is no price.

A file is of one card at one instant (or at each row's own time), one release of the library and one way to group. It
is plain data: it says which of these it is of, and its name has the digest of its bytes. What is not as it should be is
made again.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from os import getpid
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow

from ratecard.base.json_reader import read_json
from ratecard.base.money import READING
from ratecard.changes.sides import Side
from ratecard.simulation.pricing.outcome import (
    NOT_ADDED,
    NOT_OFFERED,
    WRONG,
    LinesLater,
    Outcome,
    PricedLine,
    PricedShape,
    Refused,
    Vector,
)
from ratecard.simulation.pricing.outcomes import Outcomes
from ratecard.simulation.pricing.pricer import Pricer
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.kept.manifest import Distinguished
from ratecard.simulation.usage.kept.place import KeptPlace
from ratecard.simulation.usage.shape import UsageShape
from ratecard.simulation.usage.shapes import Shapes, UsageFamily, each_once

OUTCOMES = "outcomes"
_DIGITS = 32
_COLUMNS = ("family", "length", "moment", "outcome")
_SCHEMA = [(name, "string") for name in _COLUMNS]
# An amount as it is written.
_AMOUNT = re.compile(r"-?\d+(\.\d+)?(E[+-]\d+)?", re.ASCII)
_KINDS = (WRONG, NOT_OFFERED, NOT_ADDED)
_NOTHING: tuple[list[Any], Any] = [], numpy.empty(0, numpy.int32)


class KeptOutcomes:
    """The outcomes of a side for the shapes of a roll-up, in its folder; `asked` is what the shapes distinguish."""

    def __init__(self, place: KeptPlace, side: Side, asked: Distinguished, currency: str) -> None:
        self._place, self._folder = place, place.folder / OUTCOMES
        self._side, self._currency = side, currency
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
        self._known = _Known(*[_NOTHING] * 4)
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

    def of(self, shapes: Shapes, pricer: Pricer) -> tuple[list[Outcome], Any]:
        """The outcomes of those shapes of which they are kept: see `KnownOutcomes`. The pricer makes their lines."""
        numbers = self._known.of(shapes)
        self.complete = self.complete and bool((numbers >= 0).all())
        used, of = numpy.unique(numbers, return_inverse=True)
        lacking = int((used < 0).sum())
        lines, found = LinesLater(partial(_lines_anew, pricer, self._side)), list[Outcome]()
        for number in used[lacking:].tolist():
            kept = self._known.outcomes[number]
            found.append(kept if isinstance(kept, Refused) else PricedShape(kept, lines, self._currency))
        return found, (of - lacking).astype(numpy.int32)

    def write(self, connection: duckdb.DuckDBPyConnection, outcomes: Outcomes) -> None:
        """Keep outcomes, whole or not at all; not in a folder that cannot be written."""
        with suppress(OSError, duckdb.Error):
            self._folder.mkdir(exist_ok=True)
            new = self._folder / f".{self._name}.{getpid()}.{id(self)}.new"
            try:
                self._write(connection, new, outcomes)
                place = self._folder / f"{self._name}-{_digest(new)}.parquet"
                new.replace(place)
            finally:
                new.unlink(missing_ok=True)
            for other in self._files():
                if other != place:
                    other.unlink(missing_ok=True)
            self._place.send(OUTCOMES, self._name)

    def _files(self) -> list[Path]:
        self._place.bring(OUTCOMES, self._name)
        return sorted(self._folder.glob(f"{self._name}-*.parquet"))

    def _read(self, connection: duckdb.DuckDBPyConnection, file: Path) -> "_Known":
        if file.stem != f"{self._name}-{_digest(file)}":
            raise ValueError
        quoted = DuckDbSql.literal(str(file))
        ((of,),) = connection.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({quoted}) WHERE key = 'ratecard'"
        ).fetchall()
        table = connection.sql(f"SELECT * FROM read_parquet({quoted})").to_arrow_table()
        if of != self._of or [(each.name, str(each.type)) for each in table.schema] != _SCHEMA:
            raise ValueError
        return _Known(*map(each_once, table.columns))

    def _write(self, connection: duckdb.DuckDBPyConnection, file: Path, outcomes: Outcomes) -> None:
        columns = [*_columns(outcomes.shapes), (list(map(_written, outcomes.distinct)), outcomes.of)]
        arrays = [pyarrow.array(texts, pyarrow.string()).take(_places(of, len(texts))) for texts, of in columns]
        connection.register("outcomes_to_keep", pyarrow.Table.from_arrays(arrays, _COLUMNS))
        written = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{ratecard: {DuckDbSql.literal(self._of)}}}"
        connection.execute(f"COPY outcomes_to_keep TO {DuckDbSql.literal(str(file))} ({written})")
        connection.unregister("outcomes_to_keep")


class _Known:
    """The outcomes of a file, each once, and its rows as columns of numbers, in the order of these.

    Raises `ValueError` for what was never written.
    """

    def __init__(self, *columns: tuple[list[Any], Any]) -> None:
        (families, family), (lengths, length), (moments, moment), (outcomes, outcome) = columns
        values = families, lengths, moments
        self._numbers = [dict(zip(each, range(len(each)), strict=True)) for each in values]
        self._counts = [len(each) for each in values]
        places = self._places((family, length, moment))
        order = numpy.argsort(places)
        self._sorted, self._outcome = places[order], outcome[order]
        if (numpy.diff(self._sorted) == 0).any():
            raise ValueError
        amounts = dict[str, Decimal]()
        self.outcomes = [_read_outcome(text, amounts) for text in outcomes]

    def of(self, shapes: Shapes) -> Any:
        """The number of the outcome of each shape; -1 where there is none."""
        if not len(self._sorted):
            return numpy.full(len(shapes), -1)
        pairs = zip(self._numbers, _columns(shapes), strict=True)
        columns = [numpy.array([known.get(text, -1) for text in texts])[of] for known, (texts, of) in pairs]
        places = self._places(columns)
        at = numpy.searchsorted(self._sorted, places).clip(max=len(self._sorted) - 1)
        found = (self._sorted[at] == places) & (numpy.minimum.reduce(columns) >= 0)
        return numpy.where(found, self._outcome[at], -1)

    def _places(self, columns: Sequence[Any]) -> Any:
        """One number for a family, a length and a moment."""
        _, lengths, moments = self._counts
        family, length, moment = (each.astype(numpy.int64) for each in columns)
        return (family * lengths + length) * moments + moment


def _lines_anew(pricer: Pricer, side: Side, shape: UsageShape) -> tuple[PricedLine, ...]:
    """The lines of a price that was kept without them, by the code that prices its shape."""
    price = pricer.priced_anew(side, shape).price
    return price.lines if price else ()


def _columns(shapes: Shapes) -> list[tuple[list[Any], Any]]:
    """The families, lengths and moments as texts, and for each shape the number of its own."""
    moments = [moment.isoformat() if moment else None for moment in shapes.moments]
    return [
        (list(_texts(shapes.families)), shapes.family),
        ([*shapes.lengths, None], shapes.length),
        (moments, shapes.moment),
    ]


def _texts(families: Iterable[UsageFamily]) -> Iterator[str]:
    """Families as JSON: as `json.dumps` writes each of them, in a tenth of the time."""
    written = json.JSONEncoder().encode
    once = cache(written)
    for type_, model, attributes in families:
        yield f"[{once(type_)}, {once(model)}, {written(attributes)}]"


def _written(outcome: Outcome) -> str:
    if why := outcome.refusal:
        return json.dumps({"reason": why.reason, "kind": why.kind})
    return json.dumps(list(map(str, outcome.amounts)))


def _read_outcome(text: str, amounts: dict[str, Decimal]) -> Vector | Refused:
    """An outcome as it was written. Raises `ValueError` for any other text; `amounts` are those that were read."""
    match read_json(text or ""):
        case {"reason": str(reason), "kind": str(kind), **more} if kind in _KINDS and not more:
            return Refused(reason, kind)
        case [str(), *_] as parts:
            amounts.update({each: _amount(each) for each in parts if each not in amounts})
            return tuple(map(amounts.__getitem__, parts))
    raise ValueError


def _amount(text: object) -> Decimal:
    if not (isinstance(text, str) and _AMOUNT.fullmatch(text)):
        raise ValueError
    return READING.create_decimal(text)


def _places(of: Any, count: int) -> pyarrow.Array:
    """Numbers of values as the engine takes them; -1 is the last of them."""
    return pyarrow.array(numpy.where(of < 0, count - 1, of))


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()[:_DIGITS]
