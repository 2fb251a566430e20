"""Runs the queries of groups that DuckDB reads, one while the groups of another are used."""

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ratecard.simulation.groups.roll_up_sql import Grouping
from ratecard.simulation.progress import OPENED, READ, Progress, within
from ratecard.simulation.workspace.workspace import Workspace, readable


def grouped(
    workspace: Workspace, groupings: Sequence[Grouping], progress: Progress, rows: int | None = None
) -> Generator[tuple[Grouping, str]]:
    """Run the queries of groupings, each into a table; the next one runs while a table is used."""
    connection, share = workspace.connection, (READ - OPENED) / max(len(groupings), 1)

    def read(number: int) -> tuple[Grouping, str]:
        grouping, table = groupings[number], workspace.new_table("groups")
        tell = within(progress, OPENED + share * number, OPENED + share * (number + 1), rows)
        tell(f"Reading usage: {grouping.name}", connection.query_progress)
        with readable():
            connection.execute(f"CREATE TABLE {table} AS {grouping.query}")
        return grouping, table

    with ThreadPoolExecutor(1) as pool:
        reading = [pool.submit(read, number) for number in range(len(groupings))]
        try:
            yield from (each.result() for each in reading)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            connection.interrupt()
            raise
