"""The rows of a ledger in JSON, one at a time."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, TextIO

from ratecard.ledger.errors import LedgerError
from ratecard.ledger.json_text import JsonText
from ratecard.words.wording import type_word


def json_rows(file: TextIO) -> Iterator[Mapping[str, Any]]:
    """The rows of the pages (`{"data": [...]}`) and lists that follow one another in a file."""
    for number, row in enumerate(chain.from_iterable(_pages(JsonText(file))), 1):
        if not isinstance(row, dict):
            raise LedgerError(f"row {number} must be an object, not {type_word(row)}")
        yield row


def _pages(text: JsonText) -> Iterator[Iterator[Any]]:
    while sign := text.peek():
        if sign not in "[{":
            text.refuse("something follows that is no page")
        yield _list(text) if sign == "[" else _page(text)


def _list(text: JsonText) -> Iterator[Any]:
    text.take("[")
    if text.take("]"):
        return
    yield text.value()
    while text.take(","):
        yield text.value()
    if not text.take("]"):
        text.refuse("Expecting ',' delimiter")


def _page(text: JsonText) -> Iterator[Any]:
    """The rows of `data`; what else a page says is passed over."""
    text.take("{")
    found, last = False, text.take("}")
    while not last:
        if text.peek() != '"':
            text.refuse("Expecting property name enclosed in double quotes")
        name = text.value()
        if not text.take(":"):
            text.refuse("Expecting ':' delimiter")
        if name == "data" and text.peek() == "[" and not found:
            found = True
            yield from _list(text)
        elif name == "data":
            raise LedgerError('the page has "data" twice' if found else 'the page has no list "data"')
        else:
            text.value()
        last = text.take("}")
        if not last and not text.take(","):
            text.refuse("Expecting ',' delimiter")
    if not found:
        raise LedgerError('the page has no list "data"')
