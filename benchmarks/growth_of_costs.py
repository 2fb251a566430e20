"""How costs grow: cold starts, quotes against more models, usages with more counters, loads and memory of more tables.

    python benchmarks/growth_of_costs.py [--peers PYTHON]

One table on the terminal, and `growth_of_costs.svg` beside this file. Times are CPU time, medians; ratios
are of one run. A result is checked before it is timed. Each load is a process of its own. `--peers` is a Python that
has genai-prices and perhaps litellm (`make bench-text` makes `.venv-bench`): the cold start of the one, and prices
of both against as many made-up models are timed beside ours. Neither loads tables from files that it checks, or counts
what a table declares, so that loads, memory and counters have no peer.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from cold_start import PROCESSES, package, seconds

from ratecard.load.folder import tables_from

PICTURE = Path(__file__).with_suffix(".svg")
DAY = date(2026, 10, 1)
ROUNDS = 11
MODELS, COUNTERS, LOADS = (300, 3_000, 30_000), (4, 10, 20, 40), (1_000, 10_000)
COLD = ("pydantic, one model", "import ratecard", "and the shipped tables", "and a first quote", "ratecard quote")
# A library takes a millisecond for each model that is registered.
MOST_OF_PEERS = 10_000
_HEAD = """    name: Made up
    type: text
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made up
"""
_TOKENS = """        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            rates:
              - {tokens: input, rate: 4}
              - {tokens: input, above: 128000, rate: 6}
              - {tokens: cache_input, rate: 0.40}
              - {tokens: output, rate: 20}
              - {tokens: output, above: 128000, rate: 30}
            factors:
              - {service_tier: batch, factor: 0.5}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 1000, completion_tokens: 100}, total: 0.006}
"""
_USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 500}}
_TOTAL = Decimal("0.0042")
# What a process prints of a folder: the CPU seconds of its load, the bytes that it takes, and seconds of one quote.
_MEASURE = """
import sys, time
from datetime import date
from decimal import Decimal
import json, ratecard
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 if sys.platform == "linux" else 0
ratecard.load_rate_card().at(date(2026, 10, 1))
before, start = resident(), time.process_time()
card = ratecard.load_rate_card(sys.argv[1])
load, size = time.process_time() - start, resident() - before
prices, usage, total = card.at(date(2026, 10, 1)), json.loads(sys.argv[2]), Decimal(sys.argv[3])
names = list(card.models)[:: max(1, len(card.models) // 100)]
asked = [{"type": "text", "model": name, "usage": usage} for name in names]
assert all(prices.rate(each).total == total for each in asked)
rounds = []
for _ in range(int(sys.argv[4])):
    start = time.process_time()
    for _ in range(20):
        for each in asked:
            prices.rate(each)
    rounds.append((time.process_time() - start) / len(asked) / 20)
print(json.dumps([load, size, sorted(rounds)[len(rounds) // 2]]))
"""


def tables(models: int) -> dict[str, bytes]:
    """Return made-up tables: models of five rates and a factor, a hundred in each file."""
    files = {}
    for first in range(0, models, 100):
        listed = range(first, min(first + 100, models))
        text = "".join(f"  - model: made-up-{number}\n{_HEAD}{_TOKENS}" for number in listed)
        files[f"text/made-up-{first}.yaml"] = f"family: made-up-{first}\nmodels:\n{text}".encode()
    return files


def counted(counters: int) -> dict[str, bytes]:
    """Return the tables of one model that is charged by several meters."""
    names = [f"thing{number}" for number in range(counters)]
    charge = "          - {{charge: {0}, method: count, unit: {0}, rates: [{{rate: 2}}]}}\n"
    charges = "".join(map(charge.format, names))
    counts = ", ".join(f"{name}: 3" for name in names)
    example = f"        examples:\n          - {{usage: {{counts: {{{counts}}}}}, total: {6 * counters}}}\n"
    model = f"  - model: counted\n{_HEAD}        charges:\n{charges}        rounding: none\n{example}"
    text = f"family: counted\nmodels:\n{model}"
    units = "".join(f"  - {{unit: {name}, counts: {name}, per: 1}}\n" for name in names)
    meters = "".join(f"  - {{meter: {name}}}\n" for name in names)
    return {
        "text/counted.yaml": text.encode(),
        "units.yaml": f"units:\n{units}".encode(),
        "meters.yaml": f"meters:\n{meters}".encode(),
    }


def cold_starts(environment: Mapping[str, str], peers: str | None) -> Mapping[str, float]:
    """The CPU seconds of each kind of process, in turn; a first round fills the folder of compiled modules."""
    taken: dict[str, list[float]] = {name: [] for name in COLD}
    peer = ["-c", "from genai_prices import Usage, calc_price; calc_price(Usage(input_tokens=9), 'gpt-4o')"]
    for number in range(ROUNDS + 1):
        for name in COLD:
            spent = seconds(PROCESSES[name], environment)
            if number:
                taken[name].append(spent)
        if peers and number:
            spent = seconds(peer, {**environment, "PYTHONPATH": ""}, peers)
            taken.setdefault("genai-prices, a first price", []).append(spent)
    return {name: median(every) for name, every in taken.items()}


def measured(folder: Path, files: Mapping[str, bytes], environment: Mapping[str, str]) -> tuple[float, int, float]:
    """The CPU seconds of a load of these files, the bytes that the card takes, and the seconds of a quote."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    command = [sys.executable, "-c", _MEASURE, str(folder), json.dumps(_USAGE), str(_TOTAL), str(ROUNDS)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    load, size, quote = json.loads(done.stdout)
    return load, size, quote


def quotes_of_counters(counters: int) -> float:
    """Return the seconds that a quote takes of a usage with several counters."""
    import time

    from ratecard import RateCard

    prices = RateCard(tables_from(counted(counters))).at(DAY)
    usage = {"type": "text", "model": "counted", "counts": {f"thing{number}": 3 for number in range(counters)}}
    quote = prices.rate(usage)
    assert quote.total == 6 * counters
    assert len(quote.lines) == counters
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(500):
            prices.rate(usage)
        rounds.append((time.process_time() - start) / 500)
    return median(rounds)


def prices_of_peers(peers: str, sizes: Sequence[int]) -> dict[str, dict[int, float]]:
    """Return the seconds of one price by the libraries of another Python, against each number of models."""
    command = [peers, str(Path(__file__).with_name("growth_of_peers.py")), *map(str, sizes)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: {int(size): spent for size, spent in points.items()} for name, points in found.items()}


def picture(series: Mapping[str, Mapping[int, float]]) -> str:
    """A plot: each series against its size, as a multiple of its smallest; both axes by powers of ten."""
    from math import log10

    left, top, width, height = 60, 30, 560, 300
    colours = ("#1f5fa8", "#b3541e", "#2e7d4f", "#7a4fa3", "#8a8a8a")
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 400" font-family="system-ui" font-size="13">']
    lines.append('<text x="60" y="18">Time against size, each as a multiple of its smallest</text>')
    for power in range(3):
        x, y = left + width * power / 2, top + height - height * power / 2
        lines.append(f'<text x="{x:.0f}" y="{top + height + 18}" text-anchor="middle">{10**power}x size</text>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{10**power}x</text>')
        lines.append(f'<path d="M{left} {y:.0f}H{left + width}" stroke="#d5dbe1"/>')
    for number, (name, points) in enumerate(series.items()):
        size, time = next(iter(points.items()))
        at = [(log10(each / size), max(0.0, log10(spent / time))) for each, spent in points.items()]
        path = " ".join(f"{left + width * x / 2:.1f},{top + height - height * y / 2:.1f}" for x, y in at)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colours[number]}" stroke-width="2"/>')
        lines.append(f'<text x="{left + 14}" y="{top + 20 + 18 * number}" fill="{colours[number]}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def row(what: str, figure: str, ratio: str) -> None:
    """Print a line of the table."""
    print(f"| {what:<38} | {figure:>10} | {ratio:>20} |")


def main() -> None:
    """Measure everything, print the table and write the plot."""
    options = argparse.ArgumentParser()
    options.add_argument("--peers")
    options.add_argument("--most-models", type=int, default=max(MODELS), help="leave larger sizes out")
    given = options.parse_args()
    with TemporaryDirectory() as folder:
        home = package(Path(folder) / "package")
        environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cold = cold_starts(environment, given.peers)
        sizes = sorted(number for number in {*MODELS, *LOADS} if number <= given.most_models)
        of_models = {number: measured(Path(folder) / str(number), tables(number), environment) for number in sizes}
    of_counters = {number: quotes_of_counters(number) for number in COUNTERS}
    of_peers = prices_of_peers(given.peers, [each for each in sizes if each <= MOST_OF_PEERS]) if given.peers else {}
    base, least, fewest = cold["pydantic, one model"], min(sizes), COUNTERS[0]
    for name, spent in cold.items():
        row(f"cold: {name}", f"{spent * 1000:.0f} ms", f"{spent / base:.2f} x pydantic")
    for number, (load, size, quote) in of_models.items():
        row(
            f"quote against {number:,} models",
            f"{quote * 1e6:.2f} us",
            f"{quote / of_models[least][2]:.2f} x of {least}",
        )
        row(f"load of {number:,} models", f"{load:.2f} s", f"{load / number * 1000:.2f} s a thousand")
        row(f"memory of a card of {number:,} models", f"{size / 1e6:.1f} MB", f"{size / number / 1e3:.1f} KB a model")
    for name, points in of_peers.items():
        for number, spent in points.items():
            ratio = f"{spent / of_models[number][2]:.2f} x ours"
            row(f"{name} against {number:,} models", f"{spent * 1e6:.2f} us", ratio)
    for number, quote in of_counters.items():
        row(
            f"usage with {number} counters", f"{quote * 1e6:.2f} us", f"{quote / of_counters[fewest]:.2f} x of {fewest}"
        )
    print(f"CPU time, medians of {ROUNDS} rounds; Python {platform.python_version()}, {sys.platform}")
    series = {
        "a quote, by models": {number: quote for number, (_, _, quote) in of_models.items()},
        "a load, by models": {number: load for number, (load, _, _) in of_models.items()},
        "a quote, by counters": of_counters,
        **{f"a price of {name}, by models": points for name, points in of_peers.items()},
    }
    PICTURE.write_text(picture(series), encoding="utf-8")


if __name__ == "__main__":
    main()
