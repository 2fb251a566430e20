"""Without the extra, a simulation says what to install; everything else works."""

import subprocess
import sys

import pytest

# As if the package were not installed.
WITHOUT = "import sys; sys.modules['{name}'] = None; "


@pytest.mark.parametrize("name", ["duckdb", "pyarrow"])
def test_the_library_says_what_to_install(name: str) -> None:
    code = WITHOUT.format(name=name) + "import ratecard; ratecard.load_rate_card; from ratecard import simulate"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        f"{name} is not installed. Install it: pip install 'ratecard[simulate]'"
    )


@pytest.mark.parametrize("name", ["duckdb", "pyarrow", "plotly", "xlsxwriter"])
def test_the_command_says_what_to_install(name: str) -> None:
    code = WITHOUT.format(name=name) + "from ratecard.cli import main; main(sys.argv[1:])"
    words = ["simulate", "pyproject.toml", "--candidate", "2026-10-01"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"A simulation needs {name}: pip install 'ratecard[simulate]'" in done.stderr


def test_nothing_else_of_the_library_is_made_up() -> None:
    code = "import ratecard; ratecard.simulation_of_the_weather"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "AttributeError: module 'ratecard' has no attribute" in done.stderr
