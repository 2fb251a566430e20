"""What is refused of a contract when it is loaded, each with its file and line."""

import pytest

from bad_contracts import HEADS, OVERRIDES
from contract_tables import TABLES, card_of, contract
from ratecard.base.errors import Fault, TableError
from ratecard.contracts.checks import fault_at
from token_tables import by_tokens, family, text_model

EURO = TABLES["text.yaml"].replace("currency: USD", "currency: EUR", 1)


def faults(*contracts: str, tables: dict[str, str] = TABLES) -> str:
    """The faults of these contracts."""
    with pytest.raises(TableError) as error:
        card_of(*contracts, tables=tables)
    return str(error.value)


@pytest.mark.parametrize("overrides", OVERRIDES)
def test_a_wrong_override_is_refused_at_its_line(overrides: str) -> None:
    found = faults(contract(overrides))
    assert OVERRIDES[overrides] in found
    assert found.startswith("contracts/c0.yaml:"), found
    assert int(found.split(":")[1]) == 6 + len(overrides.splitlines())


@pytest.mark.parametrize("text", HEADS)
def test_a_wrong_head_is_refused(text: str) -> None:
    assert HEADS[text] in faults(text)


def test_an_amount_in_another_currency_than_the_models_is_refused() -> None:
    tables = TABLES | {"text.yaml": EURO}
    override = "- {for: {model: tiered}, at_most: 3}"
    found = faults(contract(override), tables=tables)
    assert "c0.yaml:7: at_most is in USD, and tiered in EUR. Name models of USD, or write currency: EUR" in found
    card_of(contract(override, further="currency: EUR\n"), tables=tables)
    card_of(contract("- {for: {model: tiered}, percent: -5%}"), tables=tables)


def test_two_contracts_of_one_account_at_one_instant_are_refused_unless_one_extends_the_other() -> None:
    one, other = contract("", "one"), contract("", "other", begins="2027-03-01", until="2028-01-01")
    found = faults(one, other)
    assert "c1.yaml:1: account 'a-1' has contract 'one' (contracts/c0.yaml:1) from 2026-10-01 too" in found
    assert "write extends: one" in found
    card_of(one, contract("", "other", begins="2027-10-01", until="2028-01-01"))
    card_of(one, contract("", "other", "a-2"))
    card_of(one, contract("", "other", begins="2027-03-01", until="2028-01-01", further="extends: one\n"))
    third = contract("", "third", further="extends: one\n")
    assert "account 'a-1' has contract" in faults(one, contract("", "other", further="extends: one\n"), third)


def test_a_name_that_two_have_and_a_circle_are_refused() -> None:
    assert "contract 'acme' is in contracts/c0.yaml:1 too" in faults(contract(""), contract("", accounts="a-2"))
    circle = contract("", "one", further="extends: other\n"), contract("", "other", "a-2", further="extends: one\n")
    assert "which leads back to it" in faults(*circle)


def test_a_retired_model_is_no_fault() -> None:
    retired = TABLES["video.yaml"].replace("    mode:", "    retired: {on: 2026-12-01}\n    mode:", 1)
    card_of(contract("- {for: {model: clip}, percent: -5%}"), tables=TABLES | {"video.yaml": retired})


def test_a_model_that_is_kept_for_nobody_is_a_fault() -> None:
    keeps = contract("- {for: {model: hidden}, only: true}")
    nobody = keeps.replace("accounts: [a-1]\n", "")
    words = "c0.yaml:6: only keeps hidden from everyone: no contract with accounts has a price for it. Name accounts"
    assert words in faults(nobody)
    # Another contract can use the model if it names it, or extends the contract that keeps it.
    for overrides, further in (("- {for: {model: hidden}, percent: -5%}", ""), ("", "extends: acme\n")):
        card_of(nobody, contract(overrides, "other", "a-2", further=further))
    closed = contract("- {for: {model: hidden}, closed: true}", "other", "a-2", further="extends: acme\n")
    assert words in faults(nobody, closed)
    card_of(keeps, closed)


@pytest.mark.parametrize(
    ("at", "outside"),
    [
        ("2026-09-30T23:59:59Z", True),
        ("2026-10-01T00:00:00Z", False),
        ("2027-09-30T23:59:59Z", False),
        ("2027-10-01T00:00:00Z", True),
    ],
)
def test_an_example_outside_of_the_term_is_a_fault(at: str, outside: bool) -> None:
    text = contract("") + f"examples:\n  - {{model: clip, at: {at}, request: {{duration: 5s}}, total: 1}}\n"
    if not outside:
        card_of(text)
        return
    words = "the example is at an instant without these prices: the contract is from 2026-10-01 until 2027-10-01"
    assert f"c0.yaml:7: {words}. Write at within it" in faults(text)


def test_a_name_that_is_missing_further_on_is_one_fault_of_its_own_contract() -> None:
    found = faults(
        contract("", "one", further="extends: other\n"), contract("", "other", "a-2", further="extends: gone\n")
    )
    assert found.startswith("contracts/c1.yaml:1: extends 'gone', which is not a contract.")
    assert "\n" not in found


# A model whose price begins on 2026-12-01, and one that retires on that day.
BEGINS = "search.yaml", "2026-01-01", "2026-12-01"
RETIRES = "video.yaml", "    mode:", "    retired: {on: 2026-12-01}\n    mode:"


@pytest.mark.parametrize(
    ("model", "changed", "term", "contradicts"),
    [
        ("web-search", BEGINS, {"until": "2026-11-01"}, False),
        ("web-search", BEGINS, {"until": "2027-11-01"}, True),
        ("clip", RETIRES, {"begins": "2026-11-30"}, True),
        ("clip", RETIRES, {"begins": "2026-12-01"}, False),
        ("clip", RETIRES, {"begins": "2027-01-01"}, False),
    ],
)
def test_bounds_contradict_each_other_only_while_both_contracts_hold_and_the_model_has_a_price(
    model: str, changed: tuple[str, str, str], term: dict[str, str], contradicts: bool
) -> None:
    file, old, new = changed
    tables = TABLES | {file: TABLES[file].replace(old, new, 1)}
    most = contract(f"- {{for: {{model: {model}}}, at_most: 1}}", "base", "a-2", **term)
    least = contract(f"- {{for: {{model: {model}}}, at_least: 2}}", "own", further="extends: base\n")
    if contradicts:
        assert "at_least 2 and at_most 1 (contracts/c0.yaml:7) contradict" in faults(most, least, tables=tables)
    else:
        card_of(most, least, tables=tables)


def test_two_overrides_that_meet_are_one_fault_however_many_models_they_are_for() -> None:
    found = faults(contract("- {for: {type: text}, percent: -5%}\n- {for: {type: text}, percent: -9%}"))
    assert found.startswith("contracts/c0.yaml:8: tiered and 1 further model: percent and percent")
    assert len(found.splitlines()) == 1


METERS = """\
meters:
  - meter: token
    dimensions: {direction: [input, output]}
    buckets: [{bucket: input, direction: input}, {bucket: output, direction: output}]
conditions:
  - {condition: tempo, values: [slow, quick, even]}
"""


def test_a_value_without_a_rate_of_a_condition_without_a_default_is_told_those_with_one() -> None:
    rates = (f"- {{tokens: [input, output], tempo: {tempo}, rate: 2}}" for tempo in ("slow", "quick"))
    tables = {"meters.yaml": METERS, "text.yaml": family(text_model("seen", by_tokens("\n".join(rates))))}
    found = faults(contract("- {for: {model: seen, conditions: {tempo: even}}, factor: 2}"), tables=tables)
    assert "no rate of model seen is for tempo: even. Allowed: slow, quick. Name" in found


def test_a_contract_of_no_file_is_at_its_first_line() -> None:
    assert fault_at("", "acme", "words") == Fault("", 1, ("acme",), "words")


def test_a_contract_outside_of_its_folder_is_told_where_to_go() -> None:
    words = "acme.yaml:1: is a contract, and these are read in the folder contracts/. Move the file there"
    assert faults(tables=TABLES | {"acme.yaml": contract("")}) == words
