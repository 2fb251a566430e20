"""`monthly.yaml`: what may be written, what is refused with its line, and what the digest says of it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from statement_tables import WORDS, write_tables

from ratecard.base.errors import TableError
from ratecard.cli import main
from ratecard.load.folder import load_tables

FREE = "{included: 1, unit: mtoken}"


def refused(folder: Path, *terms: str) -> str:
    listed = "".join(f"  - {term}\n" for term in terms)
    with pytest.raises(TableError) as caught:
        load_tables(write_tables(folder / "tables", monthly=f"monthly:\n{listed}"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (
            ["{unit: mtoken}"],
            "monthly.yaml:2: monthly is no term. Write one of: included, graduated, volume, commitment, minimum",
        ),
        (["{included: 1, minimum: 2, unit: mtoken}"], "has included and minimum; write each on its own"),
        (["{included: 1}"], "must say what it measures, by one of: unit (like mtoken), currency (like USD)"),
        (["{included: 1, unit: mtoken, currency: USD}"], "must say what it measures"),
        (["{included: 0, unit: mtoken}"], "must be more than zero"),
        (["{included: 1, unit: mtokens}"], "unit 'mtokens' is not in units.yaml. Did you mean 'mtoken'?"),
        (["{included: 1, currency: usd}"], "currency 'usd' is not an ISO 4217 code"),
        (["{minimum: 1, unit: mtoken}"], "is a minimum in units, and is of money"),
        (["{minimum: 1, currency: USD, from: 2026-10-02}"], "is within a month, and nothing is prorated"),
        (["{minimum: 1, currency: USD, from: 2026-10-01, until: 2026-10-01}"], "must be after from"),
        (["{commitment: 1, currency: USD}"], "has no from. Write the month in which the commitment begins"),
        (
            ["{included: 1, unit: mtoken, for: {model: scrib}}"],
            "model 'scrib' is not in the tables. Did you mean 'scribe'?",
        ),
        (["{included: 1, unit: mtoken, for: {charge: words}}"], "charge 'words' is not in the tables"),
        (["{included: 1, unit: mtoken, for: {except: {family: wods}}}"], "family 'wods' is not in the tables"),
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
            "is over nothing: no model of the tables that has lines in mtoken",
        ),
        (["{included: 1, currency: EUR}"], "is over nothing"),
        (["{included: 1, unit: mtoken, fro: x}"], "unknown key 'fro'"),
        (["{volume: [{up_to: 1, percent: 0%}], unit: mtoken}"], "must have an up_to in every tier but the last"),
        (["{volume: [], unit: mtoken}"], "must have an up_to in every tier but the last"),
        (["{volume: [{percent: 0%}, {percent: 0%}], unit: mtoken}"], "must have an up_to in every tier but the last"),
        (["{volume: [{up_to: 2, rate: 1}, {up_to: 2, rate: 1}, {rate: 1}], unit: mtoken}"], "up_to do not rise"),
        (["{volume: [{up_to: 2, rate: 1, factor: 2}, {rate: 1}], unit: mtoken}"], "has rate and factor; keep one"),
        (["{volume: [{up_to: 2}, {rate: 1}], unit: mtoken}"], "has no price. Write one of: rate"),
        (
            ["{volume: [{up_to: 2, percent: 0%}, {rate: 1}], currency: USD}"],
            "is over money, which has no rate of a unit",
        ),
        ([FREE, FREE], "monthly.yaml:3: is over scribe (tokens) too, as included (monthly.yaml:2)"),
        (["{included: 1, currency: USD}", FREE], "is over scribe (tokens) too"),
        (
            ["{graduated: [{rate: 1}], unit: mtoken}", "{volume: [{percent: 0%}], currency: USD, for: {type: text}}"],
            "is over scribe (tokens) too, as graduated",
        ),
    ],
)
def test_a_fault_names_its_line_and_what_is_allowed(tmp_path: Path, terms: list[str], words: str) -> None:
    assert words in refused(tmp_path, *terms)


@pytest.mark.parametrize(
    "term", [FREE, "{volume: [{rate: 1}], unit: mtoken}", "{graduated: [{percent: 5%}], unit: mtoken}"]
)
def test_a_term_of_units_is_over_models_of_one_currency(tmp_path: Path, term: str) -> None:
    euro = WORDS.replace("words", "mots").replace("scribe", "scribe-eu").replace("USD", "EUR")
    tables = write_tables(tmp_path / "tables", monthly=f"monthly:\n  - {term}\n")
    (tables / "mots.yaml").write_text(euro, encoding="utf-8")
    with pytest.raises(TableError) as caught:
        load_tables(tables)
    words = "is over models of several currencies (scribe-eu in EUR and scribe in USD), and a statement is in one"
    assert words in str(caught.value)
    for family in ("mots", "words"):
        (tables / "monthly.yaml").write_text(f"monthly:\n  - {term[:-1]}, for: {{family: {family}}}}}\n")
        load_tables(tables)


@pytest.mark.parametrize(
    "terms",
    [
        [FREE, "{included: 1, unit: mcharacter}"],
        ["{included: 1, unit: mtoken, until: 2026-11-01}", "{included: 2, unit: mtoken, from: 2026-11-01}"],
        [
            "{included: 1, currency: USD, for: {type: text}}",
            "{included: 1, currency: USD, for: {except: {type: text}}}",
        ],
        [FREE, "{graduated: [{rate: 1}], unit: mtoken}", "{minimum: 1, currency: USD}"],
        [
            "{minimum: 1, currency: USD, for: {model: [scribe, reel]}}",
            "{minimum: 1, currency: USD, for: {model: voice}}",
        ],
    ],
)
def test_terms_that_do_not_meet_are_allowed(tmp_path: Path, terms: list[str]) -> None:
    listed = "".join(f"  - {term}\n" for term in terms)
    tables = load_tables(write_tables(tmp_path / "tables", monthly=f"monthly:\n{listed}"))
    assert [term.source for term in tables.monthly] == [f"monthly.yaml:{at + 2}" for at in range(len(terms))]


def test_diff_names_what_differs_of_terms(tmp_path: Path) -> None:
    signed = "contract: c\naccounts: [a]\nfrom: 2026-09-01\nsource: signed\nmonthly:\n  - {minimum: 5, currency: USD}\n"
    for name, amount in (("old", "1"), ("new", "2")):
        folder = write_tables(tmp_path / name, monthly=f"monthly:\n  - {{included: {amount}, unit: mtoken}}\n")
        (folder / "contracts").mkdir()
        (folder / "contracts" / "c.yaml").write_text(
            signed.replace("minimum: 5", f"minimum: {amount}"), encoding="utf-8"
        )
    done = CliRunner().invoke(main, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    for words in ("monthly included of mtoken", "monthly minimum of USD from 2026-09-01"):
        assert words in done.stdout, done.output


def test_the_digest_is_of_what_terms_mean(tmp_path: Path) -> None:
    made = {
        name: load_tables(write_tables(tmp_path / name, monthly=content)).digest
        for name, content in {
            "none": None,
            "one": f"monthly:\n  - {FREE}\n",
            "noted": f"# A comment.\nmonthly:\n\n  - {{note: since spring, {FREE[1:]}\n",
            "more": "monthly:\n  - {included: 2, unit: mtoken}\n",
        }.items()
    }
    assert made["one"] == made["noted"]
    assert len({made["none"], made["one"], made["more"]}) == 3
