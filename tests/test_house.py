"""The rules of the house (ARCHITECTURE.md), read from the source: floors, third parties, floats, sizes, docstrings."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ratecard

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ratecard"

# Every other room is on floor 3, the uses.
FLOORS = {"words": 0, "tables": 1, "load": 2, "rating": 2, "doors": 4}
USES = 3
# Rooms of one floor that do not know each other.
APART = {("load", "rating"), ("rating", "load")}
# `python -m ratecard` is a door too, and so is the test kit.
DOORS = {"doors", "testing", "__main__", "server", "history", "whatif"}

# Third parties and the only rooms that know them.
HOME_OF = {"yaml": {"load"}, "click": {"doors"}, "rich": {"doors"}, "babel": {"doors", "simulation"}}
HOME_OF |= {"hypothesis": {"testing"}, "pytest": {"testing"}}
HOME_OF |= {"av": {"probe"}, "httpcore": {"probe"}, "httpx": {"probe"}}
HOME_OF |= {"duckdb": {"simulation"}, "pyarrow": {"simulation"}, "pyspark": {"simulation"}, "py4j": {"simulation"}}
HOME_OF |= {"plotly": {"simulation"}, "xlsxwriter": {"simulation"}}
HOME_OF |= {
    "fastapi": {"server", "history"},
    "starlette": {"server", "history", "whatif"},
    "nicegui": {"whatif"},
    "anyio": {"server"},
    "uvicorn": {"doors"},
}
HOME_OF |= {"sqlalchemy": {"ledger"}, "itsdangerous": {"history"}}
HOME_OF |= {"brotli": {"server"}, "prometheus_client": {"server"}, "watchfiles": {"server"}}

# A float is recognised, where a caller sends one, and nothing else; each exception has its reason.
FLOAT_NAMES = {
    "rating/source_video.py": "callers may send a float; it is read by its shortest text",
    "requests/fields.py": "callers may send a float; it is read by its shortest text",
    "doors/cli/simulate_progress.py": "how far a simulation is, in percent and seconds",
    "simulation/engines/spark_engine.py": "how far Spark is, in percent",
    "simulation/progress.py": "how far a simulation is, in percent",
    "simulation/volume.py": "callers may send an elasticity as a float; it is read by its shortest text",
    "words/wording.py": "says whether a number that a caller sent is NaN",
}
FLOAT_LITERALS = {
    "doors/cli/simulate_progress.py": "how far a simulation is, in percent and seconds",
    "simulation/engines/spark_engine.py": "how far Spark is, in percent",
    "simulation/progress.py": "how far a simulation is, in percent",
    "words/suggest.py": "how alike two words are; no money",
}

# Babel computes in the host's context, so that it must be given another one.
CONTEXT_OF_OUR_OWN = {"simulation/report/figures.py"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """(path below the package, syntax tree) of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def room_of(name: str) -> str:
    """The room of a path or of a dotted name without `ratecard`: its first part."""
    return name.replace("/", ".").removesuffix(".py").split(".")[0]


def floor_of(room: str) -> int:
    return max(FLOORS.values()) if room in DOORS else FLOORS.get(room, USES)


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that a module imports, wherever in it; what only names types is left out."""
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name) and branch.test.id == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in (node for node in ast.walk(tree) if id(node) not in for_types):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the package in full"
            yield node.lineno, node.module or ""
            if node.module == "ratecard":
                yield from ((node.lineno, f"ratecard.{alias.name}") for alias in node.names)


def within(name: str) -> str | None:
    """The room of the package that an import leads to; None for another package, or for the package itself."""
    top, _, rest = name.partition(".")
    return room_of(rest) if top == "ratecard" and rest else None


def test_imports_go_down_only() -> None:
    wrong = []
    for path, tree in modules():
        here = room_of(path)
        for line, name in imports(tree):
            there = within(name)
            if there is None or there == here:
                continue
            up = floor_of(there) > floor_of(here)
            into_a_door = there in DOORS and here not in DOORS
            if up or into_a_door or (here, there) in APART:
                wrong.append(f"src/ratecard/{path}:{line}: {here} may not import {there}")
    assert not wrong, "\n".join(wrong)


def test_no_door_knows_another() -> None:
    wrong = []
    for path, tree in modules():
        here = path.split("/")
        for line, name in imports(tree):
            there = name.split(".")
            if (
                here[0] == "doors"
                and there[:2] == ["ratecard", "doors"]
                and there[2:3] != [here[1].removesuffix(".py")]
            ):
                wrong.append(f"src/ratecard/{path}:{line}: {here[1]} may not import {name}")
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_in_a_circle() -> None:
    known = {name_of(path): {name for _, name in imports(tree)} for path, tree in modules()}
    left = {name: needs & known.keys() for name, needs in known.items()}
    while ready := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in ready}
    assert not left, f"these import each other: {', '.join(sorted(left))}"


def name_of(path: str) -> str:
    return "ratecard." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_third_parties_stay_in_their_rooms() -> None:
    wrong = []
    for path, tree in modules():
        for line, name in imports(tree):
            homes = HOME_OF.get(name.split(".")[0])
            if homes and room_of(path) not in homes:
                wrong.append(f"src/ratecard/{path}:{line}: only {', '.join(homes)} may import {name}")
    assert not wrong, "\n".join(wrong)


def test_importing_the_library_loads_nothing_of_the_command_line_or_of_tests() -> None:
    others = {"click", "rich", "babel", "hypothesis", "pytest", "duckdb", "pyarrow"}
    code = f"import ratecard, sys; print(sorted({others} & {{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_no_number_is_a_float() -> None:
    wrong = []
    for path, tree in modules():
        recognised = {
            id(name)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
            for name in ast.walk(call.args[1])
        }
        for node in ast.walk(tree):
            named = isinstance(node, ast.Name) and node.id == "float" and id(node) not in recognised
            if named and path not in FLOAT_NAMES:
                wrong.append(f"src/ratecard/{path}:{node.lineno}: float is no type of ours")  # type: ignore[attr-defined]
            literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
            if literal and path not in FLOAT_LITERALS:
                wrong.append(f"src/ratecard/{path}:{node.lineno}: write a Decimal, not a float")  # type: ignore[attr-defined]
    assert not wrong, "\n".join(wrong)


def test_no_amount_depends_on_the_context_of_the_host() -> None:
    contexts = {"getcontext", "setcontext", "localcontext", "DefaultContext", "BasicContext", "ExtendedContext"}
    wrong = []
    for path, tree in modules():
        if room_of(path) == "doors" or path in CONTEXT_OF_OUR_OWN:
            continue
        for node in ast.walk(tree):
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
    # That one shows what is refused.
    pages += [path for path in (ROOT / "docs").glob("*.*") if path.name != "errors-in-tables.md"]
    pages += [ROOT / "Makefile", ROOT / "constraints.txt"]
    pages += [path for folder in (".ci", ".github") for path in (ROOT / folder).rglob("*") if path.is_file()]
    # Composed, so that this page does not hold them itself.
    words = ["-".join(parts) for parts in (("index", "url"), ("find", "links"))] + ["file:" + "//"]
    words += [f"/{folder}/" for folder in ("root", "home", "opt")]
    wrong = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in pages
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert not wrong, "\n".join(wrong)
