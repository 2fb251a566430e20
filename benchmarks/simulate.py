"""A whole simulation against the bare scan of the same columns and groups, each in a process of its own.

    python benchmarks/simulate.py --rows 1000000 [--by model,day] [--fractional 0.1] [--runs 3] [--write]
    python benchmarks/simulate.py --growth 1000000 10000000 50000000

Prints wall, CPU and peak memory of: the bare DuckDB scan; current prices and one candidate; and ten candidates. Then
what each further candidate costs on the roll-up that is kept. The requests of all groups are checked against the scan's
first. With `--write`, for keys of millions of groups, the engine writes them to Parquet, in the scan and in a
simulation. With `--growth`: one candidate by each engine at each of these sizes, their totals checked equal.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

CANDIDATE = """\
candidate: benchmark-{number}
effective: 2026-10-02
proposed_by: benchmark
why: what does it cost to ask
changes:
  - scale: {{type: text}}
    factor: 1.{number:02}
  - set: kling-o3-pro-text-to-video
    where: {{audio: true}}
    rate: 0.{number:02}7
"""
CANDIDATES = 10


def scan(usage: str, by: list[str], out: str) -> dict[str, Any]:
    """Group every column that a simulation reads by the same keys: sums of numbers, counts of anything else."""
    import duckdb

    from ratecard.simulation.rows.columns import USAGE_COLUMNS
    from ratecard.simulation.sql import DuckDbSql

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    # The fastest way to a day that we know, for both.
    day = DuckDbSql().day("timestamp", "timestamp")
    keys = ", ".join(day if key == "day" else f'"{key}"' for key in by)
    started = time.perf_counter()
    types = dict(row[:2] for row in connection.execute(f"DESCRIBE SELECT * FROM '{usage}'").fetchall())
    words = [name for name in ("type", *USAGE_COLUMNS) if name in types]
    added = {name: "count" if types[name] in ("VARCHAR", "BOOLEAN") else "sum" for name in words}
    values = ", ".join(f'{function}("{name}")' for name, function in added.items())
    query = f"SELECT {keys}, {values}, count(*) AS requests FROM '{usage}' GROUP BY ALL"
    if out:
        connection.execute(f"COPY ({query}) TO '{out}' (FORMAT parquet)")
        found = connection.execute(f"SELECT CAST(sum(requests) AS BIGINT), count(*) FROM '{out}'").fetchone() or (0, 0)
        return {"wall": time.perf_counter() - started, "requests": found[0], "groups": found[1]}
    rows = connection.execute(query).fetchall()
    return {"wall": time.perf_counter() - started, "requests": sum(row[-1] for row in rows), "groups": len(rows)}


def simulation(usage: str, by: list[str], candidates: list[str], engine: str, out: str) -> dict[str, Any]:
    """The whole way from the file to the totals of every group under every card; then one candidate, and another."""
    from ratecard.simulation.simulate import simulate

    started = time.perf_counter()  # as for the scan, with all modules there
    result = simulate(usage, None, candidates[:-2], by=by, engine=engine)  # type: ignore[arg-type]
    if out:
        result.write(out)
    groups = () if out else result.groups
    found: dict[str, Any] = {"wall": time.perf_counter() - started}
    priced = result.total.requests if out else sum(row.requests for row in groups)
    found["requests"] = priced + sum(each.rows for each in result.unpriced)
    found["total"], found["shapes"] = list(map(str, result.total.amounts)), len(result.comparison.roll_up.shapes)
    further = []
    for candidate in candidates[-2:]:
        started = time.perf_counter()
        again = result.against(candidate)
        changed = again.total.difference() if out else sum(row.difference() != 0 for row in again.groups)
        further.append(time.perf_counter() - started)
        assert changed, "a candidate that changes nothing costs nothing"
    return found | {"further": min(further)}


def measured(arguments: list[str]) -> dict[str, Any]:
    """A child's answer, with its CPU seconds and peak memory."""
    command = [sys.executable, __file__, "--child", *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def child(arguments: list[str]) -> None:
    kind, usage, by, out, *candidates = arguments
    keys = by.split(",")
    found = scan(usage, keys, out) if kind == "scan" else simulation(usage, keys, candidates, kind, out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / 1024}
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--by", default="model,day")
    parser.add_argument("--fractional", help="share of the rows that carry fractional reference seconds")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--usage", type=Path, help="keep the usage in this file, and use it if it is there")
    parser.add_argument("--write", action="store_true", help="write the groups, too many for Python, to Parquet")
    parser.add_argument("--growth", type=int, nargs="+", metavar="ROWS", help="one candidate by each engine")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        candidates = []
        for number in range(1, CANDIDATES + 3):
            candidates.append(str(Path(folder, f"candidate-{number}.yaml")))
            Path(candidates[-1]).write_text(CANDIDATE.format(number=number))
        if given.growth:
            growth(given.growth, given.by, candidates[:3], Path(folder, "usage.parquet"))
            return
        usage = given.usage or Path(folder, "usage.parquet")
        if not usage.exists():
            make(usage, given.rows, ["--fractional-share", given.fractional] if given.fractional else [])
        out = str(Path(folder, "groups.parquet")) if given.write else ""
        report(str(usage), given.by, out, candidates, given.runs)


def make(usage: Path, rows: int, more: list[str]) -> None:
    command = [
        sys.executable,
        "-m",
        "ratecard",
        "demo-usage",
        "--rows",
        str(rows),
        "--out",
        str(usage),
        "--seed",
        "1",
        "--force",
    ]
    subprocess.run([*command, *more], check=True)


def growth(sizes: list[int], by: str, candidates: list[str], usage: Path) -> None:
    print(f"{'':14}{'DuckDB':>10}{'a row':>10}{'Spark':>10}{'a row':>10}")
    for rows in sizes:
        make(usage, rows, [])
        found = [measured([engine, str(usage), by, "", *candidates]) for engine in ("duckdb", "spark")]
        assert found[0]["total"] == found[1]["total"], "the engines differ"
        walls = "".join(f"{run['wall']:9.2f}s{run['wall'] / rows * 1e9:7.0f} ns" for run in found)
        print(f"{rows:14,}{walls}", flush=True)


def report(usage: str, by: str, out: str, candidates: list[str], runs: int) -> None:
    cases = {
        "bare scan": ["scan", usage, by, out],
        "current and 1 candidate": ["duckdb", usage, by, out, candidates[0], *candidates[-2:]],
        f"current and {CANDIDATES} candidates": ["duckdb", usage, by, out, *candidates],
    }
    print(f"{Path(usage).stat().st_size / 1e6:.0f} MB, by {by}; medians of {runs} runs, in turn\n")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in cases}
    for _ in range(runs):
        for name, arguments in cases.items():
            found[name].append(measured(arguments))
    counted = {run["requests"] for each in found.values() for run in each}
    assert len(counted) == 1, f"the requests differ: {counted}"
    print(f"{counted.pop():,} rows, {found['bare scan'][0]['groups']:,} groups, checked equal")
    print(f"{'':28}{'wall':>9}{'ratio':>8}{'CPU':>9}{'memory':>11}")
    bare = [run["wall"] for run in found["bare scan"]]
    for name, each in found.items():
        ratio = median(run["wall"] / of for run, of in zip(each, bare, strict=True))
        wall, cpu, memory = (median(run[key] for run in each) for key in ("wall", "cpu", "memory"))
        print(f"{name:28}{wall:8.2f}s{ratio:7.2f}x{cpu:8.2f}s{memory:8.0f} MB")
    one = found["current and 1 candidate"]
    further, first = (median(run[key] for run in one) for key in ("further", "wall"))
    print(f"a further candidate, kept roll-up {further:.3f}s = {100 * further / first:.1f} % of the first")
    print(f"shapes priced: {one[0]['shapes']:,}")


if __name__ == "__main__":
    child(sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
