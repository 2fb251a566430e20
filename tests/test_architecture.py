"""The rules of ARCHITECTURE.md, read from the source: layers, third parties, floats, contexts, names, docstrings."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import ratecard
from layers_picture import PICTURE, picture
from ratecard.methods import METHODS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ratecard"

# Third parties and the only packages that may import them.
HOME_OF = {
    "anyio": {"server"},
    "av": {"probe"},
    "babel": {"cli", "simulation", "statements", "whatif"},
    "brotli": {"server"},
    "click": {"cli"},
    "duckdb": {"simulation"},
    "fastapi": {"server", "processes"},
    "httpcore": {"probe"},
    "httpx": {"probe"},
    "genai_prices": {"price_lists"},
    "hypothesis": {"testing"},
    "itsdangerous": {"server"},
    "jinja2": {"pages"},
    "msgspec": {"base", "line_items"},
    "nicegui": {"whatif"},
    "obstore": {"simulation"},
    "plotly": {"simulation"},
    "prometheus_client": {"server", "processes"},
    "py4j": {"simulation"},
    "pyarrow": {"simulation", "statements"},
    "pyspark": {"simulation"},
    "pytest": {"testing"},
    "rich": {"cli"},
    "sqlalchemy": {"ledger"},
    "starlette": {"server", "processes", "whatif"},
    "uvicorn": {"processes"},
    "watchfiles": {"server"},
    "xlsxwriter": {"simulation", "statements"},
    "yaml": {"load"},
}

# Floats of callers may be recognised, but nothing else may be done with them; each exception has its reason.
FLOAT_NAMES = {
    "line_items/source_video.py": "callers may send a float; it is read by its shortest text",
    "requests/fields.py": "callers may send a float; it is read by its shortest text",
    "cli/simulate_progress.py": "how far a simulation is, in percent and seconds",
    "simulation/groups/engines/spark_engine.py": "how far Spark is, in percent",
    "simulation/progress.py": "how far a simulation is, in percent",
    "simulation/answers/volume.py": "callers may send an elasticity as a float; it is read by its shortest text",
    "base/messages.py": "says whether a number that a caller sent is NaN",
}
FLOAT_LITERALS = {
    "cli/simulate_progress.py": "how far a simulation is, in percent and seconds",
    "simulation/groups/engines/spark_engine.py": "how far Spark is, in percent",
    "simulation/progress.py": "how far a simulation is, in percent",
    "base/suggestions.py": "how alike two words are; no money",
}

# Babel computes in the host's context, so it must be given another one.
CONTEXT_OF_OUR_OWN = {"simulation/report/figures.py"}

# Data classes that are not frozen or have no slots.
_KEEPS_WHAT_IS_ASKED = "keeps what is computed at its first use"
NOT_FROZEN = {
    "BuiltFolder": "data of models is removed when a model is made",
    "TextFile": "is filled as the file is read",
}
WITHOUT_SLOTS = {"PricedModel": _KEEPS_WHAT_IS_ASKED, "Tables": _KEEPS_WHAT_IS_ASKED}
# `zip` of lists of unlike length.
CUT_SHORT = {
    "simulation/amounts.py": "a shape without a type has no sums",
    "simulation/answers/comparison.py": "a shape without a type has no sums",
    "testing/laws/video.py": "another law says that each charge has one line",
}

# Public names with two definitions, each with the reason for both.
_COMMAND = "a command of the command line is named as the function that it calls"
_ENGINE = "each engine answers the same question in its own language"
DEFINED_TWICE = {
    "Limits": "`ratecard.probe.Limits` is public, and `limits.yaml` is the API's own word",
    "check": _COMMAND,
    "column_type": _ENGINE,
    "demo_usage": _COMMAND,
    "explain": _COMMAND,
    "main": "where a process begins: the command line, and the worker that reads a video",
    "open_usage": _ENGINE,
    "rollup": _COMMAND,
    "simulate": _COMMAND,
    "statement": _COMMAND,
}
# Packages that only certain targets install: `make test` collects every module of the tests without them.
OF_OTHER_TARGETS = {"anthropic", "boto3", "botocore", "genai_prices", "google", "litellm", "moto", "py4j", "pyspark"}
# A name of a package that means the module of this name.
MEANT_AS_THE_MODULE = {"laws"}


@cache
def nodes() -> tuple[tuple[str, tuple[ast.AST, ...]], ...]:
    """(path below the package, all of its syntax tree) of every module."""
    return tuple((path, tuple(ast.walk(tree))) for path, tree in modules())


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """(path below the package, syntax tree) of every module; read once, and not changed by any test."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple((path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def package_of(name: str) -> str:
    """The package of a path, or of a dotted name without `ratecard`: its first part."""
    return name.replace("/", ".").removesuffix(".py").split(".")[0]


def imports(parts: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that parts of a module import, for types too."""
    for node in parts:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the package in full"
            yield node.lineno, node.module or ""
            if (node.module or "").split(".")[0] == "ratecard":
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def lint_imports(folder: Path) -> "subprocess.CompletedProcess[str]":
    """Return the verdict of the contracts in pyproject.toml on the package in a folder."""
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command(sys.argv[1:])"
    command = [sys.executable, "-c", code, "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}
    )


def test_packages_import_down_only() -> None:
    done = lint_imports(PACKAGE.parent)
    assert done.returncode == 0, done.stdout


# By module: an import that goes up, and what is said of it.
UPWARDS = {
    "views/schema.py": ("from ratecard.review import report", "views is not allowed to import ratecard.review"),
    "tables/rate.py": (
        "if TYPE_CHECKING:\n    from ratecard.card import RateCard",
        "tables is not allowed to import ratecard.card",
    ),
    "load/folder.py": (
        "def late() -> None:\n    from ratecard.pricing.text import price_text",
        "load is not allowed to import ratecard.pricing",
    ),
    "simulation/rows/columns.py": (
        "import ratecard.simulation.answers.rows",
        "simulation.rows is not allowed to import ratecard.simulation.answers",
    ),
}


def test_an_import_that_goes_up_is_refused(tmp_path: Path) -> None:
    """Even inside of a function, or for types only."""
    shutil.copytree(PACKAGE, tmp_path / "ratecard", ignore=shutil.ignore_patterns("__pycache__"))
    for module, (planted, _) in UPWARDS.items():
        path = tmp_path / "ratecard" / module
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{planted}\n", encoding="utf-8")
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert not [words for _, words in UPWARDS.values() if words not in said]


def test_the_picture_is_that_of_the_contracts() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "make picture"


def test_no_package_hides_a_module_of_its_own() -> None:
    """`ratecard.server.router` was a function or a module, whichever was imported last."""
    wrong = []
    for path, tree in modules():
        if path.endswith("__init__.py"):
            inside = {each.stem for each in (PACKAGE / path).parent.iterdir() if each.stem != "__init__"}
            named = {
                alias.asname or alias.name
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            named |= {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
            wrong += [f"src/ratecard/{path}: {name}" for name in sorted(named & inside - MEANT_AS_THE_MODULE)]
    assert not wrong, "\n".join(wrong)


def test_a_public_name_means_one_thing() -> None:
    homes: dict[str, set[str]] = {}
    for path, tree in modules():
        for name in defined(tree):
            if not name.startswith("_"):
                homes.setdefault(name, set()).add(path)
    twice = {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1}
    unknown = [f"{name}: {', '.join(paths)}" for name, paths in sorted(twice.items()) if name not in DEFINED_TWICE]
    assert not unknown, "defined twice; rename one, or give a reason in DEFINED_TWICE:\n" + "\n".join(unknown)
    assert set(DEFINED_TWICE) == set(twice)


def test_a_module_defines_a_name_once() -> None:
    wrong = []
    for path, tree in modules():
        names = [name for name in defined(tree) if name not in overloaded(tree)]
        wrong += [f"src/ratecard/{path}: {name}" for name in sorted(set(names)) if names.count(name) > 1]
    assert not wrong, "\n".join(wrong)


def overloaded(tree: ast.Module) -> set[str]:
    """The functions that a module declares by overloads."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if any("overload" in ast.unparse(each) for each in node.decorator_list)}


def defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            bound = (name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
            yield from (name.id for name in bound if isinstance(name.ctx, ast.Store))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_no_module_imports_itself_in_a_circle() -> None:
    known = {name_of(path): {name for _, name in imports(parts)} for path, parts in nodes()}
    left = {name: needs & known.keys() for name, needs in known.items()}
    while ready := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in ready}
    assert not left, f"these import each other: {', '.join(sorted(left))}"


def name_of(path: str) -> str:
    return "ratecard." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_third_parties_stay_in_their_packages() -> None:
    wrong = []
    for path, parts in nodes():
        for line, name in imports(parts):
            homes = HOME_OF.get(name.split(".")[0])
            if homes and package_of(path) not in homes:
                wrong.append(f"src/ratecard/{path}:{line}: only {', '.join(homes)} may import {name}")
    assert not wrong, "\n".join(wrong)


def test_modules_of_tests_can_be_collected_with_what_make_test_installs() -> None:
    wrong = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        named = any(name in text for name in OF_OTHER_TARGETS)
        for line, name in imports(ast.parse(text).body if named else ()):
            if name.split(".")[0] in OF_OTHER_TARGETS:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: import {name} where it is used: it may be missing")
    assert not wrong, "\n".join(wrong)


def test_folders_of_tests_mirror_packages_or_say_why_not() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    folders = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir() and path.name != "__pycache__"}
    table = re.findall(r"^\| `tests/(\w+)` \| (.+?) \| (.+?) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    assert {name for name, _, _ in table} == folders - packages, "the table of CONTRIBUTING.md has the other folders"
    known = {f"`{name}`" for name in packages} | {"all", "none"}
    assert not [tests for _, tests, _ in table if not known.issuperset(tests.split(", "))]


def test_importing_the_library_loads_nothing_of_the_command_line_or_of_tests() -> None:
    others = {"click", "rich", "babel", "jinja2", "hypothesis", "pytest", "duckdb", "obstore", "pyarrow"}
    code = f"import ratecard, sys; print(sorted({others} & {{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_no_number_is_a_float() -> None:
    wrong = []
    for path, parts in nodes():
        recognised = {
            id(name)
            for call in parts
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
            for name in ast.walk(call.args[1])
        }
        for node in parts:
            named = isinstance(node, ast.Name) and node.id == "float" and id(node) not in recognised
            if named and path not in FLOAT_NAMES:
                wrong.append(f"src/ratecard/{path}:{node.lineno}: float is no type of ours")  # type: ignore[attr-defined]
            literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
            if literal and path not in FLOAT_LITERALS:
                wrong.append(f"src/ratecard/{path}:{node.lineno}: write a Decimal, not a float")  # type: ignore[attr-defined]
    assert not wrong, "\n".join(wrong)


def test_data_classes_are_frozen_and_have_slots() -> None:
    made = [
        (node.name, ast.unparse(call))
        for _, parts in nodes()
        for node in parts
        if isinstance(node, ast.ClassDef)
        for call in node.decorator_list
        if ast.unparse(call).startswith("dataclass")
    ]
    assert {name for name, words in made if "frozen=True" not in words} == NOT_FROZEN.keys()
    assert {name for name, words in made if "slots=True" not in words} == WITHOUT_SLOTS.keys()
    # The values of quotes, which msgspec makes: the collector of cycles need not look at them.
    values = [
        (node.name, {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords})
        for path, parts in nodes()
        for node in parts
        if isinstance(node, ast.ClassDef) and {"Struct", "_Value"} & {*map(ast.unparse, node.bases)}
    ]
    assert [name for name, said in values if said != {"frozen": "True", "gc": "False"}] == []


def test_lists_that_are_read_together_have_one_length() -> None:
    wrong = {
        f"src/ratecard/{path}:{node.lineno}: say strict=True"
        for path, parts in nodes()
        for node in parts
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip" and path not in CUT_SHORT
        if "strict=True" not in map(ast.unparse, node.keywords)
    }
    assert not wrong, "\n".join(sorted(wrong))


def test_no_price_is_a_default_in_code() -> None:
    """An option of a pricing method that a table leaves out changes no price: a number that would is required."""
    neutral: tuple[object, ...] = (None, (), {}, 0, 1, "exact")
    wrong = {
        f"{charge.__name__}.{name} = {default!r}"
        for charge in set(METHODS.values())
        for name, field in charge.model_fields.items()
        if not field.is_required() and (default := field.get_default(call_default_factory=True)) not in neutral
    }
    assert wrong == set()


def test_no_amount_depends_on_the_context_of_the_host() -> None:
    contexts = {"getcontext", "setcontext", "localcontext", "DefaultContext", "BasicContext", "ExtendedContext"}
    wrong = []
    for path, parts in nodes():
        if package_of(path) == "cli" or path in CONTEXT_OF_OUR_OWN:
            continue
        for node in parts:
            named = (
                {node.attr} if isinstance(node, ast.Attribute) else {node.id} if isinstance(node, ast.Name) else set()
            )
            if isinstance(node, ast.ImportFrom):
                named = {alias.name for alias in node.names}
            if named & contexts:
                wrong.append(f"src/ratecard/{path}:{getattr(node, 'lineno', 0)}: {named.pop()} belongs to the host")
    assert not wrong, "\n".join(wrong)


def test_every_public_name_says_what_it_is() -> None:
    silent = [
        name
        for name in ratecard.__all__
        if not (getattr(ratecard, name).__doc__ or "").strip()
        or (getattr(ratecard, name).__doc__ or "").startswith(f"{name}(")
    ]
    assert not silent, f"without a docstring: {silent}"
    assert ratecard.__all__ == sorted(ratecard.__all__)


def test_no_page_or_recipe_names_a_host_or_a_path_of_one_machine() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("*.toml")]
    # That page shows refused tables.
    pages += [path for path in (ROOT / "docs").glob("*.*") if path.name != "errors-in-tables.md"]
    pages += [ROOT / "Makefile", ROOT / "constraints.txt"]
    pages += [path for folder in (".ci", ".github") for path in (ROOT / folder).rglob("*") if path.is_file()]
    # Put together here, so that this file does not contain these words itself.
    words = ["-".join(parts) for parts in (("index", "url"), ("find", "links"))] + ["file:" + "//"]
    words += [f"/{folder}/" for folder in ("root", "home", "opt")]
    wrong = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in pages
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert not wrong, "\n".join(wrong)


def test_ci_runs_every_file_of_tests() -> None:
    """Each is among those of `make test`, or in a command of another target that `.ci/run` names."""
    makefile, ci = (ROOT / "Makefile").read_text(encoding="utf-8"), (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    ignored = re.findall(r"--ignore(?:-glob)?='?([^' \n]+)", re.search(r"^QUICK := (.*)$", makefile, re.MULTILINE)[1])  # type: ignore[index]
    commands = re.findall(r"^(test-[\w-]+):(?:.*\n)((?:\t.*\n)+)", makefile, re.MULTILINE)
    named = " ".join(lines for target, lines in commands if target in ci.split())
    elsewhere = {path for each in re.findall(r"tests/\S+\.py", named) for path in ROOT.glob(each)}
    every = set((ROOT / "tests").rglob("test_*.py"))
    assert elsewhere <= every
    slow = {path for path in every if any(path.match(each) or each in path.as_posix() for each in ignored)}
    assert slow
    assert not slow - elsewhere
