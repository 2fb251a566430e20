"""Spark: groups usage where it lies. Only groups come to the driver, into the tables that every engine fills."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pyarrow

from ratecard.simulation.columns import LAYOUTS
from ratecard.simulation.engines.duckdb_engine import Workspace, checked_usage
from ratecard.simulation.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.engines.spark_files import UNREADABLE, read
from ratecard.simulation.engines.spark_session import failures, is_spark_frame, proven, spark_session
from ratecard.simulation.engines.spark_sql import SparkSql, column_type
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.ledger_usage import Export
from ratecard.simulation.plan import GIVEN, OTHERS, Plan, Usage, parts_of
from ratecard.simulation.progress import Progress, silent
from ratecard.simulation.roll_up_sql import Grouping, RollUpSql, sum_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The type whose quantity has decimals.
_TIMED, _SECONDS = next((name, layout.quantities[0]) for name, layout in LAYOUTS.items() if layout.places)


class SparkUsage(NamedTuple):
    """A usage as a view of a session."""

    known: Usage
    session: "SparkSession"

    def groups(self, workspace: Workspace, plan: Plan, progress: Progress = silent) -> Generator[tuple[Grouping, str]]:
        """Each grouping that has rows, with the table of its groups."""
        connection, present = workspace.connection, self._types()
        for grouping in RollUpSql(self.known, plan, SparkSql(), DuckDbSql()).groupings():
            if grouping.name not in present:
                continue
            progress(f"Reading usage: {grouping.name}", None)
            groups, table = self._asked(grouping.query), workspace.new_table("groups")
            connection.register("groups", groups)
            connection.execute(f"CREATE TABLE {table} AS {_with_texts(groups.schema)}")
            connection.unregister("groups")
            yield grouping, table

    def _types(self) -> set[str]:
        """The names of the queries for which there are rows: no job is made for another."""
        parts, type_ = parts_of(self.known.layouts), SparkSql().quoted(self.known.columns["type"])
        listed = {name: ", ".join(map(repr, types)) for name, types in parts.items() if name != OTHERS}
        whens = "".join(f" WHEN {type_} IN ({types}) THEN '{name}'" for name, types in listed.items())
        query = f"SELECT DISTINCT CASE{whens} ELSE '{OTHERS}' END AS name FROM {self.known.table}"
        return set(self._asked(query)["name"].to_pylist())

    def _asked(self, query: str) -> pyarrow.Table:
        with failures(UNREADABLE):
            return self.session.sql(query).toArrow()


@contextmanager
def open_usage(usage: Any, names: Mapping[str, str], master: str | None = None) -> Iterator[SparkUsage]:
    """The usage of a Spark frame, in its own session, or of paths and tables that a session of ours reads.

    `names` says where a column of ours has another name. Raises `SimulationError` with the column, and what is allowed.
    """
    with ExitStack() as stack:
        if is_spark_frame(usage):
            if master:
                raise SimulationError(f"a Spark frame has a session of its own; leave out the master {master}")
            frame, session = usage, proven(usage.sparkSession)
        else:
            session = stack.enter_context(spark_session(master))
            frame = read(session, usage)
        view = f"ratecard_{uuid4().hex}"
        with failures(UNREADABLE):
            declared = {field.name: field.dataType.simpleString() for field in frame.schema}
            frame.createOrReplaceTempView(view)
        stack.callback(session.catalog.dropTempView, view)
        if Export.of(tuple(declared), names):
            raise SimulationError("a billing export is rated by DuckDB; leave out engine spark, and give its files")
        found = {name: column_type(type_) for name, type_ in declared.items()}
        known = checked_usage(found, {name: type_.upper() for name, type_ in declared.items()}, names)
        yield SparkUsage(known._replace(table=view), session)


def _with_texts(schema: pyarrow.Schema) -> str:
    """The groups with what was given as text, where Spark has sent it as it is.

    A number of seconds that is a double of many digits is added up here, by the shortest digits that it has.
    """
    given = schema.field(GIVEN).type if GIVEN in schema.names else None
    if given is None or not pyarrow.types.is_struct(given):
        return "SELECT * FROM groups"
    writer, names = DuckDbSql(), [field.name for field in given]
    record = writer.record({name: writer.text(f"{GIVEN}.{name}") for name in names})
    text, sums = f"CASE WHEN {GIVEN} IS NOT NULL THEN {writer.text(record)} END", ""
    if _SECONDS.name in names and pyarrow.types.is_floating(given.field(_SECONDS.name).type):
        number = f"CASE WHEN type = '{_TIMED}' THEN {writer.exact(f'{GIVEN}.{_SECONDS.name}', 'double')} END"
        text = f"CASE WHEN {number} IS NULL THEN {text} END"
        product = f"CAST({number} AS DECIMAL(27, 18)) * CAST(requests AS DECIMAL(11, 0))"
        sums = f", CASE WHEN {number} IS NULL THEN {sum_of(_SECONDS)} ELSE {product} END AS {sum_of(_SECONDS)}"
    return f"SELECT * REPLACE ({text} AS {GIVEN}{sums}) FROM groups"
