"""The paths and tables that Spark reads and writes by itself, in any storage that it knows."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pyarrow

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_session import failures, spark_session
from ratecard.simulation.groups.engines.spark_sql import SparkSql
from ratecard.simulation.rows.files import (
    Stamp,
    Stamps,
    files_of,
    is_workbook,
    kind_of,
    kind_to_write,
    local_stamps,
    named_once,
    one_kind,
)
from ratecard.simulation.workspace import check_column_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

# The type in Spark's message about a Parquet column with nanoseconds.
_NANOSECONDS = "TIMESTAMP(NANOS"
UNREADABLE = "the usage cannot be read"
_THERE = "it already exists, and stays as it is. Name another place"


def read(session: "SparkSession", usage: Any) -> "DataFrame":
    """Return the rows of all paths and tables, with columns matched by name. Raises `SimulationError`."""
    paths = usage if isinstance(usage, (list, tuple)) else [usage]
    if not paths or not all(isinstance(path, (str, Path)) for path in paths):
        raise SimulationError(f"usage is {type(usage).__name__}, and Spark reads paths, tables, or a frame of its own")
    try:
        with failures(UNREADABLE):
            frame, *others = (_one(session, str(path)) for path in paths)
            # Spark would take names that differ in capitals for one column.
            check_column_names(dict.fromkeys(name for part in (frame, *others) for name in part.columns))
            if others:
                named_once(place_of(file) for part in (frame, *others) for file in part.inputFiles())
            for other in others:
                frame = frame.unionByName(other, allowMissingColumns=True)
            return frame
    except SimulationError as error:
        if _NANOSECONDS not in str(error):
            raise
        words = "a column has nanoseconds, which Spark does not read. Write it in microseconds, or read it with DuckDB"
        raise SimulationError(f"{UNREADABLE}: {words}") from error


def named_stamps(usage: Any) -> Stamps:
    """Return the stamps of the files of this machine that a usage names, taken before they are read."""
    paths = [str(path) for path in (usage if isinstance(usage, (list, tuple)) else [usage])]
    places = (path.removeprefix("file://") for path in paths if isinstance(usage, (str, Path, list, tuple)))
    files = (file for place in places if os.path.lexists(place) for file in files_of(place))
    return local_stamps(os.path.abspath(file) for file in files)  # noqa: PTH100 (links stay as they are)


def place_of(file: str) -> str:
    """Return the path of a file of this machine that Spark has listed; any other address as it is."""
    parts = urlsplit(file)
    return url2pathname(parts.path) if parts.scheme == "file" else file


def stamps(session: "SparkSession", files: Sequence[str]) -> Stamps:
    """Return the stamps of files that Spark has listed, from the disk of this machine or from their storage."""
    local = local_stamps(place for file in files if (place := place_of(file)) != file)
    others = [file for file in files if place_of(file) not in local]
    return {**local, **(_stored(session, others) if others else {})}


def _stored(session: "SparkSession", files: Sequence[str]) -> Mapping[str, Stamp]:
    """Return the stamps of files in a storage, with the ETag if the storage has one; each folder is listed once."""
    jvm, names, stamps = getattr(session, "_jvm", None), set(files), dict[str, Stamp]()
    if jvm is None:  # Spark Connect: the metadata of its `binaryFile` source, without the contents of files
        frame = session.read.format("binaryFile").load([_escaped(unquote(file)) for file in files])
        with failures(UNREADABLE):
            rows = frame.select("path", "length", "modificationTime").collect()
        return {row["path"]: Stamp(row["length"], str(row["modificationTime"]), "") for row in rows}
    configuration = session.sparkContext._jsc.hadoopConfiguration()
    with failures(UNREADABLE):
        for folder in sorted({file.rpartition("/")[0] for file in files}):
            path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(f"{folder}/"))
            if not path.getFileSystem(configuration).exists(path):
                continue
            for status in path.getFileSystem(configuration).listStatus(path):
                if (place := status.getPath().toUri().toString()) in names:
                    stamps[place] = Stamp(status.getLen(), str(status.getModificationTime()), _etag(status))
    return stamps


def _etag(status: Any) -> str:
    from py4j.protocol import Py4JError

    try:
        return str(status.getEtag() or "")
    except Py4JError:  # not every storage has ETags
        return ""


def _one(session: "SparkSession", usage: str) -> "DataFrame":
    """Return the rows of a path by its ending; without one, of a folder in Spark's default format, or of a table."""
    path = Path(usage.removeprefix("file://"))
    kind = one_kind(list(files_of(usage))) if path.is_dir() else _kind(usage)
    reader, place = session.read.option("mode", "FAILFAST"), _named(usage)
    match kind:
        case ".parquet":
            return reader.option("mergeSchema", True).parquet(place)
        case ".csv":
            separator = "\t" if ".tsv" in path.suffixes else ","
            reader = reader.option("sep", separator).option("header", True).option("escape", '"')
            # The heading is one line, so it is read without `multiLine`, with which Spark takes the path for a pattern.
            reader = reader.schema(reader.csv(place).schema)
            return reader.csv(place, enforceSchema=False, multiLine=True)
        case ".jsonl":  # every value is read as its text, so that numbers keep their digits
            return reader.json(place, primitivesAsString=True)
    return reader.load(place) if "/" in usage else session.table(usage)


def _named(path: str) -> str:
    """Return a path, written so that Spark does not take the name of a file for a pattern."""
    return _escaped(path) if os.path.lexists(path.removeprefix("file://")) else path


def _escaped(name: str) -> str:
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", name)


def _kind(path: str) -> str | None:
    """Return the kind of a path by its ending; None for a path without a known ending, and for a table."""
    try:
        return kind_of(path.replace("?", "_"))
    except SimulationError:
        if is_workbook(path):
            raise
        return None


@contextmanager
def writable(places: Sequence[str], master: str | None = None) -> Iterator[None]:
    """Check that places of a storage can be written, and keep the session meanwhile, so that a run fails early.

    Raises `SimulationError` if something is there already, or if no file can be made. Spark Connect cannot write a
    single file, so nothing is tried there.
    """
    with ExitStack() as stack:
        session = stack.enter_context(spark_session(master))
        if getattr(session, "_jvm", None) is None:
            stack.close()
        else:
            for place in places:
                with failures(f"{place} cannot be written"):
                    _try(session, place)
        yield


def _try(session: "SparkSession", place: str) -> None:
    """Make an empty file in the folder of a place, or in the nearest folder above it that exists, and remove it."""
    jvm: Any = session._jvm
    storage, path = _stored_at(session, place)
    folder = path.getParent()
    while folder.getParent() is not None and not storage.exists(folder):
        folder = folder.getParent()
    trial = jvm.org.apache.hadoop.fs.Path(folder, f".{path.getName()}.{os.getpid()}.new")
    storage.create(trial, False).close()
    storage.delete(trial, False)


def write_table(rows: pyarrow.RecordBatchReader, place: str, master: str | None = None) -> None:
    """Write rows to a storage of Spark's (`s3a://...`, `hdfs://...`) as Parquet, CSV or JSON lines, by its ending.

    The result is a folder of that name, written completely or not at all, with a file for each batch of the rows.
    Amounts are text in CSV and JSON, with all of their digits. Raises `SimulationError`, also if the place exists.
    """
    kind = kind_to_write(place)
    with spark_session(master) as session, failures(f"{place} cannot be written"):
        if getattr(session, "_jvm", None) is None:
            _save(session.createDataFrame(rows.read_all()).coalesce(1), place, kind, "errorifexists")
            return
        with _appearing(session, place) as folder:
            for batch in rows:
                _save(session.createDataFrame(pyarrow.Table.from_batches([batch])).coalesce(1), folder, kind, "append")
            # Without rows, the columns are still written.
            _save(session.createDataFrame(rows.schema.empty_table()).coalesce(1), folder, kind, "ignore")


@contextmanager
def _appearing(session: "SparkSession", place: str) -> Iterator[str]:
    """Give a temporary folder beside a place, which is renamed to that place at the end, or removed after a failure."""
    storage, path = _stored_at(session, place)
    jvm: Any = session._jvm
    temporary = jvm.org.apache.hadoop.fs.Path(path.getParent(), f".{path.getName()}.{os.getpid()}.new")
    try:
        yield str(temporary.toString())
        if storage.exists(path) or not storage.rename(temporary, path):
            raise SimulationError(f"{place} cannot be written: {_THERE}")
    finally:
        storage.delete(temporary, True)


def _stored_at(session: "SparkSession", place: str) -> tuple[Any, Any]:
    """Return the storage of a place and its path there. Raises `SimulationError` if something is there already."""
    jvm: Any = session._jvm
    path = jvm.org.apache.hadoop.fs.Path(place)
    storage = path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
    if storage.exists(path):
        raise SimulationError(f"{place} cannot be written: {_THERE}")
    return storage, path


def _save(frame: "DataFrame", place: str, kind: str, mode: str) -> None:
    if kind != ".parquet":
        frame = frame.selectExpr(*(_plain(field) for field in frame.schema))
    writer = frame.write.mode(mode)
    match kind:
        case ".parquet":
            writer.parquet(place)
        case ".csv":
            writer.csv(place, header=True, escape='"')
        case _:
            writer.json(place, ignoreNullFields=False)


def _plain(field: "StructField") -> str:
    """Return the expression of a column; decimals become text without an exponent."""
    name = SparkSql().quoted(field.name)
    return f"CAST({name} AS STRING) AS {name}" if field.dataType.typeName() == "decimal" else name
