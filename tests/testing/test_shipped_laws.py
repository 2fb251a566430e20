"""Every law, lightly, on a sixth of the shipped tables; `make nightly` and `make test-tables` try them on all."""

import pytest
from every_law import cases_of, try_a_little

from nightly import examples
from ratecard.load.folder import read_folder
from ratecard.testing import LAWS, Law
from shipped import CARD

CASES = cases_of(CARD, read_folder())


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.name))
def test_a_law_holds_on_the_shipped_tables(law: Law) -> None:
    cases = [case for case in CASES if law.applies(case)]
    assert cases
    try_a_little([(law, case) for case in cases[:: examples(6, nightly=1)]])
