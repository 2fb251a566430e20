"""Spark groups usage where it is stored. Only the groups come to the driver, into the tables of DuckDB."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from decimal import Decimal
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pyarrow

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.progress import OPENED, READ, Progress, silent, within
from ratecard.simulation.usage.billing_export import Export
from ratecard.simulation.usage.columns import COUNTED, DAY, LAYOUTS, LayoutsOf
from ratecard.simulation.usage.engines.duckdb_engine import (
    Workspace,
    checked_usage,
    integer_of,
    is_unique,
    table_of_sums,
)
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.engines.spark_files import UNREADABLE, named_stamps, place_of, read, stamps, write_query
from ratecard.simulation.usage.engines.spark_session import (
    as_far_as_it_runs,
    failures,
    is_spark_frame,
    partition,
    proven,
    spark_session,
)
from ratecard.simulation.usage.engines.spark_sql import SparkSql, column_type
from ratecard.simulation.usage.files import FILE, Source, Stamp, Stamps, unchanged
from ratecard.simulation.usage.plan import GIVEN, Plan, Usage
from ratecard.simulation.usage.roll_up_sql import AddedByKey, CellPrices, Grouping, RollUpSql, sum_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession

# The type whose quantity has decimals.
_TIMED, _SECONDS = next((name, layout.quantities[0]) for name, layout in LAYOUTS.items() if layout.places)

# A part of a result here; about how many rows come to the driver at once.
_PART, _ROWS_AT_ONCE = "ratecard_part", 100_000
# Partitions of more rows than this, in the mean, are made smaller before they come.
_MOST_ROWS = 5 * _ROWS_AT_ONCE
# Files of fewer bytes than this together have so few different rows that their groups come at once.
_SMALL = 4 * 2**20
# So has a usage of fewer rows than these. Keys of more values among them are read apart from the shapes.
_FIRST_ROWS, _FEW_KEYS = 10_000, 20
# Facts of at most this many rows come, by keys that shapes have too: that is quicker. Of more, Spark adds up amounts.
_MOST_FACTS = 100_000_000
# More groups than these stay with Spark then, unless they are asked for.
_MOST_GROUPS = 1_000_000
# Prices of more cells than these are too many for each executor.
_MOST_SENT = 2_000_000
# Keys that are written as the same text by Spark and by DuckDB.
_ALIKE = ("text", "integer", "decimal", "boolean", "date")


class SparkUsage(NamedTuple):
    """A usage as a view of a session; `source` is what it is read from."""

    known: Usage
    source: Source
    session: "SparkSession"
    workspace: Workspace
    # Opens it once more, under the same name, when it may have been closed.
    opened: Callable[[], AbstractContextManager["SparkUsage"]]
    # Ends the session, if it was made for this usage.
    ending: ExitStack
    stamps: Mapping[str, Stamp] = {}
    # What its files are known by now.
    look: Callable[[], Stamps] = dict

    @property
    def again(self) -> "SparkUsage":
        """This usage, which can be read again."""
        return self

    def facts(self, grouping: Grouping, groups: str) -> str:
        """The table of the facts of a table of groups, also once the usage is closed: it is read again.

        Raises `SimulationError` where a file is not the one any more that was opened.
        """
        with self.opened() as usage, unchanged(self.stamps, lambda: usage.stamps, "since"):
            return usage._facts(grouping, groups)

    def _facts(self, grouping: Grouping, groups: str) -> str:
        of_cells = grouping._replace(facts=f"FROM {_PART}")
        integer = integer_of(self.workspace.connection, grouping, groups)
        return self._brought("facts", grouping.facts, of_cells.facts_of(groups, integer))

    def amounts(self, found: Sequence[CellPrices], columns: Sequence[str], plan: Plan, *, whole: bool) -> AddedByKey:
        """Requests and sums by all keys, which stay with Spark if they are too many, unless `whole` is asked.

        See `Grouping.amounts_of`.
        """
        known, queries = self.known, list[str]()
        # Of other types Spark writes another text than DuckDB does.
        alike = {key for key, name in plan.others.items() if known.types[known.columns.get(name, name)] in _ALIKE}
        with ExitStack() as until:
            for grouping, _, prices, sums, short in found:
                texts = (
                    SparkSql().digits(key) if key in alike else key if key in plan.others else f"text_{key}"
                    for key in plan.key_columns
                )
                of_rows = grouping._replace(keys=tuple(texts))
                priced = self._priced(prices, until)
                queries.append(of_rows.amounts_of(priced, sums, short, columns, SparkSql()))
            groups_here = SparkGroups(self, plan, tuple(columns), queries, until)
            if whole or alike != plan.others.keys() or groups_here.size <= _MOST_GROUPS:
                return AddedByKey(groups_here.brought(*plan.key_columns), plan.keys)
            self.workspace.at_end.push(self.ending.pop_all())
            self.workspace.at_end.push(until.pop_all())
            return AddedByKey(groups_here.table, plan.keys, groups_here)

    def _priced(self, prices: str, until: ExitStack) -> str:
        """The join with a table of prices by cell, which is dropped at the end.

        Many cells have the same prices: each is sent as one number. Every executor has them all, for rows that would
        have to be sent to them are many more.
        """
        from pyspark.sql.functions import broadcast

        described = self.workspace.connection.execute(f"DESCRIBE {prices}").fetchall()
        columns = [name for name, *_ in described if name != "cell"]
        # Without columns every price is zero.
        ranked = f"dense_rank() OVER (ORDER BY {', '.join(columns)})" if columns else "1"
        numbered = f"(SELECT *, CAST({ranked} AS INTEGER) AS priced FROM {prices})"
        view = f"ratecard_{uuid4().hex}"
        parts = {f"{view}_cells": "cell, priced", f"{view}_prices": ", ".join(("DISTINCT priced", *columns))}
        with failures("prices cannot be given to Spark"):
            for name, chosen in parts.items():
                table = self.workspace.connection.sql(f"SELECT {chosen} FROM {numbered}").to_arrow_table()
                frame = self.session.createDataFrame(table)
                few = table.num_rows <= _MOST_SENT
                (broadcast(frame) if few else frame).createOrReplaceTempView(name)
                until.callback(_drop, self.session, name)
        return f"{view}_cells USING (cell) JOIN {view}_prices USING (priced)"

    def of_files(self, files: Collection[str]) -> "SparkUsage":
        """The rows of some of its files; it has to be by file."""
        sql, view = SparkSql(), f"{self.known.table}_of_files"
        listed = ", ".join(map(sql.literal, files))
        self.session.sql(f"SELECT * FROM {self.known.table} WHERE {FILE} IN ({listed})").createOrReplaceTempView(view)
        return self._replace(known=self.known._replace(table=view))

    def counted_by_file(self, plan: Plan) -> dict[str, tuple[int, int]]:
        """How many rows each file has, and how many of them have no instant to be chosen by."""
        found = self._asked(RollUpSql(self.known, plan, SparkSql(), DuckDbSql()).counting(FILE)).to_pylist()
        return {each[FILE]: (int(each["found"]), int(each["undated"] or 0)) for each in found}

    def groups(
        self, workspace: Workspace, plan: Plan, progress: Progress = silent, *, whole: bool = False
    ) -> Generator[tuple[Grouping, str, str]]:
        """Each grouping that has rows, with the table of its groups.

        Where keys are read apart, each again in the end, with the table of its facts; none is with `whole`, nor where
        amounts are added up by key.
        """
        connection = self.workspace.connection
        within(progress, OPENED, OPENED + 1)("Reading usage: types", Jobs(self.session))
        # That some row has no type is known only now; of all others the types are read as they are.
        typed = RollUpSql(self.known._replace(untyped=self.known.has("model")), plan, SparkSql(), DuckDbSql())
        present = self._asked(typed.parts()).to_pylist()
        names, untyped = {each["name"] for each in present}, any(each["untyped"] for each in present)
        known = self.known._replace(untyped=untyped)
        together = [each for each in RollUpSql(known, plan, SparkSql(), DuckDbSql()).groupings() if each.name in names]
        first = self._first_keys(plan)
        apart = [] if whole or not self._many(first, plan) else self._apart(known, plan, names)
        tell = self._teller(progress, len(together) + len(apart))
        bring, read_apart = partial(self._brought, at_once=len(first) < _FIRST_ROWS), list[Any]()
        for number, grouping in enumerate(apart or together):
            tell(grouping)
            table = bring("groups", grouping.query)
            if grouping.facts and not is_unique(connection, grouping.cell, table):
                connection.execute(f"DROP TABLE {table}")
                grouping = together[number]
                table = bring("groups", grouping.query)
            if grouping.facts:
                read_apart.append((grouping, table))
            yield grouping, table, ""
        if plan.by_key and (plan.others_alone or self._rows_of(read_apart) > _MOST_FACTS):
            return
        for grouping, table in read_apart:
            tell(grouping)
            yield grouping, table, self._facts(grouping, table)

    def _rows_of(self, tables: Sequence[tuple[Grouping, str]]) -> int:
        """How many rows the groups of these tables have: there are at most as many facts."""
        connection = self.workspace.connection
        counts = (connection.execute(f"SELECT sum(requests) FROM {table}").fetchall() for _, table in tables)
        return sum(int(found or 0) for ((found,),) in counts)

    def _first_keys(self, plan: Plan) -> list[Any]:
        """The keys that shapes do not have, in the first rows; nothing of files that are small."""
        if self.stamps and sum(stamp.bytes for stamp in self.stamps.values()) < _SMALL:
            return []
        keys = ", ".join(SparkSql().quoted(self.known.columns.get(key, key)) for key in plan.others.values())
        with failures(UNREADABLE):
            rows: list[Any] = self.session.sql(
                f"SELECT {keys or 1} FROM {self.known.table} LIMIT {_FIRST_ROWS}"
            ).collect()
        return rows

    def _many(self, first: Sequence[Any], plan: Plan) -> bool:
        """Whether keys that shapes do not have are of many values: then they are read apart.

        Not where seconds are doubles, some of which are added up here.
        """
        seconds = self.known.types.get(self.known.columns.get(_SECONDS.name, ""))
        several = len(first) == _FIRST_ROWS and len(set(map(repr, first))) > _FEW_KEYS
        return bool(plan.others) and several and seconds != "double"

    def _apart(self, known: Usage, plan: Plan, names: Collection[str]) -> list[Grouping]:
        """The groupings without those keys, each with the number of its cell; its rows have their numbers too."""
        groupings = []
        writers = (DuckDbSql(), _RowWriter())
        found, there = (RollUpSql(known, plan, SparkSql(), writer, apart=True).groupings() for writer in writers)
        for each, of_rows in zip(found, there, strict=True):
            named = zip(plan.keys, plan.key_columns, of_rows.keys, strict=True)
            # The text of a late day has a plus in Spark.
            own = {f"text_{key}": f"replace({text}, '+', '')" if name == DAY else text for name, key, text in named}
            texts = "".join(f", {text} AS {key}" for key, text in own.items())
            query = f"SELECT *, {each.cell} AS cell FROM ({each.query})"
            rows = f"SELECT *, {each.cell} AS cell{texts} FROM ({each.rows})"
            groupings.append(each._replace(query=query, rows=rows, cell="cell"))
        return [each for each in groupings if each.name in names]

    def _teller(self, progress: Progress, steps: int) -> Callable[[Grouping], None]:
        """A function that tells the progress which grouping is read next, and how many steps there are."""
        share, started, jobs = (READ - OPENED - 1) / max(steps, 1), count(), Jobs(self.session)

        def tell(grouping: Grouping) -> None:
            begun = OPENED + 1 + share * next(started)
            within(progress, begun, begun + share)(f"Reading usage: {grouping.name}", jobs)

        return tell

    def _brought(self, name: str, query: str, written: str = "", *, at_once: bool = False) -> str:
        """A table here of what a query finds: of groups, or of each part what the query `written` makes of it."""
        connection, table = self.workspace.connection, self.workspace.new_table(name)
        how = f"CREATE TABLE {table} AS"
        for part in [self._asked(query)] if at_once else self._parts(query):
            _keep(connection, part, f"{how} {written or _with_texts(part.schema)}")
            how = f"INSERT INTO {table}"
        return table

    def counted(self, plan: Plan) -> tuple[int, int, int]:
        """How many rows there are, how many are chosen, and how many have no instant to be chosen by."""
        (found,) = self._asked(RollUpSql(self.known, plan, SparkSql(), DuckDbSql()).counting()).to_pylist()
        return int(found["found"] or 0), int(found["chosen"] or 0), int(found["undated"] or 0)

    def odd_instant(self, plan: Plan) -> str:
        """A timestamp that is not an instant, as it is in the usage; empty where there is none."""
        found = self._asked(RollUpSql(self.known, plan, SparkSql(), DuckDbSql()).odd_instant()).to_pylist()
        return str(found[0]["odd"] or "") if found else ""

    def _parts(self, query: str) -> Iterator[pyarrow.Table]:
        """What a query finds, part by part."""
        with failures(UNREADABLE), _persisted(self.session.sql(query)) as (found, size):
            yield from _tables(found, size)

    def _asked(self, query: str) -> pyarrow.Table:
        with failures(UNREADABLE):
            return self.session.sql(query).toArrow()


class SparkGroups:
    """Groups that Spark adds up and keeps on the disks of its executors; what is lost with one of them is made again.

    It is made of the usage, so that nothing is said of one whose files are not as they were any more. `size` is how
    many there are, those that several queries find counted more than once.
    """

    sql = SparkSql()

    def __init__(
        self, usage: SparkUsage, plan: Plan, columns: tuple[str, ...], queries: Sequence[str], until: ExitStack
    ) -> None:
        self._session, self._workspace, self._usage = usage.session, usage.workspace, usage
        self._keys, self._columns = plan.key_columns, columns
        self.size, self.table = 0, f"ratecard_{uuid4().hex}"
        if queries:
            with failures(UNREADABLE):
                found, self.size = until.enter_context(_persisted(self._session.sql(" UNION ALL ".join(queries))))
                found.createOrReplaceTempView(self.table)
            until.callback(_drop, self._session, self.table)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The few rows that a query finds, with decimals as integers."""
        with self._unchanged(), failures(UNREADABLE):
            found = self._session.sql(query).collect()
        return [tuple(int(each) if isinstance(each, Decimal) else each for each in row) for row in found]

    def kept(self, query: str) -> str:
        """A view of what a query finds, which executors keep on their disks until the end of the simulation."""
        view, at_end = f"ratecard_{uuid4().hex}", self._workspace.at_end
        with self._unchanged(), failures(UNREADABLE):
            found, _ = at_end.enter_context(_persisted(self._session.sql(query)))
            found.createOrReplaceTempView(view)
        at_end.callback(_drop, self._session, view)
        return view

    def brought(self, *keys: str) -> str:
        """A table here of what they come to by some of their keys."""
        table = table_of_sums(self._workspace, keys, self._columns)
        if not self.size:
            return table
        query = f"SELECT * FROM {self.table}"
        if keys != self._keys:
            sums = ", ".join(f"sum({name}) AS {name}" for name in ("requests", *self._columns))
            query = f"SELECT {', '.join(keys)}, {sums} FROM {self.table} GROUP BY {', '.join(keys)}"
        with self._unchanged(), failures(UNREADABLE):
            found = self._session.sql(query)
            for part in _tables(found, self.size):
                _keep(self._workspace.connection, part, f"INSERT INTO {table} FROM {_PART}")
        return table

    def write(self, query: str, place: str, kind: str = "") -> None:
        """Write what a query finds as a folder of files, whole or not at all. Raises `SimulationError`."""
        write_query(self._session, query, place, kind, self._unchanged())

    def _unchanged(self) -> AbstractContextManager[None]:
        return unchanged(self._usage.stamps, self._usage.look, "since")


@contextmanager
def _persisted(found: "DataFrame") -> Iterator[tuple["DataFrame", int]]:
    """A frame that executors keep on their disks meanwhile, and its rows; all executors have made it at once."""
    from pyspark import StorageLevel

    found = found.persist(StorageLevel.DISK_ONLY)
    try:
        yield found, found.count()
    finally:
        with as_far_as_it_runs():
            found.unpersist()


def _tables(found: "DataFrame", size: int) -> Iterator[pyarrow.Table]:
    """The rows of a frame, at least one table, each of about as many as the driver should have at once."""
    schema, rows = found.limit(0).toArrow().schema, 0
    waiting: list[pyarrow.RecordBatch] = []
    # Of what executors have, one partition comes after the other.
    for batch in _batches(found, schema, size):
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_AT_ONCE:
            yield pyarrow.Table.from_batches(waiting)
            waiting, rows = [], 0
    yield pyarrow.Table.from_batches(waiting, schema)


class _RowWriter(DuckDbSql):
    """Writes the keys of a row as Spark makes them."""

    literal = staticmethod(SparkSql().literal)

    def text(self, expression: str) -> str:
        return SparkSql().digits(expression)


@contextmanager
def open_usage(
    workspace: Workspace,
    usage: Any,
    names: Mapping[str, str],
    master: str | None = None,
    progress: Progress = silent,
    layouts: LayoutsOf = lambda _: LAYOUTS,
    *,
    by_file: bool = False,
    view: str = "",
) -> Iterator[SparkUsage]:
    """The usage of a Spark frame, in its own session, or of paths and tables that a session started here reads.

    `names`: known columns that have another name in it; `layouts` says what its columns are. With `by_file`, the view
    has a column `FILE`: of which file each row is. Raises `SimulationError` with the column, and what is allowed; at
    the end also where a file is not the one any more that it was in the beginning.
    """
    workspace.make_room()
    with ExitStack() as ending, ExitStack() as stack:
        progress("Reading usage: columns", None)
        named: Stamps = {}
        if is_spark_frame(usage):
            if master:
                raise SimulationError(f"a Spark frame has a session of its own; leave out the master {master}")
            frame, session = usage, proven(usage.sparkSession)
        else:
            session = ending.enter_context(spark_session(master))
            named = named_stamps(usage)
            frame = read(session, usage)
        with failures(UNREADABLE):
            files = sorted(set(frame.inputFiles()))
        look = partial(stamps, session, files)
        seen = look()
        if not is_spark_frame(usage) and seen.keys() - named.keys():
            # The columns are those of files that may have been others before they were looked at.
            frame = read(session, usage)
        if not is_spark_frame(usage):
            partition(session, sum(stamp.bytes for stamp in seen.values()))
        before = {**seen, **{file: stamp for file, stamp in named.items() if file in seen}}
        stack.enter_context(unchanged(before, look))
        if by_file:
            places = {file: place for file in files if (place := place_of(file)) in before}
            frame = frame.selectExpr("*", f"{SparkSql().looked_up('input_file_name()', places)} AS {FILE}")
        view = view or f"ratecard_{uuid4().hex}"
        for outer in COUNTED:
            if outer in frame.columns and frame.schema[outer].dataType.typeName() == "struct":
                counts = _counts(outer, frame.schema[outer].dataType.fieldNames(), frame.columns)
                frame = frame.selectExpr("*", *counts).drop(outer)
        with failures(UNREADABLE):
            declared = {field.name: field.dataType.simpleString() for field in frame.schema}
            frame.createOrReplaceTempView(view)
        stack.callback(_drop, session, view)
        if Export.of(tuple(declared), names):
            raise SimulationError("a billing export is rated by DuckDB; leave out engine spark, and give its files")
        found = {name: column_type(type_) for name, type_ in declared.items()}
        known = checked_usage(found, {name: type_.upper() for name, type_ in declared.items()}, names, layouts)
        known = known._replace(table=view, untyped=known.has("model"))
        opened = partial(open_usage, workspace, usage, names, master, layouts=layouts, by_file=by_file, view=view)
        yield SparkUsage(known, Source.of(before), session, workspace, opened, ending, before, look)
        if by_file:
            session.catalog.dropTempView(f"{view}_of_files")


def _keep(connection: "DuckDBPyConnection", part: pyarrow.Table, statement: str) -> None:
    """Run a statement that keeps a part of a result here."""
    connection.register(_PART, part)
    connection.execute(statement)
    connection.unregister(_PART)


def _drop(session: "SparkSession", view: str) -> None:
    with as_far_as_it_runs():
        session.catalog.dropTempView(view)


def _counts(outer: str, fields: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """A column for each count in the column `outer`, so as if they were written flat."""
    quoted = SparkSql().quoted
    for name in fields:
        flat = f"{outer}.{name}"
        if flat in names:
            raise SimulationError(f"the usage has '{flat}' as a column, and within the column '{outer}'. Give it once")
        yield f"{outer}.{quoted(name)} AS {quoted(flat)}"


def _batches(frame: "DataFrame", schema: pyarrow.Schema, size: int) -> Iterator[pyarrow.RecordBatch]:
    """The `size` rows of a frame; of its partitions, no more than two are here at once."""
    if getattr(frame.sparkSession, "_jvm", None) is None:
        yield from _chosen_batches(frame)
        return
    from pyspark import RDD
    from pyspark.serializers import NoOpSerializer

    def partitions(frame: "DataFrame") -> Any:
        return frame._jdf.toArrowBatchRdd().toJavaRDD()

    found, enough = partitions(frame), size // _ROWS_AT_ONCE + 1
    if size > _MOST_ROWS * found.getNumPartitions():
        found = partitions(frame.repartition(enough))
    elif enough < found.getNumPartitions():  # each is a job of its own, which takes a while
        found = found.coalesce(enough)
    found = RDD(found, frame.sparkSession.sparkContext, NoOpSerializer())
    for each in found.toLocalIterator(prefetchPartitions=True):
        yield pyarrow.ipc.read_record_batch(pyarrow.py_buffer(each), schema)


def _chosen_batches(frame: "DataFrame") -> Iterator[pyarrow.RecordBatch]:
    """The rows of a frame, by a query for each partition: Spark Connect can say no other way which it wants."""
    from pyspark.sql import functions

    number = functions.spark_partition_id()
    for (each,) in sorted(frame.select(number).distinct().collect()):
        yield from frame.where(number == each).toArrow().to_batches()


class Jobs:
    """How far the stages of a session are that run now, in percent of their tasks."""

    def __init__(self, session: "SparkSession") -> None:
        # A session of Spark Connect does not know its jobs.
        context = getattr(session, "_sc", None)
        self._tracker = context.statusTracker() if context is not None else None

    def __call__(self) -> float:
        """The percent, negative where it is not known."""
        if self._tracker is None:
            return -1.0
        stages = [self._tracker.getStageInfo(each) for each in self._tracker.getActiveStageIds()]
        tasks = sum(each.numTasks for each in stages if each)
        return 100.0 * sum(each.numCompletedTasks for each in stages if each) / tasks if tasks else -1.0


def _with_texts(schema: pyarrow.Schema) -> str:
    """The groups with what was given as text, where Spark has sent it as it is.

    A number of seconds that is a double of many digits is added up here, by the shortest digits that it has.
    """
    given = schema.field(GIVEN).type if GIVEN in schema.names else None
    if given is None or not pyarrow.types.is_struct(given):
        return f"FROM {_PART}"
    writer, names = DuckDbSql(), [field.name for field in given]
    record = writer.record({name: writer.text(f"{GIVEN}.{writer.quoted(name)}") for name in names})
    text, sums = f"CASE WHEN {GIVEN} IS NOT NULL THEN {writer.text(record)} END", ""
    if _SECONDS.name in names and pyarrow.types.is_floating(given.field(_SECONDS.name).type):
        number = f"CASE WHEN type = '{_TIMED}' THEN {writer.exact(f'{GIVEN}.{_SECONDS.name}', 'double')} END"
        text = f"CASE WHEN {number} IS NULL THEN {text} END"
        product = f"CAST({number} AS DECIMAL(27, 18)) * CAST(requests AS DECIMAL(11, 0))"
        sums = f", CASE WHEN {number} IS NULL THEN {sum_of(_SECONDS)} ELSE {product} END AS {sum_of(_SECONDS)}"
    return f"SELECT * REPLACE ({text} AS {GIVEN}{sums}) FROM {_PART}"
