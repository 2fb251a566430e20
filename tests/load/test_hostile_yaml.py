"""A hostile file is a fault like any other, found quickly and at its line."""

from time import perf_counter

import pytest

from ratecard.load.yaml_text import MAX_ALIASES, MAX_BYTES, MAX_DEPTH, read_yaml_text


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
