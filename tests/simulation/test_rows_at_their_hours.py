"""Rates at hours, and versions from an instant: a simulation equals the sum row by row, also when clocks change."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from candidate_files import candidate
from rows import Row, expected, table_of, with_column

from ratecard import RateCard
from ratecard.load.folder import tables_from
from ratecard.review.sides import Side
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from token_tables import by_tokens, family, text_model

PLAIN = "- {tokens: [input, output], rate: 1}"
BERLIN = """
- {tokens: [input, output], rate: 1}
- {tokens: input, hours: "02:30..06:00", weekdays: [sat, sun, mon], zone: Europe/Berlin, rate: 2}
- {tokens: output, hours: "22:00..02:30", zone: America/New_York, rate: 3}
"""
UTC_HOURS = """
- {tokens: [input, output], rate: 5}
- {tokens: input, hours: "16:30..00:30", zone: UTC, rate: 7}
"""
BETWEEN = "2026-10-25T10:20:30+02:00"


def card(twice: bool = True, contracts: Sequence[str] = ()) -> RateCard:
    """One model with hours of two zones, one with hours of UTC that changes within a day, one with one price."""
    always = by_tokens(PLAIN)
    later = by_tokens(UTC_HOURS, effective=BETWEEN) + always
    models = {"berlin": by_tokens(BERLIN), "later": later if twice else always, "always": always}
    text = family(*(text_model(name, versions) for name, versions in models.items()))
    files = {"hours.yaml": text} | {f"contracts/c{number}.yaml": each for number, each in enumerate(contracts)}
    return RateCard(tables_from({name: each.encode() for name, each in files.items()}))._unproved


def rows() -> Iterator[Row]:
    """A row of each model at and around every half hour of days when clocks change, and one in 1969."""
    for first in (datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 31, 12, tzinfo=UTC)):
        for half in range(2 * 48):
            for seconds in (-0.000001, 0, 0.000001):
                instant = first + timedelta(minutes=30 * half, seconds=seconds)
                for number, model in enumerate(("berlin", "later", "always")):
                    head = {"type": "text", "model": model, "timestamp": instant, "customer": str(half % 3)}
                    yield head | {"prompt_tokens": 1000 + number, "completion_tokens": 10 + half}
    for second in (29, 30, 31):
        head = {"type": "text", "model": "later", "customer": "0", "prompt_tokens": 1000, "completion_tokens": 0}
        yield head | {"timestamp": datetime(2026, 10, 25, 8, 20, second, tzinfo=UTC)}


def row_by_row(prices: RateCard, by: tuple[str, ...], **more: Any) -> dict[tuple[Any, ...], Decimal]:
    return expected(prices, (row | more for row in rows()), by)[0]


def groups(simulation: Simulation, side: int = 0) -> dict[tuple[Any, ...], Decimal]:
    return {row.key: row.amounts[side] for row in simulation.groups}


@pytest.mark.parametrize("by", [("model",), ("model", "day", "customer")])
def test_rows_are_priced_at_their_own_hour(by: tuple[str, ...]) -> None:
    prices = card()
    with simulate(table_of(rows()), Side("now", prices), by=by) as simulation:
        assert groups(simulation) == row_by_row(prices, by)
        assert simulation.unpriced == ()
        # Each set of windows and each version has a shape; models without hours have one for each count of tokens.
        moments = {each.shape.moment for each in simulation.comparison.roll_up.shapes if each.shape.model == "always"}
        assert len(moments) == 1


@pytest.mark.parametrize(
    "column",
    [
        lambda instant: instant.isoformat(),
        lambda instant: (instant + timedelta(hours=5)).replace(tzinfo=None).isoformat(" ") + "+05:00",
    ],
)
def test_timestamps_may_be_text(column: Any) -> None:
    table = with_column(table_of(rows()), "timestamp", [column(row["timestamp"]) for row in rows()])
    prices = card()
    with simulate(table, Side("now", prices), by=("model",)) as simulation:
        assert groups(simulation) == row_by_row(prices, ("model",))


@pytest.mark.parametrize("at", [datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 6, tzinfo=UTC)])
def test_a_side_at_one_instant_has_its_hour_for_every_row(at: datetime) -> None:
    prices = card()
    sides = Side("now", prices), Side("then", prices, at)
    with simulate(table_of(rows()), *sides, by=("model",)) as simulation:
        assert groups(simulation) == row_by_row(prices, ("model",))
        assert groups(simulation, 1) == row_by_row(prices, ("model",), timestamp=at)


def test_a_candidate_is_compared_with_the_same_groups(tmp_path: Path) -> None:
    change = "{set: berlin, where: {tokens: input, zone: Europe/Berlin}, rate: 9}"
    prices = card(twice=False)
    changed = prices.with_candidate(candidate(tmp_path, change, day="2026-10-26"))._unproved
    by = ("model", "day")
    with (
        simulate(table_of(rows()), Side("now", prices), by=by) as first,
        first.against(Side("then", changed)) as simulation,
    ):
        assert groups(simulation) == row_by_row(prices, by)
        assert groups(simulation, 1) == row_by_row(changed, by)
        assert groups(simulation) != groups(simulation, 1)


def test_the_first_instant_of_a_day_is_that_of_a_date() -> None:
    prices = card()
    days = [row["timestamp"].date() for row in rows()]
    table = with_column(table_of(rows()), "timestamp", days)
    with simulate(table, Side("now", prices), by=("model",)) as simulation:
        midnights = (datetime.combine(row["timestamp"].date(), datetime.min.time(), UTC) for row in rows())
        at_midnight = (row | {"timestamp": at} for row, at in zip(rows(), midnights, strict=True))
        assert groups(simulation) == expected(prices, at_midnight, ("model",))[0]
    assert date(2026, 10, 24) in days
