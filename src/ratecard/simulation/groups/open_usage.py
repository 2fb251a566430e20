"""A usage that is open: its columns and files, and the queries that every engine answers."""

from collections.abc import Collection, Generator, Mapping
from copy import copy
from typing import Any, Self

from ratecard.base.threads import stoppable
from ratecard.simulation.groups.plan import Plan, Usage
from ratecard.simulation.groups.queries import Grouping, RollUpSql
from ratecard.simulation.progress import OPENED, READ, Progress, silent, within
from ratecard.simulation.rows.files import FILE, Source, Stamp
from ratecard.simulation.sql import DuckDbSql
from ratecard.simulation.workspace import Workspace, readable


class OpenUsage:
    """A usage that an engine has opened, DuckDB by default; `known` are its columns, `stamps` its files."""

    dialect = DuckDbSql()

    def __init__(self, workspace: Workspace, known: Usage, stamps: Mapping[str, Stamp]) -> None:
        self.workspace, self.known, self.stamps = workspace, known, stamps

    @property
    def source(self) -> Source:
        """Return the files of the usage."""
        return Source.of(self.stamps)

    def rows(self) -> int | None:
        """Return about how many rows the usage has; None if that is not known."""
        return None

    def groups(self, plan: Plan, progress: Progress = silent) -> Generator[tuple[Grouping, str]]:
        """Yield each grouping with the table of its groups in the workspace; the next query runs meanwhile."""
        groupings, rows = list(self.sql(plan).groupings()), None if progress is silent else self.rows()
        connection, share = self.workspace.connection, (READ - OPENED) / max(len(groupings), 1)

        def read(number: int) -> tuple[Grouping, str]:
            grouping, table = groupings[number], self.workspace.new_table("groups")
            tell = within(progress, OPENED + share * number, OPENED + share * (number + 1), rows)
            tell(f"Reading usage: {grouping.name}", connection.query_progress)
            with readable():
                connection.execute(f"CREATE TABLE {table} AS {grouping.query}")
            return grouping, table

        with stoppable(connection.interrupt) as pool:
            futures = [pool.submit(read, number) for number in range(len(groupings))]
            yield from (future.result() for future in futures)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the engine. Raises `SimulationError`."""
        with readable():
            return self.workspace.connection.execute(query).fetchall()

    def sql(self, plan: Plan) -> RollUpSql:
        """Return the queries of the engine for a plan."""
        return RollUpSql(self.known, plan, self.dialect)

    def of_files(self, files: Collection[str]) -> Self:
        """Return the same usage with the rows of some files only; it must have been opened by file."""
        part, listed = copy(self), ", ".join(map(self.dialect.literal, files))
        part.known = self.known._replace(table=f"(SELECT * FROM {self.known.table} WHERE {FILE} IN ({listed}))")
        return part

    def check(self, plan: Plan, unmapped: Plan) -> None:
        """Raise `SimulationError` if the rows are groups that do not distinguish everything that a plan needs.

        `unmapped` is the same plan without rows that are priced as another model's.
        """

    def counted(self, plan: Plan) -> tuple[int, int]:
        """Count all rows, and the rows without an instant if days are chosen."""
        ((rows, undated),) = self.ask(self.sql(plan).counting())
        return int(rows), int(undated or 0)

    def counted_by_file(self, plan: Plan) -> dict[str, tuple[int, int]]:
        """Count all rows of each file, and its rows without an instant if days are chosen."""
        rows_of_files = self.ask(self.sql(plan).counting(FILE))
        return {file: (int(rows), int(undated or 0)) for rows, undated, file in rows_of_files}

    def odd_instant(self, plan: Plan) -> str:
        """Return a timestamp that is not an instant, as the usage has it; empty if there is none."""
        values = self.ask(self.sql(plan).odd_instant())
        return str(values[0][0] or "") if values else ""
