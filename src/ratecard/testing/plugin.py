"""What `pytest --rate-card FOLDER` collects: every example and every law of every model, each as its own test item."""

from collections.abc import Generator, Iterator
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from ratecard.card import RateCard
from ratecard.load.folder import read_folder, tables_from
from ratecard.testing.case import BrokenLawError
from ratecard.testing.checks import Check, checks_of
from ratecard.testing.laws import MAX_EXAMPLES
from ratecard.words.errors import InstantError, TableError


class RateCardPlugin:
    """Adds the checks of a folder of tables to what is collected.

    Without paths on the command line nothing else is collected.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.folder = Path(config.invocation_params.dir, config.getoption("rate_card"))
        self.at = read_instant(config.getoption("rate_card_at"))
        self.max_examples = read_count(config.getoption("rate_card_examples"))
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The tables are collected beside whatever the session finds."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self._tables(collector)]
        return report

    def _tables(self, session: pytest.Session) -> Iterator[pytest.Collector]:
        """The files of the folder with their checks. Raises `pytest.UsageError` where it cannot be loaded."""
        try:
            files = read_folder(self.folder)
            checks = list(checks_of(RateCard(tables_from(files)), files, self.at, max_examples=self.max_examples))
        except TableError as error:
            raise pytest.UsageError(f"--rate-card {self.folder} cannot be loaded:\n{error}") from None
        except InstantError as error:
            raise pytest.UsageError(f"--rate-card-at {error}") from None
        for name, each in groupby(checks, attrgetter("file")):
            file: TableFile = TableFile.from_parent(session, name=name, path=self.folder / name, nodeid=name)
            file.checks = list(each)
            yield file


class TableFile(pytest.Collector):
    """The checks of one file of tables."""

    checks: list[Check]

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each."""
        for each in self.checks:
            yield TableItem.of(self, each)


class TableItem(pytest.Item):
    """One example, or one law for one model."""

    check: Check

    @classmethod
    def of(cls, parent: TableFile, check: Check) -> "TableItem":
        """The item of a check."""
        item: TableItem = cls.from_parent(parent, name=check.name)
        item.check = check
        return item

    def runtest(self) -> None:
        """Check it."""
        self.check.run()

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where in the tables it stands."""
        return self.path, self.check.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was asked, its line items and their lines in the tables; a traceback for anything unforeseen."""
        if isinstance(excinfo.value, BrokenLawError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def read_instant(given: str | None) -> datetime | date | None:
    """`--rate-card-at`: a date, or an instant with its offset from UTC. Raises `pytest.UsageError`."""
    if given is None:
        return None
    try:
        return date.fromisoformat(given) if len(given) == len("2026-10-01") else datetime.fromisoformat(given)
    except ValueError:
        words = "is not an instant. Write a date or an instant, like 2026-10-01T00:00:00Z"
        raise pytest.UsageError(f"--rate-card-at '{given}' {words}") from None


def read_count(given: int | None) -> int:
    """`--rate-card-examples`: a number above zero. Raises `pytest.UsageError`."""
    if given is not None and given < 1:
        raise pytest.UsageError(f"--rate-card-examples {given}: write a number above zero")
    return given or MAX_EXAMPLES
