"""The result of a simulation: its answers, as tables, files and in a notebook."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ratecard.base.errors import SimulationError
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.volume import AnyElasticity, elasticities_of, read_pace, volumes_of
from ratecard.simulation.report.figures import Kind, Table, Value, read_locale, read_share, written
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.report.sentences import answers, scope
from ratecard.simulation.report.tables import changes_of, changing_most

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ratecard.simulation.answers.target import Reached


_MODELS, _WIDTH = 10, 160
_NUMBER = ' style="text-align: right; font-variant-numeric: tabular-nums"'


def _table(report: Report, table: Table) -> str:
    changes = changes_of(table)
    most = max((change.copy_abs() for change in changes), default=Decimal(0))
    head = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(_cells(report, table, row))}<td>{_bar(change, most)}</td></tr>"
        for row, change in zip(table.rows, changes, strict=True)
    )
    last = "".join(_cells(report, table, table.total or ()))
    return f"<table><thead><tr>{head}<th></th></tr></thead><tbody>{rows}<tr>{last}<td></td></tr></tbody></table>"


def _cells(report: Report, table: Table, row: tuple[Value, ...]) -> Iterator[str]:
    for value, column in zip(row, table.columns, strict=True):
        number = "" if column.kind is Kind.TEXT else _NUMBER
        yield f"<td{number}>{escape(written(value, column.kind, report.figures))}</td>"


def _bar(change: Decimal, most: Decimal) -> str:
    """Draw a bar whose length is the change's share of the greatest one."""
    if not change:
        return ""
    width = max(1, round(_WIDTH * Fraction(change.copy_abs()) / Fraction(most)))
    colour = "#1c62a8" if change > 0 else "#b4460f"
    return f'<div style="width: {width}px; height: .8em; background: {colour}"></div>'


class Simulation(Answers):
    """Exact totals of usage under every side, as rows, tables of other libraries, and reports."""

    def to_arrow(self, answer: str = "groups") -> "pyarrow.Table":
        """Return an answer in Arrow: `groups`, `attribution`, `customers`, `discounts`, `margin` or `unpriced`.

        Keys come first, then `current` and each candidate by its name; amounts are decimals. Raises `SimulationError`
        for an unknown answer, and for amounts of more digits than a decimal of Arrow has.
        """
        from ratecard.simulation.report.groups import arrow_of

        return arrow_of(Report(self), answer)

    def to_pandas(self, answer: str = "groups") -> "pandas.DataFrame":
        """Return the same as a frame of pandas, whose amounts are `Decimal`."""
        return self.to_arrow(answer).to_pandas()

    def to_polars(self, answer: str = "groups") -> "polars.DataFrame":
        """Return the same as a frame of Polars, whose amounts are decimals. Polars has to be installed."""
        from ratecard.simulation.report.groups import polars_of

        return cast("polars.DataFrame", polars_of(self.to_arrow(answer)))

    def write(
        self,
        *paths: str | Path,
        elasticities: Mapping[str, AnyElasticity] | None = None,
        rise: str = "10%",
        bridge: tuple[str, str] | None = None,
        volumes: Mapping[str, Decimal | str] | Iterable[str] = (),
        pace: str = "90d",
        locale: str = "en_US",
    ) -> None:
        """Write a report: each path as .html, .xlsx, .csv, .parquet or .json; each file whole or not at all.

        `rise` is the share of a customer's payments above which a rise is counted; `bridge` names two periods;
        `elasticities` and `volumes` are those of `expected`; `pace` is the number of last days that are scaled to a
        year (`30d`, `all`). Raises `SimulationError` for a report that cannot be written, or an unknown format.
        """
        from ratecard.simulation.report.output import write

        elastic, days = elasticities_of(elasticities or {}), read_pace(pace)
        question = Question("", elastic, read_share(rise), bridge=bridge, volumes=volumes_of(volumes), pace=days)
        write(Report(self, question, read_locale(locale)), [Path(path) for path in paths])

    def reach(
        self,
        candidate: str | Path,
        target: str,
        *,
        elasticities: Mapping[str, AnyElasticity] | None = None,
        volumes: Mapping[str, Decimal | str] | Iterable[str] = (),
        pace: str = "90d",
    ) -> "Reached":
        """Find the smallest factor, to four decimals, that reaches a target: `5%`, `margin=40%` or `50000/year`.

        It multiplies the rates that the candidate file scales. The candidate is the only one of this simulation; the
        other arguments are those of `write`. Raises `SimulationError`.
        """
        from ratecard.simulation.answers.target import read_target, smallest_factor

        return smallest_factor(
            *(self, Path(candidate), read_target(target)),
            elasticities=elasticities_of(elasticities or {}),
            volumes=volumes_of(volumes),
            pace=self.pace(read_pace(pace)),
        )

    def __repr__(self) -> str:
        """Return `<Simulation of 240 rows, 234 priced, by model, day: Revenue rises by ...>`; or that it is closed."""
        try:
            report = Report(self)
            counted = f"{report.figures.counted(self.rows, 'row')}, {report.figures.count(self.priced)} priced"
            sentences = " ".join(answers(report))
        except SimulationError as error:
            return f"<Simulation: {error}>"
        by = f", by {', '.join(self.by)}" if self.by else ""
        return f"<Simulation of {counted}{by}: {sentences}>"

    def _repr_html_(self) -> str:
        """Return the answers in sentences, and the models that change most."""
        report = Report(self)
        parts = [f"<p><b>{escape(words)}</b></p>" for words in answers(report)]
        parts.append(f"<p>{escape(scope(report))}</p>")
        parts += [_table(report, changing_most(report, "model", _MODELS, candidate)) for candidate in report.candidates]
        return "".join(parts)
