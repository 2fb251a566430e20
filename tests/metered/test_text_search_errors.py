"""Wrong counts of searches, wrong parameters, and parameters in the model's name."""

from typing import Any

import pytest
from metered_answers import messages, refused, sentence

from ratecard import PriceBook, QuoteError

TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}
COUNTS = ("web_search_requests", "scraped_urls", "x_search_results")
NEGATIVE = "Number must be greater than or equal to 0"
SWITCHES = ("enable_web_scraping", "enable_x_search", "enable_web_citations", "disable_thinking",
            "strip_thinking_response", "include_search_results_in_stream", "return_search_results_as_documents",
            "include_venice_system_prompt")  # fmt: skip


def usage_of(model: str = "grok-4-3", **fields: Any) -> dict[str, Any]:
    return {"type": "text", "model": model, "usage": TOKENS, **fields}


@pytest.mark.parametrize("field", COUNTS)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (-1, [NEGATIVE]),
        (0.5, ["Expected integer, received float"]),
        (True, ["Expected number, received boolean"]),
        ("1", ["Expected number, received string"]),
        (None, ["Expected number, received null"]),
        ([], ["Expected number, received array"]),
    ],
)
def test_a_wrong_count_of_searches(prices: PriceBook, field: str, given: Any, said: list[str]) -> None:
    assert refused(prices, usage_of(**{field: given})) == {field: said}


def test_at_most_five_urls_are_scraped_for_a_message(prices: PriceBook) -> None:
    assert prices.rate(usage_of(scraped_urls=5)).total * 20 == 1
    assert refused(prices, usage_of(scraped_urls=6)) == {"scraped_urls": ["Number must be less than or equal to 5"]}
    assert prices.limits.scraped_urls == 5


@pytest.mark.parametrize("given", [None, [], "on", 5, True])
def test_parameters_that_are_no_object(prices: PriceBook, given: Any) -> None:
    word = {"NoneType": "null", "list": "array", "str": "string", "int": "number", "bool": "boolean"}
    said = [f"Expected object, received {word[type(given).__name__]}"]
    assert refused(prices, usage_of(service_parameters=given)) == {"service_parameters": said}


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize(("given", "word"), [("true", "string"), (1, "number"), (None, "null"), ([], "array")])
def test_a_switch_that_is_no_boolean(prices: PriceBook, name: str, given: Any, word: str) -> None:
    said = {f"service_parameters.{name}": [f"Expected boolean, received {word}"]}
    assert refused(prices, usage_of(service_parameters={name: given})) == said


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("enable_web_search", "ON", "Invalid enum value. Expected 'off' | 'on' | 'auto', received 'ON'"),
        ("enable_web_search", True, "Expected 'off' | 'on' | 'auto', received boolean"),
        ("enable_web_search", None, "Expected 'off' | 'on' | 'auto', received null"),
        ("enable_web_search", [], "Expected 'off' | 'on' | 'auto', received array"),
        ("character_slug", 5, "Expected string, received number"),
    ],
)
def test_a_parameter_that_is_no_such_word(prices: PriceBook, name: str, given: Any, said: str) -> None:
    found = refused(prices, usage_of(service_parameters={name: given}))
    assert found == {f"service_parameters.{name}": [said]}


def test_parameters_that_price_nothing_are_checked_and_named(prices: PriceBook) -> None:
    inert = dict.fromkeys(SWITCHES[2:], True) | {"character_slug": "alan"}
    quote = prices.rate(usage_of(service_parameters={**inert, "enable_web_search": "on"}))
    assert set(quote.ignored) == {f"service_parameters.{name}" for name in (*SWITCHES[2:], "character_slug")}


def test_everything_wrong_is_told_at_once(prices: PriceBook) -> None:
    wrong = usage_of(scraped_urls=6, web_search_requests=-1, service_parameters={"disable_thinking": 1}, usage=None)
    found = refused(prices, wrong)
    assert list(found) == ["usage", "web_search_requests", "scraped_urls", "service_parameters.disable_thinking"]


@pytest.mark.parametrize(
    ("suffix", "body", "searches"),
    [
        ("enable_web_search=on", {}, 1),
        ("enable_web_search=auto", {}, 0),
        ("enable_web_search=on", {"enable_web_search": "off"}, 0),
        ("enable_web_search=off", {"enable_web_search": "on"}, 1),
        ("enable_web_search=on", {"disable_thinking": True}, 1),
        ("disable_thinking=true&enable_web_search=on", {}, 1),
        ("enable_web_search=on&enable_x_search=true", {}, 0),
        ("enable_web_search=on&enable_x_search=true", {"enable_x_search": False}, 1),
        ("character_slug=alan:turing&enable_web_search=on", {}, 1),
        ("disable_thinking=true:enable_web_search=on", {}, 1),
        ("enable_web_search=on:character_slug=alan:turing", {}, 1),
        ("", {}, 0),
        ("&", {"enable_web_search": "on"}, 1),
    ],
)
def test_parameters_in_the_models_name(prices: PriceBook, suffix: str, body: dict[str, Any], searches: int) -> None:
    usage = usage_of(f"grok-4-3:{suffix}", service_parameters=body)
    first, again = prices.rate(usage), prices.rate(usage)
    assert first == again
    assert first.model == "grok-4-3"
    assert [line.quantity * 1000 for line in first.lines] == [1] * searches


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        ("enable_web_serch", {"model": ["Unrecognized parameter in the model name: 'enable_web_serch'. "
                                        "Did you mean 'enable_web_search'?"]}),
        ("zzz", {"model": ["Unrecognized parameter in the model name: 'zzz'."]}),
        ("enable_web_search", {"service_parameters.enable_web_search": [
            "Invalid enum value. Expected 'off' | 'on' | 'auto', received ''"]}),
        ("zzz=1&zzy", {"model": ["Unrecognized parameter in the model name: 'zzy'."]}),
        ("enable_x_search=yes", {"service_parameters.enable_x_search": ["Expected boolean, received string"]}),
    ],
)  # fmt: skip
def test_wrong_parameters_in_the_models_name(prices: PriceBook, suffix: str, said: dict[str, list[str]]) -> None:
    assert refused(prices, usage_of(f"grok-4-3:{suffix}")) == said


@pytest.mark.parametrize("beside", [1, 3])
def test_searches_that_are_counted_in_the_usage_and_beside_it(prices: PriceBook, beside: int) -> None:
    searched = {**TOKENS, "server_tool_use": {"web_search_requests": 2}}
    assert refused(prices, usage_of(usage=searched, web_search_requests=beside)) == {
        "usage.server_tool_use.web_search_requests": [
            f"Expected {beside}, as web_search_requests beside the usage says"
        ]
    }


def test_a_suffix_is_of_text_models_only(prices: PriceBook) -> None:
    assert sentence(prices, usage_of("grok-9:enable_web_search=on")).startswith("Specified model not found: grok-9")
    image = {"type": "image", "model": "flux-2-pro:enable_web_search=on"}
    assert sentence(prices, image) == "Specified model not found: flux-2-pro:enable_web_search=on"


@pytest.mark.parametrize(("count", "said"), [(-1, NEGATIVE), (True, "Expected number, received boolean"),
                                             (0.5, "Expected integer, received float")])  # fmt: skip
def test_a_wrong_count_of_searches_by_themselves(prices: PriceBook, count: Any, said: str) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.surcharge("web-search", count)
    assert messages(caught.value) == {"count": [said]}


def test_only_a_surcharge_has_a_price_by_itself(prices: PriceBook) -> None:
    with pytest.raises(QuoteError, match="flux-2-pro is of type image, and has no price for surcharge"):
        prices.surcharge("flux-2-pro", 1)
    assert prices.surcharge("web-search", 2.0).total == prices.surcharge("web-search", 2).total  # type: ignore[arg-type]
