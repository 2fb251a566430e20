"""Simulations from a kept roll-up beside those from rows: the same totals, in a process of its own each.

    python benchmarks/rollup.py --rows 50000000 [--by model,day] [--runs 3] [--usage usage.parquet]

Prints how long the first run of `rollup` takes, a run with nothing new and one with a further file of a hundredth of
the rows; the size on disk; and of a simulation (current prices and one candidate) from rows and from groups: wall and
CPU seconds after imports and tables, and peak memory. Then the median answer of the what-if page to a change. All
totals are checked equal before anything is printed.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from simulate import CANDIDATE, make


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def simulated(usage: str, by: list[str], candidate: str) -> dict[str, Any]:
    from ratecard.simulation.prices.sides import sides
    from ratecard.simulation.simulate import simulate

    current, other = sides(None, [candidate], None)
    digests = [each.card.digest for each in (current, other)]
    started, before = time.perf_counter(), used()
    found = simulate(usage, current, other, by=by)
    groups = found.groups
    wall, cpu = time.perf_counter() - started, used() - before
    total = [str(amount) for amount in found.total.amounts]
    return {"wall": wall, "cpu": cpu, "total": total, "groups": len(groups), "digests": digests}


def rolled_up(usage: list[str], out: str, by: list[str]) -> dict[str, Any]:
    from ratecard.simulation.rollup import rollup

    started, before = time.perf_counter(), used()
    done = rollup(usage, out, by=by)
    return {"wall": time.perf_counter() - started, "cpu": used() - before, "groups": done.groups, "bytes": done.bytes}


def moved(usage: str, changes: int) -> dict[str, Any]:
    """Answers of the page, each to another factor on the text models."""
    from datetime import UTC, datetime

    from ratecard.card import load_rate_card
    from ratecard.review.sides import Side
    from ratecard.simulation.simulate import simulate
    from ratecard.whatif.draft import Draft, Factor
    from ratecard.whatif.draft_pricer import DraftPricer

    current = Side("2026-11-01", load_rate_card(), datetime(2026, 11, 1, tzinfo=UTC))
    with simulate(usage, current) as standing:
        pricer = DraftPricer(standing)
        factors = (Factor("type", ("text",), f"1.{number:02}") for number in range(1, changes + 1))
        drafts = [Draft("2026-11-01", (factor,)) for factor in factors]
        pricer.answer(drafts[0])
        walls, cpus = list[int](), list[float]()
        for draft in drafts:
            before = used()
            walls.append(pricer.answer(draft).milliseconds)
            cpus.append((used() - before) * 1000)
    return {"wall": median(walls), "cpu": median(cpus)}


def child(kind: str, arguments: list[str]) -> None:
    if kind == "simulate":
        found = simulated(arguments[0], arguments[1].split(","), arguments[2])
    elif kind == "rollup":
        found = rolled_up(arguments[2:], arguments[0], arguments[1].split(","))
    else:
        found = moved(arguments[0], 15)
    print(json.dumps(found | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def measured(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--by", default="model,day")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--usage", type=Path, help="keep the usage in this file, and use it if it is there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        usage, kept = given.usage or Path(folder, "usage.parquet"), Path(folder, "kept")
        candidate = Path(folder, "candidate.yaml")
        candidate.write_text(CANDIDATE.format(number=1))
        if not usage.exists():
            make(usage, given.rows, [])
        found: dict[str, list[dict[str, Any]]] = {}
        for _ in range(given.runs):
            shutil.rmtree(kept, ignore_errors=True)
            row = {"rollup, all rows": measured("rollup", str(kept), given.by, str(usage))}
            row["simulate, from groups"] = measured("simulate", str(kept), given.by, str(candidate))
            row["simulate, from rows"] = measured("simulate", str(usage), given.by, str(candidate))
            row["rollup, nothing new"] = measured("rollup", str(kept), given.by, str(usage))
            for name, run in row.items():
                found.setdefault(name, []).append(run)
        runs = [run for name, each in found.items() if name.startswith("simulate") for run in each]
        assert len({json.dumps([run["total"], run["groups"], run["digests"]]) for run in runs}) == 1, "totals differ"
        further = Path(folder, "further.parquet")
        make(further, max(given.rows // 100, 1), [])
        found["rollup, a hundredth more"] = [measured("rollup", str(kept), given.by, str(usage), str(further))]
        disk = found["rollup, all rows"][0]
        print(f"{disk['groups']:,} groups on disk, {disk['bytes'] / 1e6:.1f} MB; by {given.by}; totals checked equal")
        print(f"{'':32}{'wall':>9}{'CPU':>9}{'memory':>11}")
        for name, each in found.items():
            wall, cpu, memory = (median(run[key] for run in each) for key in ("wall", "cpu", "memory"))
            print(f"{name:32}{wall:8.2f}s{cpu:8.2f}s{memory:8.0f} MB")
        change = measured("whatif", str(kept))
        print(f"what-if, a change: {change['wall']:.0f} ms, {change['cpu']:.0f} ms of CPU, the medians of 15")


if __name__ == "__main__":
    child(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--child"] else main()
