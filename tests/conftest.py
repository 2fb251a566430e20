"""One card for the whole run: it is immutable."""

from datetime import UTC, datetime

import pytest

import ratecard


@pytest.fixture(scope="session")
def card() -> ratecard.RateCard:
    return ratecard.load_rate_card()


@pytest.fixture(scope="session")
def prices(card: ratecard.RateCard) -> ratecard.PriceBook:
    """What was in effect on the day of the 2,355 given quotes."""
    return card.at(datetime(2026, 9, 29, tzinfo=UTC))
