"""Without the extra, a simulation says what to install; everything else works."""

import subprocess
import sys

import pytest

import ratecard

# One process tries all packages: each in turn as if it were not installed.
WITHOUT = """
import sys
import ratecard
from click.testing import CliRunner
from ratecard.cli import main

def asked(*names):
    for name in names:
        sys.modules[name] = None
        yield name
        del sys.modules[name]

for _ in asked("duckdb", "pyarrow"):
    try:
        from ratecard import simulate
    except ratecard.RateCardError as error:
        print(error)
for _ in asked("duckdb", "pyarrow", "plotly", "xlsxwriter"):
    done = CliRunner().invoke(main, ["simulate", "pyproject.toml", "--candidate", "2026-10-01"])
    print(done.exit_code, done.stderr.splitlines()[-1])
"""


def test_each_package_that_is_missing_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        *(f"{name} is not installed. Install it: pip install 'ratecard[simulate]'" for name in ("duckdb", "pyarrow")),
        *(
            f"2 Error: A simulation needs {name}: pip install 'ratecard[simulate]'"
            for name in ("duckdb", "pyarrow", "plotly", "xlsxwriter")
        ),
    ], done.stderr


def test_nothing_else_of_the_library_is_made_up() -> None:
    with pytest.raises(AttributeError, match="module 'ratecard' has no attribute"):
        ratecard.simulation_of_the_weather  # noqa: B018
