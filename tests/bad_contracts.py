"""What is refused of contracts and of the terms of a month: what is written, and words that are said of it.

The tests of these mistakes try each, and the catalogue of errors lists them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from contract_tables import TABLES, contract
from ratecard.base.errors import Fault, TableError
from ratecard.load.folder import tables_from

sys.path.append(str(Path(__file__).parent / "statements"))
from statement_tables import FILES

OVERRIDES = {
    "- {for: {model: tierd}, percent: -5%}": "no model 'tierd'. Did you mean 'tiered'?",
    "- {for: {type: txt}, percent: -5%}": "no type 'txt'. Did you mean 'text'?",
    "- {for: {family: clip}, percent: -5%}": "no family 'clip'. Did you mean 'clips'?",
    "- {for: {type: text, except: {model: x}}, percent: -5%}": "no model 'x'",
    "- {for: {charge: tokens}, percent: -5%}": "names no models. Write one of: model, family, type",
    "- {for: {model: tiered, type: text}, percent: -5%}": "names a model, so leave out family and type",
    "- {for: {type: text, charge: token}, percent: -5%}": "no charge 'token'. Did you mean 'tokens'?",
    "- {for: {type: text, conditions: {tokens: outputs}}, percent: -5%}": "no rate of type text is for tokens: outputs",
    "- {for: {type: text, conditions: {tokens: [output, inp]}}, percent: -5%}": "no rate of type text is for tokens: i",
    "- {for: {model: flat, conditions: {service_tier: batch}}, factor: 2}": (
        "no rate of model flat is for service_tier: batch. Allowed: context, tokens"
    ),
    "- {for: {model: clip, conditions: {audio: true}}, percent: -5%}": "no rate of model clip is for audio: true",
    "- {for: {type: text, except: {model: clip}}, percent: -5%}": "leaves nothing out: no model of type text is of",
    "- {for: {family: clips, except: [{model: clip}, {type: text}]}, percent: -5%}": "is of type text. Leave it out",
    "- {for: {type: text, except: []}, percent: -5%}": "except is empty. Name a model",
    "- {for: {type: text, except: {type: text}}, percent: -5%}": "except leaves out every model of type text",
    "- {for: {model: hidden}, closed: true}\n- {for: {model: hidden}, only: true}": "only keeps hidden from everyone",
    "- {for: {type: text}}": "has no price. Write one of: percent, factor, rate, at_most, at_least, only, closed",
    "- {for: {type: text}, percent: -5%, at_most: 3}": "has percent and at_most. Write one of",
    "- {for: {type: text}, only: false}": "says only: false, which changes nothing",
    "- {for: {type: text, charge: tokens}, closed: true}": "says closed, which is for whole models",
    "- {for: {model: web-search}, only: true}": "only of web-search, which text models may charge",
    "- {for: {type: text}, percent: -100%}": "leaves nothing of a rate",
    "- {for: {type: text}, rate: -1}": "is negative",
    "- {for: {type: text}, rte: 1}": "unknown key 'rte'. Did you mean 'rate'?",
    "- {for: {type: text}, factor: 2}\n- {for: {type: text}, rate: 3}": "rate and factor (contracts/c0.yaml:7) apply",
    "- {for: {type: text, charge: tokens}, rate: 3}\n- {for: {model: flat}, rate: 2}": "and neither names more",
    "- {for: {type: text}, at_most: 3}\n- {for: {model: flat}, at_least: 4}": "at_least is above at_most",
    "- {for: {model: tiered, conditions: {service_tier: batch}}, at_least: 3}\n- {for: {type: text}, at_most: 4}": (
        "at_least is above at_most"
    ),
}
HEADS = {
    contract("", until="2026-10-01"): "c0.yaml:4: until '2026-10-01' must be after from 2026-10-01",
    contract("", until="tomorrow"): "c0.yaml:4: until 'tomorrow' is not a date",
    contract("", further="currency: euro\n"): "c0.yaml:1: currency 'euro' is not an ISO 4217 code",
    contract("", further="extends: bas\n"): "c0.yaml:1: extends 'bas', which is not a contract",
    contract("", further="discount: 5%\n"): "c0.yaml:6: unknown key 'discount'",
    contract("").replace("source: signed 2026-09-20\n", ""): "c0.yaml:1: source is missing",
}
FREE = "{included: 1, unit: mtoken}"
BAD_TERMS: list[tuple[list[str], str]] = [
    (
        ["{unit: mtoken}"],
        "monthly.yaml:2: monthly is not a term. Write one of: included, graduated, volume, commitment, minimum",
    ),
    (["{included: 1, minimum: 2, unit: mtoken}"], "has included and minimum; write each on its own"),
    (["{included: 1}"], "must say what it measures, by one of: unit (like mtoken), currency (like USD)"),
    (["{included: 1, unit: mtoken, currency: USD}"], "must say what it measures"),
    (["{included: 0, unit: mtoken}"], "must be more than zero"),
    (["{included: 1, unit: mtokens}"], "unit 'mtokens' is not in units.yaml. Did you mean 'mtoken'?"),
    (["{included: 1, currency: usd}"], "currency 'usd' is not an ISO 4217 code"),
    (["{minimum: 1, unit: mtoken}"], "has a minimum in units, and it must be of money"),
    (["{minimum: 1, currency: USD, from: 2026-10-02}"], "is within a month, and nothing is prorated"),
    (["{minimum: 1, currency: USD, from: 2026-10-01, until: 2026-10-01}"], "must be after from"),
    (["{commitment: 1, currency: USD}"], "has no from. Write the month in which the commitment begins"),
    (
        ["{included: 1, unit: mtoken, for: {model: scrib}}"],
        "no model 'scrib'. Did you mean 'scribe'?",
    ),
    (["{included: 1, unit: mtoken, for: {charge: words}}"], "charge 'words' is not in the tables"),
    (["{included: 1, unit: mtoken, for: {except: {family: wods}}}"], "no family 'wods'"),
    (
        ["{included: 1, unit: mtoken, for: {type: text, except: {family: sound}}}"],
        "except leaves nothing out: no model of type text is of family sound. Leave it out",
    ),
    (
        ["{included: 1, unit: mtoken, for: {except: [{type: text}, {type: speech}, {type: video}]}}"],
        "except leaves out every model. Name fewer in it",
    ),
    (
        ["{included: 1, unit: mtoken, for: {type: speech}}"],
        "covers nothing: no model of the tables that has lines in mtoken",
    ),
    (["{included: 1, currency: EUR}"], "covers nothing"),
    (["{included: 1, unit: mtoken, fro: x}"], "unknown key 'fro'"),
    (["{volume: [{up_to: 1, percent: 0%}], unit: mtoken}"], "must have an up_to in every tier but the last"),
    (["{volume: [], unit: mtoken}"], "must have an up_to in every tier but the last"),
    (["{volume: [{percent: 0%}, {percent: 0%}], unit: mtoken}"], "must have an up_to in every tier but the last"),
    (["{volume: [{up_to: 2, rate: 1}, {up_to: 2, rate: 1}, {rate: 1}], unit: mtoken}"], "up_to do not rise"),
    (["{volume: [{up_to: 2, rate: 1, factor: 2}, {rate: 1}], unit: mtoken}"], "has rate and factor; keep one"),
    (["{volume: [{up_to: 2}, {rate: 1}], unit: mtoken}"], "has no price. Write one of: rate"),
    (
        ["{volume: [{up_to: 2, percent: 0%}, {rate: 1}], currency: USD}"],
        "is over money, so its tiers cannot have a rate per unit",
    ),
    (
        ["{included: 1, unit: mtoken, for: {type: text, conditions: {tokens: outptu}}}"],
        "matches nothing: no rate of type text is for tokens: outptu. Did you mean 'output'? Allowed: input, output",
    ),
    (
        ["{included: 1, unit: mtoken, for: {conditions: {tokens: [output, inptu]}}}"],
        "matches nothing: no rate is for tokens: inptu. Did you mean 'input'?",
    ),
    (
        ["{included: 1, unit: mtoken, for: {type: text, conditions: {token: output}}}"],
        "matches nothing: no rate of type text is for token: output. Did you mean 'tokens'?",
    ),
    # A duration is a condition of videos, and no line in tokens has one.
    (
        ["{included: 1, unit: mtoken, for: {conditions: {duration: 5s}}}"],
        "matches nothing: no rate is for duration: 5s. Allowed: context, tokens",
    ),
    ([FREE, FREE], "monthly.yaml:3: covers scribe (tokens) too, as does included (monthly.yaml:2)"),
    (["{included: 1, currency: USD}", FREE], "covers scribe (tokens) too"),
    (
        [
            "{included: 1, unit: mtoken, for: {conditions: {tokens: [input, output]}}}",
            "{included: 1, unit: mtoken, for: {conditions: {tokens: output}}}",
        ],
        "monthly.yaml:3: covers scribe (tokens) too, as does included (monthly.yaml:2)",
    ),
    (
        ["{graduated: [{rate: 1}], unit: mtoken}", "{volume: [{percent: 0%}], currency: USD, for: {type: text}}"],
        "covers scribe (tokens) too, as does graduated",
    ),
]


def bad_contracts() -> Iterator[tuple[str, Fault]]:
    """Yield the text of a file for each mistake in a contract, and its fault."""
    for overrides, words in OVERRIDES.items():
        yield _fault(TABLES, "contracts/bad.yaml", contract(overrides), words)
    for text, words in HEADS.items():
        yield _fault(TABLES, "contracts/bad.yaml", text, words.partition(": ")[2])


def bad_terms() -> Iterator[tuple[str, Fault]]:
    """Yield the text of a file for each mistake in the terms of a month, and its fault."""
    for terms, words in BAD_TERMS:
        listed = "".join(f"  - {term}\n" for term in terms)
        yield _fault(FILES, "monthly.yaml", f"monthly:\n{listed}", words.rpartition(".yaml:2: ")[2])


def _fault(tables: dict[str, str], name: str, text: str, words: str) -> tuple[str, Fault]:
    try:
        tables_from({file: content.encode() for file, content in {**tables, name: text}.items()})
    except TableError as error:
        found = [fault for fault in error.faults if words in str(fault) and fault.file == name]
        return text, (found or [error.faults[0]])[0]
    raise AssertionError(f"not refused: {text}")
