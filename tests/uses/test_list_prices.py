"""The price sheet for customers: one row for each price, what it becomes, and on which day."""

import csv
import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.cli import main
from ratecard.testing.card_strategies import card_of
from ratecard.views.sheet import PRICE_COLUMNS, _plural, list_prices
from token_tables import by_tokens, family, text_model

TABLES = b"""\
family: acme
models:
  - model: acme-film
    name: Acme <Film>
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2027-02-01
        checked: 2027-01-01
        source: a test
        accepts: {duration: [5s], resolution: [720p, 1080p, 4k], audio: none}
        rounding: {places: 2, mode: half-up}
        examples: [{request: {duration: 5s, resolution: 720p}, total: 0.60}]
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates: [{resolution: 720p, rate: 0.12}, {resolution: 1080p, rate: 0.2}, {resolution: 4k, rate: 0.5}]
      - effective: 2027-01-01
        checked: 2027-01-01
        source: a test
        accepts: {duration: [5s], resolution: [480p, 720p, 1080p], audio: none}
        rounding: {places: 2, mode: half-up}
        examples: [{request: {duration: 5s, resolution: 720p}, total: 0.63}]
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            markup: 1.25
            rates: [{resolution: 480p, rate: 0.05}, {resolution: 720p, rate: 0.1}, {resolution: 1080p, rate: 0.16}]
  - model: acme-chat
    name: Acme Chat
    type: text
    currency: USD
    retired: {on: 2027-03-01}
    versions:
      - effective: 2027-01-01
        checked: 2027-01-01
        source: a test
        rounding: none
        minimum: 0.0001
        examples: [{usage: {tokens: {input: 1000000, output: 0}, counts: {search: 0}}, total: 4}]
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            rates: [{tokens: input, rate: 4}, {tokens: output, rate: 20}]
            factors: [{service_tier: batch, factor: 0.5}]
          - {charge: search, method: count, unit: ksearch, rates: [{rate: 10}]}
"""
FILM = ("Acme <Film>", "acme-film", "acme", "video")
CHAT = ("Acme Chat", "acme-chat", "acme", "text")


@pytest.fixture(scope="module")
def acme() -> RateCard:
    return card_of({"acme.yaml": TABLES})


def rows(prices: PriceBook, *names: str) -> list[tuple[str, ...]]:
    return [tuple(price.row().values()) for price in list_prices(prices, names)]


def test_a_price_that_the_next_version_writes_otherwise_is_not_said_to_be_gone() -> None:
    now = """
        - {tokens: [input, cache_input], rate: 4}
        - {tokens: output, rate: 8}
        - {tokens: output, service_tier: batch, speed: fast, rate: 5}
        - {tokens: output, service_tier: batch, rate: 3}
        - {tokens: output, speed: fast, rate: 9}
        - {tokens: input, above: 1000, rate: 7}
        """
    then = """
        - {tokens: input, rate: 4}
        - {tokens: cache_input, rate: 1}
        - {tokens: output, rate: 8}
        - {tokens: output, speed: fast, service_tier: batch, rate: 6}
        - {tokens: output, speed: fast, rate: 9}
        """
    versions = by_tokens(then, "factors: [{service_tier: batch, factor: 0.5}]", effective="2027-01-01"), by_tokens(now)
    prices = card_of({"made-up.yaml": family(text_model("chat", *versions)).encode()})._unproved.at(date(2026, 1, 1))
    later = "2027-01-01"
    assert [(row[4], *row[6:7], *row[8:]) for row in rows(prices)] == [
        ("tokens input or cache_input", "4", "", ""),
        ("tokens output", "8", "", ""),
        ("tokens output, service_tier batch, speed fast", "5", "6", later),
        ("tokens output, service_tier batch", "3", "4", later),
        ("tokens output, speed fast", "9", "", ""),
        ("tokens input, above 1000", "7", "4", later),
        ("tokens input", "4", "", ""),
        ("tokens cache_input", "4", "1", later),
        ("tokens, service_tier: batch: times", "not offered", "0.5", later),
    ]


def changes(now: str, then: str, further: str = "") -> list[tuple[str, str, str]]:
    """Return each price of tokens, and its price from 2027 on, if there is another one."""
    versions = by_tokens(then, further, effective="2027-01-01"), by_tokens(now)
    prices = card_of({"made-up.yaml": family(text_model("chat", *versions)).encode()})._unproved.at(date(2026, 1, 1))
    return [(row[4], row[6], row[8] if row[9] else "") for row in rows(prices) if row[4] != "tokens output"]


def test_a_tier_that_moves_has_the_prices_of_the_new_tiers() -> None:
    now = "- {tokens: output, rate: 9}\n- {tokens: input, rate: 2}\n- {tokens: input, above: 200000, rate: 4}"
    then = "- {tokens: output, rate: 9}\n- {tokens: input, rate: 3}\n- {tokens: input, from: 128000, rate: 5}"
    assert changes(now, then) == [
        ("tokens input", "2", "3"),
        ("tokens input, above 200000", "4", "5"),
        ("tokens input, from 128000", "2", "5"),
    ]


def test_a_bucket_without_a_rate_has_that_of_its_parent_or_is_not_offered() -> None:
    with_rates = """
        - {tokens: [input, output], rate: 8}
        - {tokens: output_reasoning, rate: 5}
        - {tokens: output_reasoning, above: 1000, rate: 6}
        - {tokens: cache_input, rate: 1}
        """
    plain = "- {tokens: [input, output], rate: 8}\n- {tokens: [input, output], above: 1000, rate: 9}"
    assert changes(with_rates, plain)[1:4] == [
        ("tokens output_reasoning", "5", "8"),
        ("tokens output_reasoning, above 1000", "6", "9"),
        ("tokens cache_input", "1", "not offered"),
    ]
    assert changes(plain, with_rates)[2:] == [
        ("tokens output_reasoning", "8", "5"),
        ("tokens output_reasoning, above 1000", "9", "6"),
        ("tokens cache_input", "not offered", "1"),
    ]


def of_charge(head: str, further: str, charge: str, then: str, now: str) -> list[tuple[str, ...]]:
    """Return each price of a model with one charge, and its price from 2027 on."""
    text = f"family: f\nmodels:\n  - model: m\n    name: M\n    {head}\n    currency: USD\n    versions:\n"
    for day, rates in (("2027-01-01", then), ("2026-01-01", now)):
        text += f"      - {{effective: {day}, checked: 2026-01-01, source: a test, {further}, "
        text += f"charges: [{{charge: it, {charge}, rates: {rates}}}]}}\n"
    prices = card_of({"f.yaml": text.encode()})._unproved.at(date(2026, 1, 1))
    return [(row[4], row[6], row[8]) for row in rows(prices)]


def test_bands_that_move_have_the_prices_of_the_new_bands() -> None:
    assert of_charge(
        "type: music",
        "rounding: none, examples: [{usage: {duration_seconds: 10}, total: 1}]",
        "method: duration-band, unit: song",
        "[{seconds: 1..90, rate: 1}, {seconds: 91..150, rate: 4}]",
        "[{seconds: 1..60, rate: 2}, {seconds: 61..120, rate: 3}, {seconds: 121..200, rate: 5}]",
    ) == [
        ("it, seconds 1..60", "2", "1"),
        ("it, seconds 61..120", "3", "4"),
        ("it, seconds 121..200", "5", "not offered"),
        ("it, seconds 1..90", "3", "1"),
        ("it, seconds 91..150", "5", "4"),
    ]


def test_heights_that_move_have_the_prices_of_the_new_heights() -> None:
    step = "frame_rate from 48, factor 2"
    example = "{request: {duration: Auto}, source: {seconds: 1, width: 640, height: 360, fps: 24}, total: 1}"
    accepts = "{duration: [Auto], upscale_factor: [2], audio: none, target_fps: {min: 16, max: 120}}"
    assert of_charge(
        "type: video\n    mode: upscale",
        f"accepts: {accepts}, rounding: {{places: 2, mode: half-up}}, examples: [{example}]",
        "method: upscale-rate, unit: video_second, frame_rate: {from: 48, factor: 2}",
        "[{up_to: 720, rate: 0.2}, {up_to: 2160, rate: 0.4}, {up_to: any, rate: 0.5}]",
        "[{up_to: 1080, rate: 0.1}, {up_to: any, rate: 0.3}]",
    ) == [
        (f"it, up_to 1080, {step}", "0.1", "0.4"),
        (f"it, up_to any, {step}", "0.3", "0.5"),
        (f"it, up_to 720, {step}", "0.1", "0.2"),
        (f"it, up_to 2160, {step}", "0.3", "0.4"),
    ]


def test_hours_that_move_have_the_prices_of_the_new_hours() -> None:
    now = """
        - {tokens: output, rate: 9}
        - {tokens: input, rate: 2}
        - {tokens: input, hours: "02:00..06:00", zone: UTC, rate: 1}
        """
    wider = now.replace("02:00..06:00", "00:00..08:00").replace("rate: 1}", "rate: 1.5}")
    assert changes(now, wider)[:2] == [
        ("tokens input", "2", ""),
        ("tokens input, hours 02:00..06:00, zone UTC", "1", "1.5"),
    ]
    # These hours have different prices before and after 4 o'clock, as the later row says.
    half = now.replace("02:00..06:00", "00:00..04:00").replace("rate: 1}", "rate: 1.5}")
    assert ("tokens input, hours 02:00..06:00, zone UTC", "1", "") in changes(now, half)


@pytest.mark.parametrize(("now", "then"), [("included: 2", "included: 1"), ("started: 60", "at_least: 5")])
def test_how_much_of_a_request_is_charged_is_said_and_compared(now: str, then: str) -> None:
    further = "rounding: none, examples: [{usage: {counts: {page: 90}}, total: 1}]"
    rates = (f"[{{rate: 2}}], {options}" for options in (then, now))
    assert of_charge("type: text", further, "method: count, unit: page", *rates) == [
        (f"it, {now.replace(':', '')}", "2", "not offered"),
        (f"it, {then.replace(':', '')}", "not offered", "2"),
    ]


def test_a_value_that_one_of_several_has_lost_or_changed_has_a_row_of_its_own() -> None:
    now = "- {tokens: output, rate: 9}\n- {tokens: [input, cache_input, cache_write], rate: 4}"
    then = "- {tokens: output, rate: 9}\n- {tokens: input, rate: 5}\n- {tokens: [cache_input, input_audio], rate: 2}"
    assert changes(now, then) == [
        ("tokens input or cache_input or cache_write", "4", ""),
        ("tokens input", "4", "5"),
        ("tokens cache_input", "4", "2"),
        ("tokens cache_write", "4", "not offered"),
        ("tokens input_audio", "not offered", "2"),
    ]


def test_a_condition_that_the_next_version_does_not_know_is_not_offered() -> None:
    now = "- {tokens: [input, output], rate: 4}\n- {tokens: [input, output], service_tier: batch, rate: 2}"
    further = "factors: [{service_tier: priority, factor: 2}]\nwithout_rate: {batch: default}"
    assert changes(now, "- {tokens: [input, output], rate: 4}", further)[:2] == [
        ("tokens input or output", "4", ""),
        ("tokens input or output, service_tier batch", "2", "not offered"),
    ]


def test_a_factor_is_the_same_in_any_order_of_its_conditions() -> None:
    rates = "- {tokens: [input, output], rate: 4}"
    now = by_tokens(rates, "factors: [{service_tier: batch, inference_geo: us, factor: 0.5}]")
    further = "factors: [{inference_geo: us, service_tier: batch, factor: 0.6}]"
    text = family(text_model("chat", by_tokens(rates, further, effective="2027-01-01"), now))
    prices = card_of({"made-up.yaml": text.encode()})._unproved.at(date(2026, 1, 1))
    assert [row[4:9] for row in rows(prices)][1:] == [
        ("tokens, inference_geo: us, service_tier: batch: times", "", "0.5", "", "0.6"),
    ]


def film(effective: str, resolutions: str, rates: str) -> str:
    version = TABLES.decode().split("      - effective: 2027-02-01")[1].split("rates: ")[0]
    version = version.replace("[720p, 1080p, 4k]", resolutions).replace("resolution-rate", "duration-rate")
    fee = "          - {charge: fee, method: fixed, unit: input_image, rates: [{rate: 0.04}]}\n"
    version = version.replace("charges:\n", f"charges:\n{fee}")
    return f"      - effective: {effective}{version}rates: {rates}\n"


def test_a_resolution_that_is_not_accepted_any_more_is_not_offered() -> None:
    head = TABLES.decode().split("      - effective:", 1)[0]
    now = film("2026-01-01", "[480p, 720p]", "[{resolution: 480p, rate: 0.1}, {resolution: 720p, rate: 0.2}]")
    then = film("2027-01-01", "[720p]", "[{rate: 0.3}]")
    prices = card_of({"acme.yaml": (head + then + now).encode()})._unproved.at(date(2026, 1, 1))
    assert [(row[4], row[6], row[8]) for row in rows(prices)] == [
        ("fee", "0.04", ""),
        ("video, resolution 480p", "0.1", "not offered"),
        ("video, resolution 720p", "0.2", "0.3"),
    ]


def test_a_price_has_what_it_is_of_its_unit_and_what_it_becomes(acme: RateCard) -> None:
    gone = ("not offered", "2027-03-01")
    assert rows(acme.at(date(2027, 1, 15))) == [
        (*CHAT, "tokens input", "million tokens", "4", "USD", *gone),
        (*CHAT, "tokens output", "million tokens", "20", "USD", *gone),
        (*CHAT, "tokens, service_tier: batch: times", "", "0.5", "", *gone),
        (*CHAT, "search", "1,000 searches", "10", "USD", *gone),
        (*CHAT, "a request costs at least", "request", "0.0001", "USD", *gone),
        (*FILM, "video, resolution 480p", "second of video", "0.0625", "USD", "not offered", "2027-02-01"),
        (*FILM, "video, resolution 720p", "second of video", "0.125", "USD", "0.12", "2027-02-01"),
        # Its rate differs, but its price is the same: 0.16 x 1.25.
        (*FILM, "video, resolution 1080p", "second of video", "0.2", "USD", "", ""),
        (*FILM, "video, resolution 4k", "second of video", "not offered", "USD", "0.5", "2027-02-01"),
    ]
    assert [row[4:] for row in rows(acme.at(date(2027, 2, 1)), "acme-film")] == [
        ("video, resolution 720p", "second of video", "0.12", "USD", "", ""),
        ("video, resolution 1080p", "second of video", "0.2", "USD", "", ""),
        ("video, resolution 4k", "second of video", "0.5", "USD", "", ""),
    ]


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (("kling-o3",), {f"kling-o3-{each}-to-video" for each in ("pro-text", "4k-image")}),
        (("kling-o3-pro-*",), {"kling-o3-pro-text-to-video", "kling-o3-pro-image-to-video"}),
        (("ovi-image-to-video", "web-search"), {"ovi-image-to-video", "web-search"}),
        ((), {"ovi-image-to-video", "web-search", "claude-opus-4-6", "crypto-rpc"}),
    ],
)
def test_models_are_named_by_themselves_by_family_or_by_a_pattern(
    prices: PriceBook, names: tuple[str, ...], models: set[str]
) -> None:
    found = [price.model.model for price in list_prices(prices, names)]
    assert models <= {*found}
    if names and not {*"*?"} & {*"".join(names)} and len(names) > 1:
        assert {*found} == models


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("klingo3", "No model or family is called klingo3. Did you mean 'kling-o3'?"),
        ("zz-*", "No model fits zz-\\*. Name a model, a family, or a pattern like kling-\\*"),
        ("qqqqqqqq", "Specified model not found: qqqqqqqq"),
    ],
)
def test_a_name_of_nothing_is_refused(prices: PriceBook, name: str, words: str) -> None:
    with pytest.raises(QuoteError, match=words):
        list(list_prices(prices, [name]))


@pytest.mark.parametrize("name", ["secret", "secert"])
def test_a_family_that_a_contract_keeps_for_others_is_not_suggested(name: str) -> None:
    keeps = "contract: one\naccounts: [a-1]\nfrom: 2026-01-01\nsource: signed\noverrides:\n"
    keeps += "  - {for: {model: hidden}, only: true}\n"
    rates = by_tokens("- {tokens: [input, output], rate: 4}")
    files = {
        "chat.yaml": family(text_model("chat", rates)),
        "secret.yaml": family(text_model("hidden", rates)).replace("family: made-up", "family: secret"),
        "contracts/one.yaml": keeps,
    }
    card = card_of({file: text.encode() for file, text in files.items()})
    with pytest.raises(QuoteError, match=rf"^Specified model not found: {name}$"):
        list(list_prices(card.at(date(2026, 1, 1)), [name]))
    assert list(list_prices(card.at(date(2026, 1, 1), account="a-1"), ["secret"]))


def test_a_price_that_a_contract_fixes_becomes_what_the_list_has_after_it() -> None:
    """The list rises on 2026-06-01 below a contract that holds until 2026-09-01."""
    fixed = "contract: one\naccounts: [a-1]\nfrom: 2026-01-01\nuntil: 2026-09-01\nsource: signed\noverrides:\n"
    fixed += "  - {for: {model: chat}, rate: 3}\n"
    now, then = (f"- {{tokens: [input, output], rate: {rate}}}" for rate in (4, 7))
    text = family(text_model("chat", by_tokens(then, effective="2026-06-01"), by_tokens(now)))
    card = card_of({"chat.yaml": text.encode(), "contracts/one.yaml": fixed.encode()})
    [price] = list_prices(card.at(date(2026, 3, 1), account="a-1"), ())
    assert price.row()["price"] == "3"
    assert (price.row()["next price"], price.row()["from"]) == ("7", "2026-09-01")


def test_units_are_words(prices: PriceBook) -> None:
    units = {price.unit for price in list_prices(prices, ())}
    assert {"million tokens", "second of video", "image", "1,000 search requests", "million pixels of video"} <= units
    assert (_plural("query"), _plural("search")) == ("queries", "searches")


def test_every_rate_of_every_model_is_on_it_once(prices: PriceBook) -> None:
    found = [(price.model.model, price.price_of, price.unit) for price in list_prices(prices, ())]
    assert len({*found}) == len(found)
    rates = sum(len(charge.rates) for model in prices.models() for charge in model.version.charges)
    assert len(found) >= rates


def sheet(folder: Path, kind: str) -> str:
    (folder / "acme.yaml").write_bytes(TABLES)
    words = ["sheet", "--tables", str(folder), "--at", "2027-01-15", "acme-film", "--format", kind]
    result: Any = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def test_all_formats_hold_the_same(tmp_path: Path) -> None:
    listed = list(csv.DictReader(io.StringIO(sheet(tmp_path, "csv"))))
    assert [tuple(row) for row in listed] == [PRICE_COLUMNS] * 4
    assert json.loads(sheet(tmp_path, "json")) == [
        {key: value for key, value in row.items() if value} for row in listed
    ]
    table = sheet(tmp_path, "markdown").splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]] == [
        list(row.values()) for row in listed
    ]
    page = sheet(tmp_path, "html")
    assert page.count("<tr>") == 5
    assert "<h1>Prices of 2027-01-15</h1>" in page
    assert '<td data-label="Price" class="number">0.125</td>' in page
    assert "Acme &lt;Film&gt;" in page
    assert "http" not in page.replace("http-equiv", "")
