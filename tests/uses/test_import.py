"""What `import ratecard` reaches, and what it loads for that."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ratecard

# These packages seem not to be installed.
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


# This imports every name of a module first, each module in a process that has not loaded the library yet.
EACH = """
import os, sys
import duckdb, pyarrow, pydantic, yaml
import ratecard
for home in sorted(set(ratecard._HOME_OF.values())):
    if not os.fork():
        for name in (name for name, module in ratecard._HOME_OF.items() if module == home):
            exec(f"from ratecard import {name}")
            assert vars(ratecard)[name] is getattr(ratecard, name) is locals()[name], name
        sys.exit()
    assert not os.wait()[1], home
"""


def test_each_name_is_imported_by_itself() -> None:
    assert run(EACH).stderr == ""


def test_type_checkers_see_every_name_and_its_module() -> None:
    tree = ast.parse(Path(ratecard.__file__).read_text(encoding="utf-8"))
    [for_types] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {
        alias.name: (node.module, alias.asname)
        for node in for_types.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {name: (f"ratecard.{module}", name) for name, module in ratecard._HOME_OF.items()}
    assert set(ratecard.__all__) == set(seen)  # the extras are installed here


def test_all_names_are_listed_before_they_are_loaded() -> None:
    code = "import ratecard; print(set(dir(ratecard)) >= set(ratecard.__all__), 'Quote' in vars(ratecard))"
    assert run(code).stdout == "True False\n"


@pytest.mark.parametrize("name", ["load_rate_cards", "_nothing", "__path__x"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    assert not hasattr(ratecard, name)
    with pytest.raises(AttributeError, match=f"module 'ratecard' has no attribute '{name}'"):
        getattr(ratecard, name)


def test_packages_are_reached_from_the_root() -> None:
    code = "import ratecard; print(ratecard.ledger.open_ledger.__name__, ratecard.tables.__name__)"
    assert run(code).stdout == "open_ledger ratecard.tables\n"


# Modules that a quote does not need, and that its start once loaded.
UNUSED = (
    "ratecard.accounts.keys",
    "ratecard.accounts.settlement",
    "ratecard.candidates",
    "ratecard.review",
    "ratecard.contracts",
    "ratecard.ledger",
    "ratecard.load.monthly",
    "ratecard.requests.usage",
    "ratecard.tables.contract",
    "ratecard.tables.monthly",
    "ratecard.tables.selection",
    "pickle",
)


def test_the_root_loads_nothing_and_a_quote_only_what_it_needs() -> None:
    quote = "ratecard.load_rate_card().at(date(2026, 10, 1)).quote_video({'model': 'ovi-image-to-video'})"
    code = (
        "import sys, ratecard; from datetime import date; "
        "print(sorted(name for name in sys.modules if name.startswith(('ratecard.', 'pydantic', 'yaml')))); "
        f"{quote}; print(sorted(name for name in sys.modules if name.startswith({UNUSED!r})))"
    )
    assert run(code).stdout == "[]\n[]\n"


def test_the_command_quote_loads_only_what_it_needs() -> None:
    code = (
        "import sys; from ratecard.cli import main; "
        "main(['quote', '--model', 'ovi-image-to-video'], standalone_mode=False); "
        f"print(sorted(name for name in sys.modules if name.startswith({UNUSED!r}) and name != 'pickle'))"
    )
    assert run(code).stdout.endswith("\n[]\n")


def test_no_validator_is_built_before_it_is_used() -> None:
    """Pydantic would build one for each class, most of them parts of others."""
    code = (
        "import ratecard.card, ratecard.requests.usage; from pydantic import BaseModel; "
        "classes = lambda kind: [each for one in kind.__subclasses__() for each in (one, *classes(one))]; "
        "print([each.__name__ for each in classes(BaseModel) "
        "if each.__module__.startswith('ratecard.') and each.__pydantic_complete__ "
        "and not each.__pydantic_generic_metadata__['parameters']])"
    )
    assert run(code).stdout == "[]\n"
