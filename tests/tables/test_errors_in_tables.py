"""The page of errors says what the loader says, and what to do about each."""

import pytest

from bad_contracts import BAD_TERMS, HEADS, OVERRIDES
from bad_limits import BAD_LIMITS
from bad_tables import bad_metered_tables, bad_tables
from errors_in_tables import PAGE, fix_of, page


def test_the_page_is_what_the_loader_says_today() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/errors-in-tables.md is stale: run `make catalogue`"


def test_every_mistake_has_its_place_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    bad = [*bad_tables(), *bad_metered_tables(), *BAD_LIMITS, *OVERRIDES, *HEADS, *BAD_TERMS]
    rows = [row for row in text.splitlines() if row.startswith("| ") and not row.startswith("| Mistake")]
    assert len(rows) == len(bad) > 190


def test_a_message_without_a_fix_is_an_error() -> None:
    with pytest.raises(LookupError, match="knows no fix for: it is blue"):
        fix_of("it is blue")


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        (
            "unknown key 'currancy'. Did you mean 'currency'? Allowed here: model",
            "Write `currency` or another of those named, or leave it out.",
        ),
        ("rate '0,1' is not a number. Write digits, like 0.10", "Write digits, like 0.10."),
        ("two rates for the same thing (the other in line 24); keep one", "Keep one."),
        ("mode 'x' is not known. Allowed: none, always", "Write one of the values named."),
        ("audio is missing in accepts", "Write `audio:` there."),
    ],
)
def test_a_fix_is_taken_from_its_message(message: str, fix: str) -> None:
    assert fix_of(message) == fix
