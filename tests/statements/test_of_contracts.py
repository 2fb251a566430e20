"""Statements of accounts with contracts: rates, list rates, whose terms, and a contract that outlives its list."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from statement_tables import WORDS, write_rows, write_tables

from ratecard import load_rate_card
from ratecard.base.errors import TableError
from ratecard.load.folder import load_tables
from ratecard.statements import Statement, StatementLine, statement
from ratecard.statements.simulated import simulated_months

ACME = """
contract: acme
accounts: [acme]
from: 2026-09-01
until: 2027-01-01
source: signed by A. Person on 2026-08-20
overrides:
  - {for: {type: text}, percent: -20%}
  - {for: {type: video}, rate: 0.03}
monthly:
  - {included: 0.5, unit: mtoken}
  - {minimum: 5, currency: USD, from: 2026-10-01}
"""
LIST = "monthly:\n  - {included: 1, unit: mcharacter}\n"


def contract(folder: Path, content: str = ACME, name: str = "acme", **changed: str | None) -> Path:
    tables = write_tables(folder / "tables", **{"monthly": LIST, **changed})
    (tables / "contracts").mkdir(exist_ok=True)
    (tables / "contracts" / f"{name}.yaml").write_text(content, encoding="utf-8")
    return tables


def text(when: str, account: str = "acme", tokens: int = 1_000_000) -> dict[str, Any]:
    row = {"type": "text", "model": "scribe", "timestamp": f"{when}T00:00:00Z", "account": account}
    return {**row, "prompt_tokens": tokens, "completion_tokens": 0}


def clip(when: str, account: str = "acme") -> dict[str, Any]:
    return {"type": "video", "model": "reel", "timestamp": f"{when}T00:00:00Z", "account": account, "duration": "5s"}


def made(folder: Path, tables: Path, rows: list[dict[str, Any]], month: str, account: str = "acme") -> Statement:
    return statement(write_rows(folder / "usage.csv", rows), account=account, month=month, tables=tables)


BLOCKS = """
family: blocks
models:
  - model: reader
    name: Reader
    type: text
    currency: USD
    versions:
      - effective: 2026-08-01
        checked: 2026-08-01
        source: a test
        rounding: none
        line_places: 6
        charges:
          - charge: tokens
            method: tokens
            unit: token_block
            rates:
              - {tokens: input, rate: 1}
              - {tokens: output, rate: 2}
        examples:
          - {usage: {prompt_tokens: 3000, completion_tokens: 0}, total: 1}
"""


@pytest.mark.parametrize("minimum", ["", "0.002", "0.01"])
def test_the_list_amount_of_rounded_units_is_what_the_list_charges(tmp_path: Path, minimum: str) -> None:
    """A quantity is rounded only to be shown, so it is not multiplied; and what has no minimum has no line of one."""
    tables = contract(tmp_path, ACME)
    (tables / "units.yaml").write_text("units:\n  - {unit: token_block, counts: token, per: 3000}\n")
    least = f"rounding: none\n        minimum: {minimum}" if minimum else "rounding: none"
    (tables / "blocks.yaml").write_text(BLOCKS.replace("rounding: none", least))
    counts = [(1, 1), (7, 2), (11, 4), (1000, 0)]
    rows = [
        {**text("2026-09-05"), "model": "reader", "prompt_tokens": prompt, "completion_tokens": completion}
        for prompt, completion in counts
    ]
    found = made(tmp_path, tables, rows, "2026-09")
    book = load_rate_card(tables).at(date(2026, 9, 5))
    usages = [{"prompt_tokens": prompt, "completion_tokens": completion} for prompt, completion in counts]
    quotes = [book.rate({"type": "text", "model": "reader", "usage": usage}) for usage in usages]
    amounts = {line.rated.sku: line.list_amount for line in found.lines}
    for sku in {line.sku for quote in quotes for line in quote.lines} | amounts.keys():
        listed = [line.amount for quote in quotes for line in quote.lines if line.sku == sku]
        assert listed, sku
        assert amounts[sku] == sum(listed), sku


def test_a_rate_that_outlives_a_change_of_the_list_has_a_line_for_each_list_rate(tmp_path: Path) -> None:
    tables = contract(
        tmp_path, ACME.replace("percent: -20%", "rate: 3").replace("  - {included: 0.5, unit: mtoken}\n", "")
    )
    found = made(tmp_path, tables, [text("2026-10-05"), text("2026-10-20"), text("2026-10-21")], "2026-10")
    listed = [(line.quantity, line.rated.list_rate, line.amount, line.list_amount) for line in found.lines]
    assert listed == [
        (Decimal(1), Decimal("3.3"), Decimal(3), Decimal("3.3")),
        (Decimal(2), Decimal(4), Decimal(6), Decimal(8)),
    ]
    assert (found.charges, found.list_total) == (Decimal(9), Decimal("11.3"))


def test_a_line_has_the_contract_rate_and_the_list_rate_each_with_its_place(tmp_path: Path) -> None:
    rows = [text("2026-10-02"), clip("2026-10-03"), text("2026-10-02", "bolt")]
    found = made(tmp_path, contract(tmp_path), rows, "2026-10")
    reel, rounding, scribe = found.lines
    assert (scribe.rated.unit_rate, scribe.rated.source) == (Decimal("2.64"), "contracts/acme.yaml:8")
    assert (scribe.rated.list_rate, scribe.rated.list_source) == (Decimal("3.3"), "words.yaml:33")
    assert (scribe.amount, scribe.list_amount, scribe.rated.contract) == (Decimal("2.64"), Decimal("3.3"), "acme")
    assert (reel.amount, reel.rated.source) == (Decimal("0.15"), "contracts/acme.yaml:9")
    assert (rounding.amount, rounding.list_amount) == (Decimal(0), Decimal("0.0035"))
    assert (found.charges, found.list_total, found.contracts) == (Decimal("2.79"), Decimal("3.47"), ("acme",))
    record = found.to_dict()["lines"][2]
    assert [record[name] for name in ("list_rate", "list_amount", "list_source")] == ["3.3", "3.3", "words.yaml:33"]
    assert rounding.rated.list_rate == Decimal(0)
    stranger = made(tmp_path, tmp_path / "tables", rows, "2026-10", "bolt")
    assert (stranger.charges, stranger.list_total, stranger.contracts) == (Decimal("3.3"), Decimal("3.3"), ())


def test_the_terms_of_a_contract_replace_those_of_every_account(tmp_path: Path) -> None:
    tables, rows = contract(tmp_path), [text("2026-10-02"), text("2026-10-02", "bolt"), text("2026-09-02")]
    assert [(each.kind, each.amount) for each in made(tmp_path, tables, rows, "2026-10").terms] == [
        ("included", Fraction("-1.32")),
        ("minimum", Fraction("3.68")),
    ]
    assert [each.kind for each in made(tmp_path, tables, rows, "2026-09").terms] == ["included"]
    others = made(tmp_path, tables, rows, "2026-10", "bolt").terms
    assert [(each.kind, each.unit, each.amount) for each in others] == [("included", "mcharacter", Fraction(0))]
    after = made(tmp_path, tables, [text("2027-01-01")], "2027-01").terms
    assert [each.unit for each in after] == ["mcharacter"]


def test_a_contract_without_terms_has_those_of_every_account(tmp_path: Path) -> None:
    tables = contract(tmp_path, ACME.partition("monthly:")[0])
    assert [each.unit for each in made(tmp_path, tables, [text("2026-10-02")], "2026-10").terms] == ["mcharacter"]


def test_a_contract_with_no_terms_at_all_takes_those_of_every_account_away(tmp_path: Path) -> None:
    tables = contract(tmp_path, ACME.partition("monthly:")[0] + "monthly: []\n")
    assert made(tmp_path, tables, [text("2026-10-02")], "2026-10").terms == ()


@pytest.mark.parametrize(("currency", "payable"), [(None, "3.30"), ("USD", "3.30"), ("EUR", "7.00")])
def test_a_minimum_in_another_currency_is_told_to_be_on_another_statement(
    tmp_path: Path, currency: str | None, payable: str
) -> None:
    """All rows are in USD; a minimum of 7 EUR is due all the same, and other terms in EUR are not."""
    euro = WORDS.replace("words", "mots").replace("scribe", "plume").replace("USD", "EUR")
    terms = "  - {minimum: 7, currency: EUR}\n  - {commitment: 3, currency: EUR}\n  - {included: 3, currency: EUR}\n"
    content = f"{ACME.partition('overrides:')[0]}currency: EUR\nmonthly:\n{terms}"
    tables = contract(tmp_path, content, monthly=None)
    (tables / "mots.yaml").write_text(euro, encoding="utf-8")
    usage = write_rows(tmp_path / "usage.csv", [text("2026-09-02")])
    note = "minimum of 7 EUR (contracts/acme.yaml:9): on a statement of its own, --currency EUR"
    found = statement(usage, account="acme", month="2026-09", tables=tables, currency=currency)
    assert str(found.payable) == payable
    assert [words for words in found.notes if "minimum" in words] == ([] if currency == "EUR" else [note])
    simulated = simulated_months(usage, tables=tables, currency=currency or "USD")
    wanted = "1 row in USD: on a statement of their own, --currency USD" if currency == "EUR" else note
    assert [month.reason for month in simulated] == [wanted]


def test_terms_of_what_is_extended_are_replaced_whole(tmp_path: Path) -> None:
    more = """
contract: more
accounts: [acme]
from: 2026-10-01
source: signed again
extends: acme
monthly:
  - {minimum: 100, currency: USD}
"""
    tables = contract(tmp_path)
    (tables / "contracts" / "more.yaml").write_text(more, encoding="utf-8")
    found = made(tmp_path, tables, [text("2026-10-02")], "2026-10")
    assert [each.kind for each in found.terms] == ["minimum"]
    assert [line.rated.unit_rate for line in found.lines] == [Decimal("2.64")]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"from: 2026-09-01": "from: 2026-09-15"}, "has no from, and the contract's from 2026-09-15 is within a month"),
        (
            {"until: 2027-01-01": "until: 2027-01-15"},
            "has no until, and the contract's until 2027-01-15 is within a month",
        ),
        (
            {"from: 2026-10-01}": "from: 2026-08-01}"},
            "holds outside of the contract, which is from 2026-09-01 until 2027-01-01",
        ),
        (
            {"unit: mtoken": "unit: mtoken, until: 2026-09-01"},
            "holds in no month: it is from 2026-09-01 until 2026-09-01",
        ),
        ({"from: 2026-10-01}": "from: 2027-01-01}"}, "holds in no month: it is from 2027-01-01 until 2027-01-01"),
        (
            {
                "source:": "currency: EUR\nsource:",
                "{included: 0.5, unit: mtoken}": "{volume: [{rate: 2}], unit: mtoken}",
            },
            "has rates of a unit in EUR, and scribe is in USD. Name models of EUR, or write currency: USD",
        ),
        ({"unit: mtoken": "unit: mtokn"}, "unit 'mtokn' is not in units.yaml. Did you mean 'mtoken'?"),
        (
            {"{included: 0.5, unit: mtoken}": "{minimum: 1, currency: USD}"},
            "covers reel (video) too, as does minimum (contracts/acme.yaml:11)",
        ),
    ],
)
def test_faults_of_terms_in_a_contract(tmp_path: Path, changed: dict[str, str], words: str) -> None:
    content = ACME
    for old, new in changed.items():
        content = content.replace(old, new, 1)
    with pytest.raises(TableError) as caught:
        load_tables(contract(tmp_path, content))
    assert words in str(caught.value)
    assert "contracts/acme.yaml:1" in str(caught.value)


def test_a_contract_may_have_rates_of_a_unit_in_its_own_currency(tmp_path: Path) -> None:
    tables = contract(tmp_path, ACME.replace("{included: 0.5, unit: mtoken}", "{volume: [{rate: 2}], unit: mtoken}"))
    assert str(made(tmp_path, tables, [text("2026-09-02")], "2026-09").payable) == "2.00"


def test_a_contract_within_a_month_is_rated_by_the_day_and_its_terms_begin_with_the_next(tmp_path: Path) -> None:
    content = ACME.replace("from: 2026-09-01", "from: 2026-09-15").replace("mtoken}", "mtoken, from: 2026-10-01}")
    rows = [text("2026-09-14"), text("2026-09-15"), text("2026-10-01")]
    tables = contract(tmp_path, content)
    found = made(tmp_path, tables, rows, "2026-09")
    assert sorted(line.rated.unit_rate for line in found.lines) == [Decimal("2.64"), Decimal("3.3")]
    assert [each.unit for each in found.terms] == ["mcharacter"]
    assert "acme has no contract on 2026-09-01: terms of the list" in found.notes
    assert [each.kind for each in made(tmp_path, tables, rows, "2026-10").terms] == ["included", "minimum"]


def test_a_commitment_begins_with_its_contract(tmp_path: Path) -> None:
    content = ACME.partition("monthly:")[0] + "monthly:\n  - {commitment: 3, currency: USD}\n"
    rows = [text("2026-09-02"), text("2026-10-02")]
    found = made(tmp_path, contract(tmp_path, content), rows, "2026-10")
    assert [each.balance for each in found.terms] == [(Fraction("0.36"), Fraction(0))]
    assert str(found.payable) == "2.28"


NO_TERMS = """
contract: pause
accounts: [acme]
from: 2026-10-01
until: 2026-11-01
source: a pause of a month
monthly: []
"""


@pytest.mark.parametrize("of_the_list", [True, False])
@pytest.mark.parametrize(
    "pause", [NO_TERMS, NO_TERMS.replace("[]", "[{included: 9, unit: mtoken, for: {type: text}}]")]
)
@pytest.mark.parametrize("days", [("2026-09-02", "2026-10-02", "2026-11-02"), ("2026-09-02", "2026-11-02")])
def test_a_commitment_goes_on_after_a_contract_of_a_month_that_has_other_terms(
    tmp_path: Path, of_the_list: bool, pause: str, days: tuple[str, ...]
) -> None:
    """Of 5 September draws 3.30, so that 1.70 is left in November, whose usage is 4; October draws nothing."""
    commitment = "monthly: [{commitment: 5, currency: USD, from: 2026-09-01}]\n"
    signed = ACME.partition("overrides:")[0]
    tables = contract(tmp_path, signed + commitment, monthly=None)
    if of_the_list:
        tables = contract(tmp_path, signed.replace("[acme]", "[bolt]"), monthly=commitment)
    else:
        pause = pause.replace("source:", "extends: acme\nsource:")
    (tables / "contracts" / "pause.yaml").write_text(pause, encoding="utf-8")
    rows = [text(day) for day in days]
    found = made(tmp_path, tables, rows, "2026-11")
    assert [(str(line.balance[0]), str(line.balance[1])) for line in found.terms if line.balance] == [("17/10", "0")]
    assert str(found.payable) == "2.30"
    assert [line.balance for line in made(tmp_path, tables, rows, "2026-10").terms if line.balance] == []


def version(day: str, rate: str) -> str:
    """A version of Scribe above the newest one."""
    begin = WORDS.index("      - effective: 2026-10-12")
    newest = WORDS[begin : WORDS.index("      - effective: 2026-08-01")]
    return (
        newest.replace("2026-10-12", day)
        .replace("rate: 4}", f"rate: {rate}}}")
        .replace("13.5", str(Decimal(rate) + Decimal("9.5")))
    )


def test_a_contract_outlives_three_changes_of_the_list(tmp_path: Path) -> None:
    """What is relative follows the list, what is fixed holds, and no line of the contract is touched."""
    days = {"2026-11-05": "5", "2026-11-10": "6", "2026-11-15": "10"}
    begin = WORDS.index("      - effective: 2026-10-12")
    listed = "".join(version(day, rate) for day, rate in reversed(days.items()))
    words = WORDS[:begin] + listed + WORDS[begin:]
    content = ACME.partition("monthly:")[0]
    fixed = content + "  - {for: {model: voice}, rate: 10}\n"
    moments = ("2026-11-04", "2026-11-05", "2026-11-10", "2026-11-15")
    voice = {
        "type": "speech",
        "model": "voice",
        "timestamp": "2026-11-20T00:00:00Z",
        "account": "acme",
        "characters": 10**6,
    }
    rows = [*map(text, moments), voice]
    tables = contract(tmp_path, fixed, words=words, monthly=None)
    found = made(tmp_path, tables, rows, "2026-11")
    text_lines: list[StatementLine] = [line for line in found.lines if line.rated.model == "scribe"]
    rates = [(line.rated.list_rate, line.rated.unit_rate) for line in text_lines]  # sorted by value: 10 comes last
    assert rates == [(Decimal(rate), Decimal(rate) * Decimal("0.8")) for rate in ("4", "5", "6", "10")]
    assert {line.rated.source for line in text_lines} == {"contracts/acme.yaml:8"}
    (spoken,) = (line for line in found.lines if line.rated.model == "voice")
    assert (spoken.rated.unit_rate, spoken.rated.list_rate) == (Decimal(10), Decimal("12.34"))
    assert found.charges == Decimal("20") + 10


def test_a_contract_dearer_than_the_list_does_not_hide_the_minimum_of_the_list(tmp_path: Path) -> None:
    """A request of 3.30 at the list costs at least 5 there, and 6.60 under the contract: the list total is 5."""
    least = WORDS.replace("        rounding: none", "        minimum: 5\n        rounding: none")
    for price, payable in (("rate: 6.6", "6.60"), ("rate: 4", "5.00"), ("factor: 2", "10.00")):
        words = ACME.partition("monthly:")[0].replace("percent: -20%", price)
        tables = contract(tmp_path, words, words=least, monthly=None)
        found = made(tmp_path, tables, [text("2026-09-02")], "2026-09")
        assert (str(found.payable), found.list_total) == (payable, Decimal(5)), price
        assert {line.rated.sku for line in found.lines} == {"scribe-llm-input-mtoken", "scribe-minimum"}
