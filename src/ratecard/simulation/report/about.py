"""What made a report, so that it can be made again: command, versions, digests, row counts."""

from importlib.metadata import version

from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Table


def about_table(report: Report) -> Table:
    """Everything that names the input and the program."""
    simulation, count = report.simulation, report.figures.count
    rows = [("Command", report.question.command)] if report.question.command else []
    rows += [
        (f"Prices: {name}", f"{side.label}, tables {side.card.digest}")
        for name, side in zip(report.names, simulation.sides, strict=True)
    ]
    if (costs := simulation.costs) is not None:
        rows.append(("Costs", costs.about))
    rows += [
        ("Rows", f"{count(simulation.rows)} = {count(simulation.priced)} priced + {count(report.unpriced)} not priced"),
        ("Grouped by", ", ".join(simulation.by)),
        ("Versions", f"ratecard {version('ratecard')}, DuckDB {version('duckdb')}"),
        ("Rounding", _rounding(report.figures.places)),
    ]
    return Table("About", (Column("What"), Column("Is")), tuple(rows))


def _rounding(places: int) -> str:
    return (
        f"Amounts are exact sums, shown with {places} decimals by the largest remainder, so that every column adds up"
        " to its total. Charts plot the rounded amounts."
    )
