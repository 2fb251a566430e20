"""The page on the usage history tells the truth."""

from ratecard.history.parameters import FILTERS
from readme_blocks import ROOT, outputs, passing

PAGE = "docs/usage-history.md"


def test_every_example_prints_what_the_page_shows() -> None:
    found = list(outputs(PAGE))
    assert len(found) == 3
    for block, shown, printed in found:
        assert passing(shown) == passing(printed), f"{PAGE}:{block.line}"


def test_every_parameter_is_on_the_page() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in (*FILTERS, "cursor"))
