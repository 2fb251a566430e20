"""The page on the usage history lists every parameter."""

from ratecard.server.usage_history import FILTERS
from readme_blocks import ROOT

PAGE = "docs/usage-history.md"


def test_every_parameter_is_on_the_page() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in (*FILTERS, "cursor"))
