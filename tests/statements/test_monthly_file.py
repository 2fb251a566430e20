"""`monthly.yaml`: what may be written, what is refused with its line, and what the digest says of it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from statement_tables import WORDS, write_tables

from bad_contracts import BAD_TERMS, FREE
from ratecard.base.errors import TableError
from ratecard.cli import main
from ratecard.load.folder import load_tables

BUCKETS = ("input", "output", "cache_input")


def refused(folder: Path, *terms: str) -> str:
    listed = "".join(f"  - {term}\n" for term in terms)
    with pytest.raises(TableError) as caught:
        load_tables(write_tables(folder / "tables", monthly=f"monthly:\n{listed}"))
    return str(caught.value)


@pytest.mark.parametrize(("terms", "words"), BAD_TERMS)
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
    words = "covers models of several currencies (scribe-eu in EUR and scribe in USD), and a statement is in one"
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
        [f"{{included: 1, unit: mtoken, for: {{conditions: {{tokens: {bucket}}}}}}}" for bucket in BUCKETS],
        [
            "{minimum: 1, currency: USD, for: {conditions: {tokens: [input, output]}}}",
            "{minimum: 1, currency: USD, for: {conditions: {tokens: cache_input}}}",
            "{minimum: 1, currency: USD, for: {type: [speech, video]}}",
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
