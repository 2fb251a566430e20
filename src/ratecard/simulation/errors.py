"""Simulation errors."""

from ratecard.base.errors import RateCardError


class SimulationError(RateCardError):
    """A simulation that cannot be made: which usage, column or specification, and what is allowed."""


def missing_extra(extra: str, error: ImportError) -> SimulationError:
    """Return what to install where a part of an extra is missing."""
    return SimulationError(f"{error.name} is not installed. Install it: pip install 'ratecard[{extra}]'")
