"""Roll-ups that are kept, beside the rows they are of: every answer has to be the same, or refused."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet

from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.simulate import simulate
from shipped import FEW

REFUSED = "This one would: ratecard rollup"
NOW = Side("now", FEW)
DEARER = Side("then", FEW.with_candidate(Path(__file__).parent / "dearer.yaml"))


def made_up_rows(folder: Path, card: RateCard = FEW) -> pyarrow.Table:
    """400 rows of all types, a tenth of them without a price; each part of them has rows of all days."""
    demo_usage(folder / "rows.parquet", 400, seed=3, card=card, bad_share=Decimal("0.1"))
    return pyarrow.parquet.read_table(folder / "rows.parquet").take([*range(0, 400, 2), *range(1, 400, 2)])


def write(rows: pyarrow.Table, path: Path, first: int, count: int) -> None:
    """Write a part of the rows as a file."""
    pyarrow.parquet.write_table(rows.slice(first, count), path)


def three_files(rows: pyarrow.Table, folder: Path) -> Path:
    """A folder with three files of 100 rows each."""
    folder.mkdir()
    for number, name in enumerate(("one", "two", "three")):
        write(rows, folder / f"{name}.parquet", number * 100, 100)
    return folder


def answers(usage: Any, *compared: Any, lines: bool = False, **how: Any) -> dict[str, Any]:
    """All answers of a simulation as JSON has them, but for the files that were read; or why there are none.

    With `lines`, those of the last side's prices too.
    """
    try:
        with simulate(usage, *compared, **{"by": ["model", "day"], **how}) as found:
            prices = [outcome.price for outcome in found.comparison.sides[-1].outcomes] if lines else []
            return _answers(found) | {"lines": [price.lines for price in prices if price and price.shape]}
    except SimulationError as error:
        return {"refused": str(error)}


def _answers(found: Any) -> dict[str, Any]:
    path = found.comparison.roll_up.workspace.folder / "report.json"
    found.write(path)
    written: dict[str, Any] = json.loads(Path(path).read_text())
    # If several shapes are refused for one reason, any of them may be the examples.
    for each in written["unpriced"]:
        del each["examples"]
    return written


def same_or_refused(kept: Path | str, rows: Any, *compared: Any, **how: Any) -> bool:
    """Compare a kept roll-up with its rows. Gives whether it was served; asserts that it is equal if it was."""
    found = answers(kept, *compared, **how)
    if REFUSED in found.get("refused", ""):
        return False
    expected = answers(rows, *compared, **how)
    assert found == expected
    return True
