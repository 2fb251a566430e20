"""The page about simulations names every column of a usage table, of each type those that it has."""

import re

from ratecard.simulation.rows.columns import LAYOUTS
from readme_blocks import ROOT


def test_the_page_names_the_columns_of_every_type() -> None:
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.*) \|$", page, re.MULTILINE))
    shown = {name: re.findall(r"`(\w+)`", words) for name, words in rows.items()}
    assert shown == {
        name: [column.name for column in (*layout.quantities, *layout.attributes)] for name, layout in LAYOUTS.items()
    }
