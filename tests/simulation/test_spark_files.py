"""What Spark reads and writes by itself: the same rows as DuckDB, no file that changes meanwhile, a table of groups."""

import csv
import json
import os
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from chosen_rows import DAYS, chosen, of_every_condition
from click.testing import CliRunner
from engines_agree import Engines, same, usage_of
from rows import table_of
from test_reading import CACHED, CHANGES, MANY, SPEECH, TEXT, UNCACHED, lines, written
from usage import ROWS

from ratecard.base.errors import SimulationError
from ratecard.cli import main, simulate_run
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.groups.engines.spark_files import read, write_table
from ratecard.simulation.report.groups import write_groups
from ratecard.simulation.report.report import Report

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


def test_columns_of_two_files_that_differ_in_capitals_are_refused(engines: Engines, tmp_path: Path) -> None:
    one, other = TEXT | {"prompt_tokens": 5, "service_tier": "batch"}, TEXT | {"Service_Tier": "batch"}
    files = [str(written(tmp_path / f"{name}.parquet", row)) for name, row in (("a", one), ("b", other))]
    for act in (engines.on_spark, engines.on_duckdb):
        with pytest.raises(SimulationError, match="have one name, or differ in capitals alone"):
            act(files)


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


BY = ("model", "day")


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_files_are_read_as_duckdb_reads_them(engines: Engines, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"usage.{ending}"
    demo_usage(path, 1_000, seed=3, bad_share=Decimal("0.05"), fractional_share=Decimal("0.05"))
    same(engines.on_duckdb(path, by=BY), engines.on_spark(path.as_uri(), by=BY))


def test_folders_and_patterns_are_read(engines: Engines, tmp_path: Path) -> None:
    for number in (1, 2):
        written(tmp_path / f"usage-{number}.csv", *[SPEECH | {"characters": number * 10 + each} for each in range(9)])
    same(engines.on_duckdb(tmp_path, by=BY), engines.on_spark(str(tmp_path), by=BY))
    rows = read(engines.spark, str(tmp_path)).toArrow()
    for place in (str(tmp_path / "usage-?.csv"), [str(path) for path in sorted(tmp_path.iterdir())]):
        assert read(engines.spark, place).toArrow().sort_by("characters") == rows.sort_by("characters")
    assert rows.num_rows == 18


def test_text_in_files_keeps_every_character_and_digit(engines: Engines, tmp_path: Path) -> None:
    same_of_all = {"type": "speech", "model": "tts-kokoro", "timestamp": "2026-10-01"}
    said = (("5", 'a "b", c'), ("5.0", "two\nlines"), ("007", " ü \\ "), ("", "it's"))
    rows: list[dict[str, Any]] = [same_of_all | {"characters": count, "who": who} for count, who in said]
    with (tmp_path / "usage.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    numbers = ("4.350", "1e-7", "12345678901234567890.123", "0.10")
    lines = [json.dumps(row)[:-1] + f', "digits": {number}}}' for row, number in zip(rows, numbers, strict=True)]
    (tmp_path / "usage.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name, keys in (("usage.csv", ("who",)), ("usage.jsonl", ("who", "digits"))):
        found = engines.on_spark(str(tmp_path / name), by=keys)
        assert found.table("who") == engines.on_duckdb(tmp_path / name, by=("who",)).groups
        assert {row.key[0] for row in found.groups} == {who for count, who in said if count}
    assert {row.key[1] for row in found.groups} == set(numbers[:3])


def test_files_whose_columns_differ_are_put_together_by_name(engines: Engines, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-01,5\n")
    (tmp_path / "b.csv").write_text("model,type,characters,timestamp,who\ntts-kokoro,speech,7,2026-10-01,me\n")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    found = engines.on_spark(files, by=("who",))
    same(engines.on_duckdb(files, by=("who",)), found)
    assert {row.key[0]: int(row.quantities[4]) for row in found.groups} == {"me": 7, None: 5}
    (tmp_path / "b.csv").write_text("model,type,timestamp,characters\ntts-kokoro,speech,2026-10-01,7\n")
    # One reader for both files would match columns by position.
    with pytest.raises(SimulationError, match="cannot be read"):
        engines.on_spark(str(tmp_path))


def test_what_cannot_be_read(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    demo_usage(path, 20_000, seed=3)
    os.truncate(path, path.stat().st_size // 2)
    (tmp_path / "usage.jsonl").write_text('{"type": "text", "model": "x"}\n{"type": "te')
    (tmp_path / "usage.csv").write_text("type,model,timestamp\ntext\n")
    for name in ("usage.parquet", "usage.jsonl", "usage.csv", "none.parquet", "none/"):
        with pytest.raises(SimulationError, match="cannot be read"):
            engines.on_spark(str(tmp_path / name), by=())
    with pytest.raises(SimulationError, match="3 kinds"):
        engines.on_spark(str(tmp_path))
    with pytest.raises(SimulationError, match="Spark reads paths"):
        engines.on_spark(5)
    assert engines.spark.catalog.listTables() is not None


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_table_is_written_with_all_of_its_digits(engines: Engines, tmp_path: Path, ending: str) -> None:
    amounts = [Decimal("0.0000001"), Decimal("-12345678901234567890.1234567"), Decimal("0.0000000")]
    table = pyarrow.table({"model": ["a", 'b "c", d', "e"], "a `m`": pyarrow.array(amounts, pyarrow.decimal128(38, 7))})
    place = f"{tmp_path.as_uri()}/out/groups.{ending}"
    write_table(table.to_reader(), place)
    folder = tmp_path / "out" / f"groups.{ending}"
    (file,) = (path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    if ending == "parquet":
        assert pyarrow.parquet.read_table(file).equals(table)
    else:
        lines = file.read_text(encoding="utf-8").splitlines()
        read = list(csv.DictReader(lines)) if ending == "csv" else [json.loads(line) for line in lines]
        plain = (format(amount, "f") for amount in amounts)
        rows = zip(("a", 'b "c", d', "e"), plain, strict=True)
        assert read == [{"model": name, "a `m`": text} for name, text in rows]
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(SimulationError, match=r"cannot be written.*already exists"):
        write_table(table.to_reader(), place)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_groups_are_written(engines: Engines, tmp_path: Path) -> None:
    usage = usage_of("speech", "tts-kokoro", characters=[5, 6])
    place = f"{tmp_path.as_uri()}/groups.parquet"
    found = engines.on_spark(usage, by=BY)
    write_groups(Report(found), place)
    (row,) = pyarrow.parquet.read_table(tmp_path / "groups.parquet").to_pylist()
    assert (row["model"], row["day"], row["requests"]) == ("tts-kokoro", "2026-10-01", 2)
    assert found.total.amounts[0] in row.values()
    with pytest.raises(SimulationError, match=r"groups.xlsx cannot be written to a storage: a workbook"):
        write_groups(Report(found), f"{tmp_path.as_uri()}/groups.xlsx")


def test_a_place_is_tried_before_the_usage_is_read(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage, run = tmp_path / "usage.parquet", CliRunner()
    made = usage_of("text", "deepseek-v4-pro-0813", prompt_tokens=[5], completion_tokens=[1], customer=["a"])
    pyarrow.parquet.write_table(made, usage)
    (tmp_path / "there.parquet").mkdir()
    (tmp_path / "file.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    words = ["simulate", str(usage), "--candidate", "2026-10-01", "--current", "2026-08-03", "--engine", "spark"]
    with monkeypatch.context() as nothing_is_read:
        nothing_is_read.setattr(simulate_run, "simulate", None)
        for name, said in (
            ("there.parquet", "it already exists"),
            ("file.txt/groups.parquet", "cannot be written: "),
            ("groups.xlsx", "a workbook is written as a file of this machine"),
            ("groups.csv.gz", "its format is not known"),
        ):
            done = run.invoke(main, [*words, "--out", f"{tmp_path.as_uri()}/{name}"])
            assert done.exit_code in (1, 2)
            assert said in done.stderr
            assert sorted(tmp_path.rglob("*")) == before
    done = run.invoke(main, [*words, "--out", f"{tmp_path.as_uri()}/new/folder/groups.parquet"])
    assert done.exit_code == 0, done.output
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["folder"]
    assert pyarrow.parquet.read_table(tmp_path / "new" / "folder" / "groups.parquet").num_rows
