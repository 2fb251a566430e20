"""Every law, lightly, on a sixth of the shipped tables; `make nightly` and `make test-tables` try them on all."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nightly import examples
from ratecard.load.folder import read_folder
from ratecard.testing import LAWS, Case, Law
from shipped import CARD

FILES = read_folder()
CASES = [
    Case(CARD.at(version.effective), model.model, FILES)
    for model in CARD.tables.models.values()
    for version in model.versions
]


# All models of a law share a run, because starting one takes longer than a few requests.
@settings(
    max_examples=2,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def try_a_little(law: Law, cases: list[Case], data: st.DataObject) -> None:
    for case in cases:
        law.trial(case, data)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.name))
def test_a_law_holds_on_the_shipped_tables(law: Law) -> None:
    cases = [case for case in CASES if law.applies(case)]
    assert cases
    tried = cases[:: examples(6, nightly=1)]
    for start in range(0, len(tried), 60):  # a run draws only so much
        try_a_little(law=law, cases=tried[start : start + 60])
