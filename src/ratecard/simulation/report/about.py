"""What made a report, so that it can be made again: command, versions, digests, row counts."""

from collections.abc import Iterator
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
        *_read(report),
        ("Grouped by", ", ".join(simulation.by)),
        ("Versions", f"ratecard {version('ratecard')}, DuckDB {version('duckdb')}"),
        ("Rounding", _rounding(report.figures.places)),
    ]
    return Table("About", (Column("What"), Column("Is")), tuple(rows))


def _read(report: Report) -> Iterator[tuple[str, str]]:
    """The files that were read, their columns, and which of the rows."""
    reading, count = report.simulation.reading, report.figures.count
    source = reading.source
    if source.files:
        files = f"{count(source.files)} {'file' if source.files == 1 else 'files'}"
        yield "Usage", f"{files}, {count(source.bytes)} bytes, fingerprint {source.fingerprint}"
    if reading.chosen:
        words = f"{count(report.simulation.rows)} of {count(reading.found)} rows: {reading.chosen}"
        yield "Rows chosen", words
    named = (name if name == theirs else f"{name} (in the usage: {theirs})" for name, theirs in reading.columns.items())
    yield "Columns read", ", ".join(named)
    if reading.missing:
        missing = (f"{type_}: {', '.join(names)}" for type_, names in reading.missing.items())
        yield "Known columns that are missing", "; ".join(missing)
    if reading.unused:
        meant = (
            f"{name} (did you mean {reading.meant[name]}?)" if name in reading.meant else name
            for name in reading.unused
        )
        yield "Columns not used", ", ".join(meant)


def _rounding(places: int) -> str:
    return (
        f"Amounts are exact sums, shown with {places} decimals by the largest remainder, so that every column adds up"
        " to its total. Charts plot the rounded amounts."
    )
