"""Which changes of contracts are refused, and what `check` and `diff` say of contracts."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from contract_tables import TABLES, card_of, contract, write
from ratecard.card import RateCard
from ratecard.cli.commands import main
from ratecard.review.contracts import contract_notes
from ratecard.review.guard import Rules, refusals
from ratecard.review.market import compare_models
from ratecard.review.sides import Side
from ratecard.simulation.answers.attribution import changed_rates
from ratecard.testing.plugin import checks_of
from ratecard.whatif.draft import Choices

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
DISCOUNT = "- {for: {type: text}, percent: -20%}"
RETIRED = TABLES["video.yaml"].replace("    mode:", "    retired: {on: 2026-12-01}\n    mode:", 1)


def refused(
    old: list[str], new: list[str], tables: dict[str, str] = TABLES, before: dict[str, str] = TABLES
) -> list[str]:
    """Return the refusals of the guard for a change of contracts, on 2026-11-10."""
    cards: list[RateCard] = [card_of(*old, tables=before), card_of(*new, tables=tables)]
    return [str(fault) for fault in refusals(cards[0], cards[1], Rules(NOW, Decimal(2), "HEAD"))]


TERM = "monthly:\n  - {minimum: 6, currency: USD}\n"
TIERS = "monthly:\n  - {volume: [{up_to: 5, percent: -10%}, {factor: 0.5}], unit: mtoken}\n"
BEGUN, LATER = contract(DISCOUNT), contract(DISCOUNT, begins="2026-12-01")
CASES: dict[str, tuple[list[str], list[str], str]] = {
    "nothing": ([BEGUN], [BEGUN], ""),
    "a new one from today on": ([], [contract(DISCOUNT, begins="2026-11-10")], ""),
    "a new one in the past": ([], [contract(DISCOUNT, begins="2026-11-09")], "contract 'acme' begins on 2026-11-09"),
    "with a reason": ([], [contract(DISCOUNT, begins="2026-11-09", further="correction: late\n")], ""),
    "an edit": ([BEGUN], [contract("- {for: {type: text}, percent: -25%}")], "was edited: type text: x 0.8 -> x 0.75"),
    "an edit of one that begins later": (
        [LATER],
        [contract("- {for: {type: text}, factor: 0.5}", begins="2026-12-01")],
        "",
    ),
    "one moved into the past": ([LATER], [BEGUN], "contract 'acme' begins on 2026-10-01, in the past"),
    "an early end": ([BEGUN], [contract(DISCOUNT, until="2026-12-01")], "until: 2027-10-01 -> 2026-12-01"),
    "a later end": ([BEGUN], [contract(DISCOUNT, until="2028-12-01")], ""),
    "a later end of one that has ended": (
        [contract(DISCOUNT, until="2026-11-01")],
        [BEGUN],
        "until: 2026-11-01 -> 2027-10-01",
    ),
    "another account": ([BEGUN], [contract(DISCOUNT, accounts="a-1, a-2")], "was edited: accounts"),
    "an account less": (
        [contract(DISCOUNT, accounts="a-1, a-2")],
        [BEGUN],
        "was edited: accounts: a-1, a-2 -> a-1",
    ),
    "who signed it": ([BEGUN], [BEGUN.replace("signed 2026-09-20", "signed by both")], ""),
    "accounts in another order": (
        [contract(DISCOUNT, accounts="a-1, a-2")],
        [contract(DISCOUNT, accounts="a-2, a-1")],
        "",
    ),
    "the same reason again": (
        [contract(DISCOUNT, further="correction: late\n")],
        [contract("- {for: {type: text}, factor: 0.7}", further="correction: late\n")],
        "'late' is the reason of an earlier correction",
    ),
    "a new reason": (
        [contract(DISCOUNT, further="correction: late\n")],
        [contract("- {for: {type: text}, factor: 0.7}", further="correction: 30 % was signed\n")],
        "",
    ),
    "a percentage written as a factor": ([BEGUN], [contract("- {for: {type: text}, factor: 0.8}")], ""),
    "and a later end": ([BEGUN], [contract("- {for: {type: text}, factor: 0.8}", until="2028-12-01")], ""),
    "a factor written as a percentage": ([contract("- {for: {type: text}, factor: 0.8}")], [BEGUN], ""),
    "a term with the dates that it has": (
        [contract(DISCOUNT, further=TERM)],
        [contract(DISCOUNT, further=TERM.replace("USD", "USD, from: 2026-10-01, until: 2027-10-01"))],
        "",
    ),
    "a term that ends later with its contract": (
        [contract(DISCOUNT, further=TERM)],
        [contract(DISCOUNT, further=TERM, until="2028-10-01")],
        "",
    ),
    "a tier with a factor for its percentage": (
        [contract(DISCOUNT, further=TIERS)],
        [contract(DISCOUNT, further=TIERS.replace("percent: -10%", "factor: 0.9"))],
        "",
    ),
    "a tier with another factor": (
        [contract(DISCOUNT, further=TIERS)],
        [contract(DISCOUNT, further=TIERS.replace("percent: -10%", "factor: 0.8"))],
        "up to 5: x 0.9; above: x 0.5, until 2027-10-01 -> up to 5: x 0.8; above: x 0.5, until 2027-10-01",
    ),
    "no terms where there were those of every account": (
        [BEGUN],
        [contract(DISCOUNT, further="monthly: []\n")],
        "was edited: monthly: none -> []",
    ),
    "a bound for a rate": (
        [contract("- {for: {model: clip}, rate: 1}")],
        [contract("- {for: {model: clip}, at_most: 1}")],
        "was edited: model clip: 1 -> none",
    ),
    "taken away": ([BEGUN], [], "contract 'acme' vanished, and has had prices since 2026-10-01"),
    "taken away before it begins": ([LATER], [], ""),
    "a model that everyone had": (
        [],
        [contract("- {for: {model: clip}, only: true}", begins="2026-12-01")],
        "only takes clip away from everyone else",
    ),
    "a model that everyone had, beside a contract with a reason": (
        [],
        [
            contract("", "other", "a-9", further="correction: late\n"),
            contract("- {for: {model: clip}, only: true}", begins="2026-12-01"),
        ],
        "c1.yaml:7: only takes clip away from everyone else",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_contract_that_has_begun_changes_for_a_reason_only(case: str) -> None:
    old, new, words = CASES[case]
    found = refused(old, new)
    assert len(found) == bool(words), found
    if words:
        assert words in found[0]


FAMILY = "- {for: {family: made-up}, percent: -20%}"
TERM_OF_FAMILY = TERM.replace("USD", "USD, for: {family: made-up}")
OTHERS = TABLES["text.yaml"].replace("made-up", "other").replace("model: ", "model: other-")
FAMILIES = {**TABLES, "others.yaml": OTHERS}
EXCHANGED = {
    "text.yaml": TABLES["text.yaml"].replace("made-up", "other"),
    "others.yaml": OTHERS.replace("family: other", "family: made-up"),
}
TEN_SECONDS = {
    "units.yaml": "units:\n  - {unit: video_second, counts: second of video, per: 10}\n",
    "video.yaml": TABLES["video.yaml"]
    .replace("0.10", "1")
    .replace("0.20", "2")
    .replace("source:", "correction: per ten seconds\n        source:", 1),
}
MOVED, EDITED = "tiered moved from family made-up to other", "unit video_second, which it counts in, was edited"
DEPENDING = {
    "an override of a family": (contract(FAMILY), EXCHANGED, f"c0.yaml:7: percent is in effect, and {MOVED}"),
    "a term of a family": (contract("", further=TERM_OF_FAMILY), EXCHANGED, f"minimum is in effect, and {MOVED}"),
    "one that begins later": (contract(FAMILY, begins="2026-12-01"), EXCHANGED, ""),
    "one of the type": (contract(DISCOUNT), EXCHANGED, ""),
    "a price of a unit": (
        contract("- {for: {model: clip}, at_most: 1}"),
        TEN_SECONDS,
        f"at_most is in effect, and {EDITED}",
    ),
    "a discount": (contract("- {for: {model: clip}, factor: 0.5}"), TEN_SECONDS, ""),
}


@pytest.mark.parametrize("case", DEPENDING)
def test_a_family_or_unit_on_which_a_contract_in_effect_depends_may_not_be_edited(case: str) -> None:
    held, edit, words = DEPENDING[case]
    found = refused([held], [held], {**FAMILIES, **edit}, FAMILIES)
    assert len(found) == bool(words), found
    assert words in "".join(found)
    reasoned = held.replace("source:", "correction: agreed\nsource:")
    assert refused([held], [reasoned], {**FAMILIES, **edit}, FAMILIES) == []


def test_what_meets_nothing_is_refused_where_the_contract_is_new_or_edited() -> None:
    tables, override = TABLES | {"video.yaml": RETIRED}, "- {for: {model: clip}, percent: -5%}"
    new = contract(override, begins="2027-01-01")
    [words] = refused([], [new], tables)
    assert words.startswith("contracts/c0.yaml:7: percent meets nothing any more: clip is retired on 2026-12-01")
    assert refused([new], [new], tables) == []
    assert refused([], [contract(override, begins="2026-11-20")], tables) == []


@pytest.mark.parametrize("until", ["2026-11-01", "2027-10-01"])
def test_a_correction_is_held_against_the_whole_term(until: str) -> None:
    """Also of a contract that has ended, and of a model that has retired since."""
    tables = TABLES | {"video.yaml": RETIRED.replace("2026-12-01", "2026-10-20")}
    override = "- {for: {model: clip}, percent: -5%}\n- {for: {type: text}, percent: -9%}"
    signed, mended = contract(override, until=until), contract(override.replace("-5%", "-6%"), until=until)
    assert refused([signed], [mended.replace("source:", "correction: agreed\nsource:")], tables, tables) == []
    (words,) = refused([signed], [mended], tables, tables)
    assert "was edited" in words
    assert refused([], [signed.replace("source:", "correction: agreed\nsource:")], tables, tables) == []


@pytest.mark.parametrize(
    ("begins", "until", "closed"),
    [("2026-10-01", "2027-10-01", True), ("2026-12-01", "2027-10-01", True), ("2026-10-01", "2027-01-01", False)],
)
def test_a_price_of_a_model_that_the_extended_contract_closes_meets_nothing(
    begins: str, until: str, closed: bool
) -> None:
    base = contract("- {for: {family: clips}, closed: true}", begins=begins, until=until)
    new = contract(
        "- {for: {model: [clip, hidden]}, percent: -5%}\n- {for: {type: [video, text]}, percent: -9%}",
        *("other", "a-2", "2026-12-01"),
        further="extends: acme\n",
    )
    found = refused([base], [base, new])
    assert len(found) == closed, found
    assert not closed or found[0].startswith("contracts/c1.yaml:8: percent meets nothing: clip is closed for this")


def test_check_and_diff_name_the_overrides_that_end_with_a_model(tmp_path: Path) -> None:
    one = contract("- {for: {model: clip}, percent: -5%}\n" + DISCOUNT)
    before = write(tmp_path / "before", one)
    after = write(tmp_path / "after", one, tables=TABLES | {"video.yaml": RETIRED})
    done = CliRunner().invoke(main, ["check", str(after)])
    assert done.exit_code == 0
    assert "1 contract. Digest" in done.output
    words = "percent (contracts/c0.yaml:7) ends on 2026-12-01: clip retired"
    assert f"contracts/c0.yaml:7: {words}" in done.output
    found = CliRunner().invoke(main, ["diff", str(before), str(after)])
    assert f"contract acme, from 2026-10-01, before 2027-10-01: {words}" in " ".join(found.output.split())


def test_diff_shows_what_differs_of_contracts_in_every_format(tmp_path: Path) -> None:
    before = write(
        tmp_path / "before", contract(DISCOUNT + "\n- {for: {model: clip, conditions: {resolution: 480p}}, at_most: 1}")
    )
    after = write(tmp_path / "after", contract("- {for: {type: text}, percent: -25%}"), contract("", "new", "a-9"))
    for kind, words in {
        "text": ("~ type text: x 0.8 -> x 0.75", "- model clip, resolution 480p: at_most: 1", "+ contract new"),
        "markdown": ("| ~ | `contract acme` | type text | x 0.8 | x 0.75 |",),
        "json": ('"term": "type text"',),
        "html": ("type text",),
    }.items():
        found = CliRunner().invoke(main, ["diff", str(before), str(after), "--format", kind]).output
        assert all(each in found for each in words), found


KEPT = contract("- {for: {model: hidden}, only: true}\n- {for: {model: hidden}, percent: -10%}")


def test_prices_of_a_model_that_a_contract_keeps_for_itself_are_compared_like_all_others(tmp_path: Path) -> None:
    start, head, version = TABLES["video.yaml"].rpartition("      - effective: 2026-01-01\n")
    later = (head + version).replace("0.30", "0.90").replace("effective: 2026", "effective: 2027")
    dearer = TABLES | {"video.yaml": start + later + head + version}
    [refusal] = refused([KEPT], [KEPT], tables=dearer)
    assert "hidden: video goes from 0.3 (video.yaml:39) to 0.9, by a factor of 3" in refusal
    before, after = write(tmp_path / "before", KEPT), write(tmp_path / "after", KEPT, tables=dearer)
    told = CliRunner().invoke(main, ["diff", str(before), str(after)]).output
    assert "~ hidden, from 2027-01-01\n    ~ video: 0.3 -> 0.9 USD per clip (+200%)" in told
    margins = CliRunner().invoke(main, ["check", str(before), "--min-margin", "20%", "--cost", str(before)])
    assert "video.yaml:39: hidden from " in margins.output
    sides = Side("old", card_of(KEPT)), Side("new", card_of(KEPT, tables=dearer))
    assert [name for _, name, _ in changed_rates(*sides)] == ["hidden"]


@pytest.mark.parametrize("name", ["clip", "hidden"])
def test_a_candidate_is_promoted_beside_a_model_that_a_contract_keeps_for_itself(name: str, tmp_path: Path) -> None:
    folder, path = write(tmp_path / "tables", KEPT), tmp_path / "up.yaml"
    head = "candidate: up\neffective: 2027-01-01\nproposed_by: Pricing\nwhy: dearer\nchanges:\n"
    path.write_text(f"{head}  - scale: {{model: {name}}}\n    factor: 2\n")
    done = CliRunner().invoke(main, ["promote", str(path), "--tables", str(folder)])
    assert done.exit_code == 0, done.output
    assert f"{name} from 2027-01-01" in done.output


def test_a_model_that_a_contract_keeps_for_itself_is_compared_with_others_and_may_be_changed_in_a_draft() -> None:
    card = card_of(KEPT)
    [pair] = compare_models(card, card, {"hidden": "clip"}, at=NOW).models
    assert pair.rates and not pair.reason
    assert "hidden" in Choices(card, NOW.date()).names()["model"]


def test_the_test_kit_tries_a_model_that_a_contract_keeps_for_itself() -> None:
    files = {**TABLES, "contracts/c.yaml": KEPT}
    checks = [check.name for check in checks_of(card_of(KEPT), {name: text.encode() for name, text in files.items()})]
    assert "hidden::2026-01-01::example 1" in checks


def test_diff_counts_contracts_beside_models(tmp_path: Path) -> None:
    before = write(tmp_path / "before", contract(DISCOUNT), contract("", "old", "a-8"))
    after = write(tmp_path / "after", contract(DISCOUNT), contract("", "new", "a-9"), contract("", "newer", "a-7"))
    found = CliRunner().invoke(main, ["diff", str(before), str(after)]).output
    assert "2 contracts added, 1 contract removed" in found, found
    assert "model" not in found
    told = json.loads(CliRunner().invoke(main, ["diff", str(before), str(after), "--format", "json"]).stdout)
    assert [told["counts"][f"{what}_added"] for what in ("models", "contracts")] == [0, 2]


def test_diff_at_an_instant_shows_the_contracts_that_hold_then(tmp_path: Path) -> None:
    before, after = write(tmp_path / "before"), write(tmp_path / "after", LATER)
    for day, differs in (("2026-11-30", False), ("2026-12-01", True), ("2027-10-01", False)):
        found = CliRunner().invoke(main, ["diff", str(before), str(after), "--at", day])
        assert ("contract acme" in found.output) is differs, day


def test_check_works_the_examples_of_contracts(tmp_path: Path) -> None:
    example = "examples:\n  - {model: tiered, usage: {prompt_tokens: 1000, completion_tokens: 0}, total: 0.002}\n"
    done = CliRunner().invoke(main, ["check", str(write(tmp_path, contract(DISCOUNT, further=example)))])
    assert done.exit_code == 1
    assert "contracts/c0.yaml:7: acme: the example says 0.002, the rates give 0.0016" in done.output


def test_the_commands_of_prices_know_contracts_and_accounts(tmp_path: Path) -> None:
    folder = ["--tables", str(write(tmp_path, contract(DISCOUNT))), "--at", "2026-11-01"]
    rated = ["rate", "--model", "tiered", "--prompt-tokens", "1000", "--completion-tokens", "0", *folder]
    for named in (["--contract", "acme"], ["--account", "a-1"]):
        assert "contracts/c0.yaml:7" in CliRunner().invoke(main, [*rated, *named]).output
        for command in (["explain", "tiered"], ["sheet", "tiered", "--every-request"]):
            assert "contracts/c0.yaml:7" in CliRunner().invoke(main, [*command, *folder, *named]).output
    listed = CliRunner().invoke(main, [*rated, "--account", "a-2"])
    assert (listed.exit_code, "text.yaml" in listed.stdout) == (0, True)
    warning = "Warning: account 'a-2' has no contract at 2026-11-01T00:00Z: these are prices of the list."
    assert listed.stderr.strip() == f"{warning} Did you mean 'a-1'?"
    early = CliRunner().invoke(main, [*rated[:-1], "2026-09-30", "--contract", "acme"])
    assert "contract 'acme' does not hold at 2026-09-30T00:00Z: these are prices of the list" in early.stderr
    wrong = CliRunner().invoke(main, [*rated, "--contract", "acne"])
    assert (wrong.exit_code, "Did you mean 'acme'?" in wrong.output) == (2, True)


def test_check_notes_a_contract_that_is_for_nobody() -> None:
    base = contract("", "base").replace("accounts: [a-1]\n", "")
    assert not list(contract_notes(card_of(base, contract("", "derived", further="extends: base\n")), ()))
    (note,) = contract_notes(card_of(base), ())
    words = "is for no account, and no contract extends it, so that nobody has its prices. Name accounts"
    assert str(note) == f"contracts/c0.yaml:1: contract 'base' {words}"


@pytest.mark.parametrize(
    ("begins", "until", "dates"),
    [
        ("2026-09-01", "2026-10-02", ""),
        ("2026-09-01", "2026-10-01", "2026-09-01 until 2026-10-01"),
        ("2027-09-30", "2028-01-01", ""),
        ("2027-10-01", "2028-01-01", "2027-10-01 until 2028-01-01"),
    ],
)
def test_check_notes_a_contract_that_extends_one_of_other_days(begins: str, until: str, dates: str) -> None:
    """The contract itself is from 2026-10-01 until 2027-10-01."""
    base = contract("", "base", accounts="a-2", begins=begins, until=until)
    notes = [str(note) for note in contract_notes(card_of(base, contract("", further="extends: base\n")), ())]
    words = f"contracts/c1.yaml:1: extends 'base', which is from {dates}: on no day of this contract, so that it takes"
    assert [note.startswith(words) for note in notes] == ([True] if dates else [])


@pytest.mark.parametrize(
    "likely",
    [
        "percent: -20%",
        "factor: 0.21",
        "percent: 0%",
        "rate: 0",
        "rate: 0.21",
        "rate: 14",
        "at_most: 1000",
        "at_least: 0.1",
    ],
)
def test_check_does_not_note_a_likely_price(likely: str) -> None:
    assert not list(contract_notes(card_of(contract(f"- {{for: {{model: flat}}, {likely}}}")), ()))


@pytest.mark.parametrize(
    ("unlikely", "total", "words"),
    [
        ("percent: 20%", "1.2", "percent makes 1.2 times the list price. 20 % less is percent: -20%"),
        ("factor: 0.2", "0.2", "factor makes 0.2 times the list price."),
        ("factor: 20", "20", "factor makes 20 times the list price."),
        ("rate: 0.001", "0.001", "rate 0.001 is far from each list price that it is for, like 1. If it is meant"),
        ("rate: 15", "15", "rate 15 is far from each list price that it is for, like 1"),
        ("at_most: 0.003", "0.003", "at_most 0.003 is far from each list price that it is for, like 1"),
        ("at_least: 1000", "1000", "at_least 1000 is far from each list price that it is for, like 1"),
    ],
)
def test_check_notes_a_price_that_may_be_a_slip(tmp_path: Path, unlikely: str, total: str, words: str) -> None:
    worked = f"examples: [{{model: flat, usage: {{prompt_tokens: 1000000, completion_tokens: 0}}, total: {total}}}]\n"
    for further in ("", worked):
        folder = write(tmp_path, contract(f"- {{for: {{model: flat}}, {unlikely}}}", further=further))
        checked = CliRunner().invoke(main, ["check", str(folder)])
        assert (checked.exit_code, words in checked.output) == (0, not further), checked.output
