"""The prices of a few models: for tests of the usage, and beside models that a test makes up."""

from dataclasses import replace
from typing import Any

import ratecard
from ratecard import RateCard
from ratecard.load.folder import tables_from
from ratecard.simulation.result import Simulation
from shipped import FEW
from token_tables import family


def simulate(usage: Any, current: Any = FEW, *candidates: Any, **how: Any) -> Simulation:
    """`simulate` at the prices of a few models where none are named."""
    return ratecard.simulate(usage, current, *candidates, **how)


def with_models(card: RateCard, made_up: RateCard) -> RateCard:
    """The tables of a card with models of another one too."""
    return RateCard(replace(card.tables, models={**card.tables.models, **made_up.tables.models}))._unproved


def card_of_models(*models: str) -> RateCard:
    """A card of made-up models alone, whose examples are not tried."""
    return RateCard(tables_from({"made-up.yaml": family(*models).encode()}))._unproved
