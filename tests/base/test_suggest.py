"""Did you mean: near words are offered, far ones are not, and a refusal stays cheap."""

from difflib import SequenceMatcher
from time import perf_counter

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from ratecard.base.suggestions import MOST_COMPARED, did_you_mean, few_suggestions, letters_in_common, suggestions

MODELS = ["veo3-fast", "kling-v3-pro", "kling-o3-pro", "kling-v3-standard", "wan-2-5", "sora-2"]

NEAREST = {
    "kling-v3-prp": "kling-v3-pro",
    "KLING-V3-PRO": "kling-v3-pro",
    "kling-v3-standart": "kling-v3-standard",
    "sora2": "sora-2",
    "veo-3-fast": "veo3-fast",
}


@pytest.mark.parametrize(("given", "nearest"), NEAREST.items())
def test_the_nearest_word_comes_first(given: str, nearest: str) -> None:
    assert suggestions(given, MODELS)[0] == nearest
    assert did_you_mean(given, MODELS) == f" Did you mean '{nearest}'?"


@pytest.mark.parametrize("given", ["", "x", "gpt-5", "完全に違う", "-" * 1_000])
def test_a_word_that_is_near_to_none_has_no_suggestion(given: str) -> None:
    assert suggestions(given, MODELS) == []
    assert did_you_mean(given, MODELS) == ""


def test_nothing_known_means_no_suggestion() -> None:
    assert did_you_mean("sora-2", []) == ""


def test_at_most_three_words_are_offered_nearest_first() -> None:
    assert suggestions("kling-v3-pro", [*MODELS, "kling-v2-pro", "kling-v3-pr"]) == [
        "kling-v3-pro",
        "kling-v3-pr",
        "kling-o3-pro",
    ]
    assert suggestions("kling-v3-pro", MODELS, most=1) == ["kling-v3-pro"]


def test_the_best_of_many_is_found() -> None:
    many = [f"model-{number}-text-to-video" for number in range(5_000)]
    assert suggestions("modle-4321-text-to-video", many, most=1) == ["model-4321-text-to-video"]


def test_a_hostile_word_among_many_costs_little() -> None:
    many = [f"model-{number}-text-to-video" for number in range(1_000)]
    start = perf_counter()
    suggestions("model-1" * 1_000_000, many)
    assert perf_counter() - start < 1


WORDS = st.text(st.sampled_from("abc-1"), max_size=30)


@drawn(WORDS, WORDS)
def test_letters_in_common_are_those_of_difflib(one: str, other: str) -> None:
    matched = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    assert letters_in_common(one, other) == sum(block.size for block in matched)


def test_inside_of_a_block_few_words_are_compared() -> None:
    @few_suggestions(2)
    def answered() -> list[str]:
        return [did_you_mean(given, MODELS) for given in ("sora2", "sora-", "sora-22")]

    for _ in range(2):  # each call has its own number
        assert answered() == [" Did you mean 'sora-2'?", " Did you mean 'sora-2'?", ""]
    with few_suggestions():
        assert [bool(suggestions("sora2", MODELS)) for _ in range(MOST_COMPARED + 1)] == [True] * MOST_COMPARED + [
            False
        ]
    assert suggestions("sora2", MODELS) == ["sora-2"]


def test_a_block_in_another_has_its_own_number() -> None:
    with few_suggestions(1):
        with few_suggestions(1):
            assert suggestions("sora2", MODELS)
            assert not suggestions("sora2", MODELS)
        assert suggestions("sora2", MODELS)
        assert not suggestions("sora2", MODELS)


def test_the_end_of_a_long_word_is_not_compared() -> None:
    known = "token_" * 20
    assert suggestions("token_" * 14, [known + "a" * 10_000]) == [known + "a" * 10_000]
