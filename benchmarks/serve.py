"""`POST /video/quote` against endpoints of the same application that return a constant, on one worker, in one run.

    python benchmarks/serve.py          needs wrk

Every answer is compared with the library's first. Then wrk asks each endpoint in turn, as fast as it answers, with
the same bodies; each round gives a ratio, and what counts is the median. Beside it stands the processor time that the
server took for a request, which other work on the machine changes less. Last, the latencies of both at one rate, below
what either can do. Ratios, never gates: a slow machine is no failure.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from quote_one import given_cases, spread
from serve_client import Connection

import ratecard

QUOTE, CONSTANT, BARE = PATHS = ("/api/v1/video/quote", "/constant", "/bare")
BODIES, ROUNDS, SECONDS, CONNECTIONS = 500, 7, 4, 16
RATE, RATE_SECONDS, RATE_ROUNDS, RATE_CONNECTIONS = 1_000, 8, 3, 8
WRK_SCRIPT = """
local bodies, at = {}, 0
for line in io.lines("%s") do bodies[#bodies + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function() at = at %% #bodies + 1; return wrk.format(nil, nil, nil, bodies[at]) end
"""


class Load(NamedTuple):
    """Requests a second, and microseconds of the server's processor for each."""

    throughput: float
    processor: float


@contextmanager
def server(port: int = 8913) -> Iterator[tuple[str, int]]:
    """One worker, as `ratecard serve` configures it: its address and its process."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "uvicorn", "--factory", "serve_app:loaded", "--app-dir", str(here)]
    command += ["--port", str(port), "--no-access-log", "--no-server-header", "--log-level", "warning"]
    process = subprocess.Popen(command)
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


async def check(base: str, bodies: Sequence[bytes]) -> None:
    """Stop unless every answer is the library's, and the constants are constant."""
    connection = await connected(base)
    health = json.loads((await connection.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).body)
    prices = ratecard.load_rate_card().at(date.fromisoformat(health["day"]))
    for body in bodies:
        answer = await connection.post(QUOTE, body)
        if (answer.status, answer.body) != (200, prices.quote_video(body).to_json()):
            sys.exit(f"{body!r} is answered {answer.status} {answer.body!r}")
    for path in (CONSTANT, BARE):
        answer = await connection.post(path, bodies[0])
        if (answer.status, answer.body) != (200, b'{"quote":0.82}'):
            sys.exit(f"{path} is no constant")
    connection.close()


async def connected(base: str) -> Connection:
    """A connection, as soon as the server takes one."""
    for _ in range(200):
        try:
            return await Connection.open(base)
        except OSError:
            await asyncio.sleep(0.05)
    sys.exit("the server does not start")


def flood(base: str, path: str, process: int, script: str) -> Load:
    """As many requests as one endpoint answers."""
    before = processor_seconds(process)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script, base + path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    requests = int(re.search(r"(\d+) requests in", said)[1])  # type: ignore[index]
    per_second = float(re.search(r"Requests/sec: +([\d.]+)", said)[1])  # type: ignore[index]
    return Load(per_second, (processor_seconds(process) - before) / requests * 1e6)


def processor_seconds(process: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def pace(base: str, path: str, bodies: Sequence[bytes]) -> list[float]:
    """Seconds from the moment at which each request was due to its answer, at a fixed rate."""
    start, every, taken = time.perf_counter() + 0.1, RATE_CONNECTIONS / RATE, list[float]()

    async def ask(number: int) -> None:
        connection = await connected(base)
        for turn in range(RATE * RATE_SECONDS // RATE_CONNECTIONS):
            due = start + number * every / RATE_CONNECTIONS + turn * every
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await connection.post(path, bodies[turn % len(bodies)])
            taken.append(time.perf_counter() - due)
        connection.close()

    await asyncio.gather(*map(ask, range(RATE_CONNECTIONS)))
    return taken


def p99(seconds: Sequence[float]) -> float:
    """The 99th percentile in milliseconds."""
    return quantiles(seconds, n=100)[98] * 1e3


def show_floods(rounds: Sequence[dict[str, Load]]) -> None:
    """Medians, and the ratio of each round."""
    print(f"{'':24}{'requests/s':>12}{'server us':>12}")
    for path in PATHS:
        loads = [each[path] for each in rounds]
        print(f"{path:24}{median(x.throughput for x in loads):12,.0f}{median(x.processor for x in loads):12.1f}")
    for path in PATHS[1:]:
        ratios = sorted(each[QUOTE].throughput / each[path].throughput for each in rounds)
        processor = median(each[path].processor / each[QUOTE].processor for each in rounds)
        print(
            f"quote against {path:10} {median(ratios):5.2f} of its throughput ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
            f"{processor:.2f} by processor time"
        )


def main() -> None:
    """Check, then measure."""
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed; packages of most systems have it")
    bodies = [case.raw for case in spread(list(given_cases()), BODIES)]
    with tempfile.TemporaryDirectory() as folder, server() as (base, process):
        asyncio.run(check(base, bodies))
        print(f"{len(bodies)} distinct bodies, every answer is the library's; {CONNECTIONS} connections")
        (Path(folder) / "bodies").write_bytes(b"\n".join(bodies))
        script = Path(folder) / "post.lua"
        script.write_text(WRK_SCRIPT % (Path(folder) / "bodies"))
        rounds = [{path: flood(base, path, process, str(script)) for path in PATHS} for _ in range(ROUNDS)]
        show_floods(rounds)
        paced = [{path: p99(asyncio.run(pace(base, path, bodies))) for path in PATHS} for _ in range(RATE_ROUNDS)]
    for path in PATHS:
        times = [each[path] for each in paced]
        ratio = median(each[path] / each[CONSTANT] for each in paced)
        print(f"p99 at {RATE:,} a second: {path:24} {median(times):6.2f} ms   {ratio:.2f} of {CONSTANT}")
    print(f"medians of {ROUNDS} and {RATE_ROUNDS} rounds; Python {sys.version.split()[0]}, {sys.platform}")


if __name__ == "__main__":
    main()
