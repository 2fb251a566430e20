"""Whatever `GET /models` lists of a field may be posted back: each option, default and bound of every model.

Requests are an example of the model with one value of the listing in it, and are posted as JSON, as a client would.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import asked, post

import ratecard
from ratecard.load.folder import tables_from
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.server import LiveRateCard, application
from ratecard.tables.video import VideoExample
from token_tables import by_tokens, family, text_model

Fields = dict[str, Any]
REFERENCE = "reference_video_total_duration"
OF_CLIP = {"-1", "auto", "Auto", "adaptive"}
SOUND = {"none": [False], "always": [True], "configurable": [True, False]}
# The most usages of one request.
MOST = 1000


def values_of(name: str, constraint: Any) -> list[Any]:
    """Return the values that a constraint allows for a field."""
    if name == "audio":
        return SOUND[constraint]
    if isinstance(constraint, dict):  # a constraint with bounds
        return [constraint[bound] for bound in ("min", "max", "source_min", "source_max") if bound in constraint]
    return list(constraint)


def beyond(name: str, constraint: Any) -> list[Any]:
    """Values just outside of a constraint."""
    if name == "target_fps":
        return [constraint["min"] - 1, constraint["max"] + 1]
    return [constraint["max"] + 1] if name == REFERENCE else []


def fields_of(constraints: Fields) -> dict[str, list[Any]]:
    """Every value that is listed, by the field to post it in."""
    others = ("defaults", "topaz", "resolution_aliases", "video_url")
    fields = {name: values_of(name, value) for name, value in constraints.items() if name not in others}
    fields["enhancement_model"] = constraints.get("topaz", {}).get("models", [])
    fields["resolution"] = [*fields.get("resolution", ()), *constraints.get("resolution_aliases", ())]
    for name, value in constraints.get("defaults", {}).items():
        fields[name] = [value, *fields.get(name, ())]
    return fields


def example_of(card: ratecard.RateCard, day: datetime, model: Fields) -> Fields:
    """A request of a model; one of a source video says how long that is."""
    example = card.at(day).in_effect(model["id"])[1].examples[0]
    if isinstance(example, VideoExample):
        stated = {"duration": model["constraints"]["duration"][0], "target_fps": 60} if example.source else {}
        return {**body_of_text(example.request), **stated}
    return {**usage_of_text(model["type"], model["id"], example.usage)}  # type: ignore[attr-defined]


def posted(card: ratecard.RateCard, day: datetime) -> Iterator[tuple[Fields, str, Any, Fields, bool]]:
    """(model, field, value, answer, whether it is listed) of every value of the listing, and of those beside it."""
    with asked(application(LiveRateCard(card, clock=lambda: int(day.timestamp()) * 10**9))) as client:
        cases = []
        for model in client.get("/api/v1/models").json()["data"]:
            constraints, example = model["constraints"], example_of(card, day, model)
            listed = [(name, each, True) for name, values in fields_of(constraints).items() for each in values]
            listed += [(name, each, False) for name, bounds in constraints.items() for each in beyond(name, bounds)]
            for name, value, allowed in listed:
                body = {**example, "type": model["type"], "model": model["id"], name: value}
                if name == "factor":
                    body = {"type": "upscale", "model": model["id"], name: value}
                if REFERENCE in constraints and OF_CLIP & {body.get("duration"), body.get("aspect_ratio")}:
                    body.setdefault(REFERENCE, constraints[REFERENCE]["source_min"])
                cases.append((model, name, value, body, allowed))
        for start in range(0, len(cases), MOST):
            some = cases[start : start + MOST]
            usages = json.dumps({"usages": [body for *_, body, _ in some]}, default=float)
            answers = post(client, usages.encode(), "/api/v1/rate").json()["data"]
            for (model, name, value, _, allowed), answer in zip(some, answers, strict=True):
                yield model, name, value, answer, allowed


def made_up() -> ratecard.RateCard:
    """The sound tables of the tests, and a text model with conditions."""
    sound = Path(__file__).parents[1] / "tables" / "sound"
    rates = """
          - {tokens: input, rate: 4}
          - {tokens: output, rate: 20}
          - {tokens: [input, output], service_tier: priority, rate: 7}
"""
    factors = """
        factors:
          - {service_tier: batch, factor: 0.5}
          - {inference_geo: us, factor: 1.1}
"""
    usage = "{prompt_tokens: 1000, completion_tokens: 1000}"
    text = family(text_model("m", by_tokens(rates, factors, usage=usage, total="0.024")))
    files = {path.name: path.read_bytes() for path in sound.glob("*.yaml")}
    return ratecard.RateCard(tables_from({**files, "conditions.yaml": text.encode()}))


def details_of(answer: Fields) -> set[str]:
    """The fields that an answer refuses; of a refusal in a sentence, all of it."""
    return {*answer.get("details", {answer.get("error"): ""})} - {"_errors", None}


CARDS = {
    "shipped": (ratecard.load_rate_card, datetime(2026, 10, 1, tzinfo=UTC)),
    "made up": (made_up, datetime(2026, 10, 1, tzinfo=UTC)),
}


@pytest.mark.parametrize("name", CARDS)
def test_what_is_listed_of_a_field_is_taken_and_what_is_beyond_its_bounds_is_not(name: str) -> None:
    load, day = CARDS[name]
    answers = list(posted(load(), day))
    wrong = [
        (model["id"], field, value, answer)
        for model, field, value, answer, listed in answers
        # The test posts no source video, so the field for one may be refused.
        if details_of(answer) - {"video_url"} != (set() if listed else {field})
    ]
    assert wrong == []
    fields = {field for _, field, _, _, listed in answers if listed}
    expected = {"duration", "resolution", "aspect_ratio", "audio", "upscale_factor", "slowdown_factor", "target_fps"}
    expected |= {"enhancement_model", REFERENCE, "factor", "quality"}
    if name == "made up":
        expected = {"service_tier", "inference_geo", "upscale_factor", "factor", REFERENCE}
    assert fields >= expected


@pytest.mark.parametrize("name", CARDS)
def test_a_default_has_the_type_of_the_values_beside_it(name: str) -> None:
    load, day = CARDS[name]
    with asked(application(LiveRateCard(load(), clock=lambda: int(day.timestamp()) * 10**9))) as client:
        models = client.get("/api/v1/models").json()["data"]
    for model in models:
        constraints = {**model["constraints"], "enhancement_model": model["constraints"].get("topaz", {}).get("models")}
        for field, value in constraints.get("defaults", {}).items():
            assert value in constraints[field], model["id"]
