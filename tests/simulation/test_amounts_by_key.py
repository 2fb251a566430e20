"""Amounts by customer are added up as rows are read a second time; what else is asked by customer reads them again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from ledgers import CHAT, HEAD, card_with, export, line
from pyarrow import parquet
from rows import table_of
from test_answers import CANDIDATE
from test_oracle import MIXED
from usage import row

from ratecard.base.money import total
from ratecard.changes.sides import Side
from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.pricing.sides import AsBilled
from ratecard.simulation.results import comparison
from ratecard.simulation.simulate import simulate
from ratecard.simulation.simulation import Simulation
from ratecard.simulation.usage.engines import duckdb_engine
from ratecard.simulation.usage.roll_up_sql import AddedByKey, CellPrices, Grouping, Summand
from shipped import CARD

# Of some models of the usage what they cost falls away, and of others it is dearer.
FILES = {
    "dearer.yaml": CANDIDATE.format(factor="1.1"),
    "mixed.yaml": MIXED,
    "other.yaml": MIXED.replace("candidate: mixed", "candidate: other").replace("factor: 1.1", "factor: 1.2"),
}
# After the first day of all of these.
LATE = {"timestamp": datetime(2026, 10, 20, tzinfo=UTC)}
Simulated = Callable[..., Simulation]


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of however few values are read apart, and of however few rows no column that is not needed is read again."""
    monkeypatch.setattr(duckdb_engine, "_FEW_KEYS", -1)
    monkeypatch.setattr(duckdb_engine, "_ROWS_OF_A_GROUP", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("by_key")
    demo_usage(found / "usage.parquet", 3_000, seed=3)
    for name, text in FILES.items():
        (found / name).write_text(text)
    return found


@pytest.fixture
def simulated(folder: Path) -> Iterator[Simulated]:
    """Simulate the usage at candidates of the folder."""
    opened = []

    def found(candidates: list[str], *by: str, usage: Any = folder / "usage.parquet", **how: Any) -> Simulation:
        opened.append(simulate(usage, CARD, [folder / each for each in candidates], by=by, **how))
        return opened[-1]

    yield found
    for each in opened:
        each.close()


def is_by_key(found: Simulation) -> bool:
    return found.comparison.roll_up.lacks_facts


def answers(found: Simulation, *keys: str) -> list[Any]:
    """What is said by these keys."""
    run = found.comparison.roll_up.workspace.connection.execute
    written = sorted(map(repr, run(found.comparison.groups()).fetchall()))
    tables = [found.groups, found.total, found.size(*keys), *(found.table(key) for key in keys)]
    candidates = range(1, len(found.sides))
    customers = [found.customers("customer", candidate).distribution for candidate in candidates]
    uneven = [(found.lost(candidate), found.new(candidate)) for candidate in candidates]
    return [*tables, customers, uneven, written, found.to_arrow("groups"), found.to_arrow("customers")]


@pytest.mark.parametrize(
    ("candidates", "by"), [(["dearer.yaml"], ("region", "customer")), (["mixed.yaml", "dearer.yaml"], ("customer",))]
)
def test_they_are_those_of_facts(simulated: Simulated, candidates: list[str], by: tuple[str, ...]) -> None:
    # Costs are added up of facts, so these are made.
    added, facts = simulated(candidates, *by), simulated(candidates, *by, costs=CARD)
    assert (is_by_key(added), is_by_key(facts)) == (True, False)
    assert bool(added.total.beside(1).lost_requests) == ("mixed.yaml" in candidates)
    facts.costs = None
    assert answers(added, *by) == answers(facts, *by)
    assert is_by_key(added)


@pytest.mark.parametrize("rows", [4, 40])
def test_amounts_of_more_than_64_bits(simulated: Simulated, shorts: list[str], rows: int) -> None:
    """Of 40 rows the tokens of a customer have more too; of 4 rows, as many tokens as 64 bits hold are told apart."""
    count = 2**59 - 1

    def agree(prompts: list[int]) -> Simulation:
        tokens = [{"prompt_tokens": each, "completion_tokens": each, "cached_tokens": 0} for each in prompts]
        texts = [row("text", "claude-sonnet-4-6", f"{at % 2}", **each) | LATE for at, each in enumerate(tokens)]
        added = simulated(["mixed.yaml"], "customer", usage=table_of(texts))
        assert is_by_key(added)
        facts = simulated(["mixed.yaml"], "customer", usage=table_of(texts), costs=CARD)
        assert added.groups == facts.groups
        return added

    assert agree([count] * rows).groups[0].quantities[0] == rows // 2 * count
    assert (shorts == ["FALSE"]) == (rows == 40)
    if rows == 4:
        room = int(shorts[-1].rpartition(" ")[2])
        agree([room, room + 1, count, 1])
        assert int(shorts[-1].rpartition(" ")[2]) == room
        agree([1, 1, 1, 1])
        assert shorts[-1] == "TRUE"


def test_what_has_no_price_may_be_longer_than_64_bits(simulated: Simulated) -> None:
    seconds = {"unknown": Decimal(f"999999999.{'9' * 12}"), "nvidia/parakeet-tdt-0.6b-v3": Decimal("1.5")}
    rows = [row("transcription", name, "one", seconds=each) | LATE for name, each in seconds.items()]
    rows.append(row("text", "claude-sonnet-4-6", "one", prompt_tokens=10, completion_tokens=5) | LATE)
    added = simulated(["mixed.yaml"], "customer", usage=table_of(rows))
    assert is_by_key(added) and (added.rows, added.priced) == (3, 2)
    facts = simulated(["mixed.yaml"], "customer", usage=table_of(rows), costs=CARD)
    assert added.groups == facts.groups


@pytest.fixture
def shorts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of which rows 64 bits hold what is added up, of each grouping of a usage."""
    found, amounts = list[str](), duckdb_engine.DuckDbUsage.amounts

    def seen(self: duckdb_engine.DuckDbUsage, given: Sequence[CellPrices], *others: Any, **how: Any) -> AddedByKey:
        found.extend(each.short for each in given)
        return amounts(self, given, *others, **how)

    monkeypatch.setattr(duckdb_engine.DuckDbUsage, "amounts", seen)
    return found


def test_prices_that_are_zero_in_all_cells_are_not_multiplied(
    simulated: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums, amounts = list[Mapping[str, Summand]](), duckdb_engine.DuckDbUsage.amounts

    def seen(self: duckdb_engine.DuckDbUsage, found: Sequence[CellPrices], *others: Any, **how: Any) -> AddedByKey:
        sums.extend(each.sums for each in found)
        return amounts(self, found, *others, **how)

    monkeypatch.setattr(duckdb_engine.DuckDbUsage, "amounts", seen)
    text = row("text", "claude-sonnet-4-6", "one", prompt_tokens=10, completion_tokens=5) | LATE
    for tokens, expected in ((text, "q0 * p0_1 + "), ({**text, "web_search_requests": 2}, "p0_0 + q0 * p0_1 + ")):
        sums.clear()
        assert simulated(["dearer.yaml"], "customer", usage=table_of([tokens])).total.amounts[0] > 0
        assert [each["amount0"].number.partition("q1")[0] for each in sums] == [expected]


def test_cells_of_one_number_are_told_apart(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, is_unique = answers(simulated(["mixed.yaml"], "customer"), "customer"), duckdb_engine.is_unique

    def weak(connection: duckdb.DuckDBPyConnection, hashed: str, table: str) -> bool:
        return table != "groups2" and is_unique(connection, hashed, table)

    monkeypatch.setattr(duckdb_engine, "is_unique", weak)
    found = simulated(["mixed.yaml"], "customer")
    assert [taken.lacks_facts for taken in found.comparison.roll_up.taken] == [True, False, True]
    assert answers(found, "customer") == expected


def test_a_column_that_groups_need_not_be_told_apart_by_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, columns = duckdb.connect(), ("type", "model", "seconds")
    groups = "SELECT 'text' AS type, range AS model, NULL AS seconds, 7 AS requests FROM range(1_000)"
    connection.execute(f"CREATE TABLE groups AS {groups}")
    assert duckdb_engine.telling(connection, columns, "groups") == ["model"]
    # The first groups do not show that the type is needed.
    connection.execute("INSERT INTO groups VALUES ('video', 999, NULL, 7)")
    assert duckdb_engine.telling(connection, columns, "groups") == ["type", "model"]
    monkeypatch.setattr(duckdb_engine, "_ROWS_OF_A_GROUP", 7)
    assert duckdb_engine.telling(connection, columns, "groups") == columns


@pytest.mark.parametrize(("units", "signs"), [("60000.123456789012", "-"), ("100.000000000000000001", "-+")])
def test_what_a_bill_gives_back_is_added_as_exactly(tmp_path: Path, units: str, signs: str) -> None:
    """Quantities of bills are below zero, so that a small sum may be of large ones."""
    charged = [Decimal(units) + Decimal(number).scaleb(-12) for number in range(21)]
    rows = [
        f"{line(CHAT, '2', f'{-sign * each}', f'{sign * round(2 * each, 2)}')},customer-{number % 7}"
        for number, each in enumerate(charged)
        for sign in [{"-": -1, "+": 1}[sign] for sign in signs]
    ]
    file = export(tmp_path, *rows, head=f"{HEAD},customer")
    billed = AsBilled("as-billed", card_with())
    dearer = Side("dearer", card_with(("{tokens: input, rate: 2}", "{tokens: input, rate: 2.02}")))
    with simulate(file, billed, dearer, by=("customer",)) as by_key, simulate(file, billed, dearer, by=()) as together:
        assert is_by_key(by_key)
        assert by_key.total == together.total and by_key.total.requests
        assert len(by_key.groups) == 7
        assert total([row.amounts[1] for row in by_key.groups]) == together.total.amounts[1]


def test_what_else_is_asked_reads_the_usage_again(simulated: Simulated) -> None:
    added, facts = simulated(["dearer.yaml"], "customer"), simulated(["dearer.yaml"], "customer", costs=CARD)
    assert added.table("customer", "model") == facts.table("customer", "model")
    assert not is_by_key(added)
    assert answers(added, "customer") == answers(simulated(["dearer.yaml"], "customer"), "customer")


def test_a_further_candidate_reads_the_usage_again(simulated: Simulated, folder: Path) -> None:
    added, other = simulated(["mixed.yaml"], "customer"), folder / "other.yaml"
    by_model = added.against(other).by_model
    assert is_by_key(added)
    further = added.against(other)
    assert further.groups == simulated(["other.yaml"], "customer").groups
    assert further.by_model == by_model
    assert not is_by_key(added)
    with added.trying(other) as tried:
        assert tried.groups == further.groups


@pytest.mark.parametrize(("candidates", "by"), [([], ("customer",)), (["dearer.yaml"], ("model", "customer"))])
def test_facts_are_made_where_they_are_asked_for_or_no_more_than_groups(
    simulated: Simulated, candidates: list[str], by: tuple[str, ...]
) -> None:
    assert not is_by_key(simulated(candidates, *by))


@pytest.mark.parametrize("by", [("customer",), ("region", "customer")], ids=", ".join)
@pytest.mark.parametrize("costs", [None, "60%"], ids=["amounts by key", "facts"])
def test_groups_are_written_in_parts(
    simulated: Simulated,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by: tuple[str, ...],
    costs: str | None,
) -> None:
    """The first part has no rows without a key, the last one has some: the file has one schema, and all of them."""
    usage = parquet.read_table(folder / "usage.parquet")
    keys = [None if at % 3 == 0 else key for at, key in enumerate(usage.column(by[0]).to_pylist())]
    usage = usage.set_column(usage.column_names.index(by[0]), by[0], pyarrow.array(keys))
    found = simulated(["mixed.yaml"], *by, usage=usage, costs=costs)
    found.write(tmp_path / "whole.csv", tmp_path / "whole.parquet")
    monkeypatch.setattr(comparison, "_MOST_FACTS", 50)
    assert len(found.comparison.parts()) > 2
    found.write(tmp_path / "parts.csv", tmp_path / "parts.parquet")
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    whole, parts = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("whole", "parts"))
    assert whole.column(by[0]).null_count and parts.equals(whole)
    assert found.size(*by) == len(found.groups) == len(parts)
    assert is_by_key(found) == (costs is None)


@pytest.mark.parametrize("type_", [pyarrow.float64(), pyarrow.float32()])
def test_zeros_of_both_signs_are_one_key(simulated: Simulated, type_: pyarrow.DataType) -> None:
    keys = [0.0, -0.0, 0.25, -0.25, None, -0.0]
    usage = [row("text", "claude-sonnet-4-6", "", **LATE, prompt_tokens=1, completion_tokens=1) for _ in keys]
    table = table_of(usage).append_column("share", pyarrow.array(keys, type_))
    expected = {"0.0": 3, "0.25": 1, "-0.25": 1, None: 1}
    for costs in (None, "60%"):
        found = simulated(["dearer.yaml"], "share", usage=table, costs=costs)
        assert {group.key[0]: group.requests for group in found.groups} == expected
        assert is_by_key(found) == (costs is None)


def test_the_columns_that_are_written_do_not_depend_on_the_rows(simulated: Simulated, tmp_path: Path) -> None:
    """Files of two months can be put together, though in one of them each row has a key."""
    found = []
    for month, customers in (("one", ["a", "b"]), ("other", ["a", None])):
        usage = [row("text", "claude-sonnet-4-6", "", **LATE) | {"customer": each} for each in customers]
        usage = [each | {"prompt_tokens": 1, "completion_tokens": 1} for each in usage]
        simulated(["mixed.yaml"], "customer", usage=table_of(usage)).write(tmp_path / f"{month}.parquet")
        found.append(parquet.read_schema(tmp_path / f"{month}.parquet"))
    assert found[0] == found[1]
    assert all(field.nullable for field in found[0])


def test_other_rows_the_second_time_are_refused(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts_of = Grouping.amounts_of

    def doubled(self: Grouping, *given: Any, **how: Any) -> str:
        return amounts_of(self._replace(rows=f"{self.rows} UNION ALL {self.rows}"), *given, **how)

    monkeypatch.setattr(Grouping, "amounts_of", doubled)
    with pytest.raises(SimulationError, match="changed while it was read"):
        simulated(["dearer.yaml"], "customer")


def test_a_file_that_changes_after_the_first_answer_is_refused(
    simulated: Simulated, folder: Path, tmp_path: Path
) -> None:
    usage = tmp_path / "usage.parquet"
    usage.write_bytes((folder / "usage.parquet").read_bytes())
    found = simulated(["mixed.yaml"], "customer", usage=usage)
    groups = found.groups
    parquet.write_table(parquet.read_table(usage).slice(1), tmp_path / "new.parquet")
    (tmp_path / "new.parquet").replace(usage)
    further = found.against(folder / "other.yaml")
    assert further.by_model
    with pytest.raises(SimulationError, match=r"usage\.parquet was changed or replaced since the usage was read"):
        _ = further.groups
    assert found.table("customer") == groups


def test_without_a_price_there_is_nothing_to_add(simulated: Simulated) -> None:
    usage = pyarrow.table({"type": ["none"], "customer": ["a"], "model": ["b"], "timestamp": ["2026-10-02"]})
    with duckdb.connect() as connection:
        empty = connection.from_arrow(usage).filter("FALSE")
        found = simulated(["dearer.yaml"], "customer", usage=empty)
    assert (found.rows, found.groups, found.total.requests) == (0, (), 0)
    with pytest.raises(SimulationError, match="1 of 1 rows cannot be priced"):
        simulated(["dearer.yaml"], "customer", usage=usage)
