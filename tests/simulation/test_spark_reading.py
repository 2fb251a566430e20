"""Which rows Spark reads: the same as DuckDB, and no file that changes meanwhile."""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from chosen_rows import DAYS, chosen, of_every_condition
from engines_agree import Engines, same
from rows import table_of
from test_reading import CACHED, CHANGES, MANY, SPEECH, TEXT, UNCACHED, lines, written
from usage import ROWS

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_files import read

KEYS = ("type", "model", "day", "customer")


def test_a_column_may_begin_in_any_row(engines: Engines, tmp_path: Path) -> None:
    plain = TEXT | {"prompt_tokens": 1_000_000}
    lines(tmp_path / "a.jsonl", *[plain] * MANY)
    lines(tmp_path / "b.jsonl", plain | {"cached_tokens": 1_000_000})
    found = engines.on_spark(str(tmp_path))
    assert found.total.amounts == (MANY * UNCACHED + CACHED,)
    of_duckdb = engines.on_duckdb(tmp_path)
    same(of_duckdb, found)
    assert found.reading == of_duckdb.reading


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_name_is_a_name_and_a_pattern_a_pattern(engines: Engines, tmp_path: Path, ending: str) -> None:
    names = {f"{name}.{ending}": characters for name, characters in (("u[1]", 1), ("u1", 10), ("u{2}", 100))}
    for name, characters in names.items():
        written(tmp_path / name, SPEECH | {"characters": characters})

    def characters_of(name: str) -> int:
        (row,) = read(engines.spark, str(tmp_path / name)).select("characters").collect()
        return int(row["characters"])

    assert {name: characters_of(name) for name in names} == names
    assert characters_of(f"u?.{ending}") == 10
    (tmp_path / f"u[1].{ending}").unlink()
    assert characters_of(f"u[1].{ending}") == 10


def test_a_file_that_is_named_twice_is_refused(engines: Engines, tmp_path: Path) -> None:
    usage = written(tmp_path / "usage.parquet", SPEECH | {"characters": 5})
    for further in (usage, tmp_path, tmp_path / "us*.parquet"):
        with pytest.raises(SimulationError, match=r"the usage names .*usage\.parquet twice"):
            engines.on_spark([str(usage), str(further)])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    engines: Engines, tmp_path: Path, change: str, ending: str
) -> None:
    act, words = CHANGES[change]
    # Speech is one of the other types, whose names are read first.
    usage = written(tmp_path / f"usage.{ending}", *[SPEECH | {"characters": 5}] * 2)
    text = lines(tmp_path / "text.jsonl", TEXT | {"prompt_tokens": 5})
    given: Any = [str(usage), str(text)]
    # Each change of each kind of file is tried once: for a path, or for a frame that was made before.
    if (list(CHANGES).index(change) + (ending == "jsonl")) % 2:
        reader = engines.spark.read
        of_usage = reader.parquet(str(usage)) if ending == "parquet" else reader.json(str(usage))
        given = of_usage.unionByName(reader.json(str(text)), allowMissingColumns=True)

    def progress(said: str, percent: object) -> None:
        if said == "Reading usage: tokens":
            act(usage)

    with pytest.raises(SimulationError, match=rf"usage\.{ending} {words} while the usage was read"):
        engines.on_spark(given, progress=progress)


def test_a_table_is_read_by_its_name_and_known_by_its_files(engines: Engines, tmp_path: Path) -> None:
    written(tmp_path / "usage.parquet", SPEECH | {"characters": 5})
    engines.spark.read.parquet(str(tmp_path)).createOrReplaceTempView("spoken")
    found, of_duckdb = engines.on_spark("spoken"), engines.on_duckdb(tmp_path / "usage.parquet")
    same(of_duckdb, found)
    assert found.reading.source == of_duckdb.reading.source
    assert found.reading.source.files == found.priced == 1
    with pytest.raises(SimulationError, match="spoke"):
        engines.on_spark("spoke")


def test_where_since_and_until(engines: Engines) -> None:
    usage, where = of_every_condition()
    frame = engines.spark.createDataFrame(usage)
    for since, until in (None, None), (date(2026, 10, 2), "2026-10-03"):
        found = engines.on_spark(frame, by=("condition", "row"), where=where, since=since, until=until)
        assert {row.key for row in found.groups} == chosen(DAYS[since, until] if since else "012345")
        assert found.reading.found == usage.num_rows


def test_a_row_without_a_type_has_that_of_its_model(engines: Engines) -> None:
    usage = table_of(ROWS)
    kept = [None if type_ != "rpc" else type_ for type_ in usage["type"].to_pylist()]
    some = usage.set_column(0, "type", pyarrow.array(kept, pyarrow.string()))
    found = engines.agree(some, *KEYS)
    assert found.groups == engines.on_duckdb(usage, by=KEYS).groups
    none = usage.drop_columns(["type"])
    assert engines.agree(none, *KEYS).priced == found.priced - 1  # RPC names no model


def test_forms_that_are_not_read(engines: Engines, tmp_path: Path) -> None:
    instants = pyarrow.array([0], pyarrow.timestamp("ns", "UTC"))
    nanoseconds = pyarrow.table({"type": ["speech"], "model": ["tts-kokoro"], "timestamp": instants})
    pyarrow.parquet.write_table(nanoseconds, tmp_path / "usage.parquet")
    with pytest.raises(SimulationError, match="nanoseconds, which Spark does not read"):
        engines.on_spark(str(tmp_path / "usage.parquet"))
    with pytest.raises(SimulationError, match="is a workbook"):
        engines.on_spark(str(tmp_path / "usage.xlsx"))
    usage = written(tmp_path / "usage.csv", SPEECH | {"characters": 5, "timestamp": "10/02/2026", "chars": 1})
    found = engines.on_spark(str(usage))
    assert found.reading == engines.on_duckdb(usage).reading
    assert found.reading.odd == "10/02/2026"


def test_how_far_it_is_never_goes_back(engines: Engines, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(table_of(ROWS), tmp_path / "usage.parquet")
    seen = []
    engines.on_spark(str(tmp_path / "usage.parquet"), progress=lambda words, percent: seen.append((words, percent())))
    percents = [percent for _, percent in seen]
    assert percents == sorted(percents)
    assert (percents[0], seen[-1]) == (0, ("Pricing", 90))
