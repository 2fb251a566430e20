"""Reports of a draft, each made in a process of its own, so that the page has all its time and memory.

The process is `python -m ratecard.whatif.report_process`. It reads its task as JSON, and writes a line for each step.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple

from babel import Locale

from ratecard.base.errors import RateCardError, SimulationError
from ratecard.base.instants import utc
from ratecard.base.threads import repeating
from ratecard.card import load_rate_card
from ratecard.review.sides import Side
from ratecard.simulation.prices.sides import costs_of
from ratecard.simulation.progress import within
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Draft, from_json, to_json

_CHANGED = "The tables have changed since the page was opened; start it again"
# The progress of a report, in percent, once its usage is priced: a workbook takes most of its time for its rows.
_SIMULATED = {".html": 90, ".xlsx": 10}
# Milliseconds between two lines about one step.
_EVERY = 1000
# A function that is called with a step and, if it is known, the progress of all steps in percent.
Tell = Callable[[str, int | None], object]


class RecordedUsage(NamedTuple):
    """The way to read the usage of the page again: files, arguments of `simulate`, costs, tables and locale."""

    files: tuple[str, ...]
    settings: Mapping[str, Any]
    cost: str | None = None
    tables: Path | None = None
    locale: str = "en"


async def report_of(usage: RecordedUsage, draft: Draft, label: str, digest: str, ending: str, tell: Tell) -> bytes:
    """Make the report of a draft as a file of `ratecard simulate --out`, like `.xlsx`.

    Parameters: `label` names its prices in the report, `digest` is that of the current tables with contracts, and
    `tell` is called for each step. Raises `SimulationError` with the reason if it cannot be made.
    """
    with TemporaryDirectory(prefix="ratecard-") as folder:
        out = Path(folder) / f"report{ending}"
        task = usage._asdict() | {"tables": usage.tables and str(usage.tables), "out": str(out)}
        task |= {"draft": to_json(draft), "label": label, "digest": digest}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert process.stdin and process.stdout  # noqa: S101 (both are pipes)
            process.stdin.write(json.dumps(task).encode())
            process.stdin.write_eof()
            async for line in process.stdout:
                words, percent = json.loads(line)
                if words.startswith(_WRONG):
                    raise SimulationError(words.removeprefix(_WRONG))
                tell(words, percent)
            if await process.wait():
                raise SimulationError("it cannot be made; the terminal says why")
            return out.read_bytes()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


# The beginning of a line that says why the report cannot be made.
_WRONG = "! "
_ONE_AT_A_TIME = Lock()


def _say(words: str, percent: int | None = None) -> None:
    with _ONE_AT_A_TIME:
        sys.stdout.write(f"{json.dumps((words, percent))}\n")
        sys.stdout.flush()


class _Steps:
    """The progress of the running step."""

    _words = ""
    _percent: Callable[[], Any] | None = None

    def begin(self, words: str, percent: Callable[[], Any] | None) -> None:
        self._words, self._percent = words, percent
        _say(words)

    def tell(self) -> None:
        if (percent := self._percent) is not None:
            _say(self._words, int(percent()))


def make(task: Mapping[str, Any]) -> None:
    """Make the report that a task describes. Raises `RateCardError`."""
    tables = Path(task["tables"]) if task["tables"] else None
    card, draft = load_rate_card(tables), from_json(task["draft"])
    if card.tables.digest_with_contracts != task["digest"]:
        raise SimulationError(_CHANGED)
    day = date.fromisoformat(draft.effective)
    current = Side(day.isoformat(), card, utc(day))
    candidate = draft.side(current, task["label"])
    settings = task["settings"] | {"costs": costs_of(task["cost"], [current], tables)}
    out = Path(task["out"])
    simulated = _SIMULATED[out.suffix]
    steps = _Steps()
    with repeating(steps.tell, _EVERY):
        reading, writing = within(steps.begin, 0, simulated), within(steps.begin, simulated, 100)
        with simulate(task["files"], current, [candidate], progress=reading, **settings) as simulation:
            question = Question(elasticities=draft.elasticities(simulation))
            write(Report(simulation, question, Locale.parse(task["locale"])), [out], writing)


def main() -> None:
    """Make the report of the task on the standard input."""
    try:
        make(json.load(sys.stdin))
    except RateCardError as error:
        _say(f"{_WRONG}{error}")


if __name__ == "__main__":
    main()
