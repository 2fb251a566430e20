"""What every refusal must be: a sentence, and a tree that any client can walk."""

import json
from typing import Any

import pytest

from ratecard import PriceBook, Quote, QuoteError, SourceVideo

Tree = dict[str, Any]


def refusal(prices: PriceBook, body: Any, source: SourceVideo | None = None) -> QuoteError:
    """The error that a body is answered with, whose tree is sound."""
    with pytest.raises(QuoteError) as caught:
        prices.quote_video(body, source=source)
    assert_sound(caught.value)
    return caught.value


def messages(prices: PriceBook, body: Any, source: SourceVideo | None = None) -> dict[str, list[str]]:
    """The messages of a refused body by field, in the order of the tree; those of the body as a whole under ``""``."""
    details = refusal(prices, body, source).details
    assert details is not None
    whole = {"": details["_errors"]} if details["_errors"] else {}
    return whole | {name: node["_errors"] for name, node in details.items() if name != "_errors"}


def answer(prices: PriceBook, body: Any) -> Quote | QuoteError:
    """A quote or a sound refusal, and no third thing."""
    try:
        quote = prices.quote_video(body)
    except QuoteError as error:
        assert_sound(error)
        return error
    assert json.loads(quote.to_json())["quote"] >= 0
    return quote


def assert_sound(error: QuoteError) -> None:
    assert error.error
    body = error.body()
    assert set(body) <= {"error", "details"}
    text = json.dumps(body, ensure_ascii=False).encode()
    assert len(text) < 10_000, "an error is no echo of the request"
    assert json.loads(error.to_json()) == json.loads(text)
    if "details" in body:
        assert_node(body["details"], is_root=True)


def assert_node(node: Any, is_root: bool = False) -> None:
    """A node has `_errors`, a list of sentences, and further nodes; none is there without a reason."""
    assert type(node) is dict
    assert type(node["_errors"]) is list
    assert all(type(message) is str and message for message in node["_errors"])
    children = {key: child for key, child in node.items() if key != "_errors"}
    assert all(type(key) is str for key in children)
    assert node["_errors"] or children, "a node without an error"
    assert is_root or next(iter(node)) == "_errors"
    for child in children.values():
        assert_node(child)
