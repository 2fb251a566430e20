"""A draft is a candidate file: it reads back as what was typed, and each of its errors is told at its change."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_usage import CLAUDE, DAY, KLING

import ratecard
from ratecard.candidates.file import load_candidate
from ratecard.load.yaml_text import read_yaml_text
from ratecard.whatif.draft import (
    Draft,
    DraftError,
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


DEARER = Factor("family", ("kling-o3",), "1.05")
SAME = NewRate(KLING, "video", (("audio", ("true",)),), "0.154")


def refused(draft: Draft, card: ratecard.RateCard) -> DraftError:
    with pytest.raises(DraftError) as caught:
        draft.card(card)
    return caught.value


def test_a_draft_reads_back_as_the_candidate_that_it_is(tmp_path: Path, card: ratecard.RateCard) -> None:
    head = Head('Dearer: "video"', "Pricing & Co.", "costs rose\nby 5 %")
    draft = Draft(DAY, (DEARER, SAME._replace(amount="0.17")), head)
    path = tmp_path / "draft.yaml"
    path.write_text(draft.text(), encoding="utf-8")
    read = load_candidate(path).candidate
    assert (read.candidate, read.proposed_by, read.why) == head
    assert read.effective.isoformat() == DAY
    assert card.with_candidate(path).digest == draft.card(card).digest != card.digest


def test_every_mistake_is_reported_at_its_change(card: ratecard.RateCard) -> None:
    unfinished = NewRate(CLAUDE)
    digits = Factor("type", ("image", "text"), "1.00000000000000000000000000001")
    sound = Factor("model", ("ovi-image-to-video",), "1.05")
    error = refused(Draft(DAY, (sound, unfinished, digits, SAME, Factor("model", (KLING,), "1"))), card)
    assert set(error.changes) == {2, 3, 4}
    assert "more than 30 decimal places" in error.changes[2]
    assert "more like this)" in error.changes[2]
    assert error.changes[3].startswith(f"changes nothing: {KLING} has this rate already (video/kling-o3.yaml:")
    assert error.changes[4] == "changes nothing: every rate x 1 is the same"
    assert error.head == {}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("-1", "'-1' is neither a factor nor a percentage. Write a factor like 1.10, or a change like 10% or -15%"),
        ("0", "must be more than zero"),
        ("-100%", "leaves nothing of a rate"),
        ("1.234,5", "is neither a factor nor a percentage"),
        ("1e3", "is neither a factor nor a percentage"),
        ("#", "is neither a factor nor a percentage"),
        ("1.05\nrate: 3", "is neither a factor nor a percentage"),
    ],
)
def test_a_text_that_is_not_a_factor_is_refused_in_words(typed: str, words: str, card: ratecard.RateCard) -> None:
    assert words in refused(Draft(DAY, (DEARER._replace(factor=typed),)), card).changes[0]


@pytest.mark.parametrize("day", ["2026-13-01", "tomorrow", "", "2026-11-22 # x"])
def test_a_text_that_is_not_a_day_is_refused_at_the_day(day: str, card: ratecard.RateCard) -> None:
    error = refused(Draft(day, (DEARER,)), card)
    assert set(error.head) == {"effective"}
    assert "is not a date" in error.head["effective"]


def test_a_day_on_which_the_model_has_a_version_already(card: ratecard.RateCard) -> None:
    error = refused(Draft("2026-09-28", (Factor("model", (KLING,), "1.05"),)), card)
    assert error.changes[0].endswith("(video/kling-o3.yaml). Choose another day")


def test_what_is_missing_in_the_head_is_told_by_its_key(card: ratecard.RateCard) -> None:
    error = refused(Draft(DAY, (DEARER,), Head("", " ", "why")), card)
    assert set(error.head) == {"candidate", "proposed_by"}
    assert "is empty" in str(error)
