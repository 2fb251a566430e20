"""The JSON Schema for editors is up to date, accepts every valid table, and finds slips."""

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
from ratecard.views.schema import schema_text, table_schema

BAD = Path(__file__).parents[1] / "tables" / "bad"
SCHEMA = shipped_folder() / "schema.json"
VALIDATOR = Draft7Validator(table_schema())
SHIPPED = sorted(shipped_folder().rglob("*.yaml"))


class _Editor(yaml.SafeLoader):
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
    return [yaml.load(text, yaml.BaseLoader), yaml.load(text, _Editor)]  # noqa: S506


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
