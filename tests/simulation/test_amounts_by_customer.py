"""Amounts by keys that say nothing of the price, such as customers: as exact as the total, however they are written."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from candidate_files import candidate
from ledgers import CHAT, HEAD, card_with, export, line
from pyarrow import parquet
from rows import table_of, with_column
from test_answers import AUTUMN
from test_oracle import MIXED
from usage import row

from ratecard.base.errors import SimulationError
from ratecard.base.money import total
from ratecard.review.sides import Side
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from shipped import FEW as CARD

# A time after the first day of all of these models.
LATE = {"timestamp": datetime(2026, 10, 20, tzinfo=UTC)}
Simulated = Callable[..., Simulation]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("by_customer")
    demo_usage(found / "usage.parquet", 3_000, seed=3, card=CARD)
    candidate(found, *AUTUMN)
    candidate(found, *MIXED, name="mixed", day="2026-10-12")
    return found


@pytest.fixture
def simulated(folder: Path) -> Iterator[Simulated]:
    """Simulate usage at a candidate of the folder."""
    opened = []

    def found(file: str, *by: str, usage: Any = folder / "usage.parquet", **how: Any) -> Simulation:
        opened.append(simulate(usage, CARD, folder / file, by=by, **how))
        return opened[-1]

    yield found
    for each in opened:
        each.close()


def test_amounts_of_more_than_64_bits(simulated: Simulated) -> None:
    """Of 40 rows the tokens of a customer have more too."""
    count = 2**59 - 1
    tokens = [{"prompt_tokens": count - at, "completion_tokens": count, "cached_tokens": 0} for at in range(40)]
    rows = [row("text", "claude-sonnet-4-6", f"{at % 2}", **each) | LATE for at, each in enumerate(tokens)]
    found = simulated("mixed.yaml", "customer", usage=table_of(rows))
    even, odd = found.groups
    assert even.quantities[0] == 20 * count - sum(range(0, 40, 2)) > 2**63
    assert total([even.amounts[1], odd.amounts[1]]) == simulated("mixed.yaml", usage=table_of(rows)).total.amounts[1]
    # A tenth more than 3.60 and 18 US dollars per million tokens.
    assert even.amounts[1] == (Decimal("3.96") * int(even.quantities[0]) + Decimal("19.80") * 20 * count) / 10**6


def test_what_has_no_price_may_be_longer_than_64_bits(simulated: Simulated) -> None:
    seconds = {"unknown": Decimal(f"999999999.{'9' * 12}"), "nvidia/parakeet-tdt-0.6b-v3": Decimal("1.5")}
    rows = [row("transcription", name, "one", seconds=each) | LATE for name, each in seconds.items()]
    rows.append(row("text", "claude-sonnet-4-6", "one", prompt_tokens=10, completion_tokens=5) | LATE)
    found = simulated("mixed.yaml", "customer", usage=table_of(rows))
    assert (found.rows, found.priced, found.groups[0].requests) == (3, 2, 2)
    assert found.groups[0].amounts == found.total.amounts


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
    with (
        simulate(file, billed, dearer, by=("customer",)) as by_customer,
        simulate(file, billed, dearer, by=()) as together,
    ):
        assert by_customer.total == together.total and by_customer.total.requests
        assert len(by_customer.groups) == 7
        assert total([row.amounts[1] for row in by_customer.groups]) == together.total.amounts[1]


@pytest.mark.parametrize(
    ("by", "costs"),
    [("customer", None), ("customer", "60%"), ("region, month, customer", None), ("customer, model", "60%")],
)
def test_what_is_written_is_what_the_groups_say(
    simulated: Simulated, folder: Path, tmp_path: Path, by: str, costs: str | None
) -> None:
    """In the order of the keys; rows without one come last."""
    usage, named = parquet.read_table(folder / "usage.parquet"), by.split(", ")
    keys = [None if at % 3 == 0 else key for at, key in enumerate(usage.column("customer").to_pylist())]
    found = simulated("mixed.yaml", *named, usage=with_column(usage, "customer", keys), costs=costs)
    found.write(tmp_path / "groups.parquet")
    written = parquet.read_table(tmp_path / "groups.parquet")
    assert written.column("customer").null_count
    rows = written.select([*named, "requests", "current", "mixed"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [(*row.key, row.requests, *row.amounts) for row in found.groups]
    assert found.size(*named) == len(found.groups) == len(rows)


def test_a_key_with_the_name_of_an_amount_is_written_beside_it(simulated: Simulated, tmp_path: Path) -> None:
    """Also where only capitals differ: the engine then took the key for the amount."""
    rows = [row("text", "claude-sonnet-4-6", "", **LATE, prompt_tokens=at + 1, completion_tokens=1) for at in range(3)]
    usage, keys = table_of(rows), ("Requests", "by_requests", "CURRENT", "mixed lost")
    for key in keys:
        usage = usage.append_column(key, pyarrow.array([f"{key} {at}" for at in range(3)]))
    found = simulated("mixed.yaml", *keys, usage=usage)
    files = [tmp_path / f"groups.{ending}" for ending in ("csv", "parquet", "json")]
    found.write(*files)
    written = duckdb.read_csv(str(files[0])).to_arrow_table(), parquet.read_table(files[1]), found.to_arrow()
    named = ["by_Requests", "by_requests 2", "by_CURRENT", "by_mixed lost"]
    listed = [*(table.to_pylist() for table in written), json.loads(files[2].read_text())["groups"]]
    for rows_written in listed:
        cells = [[row[name] for name in (*named, "requests", "current", "mixed")] for row in rows_written]
        amounts = [(tuple(row[:4]), int(row[4]), tuple(Decimal(str(amount)) for amount in row[5:])) for row in cells]
        assert amounts == [(group.key, group.requests, group.amounts) for group in found.groups]


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "VARCHAR"])
def test_each_instant_around_a_change_is_in_its_period(folder: Path, type_: str) -> None:
    # If the day is a key, the engine computes no period.
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
        simulate(frame, CARD, folder / "dearer.yaml", by=["customer"]) as periods,
        simulate(frame, CARD, folder / "dearer.yaml", by=["day", "customer"]) as daily,
    ):
        assert periods.total.amounts[0] > 0
        found = [(each.table("customer"), each.by_model, each.priced, each.rows) for each in (periods, daily)]
        assert found[0] == found[1]


@pytest.mark.parametrize("type_", [pyarrow.float64(), pyarrow.float32()])
def test_zeros_of_both_signs_are_one_key(simulated: Simulated, type_: pyarrow.DataType) -> None:
    keys = [0.0, -0.0, 0.25, -0.25, None, -0.0]
    usage = [row("text", "claude-sonnet-4-6", "", **LATE, prompt_tokens=1, completion_tokens=1) for _ in keys]
    table = table_of(usage).append_column("share", pyarrow.array(keys, type_))
    found = simulated("dearer.yaml", "share", usage=table)
    assert {group.key[0]: group.requests for group in found.groups} == {"0.0": 3, "0.25": 1, "-0.25": 1, None: 1}


def test_the_columns_that_are_written_do_not_depend_on_the_rows(simulated: Simulated, tmp_path: Path) -> None:
    """Files of two months can be put together, though in one of them each row has a key."""
    found = []
    for month, customers in (("one", ["a", "b"]), ("other", ["a", None])):
        usage = [row("text", "claude-sonnet-4-6", "", **LATE) | {"customer": each} for each in customers]
        usage = [each | {"prompt_tokens": 1, "completion_tokens": 1} for each in usage]
        simulated("mixed.yaml", "customer", usage=table_of(usage)).write(tmp_path / f"{month}.parquet")
        found.append(parquet.read_schema(tmp_path / f"{month}.parquet"))
    assert found[0] == found[1]
    assert all(field.nullable for field in found[0])


def test_without_a_price_there_is_nothing_to_add(simulated: Simulated) -> None:
    usage = pyarrow.table({"type": ["none"], "customer": ["a"], "model": ["b"], "timestamp": ["2026-10-02"]})
    with duckdb.connect() as connection:
        empty = connection.from_arrow(usage).filter("FALSE")
        found = simulated("dearer.yaml", "customer", usage=empty)
    assert (found.rows, found.groups, found.total.requests) == (0, (), 0)
    with pytest.raises(SimulationError, match="1 of 1 rows cannot be priced"):
        simulated("dearer.yaml", "customer", usage=usage)


def test_ranges_divide_the_groups_and_are_in_their_order(simulated: Simulated, folder: Path) -> None:
    """Of one key that has too many groups too; rows without a customer are in one of them."""
    some = "* REPLACE (CASE WHEN hash(request_id) % 9 > 0 THEN customer END AS customer)"
    keys = ("model", "customer", "day")
    rows = duckdb.read_parquet(str(folder / "usage.parquet")).project(some).to_arrow_table()
    compared = simulated("dearer.yaml", *keys, usage=rows).comparison
    connection = compared.roll_up.workspace.connection
    names = ", ".join(f"{compared.name(key)} AS {key}" for key in keys)
    groups = connection.view(compared.roll_up.groups).project(names).order(", ".join(keys)).fetchall()
    for most in (30, 200, 10**6):
        compared.roll_up.workspace.groups_at_once = most
        divided = [connection.sql(f"FROM {part}").project(names).fetchall() for part in compared.ranges()]
        in_order = (sorted(each, key=lambda row: [(key is None, key) for key in row]) for each in divided)
        assert [row for each in in_order for row in each] == groups
        assert all(0 < len(each) <= most or len(set(each)) == 1 for each in divided)
        assert len(divided) == 1 or most < 10**6


def test_ranges_are_written_and_counted_like_all_groups_at_once(simulated: Simulated, tmp_path: Path) -> None:
    """As text the same bytes; a roll-up of few groups is written at once, one of millions range by range."""
    found, keys = simulated("mixed.yaml", "model", "customer", "day"), ("model", "customer", "day")
    at_once, by_range = tmp_path / "at_once", tmp_path / "by_range"
    for place in (at_once, by_range):
        place.mkdir()
        found.write(*(place / f"groups.{ending}" for ending in ("csv", "json", "parquet")))
        assert found.size(*keys) == len(found.table(*keys)) > 300
        found.comparison.roll_up.workspace.groups_at_once = 700
    for name in ("groups.csv", "groups.json"):
        assert (by_range / name).read_bytes() == (at_once / name).read_bytes()
    tables = [parquet.read_table(place / "groups.parquet") for place in (at_once, by_range)]
    assert tables[0].equals(tables[1])


def test_answers_without_the_memory_for_them_say_so(simulated: Simulated) -> None:
    found = simulated("dearer.yaml", "customer")
    connection = found.comparison.roll_up.workspace.connection
    ((used,),) = connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
    connection.execute(f"SET memory_limit = '{used // 1000 + 1}KB'")
    with pytest.raises(SimulationError, match=r"DuckDB needs more memory than the .* that it may use\. Give it more"):
        found.table("customer")
