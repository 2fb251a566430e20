"""A draft is a candidate file, and each of its errors is reported at its change."""

from pathlib import Path

import pytest
from small_usage import CLAUDE, DAY, KLING

import ratecard
from ratecard.candidates.file import load_candidate
from ratecard.whatif.draft import Draft, DraftError, Factor, Head, NewRate

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
