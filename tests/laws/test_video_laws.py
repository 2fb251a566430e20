"""Every shipped video model against the plain formulas of a client, on the day of the quotes and after October.

The laws that any table obeys are in `ratecard.testing.laws`.
"""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from video_requests import BOOKS, CELLS, Cell, requests

from prices_from_models import amounts_of_video
from ratecard.methods import METHODS
from ratecard.server.models import listed_models

SOURCE = ("seconds", "width", "height", "fps")
LISTED = {
    day: {model.id: model.model_dump(mode="json", by_alias=True) for model in listed_models(book, day, "video")}
    for day, book in BOOKS.items()
}
FEW = settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def test_the_laws_are_tried_on_every_model() -> None:
    assert len({cell.model for cell in CELLS}) > 130
    assert {method for cell in CELLS for method in cell.methods} == {
        name for name, charge in METHODS.items() if "video" in charge.TYPES
    }


@pytest.mark.parametrize("cell", CELLS, ids=str)
@FEW
@given(data=st.data())
def test_a_valid_request_costs_what_the_plain_formula_says(cell: Cell, data: st.DataObject) -> None:
    request = data.draw(requests(cell))
    quote = request.quote()
    source = request.source
    known = {name: getattr(source, name) for name in SOURCE if source and getattr(source, name) is not None}
    assert quote.exact == sum(amounts_of_video(LISTED[cell.day][cell.model], request.body, known), Fraction(0))
    assert quote.exact >= 0
    assert sum(Fraction(line.amount) for line in quote.lines) == quote.exact
    with localcontext() as exact:
        exact.prec = 100
        assert quote.total == quote.exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
