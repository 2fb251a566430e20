"""Which lines the conditions of a term are met by: those of the rates that an override with them would change."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from statement_tables import FILES, WORDS, rows, write_rows, write_tables

from ratecard.statements import Statement, StatementError, statement
from ratecard.statements.simulated import simulated_months


def usage(
    folder: Path, *lines: str, heading: str = "type,model,timestamp,account,prompt_tokens,completion_tokens"
) -> Path:
    file = folder / "usage.csv"
    file.write_text("\n".join((heading, *lines)) + "\n", encoding="utf-8")
    return file


def told(made: Statement) -> list[Any]:
    """Return the content of a statement, without the places of rates."""
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


REEL = """
family: clips
models:
  - model: reel
    name: Reel
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-08-01
        checked: 2026-08-01
        source: a test
        accepts: {duration: [5s, 10s], resolution: [480p, 720p, 1080p], audio: configurable}
        defaults: {resolution: 720p}
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates:
              - {resolution: [480p, 720p], rate: 0.10}
              - {resolution: 1080p, rate: 0.20}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s, resolution: 720p}, total: 0.50}
"""
CLIP_ROWS = (
    "video,reel,2026-10-05T12:00:00Z,bolt,10s,720p",
    "video,reel,2026-10-05T13:00:00Z,bolt,10s,480p",
    "video,reel,2026-10-05T14:00:00Z,bolt,10s,1080p",
    "video,reel,2026-10-05T15:00:00Z,bolt,10s,",
)
SCRIBE = """
family: words
models:
  - model: scribe
    name: Scribe
    type: text
    currency: USD
    versions:
      - effective: 2026-08-01
        checked: 2026-08-01
        source: a test
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            missing_cache_rate: input
            factors:
              - {service_tier: batch, factor: 0.5}
            rates:
              - {tokens: input, rate: 4}
              - {tokens: output, rate: 10}
              - {tokens: [input, output], above: 1000000, rate: 20}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 1000000, completion_tokens: 1000000}, total: 14}
"""
SCRIBE_ROWS = (
    "text,scribe,2026-10-05T12:00:00Z,bolt,1000000,500000,batch",
    "text,scribe,2026-10-05T13:00:00Z,bolt,100000,50000,",
    "text,scribe,2026-10-05T14:00:00Z,bolt,2000000,0,standard",
)
HEADINGS = {
    "clips": "type,model,timestamp,account,duration,resolution",
    "words": "type,model,timestamp,account,prompt_tokens,completion_tokens,service_tier",
}
CONTRACT = """
contract: signed
accounts: [bolt]
from: 2026-09-01
source: signed
overrides:
  - {for: {model: reel, conditions: {resolution: 720p}}, rate: 0.05}
  - {for: {model: scribe, conditions: {tokens: input}}, percent: -50%}
"""


@pytest.mark.parametrize("contract", ["", CONTRACT], ids=["list", "contract"])
@pytest.mark.parametrize(
    ("kind", "conditions", "quantity"),
    [
        ("clips", "resolution: 720p", "20"),
        ("clips", "resolution: 480p", "10"),
        ("clips", "resolution: [480p, 1080p]", "20"),
        ("words", "service_tier: batch", "1.5"),
        ("words", "service_tier: standard", "2.15"),
        ("words", "service_tier: batch, tokens: output", "0.5"),
        ("words", "tokens: output", "0.55"),
        ("words", "above: 1000000", "2"),
        ("words", "context: base", "1.65"),
    ],
)
def test_a_term_includes_the_lines_of_requests_that_meet_its_conditions(
    tmp_path: Path, kind: str, conditions: str, quantity: str, contract: str
) -> None:
    """Also those of one rate for several values, and those that the list prices by a factor."""
    unit = {"clips": "video_second", "words": "mtoken"}[kind]
    term = f"  - {{included: 1000, unit: {unit}, for: {{family: {kind}, conditions: {{{conditions}}}}}}}\n"
    tables = write_tables(tmp_path / "tables", clips=REEL, words=SCRIBE, sound=None, monthly=f"monthly:\n{term}")
    if contract:
        (tables / "contracts").mkdir()
        (tables / "contracts" / "signed.yaml").write_text(contract, encoding="utf-8")
    given = {"clips": CLIP_ROWS, "words": SCRIBE_ROWS}[kind]
    file = usage(tmp_path, *given, heading=HEADINGS[kind])
    made = statement(file, account="bolt", month="2026-10", tables=tables)
    assert [line.quantity for line in made.terms] == [Fraction(quantity)]


@pytest.mark.parametrize(("target", "free"), [("conditions: {resolution: 720p}", 1), ("charge: tokens", 4)])
def test_a_term_leaves_models_that_never_meet_it(tmp_path: Path, target: str, free: int) -> None:
    """Of a clip for 1 dollar and tokens for 4, which a term of no model names by what only one of them has."""
    term = f"monthly:\n  - {{included: 1000, currency: USD, for: {{{target}}}}}\n"
    tables = write_tables(tmp_path / "tables", clips=REEL, words=SCRIBE, sound=None, monthly=term)
    file = usage(
        tmp_path,
        "video,reel,2026-10-05T12:00:00Z,bolt,10s,720p,,",
        "text,scribe,2026-10-05T12:00:00Z,bolt,,,1000000,0",
        heading=f"{HEADINGS['clips']},prompt_tokens,completion_tokens",
    )
    made = statement(file, account="bolt", month="2026-10", tables=tables)
    assert [line.quantity for line in made.terms] == [free]


BOOKED = (
    "2026-10-05T12:00:00Z,scribe-llm-input-mtoken,4,1,-4,USD,scribe,r-1,bolt",
    "2026-10-05T12:00:00Z,scribe-llm-output-mtoken,10,0.5,-5,USD,scribe,r-1,bolt",
    "2026-10-05T13:00:00Z,scribe-llm-output-batch-mtoken,5,0.25,-1.25,USD,scribe,r-2,bolt",
)
BOOKED_CLIP = "2026-10-05T14:00:00Z,reel-resolution-rate-10s-720p,1,1,-1,USD,reel,r-3,bolt"


def booked(folder: Path, target: str, *lines: str) -> list[Any]:
    term = f"  - {{included: 1000, currency: USD, for: {{{target}}}}}\n"
    tables = write_tables(folder / "tables", clips=REEL, words=SCRIBE, sound=None, monthly=f"monthly:\n{term}")
    file = usage(folder, *lines, heading="timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,requestId,account")
    return [line.quantity for line in statement(file, account="bolt", month="2026-10", tables=tables).terms]


@pytest.mark.parametrize(
    ("target", "free"),
    [
        ("conditions: {tokens: input}", "4"),
        ("conditions: {tokens: output}", "6.25"),
        ("conditions: {service_tier: batch}", "1.25"),
        ("conditions: {tokens: output, service_tier: standard}", "5"),
        ("conditions: {above: 1000000}", "0"),
        ("charge: tokens", "10.25"),
        ("type: text, charge: tokens", "10.25"),
    ],
)
def test_a_booked_line_meets_the_conditions_that_its_sku_says(tmp_path: Path, target: str, free: str) -> None:
    """The video beside them can have none of these conditions, whatever its request was."""
    assert booked(tmp_path, target, *BOOKED, BOOKED_CLIP) == [Fraction(free)]


@pytest.mark.parametrize(
    ("target", "line", "words"),
    [
        (
            "model: reel, conditions: {resolution: 720p}",
            BOOKED_CLIP,
            "SKU reel-resolution-rate-10s-720p of reel does not say if it is for resolution: 720p, and included",
        ),
        (
            "charge: video",
            BOOKED_CLIP,
            "of reel does not say if it is for charge: video, and included (monthly.yaml:2)",
        ),
        (
            "model: scribe, charge: tokens, conditions: {tokens: input}",
            BOOKED[0].replace("llm-input", "old"),
            "SKU scribe-old-mtoken of scribe does not say if it is for charge: tokens, tokens: input",
        ),
    ],
)
def test_a_booked_line_whose_sku_does_not_say_it_is_refused(tmp_path: Path, target: str, line: str, words: str) -> None:
    with pytest.raises(StatementError) as refused:
        booked(tmp_path, target, line)
    assert words in str(refused.value)
    assert "Make the statement of the usage" in str(refused.value)
