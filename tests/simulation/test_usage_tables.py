"""Every form in which usage comes says the same; what cannot be read is told with the file or the column."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from few import simulate
from rows import table_of, with_column
from usage import ROWS, row

from ratecard.base.errors import SimulationError
from ratecard.simulation.prices.pricer import NO_INSTANT
from ratecard.simulation.result import Simulation

TABLE = table_of(ROWS)
KEYS = ("model", "day", "customer")


def answer(found: Simulation) -> tuple[Any, ...]:
    with found:
        return found.groups, found.priced, [(each.rows, each.reason) for each in found.unpriced]


WHOLE = answer(simulate(TABLE, by=KEYS))
FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: TABLE.to_pandas(),
    "pandas with Arrow types": lambda: TABLE.to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda: polars.from_arrow(TABLE),
    "lazy polars": lambda: polars.from_arrow(TABLE).lazy(),  # type: ignore[union-attr]
    "duckdb": lambda: duckdb.connect().from_arrow(TABLE),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    assert answer(simulate(FRAMES[kind](), by=KEYS)) == WHOLE


def write(folder: Path, kind: str, table: pyarrow.Table = TABLE) -> Path:
    path = folder / f"usage.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        form = "CSV, HEADER" if kind == "csv" else "JSON"
        duckdb.connect().from_arrow(table).query("u", f"COPY u TO '{path}' (FORMAT {form})")
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_files(tmp_path: Path, kind: str) -> None:
    write(tmp_path, kind)
    assert answer(simulate(tmp_path, by=KEYS)) == WHOLE


def test_other_names(tmp_path: Path) -> None:
    names = {"prompt_tokens": "tokens in", "customer": "Kunde", "timestamp": 'at "UTC"'}
    renamed = TABLE.rename_columns([names.get(name, name) for name in TABLE.column_names])
    path = write(tmp_path, "parquet", renamed)
    assert answer(simulate(path, by=KEYS, columns=names)) == WHOLE


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    # Seconds of 0.1 + 0.2, and with more digits than a double has.
    rows = [
        row("transcription", "nvidia/parakeet-tdt-0.6b-v3", "a", seconds=each)
        for each in (Decimal("0.1"), Decimal("0.2"), Decimal("1234567.123456789012"))
    ]
    exact = Decimal("1234567.423456789012")
    # A JSON number with a fraction has the digits of a double; text keeps all of its digits.
    lines = ({"type": "transcription", "model": each["model"], "timestamp": "2026-10-02"} for each in rows)
    text = "".join(
        json.dumps(line | {"seconds": str(each["seconds"])}) + "\n" for line, each in zip(lines, rows, strict=True)
    )
    (tmp_path / "written.jsonl").write_text(text)
    tables = (write(tmp_path, kind, table_of(rows)) for kind in ("parquet", "csv"))
    for path in (*tables, tmp_path / "written.jsonl"):
        with simulate(path, by=("model",)) as found:
            assert found.unpriced == ()
            assert found.total.quantities[-1] == exact
            assert found.total.amounts[0] == exact * Decimal("0.0001")


def test_counts_as_text_and_as_doubles() -> None:
    for type_ in (pyarrow.string(), pyarrow.float64(), pyarrow.int32(), pyarrow.decimal128(22, 2)):
        table = TABLE
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            table = with_column(table, name, table[name].cast(type_).combine_chunks())
        assert answer(simulate(table, by=KEYS)) == WHOLE, type_


def test_a_count_that_is_none_is_a_row_without_a_price() -> None:
    values = ["5500", "2.5", "-1", "1e300", "many", "nan"]
    with simulate(with_column(table_of(ROWS[:1] * len(values)), "prompt_tokens", values), by=KEYS) as found:
        assert (found.rows, found.priced) == (6, 1)
        assert all(each.reason.startswith("usage.") for each in found.unpriced)


def test_a_row_without_an_instant_has_no_price() -> None:
    values = ["yesterday", None, "2026-10-02T12:00:00Z", "2026-10-02 12:00:00+02:00", "2026-10-02"]
    with simulate(with_column(TABLE, "timestamp", values), by=KEYS) as found:
        assert sum(each.rows for each in found.unpriced if each.reason == NO_INSTANT) == 2
    # If every card is at a fixed instant, rows need no instant.
    with simulate(TABLE.drop_columns(["timestamp"]), "2026-10-02", by=("model",)) as found:
        assert found.priced == 4


@pytest.mark.parametrize(
    ("name", "type_", "words"),
    [
        ("prompt_tokens", pyarrow.bool_(), "column 'prompt_tokens' is BOOLEAN, and prompt_tokens can be integer"),
        ("audio", pyarrow.int64(), "column 'audio' is BIGINT, and audio can be boolean or text"),
        ("timestamp", pyarrow.int64(), "column 'timestamp' is BIGINT, and timestamp can be"),
        ("model", pyarrow.int64(), "column 'model' is BIGINT, and model can be text"),
    ],
)
def test_a_column_of_the_wrong_type(name: str, type_: Any, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        simulate(with_column(TABLE, name, [None] * len(TABLE), type_), by=("model",))


def test_a_misspelt_heading_is_recognized() -> None:
    names = ["typ" if name == "type" else name for name in TABLE.column_names if name != "model"]
    with pytest.raises(
        SimulationError, match=r"none 'model', .*\. Did you mean 'typ'\? It has: typ, .*--map type=COLUMN or"
    ):
        simulate(TABLE.drop_columns("model").rename_columns(names), by=())


@pytest.mark.parametrize("name", ["ratecard_instant", "Ratecard_Type"])
def test_a_column_of_a_name_that_a_simulation_makes(name: str) -> None:
    """It would be read in place of what is made, or the other way round."""
    with pytest.raises(SimulationError, match=f"column '{name}', a name that a simulation uses itself. Rename it"):
        simulate(TABLE.append_column(name, pyarrow.nulls(len(TABLE), pyarrow.int64())), by=("model",))


def test_an_amount_of_memory_that_is_none() -> None:
    with pytest.raises(SimulationError, match=r"memory: 'lots' is not an amount of memory .*\. Allowed: such as 4GB"):
        simulate(TABLE, memory="lots")


def test_a_parquet_file_that_was_cut_off(tmp_path: Path) -> None:
    parquet = write(tmp_path, "parquet")
    parquet.write_bytes(parquet.read_bytes()[:-100])
    with pytest.raises(SimulationError, match=r"usage\.parquet': it is truncated, or not a Parquet file"):
        simulate(parquet, by=KEYS)


def test_what_is_no_usage(tmp_path: Path) -> None:
    for given, words in (
        (tmp_path / "none.parquet", "there is no file"),
        (tmp_path, "holds no files"),
        ([], "usage"),
        (7, "usage is int"),
    ):
        with pytest.raises(SimulationError, match=words):
            simulate(given, by=KEYS)
    (tmp_path / "usage.xls").write_bytes(b"")
    with pytest.raises(SimulationError, match=r"Allowed: \.parquet, \.csv, \.jsonl"):
        simulate(tmp_path / "usage.xls", by=KEYS)
    (tmp_path / "usage.xls").unlink()
    (tmp_path / "other.jsonl").write_text(json.dumps({"a": 1}) + "\n")
    with pytest.raises(SimulationError, match="no column 'type'"):
        simulate(tmp_path / "other.jsonl", by=KEYS)
    with pytest.raises(SimulationError, match=r"no column 'custommer' to group by\. Did you mean 'customer'"):
        simulate(TABLE, by=("custommer",))


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with simulate(TABLE, by=KEYS):
        assert list(tmp_path.iterdir())
    with pytest.raises(SimulationError):
        simulate(TABLE, "nowhere", by=KEYS)
    with pytest.raises(SimulationError):
        simulate(TABLE, by=("nothing",))
    assert not list(tmp_path.iterdir())


def test_a_line_break_inside_a_cell(tmp_path: Path) -> None:
    head = "type,model,timestamp,prompt_tokens,completion_tokens,customer\r\n"
    cells = 'text,claude-opus-4-6,2026-10-02,5,5,"a\nb"\r\ntext,claude-opus-4-6,2026-10-02,5500.0,5,c\r\n'
    (tmp_path / "usage.csv").write_bytes((head + cells).encode())
    with simulate(tmp_path / "usage.csv", by=("customer",)) as found:
        # A count with a fraction of zero is added like any other.
        assert [(row.key, int(row.quantities[0])) for row in found.groups] == [(("a\nb",), 5), (("c",), 5500)]


def test_one_absurd_row_does_not_stop_the_others() -> None:
    rows = [row("transcription", "nvidia/parakeet-tdt-0.6b-v3", "a", seconds=Decimal(1)) for _ in range(2)]
    table = table_of(rows)
    for type_, values in ((pyarrow.float64(), [5e-324, 1.0]), (pyarrow.string(), ["0." + "0" * 60 + "1", "1"])):
        with simulate(with_column(table, "seconds", values, type_), by=("model",)) as found:
            assert (found.rows, found.priced, found.total.amounts) == (2, 1, (Decimal("0.0001"),))
            assert "decimals" in found.unpriced[0].reason
    finer = with_column(table, "seconds", [Decimal("0.5"), Decimal("1." + "0" * 24 + "1")], pyarrow.decimal128(38, 30))
    with simulate(finer, by=("model",)) as found:
        assert found.rows == 2
