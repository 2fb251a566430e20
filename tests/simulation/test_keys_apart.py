"""Keys of many values are read apart from the shapes of usage: the answers are those of one query, digit for digit."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_answers import CANDIDATE

from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.pricing import pricer
from ratecard.simulation.results import comparison
from ratecard.simulation.simulate import simulate
from ratecard.simulation.simulation import Simulation
from ratecard.simulation.usage.engines import duckdb_engine
from ratecard.simulation.usage.engines.duckdb_sql import DuckDbSql
from ratecard.simulation.usage.roll_up_sql import Grouping
from shipped import CARD

ALWAYS, NEVER = -1, 10**9
LATER = CANDIDATE.format(factor="1.2").replace("autumn", "later").replace("2026-10-01", "2026-10-20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("apart")
    demo_usage(found / "usage.parquet", 3_000, seed=3)
    (found / "autumn.yaml").write_text(CANDIDATE.format(factor="1.1"))
    (found / "later.yaml").write_text(LATER)
    return found


@pytest.fixture
def simulated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Simulate the usage by some keys; of more values than `few` they are read apart."""

    @contextmanager
    def found(few: int, *by: str, **how: Any) -> Iterator[Simulation]:
        monkeypatch.setattr(duckdb_engine, "_FEW_KEYS", few)
        usage, candidate = folder / "usage.parquet", folder / "autumn.yaml"
        with simulate(usage, CARD, candidate, by=by, costs=CARD, **how) as simulation:
            assert any(taken.facts for taken in simulation.comparison.roll_up.taken) == (few == ALWAYS)
            yield simulation

    return found


def answers(found: Simulation, later: Path) -> list[Any]:
    """Everything that a simulation says, also of a candidate of another day."""
    again = found.against(later)
    tables = [table for each in (found, again) for table in (each.total, each.groups, each.by_model)]
    days = [each.since() for each in (found, again)]
    costs = [found.costs_by(*found.by), found.margin()]
    return [*tables, days, found.attribution(), again.attribution(), costs, found.unpriced, found.size(*found.by)]


@pytest.mark.parametrize("by", [("customer",), ("model", "day", "customer"), ("region", "month", "type", "customer")])
def test_the_answers_are_those_of_one_query(simulated: Callable[..., Any], folder: Path, by: tuple[str, ...]) -> None:
    # By customer alone, days are not kept apart.
    later = folder / ("autumn.yaml" if by == ("customer",) else "later.yaml")
    with simulated(NEVER, *by) as whole, simulated(ALWAYS, *by) as apart:
        assert whole.priced > 2_000
        assert answers(whole, later) == answers(apart, later)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_groups_are_written_in_parts(
    simulated: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    with simulated(ALWAYS, "customer", "model") as found:
        whole, parts = tmp_path / f"whole{ending}", tmp_path / f"parts{ending}"
        found.write(whole)
        assert len(found.comparison.parts()) == 1
        monkeypatch.setattr(comparison, "_MOST_FACTS", 400)
        assert len(found.comparison.parts()) > 3
        found.write(parts)
        rows = [duckdb.connect().execute(f"FROM '{file}'").fetchall() for file in (whole, parts)]
        assert rows[0] == rows[1]
        assert len(rows[0]) == len(found.groups)


def test_keys_of_few_values_are_grouped_at_once(simulated: Callable[..., Any], folder: Path) -> None:
    with simulate(folder / "usage.parquet", CARD, by=("region",)) as found:
        assert not any(taken.facts for taken in found.comparison.roll_up.taken)


def test_shapes_of_one_number_are_told_apart(
    simulated: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with simulated(NEVER, "customer") as found:
        expected = found.groups

    def hashed(_: DuckDbSql, values: Iterable[str]) -> str:
        return f"hash({', '.join(values)}) % 7"

    monkeypatch.setattr(DuckDbSql, "hashed", hashed)
    monkeypatch.setattr(duckdb_engine, "_FEW_KEYS", ALWAYS)
    with simulate(folder / "usage.parquet", CARD, folder / "autumn.yaml", by=("customer",)) as weak:
        assert not any(taken.facts for taken in weak.comparison.roll_up.taken)
        assert weak.groups == expected


def test_other_rows_the_second_time_are_refused(simulated: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    facts_of = Grouping.facts_of

    def some(self: Grouping, groups: str, integer: str) -> str:
        return f"{facts_of(self, groups, integer)} WHERE requests > 1"

    monkeypatch.setattr(Grouping, "facts_of", some)
    with pytest.raises(SimulationError, match="changed while it was read"), simulated(ALWAYS, "customer"):
        pass


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "VARCHAR"])
def test_each_instant_around_a_change_is_in_its_period(folder: Path, type_: str) -> None:
    # With days among the keys, no period is worked out by the engine.
    edges = [each.date() for each in CARD.boundaries()]
    steps = ("- INTERVAL 1 DAY", "- INTERVAL 1 SECOND", "", "+ INTERVAL 1 DAY")
    days = ", ".join(f"CAST(TIMESTAMP '{edge}' {step} AS {type_})" for edge in edges for step in steps)
    models = ", ".join(f"'{name}'" for name, model in CARD.tables.models.items() if model.type == "text")
    rows = f"unnest([{days}, NULL]) AS timestamp, 'all' AS customer, 'text' AS type, 7 AS prompt_tokens"
    named = f"(SELECT unnest([{models}]) AS model)"
    with duckdb.connect() as connection:
        selected = connection.sql(f"FROM {named} SELECT {rows}, 3 AS completion_tokens, model")
        assert selected
        frame = selected.to_arrow_table()
    with (
        simulate(frame, CARD, folder / "autumn.yaml", by=["customer"]) as periods,
        simulate(frame, CARD, folder / "autumn.yaml", by=["day", "customer"]) as daily,
    ):
        assert periods.total.amounts[0] > 0
        found = [(each.table("customer"), each.by_model, each.priced, each.rows) for each in (periods, daily)]
        assert found[0] == found[1]


def test_what_is_not_remembered_is_priced_again(
    simulated: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = folder / "autumn.yaml"
    with simulated(NEVER, "customer") as remembering:
        monkeypatch.setattr(pricer, "_MOST_FOUND", 10)
        with simulated(NEVER, "customer") as forgetting:
            assert answers(remembering, later) == answers(forgetting, later)
