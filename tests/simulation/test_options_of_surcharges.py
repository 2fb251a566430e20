"""Every option that a surcharge may have: rated beside tokens, and summed, it charges what it charges by itself."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow
import pytest
from counted_rows import HEAD
from test_buckets_and_conditions import usage_of

from ratecard import PriceBook, RateCard, TableError
from ratecard.load.folder import tables_from
from ratecard.methods.surcharge import Surcharge
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import Charge

UNITS = """units:
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: ksearch, counts: search, per: 1000}
  - {unit: seventh, counts: search, per: 7}
  - {unit: krequest, counts: search request, per: 1000}
  - {unit: sixtieth, counts: search request, per: 60}
  - {unit: prompt, counts: prompt, per: 1}
  - {unit: third, counts: prompt, per: 3}
"""
# The counts of a usage for which each surcharge is charged, its plain unit, and a unit without a decimal price.
SURCHARGES = {
    "rerank": (("counts.rerank",), "ksearch", "seventh"),
    "web_search": (("counts.web_search", "web_search_requests"), "krequest", "sixtieth"),
    "looks": (("counts.looks",), "prompt", "third"),
}
FACTOR = "factors: [{service_tier: batch, factor: 0.5}]"
# By option: the keys of the charge, its rates, and the keys of the version.
RATES = "[{rate: 2.5}]"
OPTIONS: dict[str, tuple[str, str, str]] = {
    "none": ("", RATES, ""),
    "included": ("included: 3", RATES, ""),
    "at_least": ("at_least: 5", RATES, ""),
    "started": ("started: 4", RATES, ""),
    "included, at_least, started": ("included: 1, at_least: 2, started: 3", RATES, ""),
    "markup": ("markup: 1.5", RATES, ""),
    "factors": (FACTOR, RATES, ""),
    "started, factors": (f"started: 4, {FACTOR}", RATES, ""),
    "conditions": ("", "[{rate: 2.5}, {service_tier: batch, rate: 1}]", ""),
    "conditions, without_rate": (
        "without_rate: {batch: default}", "[{rate: 2.5}, {service_tier: batch, inference_geo: us, rate: 1}]", ""),
    "hours": ("", '[{rate: 2.5}, {hours: "16:30..00:30", zone: UTC, rate: 1}]', ""),
    "factors of the version": ("", RATES, FACTOR),
    "factors of the version, not_sold": ("", RATES,
        "factors: [{service_tier: batch, factor: 0.5}, {inference_geo: us, factor: 2}]\n"
        "        not_sold: [{service_tier: batch, inference_geo: us}]"),
    "line_places": ("", RATES, "line_places: 3"),
}  # fmt: skip
START = datetime(2026, 3, 1, tzinfo=UTC)


def card_of(surcharge: str, unit: str, *, plain: bool = False, more: str = "") -> RateCard:
    """Models of text with a surcharge each, by the number of its option; `plain`: none of them has its option."""
    models = ""
    for number, option in enumerate(OPTIONS):
        own, rates, of_version = OPTIONS["none" if plain else option]
        keys = f"        {of_version}\n" * bool(of_version)
        models += f"""\
  - model: chat-{number}
    name: A
    type: text{HEAD}        surcharges: {{{surcharge}: extra-{number}}}
        charges:
          - {{charge: tokens, method: tokens, unit: mtoken, {FACTOR}, rates: [
              {{tokens: input, rate: 4}}, {{tokens: output, rate: 20}}]}}
        examples: [{{usage: {{prompt_tokens: 0, completion_tokens: 0}}, total: 0}}]
  - model: extra-{number}
    name: A
    type: surcharge{HEAD}{keys}{more}        charges:
          - {{charge: extra, method: surcharge, unit: {unit}, rates: {rates}{", " * bool(own)}{own}}}
        examples: [{{usage: {{count: 0}}, total: 0}}]
"""
    files = {"t.yaml": f"family: made-up\nmodels:\n{models}", "units.yaml": UNITS}
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))._unproved


COUNTS = (None, 0, 1, 2, 3, 4, 5, 7, 8, 9, 1000)
MOMENTS = ((0, "a"), (12, "b"), (20, "a"))


def rows(column: str) -> list[dict[str, Any]]:
    return [
        {"type": "text", "model": f"chat-{number}", "prompt_tokens": 1000, "completion_tokens": 10, column: count,
         "service_tier": tier, "timestamp": START + timedelta(hours=hour), "customer": customer}
        for number, _ in enumerate(OPTIONS)
        for count, tier, (hour, customer) in product(COUNTS, (None, "batch"), MOMENTS)
    ]  # fmt: skip


def in_cases() -> list[Any]:
    return [
        pytest.param(surcharge, column, unit, id=f"{column} by {unit}")
        for surcharge, (columns, *units) in SURCHARGES.items()
        for column in columns
        for unit in units
    ]


@pytest.mark.parametrize(("surcharge", "column", "unit"), in_cases())
def test_a_surcharge_is_summed_as_each_row_is_charged(surcharge: str, column: str, unit: str) -> None:
    card, listed = card_of(surcharge, unit), rows(column)
    prices = {hour: card.at(START + timedelta(hours=hour)) for hour, _ in MOMENTS}
    sums: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    for row in listed:
        book = prices[row["timestamp"].hour]
        usage = usage_of(row)
        quote = book.rate(usage)
        none = book.rate({name: value for name, value in usage.items() if name not in ("counts", column)})
        assert quote.exact - none.exact == by_itself(book, row, column), row
        sums[row["model"], row["customer"]] += quote.total
    table, by = pyarrow.Table.from_pylist(listed), ("model", "customer")
    with simulate(table, Side("now", card), by=by) as found:
        assert {row.key: row.amounts[0] for row in found.groups} == sums
        assert found.priced == len(listed)
    # A candidate may have these prices too; its rows are grouped together with those of the current prices.
    plain = Side("now", card_of(surcharge, SURCHARGES[surcharge][1], plain=True))
    with simulate(table, plain, [Side("then", card)], by=by) as both:
        assert {row.key: row.amounts[1] for row in both.groups} == sums


def by_itself(prices: PriceBook, row: dict[str, Any], column: str) -> Decimal:
    """Return the price of a row's surcharge as a usage of its own, under the conditions that its rates know."""
    if not row[column]:
        return Decimal(0)
    number = int(row["model"].removeprefix("chat-"))
    usage = {"type": "surcharge", "model": f"extra-{number}", "count": row[column]}
    if any(word in list(OPTIONS)[number] for word in ("factors", "conditions")):
        usage |= {"service_tier": row["service_tier"] or "standard"}
    return prices.rate(usage).exact


@pytest.mark.parametrize(
    ("options", "count", "charged"),
    [
        ("included", 3, 0), ("included", 4, 1), ("at_least", 1, 5), ("at_least", 5, 5), ("at_least", 6, 6),
        ("started", 1, 4), ("started", 4, 4), ("started", 5, 8), ("included, at_least, started", 1, 0),
        ("included, at_least, started", 2, 3), ("included, at_least, started", 5, 6),
    ],
)  # fmt: skip
def test_what_an_option_charges_by_hand(options: str, count: int, charged: int) -> None:
    usage = {"type": "text", "tokens": {"input": 0, "output": 0}, "counts": {"rerank": count}}
    quote = card_of("rerank", "ksearch").at(START).rate(usage | {"model": f"chat-{list(OPTIONS).index(options)}"})
    assert quote.exact == Decimal("0.0025") * charged


def test_every_option_of_a_charge_and_of_its_version_is_tried() -> None:
    tried = "; ".join(" ".join(keys) for keys in OPTIONS.values())
    own = Surcharge.model_fields.keys() - {"charge", "method", "unit", "rates"}
    # Keys of every version, and keys that a surcharge cannot have.
    own |= MeteredVersion.model_fields.keys() - {"charges", "rounding", "examples", "place", "minimum", "minimum_place"}
    own -= {"defaults"}
    own -= {"effective", "announced", "checked", "source", "reference", "evidence", "correction", "expected_change"}
    assert {name for name in own if f"{name}:" not in tried} == set()
    assert own >= Surcharge.model_fields.keys() - Charge.model_fields.keys()


def test_a_minimum_is_that_of_a_request_and_of_no_surcharge() -> None:
    with pytest.raises(
        TableError, match=r"minimum is for a whole request, and a surcharge is a part of one\. Write at_least"
    ):
        card_of("rerank", "ksearch", more="        minimum: 0.01\n")
