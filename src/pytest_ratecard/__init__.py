"""The command line options of the pytest plugin; `ratecard.testing.plugin` does the work.

A package of its own, because pytest imports it in every run: a run without `--rate-card` imports nothing of ratecard,
and coverage of the library can be measured with the plugin installed.
"""

from importlib import import_module
from importlib.util import find_spec

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--rate-card` and its options."""
    group = parser.getgroup("ratecard", "rate tables")
    group.addoption(
        "--rate-card",
        metavar="FOLDER",
        help="Check the rate tables of FOLDER: every example, and every law of ratecard.testing for every model. "
        "Without paths nothing else is run.",
    )
    group.addoption(
        "--rate-card-at",
        metavar="INSTANT",
        help="Check the versions in effect at this date or instant only; all versions, each on its first day, if left "
        "out.",
    )
    group.addoption(
        "--rate-card-examples",
        metavar="NUMBER",
        type=int,
        help="Try each law on each model with this many random requests, always the same ones; 10 if left out.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin if the option is given."""
    if config.getoption("rate_card") is None:
        for name in ("rate_card_at", "rate_card_examples"):
            if config.getoption(name) is not None:
                raise pytest.UsageError(f"--{name.replace('_', '-')} goes with --rate-card FOLDER")
        return
    if find_spec("hypothesis") is None:
        raise pytest.UsageError("--rate-card needs hypothesis: pip install 'ratecard[testing]'")
    plugin = import_module("ratecard.testing.plugin").RateCardPlugin(config)
    config.pluginmanager.register(plugin, "ratecard-tables")
