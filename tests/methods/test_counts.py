"""`method: count`: a charge of any declared meter, on any metered model, alone or beside what else it charges."""

from decimal import Decimal
from typing import Any

import pytest
from counted_models import PAGES, REQUESTS, TOKENS, book, faults, model

from ratecard import PriceBook, QuoteError
from ratecard.line_items.compiling import slug
from ratecard.testing import LAWS, Case
from ratecard.testing.case import check

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
CHAT = "usage: {prompt_tokens: 1000, completion_tokens: 100}, total: 0.006"
RERANK = """
          - charge: rerank
            method: surcharge
            unit: krerank
            rates:
              - {rate: 2}"""
SEARCH = """
          - charge: search
            method: surcharge
            unit: krequest
            rates:
              - {rate: 10}"""
BATCHED = """
          - charge: pages
            method: count
            unit: kpage
            rates:
              - {rate: 2}
              - {service_tier: priority, rate: 5}
            factors:
              - {service_tier: batch, factor: 0.5}"""
SPEECH = """
          - charge: speech
            method: per-character
            unit: mcharacter
            rates:
              - {rate: 15}"""


@pytest.fixture(scope="module")
def prices() -> PriceBook:
    return book(
        model("ocr", "text", PAGES, "usage: {counts: {page: 1000}}, total: 1.5"),
        model(
            "tiered",
            "text",
            TOKENS + BATCHED,
            CHAT.replace("}", ", counts: {page: 0}}"),
            "\n        factors: [{inference_geo: us, factor: 1.1}]",
        ),
        model("fee", "text", TOKENS + REQUESTS, CHAT.replace("0.006", "0.016")),
        model("spoken", "speech", SPEECH + REQUESTS, "usage: {characters: 1000000}, total: 15.01"),
        model("my-rerank", "surcharge", RERANK, "usage: {count: 1000}, total: 2"),
        model("web-search", "surcharge", SEARCH, "usage: {count: 1000}, total: 10"),
        model("chat", "text", TOKENS, CHAT, "\n        surcharges: {rerank: my-rerank, web_search: web-search}"),
    )


def lines(prices: PriceBook, usage: dict[str, Any]) -> dict[str, str]:
    quote = prices.rate(usage)
    assert quote.exact == quote.total == sum(line.amount for line in quote.lines)
    return {line.sku: format(line.amount.normalize(), "f") for line in quote.lines}


def refused(prices: PriceBook, usage: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


@pytest.mark.parametrize(("count", "total"), [(12, "0.018"), (0, "0"), (Decimal("0.5"), "0.00075")])
def test_pages_by_themselves(prices: PriceBook, count: Any, total: str) -> None:
    quote = prices.rate({"model": "ocr", "counts": {"page": count}})
    assert quote.total == Decimal(total)
    assert [line.sku for line in quote.lines] == (["ocr-kpage"] if count else [])


def test_a_model_without_tokens_takes_a_usage_that_counts_none(prices: PriceBook) -> None:
    """`usage_from` always says how many tokens there are."""
    counted = {"model": "ocr", "counts": {"page": 1000}}
    assert prices.rate({**counted, "tokens": {"input": 0, "output": 0}}).total == Decimal("1.5")
    for tokens in ({"input": 1, "output": 0}, 0, {"input": "none"}):
        said = refused(prices, {**counted, "tokens": tokens})
        assert said[""].startswith("Unrecognized key(s) in object: 'tokens'")


def test_a_meter_that_every_usage_has_once_need_not_be_counted(prices: PriceBook) -> None:
    tokens = {"fee-llm-input-mtoken": "0.004", "fee-llm-output-mtoken": "0.002"}
    assert lines(prices, {"type": "text", "model": "fee", "usage": USAGE}) == {**tokens, "fee-request": "0.01"}
    for count, fee in ((3, {"fee-request": "0.03"}), (0, {})):
        usage = {"type": "text", "model": "fee", "usage": USAGE, "counts": {"request": count}}
        assert lines(prices, usage) == {**tokens, **fee}
    assert lines(prices, {"model": "fee", "tokens": {"input": 1000}})["fee-request"] == "0.01"
    assert lines(prices, {"model": "spoken", "characters": 0}) == {"spoken-mcharacter": "0", "spoken-request": "0.01"}


@pytest.mark.parametrize(
    ("conditions", "sku", "amount", "note"),
    [
        ({}, "tiered-kpage", "0.02", ""),
        ({"service_tier": "batch"}, "tiered-batch-kpage", "0.01", "2 x 0.5 for service_tier: batch"),
        ({"service_tier": "priority"}, "tiered-priority-kpage", "0.05", ""),
        ({"inference_geo": "us"}, "tiered-us-kpage", "0.022", "2 x 1.1 for inference_geo: us"),
        ({"service_tier": "priority", "inference_geo": "us"}, "tiered-priority-us-kpage", "0.055", "5 x 1.1"),
    ],
)
def test_rates_and_factors_under_conditions(
    prices: PriceBook, conditions: dict[str, str], sku: str, amount: str, note: str
) -> None:
    """The factor of the charge is not one of the tokens beside it; that of the version is of both."""
    quote = prices.rate({"model": "tiered", "usage": USAGE, "counts": {"page": 10}, **conditions})
    [pages] = [line for line in quote.lines if line.unit == "kpage"]
    assert (pages.sku, pages.amount) == (sku, Decimal(amount))
    assert pages.note.startswith(note)
    tokens = sum(line.amount for line in quote.lines if line.unit == "mtoken")
    assert tokens == Decimal("0.006") * (Decimal("1.1") if "inference_geo" in conditions else 1)


@pytest.mark.parametrize(
    ("usage", "problems"),
    [
        ({"model": "ocr"}, {"counts.page": "Required"}),
        ({"model": "ocr", "counts": {}}, {"counts.page": "Required"}),
        ({"model": "ocr", "counts": 5}, {"counts": "Expected object, received number"}),
        ({"model": "ocr", "counts": {"page": -1}}, {"counts.page": "Number must be greater than or equal to 0"}),
        ({"model": "ocr", "counts": {"page": "1"}}, {"counts.page": "Expected number, received string"}),
        (
            {"model": "ocr", "counts": {"page": 1, "session": 1}},
            {"counts.session": "No price is known for session of this model"},
        ),
        (
            {"model": "ocr", "counts": {"page": 1, "pgae": 1}},
            {"counts": "Unrecognized key(s) in object: 'pgae'. Did you mean 'page'?"},
        ),
        (
            {"model": "ocr", "counts": {"page": 1}, "service_tier": "batch"},
            {"service_tier": "Invalid enum value. Expected 'standard' | 'default' | 'auto', received 'batch'"},
        ),
        ({"model": "tiered", "usage": USAGE}, {"counts.page": "Required"}),
        (
            {"model": "chat", "usage": USAGE, "counts": {"rerank": -1}},
            {"counts.rerank": "Number must be greater than or equal to 0"},
        ),
        (
            {"model": "chat", "usage": USAGE, "counts": {"page": 1}},
            {"counts.page": "No price is known for page of this model"},
        ),
        (  # a count that only a provider's response has is not a typing mistake
            {"model": "chat", "usage": USAGE, "counts": {"web_fetch": 1, "file_search": "1", "reranks": 0}},
            {
                "counts": "Unrecognized key(s) in object: 'reranks'. Did you mean 'rerank'?",
                "counts.web_fetch": "No price is known for web_fetch of this model",
                "counts.file_search": "No price is known for file_search of this model",
            },
        ),
    ],
)
def test_counts_without_a_price_are_refused_at_their_place(
    prices: PriceBook, usage: dict[str, Any], problems: dict[str, str]
) -> None:
    assert refused(prices, usage) == problems


def test_a_surcharge_by_any_name_is_reached_from_its_model_and_by_itself(prices: PriceBook) -> None:
    found = lines(prices, {"model": "chat", "usage": USAGE, "counts": {"rerank": 3}})
    assert found["my-rerank-krerank"] == "0.006"
    assert prices.surcharge("my-rerank", 3).total == Decimal("0.006")
    assert prices.rate({"type": "surcharge", "model": "my-rerank", "count": 3}).total == Decimal("0.006")


def test_a_search_counts_the_same_in_its_field_and_in_counts(prices: PriceBook) -> None:
    said: list[dict[str, Any]] = [{"web_search_requests": 3}, {"counts": {"web_search": 3}},
            {"web_search_requests": 3, "counts": {"web_search": 3}}]  # fmt: skip
    quotes = [prices.rate({"model": "chat", "usage": USAGE, **each}) for each in said]
    assert quotes[0] == quotes[1] == quotes[2]
    assert quotes[0].total == Decimal("0.036")
    two = {"model": "chat", "usage": USAGE, "web_search_requests": 3, "counts": {"web_search": 2}}
    assert refused(prices, two) == {"counts.web_search": "Expected 3, as web_search_requests beside it says"}


@pytest.mark.parametrize(
    ("charges", "fault"),
    [
        (PAGES.replace("kpage", "mtoken"), "unit 'mtoken' counts a token, but count counts a request or session"),
        (PAGES.replace("{rate: 1.5}", "{batch: yes, rate: 1}"), "unknown key 'batch'"),
        (PAGES.replace("{rate: 1.5}", "{service_tier: slow, rate: 1}"), "service_tier 'slow' is not known."),
        (PAGES.replace("{rate: 1.5}", "{service_tier: batch, rate: 1}"), "no rate for a request without conditions"),
        (PAGES + "\n              - {rate: 2}", "two rates for the same thing (the other in line 17); keep one"),
        (
            PAGES + "\n              - {service_tier: batch, rate: 2}\n              - {inference_geo: us, rate: 2}",
            "both hold for pages, service_tier: batch, inference_geo: us. Write the rate for both",
        ),
    ],
)
def test_a_charge_that_could_mean_two_things_is_a_fault(charges: str, fault: str) -> None:
    [found] = faults(model("ocr", "text", charges, "usage: {counts: {page: 1000}}, total: 1.5"))
    assert fault in found


DIARIZED = """
          - charge: {name}
            method: {method}
            unit: {unit}
            rates:
              - {{rate: 0}}
              - {{speakers: several, rate: {rate}}}"""
SPEAKERS = "conditions:\n  - {condition: speakers, values: [one, several], default: one}\n"


@pytest.mark.parametrize(
    ("method", "unit", "count"),
    [("count", "page", {"counts": {"page": 60}}), ("per-audio-second", "audio_second", {"seconds": 60})],
)
def test_several_charges_count_one_meter_each_with_a_line(method: str, unit: str, count: dict[str, Any]) -> None:
    heard = DIARIZED.format(name="heard", method=method, unit=unit, rate=2).replace("rate: 0", "rate: 2")
    apart = DIARIZED.format(name="Who speaks", method=method, unit=unit, rate="0.5")
    example = f"usage: {count}, total: 120"
    prices = book(model("hear", "transcription", heard + apart, example.replace("'", "")), meters=SPEAKERS)
    assert lines(prices, {"model": "hear", **count, "speakers": "several"}) == {
        f"hear-several-{slug(unit)}": "120",
        f"hear-several-{slug(unit)}-who-speaks": "30",
    }
    assert list(lines(prices, {"model": "hear", **count}).values()) == ["120", "0"]
    case = Case(prices, "hear")
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=2)


def test_a_second_charge_that_would_not_be_billed_is_a_fault() -> None:
    songs = SPEECH.replace("speech", "songs").replace("per-character", "per-song").replace("mcharacter", "song")
    for charges, type_ in ((SPEECH.replace("mcharacter", "kcharacter") + songs, "music"), (TOKENS + TOKENS, "text")):
        found = faults(model("m", type_, charges, "usage: {}, total: 0"))
        assert any("a second charge would never be billed; keep one" in each for each in found), found


def test_surcharges_need_tokens_and_a_name_that_nothing_else_counts() -> None:
    surcharge = model("my-rerank", "surcharge", RERANK, "usage: {count: 1000}, total: 2")
    further = "\n        surcharges: {page: my-rerank}"
    example = "usage: {prompt_tokens: 1000}, total: 0.004"
    [twice] = faults(surcharge, model("m", "text", TOKENS + PAGES, example, further))
    assert "surcharge 'page' has the name of a meter that a charge counts" in twice
    [alone] = faults(surcharge, model("m", "text", PAGES, example, further.replace("page", "rerank")))
    assert "surcharges have no effect here: only a model that is charged by tokens has them" in alone
