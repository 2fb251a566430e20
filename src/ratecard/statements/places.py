"""Whose rate stands at a `file:line`: by this, terms find the lines that they are for."""

from typing import NamedTuple

from ratecard.candidates.rates import attributes_of
from ratecard.tables.card import Tables


class RatePlace(NamedTuple):
    """The model and the charge of a rate, and its attributes."""

    model: str
    charge: str
    attributes: tuple[tuple[str, tuple[str, ...]], ...]


# The place of a line without a rate of the list.
NOWHERE = RatePlace("", "", ())


def places_in(tables: Tables) -> dict[str, RatePlace]:
    """Return the place of every rate of some tables, by its `file:line`."""
    return {
        rate.source: RatePlace(name, charge.charge, tuple(sorted(attributes_of(charge, rate, tables.meters).items())))
        for name, model in tables.models.items()
        for version in model.versions
        for charge in version.charges
        for rate in charge.rates
    }
