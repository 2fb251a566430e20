"""What every metered answer must be, and small rate cards with a single made-up model."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, Quote, QuoteError

Usage = Mapping[str, Any]
INVALID = "Invalid request body"


def amounts(quote: Quote) -> dict[str, Decimal]:
    """The amount of each line by its SKU, without the model's name in front."""
    return {line.sku.removeprefix(f"{quote.model}-"): line.amount for line in quote.lines}


def total(prices: PriceBook, type_: str, model: str, **fields: Any) -> Decimal:
    """Return the price of a usage, after checking that its quote is sound."""
    return sound(prices.rate({"type": type_, "model": model, **fields})).total


def sound(quote: Quote) -> Quote:
    """A quote whose lines add up exactly and multiply exactly, and that repeats itself in JSON without a float."""
    assert replace(quote) == quote, "a part is missing"
    assert sum((line.amount for line in quote.lines), Decimal(0)) == quote.exact
    for line in quote.lines:
        assert line.amount == line.quantity * line.unit_rate
        assert line.source
    if quote.type != "video":
        assert quote.total == quote.exact
    assert json.loads(quote.to_json(), parse_float=Decimal, parse_int=Decimal) == {"quote": quote.total}
    return quote


def refused(prices: PriceBook, usage: Any) -> dict[str, list[str]]:
    """The messages of a refused usage by the dotted path of their field."""
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    error = caught.value
    assert error.error == INVALID
    return messages(error)


def messages(error: QuoteError) -> dict[str, list[str]]:
    """The tree of an error, flat; it is sound."""
    tree = json.loads(error.to_json())["details"]
    found: dict[str, list[str]] = {}
    walk(tree, (), found)
    assert found, "a tree without a message"
    return found


def walk(node: dict[str, Any], path: tuple[str, ...], found: dict[str, list[str]]) -> None:
    assert isinstance(node["_errors"], list)
    assert node["_errors"] or len(node) > 1, "a node without an error"
    if node["_errors"]:
        found[".".join(path)] = node["_errors"]
    for key, child in node.items():
        if key != "_errors":
            walk(child, (*path, key), found)


def sentence(prices: PriceBook, usage: Any) -> str:
    """The sentence of a refusal that is no matter of fields."""
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    assert caught.value.details is None
    return caught.value.error


def made_up(
    folder: Path, type_: str, charges: str, *, currency: str = "USD", more: str = "", surcharges: str = ""
) -> PriceBook:
    """The prices of a card with the one model `m`, whose charges are given as YAML flow."""
    head = f"family: x\nmodels:\n  - {{model: m, name: M, type: {type_}, currency: {currency}, versions: [{{"
    facts = "effective: 2026-01-01, checked: 2026-01-02, source: made up"
    version = f"{facts}, {more} charges: [{charges}], rounding: none, examples: [{{usage: {{}}, total: 0}}]}}]}}\n"
    (folder / "m.yaml").write_text(head + version + surcharges, encoding="utf-8")
    # Its only example does not cover all charges.
    return ratecard.load_rate_card(folder)._unproved.at(date(2026, 2, 1))
