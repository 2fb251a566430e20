"""The result of a simulation: its answers, as tables, files and in a notebook."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.pace import read_pace
from ratecard.simulation.answers.volume import AnyElasticity, elasticities_of, volumes_of
from ratecard.simulation.report.figures import read_locale, read_share
from ratecard.simulation.report.notebook import html_of, text_of
from ratecard.simulation.report.report import Question, Report

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ratecard.simulation.answers.target import Reached


class Simulation(Answers):
    """Exact totals of usage under every side, as rows, tables of other libraries, and reports."""

    def to_arrow(self, answer: str = "groups") -> "pyarrow.Table":
        """Return an answer in Arrow: `groups`, `attribution`, `customers`, `discounts`, `margin` or `unpriced`.

        Keys come first, then `current` and each candidate by its name; amounts are decimals. Raises `SimulationError`
        for an unknown answer, and for amounts of more digits than a decimal of Arrow has.
        """
        from ratecard.simulation.report.frames import arrow_of

        return arrow_of(Report(self), answer)

    def to_pandas(self, answer: str = "groups") -> "pandas.DataFrame":
        """Return the same as a frame of pandas, whose amounts are `Decimal`."""
        return self.to_arrow(answer).to_pandas()

    def to_polars(self, answer: str = "groups") -> "polars.DataFrame":
        """Return the same as a frame of Polars, whose amounts are decimals. Polars has to be installed."""
        from ratecard.simulation.report.frames import polars_of

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
        `elasticities` and `volumes` are those of `expected`; `pace` is which of the last days a year is reckoned from
        (`30d`, `all`). Raises `SimulationError` for what cannot be written, or an unknown format.
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
        """Find the smallest factor on the rates that a candidate file scales that reaches `5%`, `margin=40%` or
        `50000/year`, to four decimals.

        The candidate is the only one of this simulation; the other arguments are those of `write`. Raises
        `SimulationError`.
        """
        from ratecard.simulation.answers.target import read_target, smallest_factor

        return smallest_factor(
            *(self, Path(candidate), read_target(target)),
            elasticities=elasticities_of(elasticities or {}),
            volumes=volumes_of(volumes),
            pace=self.pace(read_pace(pace)),
        )

    def __repr__(self) -> str:
        """Return what was simulated, and the answer in a sentence."""
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)
