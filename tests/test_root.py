"""The root of the package: what a first program needs. Everything else has a place of its own."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ratecard

ROOT = Path(__file__).parent.parent
# Packages and modules that programs import from, each with the page that says how.
PLACES = {
    "ratecard.accounts": "accounts.md",
    "ratecard.review.market": "watch-the-market.md",
    "ratecard.ledger": "charges.md",
    "ratecard.limits": "accounts.md",
    "ratecard.load": "api.md",
    "ratecard.probe": "probe.md",
    "ratecard.line_items": "api.md",
    "ratecard.server": "server.md",
    "ratecard.testing": "test-your-tables.md",
}
# The new places of names that the root had, as in `_MOVED`; written out, because programs have to follow them.
MOVED = {
    "ratecard.accounts": """
        Amounts ApiKey ApiKeyList BalanceError ConsumptionLimits CurrencyError KeyUsage TopUpError check_top_up
        current_period_usage daily_allowance next_refresh period_end period_start settle trailing_seven_days
        within_limits
    """,
    "ratecard.review.market": "compare_models",
    "ratecard.ledger": "LedgerError ledger_csv ledger_json read_ledger",
    "ratecard.limits": """
        Block Limit LimitError Sunset VideoLimit failed_request_block limits_for rate_limit_headers sunset
    """,
    "ratecard.load": "Fault",
    "ratecard.line_items": "InferenceDetails LedgerEntry LineRate PricedVersion",
}
OLD = [(name, place) for place, names in MOVED.items() for name in names.split()]


def test_the_root_has_at_most_25_names() -> None:
    assert len(ratecard.__all__) <= 25
    assert not {name for name, _ in OLD} & set(ratecard.__all__)


@pytest.mark.parametrize("place", PLACES)
def test_a_public_place_has_at_most_20_names_and_a_page(place: str) -> None:
    module = import_module(place)
    assert len(module.__all__) <= 20
    assert all(hasattr(module, name) for name in module.__all__)
    assert place in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert place in (ROOT / "docs" / PLACES[place]).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "place"), OLD)
def test_an_old_name_still_works_and_names_its_new_place(name: str, place: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"ratecard.{name} is now {place}.{name};") as said:
        value = getattr(ratecard, name)
    assert value is getattr(import_module(place), name)
    assert said[0].filename == __file__, "the warning is at the line of the program"
    assert name in import_module(place).__all__


def test_an_import_of_an_old_name_is_warned_of_at_its_line(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\nfrom ratecard import settle\n", encoding="utf-8")
    command = [sys.executable, "-W", "always::DeprecationWarning", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{program}:2: DeprecationWarning: ratecard.settle is now ratecard.accounts.settle;" in done.stderr


def test_the_names_of_the_root_warn_of_nothing() -> None:
    code = "import ratecard; [getattr(ratecard, name) for name in ratecard.__all__]; from ratecard import *"
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning:ratecard", "-c", code], check=True)


def test_a_name_that_never_was_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Amount'"):
        _ = ratecard.Amount
