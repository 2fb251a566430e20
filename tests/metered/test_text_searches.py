"""What a text request pays for searching and scraping: which of them is billed, and where a search has no price."""

import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from metered_answers import amounts, refused, sentence, sound

from ratecard import PriceBook, RateCard

TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}
ALL, NO_X, ONLY_SCRAPING = "grok-4-3", "claude-opus-4-6", "e2ee-glm-4-7-p"
COUNTS = {"web": "web_search_requests", "scrape": "scraped_urls", "x": "x_search_results"}
SKUS = {"web": "web-search-krequest", "scrape": "web-scraping-kurl", "x": "x-search-kresult"}
FACTS = Path(__file__).parent.parent / "facts" / "text_models.csv"
CAPABILITIES = list(csv.DictReader(FACTS.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def august(card: RateCard) -> PriceBook:
    """When there were models that could not search; all of them are retired."""
    return card.at(date(2026, 8, 3))


def usage_of(model: str, counts: dict[str, Any], parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    switches = {} if parameters is None else {"service_parameters": parameters}
    return {"type": "text", "model": model, "usage": TOKENS, **{COUNTS[n]: v for n, v in counts.items()}, **switches}


@pytest.mark.parametrize(
    ("counts", "parameters", "billed", "ignored"),
    [
        # Only counted searches are billed.
        ({}, {}, {}, []),
        ({"web": 0, "scrape": 0, "x": 0}, {}, {}, []),
        ({"web": 3}, {}, {"web": "0.03"}, []),
        ({"web": 3}, {"enable_web_search": "auto"}, {"web": "0.03"}, []),
        ({}, {"enable_web_search": "auto"}, {}, []),
        ({"web": 0}, {"enable_web_search": "auto"}, {}, []),
        # `on` makes one search, `off` none.
        ({}, {"enable_web_search": "on"}, {"web": "0.01"}, []),
        ({"web": 2}, {"enable_web_search": "on"}, {"web": "0.02"}, []),
        ({"web": 0}, {"enable_web_search": "on"}, {}, []),
        ({"web": 2}, {"enable_web_search": "off"}, {}, ["web_search_requests"]),
        # X search bypasses the web search, whether or not it found anything.
        ({"x": 25}, {}, {"x": "0.25"}, []),
        ({"x": 25, "web": 2}, {}, {"x": "0.25"}, ["web_search_requests"]),
        ({"web": 2}, {"enable_x_search": True}, {}, ["web_search_requests"]),
        (
            {"web": 2, "x": 1},
            {"enable_x_search": True, "enable_web_search": "on"},
            {"x": "0.01"},
            ["web_search_requests"],
        ),
        ({}, {"enable_x_search": True, "enable_web_search": "on"}, {}, []),
        ({"x": 9, "web": 1}, {"enable_x_search": False}, {"web": "0.01"}, ["x_search_results"]),
        # Scraping replaces the web search too; only scraped URLs are billed.
        ({"scrape": 5}, {}, {"scrape": "0.05"}, []),
        ({"scrape": 1, "web": 2}, {"enable_web_scraping": True}, {"scrape": "0.01"}, ["web_search_requests"]),
        ({"scrape": 0, "web": 2}, {"enable_web_scraping": True}, {"web": "0.02"}, []),
        ({}, {"enable_web_scraping": True}, {}, []),
        ({"scrape": 2}, {"enable_web_scraping": False}, {}, ["scraped_urls"]),
        ({"scrape": 2, "x": 3}, {}, {"scrape": "0.02", "x": "0.03"}, []),
    ],
)
def test_which_searches_are_billed(
    prices: PriceBook, counts: dict[str, int], parameters: dict[str, Any], billed: dict[str, str], ignored: list[str]
) -> None:
    quote = sound(prices.rate(usage_of(ALL, counts, parameters)))
    assert amounts(quote) == {SKUS[name]: Decimal(amount) for name, amount in billed.items()}
    assert list(quote.ignored) == ignored


def test_the_lines_of_searches_follow_those_of_tokens_and_say_how_many(prices: PriceBook) -> None:
    tokens = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    quote = prices.rate({"type": "text", "model": NO_X, "usage": tokens, "web_search_requests": 7})
    searched = quote.lines[-1]
    assert (searched.sku, searched.unit) == ("web-search-krequest", "krequest")
    assert (searched.quantity, searched.unit_rate, searched.amount) == (Decimal("0.007"), Decimal(10), Decimal("0.07"))
    assert quote.total == Decimal("6.07")


@pytest.mark.parametrize(
    ("model", "counts", "parameters", "path", "what"),
    [
        (NO_X, {"x": 1}, {}, "x_search_results", "x search"),
        (NO_X, {"x": 1}, {"enable_x_search": True}, "x_search_results", "x search"),
        (ONLY_SCRAPING, {"web": 1}, {}, "web_search_requests", "web search"),
        (ONLY_SCRAPING, {"web": 1}, {"enable_web_search": "auto"}, "web_search_requests", "web search"),
        (ONLY_SCRAPING, {"web": 1}, {"enable_web_search": "on"}, "web_search_requests", "web search"),
    ],
)
def test_a_search_that_the_model_does_not_support(
    august: PriceBook, model: str, counts: dict[str, int], parameters: dict[str, Any], path: str, what: str
) -> None:
    assert refused(august, usage_of(model, counts, parameters)) == {path: [f"This model does not support {what}"]}


@pytest.mark.parametrize(
    ("model", "counts", "parameters", "billed", "ignored"),
    [
        (NO_X, {}, {"enable_x_search": True}, {}, ["enable_x_search"]),
        (NO_X, {"x": 0}, {"enable_x_search": True}, {}, ["enable_x_search"]),
        (NO_X, {}, {"enable_x_search": False}, {}, []),
        # X search was not run, so it replaced nothing.
        (NO_X, {"web": 1}, {"enable_x_search": True}, {"web": "0.01"}, ["enable_x_search"]),
        (NO_X, {}, {"enable_x_search": True, "enable_web_search": "on"}, {"web": "0.01"}, ["enable_x_search"]),
        (ONLY_SCRAPING, {}, {"enable_web_search": "on"}, {}, ["enable_web_search"]),
        (ONLY_SCRAPING, {"scrape": 2}, {"enable_web_search": "auto"}, {"scrape": "0.02"}, ["enable_web_search"]),
    ],
)
def test_a_parameter_of_a_search_that_the_model_does_not_support_has_no_effect(
    august: PriceBook,
    model: str,
    counts: dict[str, int],
    parameters: dict[str, Any],
    billed: dict[str, str],
    ignored: list[str],
) -> None:
    quote = sound(august.rate(usage_of(model, counts, parameters)))
    assert amounts(quote) == {SKUS[name]: Decimal(amount) for name, amount in billed.items()}
    assert list(quote.ignored) == [f"service_parameters.{name}" for name in ignored]


@pytest.mark.parametrize(
    ("counts", "parameters"),
    [
        ({}, {"enable_web_search": "auto"}),
        ({"web": 0}, {}),
        ({"web": 1}, {"enable_web_search": "off"}),
        ({"scrape": 3}, {}),
    ],
)
def test_no_search_needs_no_support(august: PriceBook, counts: dict[str, int], parameters: dict[str, Any]) -> None:
    assert "web-search-krequest" not in amounts(august.rate(usage_of(ONLY_SCRAPING, counts, parameters)))


@pytest.mark.parametrize("row", CAPABILITIES, ids=lambda row: str(row["model"]))
def test_the_tables_know_what_each_model_can_search(card: RateCard, row: dict[str, str]) -> None:
    prices = card.at(max(version.effective for version in card.tables.models[row["model"]].versions))
    for name, column in (("web", "supports_web_search"), ("x", "supports_x_search")):
        usage = usage_of(row["model"], {name: 1})
        if row[column] == "True":
            assert list(amounts(prices.rate(usage))) == [SKUS[name]]
        else:
            assert list(refused(prices, usage)) == [COUNTS[name]]


def test_a_search_by_itself(prices: PriceBook) -> None:
    assert [prices.surcharge(name, 1000).total for name in ("web-search", "web-scraping", "x-search")] == [10, 10, 10]
    assert prices.surcharge("web-search", 0).total == 0
    assert sentence(prices, {"type": "text", "model": "web-search", "usage": TOKENS}).endswith(
        "web-search is of type surcharge, and has no price for text"
    )
