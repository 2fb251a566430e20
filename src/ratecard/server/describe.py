"""What OpenAPI says of the endpoints: paths, answers, errors, headers, and worked requests from the tables as examples.

Bodies and answers are described by their models, so that each is a named component. The examples are priced by the
tables that are served first.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.responses import Response

from ratecard.base.errors import QuoteError
from ratecard.base.money import text
from ratecard.price_book import PriceBook
from ratecard.requests.body import MOST_BODY_BYTES
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.server.answers import (
    ErrorObject,
    EstimatedCost,
    Health,
    InvalidRequest,
    ListedModel,
    ModelList,
    PriceQuote,
    Probed,
    RatedList,
    RatedQuote,
)
from ratecard.server.content_encoding import too_long
from ratecard.server.http import JSON
from ratecard.server.route import operation_id
from ratecard.server.tables import Served
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample

Options = dict[str, Any]
_Answers = dict[int | str, dict[str, Any]]
_TEXT = {"type": "string"}


def errors(*statuses: int) -> _Answers:
    """The error answers of an endpoint: those that it often gives by status, and all others."""
    described: dict[int, tuple[Any, str, dict[str, Any]]] = {
        400: (
            InvalidRequest | ErrorObject,
            "The request is wrong, or its model has no price",
            {
                "at a field": {
                    "error": "Invalid request body",
                    "details": {"_errors": [], "model": {"_errors": ["Required"]}},
                },
                "in a sentence": {"error": "Specified model not found: nothing"},
            },
        ),
        401: (ErrorObject, "No API key, or one that is not known", _error("Authentication failed")),
        404: (ErrorObject, "Not found", _error("Specified model not found: nothing")),
        406: (ErrorObject, "No offered type is accepted", _error("Accept application/json or text/csv")),
        413: (ErrorObject, "The body is too long", _error(too_long(MOST_BODY_BYTES))),
        415: (
            ErrorObject,
            "The body is not JSON, or encoded otherwise than by gzip or deflate",
            _error("The body must be JSON"),
        ),
        503: (ErrorObject, "Not available now; try again", _error("Not available now. Try again later")),
    }
    found: _Answers = {
        status: {"model": model, "description": words, "content": {JSON: {"examples": _examples(examples)}}}
        for status, (model, words, examples) in described.items()
        if status in statuses
    }
    found["4XX"] = {"model": ErrorObject, "description": "Another error of the request"}
    found["5XX"] = {"model": ErrorObject, "description": "An error of the server"}
    return found


def _error(words: str) -> dict[str, Any]:
    return {"in a sentence": {"error": words}}


def _examples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in values.items()}


def video_examples(prices: PriceBook) -> dict[str, Any]:
    """One worked request of every family of video models, by the model's id."""
    found: dict[str, Any] = {}
    families = set()
    for model, version in prices._in_effect_all("video"):
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
    # The two fields are those of this endpoint: samples of methods are usages, in which they have other names.
    fields = {"speech": {"character_count": 1000}, "transcription": {"duration_seconds": 60}, "music": {}}
    return {
        type_: {"summary": model.name, "value": {"model": model.model, **count}}
        for type_, count in fields.items()
        for model in prices.models(type_)[:1]
    }


def usage_examples(prices: PriceBook) -> dict[str, Any]:
    """A worked usage of every type but video, and two of them together."""
    found: dict[str, Any] = {}
    for model, version in prices._in_effect_all():
        for example in version.examples:
            if model.type not in found and isinstance(example, UsageExample):
                value = usage_of_text(model.type, model.model, example.usage)
                summary = f"{model.name}: {text(example.total)} {model.currency}"
                found[model.type] = {"summary": summary, "value": value}
    if found:
        usages = [each["value"] for each in list(found.values())[:2]]
        found["several"] = {"summary": "Several usages", "value": {"usages": usages}}
    return found


def estimate_examples(prices: PriceBook) -> dict[str, Any]:
    """An estimate of the first text model."""
    return {
        model.model: {
            "summary": model.name,
            "value": {"model": model.model, "prompt_tokens": 1000, "max_completion_tokens": 500},
        }
        for model in prices.models("text")[:1]
    }


def parameter(name: str, schema: dict[str, Any], description: str, where: str = "query") -> dict[str, Any]:
    """What OpenAPI says of a parameter of the query, or of the path."""
    required = where == "path"
    return {"name": name, "in": where, "required": required, "schema": schema, "description": description}


EXPLAIN = parameter(
    "explain",
    {"type": "boolean", "default": False},
    "Add the line items, the effective date and the digest of the tables",
)
_DAY = parameter(
    "at",
    {"type": "string", "format": "date", "examples": ["2026-10-01"]},
    "The prices of a day, as far as they are announced",
)

_VERSION = "The revision of the service, a date and a time"
_HEADERS = {
    "x-service-version": _VERSION,
    "x-ratecard-digest": "The tables that the answer was made with",
}
_NOTICES = {
    "x-service-model-deprecation-warning": "That the model will be retired, and what to use instead",
    "x-service-model-deprecation-date": "The day from which it is retired, ISO 8601",
    "x-service-model-price-change-warning": "That other prices of the model are announced",
    "x-service-model-price-change-date": "The day on which they take effect, ISO 8601",
}
IGNORED = {
    "x-service-ignored-fields": "Fields without effect that the body does not list: their names, separated by commas",
}


def video_quote_description(served: Served, guarded: bool) -> Options:
    """`POST /video/quote`."""
    prices = served.book
    examples = video_examples(prices)
    answers = _priced(PriceQuote, lambda body: json.loads(prices.quote_video(body).to_json()), examples, IGNORED)
    return _post("videoQuote", "/video/quote", "Price a video without running it", answers, examples, guarded, EXPLAIN)


def audio_quote_description(served: Served, guarded: bool) -> Options:
    """`POST /audio/quote`."""
    prices = served.book
    examples = audio_examples(prices)
    answers = _priced(PriceQuote, lambda body: json.loads(prices.quote_audio(body).to_json()), examples, IGNORED)
    words = "Price speech, transcription or music without running it"
    return _post("audioQuote", "/audio/quote", words, answers, examples, guarded, EXPLAIN)


def rate_description(served: Served, guarded: bool) -> Options:
    """`POST /rate`."""
    prices = served.book
    examples = usage_examples(prices)
    one = dict(list(examples.items())[:1])
    answers = _priced(RatedQuote | RatedList, lambda usage: prices.rate(usage).to_dict(), one)
    return _post("rate", "/rate", "Price a metered request of any type, or a list of them", answers, examples, guarded)


def estimate_description(served: Served, guarded: bool) -> Options:
    """`POST /estimate`."""
    prices = served.book
    examples = estimate_examples(prices)

    def estimated(body: Any) -> dict[str, Any]:
        found = EstimatedCost.of_text(body["model"], prices.estimate_text(**body), served.digest)
        return found.model_dump(mode="json")

    answers = _priced(EstimatedCost, estimated, examples)
    words = "The least and the most that a text request can cost before it runs"
    return _post("estimate", "/estimate", words, answers, examples, guarded)


def models_description(guarded: bool) -> Options:
    """`GET /models`."""
    answers = {200: _answer("Every model that has a price", ModelList), **errors(400, *_accounts(guarded))}
    of_type = parameter("type", _TEXT, "Only models of a type: text, video, image, ...")
    options = _operation("listModels", "/models", "List the models that have a price", answers)
    return {**options, "openapi_extra": {"parameters": [of_type, _DAY]}}


def model_description(served: Served, guarded: bool) -> Options:
    """`GET /models/{id}`."""
    known = [model.model for model in served.book.models()[:1]]
    schema = {**_TEXT, "examples": known} if known else _TEXT
    name = parameter("id", schema, "The id of the model, which may hold slashes", "path")
    answers: _Answers = {200: _answer("One model", ListedModel, _NOTICES), **errors(400, *_accounts(guarded), 404)}
    options = _operation("retrieveModel", "/models/{id:path}", "What one model accepts and costs", answers)
    return {**options, "openapi_extra": {"parameters": [name, _DAY]}}


def usage_description() -> Options:
    """`GET /billing/usage`."""
    names = ("Deprecation", "Link", "Sunset")
    headers = {name: {"schema": _TEXT} for name in names} | headers_of({"x-service-version": _VERSION})
    words = {404: "Before its last day", 410: "From its last day on"}
    answers: _Answers = {
        status: {
            "model": ErrorObject,
            "description": f"{when}: the endpoint that replaces this one, and the parameters to rename",
            "headers": headers,
        }
        for status, when in words.items()
    }
    options = _operation("usage", "/billing/usage", "Gone: use /billing/usage-history", {**answers, **errors()})
    return {**options, "status_code": 410}


def livez_description() -> Options:
    """`GET /livez`."""
    answers: _Answers = {200: {"model": Probed, "description": "It does"}, **errors()}
    return _operation("livez", "/livez", "Whether this process answers", answers)


def readyz_description() -> Options:
    """`GET /readyz`."""
    answers: _Answers = {200: {"model": Probed, "description": "Yes"}, **errors(503)}
    return _operation("readyz", "/readyz", "Whether requests should be sent here", answers)


def health_description(guarded: bool) -> Options:
    """`GET /healthz`."""
    words = "The tables that are served, and those that were refused last"
    answers: _Answers = {200: _answer(words, Health), **errors(*_accounts(guarded))}
    return _operation("health", "/healthz", "Which tables are served", answers)


def metrics_description() -> Options:
    """`GET /metrics`."""
    content = {"text/plain": {"schema": _TEXT}, "application/openmetrics-text": {"schema": _TEXT}}
    answers: _Answers = {200: {"description": "Counters", "content": content}, **errors()}
    return _operation("metrics", "/metrics", "Counters for Prometheus", answers)


def _priced(
    answer: Any, price: Callable[[Any], Any], examples: Mapping[str, Any], further: Mapping[str, str] | None = None
) -> _Answers:
    """The answer of an endpoint that prices, with what it says to the first of the examples."""
    described, shown = _answer("What it costs", answer, {**_NOTICES, **(further or {})}), {}
    for name, example in list(examples.items())[:1]:
        with suppress(QuoteError):  # an example holds for the first day of its version, and what it is of may be gone
            shown[name] = price(example["value"])
    return {200: {**described, "content": {JSON: {"examples": _examples(shown)}}}}


def _post(
    name: str, path: str, summary: str, answers: _Answers, examples: Mapping[str, Any], guarded: bool, *parameters: Any
) -> Options:
    options = _operation(name, path, summary, {**answers, **errors(400, *_accounts(guarded), 413, 415)})
    body = {"required": True, "content": {JSON: {"examples": examples}}}
    return {**options, "openapi_extra": {"parameters": list(parameters), "requestBody": body}}


def _operation(name: str, path: str, summary: str, answers: _Answers) -> Options:
    return {
        "path": path,
        "generate_unique_id_function": operation_id(name, path),
        "summary": summary,
        "responses": answers,
        "response_class": Response,
    }


def _answer(description: str, answer: Any, further: Mapping[str, str] | None = None) -> dict[str, Any]:
    headers = headers_of({**_HEADERS, **(further or {})})
    return {"description": description, "headers": headers, "model": answer}


def headers_of(descriptions: Mapping[str, str]) -> dict[str, Any]:
    """What OpenAPI says of headers that are text."""
    return {name: {"schema": _TEXT, "description": words} for name, words in descriptions.items()}


def _accounts(guarded: bool) -> tuple[int, ...]:
    return (401,) if guarded else ()
