"""Every shipped video model against the plain formulas of a client, on the day of the quotes and after October.

The laws that any table obeys are in `ratecard.testing.laws`.
"""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from video_requests import BOOKS, CELLS, Cell, Request, requests

from nightly import is_nightly
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


def cells_by_method() -> dict[str, list[Cell]]:
    """The cells by their first method; without those whose model has the same version on a day before."""
    found: dict[str, list[Cell]] = {}
    for number, cell in enumerate(CELLS):
        if is_nightly() or all((cell.model, cell.version) != (other.model, other.version) for other in CELLS[:number]):
            found.setdefault(cell.version.charges[0].method, []).append(cell)
    return found


BY_METHOD = cells_by_method()


def test_every_version_of_a_model_is_tried() -> None:
    assert {(cell.model, cell.version.effective) for cells in BY_METHOD.values() for cell in cells} == {
        (cell.model, cell.version.effective) for cell in CELLS
    }
    assert {cell.day for cells in BY_METHOD.values() for cell in cells} == BOOKS.keys()


@pytest.mark.parametrize("method", BY_METHOD)
def test_a_valid_request_costs_what_the_plain_formula_says(method: str) -> None:
    """The cells of a method share a run, because starting one takes longer than a few requests."""
    whole = []

    @FEW
    @given(data=st.data())
    def attempt(data: st.DataObject) -> None:
        for cell in BY_METHOD[method]:
            compare(cell, data.draw(requests(cell), label=str(cell)))
        whole.append(method)

    attempt()
    # An example that draws too much is left out in silence.
    assert len(whole) == FEW.max_examples


def compare(cell: Cell, request: Request) -> None:
    """Compare the quote of a request with the formulas, line by line and rounded once."""
    quote = request.quote()
    source = request.source
    known = {name: getattr(source, name) for name in SOURCE if source and getattr(source, name) is not None}
    assert quote.exact == sum(amounts_of_video(LISTED[cell.day][cell.model], request.body, known), Fraction(0))
    assert quote.exact >= 0
    assert sum(Fraction(line.amount) for line in quote.lines) == quote.exact
    with localcontext() as exact:
        exact.prec = 100
        assert quote.total == quote.exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
