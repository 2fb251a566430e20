"""Positions of the parts of a YAML text; a copy of a part means the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import TableError
from ratecard.load.folder import shipped_folder
from ratecard.load.positions import Positions, lines_of, literal
from ratecard.load.yaml_text import read_yaml_text

TEXT = """# é
first: é # a remark
block: |
  one

  # no remark

# a remark
shared: &name 0.1 # on it
use: *name
quoted: "two
  lines"
folded: plain
  words
list:
  - {a: 1,
     b: [x, y]}
  - c: >-
      last
# the end
"""


def of(text: str) -> Positions:
    return Positions("x.yaml", text.encode())


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_part_is_found_by_its_characters(eol: str, mark: str) -> None:
    at = of(mark + TEXT.replace("\n", eol))
    shown = {path: at.text[span.start : span.end].replace(eol, "\n") for path, span in at.spans.items()}
    assert shown["first",] == "é"
    assert shown["block",] == "|\n  one\n\n  # no remark"
    assert shown["shared",] == "&name 0.1"
    assert shown["use",] == "*name"
    assert shown["quoted",] == '"two\n  lines"'
    assert shown["folded",] == "plain\n  words"
    assert shown["list", 0] == "{a: 1,\n     b: [x, y]}"
    assert shown["list", 0, "b"] == "[x, y]"
    assert shown["list", 1] == "c: >-\n      last"
    assert at.eol == eol
    assert at.flow == {("list", 0), ("list", 0, "b")}
    assert [at.line_of(at.keys[key,]) for key in ("first", "block", "shared", "list")] == [2, 3, 9, 15]
    assert at.column(at.spans["list", 0].start) == 4
    assert at.dash(("list", 1)) == 2


def test_a_copy_writes_shared_values_out_and_others_in_their_place() -> None:
    at = of(TEXT)
    assert read_yaml_text("x", at.copy(at.spans[()], {}).encode()).data == read_yaml_text("x", TEXT.encode()).data
    new = at.copy(at.spans["list",], {at.spans["list", 0, "a"]: "2", at.spans["first",]: "elsewhere"})
    assert new == "- {a: 2,\n     b: [x, y]}\n  - c: >-\n      last"
    assert "&name" not in at.copy(at.spans[()], {})
    assert "*name" not in at.copy(at.spans[()], {})


def test_a_part_in_brackets_or_below_its_dash_has_no_dash_beside_it() -> None:
    at = of("list: [{a: 1}]\nother:\n  - {a: 1}\n  -\n    a: 1\n")
    for path, line in ((("list", 0), 1), (("other", 0), 3), (("other", 1), 5)):
        with pytest.raises(TableError) as caught:
            at.dash(path)
        words = "must begin with a dash and its first key, not in brackets: write it so first"
        assert str(caught.value) == f"x.yaml:{line}: {words}"


def test_comments_above_a_part_belong_to_it_but_not_the_text_of_a_value() -> None:
    at = of("list:\n  - a: |\n      # text\n  - b: 1\n  # one\n  # two\n  - c: 1\n")
    assert [at.line_of(at.above(("list", n))) for n in range(3)] == [2, 4, 5]
    assert at.line_of(of("# top\n- a: 1\n").above((0,))) == 1


def test_the_line_after_a_part_is_known_where_its_line_ends() -> None:
    at = of("a: 1 # x\nb: 2")
    assert at.after(("a",)) == len("a: 1 # x\n")
    assert at.after(("b",)) is None
    assert of("b: 2").eol == "\n"


def test_lines_end_where_yaml_ends_them() -> None:
    assert lines_of("a\r\nb\rc\x85d\u2028e\x0cf\n\ng") == ["a\r\n", "b\r", "c\x85", "d\u2028", "e\x0cf\n", "\n", "g"]
    assert lines_of("") == []


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_literal_is_read_as_what_it_says(value: str) -> None:
    for text in (f"a: {literal(value)}\n", f"a: [{literal(value)}]\n"):
        found = read_yaml_text("x", text.encode())
        assert not found.faults
        assert found.data["a"] in (value, [value])


@pytest.mark.parametrize("path", sorted(shipped_folder().rglob("*.yaml")), ids=lambda path: str(path.name))
def test_positions_agree_with_the_loader_on_every_shipped_table(path: Path) -> None:
    content = path.read_bytes()
    at, text = Positions(path.name, content), read_yaml_text(path.name, content)
    assert len(at.values) > 5
    for place, value in at.values.items():
        data = text.data
        for part in place:
            data = data[part]
        assert data == value
        if place in at.keys:
            assert at.line_of(at.keys[place]) == text.lines[place]
    assert at.copy(at.spans[()], {}) in at.text
