"""Every law that applies, tried on all models and versions of a card with the same data."""

from hypothesis import strategies as st

from ratecard import RateCard
from ratecard.testing import LAWS, Case


def try_every_law(card: RateCard, files: dict[str, bytes], data: st.DataObject) -> None:
    for model in card.tables.models.values():
        for version in model.versions:
            case = Case(card.at(version.effective), model.model, files)
            for law in LAWS:
                if law.applies(case):
                    law.trial(case, data)
