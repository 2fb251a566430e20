"""Weeks, months, and the bridge between two of them: worked out by hand, and against days added up."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from few import card_of_models

import ratecard
from ratecard.base.errors import SimulationError
from ratecard.base.money import from_fraction, round_half_up
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import annualised
from ratecard.simulation.report.tables import bridge_table
from ratecard.simulation.result import Simulation
from reports import NOW, simulated, usage
from token_tables import by_tokens, text_model

OVI, KLING, CLAUDE = "ovi-image-to-video", "kling-o3-pro-text-to-video", "claude-opus-4-6"


def added(simulation: Simulation, name: Any) -> dict[Any, list[Decimal]]:
    """The days of a breakdown, added up by another name of theirs."""
    found: dict[Any, list[Decimal]] = {}
    for row in simulation.table("day"):
        sums = found.setdefault(name(date.fromisoformat(row.key[0] or "")), [Decimal(0)] * 3)
        for number, value in enumerate((Decimal(row.requests), *row.amounts)):
            sums[number] += value
    return found


@pytest.fixture(scope="module")
def daily(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    with simulated(tmp_path_factory.mktemp("daily"), by=["model", "day", "customer"]) as simulation:
        yield simulation


def test_weeks_and_months_are_their_days(daily: Simulation) -> None:
    weeks = {row.key[0]: [Decimal(row.requests), *row.amounts] for row in daily.table("week")}
    months = {row.key[0]: [Decimal(row.requests), *row.amounts] for row in daily.table("month")}
    assert months == added(daily, lambda day: f"{day:%Y-%m}")
    assert weeks == added(daily, lambda day: (day - timedelta(days=day.weekday())).isoformat())
    assert set(weeks) == {"2026-09-28", "2026-10-05"}
    assert daily.total.amounts[0] == sum(each[1] for each in months.values())


@pytest.mark.parametrize("key", ["week", "month"])
def test_usage_is_grouped_by_a_period(daily: Simulation, tmp_path: Path, key: str) -> None:
    with simulated(tmp_path, by=[key, "customer"]) as simulation:
        assert simulation.by == (key, "customer")
        assert simulation.groups == daily.table(key, "customer")
        assert simulation.to_arrow().column_names[0] == key


@pytest.mark.parametrize("end", ["infinity", "-infinity"])
def test_a_date_without_an_end_is_not_an_instant(tmp_path: Path, end: str) -> None:
    path = tmp_path / "usage.parquet"
    row = f"'text' AS type, '{CLAUDE}' AS model, 1000 AS prompt_tokens, 10 AS completion_tokens"
    days = f"unnest(['2026-10-20'::DATE, '{end}'::DATE]) AS timestamp"
    duckdb.execute(f"COPY (SELECT {row}, {days}) TO '{path}'")
    with ratecard.simulate(path, by=["model", "day"]) as found:
        assert [(each.rows, each.reason) for each in found.unpriced] == [(1, "timestamp: missing, or not an instant")]
        assert found.comparison.roll_up.days == (date(2026, 10, 20), date(2026, 10, 20))


_BEYOND = ("9999-12-31", "10000-01-01", "12000-01-01", "0001-01-01", "0044-03-15 (BC)")
_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S")
_HOURS = '\n- {tokens: input, hours: "16:00..24:00", zone: UTC, rate: 2}'


@pytest.mark.parametrize("number", range(4), ids=_TYPES)
@pytest.mark.parametrize("hours", ["", _HOURS], ids=["days", "hours"])
def test_days_that_no_date_of_python_holds_are_no_instants(number: int, hours: str) -> None:
    """With and without hours, and with the day as a key or not: each type with each of both."""
    rates = f"- {{tokens: [input, output], rate: 1}}{hours}"
    card = card_of_models(text_model("always", by_tokens(rates, effective="2025-01-01")))
    row = "'text' AS type, 'always' AS model, 1000 AS prompt_tokens, 10 AS completion_tokens"
    days = ", ".join(f"'{day}'::{_TYPES[number]}" for day in _BEYOND)
    rows = duckdb.sql(f"SELECT {row}, unnest([{days}]) AS timestamp")
    assert rows
    usage = rows.to_arrow_table()
    by = ["day", "month"] if (number < 2) == bool(hours) else []
    with ratecard.simulate(usage, card, by=by) as found:
        said = {each.reason.partition(".")[0]: each.rows for each in found.unpriced}
        before = "No price for always"
        assert said == {"timestamp: missing, or not an instant": 3, before: 1}
        assert found.reading.odd
        assert found.comparison.roll_up.days in (None, (date.min, date.max))


def test_texts_of_days_that_no_date_of_python_holds_are_no_instants(tmp_path: Path) -> None:
    path, odd = tmp_path / "usage.csv", ("0000-12-31", "9999-12-31T23:30:00-01:00", "0001-01-01T00:30:00+01:00")
    path.write_text("".join(["type,model,characters,timestamp\n", *(f"speech,tts-kokoro,5,{day}\n" for day in odd)]))
    with ratecard.simulate(path, by=["day"]) as found:
        assert [(each.rows, each.reason) for each in found.unpriced] == [(3, "timestamp: missing, or not an instant")]


def test_a_column_of_the_usage_called_month_is_itself(tmp_path: Path) -> None:
    table = usage().append_column("month", pyarrow.array(["spring"] * 240))
    with ratecard.simulate(table, NOW, by=["month"]) as simulation:
        assert [row.key for row in simulation.groups] == [("spring",)]


@pytest.fixture(scope="module")
def two_months() -> Iterator[Simulation]:
    """Ovi: 4 clips of 0.22, then 6. Kling: 2 of 5 seconds, then 1 of 10. A model of each month alone."""
    rows: list[tuple[str, str, str | None, int | None]] = []
    rows += [("2026-09-30", OVI, None, None)] * 4 + [("2026-10-01", OVI, None, None)] * 6
    rows += [("2026-09-30", KLING, "5s", None)] * 2 + [("2026-10-02", KLING, "10s", None)]
    rows += [("2026-09-29", CLAUDE, None, 100), ("2026-10-03", "openai-gpt-54", None, 50)]
    table: list[dict[str, Any]] = [
        {"timestamp": day, "type": "text" if tokens else "video", "model": model, "duration": duration,
         "prompt_tokens": tokens, "completion_tokens": tokens and 0}
        for day, model, duration, tokens in rows
    ]  # fmt: skip
    with ratecard.simulate(pyarrow.Table.from_pylist(table), by=["model", "day"]) as found:
        yield found


def test_models_of_one_period_that_brought_the_same_are_in_order_of_their_names() -> None:
    """As nothing else says their order, least of all the chance by which a process hashes text."""
    names, rates = [f"model-{letter}" for letter in "abcdefgh"], "- {tokens: [input, output], rate: 1}"
    version = by_tokens(rates, effective="2025-01-01")
    card = card_of_models(*(text_model(name, version) for name in ("always", *names)))
    made = [("2026-09-01", "always"), ("2026-10-01", "always"), *(("2026-09-02", name) for name in reversed(names))]
    usage = {"type": "text", "prompt_tokens": 1000, "completion_tokens": 0}
    rows = [usage | {"model": name, "timestamp": f"{day}T00:00:00Z"} for day, name in made]
    with ratecard.simulate(pyarrow.Table.from_pylist(rows), card, by=["model", "month"]) as found:
        bridge = found.bridge("2026-09", "2026-10")
    assert len(set(bridge.gone.values())) == 1
    assert list(bridge.gone) == names


def test_a_size_is_beside_the_price(tmp_path: Path) -> None:
    with simulated(tmp_path, by=["model", "week"]) as simulation:
        found = simulation.bridge("2026-09-28", "2026-10-05")
    text = next(step for step in found.steps if step.model == CLAUDE)
    video = next(step for step in found.steps if step.model == KLING)
    assert text.sizes[0] is not None
    assert text.sizes[1] is not None
    assert text.sizes[0] < text.sizes[1]
    assert video.sizes == (None, None)


def test_periods_that_are_not_there_are_refused(two_months: Simulation) -> None:
    for pair, words in (
        (("2026-09", "2026-12"), "no request of 2026-12 has a price. The months are: 2026-09, 2026-10"),
        (("2026-09", "2026-10-01"), "2026-09 and 2026-10-01 are not periods of one length"),
        (("2026-09", "2026-09"), "a bridge leads from one period to another, and both are 2026-09"),
        (("9999-12", "2026-09"), "'9999-12' is not a month. Write it like 2026-10"),
        (("9999-12-31", "2026-09-30"), "'9999-12-31' is not a day. Write it like 2026-10-05"),
    ):
        with pytest.raises(SimulationError) as refused:
            two_months.bridge(*pair)
        assert str(refused.value) == words


def test_the_table_of_a_bridge_adds_up_as_it_is_shown(two_months: Simulation) -> None:
    report = Report(two_months)
    table = bridge_table(report, two_months.bridge("2026-09", "2026-10"))
    assert table.total is not None
    for column in range(5, 10):
        amounts = [row[column] for row in table.rows if isinstance(row[column], Decimal)]
        assert sum(each for each in amounts if isinstance(each, Decimal)) == table.total[column], table.columns[column]
    assert [row[0] for row in table.rows[-2:]] == [
        "claude-opus-4-6 (only in 2026-09)",
        "openai-gpt-54 (only in 2026-10)",
    ]
    before, after = (row.amounts[0] for row in two_months.table("month"))
    assert table.total[-1] == round_half_up(after, 2) - round_half_up(before, 2)


def test_a_year_at_the_pace_of_the_usage_needs_its_days(daily: Simulation, tmp_path: Path) -> None:
    year = from_fraction(Fraction(daily.total.difference()) * 365 / 11, 2)
    assert annualised(Report(daily), 1).startswith(
        f"That is +${year} a year, at the pace of all 11 days of the usage (2026-10-01 to 2026-10-11, x 365 / 11)."
    )
    with simulated(tmp_path, by=["model"]) as simulation:
        assert annualised(Report(simulation), 1) == ""
