"""Every shipped video model against plain formulas, on the day of the quotes and after the October prices.

The laws that any table obeys are in `ratecard.testing.laws`.
"""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from video_oracle import expected
from video_requests import CELLS, Cell, requests

FEW = settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def test_the_laws_are_tried_on_every_model() -> None:
    assert len({cell.model for cell in CELLS}) > 130
    assert len({method for cell in CELLS for method in cell.methods}) == 8


@pytest.mark.parametrize("cell", CELLS, ids=str)
@FEW
@given(data=st.data())
def test_a_valid_request_costs_what_the_plain_formula_says(cell: Cell, data: st.DataObject) -> None:
    request = data.draw(requests(cell))
    quote = request.quote()
    assert quote.exact == expected(request)
    assert quote.exact >= 0
    assert sum(Fraction(line.amount) for line in quote.lines) == quote.exact
    with localcontext() as exact:
        exact.prec = 100
        assert quote.total == quote.exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
