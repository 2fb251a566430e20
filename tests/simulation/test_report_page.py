"""The page about simulations names every column of a usage table; the page of a report colours its amounts."""

import re
from decimal import Decimal

import pytest

from ratecard.simulation.report.figures import Kind
from ratecard.simulation.report.page import tone_of
from ratecard.simulation.rows.columns import LAYOUTS
from readme_blocks import ROOT


def test_the_page_names_the_columns_of_every_type() -> None:
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.*) \|$", page, re.MULTILINE))
    shown = {name: re.findall(r"`(\w+)`", words) for name, words in rows.items()}
    assert shown == {
        name: [column.name for column in (*layout.quantities, *layout.attributes)] for name, layout in LAYOUTS.items()
    }


@pytest.mark.parametrize(
    ("amount", "kind", "row", "tone"),
    [
        (2, Kind.CHANGE, Kind.CHANGE, "rise"),
        (-2, Kind.CHANGE, Kind.CHANGE, "fall"),
        (-2, Kind.CHANGE, Kind.LOST, "lost"),
        (2, Kind.CHANGE, Kind.NEW, "new"),
        (-2, Kind.LOST, Kind.CHANGE, "lost"),
        (2, Kind.NEW, Kind.CHANGE, "new"),
        (2, Kind.PERCENT, Kind.NEW, "rise"),
        (2, Kind.MONEY, Kind.CHANGE, ""),
        (-2, Kind.MONEY, Kind.NEW, "fall"),
        (0, Kind.CHANGE, Kind.NEW, ""),
    ],
)
def test_a_change_has_the_colour_of_its_row_and_other_amounts_their_own(
    amount: int, kind: Kind, row: Kind, tone: str
) -> None:
    assert tone_of(Decimal(amount), kind, row) == tone
