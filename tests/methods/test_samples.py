"""Sample usages: one unit of each rate, as the price sheet shows it, and both sides of every edge."""

from random import Random
from typing import Any

import pytest

from ratecard.methods.method import Method, edge_usages, method_of, unit_usages
from ratecard.tables.meters import Unit
from shipped import CARD


def usages_of(samples: Any, name: str) -> list[dict[str, Any]]:
    model = CARD.tables.models[name]
    made = samples(model, model.versions[0], CARD.tables)
    return [{key: value for key, value in usage.items() if key not in ("type", "model")} for usage in made]


MILLION = 1_000_000
PROMPT = {"prompt_tokens": MILLION, "completion_tokens": 0}


@pytest.mark.parametrize(
    ("model", "usages"),
    [
        ("elevenlabs-tts-multilingual-v2", [{"character_count": 1_000}]),
        ("elevenlabs-sound-effects-v2", [{"duration_seconds": 1}]),
        ("lyria-3-pro", [{}]),
        ("tts-chatterbox-hd", [{"characters": MILLION}]),
        ("elevenlabs/scribe-v2", [{"seconds": 1}]),
        ("flux-2-max-edit", [{}, {"input_images": 2}]),
        ("web-search", [{"count": 1}]),
        (
            "aion-labs-aion-3-0",
            [
                {"usage": PROMPT},
                {"usage": {"prompt_tokens": 0, "completion_tokens": MILLION}},
                {"usage": {**PROMPT, "prompt_tokens_details": {"cached_tokens": MILLION}}},
            ],
        ),
    ],
)
def test_one_unit_of_each_rate(model: str, usages: list[dict[str, Any]]) -> None:
    assert usages_of(unit_usages, model) == usages


def test_one_call_of_each_tier_on_each_chain_and_every_method_answered_and_failed() -> None:
    units, edges = usages_of(unit_usages, "crypto-rpc"), usages_of(edge_usages, "crypto-rpc")
    ethereum = [usage["calls"] for usage in units if usage["network"] == "ethereum-mainnet"]
    assert ethereum == [[{"method": name}] for name in ("trace_replayBlockTransactions", "trace_x", "eth_x")]
    first = [{"method": "trace_replayBlockTransactions", "failed": failed} for failed in (False, True)]
    assert [usage["calls"] for usage in edges[:2]] == [[call] for call in first]
    assert (len(units), len(edges)) == (39, 322)


def test_tokens_are_sampled_on_both_sides_of_the_edge_of_a_tier() -> None:
    edges = usages_of(edge_usages, "gemini-3-1-pro-preview")
    assert {usage["usage"]["prompt_tokens"] for usage in edges if "usage" in usage} >= {1, 200_000, 200_001}
    units = [usage["usage"] for usage in usages_of(unit_usages, "gemini-3-1-pro-preview") if "usage" in usage]
    assert {usage["prompt_tokens"] for usage in units} == {0, 200_000, MILLION}


def charge_of(name: str) -> Method:
    return method_of(CARD.tables.models[name].versions[0].charges[0])


def test_made_up_usages_are_of_one_to_four_images_and_inputs_and_of_a_paragraph() -> None:
    image, speech, chance = charge_of("flux-2-max"), charge_of("tts-chatterbox-hd"), Random(1)  # noqa: S311 (made-up usages)
    edits = list(image.typical([{"type": "edit"}] * 200, chance))
    assert [usage["n"] for usage in edits].count(1) == 200
    assert {usage["n"] for usage in edits} == {usage["input_images"] for usage in edits} == {1, 2, 3, 4}
    assert [*image.typical([{"type": "upscale"}], chance)] == [{"type": "upscale"}]
    assert [*speech.typical([{"characters": 1}, {"character_count": 1}], chance)] == [
        {"characters": 700},
        {"character_count": 700},
    ]


@pytest.mark.parametrize(("counts", "linear"), [("prompt", False), ("search", True)])
def test_a_surcharge_that_each_prompt_has_once_is_not_linear(counts: str, linear: bool) -> None:
    assert charge_of("web-search").linear(Unit(unit="thousand", counts=counts, per=1000)) is linear
