"""A small usage with awkward names, and what a report of it is made of."""

import resource
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

import ratecard
from ratecard.review.sides import Side
from ratecard.simulation.prices.sides import OWN_DATE
from ratecard.simulation.result import Simulation
from shipped import few_models

# The models of the usage and a video model that is older, at each row's own date: changes of all others take time.
_MODELS = "claude-opus-4-6", "openai-gpt-54", "kling-o3-pro-text-to-video", "ovi-image-to-video", "crypto-rpc"
NOW = Side(OWN_DATE, few_models(*_MODELS, of_each=0))

# Names that a spreadsheet would run, names that are HTML, and no name at all.
CUSTOMERS = ("acme", "=1+2", "+49", "-5", "@sum", "<b>bold</b>", 'quo"te, comma', None)
DEARER = """
candidate: dearer text
effective: 2026-09-30
proposed_by: Pricing
why: a test
changes:
  - scale: {type: text}
    factor: 1.2
  - set: kling-o3-pro-text-to-video
    where: {audio: true}
    rate: 0.1501
"""
CHEAPER = """
candidate: cheaper video
effective: 2026-10-05
proposed_by: Pricing
why: a test
changes:
  - scale: {type: video}
    factor: 0.5
"""
# The two days that a bridge connects.
PERIODS = ("2026-10-02", "2026-10-07")
MIXED = """
candidate: retire and add
effective: 2026-10-04
proposed_by: Pricing
why: one model goes and another comes
changes:
  - scale: {model: claude-opus-4-6}
    factor: 1.0137
  - scale: {model: kling-o3-pro-text-to-video}
    factor: 0.9
  - retire: openai-gpt-54
  - family: kling-o3
    add:
      model: no-such-model
      name: No such model
      type: video
      mode: text-to-video
      currency: USD
      versions:
        - effective: 2026-10-04
          checked: 2026-10-01
          source: decided
          accepts: {duration: [5s], audio: always}
          charges:
            - charge: video
              method: duration-rate
              unit: video_second
              rates:
                - {rate: 0.0123456}
          rounding: {places: 2, mode: half-up}
          examples:
            - {request: {duration: 5s}, total: 0.06}
"""
COSTS = """
candidate: what we pay
effective: 2026-09-01
proposed_by: Finance
why: contracts
changes:
  - scale: {type: video}
    factor: 1.21
  - scale: {type: text}
    factor: 0.7377
"""
_START = datetime(2026, 10, 1, 12, tzinfo=UTC)
_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")
_SCHEMA = pyarrow.schema(
    [
        *((name, pyarrow.string()) for name in ("type", "model", "customer", "duration", "network", "method")),
        ("timestamp", pyarrow.timestamp("us", tz="UTC")),
        *((name, pyarrow.int64()) for name in _TOKENS),
    ]
)


def usage(rows: int = 240) -> pyarrow.Table:
    """Text, video and RPC over ten days; one row in forty has no price."""
    return pyarrow.Table.from_pylist([_row(number) for number in range(rows)], schema=_SCHEMA)


def _row(number: int) -> dict[str, Any]:
    head = {
        "timestamp": _START + timedelta(hours=number),
        "customer": CUSTOMERS[(number + number // 5) % len(CUSTOMERS)],
    }
    if number % 40 == 7:
        return head | {"type": "video", "model": "no-such-model", "duration": "5s"}
    if number % 4 == 0:
        return head | {"type": "video", "model": "kling-o3-pro-text-to-video", "duration": f"{3 + number % 8}s"}
    if number % 4 == 1:
        return head | {"type": "rpc", "network": "ethereum-mainnet", "method": "eth_call"}
    model = "claude-opus-4-6" if number % 3 else "openai-gpt-54"
    tokens = {"prompt_tokens": 1000 + 977 * number, "completion_tokens": 3 * number, "cached_tokens": 7 * number}
    return head | {"type": "text", "model": model} | tokens


def files(folder: Path) -> tuple[Path, Path, Path]:
    """The usage and the candidates as files."""
    table, dearer, cheaper = folder / "usage.parquet", folder / "dearer.yaml", folder / "cheaper.yaml"
    pyarrow.parquet.write_table(usage(), table)
    dearer.write_text(DEARER, encoding="utf-8")
    cheaper.write_text(CHEAPER, encoding="utf-8")
    return table, dearer, cheaper


def simulated(folder: Path, **more: Any) -> Simulation:
    """The usage under the dearer candidate, by model, day and customer."""
    table, dearer, _ = files(folder)
    return ratecard.simulate(table, NOW, dearer, **more)


def mixed(folder: Path, candidates: int = 1, by: Sequence[str] | None = None, tokens: int = 1) -> Simulation:
    """The usage with requests that are lost, new and below cost, under one candidate or more.

    Each row has `tokens` times its tokens.
    """
    table, dearer, _ = files(folder)
    if tokens > 1:
        rows = usage().to_pylist()
        more = [
            {key: value * tokens if key in _TOKENS and value else value for key, value in row.items()} for row in rows
        ]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(more, schema=_SCHEMA), table)
    first, costs = folder / "mixed.yaml", folder / "costs.yaml"
    first.write_text(MIXED, encoding="utf-8")
    costs.write_text(COSTS, encoding="utf-8")
    paths = [first, dearer]
    for number in range(2, candidates):
        paths.append(folder / f"{number}.yaml")
        named = DEARER.replace("dearer text", f"{number}_{'a_long_name_' * 3}")
        paths[-1].write_text(named.replace("1.2", f"1.{number}"), encoding="utf-8")
    return ratecard.simulate(table, NOW, paths[:candidates], by=by, costs=costs)


def number_in(value: Any) -> Any:
    """A cell's number: the shortest decimal that its double stands for."""
    return None if value is None else Decimal(str(value))


def fifteen(amount: Decimal | Fraction | None) -> Decimal | None:
    """An amount as a cell keeps it."""
    if amount is None:
        return None
    exact, rounding = Fraction(amount), Context(prec=15, rounding=ROUND_HALF_UP)
    return rounding.divide(Decimal(exact.numerator), Decimal(exact.denominator))


class small_disk:  # noqa: N801
    """Files of this process may grow to sixteen bytes."""

    def __enter__(self) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, self.before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)
