"""The names of models: aliases, open patterns, providers, and what follows a `:`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from made_up_provider import DAY, faults, table

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.cli.commands import main
from ratecard.load.folder import shipped_folder, tables_from
from ratecard.tables.card import matcher_of, share_a_name

USAGE = {"prompt_tokens": 1000, "completion_tokens": 1000}
ON = "patterns: true\n"


def models(*heads: str) -> str:
    """A table of models that differ in their heads only."""
    head, _, rest = table().partition("  - model: m\n")
    return head + "".join(f"  - {each}\n{rest}" for each in heads)


def prices(*heads: str, **files: str) -> PriceBook:
    contents = {"made-up.yaml": models(*heads)} | {f"{name}.yaml": text for name, text in files.items()}
    return RateCard(tables_from({name: text.encode() for name, text in contents.items()})).at(DAY)


def refused(book: PriceBook, **usage: Any) -> Any:
    with pytest.raises(QuoteError) as caught:
        book.rate({"usage": USAGE, **usage})
    return caught.value.body()


def test_an_alias_is_a_name_wherever_a_model_is_named() -> None:
    book = prices("model: m\n    aliases: [m-latest, m-2026-01-01]")
    for name in ("m", "m-latest", "m-2026-01-01"):
        quote = book.rate({"type": "text", "model": name, "usage": USAGE})
        assert (quote.model, quote.asked, str(quote.total)) == ("m", name, "0.024000")
        assert [line.sku for line in quote.lines] == ["m-llm-input-mtoken", "m-llm-output-mtoken"]
        assert quote.to_dict().get("asked") == (None if name == "m" else name)
        assert quote.to_json() == b'{"quote":0.024}'
        assert book.rate({"model": name, "usage": USAGE}).total == quote.total
        assert book.estimate_text(name, prompt_tokens=1000, max_completion_tokens=0).highest > 0
        assert book.in_effect(name)[0].model == "m"
        rows = quote.ledger_entries(timestamp=book.instant, request_id="r")
        assert {row.sku.partition("-")[0] for row in rows} == {"m"}
    assert refused(book, model="m-2026-01-02")["error"].startswith("Specified model not found: m-2026-01-02")


def test_an_alias_is_a_name_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(models("model: m\n    aliases: m-latest\n    provider: someone"))
    body = json.dumps({"type": "text", "model": "m-latest", "usage": USAGE})
    for arguments in (
        ["rate", body, "--at", str(DAY), "--json"],
        ["explain", "m-latest", "--at", str(DAY)],
        ["models", "--at", str(DAY), "--json"],
    ):
        done = CliRunner().invoke(main, [*arguments, "--tables", str(tmp_path)])
        assert done.exit_code == 0, done.output
        assert "m-latest" in done.output or done.output == '{"quote":0.024}\n'


@pytest.mark.parametrize(
    ("heads", "lines"),
    [
        (("model: m\n    aliases: n", "model: n"), {"4": "alias 'n'", "39": "model 'n'"}),
        (("model: m\n    aliases: [o, p]", "model: n\n    aliases: [p]"), {"4": "alias 'p'", "40": "alias 'p'"}),
    ],
)
def test_a_name_of_two_models_is_a_fault_at_both_lines(heads: tuple[str, ...], lines: dict[str, str]) -> None:
    found = {fault.split(":")[1]: fault.split(": ", 1)[1] for fault in faults(models(*heads))}
    assert {line: words[: len(lines.get(line, ""))] for line, words in found.items()} == lines
    assert all("is a name of another model too (made-up.yaml:" in words for words in found.values())


def test_an_alias_that_is_the_id_of_its_own_model_is_a_fault_at_its_line() -> None:
    found = faults(models("model: m\n    aliases: [o, m]"))
    assert found == ["made-up.yaml:4: alias 'm' is the model's own id. Leave it out"]


def test_open_patterns_are_off_unless_the_folder_switches_them_on() -> None:
    head = 'model: m\n    patterns: ["m-*"]'
    assert faults(models(head)) == [
        "made-up.yaml:4: patterns are off. Write `patterns: true` in names.yaml, or write aliases"
    ]
    assert faults(models(head), names="patterns: false\n") == faults(models(head))
    assert faults(models(head), names=ON) == []
    assert faults(models(head), names="pattern: true\n")[-1].startswith("names.yaml:1: unknown key 'pattern'")


def test_a_pattern_matches_names_and_exact_names_come_first() -> None:
    book = prices('model: m\n    patterns: ["m-*"]', "model: m-exact", names=ON)
    for name, model in (("m-", "m"), ("m-2026-01-01", "m"), ("m-exact", "m-exact"), ("m", "m")):
        quote = book.rate({"type": "text", "model": name, "usage": USAGE})
        assert (quote.asked, quote.model) == (name, model)
    assert refused(book, model="n-1")["error"].startswith("Specified model not found: n-1")


def test_two_models_whose_patterns_match_a_name_are_a_fault() -> None:
    heads = ('model: m\n    patterns: ["gpt-*-mini"]', 'model: n\n    patterns: ["gpt-4o-*"]')
    found = faults(models(*heads), names=ON)
    assert [fault.split(": ", 1)[0] for fault in found] == ["made-up.yaml:4", "made-up.yaml:40"]
    assert "pattern 'gpt-*-mini' and 'gpt-4o-*' of n (made-up.yaml:40)" in found[0]
    for one, other, shared in (("a*x*", "ab*y*", True), ("a*x", "ab*y", False)):
        found = faults(models(f'model: m\n    patterns: ["{one}"]', f'model: n\n    patterns: ["{other}"]'), names=ON)
        assert len(found) == 2 * shared
    tables = prices(heads[0], 'model: n\n    patterns: ["x*"]', names=ON).tables
    both = {name: model.model_copy(update={"patterns": ("gpt-4o-*",)}) for name, model in tables.models.items()}
    book = RateCard(type(tables)(both, tables.units, tables.meters, tables.vocabulary, tables.limits, patterns=True))
    assert refused(book.at(DAY), type="text", model="gpt-4o-mini") == {
        "error": "Specified model not found: gpt-4o-mini matches the patterns of m and n"
    }


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("*", "anything", True),
        ("*", "", True),
        ("a*", "*b", True),
        ("a*c", "ab*", True),
        ("a*c", "b*c", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?", "a*", True),
        ("*a*b*", "*b*a*", True),
        ("gpt-4o-*", "gpt-4o", False),
        ("a**", "a", True),
        ("?", "*", True),
        ("??", "?", False),
    ],
)
def test_two_patterns_share_a_name(one: str, other: str, shared: bool) -> None:
    assert share_a_name(one, other) is share_a_name(other, one) is shared


def test_letters_of_a_pattern_mean_themselves() -> None:
    assert matcher_of("gpt-4.1*").fullmatch("gpt-4.1-mini")
    assert not matcher_of("gpt-4.1*").fullmatch("gpt-401-mini")


@pytest.mark.parametrize("stated", [{}, {"provider": "someone"}])
def test_a_request_may_state_the_provider_of_its_model(stated: dict[str, str]) -> None:
    book = prices("model: m\n    provider: someone")
    assert str(book.rate({"model": "m", "usage": USAGE, **stated}).total) == "0.024000"
    wrong = refused(book, model="m", provider="another")
    assert "Expected 'someone', received 'another'" in json.dumps(wrong)
    assert "Unrecognized key(s)" in json.dumps(refused(prices("model: m"), model="m", provider="someone"))


@pytest.mark.parametrize(
    ("name", "priced"),
    [("llama3:8b", True), ("llama3:8b:disable_thinking=true", True), ("llama3", False), ("llama3:8b:x", False)],
)
def test_a_colon_begins_parameters_only_before_an_equals_sign(name: str, priced: bool) -> None:
    parameters = (shipped_folder() / "vocabulary.yaml").read_text(encoding="utf-8")
    book = prices("model: llama3:8b", vocabulary=parameters)
    if priced:
        assert book.rate({"type": "text", "model": name, "usage": USAGE}).model == "llama3:8b"
    else:
        assert refused(book, type="text", model=name)["error"].startswith(f"Specified model not found: {name}")
