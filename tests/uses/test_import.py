"""What `import ratecard` reaches, and what it loads for that."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ratecard

# These packages seem not to be installed.
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r})); "


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_a_ledger_in_files_needs_no_extra() -> None:
    code = "import ratecard.ledger as ledger; print(ledger.ledger_csv([])); ledger.open_ledger('sqlite:///x')"
    done = run(WITHOUT.format(names=["sqlalchemy"]) + code)
    assert done.stdout.startswith("timestamp,")
    assert "a ledger in a database needs sqlalchemy: pip install 'ratecard[server]'" in done.stderr


@pytest.mark.parametrize(("name", "missing"), [("server", "fastapi"), ("testing", "hypothesis")])
def test_a_package_without_its_extra_says_what_to_install(name: str, missing: str) -> None:
    done = run(WITHOUT.format(names=[missing]) + f"import ratecard; ratecard.{name}")
    assert f"pip install 'ratecard[{name}]'" in done.stderr.splitlines()[-1]


def test_everything_is_imported_without_the_extra() -> None:
    """A finder that knows neither of them, as where they are not installed."""
    code = (
        "import sys, importlib.util as util; real = util.find_spec; "
        "util.find_spec = lambda name, *more: None if name in ('duckdb', 'pyarrow') else real(name, *more); "
        "from ratecard import *; import ratecard; print('simulate' in ratecard.__all__, load_rate_card.__name__)"
    )
    assert run(code).stdout == "False load_rate_card\n"


# Each of its arguments is run in a process of its own, which has loaded what others wrote, and nothing of the library.
EACH = """
import os, sys, warnings
import duckdb, fastapi, hypothesis, pyarrow, pydantic, yaml
# Python 3.12 and newer warn of the threads that wait in these libraries: none of them holds a lock here.
warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
for code in sys.argv[1:]:
    if not os.fork():
        exec(code)
        os._exit(0)
    assert not os.wait()[1], code
"""
# By the name of a package that is loaded when it is asked for: a name in it.
INSIDE = {
    "history": "usage_history_router", "ledger": "open_ledger", "probe": "probe", "server": "router",
    "tables": "__name__", "testing": "LAWS",
}  # fmt: skip


def test_each_name_is_reached_by_itself_and_loaded_only_then() -> None:
    """The names of a module together: no other module of the library is loaded before it."""
    code = "import ratecard; from ratecard import {0}; assert vars(ratecard)['{0}'] is getattr(ratecard, '{0}') is {0}"
    modules: dict[str, list[str]] = {}
    for name, module in ratecard._HOME_OF.items():
        modules.setdefault(module, []).append(code.format(name))
    package = "import ratecard; assert 'ratecard.{0}' not in sys.modules; ratecard.{0}.{1}"
    packages = (package.format(*each) for each in INSIDE.items())
    assert run(EACH, *map("\n".join, modules.values()), *packages, "from ratecard import *; simulate").stderr == ""


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


def test_the_modules_of_accounts_are_loaded_with_their_names() -> None:
    code = (
        "import ratecard.accounts, sys; print([name for name in sys.modules if name.startswith('ratecard.accounts.')])"
    )
    assert run(code).stdout == "[]\n"


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
