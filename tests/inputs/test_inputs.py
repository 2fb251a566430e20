"""Nothing is assumed in silence: every input below is refused where it is wrong, listed, or priced as it says."""

import pytest
from input_case import InputCase
from ledger_inputs import LEDGER_INPUTS
from limits_inputs import LIMITS_INPUTS
from table_inputs import TABLE_INPUTS
from usage_inputs import USAGE_INPUTS

CASES: list[InputCase] = [*LEDGER_INPUTS, *LIMITS_INPUTS, *TABLE_INPUTS, *USAGE_INPUTS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_answer(case: InputCase) -> None:
    assert case.act() == case.answer
