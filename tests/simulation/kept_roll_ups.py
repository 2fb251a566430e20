"""Roll-ups that are kept, beside the rows they are of: every answer has to be the same, or refused."""

import json
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError
from ratecard.simulation.simulate import simulate

REFUSED = "This one would: ratecard rollup"


def answers(usage: Any, *compared: Any, **how: Any) -> dict[str, Any]:
    """All answers of a simulation as JSON has them, but for the files that were read; or why there are none."""
    try:
        with simulate(usage, *compared, **{"by": ["model", "day"], **how}) as found:
            return _answers(found)
    except SimulationError as error:
        return {"refused": str(error)}


def _answers(found: Any) -> dict[str, Any]:
    path = found.comparison.roll_up.workspace.folder / "report.json"
    found.write(path)
    written: dict[str, Any] = json.loads(Path(path).read_text())
    # Of several shapes that are refused for one reason, any may be the examples.
    for each in written["unpriced"]:
        del each["examples"]
    return written


def same_or_refused(kept: Path, rows: Any, *compared: Any, **how: Any) -> bool:
    """Compare a kept roll-up with its rows. Gives whether it was served; asserts that it is equal if it was."""
    found = answers(kept, *compared, **how)
    if REFUSED in found.get("refused", ""):
        return False
    expected = answers(rows, *compared, **how)
    assert found == expected
    return True
