"""Eight price lists of the field as tables, against totals that were worked out by fractions, at every edge."""

import json
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import list_oracle as oracle
import pytest

import ratecard


@cache
def prices(name: str) -> ratecard.PriceBook:
    """The prices of a list."""
    return ratecard.load_rate_card(oracle.HERE / name).at(date(2026, 11, 1))


def cases() -> list[Any]:
    """Each usage of each list with its total, None where it is refused."""
    found = []
    for name in oracle.LISTS:
        for number, line in enumerate(
            (oracle.HERE / name / "totals.jsonl").read_text(encoding="utf-8").splitlines(), 1
        ):
            read = json.loads(line)
            found.append(pytest.param(name, read["usage"], read["total"], id=f"{name}-{number}"))
    return found


@pytest.mark.parametrize(("name", "usage", "total"), cases())
def test_a_usage_costs_what_its_list_says(name: str, usage: dict[str, Any], total: str | None) -> None:
    usage = (
        {**usage, "counts": {meter: Decimal(count) for meter, count in usage["counts"].items()}}
        if usage.get("counts")
        else usage
    )
    if total is None:
        with pytest.raises(ratecard.QuoteError):
            prices(name).rate(usage)
    else:
        assert prices(name).rate(usage).total == Decimal(total)


@pytest.mark.parametrize("name", oracle.LISTS)
def test_the_totals_are_those_of_the_fractions(name: str) -> None:
    written = (oracle.HERE / name / "totals.jsonl").read_text(encoding="utf-8").splitlines()
    assert written == oracle.lines(name)
    assert len(written) >= 50
    assert len({line for line in written if line.endswith("null}")}) >= 4
