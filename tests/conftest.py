"""One card for the whole run: it is immutable."""

import gc
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import ratecard
from databases import new_database
from nightly import is_nightly
from shipped import CARD, remember_tables

if TYPE_CHECKING:
    from ratecard.ledger.store import Ledger

# The speed of the machine says nothing about the code. A commit that passes here passes everywhere: `make test` tries
# the same examples every time, and `make nightly` looks for new ones.
settings.register_profile(
    "any-speed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not is_nightly()
)
settings.load_profile("any-speed")


def pytest_configure() -> None:
    """Before the tests are imported, and with them whatever makes tables of files."""
    remember_tables()
    # The collector of cycles takes a third of the time in which pytest collects tests, and finds nothing there.
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave the 800,000 objects of modules and tests out of what the collector looks at in each test."""
    gc.freeze()
    gc.enable()
    # Tests leave little behind, so it is enough to look for cycles seldom.
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """Let the collector free everything at the end: what stays makes DuckDB print a list of its own leaked objects."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the source alone: what searches the tests for them finds none, and takes seconds."""
    collectors = yield
    return [each for each in collectors if type(each) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print what the browser shows when a test with a `page` fails: elsewhere, the screen cannot be looked at."""
    report = yield
    execute = getattr(getattr(item, "funcargs", {}).get("page"), "execute_script", None)
    if report.when == "call" and report.failed and execute is not None:
        fields = execute("return [...document.querySelectorAll('input')].map(e => e.ariaLabel + '=' + e.value)")
        report.sections.append(("The page", "\n".join([*fields, execute("return document.body.innerText")])))
    return report


@pytest.fixture(scope="session")
def card() -> ratecard.RateCard:
    return CARD


@pytest.fixture(scope="session")
def prices(card: ratecard.RateCard) -> ratecard.PriceBook:
    """Return the prices on the day of the 2,355 given quotes."""
    return card.at(datetime(2026, 9, 29, tzinfo=UTC))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    """The URL of a new database for a ledger."""
    with new_database(tmp_path) as url:
        yield url


@pytest.fixture
def ledger(database: str) -> Iterator["Ledger"]:
    with ratecard.ledger.open_ledger(database) as opened:
        yield opened
