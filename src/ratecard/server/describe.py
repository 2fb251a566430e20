"""The OpenAPI description: paths, answers, errors, headers, and worked requests from the tables as examples.

Bodies and answers are described by their models, so that each is a named component. The examples are priced by the
tables that are served first.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fastapi.params import Depends
from starlette.responses import Response

from ratecard.base.errors import QuoteError
from ratecard.base.money import text
from ratecard.price_book import PriceBook
from ratecard.requests.body import MOST_BODY_BYTES
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.server.http import JSON, too_long
from ratecard.server.route import operation_id
from ratecard.server.schemas import ErrorObject, InvalidRequest
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample

Options = dict[str, Any]
_Answers = dict[int | str, dict[str, Any]]
TEXT = {"type": "string"}


def errors(*statuses: int) -> _Answers:
    """Return the description of an endpoint's errors: the frequent ones by status, and all others together."""
    described = {
        400: ("The request is wrong, or its model has no price", "Specified model not found: nothing"),
        401: ("No API key, or one that is not known", "Authentication failed"),
        404: ("Not found", "Specified model not found: nothing"),
        406: ("No offered type is accepted", "Accept application/json or text/csv"),
        413: ("The body is too long", too_long(MOST_BODY_BYTES)),
        415: ("The body is not JSON, or encoded otherwise than by gzip or deflate", "The body must be JSON"),
        503: ("Not available now; try again", "Not available now. Try again later"),
    }
    at_a_field = {"error": "Invalid request body", "details": {"_errors": [], "model": {"_errors": ["Required"]}}}
    answers: _Answers = {}
    for status, (words, error) in described.items():
        if status in statuses:
            model: Any = InvalidRequest | ErrorObject if status == 400 else ErrorObject
            fields = {"at a field": at_a_field} if status == 400 else {}
            examples = _examples({**fields, "in a sentence": {"error": error}})
            answers[status] = {"model": model, "description": words, "content": {JSON: {"examples": examples}}}
    answers["4XX"] = {"model": ErrorObject, "description": "Another error of the request"}
    answers["5XX"] = {"model": ErrorObject, "description": "An error of the server"}
    return answers


def _examples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in values.items()}


def video_examples(prices: PriceBook) -> dict[str, Any]:
    """Return one worked request of every family of video models, by the model's id."""
    examples: dict[str, Any] = {}
    families = set()
    for model, version in prices._in_effect_all("video"):
        family = prices.tables.families[model.model]
        samples = (sample for sample in version.examples if isinstance(sample, VideoExample) and not sample.source)
        example = next(samples, None)
        if example and family not in families:
            families.add(family)
            examples[model.model] = _worked(model, example, {"model": model.model} | body_of_text(example.request))
    return examples


def _worked(model: AnyModel, example: VideoExample | UsageExample, value: Any) -> dict[str, Any]:
    return {"summary": f"{model.name}: {text(example.total)} {model.currency}", "value": value}


def audio_examples(prices: PriceBook) -> dict[str, Any]:
    """Return a request of every kind of audio model."""
    # Only this endpoint has these field names: in usages, and so in the samples of methods, they have others.
    fields = {"speech": {"character_count": 1000}, "transcription": {"duration_seconds": 60}, "music": {}}
    return {
        type_: {"summary": model.name, "value": {"model": model.model, **count}}
        for type_, count in fields.items()
        for model in prices.models(type_)[:1]
    }


def usage_examples(prices: PriceBook) -> dict[str, Any]:
    """Return a worked usage of every type but video, and two of them together."""
    examples: dict[str, Any] = {}
    for model, version in prices._in_effect_all():
        for example in version.examples:
            if model.type not in examples and isinstance(example, UsageExample):
                usage = usage_of_text(model.type, model.model, example.usage)
                examples[model.type] = _worked(model, example, usage)
    if examples:
        usages = [worked_usage["value"] for worked_usage in list(examples.values())[:2]]
        examples["several"] = {"summary": "Several usages", "value": {"usages": usages}}
    return examples


def estimate_examples(prices: PriceBook) -> dict[str, Any]:
    """Return an estimate of the first text model."""
    return {
        model.model: {
            "summary": model.name,
            "value": {"model": model.model, "prompt_tokens": 1000, "max_completion_tokens": 500},
        }
        for model in prices.models("text")[:1]
    }


def parameter(name: str, schema: dict[str, Any], description: str, where: str = "query") -> dict[str, Any]:
    """Describe a parameter of the query, or of the path, for OpenAPI."""
    required = where == "path"
    return {"name": name, "in": where, "required": required, "schema": schema, "description": description}


EXPLAIN = parameter(
    "explain",
    {"type": "boolean", "default": False},
    "Add the line items, the effective date and the digest of the tables",
)
AT_DAY = parameter(
    "at",
    {"type": "string", "format": "date", "examples": ["2026-10-01"]},
    "The prices of a day, as far as they are announced",
)

VERSION = "The revision of the service, a date and a time"
_HEADERS = {
    "x-service-version": VERSION,
    "x-ratecard-digest": "The tables that the answer was made with",
}
NOTICES = {
    "x-service-model-deprecation-warning": "That the model will be retired, and what to use instead",
    "x-service-model-deprecation-date": "The day from which it is retired, ISO 8601",
    "x-service-model-price-change-warning": "That other prices of the model are announced",
    "x-service-model-price-change-date": "The day on which they take effect, ISO 8601",
}
IGNORED = {
    "x-service-ignored-fields": "Fields without effect that the body does not list: their names, separated by commas",
}


def table_answer_of(model: Any, description: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Describe an answer that is made from the tables; `headers` are its further headers."""
    return {"description": description, "headers": headers_of({**_HEADERS, **(headers or {})}), "model": model}


def priced_answers(
    model: Any, price: Callable[[Any], Any], examples: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> dict[int, Any]:
    """Describe the answer of an endpoint that prices, with its answer to the first example."""
    example_answers = {}
    for name, example in list(examples.items())[:1]:
        with suppress(QuoteError):  # an example holds on its version's first day; its model may be gone by now
            example_answers[name] = price(example["value"])
    described = table_answer_of(model, "What it costs", {**NOTICES, **(headers or {})})
    return {200: {**described, "content": {JSON: {"examples": _examples(example_answers)}}}}


def operation(
    name: str,
    path: str,
    summary: str,
    answers: Mapping[int, Any],
    *statuses: int,
    tag: str,
    guards: Sequence[Depends] = (),
    parameters: Sequence[Any] = (),
    examples: Mapping[str, Any] | None = None,
) -> Options:
    """Return the options of an endpoint: what it answers, the statuses of its errors, and examples of its body.

    `guards` are the dependencies of an endpoint that needs an account: it answers 401 too.
    """
    extra: dict[str, Any] = {"parameters": list(parameters)} if parameters else {}
    if examples is not None:
        extra["requestBody"] = {"required": True, "content": {JSON: {"examples": examples}}}
    return {
        "path": path,
        "generate_unique_id_function": operation_id(name, path),
        "summary": summary,
        "responses": {**answers, **errors(*statuses, *([401] if guards else []))},
        "response_class": Response,
        "tags": [tag],
        "dependencies": guards,
        "openapi_extra": extra,
    }


def headers_of(descriptions: Mapping[str, str]) -> dict[str, Any]:
    """Describe headers that are text, for OpenAPI."""
    return {name: {"schema": TEXT, "description": words} for name, words in descriptions.items()}
