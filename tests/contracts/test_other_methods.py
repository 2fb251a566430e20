"""Overrides of what is not counted in tokens: images under conditions, tiers of video, hours, several charges."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from contract_tables import card_of, contract
from ratecard.base.errors import QuoteError
from ratecard.line_items.source_video import SourceVideo
from ratecard.views.explain import workings
from token_tables import by_tokens, family, text_model

HEAD = """\
  - model: {name}
    name: Made up
    type: {type}
    {further}
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
"""
IMAGES = (
    HEAD.format(name="paint", type="image", further="aliases: [brush]")
    + """\
        defaults: {resolution: 1k}
        rounding: none
        charges:
          - charge: images
            method: per-image
            unit: image
            factors: [{service_tier: batch, factor: 0.5}, {inference_geo: us, factor: 1.1}]
            rates:
              - {resolution: [1k, 2k], rate: 0.04}
              - {resolution: 4k, rate: 0.08}
              - {resolution: 4k, service_tier: batch, rate: 0.02}
          - charge: fee
            method: count
            unit: request
            rates:
              - {rate: 0.001}
        examples:
          - {usage: {n: 1}, total: 0.041}
"""
)
UPSCALER = (
    HEAD.format(name="enlarge", type="video", further="mode: upscale")
    + """\
        accepts:
          duration: [1s..30s, Auto]
          upscale_factor: [2]
          target_fps: {min: 16, max: 60}
          audio: none
          video_url: {max_seconds: 600}
        charges:
          - charge: video
            method: upscale-rate
            unit: video_second
            frame_rate: {from: 60, factor: 2}
            rates:
              - {up_to: 1080, rate: 0.05}
              - {up_to: any, rate: 0.08}
        rounding: {places: 4, mode: half-up}
        examples:
          - {request: {upscale_factor: 2}, source: {seconds: 10, height: 480, fps: 30}, total: 0.5}
"""
)
NIGHTS = text_model("owl", by_tokens(
    '- {tokens: [input, output], rate: 4}\n- {tokens: [input, output], hours: "00:00..06:00", zone: UTC, rate: 2}'
))  # fmt: skip
TABLES = {"made.yaml": family(IMAGES, UPSCALER, NIGHTS)}
NOON, NIGHT = datetime(2026, 11, 1, 12, tzinfo=UTC), datetime(2026, 11, 1, 3, tzinfo=UTC)

IMAGE_CASES: dict[str, tuple[str, dict[str, str], str]] = {
    "a part of a line": ("conditions: {resolution: 2k}}, rate: 0.03", {"resolution": "2k"}, "0.03"),
    "and the rest of it": ("conditions: {resolution: 2k}}, rate: 0.03", {}, "0.04"),
    "a rate times factors": ("charge: images}, rate: 0.03", {"service_tier": "batch", "inference_geo": "us"}, "0.0165"),
    "a factor that is named": (
        "charge: images, conditions: {service_tier: batch}}, rate: 0.03",
        {"service_tier": "batch", "inference_geo": "us"},
        "0.033",
    ),
    "not without the condition": (
        "charge: images, conditions: {service_tier: batch}}, rate: 0.03",
        {"inference_geo": "us"},
        "0.044",
    ),
    "a rate that names it": (
        "conditions: {service_tier: batch}}, percent: -50%",
        {"resolution": "4k", "service_tier": "batch"},
        "0.01",
    ),
    "beside one that does not": (
        "conditions: {service_tier: batch}}, percent: -50%",
        {"resolution": "2k", "service_tier": "batch"},
        "0.01",
    ),
    "another charge": ("charge: fee}, rate: 0", {}, "0.04"),
}


@pytest.mark.parametrize("case", IMAGE_CASES)
def test_images(case: str) -> None:
    override, stated, expected = IMAGE_CASES[case]
    card = card_of(contract(f"- {{for: {{model: paint, {override}}}"), tables=TABLES)
    usage = {"type": "image", "model": "brush", "n": 1, **stated}
    quote, listed = card.at(NOON, contract="acme").rate(usage), card.at(NOON).rate(usage)
    assert str(quote.lines[0].unit_rate) == expected
    assert [line.sku for line in quote.lines] == [line.sku for line in listed.lines]
    assert [line.list_rate for line in quote.lines] == [line.unit_rate for line in listed.lines]
    assert str(quote.lines[1].unit_rate) == ("0" if "fee" in override else "0.001")
    refused = card.at(NOON, contract="acme"), card.at(NOON)
    messages = set()
    for book in refused:
        with pytest.raises(QuoteError, match=r"service_tier") as error:
            book.rate({**usage, "service_tier": "flex"})
        messages.add(str(error.value))
    assert len(messages) == 1


CONDITIONS_APART = """
- {for: {model: m, conditions: {service_tier: batch}}, at_most: 1}
- {for: {model: m}, at_least: 0.6}
"""


@pytest.mark.parametrize(
    ("stated", "listed", "expected"),
    [
        ({}, "4", "4"),
        ({"speed": "fast"}, "8", "8"),
        ({"service_tier": "batch"}, "2", "1"),
        ({"service_tier": "batch", "speed": "fast"}, "4", "1"),
    ],
)
@pytest.mark.parametrize("kind", ["text", "image"])
def test_rates_may_name_one_condition_and_factors_another_that_an_override_names(
    kind: str, stated: dict[str, str], listed: str, expected: str
) -> None:
    charge = by_tokens(
        "- {tokens: [input, output], rate: 4}\n- {tokens: [input, output], speed: fast, rate: 8}",
        "factors: [{service_tier: batch, factor: 0.5}]",
    )
    text = family(text_model("m", charge))
    image = text.replace("type: text", "type: image").replace("method: tokens", "method: per-image")
    image = image.replace("unit: mtoken", "unit: image").replace("tokens: [input, output], ", "")
    image = image.replace("{prompt_tokens: 0, completion_tokens: 0}, total: 0", "{n: 1}, total: 4")
    card = card_of(contract(CONDITIONS_APART), tables={"made.yaml": {"text": text, "image": image}[kind]})
    usage: dict[str, object] = {"tokens": {"input": 1, "output": 0}} if kind == "text" else {"n": 1}
    line = card.at(NOON, contract="acme").rate({"type": kind, "model": "m", **usage, **stated}).lines[0]
    assert (str(line.list_rate), str(line.unit_rate)) == (listed, expected)


def test_a_tier_of_video_and_its_factor_of_frames() -> None:
    override = '- {for: {model: enlarge, conditions: {up_to: "1080"}}, rate: 0.04}'
    card = card_of(contract(override), tables=TABLES)
    body: dict[str, Any] = {"model": "enlarge", "upscale_factor": 2, "target_fps": 60}
    for height, rate, listed in ((480, "0.08", "0.1"), (1080, "0.16", "0.16")):
        source = SourceVideo(seconds=10, width=1000, height=height, fps=30)
        [line] = card.at(NOON, contract="acme").quote_video(body, source=source).lines
        assert (str(line.unit_rate), str(line.list_rate)) == (rate, listed)


def test_tiers_that_a_contract_makes_equal_keep_the_sku_and_the_price_of_the_list_where_the_height_is_unknown() -> None:
    card = card_of(contract("- {for: {model: enlarge}, at_most: 0.04}"), tables=TABLES)
    body: dict[str, Any] = {"model": "enlarge", "upscale_factor": 2, "target_fps": 30, "duration": "10s"}
    [line], [listed] = card.at(NOON, contract="acme").quote_video(body).lines, card.at(NOON).quote_video(body).lines
    assert str(line.unit_rate) == "0.04"
    assert (line.sku, line.list_rate, line.list_source) == (listed.sku, listed.unit_rate, listed.source)


@pytest.mark.parametrize(
    ("override", "noon", "night"),
    [
        ("model: owl}, percent: -50%", "2", "1"),
        ('model: owl, conditions: {hours: "00:00..06:00"}}, rate: 1.5', "4", "1.5"),
        ("model: owl, conditions: {tokens: output}}, at_most: 3", "3", "2"),
    ],
)
def test_hours_hold_under_a_contract(override: str, noon: str, night: str) -> None:
    card = card_of(contract(f"- {{for: {{{override}}}"), tables=TABLES)
    usage = {"type": "text", "model": "owl", "tokens": {"input": 0, "output": 1000}}
    found = [str(card.at(at, contract="acme").rate(usage).lines[-1].unit_rate) for at in (NOON, NIGHT)]
    assert found == [noon, night]


FILM = (
    HEAD.format(name="film", type="video", further="mode: image-to-video")
    + """\
        accepts: {duration: [5s], resolution: [480p], audio: none}
        rounding: {places: 2, mode: half-up}
        charges:
          - {charge: fee, method: fixed, unit: input_image, rates: [{rate: 0.04}]}
          - charge: video
            method: token-formula
            unit: mtoken
            frames_per_second: 24
            pixels_per_token: 1024
            sizes: [{resolution: 480p, size: 640x480}]
            rates: [{rate: 10}]
        examples:
          - {request: {duration: 5s, resolution: 480p}, total: 0.40}
"""
)


def test_the_working_of_a_line_is_that_of_its_own_charge() -> None:
    fee = "{charge: fee, method: fixed, unit: input_image, rates: [{rate: 10}]}"  # the rate of the video, too
    video = "{charge: video, method: token-formula, unit: mtoken, frames_per_second: 24, pixels_per_token: 1024, "
    video += "markup: 2, sizes: [{resolution: 480p, size: 640x480}], rates: [{rate: 5}]}"
    start, end = FILM.index("charges:"), FILM.index("        examples:")
    in_one_line = f"{FILM[:start]}charges: [{fee}, {video}]\n{FILM[end:].replace('0.40', '10.36')}"
    for film, markup in ((FILM, None), (in_one_line, Decimal(2))):
        card = card_of(contract("- {for: {type: video}, percent: -20%}"), tables={"film.yaml": family(film)})
        for name in (None, "acme"):
            prices, body = card.at(date(2026, 11, 1), contract=name), {"model": "film", "duration": "5s"}
            first, second = workings(prices, prices.quote_video(body), body)
            assert (first.counted, second.counted[-2:]) == ((), (Decimal(36_000), "tokens"))
            assert (first.markup, second.markup) == (None, None if name else markup)
