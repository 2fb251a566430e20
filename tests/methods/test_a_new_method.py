"""A new pricing method is one class and one line: "per started minute", which only this file knows."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Literal

import pyarrow
import pytest
from counted_models import book, book_card, faults, model
from hypothesis import HealthCheck, Phase, given, settings

from ratecard import PriceBook, QuoteError
from ratecard.methods import METHODS, register
from ratecard.methods.metered import Metered, per_unit
from ratecard.methods.method import ANY_NUMBER, Method, UsageReading
from ratecard.review.sides import Side
from ratecard.server.models import listed_model
from ratecard.simulation.billing import ModelInEffect, sold_by_sku
from ratecard.simulation.simulate import simulate
from ratecard.tables.card import Tables
from ratecard.tables.metered import METERED_CHARGES, MeteredVersion
from ratecard.tables.meters import Unit
from ratecard.tables.rate import CountedCharge
from ratecard.testing import LAWS, Case
from ratecard.testing.case import BrokenLawError, check
from ratecard.testing.laws.metered import a_count_costs_its_rate
from ratecard.views.explain import explain
from ratecard.views.schema import table_schema
from ratecard.views.sheet import price_cells


class PerStartedMinute(CountedCharge, Method):
    """Seconds of audio, each begun minute of which is charged: 61.2 seconds are two."""

    METERS: ClassVar = ("minute",)
    TYPES: ClassVar = ("transcription",)
    method: Literal["per-started-minute"]

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        started = self.model_copy(update={"started": Decimal(60)})
        count, sku = per_unit(started, 60), f"{metered.model.model}-minute"
        lines = lambda shape: [count(shape["seconds"], self.rates[0], sku)]  # noqa: E731
        return UsageReading(lines, {"seconds": ANY_NUMBER}, required=("seconds",))

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Iterator[dict[str, Any]]:
        yield {"seconds": 60}

    def linear(self, unit: Unit) -> bool:
        return False


CHARGE = """
          - charge: audio
            method: per-started-minute
            unit: minute
            rates:
              - {rate: 0.03}"""
FEE = """
          - charge: requests
            method: count
            unit: request
            rates:
              - {rate: 0.01}"""
EXAMPLE = "usage: {seconds: 61.2}, total: 0.06"
MODEL = model("hear", "transcription", CHARGE, EXAMPLE)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    register(PerStartedMinute)
    yield
    del METHODS["per-started-minute"]
    METERED_CHARGES.remove("per-started-minute")


@pytest.fixture(scope="module")
def prices(registered: None) -> PriceBook:
    return book(MODEL, model("both", "transcription", CHARGE + FEE, EXAMPLE.replace("0.06", "0.07")))


@pytest.mark.parametrize(
    ("seconds", "total"), [(0, "0"), ("0.1", "0.03"), (60, "0.03"), ("60.1", "0.06"), ("61.2", "0.06"), (120, "0.06")]
)
def test_each_begun_minute_is_charged(prices: PriceBook, seconds: Any, total: str) -> None:
    quote = prices.rate({"model": "hear", "seconds": Decimal(seconds)})
    assert quote.total == Decimal(total)
    assert quote.lines[0].sku == "hear-minute"


def test_a_fee_for_each_request_stands_beside_it(prices: PriceBook) -> None:
    assert prices.rate({"model": "both", "seconds": 61}).total == Decimal("0.07")


def test_its_usages_are_checked(prices: PriceBook) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.rate({"model": "hear", "second": 5})
    assert [path for path, _ in caught.value.problems] == [(), ("seconds",)]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (MODEL.replace("transcription", "speech"), "method per-started-minute does not price speech."),
        (
            MODEL.replace("unit: minute", "unit: page"),
            "unit 'page' counts a page, but per-started-minute counts a minute.",
        ),
        (
            MODEL.replace("{rate: 0.03}", "{voice: loud, rate: 1}"),
            "unknown key 'voice' in a rate of per-started-minute.",
        ),
        (MODEL.replace("per-started-minute", "per-started-minut"), "Did you mean 'per-started-minute'?"),
    ],
)
def test_its_tables_are_checked(table: str, fault: str) -> None:
    found = faults(table)
    assert len(found) == 1
    assert fault in found[0]


def test_it_is_in_the_sheet_the_schema_the_listing_and_the_explanation(prices: PriceBook) -> None:
    [cell] = price_cells(prices, "hear")
    assert (cell.usage, cell.quote.total) == (
        {"type": "transcription", "model": "hear", "seconds": 60},
        Decimal("0.03"),
    )
    [charge] = listed_model(prices, date(2026, 10, 1), "hear").pricing.charges
    assert (charge.method, charge.unit, charge.rates[0].rate) == ("per-started-minute", "minute", "0.03")
    assert explain(prices, "hear").charges[0].method == "per-started-minute"
    assert "PerStartedMinute" in table_schema()["definitions"]
    assert list(sold_by_sku(ModelInEffect.of(prices, "hear"))) == ["hear-minute"]


@pytest.mark.parametrize("name", ["hear", "both"])
def test_the_laws_hold_for_it(prices: PriceBook, name: str) -> None:
    case = Case(prices, name)
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=3)

    @settings(max_examples=20, database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(case.requests)
    def begun(request: Any) -> None:
        requests = request.body["counts"]["request"] if name == "both" else 0
        expected = ceil(Fraction(request.body["seconds"]) / 60) * Decimal("0.03") + requests * Decimal("0.01")
        assert prices.rate(request.body).total == expected

    begun()


def test_the_law_of_counts_is_tried_where_a_method_says_so(prices: PriceBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun minutes are no multiple of their seconds: were they said to be, the law would be broken."""
    law, case = a_count_costs_its_rate, Case(prices, "hear")
    assert not law.applies(case)
    monkeypatch.setattr(PerStartedMinute, "NUMBERS", ("seconds",))
    assert law.applies(case)
    with pytest.raises(BrokenLawError, match="The rate gives"):
        check(law, case)


def test_rows_of_it_are_simulated_as_they_are_rated() -> None:
    """Begun minutes cannot be summed, so each number of seconds is priced by itself; a fee is one for each row."""
    card = book_card(MODEL, model("both", "transcription", CHARGE + FEE, EXAMPLE.replace("0.06", "0.07")))
    rows = [
        {"type": "transcription", "model": name, "seconds": seconds, "counts.request": requests}
        for name, requests in (("hear", None), ("both", None), ("both", 3))
        for seconds in (Decimal("0.5"), Decimal(60), Decimal("60.5"), Decimal(90))
    ]
    now = Side("now", card, datetime(2026, 10, 1, tzinfo=UTC))
    with simulate(pyarrow.Table.from_pylist(rows), now, by=("model",)) as found:
        sums = {row.key[0]: row.amounts[0] for row in found.groups if row.requests}
    minutes = Decimal("0.03") * (1 + 1 + 2 + 2)
    assert sums == {"hear": minutes, "both": 2 * minutes + Decimal("0.01") * (4 + 4 * 3)}
