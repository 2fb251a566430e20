"""What Spark reads and writes by itself: paths of any storage that it knows, and tables by their names."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow

from ratecard.simulation.engines.duckdb_engine import files_of, kind_of
from ratecard.simulation.engines.spark_session import failures, spark_session
from ratecard.simulation.engines.spark_sql import SparkSql
from ratecard.simulation.failure import SimulationError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNREADABLE = "the usage cannot be read"


def read(session: "SparkSession", usage: Any) -> "DataFrame":
    """Paths and tables below each other, columns by name. Raises `SimulationError` for what cannot be read."""
    given = usage if isinstance(usage, (list, tuple)) else [usage]
    if not given or not all(isinstance(each, (str, Path)) for each in given):
        raise SimulationError(f"usage is {type(usage).__name__}, and Spark reads paths, tables, or a frame of its own")
    with failures(UNREADABLE):
        frame, *others = (_one(session, str(each)) for each in given)
        for other in others:
            frame = frame.unionByName(other, allowMissingColumns=True)
        return frame


def _one(session: "SparkSession", given: str) -> "DataFrame":
    """A path by its ending; without one, a folder in Spark's default format, or a table by its name."""
    path = Path(given)
    kinds = sorted({kind_of(file) for file in files_of(given)}) if path.is_dir() else [_kind(path)]
    if len(kinds) > 1:
        raise SimulationError(f"the usage has files of {len(kinds)} kinds: {', '.join(map(str, kinds))}. Give one kind")
    reader = session.read.option("mode", "FAILFAST")
    match kinds[0]:
        case ".parquet":
            return reader.option("mergeSchema", True).parquet(given)
        case ".csv":
            separator = "\t" if ".tsv" in path.suffixes else ","
            return reader.csv(given, sep=separator, header=True, enforceSchema=False, escape='"', multiLine=True)
        case ".jsonl":  # numbers keep their digits: every value is read as the text that it is written as
            return reader.json(given, primitivesAsString=True)
    return reader.load(given) if "/" in given else session.table(given)


def _kind(path: Path) -> str | None:
    try:
        return kind_of(path.name.replace("?", "_"))
    except SimulationError:
        return None


def write_table(table: pyarrow.Table, place: str, master: str | None = None) -> None:
    """Write a table to a storage of Spark's (`s3a://...`, `hdfs://...`) as Parquet, CSV or JSON lines, by its ending.

    It becomes a folder of that name, whole or not at all. Amounts are text in CSV and JSON, with all of their digits.
    Raises `SimulationError`, also where something stands there already.
    """
    kind = kind_of(place)
    with spark_session(master) as session, failures(f"{place} cannot be written"):
        frame = session.createDataFrame(table).coalesce(1)
        if kind != ".parquet":
            frame = frame.selectExpr(*(_plain(field) for field in table.schema))
        writer = frame.write.mode("errorifexists")
        match kind:
            case ".parquet":
                writer.parquet(place)
            case ".csv":
                writer.csv(place, header=True, escape='"')
            case _:
                writer.json(place, ignoreNullFields=False)


def _plain(field: pyarrow.Field) -> str:
    """A column; of decimals, their digits without an exponent."""
    name = SparkSql().quoted(field.name)
    return f"CAST({name} AS STRING) AS {name}" if pyarrow.types.is_decimal(field.type) else name
