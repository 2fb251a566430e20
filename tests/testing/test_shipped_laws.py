"""Every law, lightly, on a sixth of the shipped tables; `make nightly` and `make test-tables` try them on all."""

import pytest

from nightly import examples
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
    for case in cases[:: examples(6, nightly=1)]:
        check(law, case, max_examples=2)
