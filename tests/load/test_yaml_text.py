"""YAML is read as text, every part knows its line, and a hostile file is a fault like any other."""

from time import perf_counter
from typing import Any

import pytest

from ratecard.load.folder import shipped_folder
from ratecard.load.yaml_text import MAX_ALIASES, MAX_BYTES, MAX_DEPTH, read_yaml_text
from ratecard.tables.scalars import SOURCE_KEY


def read(text: str | bytes) -> Any:
    file = read_yaml_text("t.yaml", text if isinstance(text, bytes) else text.encode())
    assert [str(fault) for fault in file.faults] == []
    return file.data


AS_WRITTEN = [
    *("16:9", "12:30:45", "no", "on", "off", "yes", "true", "null", "~", "=", "5s", "2026-09-28"),
    *("0.10", "1e3", ".nan", ".inf", "0x1F", "0o17", "1_000", "010", "+1", "-1"),
]


@pytest.mark.parametrize("word", AS_WRITTEN)
def test_a_word_stays_what_was_written(word: str) -> None:
    assert read(f"a: {word}\nb: [{word}]\n{word}: key") == {"a": word, "b": [word], word: "key"}


@pytest.mark.parametrize("text", ["a:", "a: ''", 'a: ""', "{a: }"])
def test_what_is_not_written_is_empty_text(text: str) -> None:
    assert read(text) == {"a": ""}


@pytest.mark.parametrize("text", ["﻿a: 1", "%YAML 1.1\n---\na: 1\n...\n", "# why\na: 1 # how", "{'a': '1'}", "a: 1\r\n"])
def test_the_ways_to_write_a_file_are_the_same(text: str) -> None:
    assert read(text) == {"a": "1"}


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert read("<<: {a: 1}\nb: 2") == {"<<": {"a": "1"}, "b": "2"}


def test_a_single_value_may_be_named_and_used_again() -> None:
    assert read("a: &x 0.10\nb: *x\nc: &x 0.20\nd: [*x]\n") == {"a": "0.10", "b": "0.10", "c": "0.20", "d": ["0.20"]}


def test_every_part_knows_its_line_and_a_missing_one_the_line_of_its_holder() -> None:
    file = read_yaml_text("t.yaml", b"# head\na: 1\n\nb:\n  - c\n  - {d: 2,\n     e: 3}\n")
    places: dict[tuple[str | int, ...], int] = {
        (): 2, ("a",): 2, ("b",): 4, ("b", 0): 5, ("b", 1): 6, ("b", 1, "d"): 6, ("b", 1, "e"): 7, ("b", 1, "f", 3): 6,
    }  # fmt: skip
    assert {path: file.line(path) for path in places} == places


def test_a_rate_and_a_total_know_their_place_and_nothing_else_does() -> None:
    text = (
        "rates:\n  - audio: no\n    rate: 1\nexamples:\n  - {request: {total: 1}, total: 2}\n  - {rate: 3}\nrate: 4\n"
    )
    data = read(text)
    assert data["rates"] == [{"audio": "no", "rate": "1", SOURCE_KEY: "t.yaml:3"}]
    assert data["examples"] == [{"request": {"total": "1"}, "total": "2", SOURCE_KEY: "t.yaml:5"}, {"rate": "3"}]
    assert SOURCE_KEY not in data


@pytest.mark.parametrize("path", sorted(shipped_folder().rglob("*.yaml")), ids=lambda path: path.stem)
def test_the_source_of_every_shipped_rate_is_the_line_that_holds_it(path: Any) -> None:
    lines = path.read_text().splitlines()
    parts, rates = [read_yaml_text(path.name, path.read_bytes()).data], []
    while parts:
        part = parts.pop()
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        rates += [part] if isinstance(part, dict) and SOURCE_KEY in part and "rate" in part else []
    for rate in rates:
        name, _, line = rate[SOURCE_KEY].rpartition(":")
        held = lines[int(line) - 1]
        assert name == path.name
        assert f"rate: {rate['rate']}" in held, f"{rate[SOURCE_KEY]} is {held!r}"
    assert len(rates) == sum(line.count("rate: ") - line.count("_rate: ") for line in lines if "{" in line)


def test_the_first_of_two_equal_keys_counts_and_each_further_one_is_a_fault() -> None:
    file = read_yaml_text("t.yaml", b"a: 1\nb: 2\na: {x: [3]}\na: 4\n")
    words = "key 'a' is written twice (first in line 1); keep one"
    assert file.data == {"a": "1", "b": "2"}
    assert [(fault.line, fault.message) for fault in file.faults] == [(3, words), (4, words)]


def test_a_tab_is_named() -> None:
    (fault,) = read_yaml_text("t.yaml", b"a:\n\t- b\n").faults
    assert str(fault).startswith("t.yaml:2: not YAML: ")
    assert str(fault).endswith("A tab does not indent: write spaces")
    (other,) = read_yaml_text("t.yaml", b'a: "x\ty\n').faults
    assert "tab" not in str(other)


def refusal(text: str | bytes) -> tuple[int, str]:
    [fault] = read_yaml_text("t.yaml", text if isinstance(text, bytes) else text.encode()).faults
    assert fault.file == "t.yaml"
    return fault.line, fault.message


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def aliases(count: int) -> str:
    return "a: &x 1\nb:\n" + "  - *x\n" * count


def test_limits_are_met_exactly() -> None:
    assert read_yaml_text("t.yaml", nested(MAX_DEPTH + 1).encode()).faults == []
    assert refusal(nested(MAX_DEPTH + 2)) == (1, f"more than {MAX_DEPTH} levels of nesting")
    assert len(read_yaml_text("t.yaml", aliases(MAX_ALIASES).encode()).data["b"]) == MAX_ALIASES
    assert refusal(aliases(MAX_ALIASES + 1))[0] == MAX_ALIASES + 3
    assert len(read_yaml_text("t.yaml", b"a" * MAX_BYTES).data) == MAX_BYTES
    assert refusal(b"a" * (MAX_BYTES + 1)) == (1, "the file has 5,000,001 bytes; a table has at most 5,000,000")


HOSTILE = {
    "brackets": (b"a: 1\nb: " + b"[" * 200_000, 2, "levels of nesting"),
    "braces": (b"{a: " * 200_000, 1, "levels of nesting"),
    "dashes": (b"- " * 200_000, 1, "levels of nesting"),
    "long keys": (b"? " * 200_000, 1, "a key must be a plain word"),
    "six megabytes": (b"# " + b"x" * 6_000_000, 1, "the file has 6,000,002 bytes"),
    "NUL": (b"a: 1\nb: x\0y\n", 2, "not YAML text in UTF-8"),
    "not UTF-8": (b"a: 1\n# \xff\n", 2, "not YAML text in UTF-8"),
    "half a character": (b"a: \xc3", 1, "not YAML text in UTF-8"),
    "lone surrogate": ("a: \ud800".encode("utf-8", "surrogatepass"), 1, "not YAML text in UTF-8"),
    "unclosed quote": (b"a: 'x\nb: 1\n", 3, "not YAML: while scanning a quoted scalar"),
    "tab": (b"a:\n\tb: 1\n", 2, "not YAML"),
    "object": (
        b"a: !!python/object/apply:os.system [ls]\n",
        1,
        "tag 'tag:yaml.org,2002:python/object/apply:os.system'",
    ),
    "laughs": (b"a: &a [x, x]\nb: &b [*a, *a]\n", 1, "anchor '&a': only a single value"),
    "itself": (b"a: &a {b: *a}\n", 1, "anchor '&a': only a single value"),
    "alias as a key": (b"a: &a x\n*a : 1\n", 2, "a key must be a plain word"),
}


@pytest.mark.parametrize(("content", "line", "words"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_file_is_one_fault_and_quickly_so(content: bytes, line: int, words: str) -> None:
    start = perf_counter()
    found, message = refusal(content)
    assert perf_counter() - start < 5
    assert found == line
    assert words in message
