"""Edits: a price an image, and what further input images cost."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from metered_answers import amounts, made_up, refused, sound, total

from ratecard import PriceBook

EDIT = "{charge: edit, method: per-image, unit: image, rates: [{rate: 0.11}]}"
FURTHER = "{charge: further, method: per-input-image, unit: input_image, included: %s, rates: [{rate: 0.0035}]}"


def test_the_worked_example_of_three_inputs(tmp_path: Path) -> None:
    prices = made_up(tmp_path, "edit", f"{EDIT}, {FURTHER % 1}")
    quote = sound(prices.rate({"type": "edit", "model": "m", "input_images": 3}))
    assert quote.total == Decimal("0.117")
    assert amounts(quote) == {"fixed-1img": Decimal("0.11"), "additional-input-image-unit": Decimal("0.0070")}


@pytest.mark.parametrize(
    ("included", "inputs", "n", "price"),
    [
        (0, 1, 1, "0.1135"),
        (0, 2, 1, "0.117"),
        (1, 1, 1, "0.11"),
        (1, 2, 1, "0.1135"),
        (2, 2, 1, "0.11"),
        (2, 3, 1, "0.1135"),
        (5, 1, 1, "0.11"),
        (1, 3, 2, "0.234"),  # n multiplies everything
        (1, None, 4, "0.44"),  # without a number of inputs, there is one
        (0, None, 2, "0.227"),
    ],
)
def test_inputs_beyond_the_included_ones(tmp_path: Path, included: int, inputs: int | None, n: int, price: str) -> None:
    prices = made_up(tmp_path, "edit", f"{EDIT}, {FURTHER % included}")
    named = {} if inputs is None else {"input_images": inputs}
    assert total(prices, "edit", "m", n=n, **named) == Decimal(price)


@pytest.mark.parametrize(
    ("model", "fields", "price"),
    [
        ("flux-2-max-edit", {}, "0.12"),
        ("flux-2-max-edit", {"input_images": 4}, "0.2235"),
        ("grok-imagine-edit", {}, "0.0323"),  # nothing is included
        ("grok-imagine-edit", {"resolution": "2K", "n": 2, "input_images": 2}, "0.0892"),
        ("grok-imagine-image-2-0-edit", {}, "0.0815"),  # no high quality: the dearest, medium
        ("grok-imagine-image-2-0-edit", {"quality": "low"}, "0.0615"),
        ("gpt-image-2-edit", {"resolution": "4K"}, "0.84"),
        ("gpt-image-2-edit", {"resolution": "4K", "quality": "low", "input_images": 2}, "0.0492"),
        ("nano-banana-pro-edit", {"resolution": "2k"}, "0.23"),
        ("firered-image-edit", {}, "0.04"),
    ],
)
def test_shipped_edits(prices: PriceBook, model: str, fields: dict[str, Any], price: str) -> None:
    assert total(prices, "edit", model, **fields) == Decimal(price)


def test_without_a_price_of_inputs_they_cost_nothing_and_are_named(prices: PriceBook) -> None:
    quote = prices.rate({"type": "edit", "model": "firered-image-edit", "input_images": 9})
    assert quote.total == Decimal("0.04")
    assert quote.ignored == ("input_images",)
    assert prices.rate({"type": "edit", "model": "flux-2-max-edit", "input_images": 9}).ignored == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, ["Number must be greater than or equal to 1"]),
        (-1, ["Number must be greater than or equal to 1"]),
        (1.5, ["Expected integer, received float"]),
        (True, ["Expected number, received boolean"]),
        ("2", ["Expected number, received string"]),
        (None, ["Expected number, received null"]),
    ],
)
@pytest.mark.parametrize("model", ["flux-2-max-edit", "firered-image-edit"])
def test_an_edit_has_at_least_one_input(prices: PriceBook, model: str, given: Any, said: list[str]) -> None:
    assert refused(prices, {"type": "edit", "model": model, "input_images": given}) == {"input_images": said}


def test_skus_of_edits_are_those_of_real_exports(prices: PriceBook) -> None:
    skus = [prices.rate({"type": "edit", "model": m}).lines[0].sku for m in ("firered-image-edit", "qwen-image-3-edit")]
    assert skus == ["firered-image-edit-fixed-1img", "qwen-image-3-edit-fixed-1K-1img"]
