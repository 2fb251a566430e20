"""The examples of the shipped tables, worked by hand, and one usage for every rate of theirs."""

from decimal import Decimal

import pytest
from metered_answers import sound

from ratecard import PriceBook, RateCard
from ratecard.examples import work, wrong_examples
from ratecard.methods.method import unit_usages
from ratecard.requests.text_body import usage_of_text
from ratecard.tables.metered import MeteredVersion


def test_every_example_of_the_shipped_tables_is_right(card: RateCard) -> None:
    assert wrong_examples(card._compiler) == []
    worked = [each for each in work(card._compiler) if card.tables.models[each.model].type != "video"]
    assert len(worked) > 400
    assert all(each.total == each.example.total and each.example.place in each.example.place for each in worked)
    assert {card.tables.models[each.model].type for each in worked} == {
        "text", "embedding", "image", "edit", "upscale", "speech", "transcription", "music", "rpc", "surcharge",
    }  # fmt: skip


def test_every_rate_has_a_usage_that_is_charged_by_it(card: RateCard) -> None:
    for model in card.tables.models.values():
        for version in model.versions:
            if not isinstance(version, MeteredVersion) or model.type == "surcharge":
                continue
            prices, used = card.at(version.effective), set()
            for usage in unit_usages(model, version, card.tables):
                used |= {line.source for line in sound(prices.rate(usage)).lines}
            rates = {rate.source: rate for charge in version.charges for rate in charge.rates}
            assert used == rates.keys(), model.model


def test_a_surcharge_is_one_search(card: RateCard) -> None:
    model = card.tables.models["web-search"]
    [version] = model.versions
    assert isinstance(version, MeteredVersion)
    assert list(unit_usages(model, version, card.tables)) == [{"type": "surcharge", "model": "web-search", "count": 1}]


@pytest.mark.parametrize(
    ("type_", "fields", "usage"),
    [
        ("text", {"prompt_tokens": "9", "cached_tokens": "4", "web_search_requests": "2"}, {
            "type": "text", "model": "m", "web_search_requests": 2,
            "usage": {"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 4}}}),
        ("image", {"factor": "4x"}, {"type": "upscale", "model": "m", "factor": "4x"}),
        ("image", {"resolution": "2K", "n": "2"}, {"type": "image", "model": "m", "resolution": "2K", "n": 2}),
        ("transcription", {"seconds": "1.50"}, {"type": "transcription", "model": "m", "seconds": Decimal("1.50")}),
        ("rpc", {"network": "a-b", "method": "x"}, {"type": "rpc", "network": "a-b", "calls": [{"method": "x"}]}),
    ],
)  # fmt: skip
def test_an_example_is_read_as_a_usage(type_: str, fields: dict[str, str], usage: dict[str, object]) -> None:
    assert usage_of_text(type_, "m", fields) == usage


def test_the_worked_examples_of_searches(prices: PriceBook) -> None:
    assert prices.surcharge("web-search", 1).total == Decimal("0.01")
    assert prices.surcharge("x-search", 25).total == Decimal("0.25")
