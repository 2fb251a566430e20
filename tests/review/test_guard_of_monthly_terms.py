"""What `ratecard check --against` refuses of `monthly.yaml`: its terms hold for every account, month by month."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from contract_tables import TABLES, card_of, contract
from git_tables import edited, repository, write
from ratecard.cli import main
from ratecard.review.guard import Rules, refusals

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
TEXT = "- {included: 2, unit: mtoken}"
LESS = TEXT.replace("2", "1")
MINIMUM = "- {minimum: 20, currency: USD}"
TIERS = "- {volume: [{up_to: 5, percent: -10%}, {factor: 0.5}], unit: mtoken}"
REASON = "correction: it was never agreed\n"


def dated(term: str, **days: str) -> str:
    """A term with `from` and `until`, which are months."""
    return term[:-1] + "".join(f", {key.rstrip('_')}: {month}-01" for key, month in days.items()) + "}"


def monthly(*terms: str, head: str = "") -> str:
    """The text of `monthly.yaml`; empty without terms and head."""
    return head + "monthly:\n" + "".join(f"  {term}\n" for term in terms) if terms else head and f"{head}monthly: []\n"


def refused(old: str, new: str, as_of: datetime = NOW, *contracts: str) -> list[str]:
    """Return the refusals of the guard for this change of `monthly.yaml`."""
    cards = [card_of(*contracts, tables={**TABLES, **({"monthly.yaml": text} if text else {})}) for text in (old, new)]
    return [str(fault) for fault in refusals(cards[0], cards[1], Rules(as_of, Decimal(2), "HEAD"))]


MESSAGE = (
    "monthly.yaml:2: monthly included of mtoken, which every account has, was edited in months that have begun: "
    "2 -> 1. Let it change from 2026-12-01 on, by until and from; "
    "if it was wrong from the start, say `correction: reason` in monthly.yaml"
)
EDITS: dict[str, tuple[str, str, str]] = {
    "an amount": (monthly(TEXT), monthly(LESS), MESSAGE),
    "a tier": (monthly(TIERS), monthly(TIERS.replace("0.5", "0.6")), "up to 5: x 0.9; above: x 0.5 -> up to 5: x 0.9"),
    "a term that is gone": (
        monthly(MINIMUM, TEXT),
        monthly(MINIMUM),
        "HEAD:monthly.yaml:3: monthly included of mtoken",
    ),
    "the file that is gone": (monthly(TEXT), "", "HEAD:monthly.yaml:2: monthly included of mtoken, which"),
    "a new term": (
        "",
        monthly(MINIMUM),
        "monthly.yaml:2: monthly minimum of USD, which every account has, was edited in",
    ),
    "one of this month": ("", monthly(dated(MINIMUM, from_="2026-11")), "was edited from 2026-11-01 on: none -> 20"),
    "one of months that are over": (
        "",
        monthly(dated(MINIMUM, from_="2026-08", until="2026-09")),
        "was edited from 2026-08-01 on: none -> 20",
    ),
    "an early end": (monthly(TEXT), monthly(dated(TEXT, until="2026-11")), "was edited from 2026-11-01 on: 2 -> none"),
    "a later end of one that has ended": (
        monthly(dated(TEXT, until="2026-10")),
        monthly(dated(TEXT, until="2026-12")),
        "was edited from 2026-10-01 on: none -> 2",
    ),
    "an earlier beginning": (
        monthly(dated(TEXT, from_="2026-10")),
        monthly(dated(TEXT, from_="2026-08")),
        "was edited from 2026-08-01 on: none -> 2",
    ),
    "the reason of an earlier correction": (
        monthly(TEXT, head=REASON),
        monthly(LESS, head=REASON),
        "'it was never agreed' is the reason of an earlier correction; if this is one too, say why",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_terms_of_months_that_have_begun_may_not_be_edited(edit: str) -> None:
    old, new, words = EDITS[edit]
    [fault] = refused(old, new)
    assert words in fault


def test_what_a_term_is_for_may_not_be_edited_either() -> None:
    for_text = f"{TEXT[:-1]}, for: {{type: text}}}}"
    found = refused(monthly(TEXT), monthly(for_text))
    assert [words.partition(", which")[0].partition(": ")[2] for words in found] == [
        "monthly included of mtoken",
        "monthly included of mtoken for {type: text}",
    ]


ALLOWED: dict[str, tuple[str, str]] = {
    "nothing": (monthly(TEXT), monthly(TEXT)),
    "another order": (monthly(TEXT, MINIMUM), monthly(MINIMUM, TEXT)),
    "names in another order": (
        monthly("- {included: 2, unit: mtoken, for: {family: [made-up, clips]}}"),
        monthly("- {for: {family: [clips, made-up]}, unit: mtoken, included: 2.0}"),
    ),
    "a percentage written as a factor": (monthly(TIERS), monthly(TIERS.replace("percent: -10%", "factor: 0.9"))),
    "one name as a list": (
        monthly(f"{TEXT[:-1]}, for: {{type: text}}}}"),
        monthly(f"{TEXT[:-1]}, for: {{type: [text]}}}}"),
    ),
    "a note": (monthly(TEXT), monthly(f"{TEXT[:-1]}, note: since spring}}")),
    "an end in a later month": (monthly(TEXT), monthly(dated(TEXT, until="2026-12"))),
    "another amount from a later month on": (
        monthly(TEXT),
        monthly(dated(TEXT, until="2026-12"), dated(LESS, from_="2026-12")),
    ),
    "one term as two that follow each other": (
        monthly(TEXT),
        monthly(dated(TEXT, until="2026-10"), dated(TEXT, from_="2026-10")),
    ),
    "a term of a later month": (monthly(dated(TEXT, from_="2026-12")), monthly(dated(LESS, from_="2027-01"))),
    "with a reason": (monthly(TEXT), monthly(LESS, head=REASON)),
    "none any more, with a reason": (monthly(TEXT), monthly(head=REASON)),
    "with another reason": (monthly(TEXT, head=REASON), monthly(LESS, head="correction: nor was it 2\n")),
}


@pytest.mark.parametrize("edit", ALLOWED)
def test_what_changes_no_month_that_has_begun_is_allowed(edit: str) -> None:
    assert refused(*ALLOWED[edit]) == []


@pytest.mark.parametrize(
    ("as_of", "next_month"),
    [
        ("2026-10-31T23:59:59", ""),
        ("2026-11-01T00:00:00", ""),
        ("2026-11-01T00:00:01", "2026-12-01"),
        ("2026-12-31T23:59:59", "2027-01-01"),
    ],
)
def test_a_month_has_begun_after_its_first_instant(as_of: str, next_month: str) -> None:
    found = refused("", monthly(dated(TEXT, from_="2026-11")), datetime.fromisoformat(f"{as_of}+00:00"))
    assert [words.partition("Let it change from ")[2][:10] for words in found] == [next_month] * bool(next_month)


def test_a_contract_without_terms_does_not_hide_an_edit_of_those_of_every_account() -> None:
    assert len(refused(monthly(TEXT), monthly(LESS), NOW, contract("- {for: {type: text}, percent: -20%}"))) == 1


def test_the_reason_is_not_in_the_digest() -> None:
    cards = [card_of(tables={**TABLES, "monthly.yaml": monthly(TEXT, head=head)}) for head in ("", REASON)]
    assert cards[0].digest == cards[1].digest


def test_check_refuses_a_deleted_file_of_terms(tmp_path: Path) -> None:
    files = edited()
    folder = repository(tmp_path, {**files, "monthly.yaml": monthly(MINIMUM)})
    write(folder, files)
    done = CliRunner().invoke(main, ["check", str(folder), "--against=HEAD", "--as-of=2026-11-01T12:00:00Z"])
    assert done.exit_code == 1
    assert done.stdout.startswith("HEAD:monthly.yaml:2: monthly minimum of USD, which every account")
    assert done.stderr.endswith("1 change refused\n")
