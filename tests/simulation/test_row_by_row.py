"""A simulation equals the sum of `prices.rate` row by row, digit for digit: random tables, random usage."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from oracle import lost_and_new, told
from rows import Row, expected, key_of, rows_of, table_of

from nightly import examples
from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from ratecard.testing import rate_cards, sourced_video_requests, usages
from shipped import CARD as SHIPPED

DEARER = SHIPPED.with_candidate(Path(__file__).parent / "dearer.yaml")
KEYS = ("model", "day", "customer")
# An example is a whole simulation, so failures are shown unshrunk.
SLOW = settings(
    max_examples=examples(8, nightly=200),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
# With tables that are always the same, few examples of many rows try as much as many of few.
FEWER, OF_SHIPPED = settings(SLOW, max_examples=examples(3, nightly=200)), (20, 30)


@st.composite
def usage_rows(
    draw: st.DrawFn, card: RateCard, first: datetime, days: int, rows: tuple[int, int] = (4, 24)
) -> list[Row]:
    """Rows of what the card has prices for in the middle of the period, at instants all over it."""
    prices = card.at(first + timedelta(days=days // 2))
    types = {model.type for model, _ in prices._in_effect_all()} - {"surcharge"}
    found: list[Row] = []
    for _ in range(draw(st.integers(*rows))):
        more = {
            "timestamp": first + timedelta(seconds=draw(st.integers(0, days * 86_400 - 1))),
            "customer": draw(st.sampled_from(("a", "b", None))),
        }
        usage: dict[str, Any]
        if types == {"video"} or ("video" in types and draw(st.booleans())):
            request = draw(sourced_video_requests(prices))
            usage, source = {"type": "video", **request.body}, request.source
        elif types:
            usage, source = draw(usages(prices, types=types - {"video"})), None
        else:
            usage, source = {"type": "text", "model": "none"}, None
        found += rows_of(usage, source, **more)
    return found


def check(card: RateCard, candidate: RateCard, rows: list[Row], *by: Sequence[str]) -> None:
    """One card by itself, then both, each by its keys: what only one of them offers is lost or new."""
    note(rows)
    table, now, then = table_of(rows), Side("now", card), Side("then", candidate)
    with simulate(table, now, by=by[0]) as alone:
        check_totals(alone, rows)
    try:
        both = simulate(table, now, [then], by=by[1])
    except SimulationError as error:
        if any(told(card, candidate, row, {}) for row in rows):
            assert "changes nothing" in str(error)
        else:  # no row has a price that can be compared
            assert f"{len(rows)} of {len(rows)} rows cannot be priced" in str(error)
        return
    with both:
        check_totals(both, rows)
        assert both.attribution().difference == both.total.difference()


def check_totals(result: Simulation, rows: list[Row]) -> None:
    cards, keys = [side.card for side in result.sides], result.by
    listed = [each for row in rows if (each := told(cards[0], cards[-1], row, {}))]
    assert (result.rows, result.priced) == (len(rows), len(listed)), result.unpriced
    assert result.rows == result.priced + sum(each.rows for each in result.unpriced)
    if len(cards) > 1:
        assert result.total.beside() == lost_and_new(listed)
    for number, card in enumerate(cards):
        charged = [each.row for each in listed if (each.now, each.then)[number]]
        for some in (keys, *((key,) for key in keys)):
            sums = dict.fromkeys((tuple(key_of(each.row, key) for key in some) for each in listed), Decimal(0))
            sums |= expected(card, charged, some)[0]
            found = {row.key: row.amounts[number] for row in result.table(*some)}
            assert {_renamed(key, cards[0]): amount for key, amount in sums.items()} == found
        amounts = {row.key: row.amounts[number] for row in result.groups}
        assert written(result, number) == amounts
        assert sum(amounts.values()) == result.total.amounts[number]


def written(result: Simulation, number: int) -> dict[tuple[Any, ...], Decimal]:
    """The groups as files have them: by one query, not by what each candidate adds."""
    comparison, keys = result.comparison, len(result.by)
    rows = comparison.roll_up.workspace.connection.execute(comparison.groups()).fetchall()
    first = keys + 1 + len(QUANTITY_NAMES)
    return {row[:keys]: Decimal(row[first + number]).scaleb(-comparison.scale) for row in rows}


def _renamed(key: tuple[Any, ...], card: RateCard) -> tuple[Any, ...]:
    """RPC calls, which name no model, are counted under that of the tables."""
    rpc = next((model.model for model in card.tables.models.values() if model.type == "rpc"), "rpc")
    return tuple(rpc if part == "rpc" else part for part in key)


@SLOW
@given(st.data())
def test_random_tables(data: st.DataObject) -> None:
    card, candidate = data.draw(rate_cards()), data.draw(rate_cards())
    rows = data.draw(usage_rows(card, datetime(2025, 12, 1, tzinfo=UTC), 400))
    check(card, candidate, rows, ("customer",), KEYS)


@FEWER
@given(st.data())
def test_shipped_tables(data: st.DataObject) -> None:
    rows = data.draw(usage_rows(SHIPPED, datetime(2026, 7, 25, tzinfo=UTC), 140, OF_SHIPPED))
    check(SHIPPED, DEARER, rows, KEYS, ("customer",))
