"""What `import ratecard` reaches, and what it loads for that."""

import subprocess
import sys

import pytest

# As if these packages were not installed.
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r})); "


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("server", "router"), ("history", "usage_history_router"), ("probe", "probe"), ("testing", "LAWS")],
)
def test_a_package_of_an_extra_is_reached_by_its_name_and_loaded_only_then(name: str, attribute: str) -> None:
    code = f"import ratecard, sys; assert 'ratecard.{name}' not in sys.modules; ratecard.{name}.{attribute}"
    assert run(code).stderr == ""


@pytest.mark.parametrize(("name", "missing"), [("server", "fastapi"), ("testing", "hypothesis")])
def test_a_package_without_its_extra_says_what_to_install(name: str, missing: str) -> None:
    done = run(WITHOUT.format(names=[missing]) + f"import ratecard; ratecard.{name}")
    assert f"pip install 'ratecard[{name}]'" in done.stderr.splitlines()[-1]


def test_all_names_simulate_where_its_extra_is_installed() -> None:
    assert run("from ratecard import *; simulate").stderr == ""


def test_everything_is_imported_without_the_extra() -> None:
    """A finder that knows neither of them, as where they are not installed."""
    code = (
        "import sys, importlib.util as util; real = util.find_spec; "
        "util.find_spec = lambda name, *more: None if name in ('duckdb', 'pyarrow') else real(name, *more); "
        "from ratecard import *; import ratecard; print('simulate' in ratecard.__all__, load_rate_card.__name__)"
    )
    assert run(code).stdout == "False load_rate_card\n"
