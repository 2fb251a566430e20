"""Change a package in one place after another, and say which changes none of its tests notices.

    make mutate PACKAGE=ratecard.line_items [SAMPLE=100] [SEED=1]

Cosmic Ray makes the changes, in copies of this folder. The tests are the examples of its docstrings, those of the
folder of the package's name, of the folders that the table in CONTRIBUTING.md says belong to it, and the rules of the
architecture. Prints how many changes a test noticed, and each other one as a diff.
"""

import argparse
import ast
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, WorkResult

ROOT = Path(__file__).parent.parent
_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".mypy_cache", ".ruff_cache", "node_modules", "site", "build")
_MEMORY = 6 * 2**30
_FOLDER = re.compile(r"^\| `tests/(\w+)` \| (.*?) \|", re.MULTILINE)


def tests_of(package: str) -> list[str]:
    """Return the paths of the tests that say whether a package of `ratecard` is right."""
    shared = _FOLDER.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    names = [package, *(folder for folder, packages in shared if f"`{package}`" in packages)]
    folders = [f"tests/{name}" for name in names if (ROOT / "tests" / name).is_dir()]
    return [*folders, "tests/test_architecture.py"]


def sample(package: Path, size: int, seed: int) -> list[MutationSpec]:
    """Draw places at random, and one change of each."""
    changes: dict[tuple[Path, tuple[int, int]], list[MutationSpec]] = defaultdict(list)
    hints = {path: set(_lines_of_hints(path)) for path in package.rglob("*.py")}
    with use_db(":memory:", WorkDB.Mode.create) as known:
        init(sorted(hints), known, {})
        for item in known.work_items:
            (change,) = item.mutations
            if change.start_pos[0] not in hints[change.module_path]:
                changes[change.module_path, change.start_pos].append(change)
    chance = random.Random(seed)
    places = chance.sample(sorted(changes), min(size, len(changes)))
    return [
        chance.choice(sorted(changes[place], key=lambda each: (each.operator_name, each.occurrence)))
        for place in places
    ]


def _lines_of_hints(path: Path) -> Iterator[int]:
    """Say which lines hold hints of types alone: nothing runs them that a test could notice."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.AnnAssign) and node.value is None:
            yield from range(node.lineno, (node.end_lineno or 0) + 1)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from range(node.lineno, node.body[0].lineno)
            if any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list):
                yield from range(node.decorator_list[0].lineno, (node.end_lineno or 0) + 1)


def attempt(command: str, timeout: float, change: MutationSpec) -> WorkResult:
    """Make a change in this process's copy of the folder, and run the tests of it."""
    return mutate_and_test([change], command, timeout)


def _copy(folder: str) -> None:
    """Give this process a copy of its own to change."""
    place = Path(folder) / str(os.getpid())
    shutil.copytree(ROOT, place, ignore=_NOT_COPIED)
    os.chdir(place)
    os.environ |= {"PYTHONPATH": f"{place}/src"}
    # A change may let a loop collect without an end.
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def main() -> None:
    """Try a sample of changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", help="ratecard.line_items")
    parser.add_argument("--python", default=sys.executable, help="the Python that runs the tests")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    name = chosen.package.removeprefix("ratecard.")
    os.chdir(ROOT)
    changes = sample(Path("src/ratecard") / name, chosen.sample, chosen.seed)
    # The examples of docstrings are tests too.
    command = [chosen.python, "-m", "pytest", "-q", "-x", f"src/ratecard/{name}", *tests_of(name)]
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    timeout = 60 + 5 * (time.monotonic() - start)
    with (
        TemporaryDirectory() as copies,
        ProcessPoolExecutor(chosen.jobs, initializer=_copy, initargs=(copies,)) as pool,
    ):
        noticed = 0
        for tried, result in enumerate(pool.map(partial(attempt, " ".join(command), timeout), changes), 1):
            noticed += result.is_killed
            print(f"{noticed} of {tried} changes noticed", "" if result.is_killed else result.diff, flush=True)
    print(f"{chosen.package}: {noticed} of {len(changes)} changes noticed by {' '.join(tests_of(name))}")


if __name__ == "__main__":
    main()
