"""The JSON Schemas for editors are up to date, accept every valid table and candidate, and find slips."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from git_tables import FILES
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.views.schema import candidate_schema, schema_text, table_schema
from readme_blocks import CANDIDATES, ROOT

BAD = Path(__file__).parents[1] / "tables" / "bad"
SCHEMA = shipped_folder() / "schema.json"
VALIDATOR = Draft7Validator(table_schema())
SHIPPED = sorted(shipped_folder().rglob("*.yaml"))


class _Editor(yaml.CSafeLoader):
    """YAML 1.2, as editors read it: numbers and truth values, dates as text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012


for tag, pattern, starts in (
    ("bool", r"^(true|false)$", "tf"),
    ("null", r"^(null|~|)$", ["n", "~", ""]),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?([0-9]*\.[0-9]+|[0-9]+\.?)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
):
    _Editor.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(starts))


def both(text: str) -> list[Any]:
    """A table as ratecard reads it, every value a text, and as an editor does."""
    return [yaml.load(text, yaml.CBaseLoader), yaml.load(text, _Editor)]  # noqa: S506


def slip(text: str) -> str:
    """Return the error that an editor shows for a table; empty without one."""
    return " / ".join(error.message for data in both(text) if (error := best_match(VALIDATOR.iter_errors(data))))


def test_the_schema_in_the_repository_is_the_one_of_the_models() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "pricing_tables/schema.json is stale: run make schema"


def test_the_schema_is_a_schema_and_every_part_of_it_is_used() -> None:
    schema = table_schema()
    Draft7Validator.check_schema(schema)
    text = json.dumps(schema)
    assert [name for name in schema["definitions"] if f'"#/definitions/{name}"' not in text] == []
    assert "@source" not in text
    assert '"null"' not in text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_file_is_valid_and_names_the_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert slip(text) == ""
    where = "../" * (len(path.relative_to(shipped_folder()).parts) - 1)
    assert text.startswith(f"# yaml-language-server: $schema={where}schema.json\n")


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_sound_table_is_valid(name: str) -> None:
    assert slip(FILES[name]) == ""


SEEN = [
    path.stem
    for path in sorted(BAD.glob("*.yaml"))
    if path.stem.startswith(("unknown_key_", "missing_"))
    or path.stem in ("unknown_method", "unknown_type", "unknown_mode", "unknown_audio", "unknown_rounding_mode")
    or path.stem in ("wrong_date", "wrong_size", "currency_in_a_number", "decimal_comma", "negative_rate", "exponent")
    or path.stem in ("versions_empty", "charges_empty", "examples_empty", "rates_empty", "models_empty", "empty_list")
    or path.stem in ("attribute_unknown_to_the_method", "units_without_counts", "list_as_a_rate", "markup_in_percent")
]
# Rules between values, which a schema cannot express.
BETWEEN = {"missing_combination"}


@pytest.mark.parametrize("name", [name for name in SEEN if name not in BETWEEN])
def test_a_slip_is_seen_while_it_is_typed(name: str) -> None:
    text = (BAD / f"{name}.yaml").read_text(encoding="utf-8")
    assert slip(text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown_key_in_a_version", "'efective' was unexpected"),
        ("unknown_key_in_a_rate", "'sound' was unexpected"),
        ("unknown_method", "'resolution-rates' is not one of ['duration-rate', "),
        ("unknown_type", "'vidoe' is not one of ['edit', "),
        ("missing_effective", "'effective' is a required property"),
    ],
)
def test_a_slip_is_named(name: str, words: str) -> None:
    assert words in slip((BAD / f"{name}.yaml").read_text(encoding="utf-8"))


def test_a_file_of_no_known_kind_is_refused() -> None:
    assert slip("famly: x\nmodels: []\n")


def test_the_new_keys_of_a_version_are_known() -> None:
    text = FILES["per_second.yaml"]
    both_keys = text.replace(
        "        checked:", "        correction: a slip\n        expected_change: 4\n        checked:"
    )
    assert slip(both_keys) == ""
    assert slip(both_keys.replace("expected_change: 4", "expected_change: four"))


def test_the_command_prints_and_writes_it(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["schema"]).stdout == schema_text()
    sent = CliRunner().invoke(main, ["schema", "--out", str(tmp_path / "schema.json")])
    assert (sent.exit_code, sent.stdout) == (0, "")
    assert (tmp_path / "schema.json").read_text(encoding="utf-8") == schema_text()


OF_CANDIDATES = Draft7Validator(candidate_schema())
PAGE = (ROOT / CANDIDATES).read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("```yaml\n")[2].partition("```")[0]


def candidate_slip(text: str) -> str:
    data: Any = yaml.load(text, yaml.CBaseLoader)  # noqa: S506
    error = best_match(OF_CANDIDATES.iter_errors(data))
    return error.message if error else ""


def test_the_candidate_of_the_page_is_valid() -> None:
    Draft7Validator.check_schema(candidate_schema())
    assert candidate_slip(EXAMPLE) == ""
    assert candidate_slip(EXAMPLE.replace("announced:", "until: 2027-05-01\nannounced:")) == ""
    for selection in (
        "type: image, except: {family: [a, b]}",
        "type: [image, video], except: [{family: a}, {model: b}]",
    ):
        assert candidate_slip(EXAMPLE.replace("family: wan, type: image", selection)) == ""
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
def test_a_slip_in_a_candidate_is_named(old: str, new: str, words: str) -> None:
    assert old in EXAMPLE
    assert words in candidate_slip(EXAMPLE.replace(old, new, 1))


def test_the_command_prints_that_of_candidates() -> None:
    assert CliRunner().invoke(main, ["schema", "candidate"]).stdout == schema_text(candidate_schema())
    assert CliRunner().invoke(main, ["schema", "ledger"]).exit_code == 2
