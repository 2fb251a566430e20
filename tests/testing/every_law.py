"""Every law that applies, tried on all models and versions of a card with the same data."""

from collections.abc import Iterable

from hypothesis import strategies as st

from ratecard import RateCard
from ratecard.testing import LAWS, Case


def cases_of(card: RateCard, files: dict[str, bytes]) -> list[Case]:
    return [
        Case(card.at(version.effective), model.model, files)
        for model in card.tables.models.values()
        for version in model.versions
    ]


def try_every_law(cases: Iterable[Case], data: st.DataObject) -> None:
    for case in cases:
        for law in LAWS:
            if law.applies(case):
                law.trial(case, data)
