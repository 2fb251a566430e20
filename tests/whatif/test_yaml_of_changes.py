"""What a person typed, as YAML: it reads back as the same text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard.load.yaml_text import read_yaml_text
from ratecard.whatif.draft import (
    Draft,
    Factor,
    Head,
    Kept,
    NewRate,
    Where,
    flow,
    from_json,
    read_times,
    scalar,
    to_json,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(WORDS)
def test_any_text_reads_back(text: str) -> None:
    file = read_yaml_text("x", f"word: {scalar(text)}\nlist: {flow({'a': (text, text + 'x')})}\n".encode())
    assert not file.faults
    assert file.data == {"word": text, "list": {"a": [text, text + "x"]}}


def test_text_with_a_meaning_in_yaml_is_quoted() -> None:
    assert [scalar(text) for text in ("16:9", "a #b", "-1", "", " x", "no: y", "x-2/b.c")] == [
        '"16:9"', '"a #b"', '"-1"', '""', '" x"', '"no: y"', "x-2/b.c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("excluded", "words"),
    [
        ((), ""),
        ((("family", ("veo3",)),), ", except: {family: veo3}"),
        ((("model", ("a", "b:c")),), ', except: {model: [a, "b:c"]}'),
        ((("family", ("veo3",)), ("model", ("a", "b"))), ", except: [{family: veo3}, {model: [a, b]}]"),
    ],
)
def test_a_factor_is_one_change_of_all_its_names(excluded: Where, words: str) -> None:
    assert Factor("type", ("video", "text"), "1.05", (), excluded).entry() == (
        f"  - scale: {{type: [video, text]{words}}}\n    factor: 1.05\n"
    )


def test_a_rounding_is_a_part_of_the_change_once_it_has_a_step() -> None:
    rounded = Factor("model", ("m",), "5%", mode="half-up", step="0.001")
    assert rounded.entry() == ("  - scale: {model: m}\n    percent: 5%\n    round: {to: 0.001, mode: half-up}\n")
    assert rounded.finished
    assert not rounded._replace(step="").finished


def test_a_rate_without_attributes_needs_no_where() -> None:
    assert NewRate("m", "video", (), "0.1").entry() == ("  - set: m\n    charge: video\n    rate: 0.1\n")


@pytest.mark.parametrize(
    ("typed", "key", "value", "factor"),
    [
        ("1.10", "factor", "1.10", "1.1"),
        ("1,10", "factor", "1.10", "1.1"),
        ("10%", "percent", "10%", "1.1"),
        ("+10 %", "percent", "10%", "1.1"),
        (" -15% ", "percent", "-15%", "0.85"),
        ("\N{MINUS SIGN}15\N{NARROW NO-BREAK SPACE}%", "percent", "-15%", "0.85"),
        ("2,5 %", "percent", "2.5%", "1.025"),
        ("110%", "percent", "110%", "2.1"),
        ("0.85", "factor", "0.85", "0.85"),
        ("1", "factor", "1", "1"),
    ],
)
def test_a_factor_is_understood_as_people_type_it(typed: str, key: str, value: str, factor: str) -> None:
    read = read_times(typed)
    assert (read.key, read.value, str(read.factor)) == (key, value, factor)
    assert Factor("type", ("video",), typed).entry() == f"  - scale: {{type: video}}\n    {key}: {value}\n"


@pytest.mark.parametrize(
    "typed", ["", "%", "-15", "+10", "1.234,5", "1,234.5", "1,2,3", "1e3", "ten", "10%%", "-100%", "0", "1.1.1", "#"]
)
def test_what_could_mean_something_else_is_not_guessed(typed: str) -> None:
    with pytest.raises(ValueError, match=r"neither a factor nor|more than zero|leaves nothing"):
        read_times(typed)
    assert Factor("type", ("video",), typed).wrong


def test_a_draft_comes_back_as_it_was() -> None:
    changes = (
        Factor("family", ("kling-o3",), "1,10", (("audio", ("true",)),), (("model", ("a", "b")),)),
        Factor(),
        NewRate("m", "video", (("resolution", ("480p", "720p")),), ""),
        NewRate("m"),
        Kept("  - retire: m\n"),
    )
    draft = Draft("2026-1", changes, Head("a", "b", ""), "2027-01-01", "")
    assert from_json(to_json(draft)) == draft


def test_a_change_is_finished_when_nothing_is_missing() -> None:
    assert Factor("type", ("video",), "1.05").finished
    assert not Factor("type", (), "1.05").finished
    assert not Factor("type", ("video",), "").finished
    assert NewRate("m", "video", (), "0.1").finished
    assert not NewRate("m", "video", (), "").finished
    assert not NewRate("m").finished
