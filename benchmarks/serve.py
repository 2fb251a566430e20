"""`POST /video/quote` against endpoints of the same application that return a constant, and `POST /rate` against it.

    python benchmarks/serve.py          needs wrk

One worker, one run. Every answer is compared with the library's first. Then wrk asks each endpoint in turn, as fast as
it answers, with the same bodies; each round gives a ratio, and what counts is the median. Beside it stands the
processor time that the server took for a request, which other work on the machine changes less. `/rate` is asked for
usages of text with three lines, one at a time and 100 at a time; the aims are 1.5 and 40 times the time of a quote.
Last, the latencies of the first three at one rate, below what any can do. Ratios, never gates: a slow machine is no
failure.
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
from typing import Any, NamedTuple

from quote_one import given_cases, spread
from serve_client import Connection

import ratecard

QUOTE, CONSTANT, BARE = PATHS = ("/api/v1/video/quote", "/constant", "/bare")
RATE = "/api/v1/rate"
# How many usages are in a body of `/rate`, and the most that it may take as a multiple of a quote.
AIMS = {1: 1.5, 100: 40}
BODIES, ROUNDS, SECONDS, CONNECTIONS = 500, 7, 4, 16
PACE, PACE_SECONDS, PACE_ROUNDS, PACE_CONNECTIONS = 1_000, 8, 3, 8
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


def usages_of_text(card: ratecard.RateCard, day: date) -> list[dict[str, Any]]:
    """Usages of every text model with a price for cached tokens: each has three lines."""
    models = [model.model for model in card.at(day).models("text")]
    return [
        {
            "type": "text",
            "model": models[number % len(models)],
            "usage": {
                "prompt_tokens": 1000 + number,
                "completion_tokens": 300 + number,
                "prompt_tokens_details": {"cached_tokens": 500},
            },
        }
        for number in range(BODIES)
    ]


def bodies_of_rate(usages: Sequence[dict[str, Any]], together: int) -> list[bytes]:
    """Bodies of one usage, or of several."""
    if together == 1:
        return [json.dumps(usage).encode() for usage in usages]
    starts = range(0, len(usages), together)
    return [json.dumps({"usages": usages[start : start + together]}).encode() for start in starts]


async def check(base: str, bodies: Sequence[bytes], usages: Sequence[dict[str, Any]]) -> None:
    """Stop unless every answer is the library's, and the constants are constant."""
    connection = await connected(base)
    health = json.loads((await connection.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).body)
    prices = ratecard.load_rate_card().at(date.fromisoformat(health["day"]))
    for body in bodies:
        answer = await connection.post(QUOTE, body)
        if (answer.status, answer.body) != (200, prices.quote_video(body).to_json()):
            sys.exit(f"{body!r} is answered {answer.status} {answer.body!r}")
    for usage in usages:
        answer = await connection.post(RATE, json.dumps(usage).encode())
        if (answer.status, json.loads(answer.body)) != (200, prices.rate(usage).to_dict()):
            sys.exit(f"{usage!r} is answered {answer.status} {answer.body!r}")
    [several] = bodies_of_rate(usages[:100], 100)
    answer = await connection.post(RATE, several)
    if json.loads(answer.body)["data"] != [prices.rate(usage).to_dict() for usage in usages[:100]]:
        sys.exit("100 usages in one call are not answered as they are one by one")
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


def script_of(path: Path, bodies: Sequence[bytes]) -> str:
    """A script of wrk that sends these bodies in turn."""
    path.write_bytes(b"\n".join(bodies))
    script = path.with_suffix(".lua")
    script.write_text(WRK_SCRIPT % path)
    return str(script)


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
    start, every, taken = time.perf_counter() + 0.1, PACE_CONNECTIONS / PACE, list[float]()

    async def ask(number: int) -> None:
        connection = await connected(base)
        for turn in range(PACE * PACE_SECONDS // PACE_CONNECTIONS):
            due = start + number * every / PACE_CONNECTIONS + turn * every
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await connection.post(path, bodies[turn % len(bodies)])
            taken.append(time.perf_counter() - due)
        connection.close()

    await asyncio.gather(*map(ask, range(PACE_CONNECTIONS)))
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


def show_rates(rounds: Sequence[tuple[Load, dict[int, Load]]]) -> None:
    """What `/rate` takes, as a multiple of a quote in the same round."""
    for together, aim in AIMS.items():
        loads = [rates[together] for _, rates in rounds]
        times = sorted(quote.throughput / rates[together].throughput for quote, rates in rounds)
        processor = median(rates[together].processor / quote.processor for quote, rates in rounds)
        print(
            f"/rate, {together:3} together {median(x.throughput for x in loads):12,.0f} a second, "
            f"{median(x.processor for x in loads):8.1f} us   {median(times):5.2f} of a quote's time "
            f"({times[0]:.2f} to {times[-1]:.2f}), {processor:.2f} by processor time; at most {aim}"
        )


def main() -> None:
    """Check, then measure."""
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed; packages of most systems have it")
    bodies = [case.raw for case in spread(list(given_cases()), BODIES)]
    with tempfile.TemporaryDirectory() as folder, server() as (base, process):
        usages = usages_of_text(ratecard.load_rate_card(), date(2026, 9, 29))
        asyncio.run(check(base, bodies, usages))
        print(f"{len(bodies)} distinct bodies, every answer is the library's; {CONNECTIONS} connections")
        script = script_of(Path(folder) / "quotes", bodies)
        of_rates = {n: script_of(Path(folder) / f"rates-{n}", bodies_of_rate(usages, n)) for n in AIMS}
        rounds = [{path: flood(base, path, process, script) for path in PATHS} for _ in range(ROUNDS)]
        show_floods(rounds)
        beside = [
            (flood(base, QUOTE, process, script), {n: flood(base, RATE, process, of_rates[n]) for n in AIMS})
            for _ in range(ROUNDS)
        ]
        show_rates(beside)
        paced = [{path: p99(asyncio.run(pace(base, path, bodies))) for path in PATHS} for _ in range(PACE_ROUNDS)]
    for path in PATHS:
        times = [each[path] for each in paced]
        ratio = median(each[path] / each[CONSTANT] for each in paced)
        print(f"p99 at {PACE:,} a second: {path:24} {median(times):6.2f} ms   {ratio:.2f} of {CONSTANT}")
    print(f"medians of {ROUNDS} and {PACE_ROUNDS} rounds; Python {sys.version.split()[0]}, {sys.platform}")


if __name__ == "__main__":
    main()
