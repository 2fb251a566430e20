"""What a person typed, as YAML: it reads back as the same text."""

from hypothesis import given
from hypothesis import strategies as st

from ratecard.load.yaml_text import read_yaml_text
from ratecard.whatif.change import Factor, NewRate, flow, scalar

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(WORDS)
def test_any_text_reads_back(text: str) -> None:
    file = read_yaml_text("x", f"word: {scalar(text)}\nlist: {flow({'a': (text, text + 'x')})}\n".encode())
    assert not file.faults
    assert file.data == {"word": text, "list": {"a": [text, text + "x"]}}


def test_what_has_a_meaning_in_yaml_stands_in_quotes() -> None:
    assert [scalar(text) for text in ("16:9", "a #b", "-1", "", " x", "no: y", "x-2/b.c")] == [
        '"16:9"', '"a #b"', '"-1"', '""', '" x"', '"no: y"', "x-2/b.c",
    ]  # fmt: skip


def test_a_factor_is_a_change_for_each_name() -> None:
    assert list(Factor("type", ("video", "text"), "1.05").entries()) == [
        (("scale", "{type: video}"), ("factor", "1.05")),
        (("scale", "{type: text}"), ("factor", "1.05")),
    ]


def test_a_rate_without_attributes_needs_no_where() -> None:
    assert list(NewRate("m", "video", (), "0.1").entries()) == [
        (("set", "m"), ("charge", "video"), ("rate", "0.1")),
    ]


def test_a_change_is_finished_when_nothing_is_missing() -> None:
    assert Factor("type", ("video",), "1.05").finished
    assert not Factor("type", (), "1.05").finished
    assert not Factor("type", ("video",), "").finished
    assert NewRate("m", "video", (), "0.1").finished
    assert not NewRate("m", "video", (), "").finished
    assert not NewRate("m").finished
