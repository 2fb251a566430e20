"""What is refused of a contract when it is loaded, each with its file and line."""

import pytest

from contract_tables import TABLES, card_of, contract
from ratecard.base.errors import TableError

EURO = TABLES["text.yaml"].replace("currency: USD", "currency: EUR", 1)


def faults(*contracts: str, tables: dict[str, str] = TABLES) -> str:
    """The faults of these contracts."""
    with pytest.raises(TableError) as error:
        card_of(*contracts, tables=tables)
    return str(error.value)


OVERRIDES = {
    "- {for: {model: tierd}, percent: -5%}": "no model 'tierd'. Did you mean 'tiered'?",
    "- {for: {type: txt}, percent: -5%}": "no type 'txt'. Did you mean 'text'?",
    "- {for: {family: clip}, percent: -5%}": "no family 'clip'. Did you mean 'clips'?",
    "- {for: {type: text, except: {model: x}}, percent: -5%}": "no model 'x'",
    "- {for: {charge: tokens}, percent: -5%}": "names no models. Write one of: model, family, type",
    "- {for: {model: tiered, type: text}, percent: -5%}": "names a model, so leave out family and type",
    "- {for: {type: text, charge: token}, percent: -5%}": "no charge 'token'. Did you mean 'tokens'?",
    "- {for: {type: text, conditions: {tokens: outputs}}, percent: -5%}": "no rate of type text is for tokens: outputs",
    "- {for: {model: flat, conditions: {service_tier: batch}}, factor: 2}": "no rate of model flat is for service_tier",
    "- {for: {model: clip, conditions: {audio: true}}, percent: -5%}": "no rate of model clip is for audio: true",
    "- {for: {type: text, except: {model: clip}}, percent: -5%}": "leaves nothing out: no model of type text is of",
    "- {for: {family: clips, except: [{model: clip}, {type: text}]}, percent: -5%}": "is of type text. Leave it out",
    "- {for: {type: text, except: {type: text}}, percent: -5%}": "except leaves out every model of type text",
    "- {for: {model: hidden}, closed: true}\n- {for: {model: hidden}, only: true}": "only keeps hidden from everyone",
    "- {for: {type: text}}": "has no price. Write one of: percent, factor, rate, at_most, at_least, only, closed",
    "- {for: {type: text}, percent: -5%, at_most: 3}": "has percent and at_most. Write one of",
    "- {for: {type: text}, only: false}": "says only: false, which changes nothing",
    "- {for: {type: text, charge: tokens}, closed: true}": "says closed, which is of whole models",
    "- {for: {model: web-search}, only: true}": "only of web-search, which text models may charge",
    "- {for: {type: text}, percent: -100%}": "leaves nothing of a rate",
    "- {for: {type: text}, rate: -1}": "is negative",
    "- {for: {type: text}, rte: 1}": "unknown key 'rte'. Did you mean 'rate'?",
    "- {for: {type: text}, factor: 2}\n- {for: {type: text}, rate: 3}": "rate and factor (contracts/c0.yaml:7) meet",
    "- {for: {type: text, charge: tokens}, rate: 3}\n- {for: {model: flat}, rate: 2}": "meet, and neither names more",
    "- {for: {type: text}, at_most: 3}\n- {for: {model: flat}, at_least: 4}": "at_least is above at_most",
    "- {for: {model: tiered, conditions: {service_tier: batch}}, at_least: 3}\n- {for: {type: text}, at_most: 4}": (
        "at_least is above at_most"
    ),
}


@pytest.mark.parametrize("overrides", OVERRIDES)
def test_a_wrong_override_is_refused_at_its_line(overrides: str) -> None:
    found = faults(contract(overrides))
    assert OVERRIDES[overrides] in found
    assert found.startswith("contracts/c0.yaml:"), found
    assert int(found.split(":")[1]) == 6 + len(overrides.splitlines())


HEADS = {
    contract("", until="2026-10-01"): "c0.yaml:4: until '2026-10-01' must be after from 2026-10-01",
    contract("", until="tomorrow"): "c0.yaml:4: until 'tomorrow' is not a date",
    contract("", further="currency: euro\n"): "c0.yaml:1: currency 'euro' is not an ISO 4217 code",
    contract("", further="extends: bas\n"): "c0.yaml:1: extends 'bas', which is no contract",
    contract("", further="discount: 5%\n"): "c0.yaml:6: unknown key 'discount'",
    contract("").replace("source: signed 2026-09-20\n", ""): "c0.yaml:1: source is missing",
}


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
    # Another contract that names the model, or extends what keeps it, has the model.
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
