"""Laws of the price sheet: its cells are quotes, and they use every rate."""

import json
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ratecard.sheet import Cell
from ratecard.testing.case import Asked, BrokenLawError, Case, expect
from ratecard.testing.laws.law import Law, any_case
from ratecard.testing.request import Request, json_text
from ratecard.words.money import text


def a_price_cell_equals_its_quote(case: Case, data: st.DataObject) -> None:
    """Every cell of the price sheet is what a quote of its values says."""
    cell = data.draw(st.sampled_from(case.cells))
    request, row = _request_of(case, cell), cell.row()
    asked = case.ask(request, json_text(request.body))
    expect(asked.quote == cell.quote, f"The sheet has another quote, of {text(cell.quote.exact)}", asked)
    expect(Decimal(row["total"]) == asked.quote.total, f"The sheet says {row['total']}", asked)
    sources = " + ".join(line.source for line in asked.quote.lines)
    expect(row["source"] == sources, f"The sheet names {row['source']}", asked)


def every_price_cell_is_rounded_once(case: Case, data: st.DataObject) -> None:
    """The total of every cell is its exact amount rounded once: enough amounts to tell two roundings from one."""
    for cell in case.cells:
        rounded = case.rounded(cell.quote.exact)
        asked = Asked(_request_of(case, cell), cell.quote, case)
        expect(str(cell.quote.total) == str(rounded), f"The total should be {rounded}", asked)


def every_rate_is_charged_somewhere(case: Case, data: st.DataObject) -> None:
    """One unit of every rate of the version can be used, and is charged at it: no line of a table is without effect."""
    used = {line.source for cell in case.cells for line in cell.quote.lines}
    idle = sorted({rate.source for charge in case.version.charges for rate in charge.rates} - used)
    if idle:
        lines = "\n".join(f"  {case.shown(source)}" for source in idle)
        raise BrokenLawError(f"No request is charged at a rate of {case}:\n{lines}")


def _request_of(case: Case, cell: Cell) -> Request:
    if case.found.type == "video":
        return Request(cell.body, cell.video)
    usage: dict[str, Any] = {"type": cell.quote.type, "model": case.model}
    if case.found.type == "surcharge":
        return Request(usage | {"count": 1})
    return Request(usage | json.loads(cell.body["usage"], parse_float=Decimal))


LAWS = (
    Law(a_price_cell_equals_its_quote, any_case),
    Law(every_price_cell_is_rounded_once, any_case),
    Law(every_rate_is_charged_somewhere, any_case),
)
