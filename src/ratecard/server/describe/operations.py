"""Each endpoint in words: the options of its route."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from ratecard.server.describe.answers import EXPLAIN, HEALTH, MODELS, QUOTE
from ratecard.server.describe.bodies import Schema, audio_body, video_body
from ratecard.server.describe.errors import ErrorObject, errors
from ratecard.server.describe.examples import audio_examples, video_examples
from ratecard.server.refusal import JSON
from ratecard.server.served import Served

Options = dict[str, Any]
Answers = dict[int | str, dict[str, Any]]

_TEXT = {"type": "string"}
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
    answers: Answers = {200: _answer("Every model that has a price now", MODELS), **errors(*_accounts(guarded))}
    return _operation("listModels", "List the models that have a price now", answers)


def usage_description() -> Options:
    """`GET /billing/usage`."""
    names = ("Deprecation", "Link", "Sunset")
    headers = {name: {"schema": _TEXT} for name in names} | _headers({"x-service-version": _VERSION})
    words = {404: "Before its last day", 410: "From its last day on"}
    answers: Answers = {
        status: {
            "model": ErrorObject,
            "description": f"{when}: the endpoint that replaces this one, and the parameters to rename",
            "headers": headers,
        }
        for status, when in words.items()
    }
    return {**_operation("usage", "Gone: use /billing/usage-history", answers), "status_code": 410}


def health_description() -> Options:
    """`GET /healthz`."""
    answers: Answers = {200: _answer("The tables that are served, and those that were refused last", HEALTH)}
    return _operation("health", "Which tables are served", answers)


def metrics_description() -> Options:
    """`GET /metrics`."""
    content = {"text/plain": {"schema": _TEXT}, "application/openmetrics-text": {"schema": _TEXT}}
    return _operation("metrics", "Counters for Prometheus", {200: {"description": "Counters", "content": content}})


def _quote(name: str, summary: str, body: Schema, examples: Schema, guarded: bool) -> Options:
    answers: Answers = {
        200: _answer("The price", QUOTE, _RETIRING),
        **errors(400, *_accounts(guarded), 413, 415),
    }
    content = {JSON: {"schema": body, "examples": examples}}
    extra = {"parameters": [EXPLAIN], "requestBody": {"required": True, "content": content}}
    return {**_operation(name, summary, answers), "openapi_extra": extra}


def _operation(name: str, summary: str, answers: Answers) -> Options:
    return {"operation_id": name, "summary": summary, "responses": answers, "response_class": Response}


def _answer(description: str, schema: Schema, further: Mapping[str, str] | None = None) -> Schema:
    content = {JSON: {"schema": schema}}
    return {"description": description, "headers": _headers({**_HEADERS, **(further or {})}), "content": content}


def _headers(descriptions: Mapping[str, str]) -> Schema:
    return {name: {"schema": _TEXT, "description": words} for name, words in descriptions.items()}


def _accounts(guarded: bool) -> tuple[int, ...]:
    return (401,) if guarded else ()
