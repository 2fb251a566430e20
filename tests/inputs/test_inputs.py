"""Nothing is assumed in silence: every input below is refused where it is wrong, listed, or priced as it says."""

import pytest
from input_case import InputCase
from ledger_inputs import LEDGER_INPUTS

CASES: list[InputCase] = [*LEDGER_INPUTS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_answer(case: InputCase) -> None:
    assert case.act() == case.answer
