"""Simulate by contract: equal to every row rated by itself, and how much longer than at list prices.

    python benchmarks/contracts.py [--rows 200000] [--contracts 500] [--timed 5000000] [--spark]

Makes up usage of as many customers as there are contracts, and a contract for each: discounts, rates, bounds, terms
that begin and end. Each row is rated by `card.at(instant, account=...)`, and the sums by customer are compared with
those of a simulation, to the last digit; with `--spark` also on Spark. Then it prints how long a simulation of
`--timed` rows by customer takes with contracts and without, as CPU time of one process.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from pyarrow.parquet import ParquetFile, read_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "simulation"))

from rows import quote_of

from ratecard import QuoteError, RateCard, load_rate_card
from ratecard.load.folder import shipped_folder
from ratecard.simulation.simulate import simulate

OVERRIDES = (
    "{{for: {{type: text}}, percent: -{number}%}}",
    "{{for: {{type: video}}, factor: 0.{number}5}}",
    "{{for: {{family: claude, conditions: {{tokens: output}}}}, at_most: {number}}}",
    "{{for: {{type: image}}, at_least: 0.0{number}}}",
    "{{for: {{model: ovi-image-to-video}}, rate: 0.{number}}}",
    "{{for: {{model: tts-kokoro}}, rate: {number}}}",
)


def write_contracts(folder: Path, accounts: Iterable[str], count: int) -> None:
    """Write `count` contracts, which share the accounts in turn."""
    chance, named = Random(34), list(accounts)
    (folder / "contracts").mkdir()
    for number in range(count):
        begins = f"2026-{chance.randint(3, 10):02}-{chance.choice((1, 1, 1, 17)):02}"
        chosen = chance.sample(OVERRIDES, 3)
        lines = [f"  - {each.format(number=chance.randint(10, 40))}" for each in chosen]
        head = [f"contract: c{number}", f"accounts: [{', '.join(named[number::count])}]", f"from: {begins}"]
        head += ["until: 2026-11-01"] if chance.random() < 0.3 else []
        text = "\n".join([*head, "source: a benchmark", "overrides:", *lines, ""])
        (folder / "contracts" / f"c{number}.yaml").write_text(text, encoding="utf-8")


class OfAccount:
    """The prices of an account at any instant."""

    def __init__(self, card: RateCard, account: str | None) -> None:
        self.card, self.account = card, account

    def at(self, instant: Any) -> Any:
        """Return them at an instant."""
        return self.card.at(instant, account=self.account)


def row_by_row(card: RateCard, usage: Path) -> tuple[Mapping[str | None, Decimal], int]:
    """Return what the rows of each customer are charged, each rated by itself, and how many have no price."""
    sums: dict[str | None, Decimal] = defaultdict(Decimal)
    refused = 0
    for batch in ParquetFile(usage).iter_batches():
        for row in batch.to_pylist():
            try:
                sums[row["customer"]] += quote_of(OfAccount(card, row["customer"]), row).total  # type: ignore[arg-type]
            except QuoteError:
                refused += 1
    return sums, refused


def make(usage: Path, rows: int, customers: int) -> None:
    """Make up usage."""
    words = ["--rows", str(rows), "--customers", str(customers), "--out", str(usage), "--seed", "34"]
    subprocess.run([sys.executable, "-m", "ratecard", "demo-usage", *words], check=True, stderr=subprocess.DEVNULL)


def main() -> None:
    """Check and time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--contracts", type=int, default=500)
    parser.add_argument("--timed", type=int, default=5_000_000)
    parser.add_argument("--spark", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, usage = Path(place, "tables"), Path(place, "usage.parquet")
        shutil.copytree(shipped_folder(), folder)
        make(usage, given.rows, given.contracts)
        accounts = {str(name) for name in read_table(usage, columns=["customer"])["customer"].to_pylist() if name}
        write_contracts(folder, sorted(accounts), given.contracts)
        card = load_rate_card(folder)
        started = time.process_time()
        expected, refused = row_by_row(card, usage)
        spent_here = time.process_time() - started
        print(f"{given.rows:,} rows, {given.contracts} contracts: row by row {spent_here:.1f} s CPU", flush=True)
        for engine in ("duckdb", "spark") if given.spark else ("duckdb",):
            started = time.process_time()
            with simulate(usage, tables=folder, by=["customer"], contracts=True, engine=engine) as found:
                sums = {row.key[0]: row.amounts[0] for row in found.groups if row.requests}
                count = len(found.comparison.roll_up.shapes)
                assert found.rows - found.priced == refused, (found.rows - found.priced, refused)
            assert sums == dict(expected), Counter(expected) - Counter(sums)
            print(f"  {engine}: equal, {count:,} shapes, {time.process_time() - started:.1f} s CPU in this process")
        usage.unlink()
        make(usage, given.timed, given.contracts)
        spent = {}
        for contracts in (False, True):
            started = time.process_time()
            with simulate(usage, tables=folder, by=["customer"], contracts=contracts) as found:
                spent[contracts] = time.process_time() - started
        words = f"{spent[False]:.1f} s CPU at list prices, {spent[True]:.1f} s by contract"
        print(f"{given.timed:,} rows by customer: {words}: {spent[True] / spent[False]:.2f} x")


if __name__ == "__main__":
    main()
