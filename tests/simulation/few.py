"""`simulate` at the prices of a few models where none are named: for tests of the usage."""

from typing import Any

import ratecard
from ratecard.simulation.result import Simulation
from shipped import FEW


def simulate(usage: Any, current: Any = FEW, *candidates: Any, **how: Any) -> Simulation:
    return ratecard.simulate(usage, current, *candidates, **how)
