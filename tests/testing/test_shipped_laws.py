"""Every law, lightly, on a third of the shipped tables; `make test-tables` tries them harder, and on all."""

import pytest

from ratecard.load.folder import read_folder
from ratecard.testing import LAWS, Case, Law, check
from shipped import CARD

FILES = read_folder()
CASES = [
    Case(CARD.at(version.effective), model.model, FILES)
    for model in CARD.tables.models.values()
    for version in model.versions
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.name))
def test_a_law_holds_on_the_shipped_tables(law: Law) -> None:
    cases = [case for case in CASES if law.applies(case)]
    assert cases
    for case in cases[::3]:
        check(law, case, max_examples=2)
