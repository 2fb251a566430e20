"""What OpenAPI says of the usage history."""

from typing import Any

from ratecard.history.parameters import LARGEST_PAGE
from ratecard.words.currency import CURRENCIES

_NUMBER, _TEXT = {"type": "number"}, {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_CURRENCY = {
    "type": "string",
    "anyOf": [{"enum": list(CURRENCIES)}, {"pattern": "^[A-Z]{3}$", "title": "another ISO 4217 code"}],
}
_TIME = {"type": "string", "format": "date-time"}

_ENTRY = {
    "type": "object",
    "required": ["timestamp", "sku", "unit", "amount", "currency", "notes", "inferenceDetails"],
    "oneOf": [
        {"title": "in US dollars", "required": ["pricePerUnitUsd"]},
        {"title": "in another currency", "required": ["pricePerUnit"]},
    ],
    "properties": {
        "timestamp": {**_TIME, "description": "When the entry was created, in UTC"},
        "sku": {**_TEXT, "description": "The product that the entry relates to"},
        "pricePerUnitUsd": {
            **_NUMBER,
            "description": "Price per unit in USD; of rows in USD, and of those that a balance in units of USD paid",
        },
        "pricePerUnit": {**_NUMBER, "description": "Price per unit in `currency`; of rows that are not priced in USD"},
        "unit": {
            **_NUMBER,
            "description": "Number of units consumed. Where several balances paid, each has a row with the same "
            "request and SKU: all units are in the first, and 0 in the others",
        },
        "amount": {
            **_NUMBER,
            "description": "What was charged, in units of `currency`, with all its digits; a charge is negative",
        },
        "currency": {**_CURRENCY, "description": "Currency or balance charged"},
        "notes": _TEXT,
        "inferenceDetails": {
            "type": ["object", "null"],
            "required": ["requestId"],
            "properties": {
                "requestId": {**_TEXT, "description": "Request id of the inference"},
                "inferenceExecutionTime": {**_COUNT, "description": "Execution time in milliseconds"},
                "promptTokens": {**_COUNT, "description": "Tokens in the prompt; for language models only"},
                "completionTokens": {**_COUNT, "description": "Tokens in the completion; for language models only"},
            },
        },
    },
}
_PAGE = {
    "type": "object",
    "required": ["data", "nextCursor"],
    "properties": {
        "data": {"type": "array", "items": _ENTRY},
        "nextCursor": {"type": ["string", "null"], "description": "The cursor of the next page; null on the last"},
    },
}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}
_REFUSAL = {
    "type": "object",
    "required": ["error", "details"],
    "properties": {
        "error": _TEXT,
        "details": {
            "type": "object",
            "description": "What is wrong: `_errors` at each level, and each wrong parameter by its name",
            "required": ["_errors"],
            "properties": {"_errors": {"type": "array", "items": _TEXT}},
        },
    },
}


def _parameter(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


PARAMETERS = [
    _parameter("startTimestamp", _TIME, "The first instant of the rows, ISO 8601 with a time zone. First page only"),
    _parameter("endTimestamp", _TIME, "The instant before which the rows end; after startTimestamp. First page only"),
    _parameter("currency", _CURRENCY, "Only rows of this currency. First page only"),
    _parameter(
        "pageSize",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": LARGEST_PAGE},
        "How many rows a page has. First page only",
    ),
    _parameter("cursor", _TEXT, "The nextCursor of the page before. It carries the filters: send it alone"),
]
_PAGINATION = {
    f"x-pagination-{name}": {"schema": _COUNT, "description": description}
    for name, description in {
        "limit": "How many rows a page has",
        "page": "Which page this is, from 1",
        "total": "How many rows all pages have",
        "total-pages": "How many pages there are",
    }.items()
}
_NEXT = {"schema": _TEXT, "description": "The cursor of the next page; absent on the last, and from JSON"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Rows of the ledger, in ascending order of time",
        "headers": {**_PAGINATION, "x-next-cursor": _NEXT},
        "content": _json(_PAGE) | {"text/csv": {"schema": _TEXT}},
    },
    400: {"description": "Parameters that are wrong", "content": _json(_REFUSAL)},
    401: {"description": "No account, or one that is not known", "content": _json(_ERROR)},
    406: {"description": "Neither JSON nor CSV is accepted", "content": _json(_ERROR)},
    503: {"description": "The ledger does not answer; try again", "content": _json(_ERROR)},
}
