"""The groups in a storage that Spark knows (`s3a://...`, `hdfs://...`), written by Spark."""

from ratecard.simulation.report.groups_file import parquet_value
from ratecard.simulation.report.groups_sql import groups_query
from ratecard.simulation.report.report import Report


def write_groups(report: Report, place: str, master: str | None = None) -> None:
    """Write every group as a row: Parquet, CSV or JSON lines, by the ending; of Parquet, amounts are decimals.

    It becomes a folder of that name, whole or not at all. Raises `SimulationError`, also where something stands there.
    """
    from ratecard.simulation.engines.spark_files import write_table

    source, fields = groups_query(report)
    chosen = ", ".join(f'{parquet_value(field)} AS "{field.name.replace(chr(34), chr(34) * 2)}"' for field in fields)
    connection = report.simulation.comparison.roll_up.workspace.connection
    write_table(connection.sql(f"SELECT {chosen} FROM {source}").to_arrow_table(), place, master)
