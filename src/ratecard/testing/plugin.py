"""The pytest plugin: `pytest --rate-card FOLDER` runs every example and every law of every model."""

from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ratecard.base.errors import InstantError, QuoteError, TableError
from ratecard.base.instants import read_instant, utc
from ratecard.base.money import text
from ratecard.card import RateCard
from ratecard.examples import faults_of, request_of_example
from ratecard.load.folder import read_folder, tables_from
from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.contract import Contract
from ratecard.tables.version import Example, Version
from ratecard.testing.case import BrokenLawError, Case, Quoted, expect
from ratecard.testing.laws import LAWS, MAX_EXAMPLES, check
from ratecard.testing.offer import Request


class CheckItem(NamedTuple):
    """One check of the tables, its `file:line` and its name; `run` raises `BrokenLawError`."""

    file: str
    line: int
    name: str
    run: Callable[[], None]


def checks_of(
    card: RateCard,
    files: Mapping[str, bytes],
    at: datetime | date | None = None,
    *,
    max_examples: int = MAX_EXAMPLES,
) -> Iterator[CheckItem]:
    """Return every example and every law of every version, on its first day; with `at`, of the versions in effect then.

    Then come the examples of contracts; with `at`, of those that hold then.
    `files` are the tables of the card by name, as bytes; each law is tried with `max_examples` requests.
    """
    for prices, model, version in _versions(card.listed._unproved, at):
        case = Case(prices, model.model, files)
        file, _, line = version.place.rpartition(":")
        name = f"{model.model}::{version.effective}"
        for number, example in enumerate(version.examples, 1):
            _, _, place = example.place.rpartition(":")
            yield CheckItem(file, int(place), f"{name}::example {number}", partial(check_example, case, example))
        for law in LAWS:
            if law.applies(case):
                run = partial(check, law, case, max_examples=max_examples)
                yield CheckItem(file, int(line), f"{name}::law {law.name}", run)
    for contract in card.contracts.values():
        held = contract.examples if at is None or contract.holds(utc(at)) else ()
        for number, example in enumerate(held, 1):
            file, _, line = example.place.rpartition(":")
            run = partial(_check_under, card, contract.model_copy(update={"examples": (example,)}))
            yield CheckItem(file, int(line), f"{contract.contract}::example {number}", run)


def check_example(case: Case, example: Example) -> None:
    """Check that an example has the total that its table states. Raises `BrokenLawError`."""
    request, line = Request(*request_of_example(case.found, example)), f"  {case.shown(example.place)}"
    try:
        quoted = Quoted(request, request.price(case.prices), case)
    except QuoteError as error:
        words = f"The example says {text(example.total)}, but it is refused: {error}"
        raise BrokenLawError(f"{words}\n{line}\n  {request}") from None
    words = f"The example says {text(example.total)}, but the rates give {text(quoted.quote.total)}\n{line}"
    expect(quoted.quote.total == example.total, words, quoted)


def _check_under(card: RateCard, contract: Contract) -> None:
    if faults := faults_of(card._unproved.work(contract)):
        raise BrokenLawError("\n".join(map(str, faults)))


def _versions(card: RateCard, at: datetime | date | None) -> Iterator[tuple[PriceBook, AnyModel, Version]]:
    if at is not None:
        prices = card.at(at)
        yield from ((prices, model, version) for model, version in prices._in_effect_all())
        return
    for model in card.tables.models.values():
        for version in model.versions:
            if not model.retired_at(version.effective):
                yield card.at(version.effective), model, version


class RateCardPlugin:
    """The pytest plugin that collects the checks of a folder of tables; other tests only if the command names some."""

    def __init__(self, config: pytest.Config) -> None:
        self.folder = Path(config.invocation_params.dir, config.getoption("rate_card"))
        self.at = _read_instant(config.getoption("rate_card_at"))
        self.max_examples = _read_count(config.getoption("rate_card_examples"))
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Add the tables to what the session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self._tables(collector)]
        return report

    def _tables(self, session: pytest.Session) -> Iterator[pytest.Collector]:
        """Yield each file with its checks. Raises `pytest.UsageError` if the folder cannot be loaded."""
        try:
            files = read_folder(self.folder)
            checks = list(checks_of(RateCard(tables_from(files)), files, self.at, max_examples=self.max_examples))
        except TableError as error:
            raise pytest.UsageError(f"--rate-card {self.folder} cannot be loaded:\n{error}") from None
        for name, of_file in groupby(checks, attrgetter("file")):
            file: TableFile = TableFile.from_parent(session, name=name, path=self.folder / name, nodeid=name)
            file.checks = list(of_file)
            yield file


class TableFile(pytest.Collector):
    """The checks of one file of tables."""

    checks: list[CheckItem]

    def collect(self) -> Iterator[pytest.Item]:
        """Return one item for each check."""
        for planned in self.checks:
            item: TableItem = TableItem.from_parent(self, name=planned.name)
            item.check = planned
            yield item


class TableItem(pytest.Item):
    """One example, or one law for one model."""

    check: CheckItem

    def runtest(self) -> None:
        """Run the check."""
        self.check.run()

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the `file:line` in the tables."""
        return self.path, self.check.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message of a broken law; a traceback for any other error."""
        if isinstance(excinfo.value, BrokenLawError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def _read_instant(given: str | None) -> datetime | None:
    """Read `--rate-card-at`: a date, or an instant with its offset from UTC. Raises `pytest.UsageError`."""
    try:
        return None if given is None else read_instant(given)
    except InstantError as error:
        raise pytest.UsageError(f"--rate-card-at {error}") from None


def _read_count(count: int | None) -> int:
    """Read `--rate-card-examples`: a number above zero. Raises `pytest.UsageError`."""
    if count is not None and count < 1:
        raise pytest.UsageError(f"--rate-card-examples {count}: write a number above zero")
    return count or MAX_EXAMPLES
