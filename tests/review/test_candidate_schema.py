"""The JSON Schema of candidates accepts valid candidates and finds slips."""

import json
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from ratecard.cli import main
from ratecard.views.schema import candidate_schema, schema_text
from readme_blocks import CANDIDATES, ROOT

VALIDATOR = Draft7Validator(candidate_schema())
PAGE = (ROOT / CANDIDATES).read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("```yaml\n")[2].partition("```")[0]


def slip(text: str) -> str:
    data: Any = yaml.load(text, yaml.BaseLoader)  # noqa: S506
    error = best_match(VALIDATOR.iter_errors(data))
    return error.message if error else ""


def test_the_candidate_of_the_page_is_valid() -> None:
    Draft7Validator.check_schema(candidate_schema())
    assert slip(EXAMPLE) == ""
    assert slip(EXAMPLE.replace("announced:", "until: 2027-05-01\nannounced:")) == ""
    for selection in (
        "type: image, except: {family: [a, b]}",
        "type: [image, video], except: [{family: a}, {model: b}]",
    ):
        assert slip(EXAMPLE.replace("family: wan, type: image", selection)) == ""
    assert "@source" not in json.dumps(candidate_schema())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("percent: -15%", "percent: -15", "'-15' does not match"),
        ("percent: -15%", "percent: -15%\n    factor: 2", "is valid under each of"),
        ("    percent: -15%\n", "", "is not valid under any of"),
        ("mode: up}", "mode: upward}", "'upward' is not one of ['up', 'down', 'half-up']"),
        ("round: {to: 0.001, mode: up}", "round: {to: 0.001}", "'mode' is a required property"),
        ("where: {resolution", "wher: {resolution", "'wher' was unexpected"),
        ("announced: 2027-02-01", "until: soon", "'soon' does not match"),
        ("effective: 2027-03-01\n", "", "'effective' is a required property"),
        ("family: wan, type: image", "type: image, except: []", "[] should be non-empty"),
        ("family: wan, type: image", "type: image, exept: {family: wan}", "'exept' was unexpected"),
        ("retire: ovi", "retires: ovi", "is not valid under any of"),
        ("family: ovi\n    add", "add", "'family' is a required property"),
        ("mode: image-to-video", "mode: image-to-vidoe", "'image-to-vidoe' is not one of"),
    ],
)
def test_a_slip_is_seen_while_it_is_typed(old: str, new: str, words: str) -> None:
    assert old in EXAMPLE
    assert words in slip(EXAMPLE.replace(old, new, 1))


def test_the_command_prints_it() -> None:
    assert CliRunner().invoke(main, ["schema", "candidate"]).stdout == schema_text(candidate_schema())
    assert CliRunner().invoke(main, ["schema", "ledger"]).exit_code == 2
