"""`POST /rate`: usages and their quotes. `POST /estimate`: the least and the most before a request runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import compact_json
from ratecard.base.messages import REQUIRED, NotOffered, Problems, wrong_type
from ratecard.base.suggestions import few_suggestions
from ratecard.requests.body import INVALID, name_of_model, read_body
from ratecard.requests.metered import unrecognized, usage_keys, usage_problems
from ratecard.requests.service_parameters import SEARCHES
from ratecard.server.describe import estimate_examples, priced_answers, usage_examples
from ratecard.server.endpoints import Service, refuse_query, table_answer
from ratecard.server.http import LONG_BODY, LONG_LIST, read_json_body
from ratecard.server.route import UNREAD
from ratecard.server.schemas import (
    MOST_USAGES,
    EstimatedCost,
    MeteredUsage,
    RatedList,
    RatedQuote,
    TextEstimateRequest,
    UsageList,
)
from ratecard.server.tables import Served

# The function from a body to its answer, and the model that it is about. It raises `QuoteError`.
_Priced = Callable[[Served, dict[str, Any]], tuple[bytes, str]]


def rate_routes(routes: APIRouter, service: Service) -> None:
    """Add `POST /rate` and `POST /estimate`."""
    prices = service.live.served.book

    def estimate_of(body: Any) -> dict[str, Any]:
        cost = EstimatedCost.of_text(body["model"], prices.estimate_text(**body), prices.tables.digest)
        return cost.model_dump(mode="json")

    async def answered(request: Request, price: _Priced) -> Response:
        body = await read_json_body(request, service.most_body_bytes, service.long_work)
        served = service.served(request)
        try:
            refuse_query(request)
        except QuoteError as error:
            return table_answer(served, error.to_json(), 400)

        def answer(given: dict[str, Any] | bytes) -> Response:
            return table_answer(served, *_answer(price, served, given))

        if (fields := _short(body)) is not None:
            return answer(fields)
        return await service.long_work.result_of(request, partial(answer, body))

    rate_examples = usage_examples(prices)
    first_example = dict(list(rate_examples.items())[:1])
    rate_answers = priced_answers(RatedQuote | RatedList, lambda usage: prices.rate(usage).to_dict(), first_example)

    words = "Price a metered request of any type, or a list of them"

    @routes.post(**service.pricing("rate", "/rate", words, rate_answers, rate_examples))
    async def rate(request: Request, body: MeteredUsage | UsageList = UNREAD) -> Response:
        return await answered(request, _rated)

    text_examples = estimate_examples(prices)
    estimate_answers = priced_answers(EstimatedCost, estimate_of, text_examples)
    words = "The least and the most that a text request can cost before it runs"

    @routes.post(**service.pricing("estimate", "/estimate", words, estimate_answers, text_examples))
    async def estimate(request: Request, body: TextEstimateRequest = UNREAD) -> Response:
        return await answered(request, _estimated)


def _short(body: bytes) -> dict[str, Any] | bytes | None:
    """Return the fields of a short body, or an unreadable body itself, for the event loop; None for a long one."""
    if len(body) > LONG_BODY:
        return None
    try:
        fields = read_body(body)
    except QuoteError:
        return body
    usages = fields.get("usages")
    return None if isinstance(usages, list) and len(usages) > LONG_LIST else fields


@few_suggestions()
def _answer(price: _Priced, served: Served, given: dict[str, Any] | bytes) -> tuple[bytes, int, str]:
    fields: dict[str, Any] = {}
    try:
        fields = read_body(given)
        answer, model = price(served, fields)
    except QuoteError as error:
        return error.to_json(), 400, served.model_of(fields)
    return answer, 200, model


def _rated(served: Served, fields: dict[str, Any]) -> tuple[bytes, str]:
    if "usages" not in fields:
        quote = served.book.rate(fields)
        return compact_json(quote.to_dict()), quote.model
    problems = unrecognized(fields, {"usages": None}.keys())
    usages = fields["usages"]
    if not isinstance(usages, list):
        problems.append((("usages",), wrong_type("array", usages)))
    elif len(usages) > MOST_USAGES:
        problems.append((("usages",), f"Array must contain at most {MOST_USAGES} element(s)"))
    if problems:
        raise QuoteError(INVALID, problems)
    data = [_quote_or_error(served, usage) for usage in usages]
    return compact_json({"object": "list", "data": data}), ""


def _quote_or_error(served: Served, usage: Any) -> dict[str, Any]:
    if not isinstance(usage, dict):  # text would be read as JSON
        return QuoteError(INVALID, [((), wrong_type("object", usage))]).body()
    try:
        answer = served.book.rate(usage).to_dict()
    except QuoteError as error:
        answer = error.body()
    return served.notices_in(answer, usage)


_TOKENS = ("prompt_tokens", "max_completion_tokens")
_SEARCHES = tuple(field for field, _ in SEARCHES.values())
_OF_TEXT = (*_TOKENS, "service_parameters", "counts", *_SEARCHES)
_ESTIMATED = usage_keys(_OF_TEXT)


def _estimated(served: Served, fields: dict[str, Any]) -> tuple[bytes, str]:
    """Estimate a text request; refuse any other, which has a price before it runs."""
    prices = served.book
    named = name_of_model(fields)
    model, _ = prices.in_effect(prices.plain_name(named))
    name = model.model
    type_ = fields.get("type", model.type)
    if type_ != "text" or model.type != "text":
        raise _not_estimated(name, model.type, type_)
    problems: Problems = usage_problems(fields, _ESTIMATED)
    problems += [((field,), REQUIRED) for field in _TOKENS if field not in fields]
    # The library takes None for a field that was left out, but null in JSON is an error.
    nulls = [field for field in _OF_TEXT if field not in _TOKENS and fields.get(field, field) is None]
    problems += [((field,), wrong_type("number" if field in _SEARCHES else "object", None)) for field in nulls]
    if problems:
        raise QuoteError(INVALID, problems)
    bounds = prices.estimate_text(named, **{field: fields[field] for field in _OF_TEXT if field in fields})
    return EstimatedCost.of_text(name, bounds, prices.tables.digest).model_dump_json().encode(), name


def _not_estimated(name: str, of: str, asked: object) -> QuoteError:
    if asked != of:
        message = f"Expected '{of}', the type of {name}" if isinstance(asked, str) else wrong_type("string", asked)
        return QuoteError(INVALID, [(("type",), message)])
    where = "/video/quote" if of == "video" else "/rate"
    words = f"No estimate for {name}, which is of type {of}: only text has one. POST {where} prices what it counts"
    return QuoteError(NotOffered(words))
