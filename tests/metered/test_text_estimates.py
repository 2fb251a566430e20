"""What a text request can cost before it runs: no actual usage is below or above."""

import shutil
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metered_answers import made_up, messages, total

from ratecard import PriceBook, QuoteError, RateCard, load_rate_card
from ratecard.load.folder import shipped_folder

MODELS = [
    "claude-opus-4-6",
    "grok-4-3",
    "openai-gpt-54-pro",
    "openai-gpt-55",
    "qwen-3-6-plus",
    "gemini-3-1-pro-preview",
]


@st.composite
def usages(draw: st.DrawFn) -> tuple[str, int, int, dict[str, Any]]:
    """(model, prompt, most of the completion, an actual usage of both)."""
    prompt = draw(st.integers(0, 600_000) | st.sampled_from([199_999, 200_000, 200_001, 272_000, 272_001, 10**9]))
    most = draw(st.integers(0, 200_000))
    cached = draw(st.integers(0, prompt))
    written = draw(st.integers(0, prompt - cached))
    details = {"cached_tokens": cached, "cache_creation_input_tokens": written}
    actual = {
        "prompt_tokens": prompt,
        "completion_tokens": draw(st.integers(0, most)),
        "prompt_tokens_details": details,
    }
    return draw(st.sampled_from(MODELS)), prompt, most, actual


@given(usages())
def test_every_actual_usage_lies_between_the_two(
    prices: PriceBook, drawn: tuple[str, int, int, dict[str, Any]]
) -> None:
    model, prompt, most, actual = drawn
    found = prices.estimate_text(model, prompt_tokens=prompt, max_completion_tokens=most)
    assert found.lowest <= total(prices, "text", model, usage=actual) <= found.highest
    assert found.currency == "USD"


@pytest.mark.parametrize(
    ("model", "prompt", "most", "lowest", "highest"),
    [
        ("claude-opus-4-6", 0, 0, "0", "0"),
        # The cheapest reads all from the cache; the dearest writes all to it.
        ("claude-opus-4-6", 1_000_000, 1_000, "0.6", "7.53"),
        ("openai-gpt-54-pro", 1_000, 0, "0.0375", "0.0375"),  # no cache rates
        ("grok-4-3", 200_000, 1_000, "0.046", "0.28683"),
        ("grok-4-3", 200_001, 1_000, "0.09000045", "0.57167283"),
    ],
)
def test_both_ends_are_prices_of_real_usages(
    prices: PriceBook, model: str, prompt: int, most: int, lowest: str, highest: str
) -> None:
    found = prices.estimate_text(model, prompt_tokens=prompt, max_completion_tokens=most)
    assert (found.lowest, found.highest) == (Decimal(lowest), Decimal(highest))
    ends = set()
    for name in ("cached_tokens", "cache_creation_input_tokens", "none"):
        details = {} if name == "none" else {name: prompt}
        for completion in (0, most):
            usage = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
            ends.add(total(prices, "text", model, usage=usage))
    assert (min(ends), max(ends)) == (found.lowest, found.highest)


@pytest.mark.parametrize("name", ["prompt_tokens", "max_completion_tokens"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (-1, ["Number must be greater than or equal to 0"]),
        (0.5, ["Expected integer, received float"]),
        (True, ["Expected number, received boolean"]),
        ("5", ["Expected number, received string"]),
        (None, ["Expected number, received null"]),
    ],
)
def test_wrong_counts(prices: PriceBook, name: str, given: Any, said: list[str]) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.estimate_text("grok-4-3", **{"prompt_tokens": 1, "max_completion_tokens": 1, name: given})
    assert messages(caught.value) == {name: said}


def test_whole_floats_are_counts(prices: PriceBook) -> None:
    one = prices.estimate_text("grok-4-3", prompt_tokens=5.0, max_completion_tokens=2.0)  # type: ignore[arg-type]
    assert one == prices.estimate_text("grok-4-3", prompt_tokens=5, max_completion_tokens=2)


def test_the_model_is_named_as_in_a_request(prices: PriceBook, card: RateCard) -> None:
    counts: dict[str, Any] = {"prompt_tokens": 5, "max_completion_tokens": 2}
    suffixed = prices.estimate_text("grok-4-3:disable_thinking=true", **counts)
    assert suffixed == replace(
        prices.estimate_text("grok-4-3", **counts), ignored=("service_parameters.disable_thinking",)
    )
    for name, said in (
        ("grok-9", "Specified model not found: grok-9"),
        ("flux-2-pro", "Specified model not found: flux-2-pro is of type image, and has no price for text"),
        (None, "Invalid request body"),
    ):
        with pytest.raises(QuoteError) as caught:
            prices.estimate_text(name, **counts)  # type: ignore[arg-type]
        assert caught.value.error.startswith(said)


TOKENS: dict[str, Any] = {"prompt_tokens": 1_000, "max_completion_tokens": 500}
WEB, URL, RESULT = Decimal("0.01"), Decimal("0.01"), Decimal("0.01")


def added(prices: PriceBook, model: str = "grok-4-3", **asked: Any) -> tuple[Any, Any]:
    """Return the amounts that searches add to the least and to the most."""
    plain = prices.estimate_text("grok-4-3", **TOKENS)
    found = prices.estimate_text(model, **TOKENS, **asked)
    return found.lowest - plain.lowest, found.highest - plain.highest


@pytest.mark.parametrize(
    ("parameters", "asked", "most"),
    [
        ({}, {}, 0),
        ({"enable_web_search": "on"}, {}, WEB),  # one search, from the limits
        ({"enable_web_search": "auto"}, {}, WEB),
        ({"enable_web_search": "off"}, {}, 0),
        ({"enable_web_search": "off"}, {"web_search_requests": 9}, 0),
        ({"enable_web_search": "on"}, {"web_search_requests": 7}, 7 * WEB),
        ({"enable_web_search": "on"}, {"web_search_requests": 0}, 0),
        ({}, {"web_search_requests": 7}, 7 * WEB),  # a count without a switch is billed as well
        ({"enable_web_scraping": True}, {}, 5 * URL),
        ({"enable_web_scraping": True}, {"scraped_urls": 2}, 2 * URL),
        ({"enable_web_scraping": False}, {"scraped_urls": 2}, 0),
        ({"enable_x_search": True}, {"x_search_results": 30}, 30 * RESULT),
        ({"enable_x_search": True}, {"x_search_results": 0}, 0),
        # Scraping replaces a web search, but only if it scrapes, so the dearer of both counts.
        ({"enable_web_search": "on", "enable_web_scraping": True}, {}, 5 * URL),
        ({"enable_web_search": "on", "enable_web_scraping": True}, {"scraped_urls": 0}, WEB),
        ({"enable_web_search": "on", "enable_web_scraping": True}, {"web_search_requests": 6}, 6 * WEB),
        # X search replaces a web search, whatever it finds.
        ({"enable_web_search": "on", "enable_x_search": True}, {"x_search_results": 0}, 0),
        ({"enable_web_scraping": True, "enable_x_search": True}, {"x_search_results": 3}, 8 * RESULT),
    ],
)
def test_searches_are_part_of_the_most(
    prices: PriceBook, parameters: dict[str, Any], asked: dict[str, Any], most: Decimal
) -> None:
    assert added(prices, service_parameters=parameters, **asked) == (0, most)
    words = "&".join(f"{name}={str(value).lower()}" for name, value in parameters.items())
    assert added(prices, f"grok-4-3:{words}", **asked) == (0, most)
    against = {name: "off" if value == "on" else not value for name, value in parameters.items() if value != "off"}
    if "enable_web_search" not in against or against["enable_web_search"] == "off":
        suffixed = "grok-4-3:" + "&".join(f"{name}={str(value).lower()}" for name, value in against.items())
        assert added(prices, suffixed, service_parameters=parameters, **asked) == (0, most), "the field wins"


def test_a_bill_is_never_above_its_estimate(prices: PriceBook) -> None:
    """The figures of a suffix that was left out of the estimate: 0.01 for a search, 0.05 for five URLs."""
    usage = {"prompt_tokens": 1_000, "completion_tokens": 500}
    ran: list[tuple[str, dict[str, Any]]] = [
        ("enable_web_search=on", {}),
        ("enable_web_scraping=true", {"scraped_urls": 5}),
    ]
    for suffix, counts in ran:
        bill = prices.rate({"type": "text", "model": f"grok-4-3:{suffix}", "usage": usage, **counts}).total
        assert prices.estimate_text("grok-4-3", **TOKENS).highest < bill
        assert bill <= prices.estimate_text(f"grok-4-3:{suffix}", **TOKENS).highest


@given(usages(), st.data())
def test_searches_of_an_actual_usage_lie_between_too(
    prices: PriceBook, drawn: tuple[str, int, int, dict[str, Any]], data: st.DataObject
) -> None:
    _, prompt, most, actual = drawn
    model = data.draw(st.sampled_from(["grok-4-3", "grok-4-20"]))
    switches = {
        "enable_web_search": st.sampled_from(["on", "off", "auto"]),
        "enable_web_scraping": st.booleans(),
        "enable_x_search": st.booleans(),
    }
    parameters = data.draw(st.fixed_dictionaries({}, optional=switches))
    greatest = {"web_search_requests": 20, "scraped_urls": 5, "x_search_results": 200}
    counts = {name: data.draw(st.integers(0, most_of)) for name, most_of in greatest.items()}
    ran = {name: data.draw(st.integers(0, count)) for name, count in counts.items()}
    asked: dict[str, Any] = {"service_parameters": parameters, **counts}
    found = prices.estimate_text(model, prompt_tokens=prompt, max_completion_tokens=most, **asked)
    cost = total(prices, "text", model, usage=actual, service_parameters=parameters, **ran)
    assert found.lowest <= cost <= found.highest


@pytest.mark.parametrize(
    ("model", "asked", "said"),
    [
        (
            "grok-4-3",
            {"service_parameters": {"enable_x_search": True}},
            {"x_search_results": ["Required: the limits do not say the most of one request"]},
        ),
        (
            "grok-4-3:enable_x_search=true",
            {},
            {"x_search_results": ["Required: the limits do not say the most of one request"]},
        ),
        (
            "claude-opus-4-6:enable_x_search=true",
            {"x_search_results": 5},
            {"x_search_results": ["This model does not support x search"]},
        ),
        (
            "claude-opus-4-6",
            {"x_search_results": 5},
            {"x_search_results": ["This model does not support x search"]},
        ),
        (
            "grok-4-3",
            {"service_parameters": {"enable_web_search": "on"}, "web_search_requests": -1},
            {"web_search_requests": ["Number must be greater than or equal to 0"]},
        ),
        (
            "grok-4-3",
            {"scraped_urls": 6, "x_search_results": True},
            {
                "scraped_urls": ["Number must be less than or equal to 5"],
                "x_search_results": ["Expected number, received boolean"],
            },
        ),
        (
            "grok-4-3",
            {"service_parameters": {"enable_web_search": "yes"}},
            {
                "service_parameters.enable_web_search": [
                    "Invalid enum value. Expected 'off' | 'on' | 'auto', received 'yes'"
                ]
            },
        ),
        ("grok-4-3", {"service_parameters": "on"}, {"service_parameters": ["Expected object, received string"]}),
        (
            "grok-4-3:enable_web_serch",
            {},
            {
                "model": [
                    "Unrecognized parameter in the model name: 'enable_web_serch'. Did you mean 'enable_web_search'?"
                ]
            },
        ),
    ],
)
def test_a_search_whose_most_is_not_known(
    prices: PriceBook, model: str, asked: dict[str, Any], said: dict[str, list[str]]
) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.estimate_text(model, **TOKENS, **asked)
    assert messages(caught.value) == said


@pytest.mark.parametrize(
    ("suffix", "asked", "ignored"),
    [
        ("", {"web_search_requests": 3, "x_search_results": 5}, ()),
        (":enable_web_search=off", {"web_search_requests": 3}, ("web_search_requests",)),
        (":enable_web_search=off", {"web_search_requests": 0}, ()),
        (":enable_x_search=true", {"web_search_requests": 3, "x_search_results": 5}, ("web_search_requests",)),
    ],
)
def test_a_most_of_searches_that_are_never_charged_is_listed(
    prices: PriceBook, suffix: str, asked: dict[str, Any], ignored: tuple[str, ...]
) -> None:
    assert prices.estimate_text(f"grok-4-3{suffix}", **TOKENS, **asked).ignored == ignored


def test_a_model_that_searches_nothing(tmp_path: Path) -> None:
    tokens = "{charge: t, method: tokens, unit: mtoken, rates: [{tokens: input, rate: 1}, {tokens: output, rate: 2}]}"
    shutil.copy(shipped_folder() / "vocabulary.yaml", tmp_path)  # the vocabulary has service parameters
    book = made_up(tmp_path, "text", tokens)
    assert book.estimate_text("m", **TOKENS).highest == Decimal("0.002")
    for switch in ("enable_web_search=on", "enable_web_search=auto", "enable_web_scraping=true"):
        estimate = book.estimate_text(f"m:{switch}", **TOKENS)
        assert (estimate.highest, estimate.ignored) == (
            Decimal("0.002"),
            (f"service_parameters.{switch.partition('=')[0]}",),
        )
    assert book.estimate_text("m:enable_web_search=off", **TOKENS).highest == Decimal("0.002")


def test_the_most_of_a_search_is_that_of_the_day(tmp_path: Path) -> None:
    head, entry = (shipped_folder() / "limits.yaml").read_text(encoding="utf-8").split("limits:\n")
    later = entry.replace("2026-08-03", "2027-01-01").replace("scraped_urls: 5", "scraped_urls: 9")
    later = later.replace("{web_search_requests: 1}", "{web_search_requests: 4, x_search_results: 25}")
    last = later.replace("2027-01-01", "2028-01-01").replace("    estimates: ", "    # ")
    (tmp_path / "limits.yaml").write_text(f"{head}limits:\n{last}{later}{entry}", encoding="utf-8")
    for name in ("text/grok.yaml", "surcharges.yaml", "vocabulary.yaml"):
        shutil.copy(shipped_folder() / name, tmp_path)
    card = load_rate_card(tmp_path)
    for year, suffix, most in (
        (2026, "enable_web_search=on", WEB), (2027, "enable_web_search=on", 4 * WEB),
        (2026, "enable_web_scraping=true", 5 * URL), (2027, "enable_web_scraping=true", 9 * URL),
        (2027, "enable_x_search=true", 25 * RESULT),
    ):  # fmt: skip
        assert added(card.at(date(year, 12, 1)), f"grok-4-3:{suffix}") == (0, most)
    with pytest.raises(QuoteError) as caught:
        added(card.at(date(2028, 12, 1)), "grok-4-3:enable_web_search=on")
    assert list(messages(caught.value)) == ["web_search_requests"]
