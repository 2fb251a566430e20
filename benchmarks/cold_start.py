"""A fresh process up to its first quote, against one that imports pydantic alone, in CPU time.

    python benchmarks/cold_start.py

The package is as its wheel installs it. Each kind of process is started in turn, with compiled modules from a folder
that a first round fills; what counts is the median. Ratios, never gates: a slow machine is not a failure.
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pydantic

from ratecard.load.built import BUILT_TABLES
from ratecard.load.folder import build_tables, read_folder

ROOT = Path(__file__).parent.parent
ROUNDS = 20
_LOAD = "card = ratecard.load_rate_card()"
_QUOTE = "from datetime import date; card.at(date(2026, 10, 1)).quote_video({'model': 'ovi-image-to-video'})"
_COMMAND = ["quote", "--at", "2026-10-01", "--model", "ovi-image-to-video"]
PROCESSES = {
    "Python alone": ["-c", "pass"],
    # Its names are loaded when they are asked for, and its plugins with the first model.
    "pydantic, one model": ["-c", "import pydantic; type('M', (pydantic.BaseModel,), {})"],
    "import ratecard": ["-c", "import ratecard"],
    "from ratecard import all names": ["-c", "from ratecard import *"],
    "and the shipped tables": ["-c", f"import ratecard; {_LOAD}"],
    "and a first quote": ["-c", f"import ratecard; {_LOAD}; {_QUOTE}"],
    "ratecard quote": ["-m", "ratecard", *_COMMAND],
}
# The name of the class loads the modules, so that only the tables are timed.
_CLOCK = "time.process_time()"
_TABLES = f"import time, ratecard; ratecard.RateCard; start = {_CLOCK}; {_LOAD}; print({_CLOCK} - start)"


def package(folder: Path) -> Path:
    """The package as its wheel installs it, with its tables and what was built of them."""
    shutil.copytree(ROOT / "src" / "ratecard", folder / "ratecard", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "pricing_tables", folder / "ratecard" / "pricing_tables")
    (folder / "ratecard" / BUILT_TABLES).write_bytes(build_tables(read_folder()))
    return folder


def seconds(arguments: list[str], environment: Mapping[str, str], python: str = sys.executable) -> float:
    """The CPU time of a process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Time every process, and print what each takes more than pydantic."""
    with TemporaryDirectory() as folder:
        home = package(Path(folder) / "package")
        environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for arguments in PROCESSES.values():
            seconds(arguments, environment)
        taken: dict[str, list[float]] = {name: [] for name in PROCESSES}
        for _ in range(ROUNDS):
            for name, arguments in PROCESSES.items():
                taken[name].append(seconds(arguments, environment))
        command = [sys.executable, "-c", _TABLES]
        loads = [
            float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
            for _ in range(ROUNDS)
        ]
    base = median(taken["pydantic, one model"])
    for name, every in taken.items():
        print(f"{name:<32} {median(every) * 1000:5.0f} ms  {median(every) / base:5.2f} x pydantic")
    print(
        f"{'the load of the tables alone':<32} {median(loads) * 1000:5.0f} ms  {median(loads) / base:5.2f} x pydantic"
    )
    over = median(taken["and a first quote"]) - base
    print(f"a first quote takes {over * 1000:.0f} ms more than pydantic: {over / base:.2f} x")
    print(f"medians of {ROUNDS} processes; Python {platform.python_version()}, pydantic {pydantic.VERSION}")


if __name__ == "__main__":
    main()
