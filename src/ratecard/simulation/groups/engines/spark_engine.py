"""Usage that Spark groups where it is stored. Only the groups come to the driver, into the tables of DuckDB."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pyarrow

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.duckdb_engine import checked_usage, no_object
from ratecard.simulation.groups.engines.spark_files import UNREADABLE, named_stamps, place_of, read, stamps
from ratecard.simulation.groups.engines.spark_session import (
    as_far_as_it_runs,
    failures,
    is_spark_frame,
    partition,
    proven,
    spark_session,
)
from ratecard.simulation.groups.engines.spark_sql import SparkSql, column_type
from ratecard.simulation.groups.plan import RAW_QUANTITIES, Plan, Usage
from ratecard.simulation.groups.queries import Grouping, OpenUsage, RollUpSql, sum_of
from ratecard.simulation.progress import OPENED, READ, Progress, silent, within
from ratecard.simulation.rows.billing_export import Export
from ratecard.simulation.rows.columns import COUNTED, LAYOUTS, LayoutsOf
from ratecard.simulation.rows.files import FILE, Stamp, Stamps, unchanged
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import Workspace, check_column_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The type whose quantity has decimals.
_TIMED, _SECONDS = next((name, layout.quantities[0]) for name, layout in LAYOUTS.items() if layout.places)

# The name in DuckDB of a result that comes in parts, and about how many rows come to the driver at once.
_PART, ROWS_AT_ONCE = "ratecard_part", 100_000
# Partitions with more rows than this on average are split before they come to the driver.
MOST_PARTITION_ROWS = 5 * ROWS_AT_ONCE


class SparkUsage(OpenUsage):
    """A usage as a view of a Spark session."""

    dialect = SparkSql()

    def __init__(
        self, workspace: Workspace, known: Usage, stamps: Mapping[str, Stamp], session: "SparkSession"
    ) -> None:
        super().__init__(workspace, known, stamps)
        self.session = session

    def groups(self, plan: Plan, progress: Progress = silent) -> Generator[tuple[Grouping, str]]:
        """Yield each grouping that has rows, with the table of its groups."""
        within(progress, OPENED, OPENED + 1)("Reading usage: types", Jobs(self.session))
        # Only this query shows if some row has no type; otherwise the types are read as they are.
        typed_sql = RollUpSql(self.known._replace(untyped=self.known.has("model")), plan, self.dialect)
        parts = dict(self.ask(typed_sql.parts()))
        sql = RollUpSql(self.known._replace(untyped=any(parts.values())), plan, self.dialect)
        groupings = [grouping for grouping in sql.groupings() if grouping.name in parts]
        share, jobs = (READ - OPENED - 1) / max(len(groupings), 1), Jobs(self.session)
        for number, grouping in enumerate(groupings):
            start = OPENED + 1 + share * number
            within(progress, start, start + share)(f"Reading usage: {grouping.name}", jobs)
            yield grouping, self._brought(grouping.query, plan)

    def _brought(self, query: str, plan: Plan) -> str:
        """Return a table of DuckDB with the groups of a query."""
        connection, table = self.workspace.connection, self.workspace.new_table("groups")
        with failures(UNREADABLE), _persisted(self.session.sql(query)) as (frame, size):
            schema = frame.limit(0).toArrow().schema
            # One statement inserts all rows, because DuckDB keeps some memory for each statement that inserts.
            with _raising_its_own(_batches(frame, schema, size)) as batches:
                connection.register(_PART, pyarrow.RecordBatchReader.from_batches(schema, batches))
                connection.execute(f"CREATE TABLE {table} AS {_with_texts(schema, plan)}")
                connection.unregister(_PART)
        return table

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query. Raises `SimulationError`."""
        with failures(UNREADABLE):
            return [tuple(row.values()) for row in self.session.sql(query).toArrow().to_pylist()]


@contextmanager
def _persisted(groups: "DataFrame") -> Iterator[tuple["DataFrame", int]]:
    """Give a frame, kept on the disks of all executors meanwhile, and its number of rows.

    Counting the rows makes all executors compute their part of the frame at once.
    """
    from pyspark import StorageLevel

    groups = groups.persist(StorageLevel.DISK_ONLY)
    try:
        yield groups, groups.count()
    finally:
        with as_far_as_it_runs():
            groups.unpersist()


@contextmanager
def _raising_its_own(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Iterator[pyarrow.RecordBatch]]:
    """Give batches for a reader that turns their errors into text; raise the original error instead."""
    errors: list[Exception] = []

    def read() -> Iterator[pyarrow.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            errors.append(error)
            raise

    try:
        yield read()
    except duckdb.Error:
        if errors:
            raise errors[0] from None
        raise


@contextmanager
def open_usage(
    workspace: Workspace,
    usage: Any,
    names: Mapping[str, str],
    master: str | None,
    progress: Progress,
    layouts: LayoutsOf,
    *,
    by_file: bool,
) -> Iterator[SparkUsage]:
    """Open a Spark frame in its own session, or paths and tables in the running session or a new one.

    `names` maps known columns to their names in the usage; `layouts` says what its columns are. With `by_file`, the
    view has a column `FILE` with the file of each row. Raises `SimulationError` with the column, and what is allowed;
    at the end also if a file changed meanwhile.
    """
    workspace.make_room()
    with ExitStack() as stack:
        progress("Reading usage: columns", None)
        early_stamps: Stamps = {}
        if is_spark_frame(usage):
            if master:
                raise SimulationError(f"a Spark frame has a session of its own; leave out the master {master}")
            frame, session = usage, proven(usage.sparkSession)
        else:
            session = stack.enter_context(spark_session(master))
            early_stamps = named_stamps(usage)
            frame = read(session, usage)
        with failures(UNREADABLE):
            files = sorted(set(frame.inputFiles()))
        look = partial(stamps, session, files)
        listed_stamps = look()
        if not is_spark_frame(usage) and listed_stamps.keys() - early_stamps.keys():
            # Files may have been replaced before their stamps were taken, so the columns are read again.
            frame = read(session, usage)
        if not is_spark_frame(usage):
            partition(session, sum(stamp.bytes for stamp in listed_stamps.values()))
        before = {**listed_stamps, **{file: stamp for file, stamp in early_stamps.items() if file in listed_stamps}}
        stack.enter_context(unchanged(before, look))
        if by_file:
            places = {file: place for file in files if (place := place_of(file)) in before}
            frame = frame.selectExpr("*", f"{SparkSql().looked_up('input_file_name()', places)} AS {FILE}")
        check_column_names(frame.columns)
        view = f"ratecard_{uuid4().hex}"
        for outer in COUNTED:
            if outer not in frame.columns:
                continue
            kind = frame.schema[outer].dataType
            with failures(UNREADABLE):
                if kind.typeName() in ("struct", "map"):
                    frame = frame.selectExpr("*", *_counts(outer, frame)).drop(outer)
                elif frame.where(f"{outer} IS NOT NULL").take(1):
                    raise no_object(outer, kind.simpleString().upper())
        with failures(UNREADABLE):
            declared = {field.name: field.dataType.simpleString() for field in frame.schema}
            frame.createOrReplaceTempView(view)
        stack.callback(_drop, session, view)
        if Export.of(tuple(declared), names):
            raise SimulationError("a billing export is rated by DuckDB; leave out engine spark, and give its files")
        types = {name: column_type(type_) for name, type_ in declared.items()}
        known = checked_usage(types, {name: type_.upper() for name, type_ in declared.items()}, names, layouts)
        known = known._replace(table=view, untyped=known.has("model"))
        yield SparkUsage(workspace, known, before, session)


def _drop(session: "SparkSession", view: str) -> None:
    with as_far_as_it_runs():
        session.catalog.dropTempView(view)


def _counts(outer: str, frame: "DataFrame") -> Iterator[str]:
    """Yield each count in the column `outer`, a struct or a map, as the expression of a column of its own."""
    sql = SparkSql()
    if is_map := frame.schema[outer].dataType.typeName() == "map":
        keys = frame.selectExpr(f"explode(map_keys({outer})) AS name").distinct()
        names = sorted(row["name"] for row in keys.collect())
    else:
        names = frame.select(f"{outer}.*").columns
    for name in names:
        flat = f"{outer}.{name}"
        if flat in frame.columns:
            raise SimulationError(f"the usage has '{flat}' as a column, and within the column '{outer}'. Give it once")
        value = f"try_element_at({outer}, {sql.literal(name)})" if is_map else f"{outer}.{sql.quoted(name)}"
        yield f"{value} AS {sql.quoted(flat)}"


def _batches(frame: "DataFrame", schema: pyarrow.Schema, size: int) -> Iterator[pyarrow.RecordBatch]:
    """Yield the `size` rows of a frame in batches; at most two of its partitions are here at once."""
    if getattr(frame.sparkSession, "_jvm", None) is None:
        yield from _chosen_batches(frame)
        return
    from pyspark import RDD
    from pyspark.serializers import NoOpSerializer

    def partitions(frame: "DataFrame") -> Any:
        return frame._jdf.toArrowBatchRdd().toJavaRDD()

    pieces, part_count = partitions(frame), size // ROWS_AT_ONCE + 1
    if size > MOST_PARTITION_ROWS * pieces.getNumPartitions():
        pieces = partitions(frame.repartition(part_count))
    elif part_count < pieces.getNumPartitions():  # each partition is a job, which takes a while to start
        pieces = pieces.coalesce(part_count)
    pieces = RDD(pieces, frame.sparkSession.sparkContext, NoOpSerializer())
    for batch in pieces.toLocalIterator(prefetchPartitions=True):
        yield pyarrow.ipc.read_record_batch(pyarrow.py_buffer(batch), schema)


def _chosen_batches(frame: "DataFrame") -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of a frame by a query for each partition, because Spark Connect has no other way to choose one."""
    from pyspark.sql import functions

    number = functions.spark_partition_id()
    for (part,) in sorted(frame.select(number).distinct().collect()):
        yield from frame.where(number == part).toArrow().to_batches()


class Jobs:
    """The progress of the stages that a session runs now, in percent of their tasks."""

    def __init__(self, session: "SparkSession") -> None:
        # Spark Connect does not show the jobs of a session.
        context = getattr(session, "_sc", None)
        self._tracker = context.statusTracker() if context is not None else None

    def __call__(self) -> float:
        """Return the percentage; it is negative if unknown."""
        if self._tracker is None:
            return -1.0
        stages = [self._tracker.getStageInfo(stage_id) for stage_id in self._tracker.getActiveStageIds()]
        tasks = sum(stage.numTasks for stage in stages if stage)
        return 100.0 * sum(stage.numCompletedTasks for stage in stages if stage) / tasks if tasks else -1.0


def _with_texts(schema: pyarrow.Schema, plan: Plan) -> str:
    """Return the query of the groups with raw quantities as text, which Spark sends as records.

    Seconds that are doubles are added up here, by their shortest digits. Models that do not charge linearly need each.
    """
    raw = schema.field(RAW_QUANTITIES).type if RAW_QUANTITIES in schema.names else None
    if raw is None or not pyarrow.types.is_struct(raw):
        return f"FROM {_PART}"
    writer, names = DuckDbSql(), [field.name for field in raw]
    record = writer.record({name: writer.text(f"{RAW_QUANTITIES}.{writer.quoted(name)}") for name in names})
    text, sums = f"CASE WHEN {RAW_QUANTITIES} IS NOT NULL THEN {writer.text(record)} END", ""
    if _SECONDS.name in names and pyarrow.types.is_floating(raw.field(_SECONDS.name).type):
        number = f"CASE WHEN type = '{_TIMED}' THEN {writer.exact(f'{RAW_QUANTITIES}.{_SECONDS.name}', 'double')} END"
        needed, linear = f"{number} IS NULL", plan.predicates.summed.get(_TIMED)
        if linear is not None:
            named = ", ".join(map(writer.literal, sorted(linear)))
            needed += f" OR coalesce(model NOT IN ({named}), TRUE)" if linear else " OR TRUE"
        text = f"CASE WHEN {needed} THEN {text} END"
        product = f"CAST({number} AS DECIMAL(27, 18)) * CAST(requests AS DECIMAL(11, 0))"
        sums = f", CASE WHEN {number} IS NULL THEN {sum_of(_SECONDS)} ELSE {product} END AS {sum_of(_SECONDS)}"
    return f"SELECT * REPLACE ({text} AS {RAW_QUANTITIES}{sums}) FROM {_PART}"
