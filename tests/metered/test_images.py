"""Images by resolution and quality, their defaults, and images made larger."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from metered_answers import amounts, made_up, refused, sentence, sound, total

from ratecard import PriceBook
from ratecard.views.sheet import price_cells

IMAGE = "{charge: image, method: per-image, unit: image, rates: [%s]}"


@pytest.mark.parametrize(
    ("model", "fields", "price", "sku", "left"),
    [
        ("flux-2-pro", {}, "0.03", "image-unit", {}),
        ("flux-2-pro", {"n": 3}, "0.09", "image-unit", {}),
        ("qwen-image-3", {}, "0.04", "fixed-1K-1img", {"resolution": "1K"}),
        ("qwen-image-3", {"resolution": "2K", "n": 2}, "0.08", "fixed-2K-1img", {}),
        ("qwen-image-3", {"resolution": "2k"}, "0.04", "fixed-2K-1img", {}),
        ("nano-banana-pro", {"resolution": "4K"}, "0.35", "fixed-4K-1img", {}),
        ("gpt-image-2", {"quality": "low"}, "0.02", "fixed-1K-low-1img", {"resolution": "1K"}),
        ("gpt-image-2", {"quality": "LOW", "resolution": "4k"}, "0.05", "fixed-4K-low-1img", {}),
        ("gpt-image-2", {"quality": "high", "resolution": "2K", "n": 10}, "5", "fixed-2K-high-1img", {}),
        ("gpt-image-2", {}, "0.26", "fixed-1K-high-1img", {"resolution": "1K", "quality": "high"}),
        ("grok-imagine-image-2-0", {}, "0.07", "fixed-1K-medium-1img", {"resolution": "1K", "quality": "medium"}),
        # The list also has a dearer price for a resolution without a quality.
        ("gpt-image-2", {"resolution": "1K"}, "0.27", "fixed-1K-1img", {}),
        ("upscaler", {}, "0.01", "image-unit", {}),
        ("upscaler", {"n": 2}, "0.02", "image-unit", {}),
    ],
)
def test_an_image_costs_what_its_size_and_quality_say(
    prices: PriceBook, model: str, fields: dict[str, Any], price: str, sku: str, left: dict[str, str]
) -> None:
    quote = sound(prices.rate({"type": "image", "model": model, **fields}))
    assert amounts(quote) == {sku: Decimal(price)}
    assert quote.lines[0].quantity == fields.get("n", 1)
    left_out = [f"{name} {word} by default" for name, word in left.items()]
    assert quote.lines[0].note == "; ".join(left_out)
    assert (quote.type, quote.tokens, quote.ignored) == ("image", None, ())


SIZES = "{resolution: 4K, rate: 9}, {resolution: 1K, rate: 4}, {resolution: 2K, rate: 3}"
QUALITIES = "{quality: low, rate: 2}, {quality: medium, rate: 5}, {quality: draft, rate: 1}"
BOTH = "{resolution: 1K, quality: [low, high], rate: 3}, {resolution: 2K, rate: 6}"
UNSTATED = "{resolution: [1K, 2K], quality: unstated, rate: 7}, {resolution: [1K, 2K], quality: [low, high], rate: 8}"


@pytest.mark.parametrize(
    ("rates", "defaults", "fields", "price", "note"),
    [
        (SIZES, "resolution: 1K", {}, 4, "resolution 1K by default"),
        (SIZES, "resolution: 4K", {"n": 2}, 18, "resolution 4K by default"),
        (SIZES, "resolution: 4K", {"resolution": "4k"}, 9, ""),  # a stated resolution is not a default
        (SIZES, "", {"resolution": "2K"}, 3, ""),
        (QUALITIES, "quality: medium", {}, 5, "quality medium by default"),
        (QUALITIES, "quality: medium", {"quality": "draft", "resolution": "9K"}, 1, ""),
        (BOTH, "resolution: 2K, quality: low", {}, 6, "resolution 2K by default; quality low by default"),
        # An attribute that a rate does not name does not matter.
        (BOTH, "quality: high", {"resolution": "2K"}, 6, "quality high by default"),
        (BOTH, "", {"resolution": "2K", "quality": "low"}, 6, ""),
        # A single word is not a choice.
        ("{resolution: 2K, quality: low, rate: 3}, {resolution: 2K, quality: high, rate: 4}", "quality: low", {}, 3,
         "quality low by default"),
        # The table prices a resolution without a quality: this rate applies if the request names a resolution and the
        # table has no default quality.
        (UNSTATED, "resolution: 1K, quality: low", {"resolution": "2K"}, 7, ""),
        (UNSTATED, "resolution: 1K, quality: low", {}, 8, "resolution 1K by default; quality low by default"),
        (UNSTATED, "resolution: 1K", {}, 7, "resolution 1K by default"),
        (UNSTATED, "", {"resolution": "1K"}, 7, ""),
        ("{quality: unstated, rate: 7}", "", {}, 7, ""),
    ],
)  # fmt: skip
def test_a_choice_that_is_left_out_is_that_of_the_table(
    tmp_path: Path, rates: str, defaults: str, fields: dict[str, Any], price: int, note: str
) -> None:
    prices = made_up(tmp_path, "image", IMAGE % rates, more=f"defaults: {{{defaults}}}," if defaults else "")
    quote = sound(prices.rate({"type": "image", "model": "m", **fields}))
    assert (quote.total, quote.lines[0].note) == (Decimal(price), note)


@pytest.mark.parametrize(
    ("rates", "defaults", "fields", "missing"),
    [
        (SIZES, "", {"n": 1}, ["resolution"]),
        (QUALITIES, "", {}, ["quality"]),
        (BOTH, "", {}, ["resolution", "quality"]),
        (BOTH, "resolution: 1K", {}, ["quality"]),
        (BOTH, "quality: low", {"quality": "low"}, ["resolution"]),
        (UNSTATED, "quality: low", {}, ["resolution"]),
    ],
)
def test_a_choice_without_a_default_is_required(
    tmp_path: Path, rates: str, defaults: str, fields: dict[str, Any], missing: list[str]
) -> None:
    prices = made_up(tmp_path, "image", IMAGE % rates, more=f"defaults: {{{defaults}}}," if defaults else "")
    usage = {"type": "image", "model": "m", **fields}
    assert refused(prices, usage) == {key: ["Required"] for key in missing}


def test_an_edit_with_a_required_choice_is_in_the_sheet(tmp_path: Path) -> None:
    inputs = "{charge: inputs, method: per-input-image, unit: input_image, included: 1, rates: [{rate: 100}]}"
    prices = made_up(tmp_path, "edit", f"{IMAGE % SIZES}, {inputs}")
    assert [cell.quote.total for cell in price_cells(prices, "m")] == [9, 4, 3, 109]


def test_options_of_the_charge_follow_the_default_in_the_note(tmp_path: Path) -> None:
    image = (IMAGE % SIZES).replace("rates:", "started: 10, rates:")
    prices = made_up(tmp_path, "image", image, more="defaults: {resolution: 2K},")
    [line] = prices.rate({"type": "image", "model": "m", "n": 3}).lines
    assert (line.amount, line.note) == (Decimal(30), "resolution 2K by default; 3 counted; charged in blocks of 10")


@pytest.mark.parametrize(
    ("model", "fields", "said"),
    [
        ("flux-2-pro", {"n": 0}, {"n": ["Number must be greater than or equal to 1"]}),
        ("flux-2-pro", {"n": -2}, {"n": ["Number must be greater than or equal to 1"]}),
        (
            "flux-2-pro",
            {"n": 0.5},
            {"n": ["Expected integer, received float", "Number must be greater than or equal to 1"]},
        ),
        ("flux-2-pro", {"n": True}, {"n": ["Expected number, received boolean"]}),
        ("flux-2-pro", {"n": None}, {"n": ["Expected number, received null"]}),
        ("flux-2-pro", {"n": 10**13}, {"n": ["Number must be less than or equal to 1000000000000"]}),
        ("flux-2-pro", {"resolution": 5}, {"resolution": ["Expected string, received number"]}),
        (
            "qwen-image-3",
            {"resolution": "4K"},
            {"resolution": ["Invalid enum value. Expected '1K' | '2K', received '4K'"]},
        ),
        ("qwen-image-3", {"resolution": None}, {"resolution": ["Expected '1K' | '2K', received null"]}),
        ("qwen-image-3", {"resolution": ["1K"]}, {"resolution": ["Expected '1K' | '2K', received array"]}),
        (
            "gpt-image-2",
            {"quality": "unstated", "resolution": "8K", "n": "1"},
            {
                "n": ["Expected number, received string"],
                "resolution": ["Invalid enum value. Expected '1K' | '2K' | '4K', received '8K'"],
                "quality": ["Invalid enum value. Expected 'low' | 'medium' | 'high', received 'unstated'"],
            },
        ),
    ],
)
def test_wrong_fields(prices: PriceBook, model: str, fields: dict[str, Any], said: dict[str, list[str]]) -> None:
    assert refused(prices, {"type": "image", "model": model, **fields}) == said


def test_a_model_that_only_makes_images_larger(tmp_path: Path) -> None:
    charge = "{charge: upscale, method: per-upscale, unit: image, rates: [{factor: 2x, rate: 3}]}"
    prices = made_up(tmp_path, "image", charge)
    assert total(prices, "upscale", "m", factor="2x") == 3
    assert sentence(prices, {"type": "image", "model": "m"}).endswith("m is of type image, and has no price for image")


def test_fields_without_effect_are_named(prices: PriceBook) -> None:
    quote = prices.rate({"type": "image", "model": "flux-2-pro", "resolution": "x", "quality": "y"})
    assert quote.ignored == ("resolution", "quality")
    assert prices.rate({"type": "image", "model": "qwen-image-3", "quality": "y"}).ignored == ("quality",)
    listed = {"type": "image", "model": "qwen-image-3", "listed": {"output.0": "shell"}}
    assert prices.rate(listed).ignored == ("output.0",)


@pytest.mark.parametrize(("model", "factor", "price"), [("flux-2-pro", "2x", "0.02"), ("upscaler", "4x", "0.08")])
def test_an_image_is_made_larger_by_its_factor(prices: PriceBook, model: str, factor: str, price: str) -> None:
    quote = sound(prices.rate({"type": "upscale", "model": model, "factor": factor}))
    assert amounts(quote) == {f"upscale-{factor}-image-unit": Decimal(price)}
    assert quote.type == "upscale"


def test_an_upscaler_without_a_factor_has_a_price_and_an_image_model_has_none(prices: PriceBook) -> None:
    assert total(prices, "upscale", "upscaler") == Decimal("0.01")
    assert refused(prices, {"type": "upscale", "model": "flux-2-pro"}) == {"factor": ["Required"]}
    said = "Invalid enum value. Expected '2x' | '4x', received '3x'"
    assert refused(prices, {"type": "upscale", "model": "upscaler", "factor": "3x"}) == {"factor": [said]}
    said = "Expected '2x' | '4x', received number"
    assert refused(prices, {"type": "upscale", "model": "flux-2-pro", "factor": 2}) == {"factor": [said]}
    for type_, model in (("upscale", "grok-4-3"), ("upscale", "qwen-image-3-edit"), ("edit", "flux-2-pro")):
        said = sentence(prices, {"type": type_, "model": model, "factor": "2x"})
        assert said.startswith(f"Specified model not found: {model} is of type ")
        assert said.endswith(f", and has no price for {type_}")
