"""Which lines the conditions of a term are met by: those of the rates that an override with them would change."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from statement_tables import FILES, WORDS, rows, write_rows, write_tables

from ratecard.statements import Statement, statement
from ratecard.statements.simulated import simulated_months

INPUT, OUTPUT = "scribe-llm-input-mtoken", "scribe-llm-output-mtoken"


def usage(
    folder: Path, *lines: str, heading: str = "type,model,timestamp,account,prompt_tokens,completion_tokens"
) -> Path:
    file = folder / "usage.csv"
    file.write_text("\n".join((heading, *lines)) + "\n", encoding="utf-8")
    return file


def terms_of(folder: Path, file: Path) -> dict[str, str]:
    """The quantity of each term of bolt in October, by its words."""
    made = statement(file, account="bolt", month="2026-10", tables=folder)
    return {line.words: str(line.quantity) for line in made.terms}


def told(made: Statement) -> list[Any]:
    """What a statement says, but for the places of rates."""
    lines = [(line.rated._replace(source="", list_source=""), line.quantity, line.amount) for line in made.lines]
    return [sorted(lines, key=str), [(line.words, line.amount) for line in made.terms], made.payable]


BY_BUCKET = """
monthly:
  - {included: 1, unit: mtoken, for: {type: text, conditions: {tokens: [output]}}}
  - {minimum: 9, currency: USD, for: {family: clips}}
"""


@pytest.mark.parametrize("monthly", [FILES["monthly.yaml"], BY_BUCKET], ids=["terms", "by bucket"])
def test_tables_on_one_line_make_the_statement_of_tables_on_many(tmp_path: Path, monthly: str) -> None:
    """Two models, versions and rates that are on one line of YAML are still told apart."""
    file = write_rows(tmp_path / "usage.csv", rows(7, 200))
    several = write_tables(tmp_path / "several", monthly=monthly)
    single = write_tables(tmp_path / "single", monthly=monthly)
    for name in ("words", "sound", "clips"):
        content = json.dumps(yaml.load(FILES[f"{name}.yaml"], yaml.BaseLoader))  # noqa: S506 (texts alone)
        (single / f"{name}.yaml").write_text(content, encoding="utf-8")
    made, expected = (statement(file, account="bolt", month="2026-10", tables=folder) for folder in (single, several))
    assert told(made) == told(expected)
    assert {line.rated.source.rpartition(":")[2] for line in made.lines} <= {"1", ""}


@pytest.mark.parametrize(("bucket", "free"), [("input", "-4"), ("output", "-19/2")])
def test_a_term_of_a_bucket_is_for_its_rate_alone_on_a_line_of_several(tmp_path: Path, bucket: str, free: str) -> None:
    flow = (
        "            rates: [{tokens: input, rate: 4}, {tokens: output, rate: 9.5}, {tokens: cache_input, rate: 0.4}]\n"
    )
    block = WORDS[WORDS.index("            rates:\n") : WORDS.index("        rounding")]
    term = f"  - {{included: 2, unit: mtoken, for: {{type: text, conditions: {{tokens: {bucket}}}}}}}\n"
    tables = write_tables(tmp_path / "tables", words=WORDS.replace(block, flow, 1), monthly=f"monthly:\n{term}")
    file = usage(tmp_path, "text,scribe,2026-10-15T12:00:00Z,bolt,1000000,1000000")
    made = statement(file, account="bolt", month="2026-10", tables=tables)
    assert [str(line.amount) for line in made.terms] == [free]
    assert {line.rated.source for line in made.lines} == {"words.yaml:17"}


CANDIDATE = """
candidate: dearer
effective: 2026-10-13
proposed_by: Pricing
why: a test
changes:
  - scale: {family: [words, clips]}
    factor: 2
"""


def test_all_that_a_candidate_scales_by_one_line_is_told_apart(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=BY_BUCKET)
    (tmp_path / "dearer.yaml").write_text(CANDIDATE, encoding="utf-8")
    file = usage(tmp_path, "text,scribe,2026-10-15T12:00:00Z,bolt,1000000,1000000")
    months = simulated_months(
        file,
        accounts=["bolt"],
        tables=tables,
        candidates=[tmp_path / "dearer.yaml"],
    )
    assert [month.amounts and month.amounts[-1] for month in months] == [Decimal("13.00"), Decimal("17.00")]
