"""What OpenAPI says of the endpoints: fields, answers, errors, and worked requests from the tables as examples.

Answers are described by their models. Written by hand are the request bodies, whose values come from the tables, and
the quote and the ledger entry: pydantic has no exact number, no field that may be absent but never null, and no object
with one of two fields.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from ratecard.base.money import text
from ratecard.card import RateCard
from ratecard.price_book import PriceBook
from ratecard.pricing.counted import MOST_COUNTED
from ratecard.requests.fields import URL
from ratecard.requests.text_body import body_of_text
from ratecard.server.answers import ErrorObject, Health, InvalidRequest, ModelList, Probed
from ratecard.server.http import JSON
from ratecard.server.tables import Served
from ratecard.tables.video import VideoExample, VideoModel, VideoVersion


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of an endpoint, by status."""
    described: dict[int, dict[str, Any]] = {
        400: {"model": InvalidRequest | ErrorObject, "description": "The request is wrong, or its model has no price"},
        401: {"model": ErrorObject, "description": "No API key, or one that is not known"},
        404: {"model": ErrorObject, "description": "Not found"},
        413: {"model": ErrorObject, "description": "The body is too long"},
        415: {"model": ErrorObject, "description": "The body is not application/json"},
    }
    return {status: described[status] for status in statuses}


def video_examples(prices: PriceBook) -> dict[str, Any]:
    """One worked request of every family of video models, by the model's id."""
    found: dict[str, Any] = {}
    families = set()
    for model, version in prices.in_effect_all("video"):
        family = prices.tables.families[model.model]
        example = next((each for each in version.examples if isinstance(each, VideoExample) and not each.source), None)
        if example and family not in families:
            families.add(family)
            value = {"model": model.model} | body_of_text(example.request)
            summary = f"{model.name}: {text(example.total)} {model.currency}"
            found[model.model] = {"summary": summary, "value": value}
    return found


def audio_examples(prices: PriceBook) -> dict[str, Any]:
    """A request of every kind of audio model."""
    fields = {"speech": {"character_count": 1000}, "transcription": {"duration_seconds": 60}, "music": {}}
    return {
        type_: {"summary": model.name, "value": {"model": model.model, **count}}
        for type_, count in fields.items()
        for model, _ in list(prices.in_effect_all(type_))[:1]
    }


_TEXT = {"type": "string"}
EXPLAIN = {
    "name": "explain",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Add the line items, the effective date and the digest of the tables",
}
_LINE = {
    "type": "object",
    "required": ["sku", "quantity", "unit", "unit_rate", "amount", "source"],
    "properties": dict.fromkeys(("sku", "quantity", "unit", "unit_rate", "amount", "source", "note"), _TEXT),
    "additionalProperties": False,
}
QUOTE = {
    "type": "object",
    "title": "Quote",
    "required": ["quote"],
    "properties": {
        "quote": {
            "type": "number",
            "minimum": 0,
            "description": "The price with its exact digits: in USD, or in `currency` where the answer has one",
        },
        **dict.fromkeys(("type", "model", "total", "exact", "digest"), _TEXT),
        "currency": {**_TEXT, "description": "ISO 4217; always there with `explain`, else where it is not USD"},
        "lines": {"type": "array", "items": _LINE},
        "effective": {"type": "string", "format": "date"},
        "ignored": {"type": "array", "items": _TEXT, "description": "Fields without effect on the price"},
    },
    "additionalProperties": False,
}


Schema = dict[str, Any]


def video_body(card: RateCard) -> Schema:
    """The body of `POST /video/quote`. Which fields matter, and their values, vary by model: see `GET /models`."""
    fields = card.tables.vocabulary.video
    models = [model for model in card.tables.models.values() if isinstance(model, VideoModel)]
    versions = [version for model in models for version in model.versions]
    properties = {
        "model": _model("The model to quote", (model.model for model in models)),
        "duration": {
            "type": "string",
            "enum": _all(fields.duration, versions, "duration"),
            "description": "Seconds of video, or `-1` and `auto` to match the source clip",
        },
        "aspect_ratio": {
            "type": "string",
            "enum": _all(fields.aspect_ratio, versions, "aspect_ratio"),
            "description": "`adaptive` and `auto` match the source clip",
        },
        "resolution": {
            "type": "string",
            "pattern": _any_case(_all(fields.resolution, versions, "resolution")),
            "description": "In capital or small letters",
            "examples": ["720p", "1080p", "4k"],
        },
        "upscale_factor": {"type": "integer", "enum": list(fields.upscale_factor)},
        "enhancement_model": {
            "type": "string",
            "examples": _all((), versions, "enhancement_model"),
            "description": "Enhancement models only; the values are in `constraints.topaz.models` of `GET /models`",
        },
        "target_fps": {
            "type": "integer",
            "minimum": int(fields.target_fps.min),
            "maximum": int(fields.target_fps.max),
            "description": "Enhancement models only; left out, the frame rate of the source, or the dearest if unknown",
        },
        "slowdown_factor": {"type": "integer", "enum": list(fields.slowdown_factor)},
        "audio": {"type": "boolean", "default": True},
        "video_url": {
            "type": "string",
            "pattern": URL,
            "examples": ["https://example.com/clip.mp4"],
            "description": "The video to process: a URL or a base64 data URI",
        },
        "reference_video_total_duration": {
            "type": "number",
            "minimum": int(fields.reference_video_total_duration.min),
            "maximum": int(fields.reference_video_total_duration.max),
            "description": "Seconds of all reference videos together",
        },
    }
    return {"type": "object", "title": "VideoQuoteRequest", "required": ["model"], "properties": properties}


def audio_body(card: RateCard) -> Schema:
    """The body of `POST /audio/quote`: a count of seconds or of characters, whichever the model is billed by."""
    types = ("speech", "transcription", "music")
    names = (model.model for model in card.tables.models.values() if model.type in types)
    seconds = [
        {"type": "integer", "minimum": 1, "maximum": MOST_COUNTED},
        {"type": "string", "pattern": "^(?=[0-9]{1,12}$)0*[1-9][0-9]*$"},
    ]
    properties = {
        "model": _model("The model of speech, transcription or music to quote", names),
        "duration_seconds": {"anyOf": seconds, "description": "Whole seconds, as a number or as its digits"},
        "character_count": {"type": "integer", "minimum": 0, "maximum": MOST_COUNTED},
    }
    return {"type": "object", "title": "AudioQuoteRequest", "required": ["model"], "properties": properties}


def _model(description: str, names: Iterable[str]) -> Schema:
    """An id: one of those known when this was written, or of a model that is new since."""
    known = {"enum": sorted(names), "title": "known models"}
    return {"type": "string", "description": description, "anyOf": [known, {"title": "any other model"}]}


def _all(words: Iterable[str], versions: Iterable[VideoVersion], field: str) -> list[str]:
    """The API-wide words of a field, and those of every version beside them."""
    own = (word for version in versions for word in getattr(version.accepts, field) or ())
    return list(dict.fromkeys((*words, *own)))


def _any_case(words: Iterable[str]) -> str:
    """A pattern of these words in capital or small letters."""
    pattern = "|".join(map(re.escape, words))
    return f"^({re.sub('[A-Za-z]', lambda letter: f'[{letter[0].lower()}{letter[0].upper()}]', pattern)})$"


Options = dict[str, Any]
_Answers = dict[int | str, dict[str, Any]]

_VERSION = "The revision of the service, a date and a time"
_HEADERS = {
    "x-service-version": _VERSION,
    "x-ratecard-digest": "The tables that the answer was made with",
}
_RETIRING = {
    "x-service-model-deprecation-warning": "That the model will be retired, and what to use instead",
    "x-service-model-deprecation-date": "The day from which it is retired, ISO 8601",
}


def video_quote_description(served: Served, guarded: bool) -> Options:
    """`POST /video/quote`."""
    return _quote(
        "videoQuote",
        "Price a video generation request without running it",
        video_body(served.card),
        video_examples(served.book),
        guarded,
    )


def audio_quote_description(served: Served, guarded: bool) -> Options:
    """`POST /audio/quote`."""
    return _quote(
        "audioQuote",
        "Price a speech, transcription or music request without running it",
        audio_body(served.card),
        audio_examples(served.book),
        guarded,
    )


def models_description(guarded: bool) -> Options:
    """`GET /models`."""
    answers: _Answers = {200: _answer("Every model that has a price now", ModelList), **errors(*_accounts(guarded))}
    return _operation("listModels", "List the models that have a price now", answers)


def usage_description() -> Options:
    """`GET /billing/usage`."""
    names = ("Deprecation", "Link", "Sunset")
    headers = {name: {"schema": _TEXT} for name in names} | _headers({"x-service-version": _VERSION})
    words = {404: "Before its last day", 410: "From its last day on"}
    answers: _Answers = {
        status: {
            "model": ErrorObject,
            "description": f"{when}: the endpoint that replaces this one, and the parameters to rename",
            "headers": headers,
        }
        for status, when in words.items()
    }
    return {**_operation("usage", "Gone: use /billing/usage-history", answers), "status_code": 410}


def probe_description(name: str, summary: str, *statuses: int) -> Options:
    """`GET /livez` and `GET /readyz`."""
    described: _Answers = {
        200: {"model": Probed, "description": "Yes"},
        503: {"model": ErrorObject, "description": "No, and why"},
    }
    return _operation(name, summary, {status: described[status] for status in statuses})


def health_description(guarded: bool) -> Options:
    """`GET /healthz`."""
    words = "The tables that are served, and those that were refused last"
    answers: _Answers = {200: _answer(words, Health), **errors(*_accounts(guarded))}
    return _operation("health", "Which tables are served", answers)


def metrics_description() -> Options:
    """`GET /metrics`."""
    content = {"text/plain": {"schema": _TEXT}, "application/openmetrics-text": {"schema": _TEXT}}
    return _operation("metrics", "Counters for Prometheus", {200: {"description": "Counters", "content": content}})


def _quote(name: str, summary: str, body: Schema, examples: Schema, guarded: bool) -> Options:
    answers: _Answers = {
        200: _answer("The price", QUOTE, _RETIRING),
        **errors(400, *_accounts(guarded), 413, 415),
    }
    content = {JSON: {"schema": body, "examples": examples}}
    extra = {"parameters": [EXPLAIN], "requestBody": {"required": True, "content": content}}
    return {**_operation(name, summary, answers), "openapi_extra": extra}


def _operation(name: str, summary: str, answers: _Answers) -> Options:
    return {"operation_id": name, "summary": summary, "responses": answers, "response_class": Response}


def _answer(
    description: str, answer: type[BaseModel] | Schema, further: Mapping[str, str] | None = None
) -> dict[str, Any]:
    described = {"content": {JSON: {"schema": answer}}} if isinstance(answer, dict) else {"model": answer}
    return {"description": description, "headers": _headers({**_HEADERS, **(further or {})}), **described}


def _headers(descriptions: Mapping[str, str]) -> Schema:
    return {name: {"schema": _TEXT, "description": words} for name, words in descriptions.items()}


def _accounts(guarded: bool) -> tuple[int, ...]:
    return (401,) if guarded else ()
