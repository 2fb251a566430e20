"""Which rows of a usage are read: every column, the files that were named, and no file that changes meanwhile."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from few import simulate
from rows import table_of, with_column
from usage import ROWS

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.duckdb_engine import csv_query
from ratecard.simulation.groups.grouped_usage import Reading
from ratecard.simulation.workspace import readable
from shipped import CARD

TEXT = {"type": "text", "model": "claude-opus-4-6", "timestamp": "2026-10-02", "completion_tokens": 0}
SPEECH = {"type": "speech", "model": "tts-kokoro", "timestamp": "2026-10-02"}
# More rows than an engine reads to guess the columns of JSON lines.
MANY = 20_490
# The price of a million tokens, and of a million cached ones.
UNCACHED, CACHED = Decimal(6), Decimal("0.6")


def lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def written(path: Path, *rows: Mapping[str, Any]) -> Path:
    """Rows as a file of the kind that its name says, all values text in CSV."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
        case ".csv":
            body = "".join(",".join(str(row.get(name, "")) for name in names) + "\n" for row in rows)
            path.write_text(",".join(names) + "\n" + body, encoding="utf-8")
        case _:
            lines(path, *rows)
    return path


def reading_of(usage: Any, **how: Any) -> Reading:
    with simulate(usage, **how) as found:
        return found.reading


def spoken(usage: Any, **how: Any) -> int:
    """Return the number of characters of a usage."""
    with simulate(usage, by=(), **how) as found:
        assert found.unpriced == ()
        return int(found.total.quantities[4])


def test_a_column_may_begin_in_any_row(tmp_path: Path) -> None:
    plain = TEXT | {"prompt_tokens": 1_000_000}
    usage = lines(tmp_path / "a.jsonl", *[plain] * MANY, plain | {"cached_tokens": 1_000_000})
    with simulate(usage) as found:
        assert found.total.amounts == (MANY * UNCACHED + CACHED,)
        assert "cached_tokens" in found.reading.columns


def test_a_column_may_begin_in_the_last_row_of_the_last_file(tmp_path: Path) -> None:
    plain = TEXT | {"prompt_tokens": 1_000_000}
    for number in range(39):
        lines(tmp_path / f"{number:02}.jsonl", plain)
    lines(tmp_path / "99.jsonl", *[plain] * 5, plain | {"cached_tokens": 1_000_000, "note": "new"})
    with simulate(tmp_path, by=("note",)) as found:  # forty files at the default memory
        assert found.total.amounts == (44 * UNCACHED + CACHED,)
        assert {row.key: row.requests for row in found.groups} == {(None,): 44, ("new",): 1}


def test_lines_that_are_not_usage_are_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("[1]\n5\n")
    with pytest.raises(SimulationError, match=r"none\.jsonl: no line holds an object"):
        simulate(tmp_path / "none.jsonl")


@pytest.mark.parametrize("second", ["characters", "Characters", "CHARACTERS"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, second: str) -> None:
    names = ["type", "model", "characters", second]
    table = pyarrow.Table.from_arrays([pyarrow.array([each]) for each in ("speech", "tts-kokoro", 1, 2)], names)
    nested = pyarrow.array([{"a": {"b": 1, "c": [2]}, "A": 3}])
    pyarrow.parquet.write_table(table.add_column(0, "tags", nested), tmp_path / "one.parquet")
    (tmp_path / "one.csv").write_text(f"{','.join(names)}\nspeech,tts-kokoro,1,2\n")
    (tmp_path / "one.jsonl").write_text(
        f'{{"type": "speech", "model": "tts-kokoro", "characters": 1, "{second}": 2}}\n'
    )
    for usage in (table, table.to_pandas(), *(tmp_path / f"one.{ending}" for ending in ("parquet", "csv", "jsonl"))):
        with pytest.raises(SimulationError) as error:
            simulate(usage, "2026-10-01")
        words = str(error.value).removeprefix("the usage cannot be read: ")
        both = sorted(("characters", second), key=words.index)
        assert words == (
            f"the columns '{both[0]}' and '{both[1]}' have one name, or differ in capitals alone: give them two names"
        )


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_columns_of_two_files_that_differ_in_capitals_are_refused(tmp_path: Path, ending: str) -> None:
    one, other = TEXT | {"prompt_tokens": 5, "service_tier": "batch"}, TEXT | {"Service_Tier": "batch"}
    files = [written(tmp_path / f"{name}.{ending}", row) for name, row in (("a", one), ("b", other))]
    for both in (files, files[::-1]):
        with pytest.raises(SimulationError, match="have one name, or differ in capitals alone"):
            simulate(both, "2026-10-01")


def test_names_within_a_column_of_counts_that_differ_in_capitals_are_refused(tmp_path: Path) -> None:
    rows = [TEXT | {"completion_tokens": None, "tokens": {name: 1, "output": 1}} for name in ("input", "Input")]
    with pytest.raises(SimulationError, match=r"'tokens\.Input' and 'tokens\.input' have one name"):
        simulate(lines(tmp_path / "usage.jsonl", *rows), "2026-10-01")


def test_decimals_that_would_become_floats_are_refused(tmp_path: Path) -> None:
    long = Decimal("1." + "0" * 44 + "1")
    columns = {name: [value] for name, value in {"type": "transcription", "model": "m", "seconds": long}.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "long.parquet")
    for usage in (tmp_path / "long.parquet", pandas.DataFrame(columns)):
        with pytest.raises(SimulationError, match=r"'seconds' has decimals of more than 38 digits.* Write it as text"):
            simulate(usage, "2026-10-01")


@pytest.mark.parametrize("outer", ["tokens", "counts"])
def test_a_column_of_counts_holds_objects_or_nothing(tmp_path: Path, outer: str) -> None:
    words = f"'{outer}' is .*must be an object"
    for ending, given in (("csv", "7"), ("parquet", "7"), ("parquet", 7), ("parquet", [7]), ("jsonl", 7)):
        usage = written(tmp_path / f"usage.{ending}", TEXT | {"prompt_tokens": 5, outer: given})
        with pytest.raises(SimulationError, match=words):
            simulate(usage, "2026-10-01")
    empty = written(tmp_path / "usage.csv", TEXT | {"prompt_tokens": 1_000_000, outer: ""})
    with simulate(empty, "2026-10-01") as found:
        assert found.total.amounts == (UNCACHED,)


def test_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    """Frames of pandas are written to CSV with one."""
    pandas.DataFrame([SPEECH]).to_csv(tmp_path / "usage.csv")
    lines(tmp_path / "usage.jsonl", {"": 0, **SPEECH})
    for ending in ("csv", "jsonl"):
        with pytest.raises(SimulationError, match="column 1 of the usage has no name"):
            simulate(tmp_path / f"usage.{ending}", "2026-10-01")


def test_a_bucket_that_no_table_knows_is_refused_by_its_name(tmp_path: Path) -> None:
    for bucket in ("reasoning", "Input"):
        usage = written(tmp_path / "usage.csv", TEXT | {"prompt_tokens": 5, f"tokens.{bucket}": 5})
        with pytest.raises(SimulationError, match=rf"Unrecognized key\(s\) in object: '{bucket}'"):
            simulate(usage, "2026-10-01", strict=True)


def test_a_byte_order_mark_before_json_lines_is_named(tmp_path: Path) -> None:
    usage = lines(tmp_path / "usage.jsonl", SPEECH, SPEECH)
    usage.write_bytes(b"\xef\xbb\xbf" + usage.read_bytes())
    with pytest.raises(SimulationError, match=r"usage\.jsonl, line 1: begins with a byte order mark\. Save it as"):
        simulate(usage, "2026-10-01")


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (5, '{"type":"speech","mod'),
        (1, '{"type":"speech","mod'),
        (2, '{"type" 5}'),
        (5, "{'type': 'speech'}"),
        (4, "[" * 100_000),
    ],
)
def test_a_line_that_is_no_json_is_named(tmp_path: Path, broken: int, text: str) -> None:
    rows = [json.dumps(SPEECH | {"characters": 1})] * 5
    rows[broken - 1] = text
    (tmp_path / "usage.jsonl").write_text("\n".join(rows))
    with pytest.raises(SimulationError, match=rf"usage\.jsonl, line {broken}: \w"):
        simulate(tmp_path / "usage.jsonl")


def test_counts_in_a_map_are_those_in_a_struct() -> None:
    row = "'text' AS type, 'claude-sonnet-4-6' AS model, TIMESTAMP '2026-10-20' AS timestamp"
    counts = ("{'input': 1000, 'output': 10}", "MAP {'input': 1000, 'output': 10}", "MAP {'output': 10, 'input': 1000}")
    found = []
    for each in counts:
        rows = duckdb.sql(f"SELECT {row}, {each} AS tokens UNION ALL SELECT {row}, NULL")
        assert rows
        with simulate(rows.to_arrow_table(), by=[]) as simulation:
            found.append((simulation.total, simulation.unpriced))
    assert found[0][0].amounts[0] and found == [found[0]] * 3


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_name_is_a_name_and_a_pattern_a_pattern(tmp_path: Path, ending: str) -> None:
    one, _, star = (
        written(tmp_path / f"{name}.{ending}", SPEECH | {"characters": characters})
        for name, characters in (("u[1]", 1), ("u1", 10), ("u*", 100))
    )
    assert spoken(one) == 1
    assert spoken([one, star]) == 101
    assert spoken(tmp_path) == 111
    assert spoken(str(tmp_path / f"u?.{ending}")) == 110
    assert spoken(f"file://{one}") == 1
    one.unlink()
    assert spoken(str(tmp_path / f"u[1].{ending}")) == 10


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "replaced": (
        lambda path: written(path.with_name(f"new{path.suffix}"), *[SPEECH | {"characters": 7}] * 2).replace(path),
        "was changed or replaced",
    ),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"\n"), "was changed or replaced"),
    "touched": (lambda path: os.utime(path, ns=(1, 1)), "was changed or replaced"),
    "removed": (lambda path: path.unlink(), "was removed"),
}


@pytest.mark.parametrize(
    ("ending", "change"),
    # Files that become longer or get another time are still read, so one kind is enough for them.
    [*product(("parquet", "csv", "jsonl"), ("replaced", "removed")), ("parquet", "longer"), ("csv", "touched")],
)
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, ending: str, change: str) -> None:
    act, words = CHANGES[change]
    steady = written(tmp_path / f"a.{ending}", SPEECH | {"characters": 5})
    usage = written(tmp_path / f"b.{ending}", *[SPEECH | {"characters": 5}] * 2)

    def progress(said: str, percent: object) -> None:
        if said == "Reading usage: tokens":
            act(usage)

    with pytest.raises(SimulationError, match=rf"b\.{ending} {words} while the usage was read. Simulate it again"):
        simulate([steady, usage], progress=progress)


def test_the_files_are_named_by_their_fingerprint(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{number}.jsonl", SPEECH | {"characters": 5}) for number in range(3)]
    source = reading_of(files).source
    assert (source.files, source.bytes) == (3, sum(file.stat().st_size for file in files))
    assert reading_of(tmp_path).source == source
    before = source.fingerprint
    os.utime(files[1], ns=(1, 1))
    assert len(before) == 16
    assert reading_of(files).source.fingerprint != before
    assert reading_of(table_of(ROWS)).source.files == 0


LAST = 1_790_899_199_999_999_999  # the last nanosecond of 2026-10-01


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", None])
def test_nanoseconds_are_of_their_day(tmp_path: Path, zone: str | None) -> None:
    instants = pyarrow.array([LAST, LAST + 1], pyarrow.timestamp("ns", zone))
    head = {"type": ["speech"] * 2, "model": ["tts-kokoro"] * 2, "characters": [1, 10]}
    table = pyarrow.table(head | {"timestamp": instants})
    pyarrow.parquet.write_table(table, tmp_path / "usage.parquet")
    for usage in (table, tmp_path / "usage.parquet"):
        with simulate(usage, by=("day",)) as found:
            days = {row.key[0]: int(row.quantities[4]) for row in found.groups}
            assert days == {"2026-10-01": 1, "2026-10-02": 10}


def test_a_form_that_is_not_read_names_a_way(tmp_path: Path) -> None:
    when, bill = {"timestamp": [1_790_899_200]}, {"sku": ["s"], "amount": [-1], "currency": ["USD"], "unit": [1]}
    for rows in ({"type": ["speech"], "model": ["tts-kokoro"]}, bill | {"pricePerUnitUsd": [1]}):
        with pytest.raises(SimulationError, match=r"Seconds since 1970 are not read: docs/simulation\.md says how"):
            simulate(pyarrow.table(rows | when))
    (tmp_path / "usage.xlsx").write_bytes(b"")
    with pytest.raises(SimulationError, match=r"usage\.xlsx is a workbook.*Save its sheet as CSV \(UTF-8\)"):
        simulate(tmp_path / "usage.xlsx")
    american = written(tmp_path / "usage.csv", SPEECH | {"characters": 5, "timestamp": "10/02/2026"})
    (said,) = reading_of(american).warnings()
    assert said.startswith("Timestamp '10/02/2026' is not an instant. Write it like 2026-10-02")


def test_what_is_read_and_what_is_not_is_said(tmp_path: Path) -> None:
    usage = written(
        tmp_path / "usage.csv",
        TEXT | {"prompt_tokens": 1_000_000, "cache_read_tokens": 1_000_000, "account": "a", "request": "x1"},
    )
    with simulate(usage, by=("model", "customer"), columns={"customer": "account"}) as found:
        reading = found.reading
    assert reading.columns == {name: name for name in (*TEXT, "prompt_tokens")} | {"customer": "account"}
    assert reading.unused == ("cache_read_tokens", "request")
    assert "cached_tokens" in reading.missing["text"]
    assert reading.missing.keys() == {"text"}
    assert reading.warnings() == [
        "Column 'cache_read_tokens' is not read. Did you mean 'cached_tokens'?"
        " Then name it: --map cached_tokens=cache_read_tokens"
    ]
    with simulate(usage, None, columns={"cached_tokens": "cache_read_tokens"}) as found:
        assert found.total.amounts == (CACHED,)
        assert found.reading.warnings() == []
        with found.against("2026-10-01") as other:
            assert other.reading is found.reading


def test_a_day_is_that_of_the_timestamp_whatever_a_column_says(tmp_path: Path) -> None:
    usage = written(tmp_path / "usage.csv", SPEECH | {"day": "2026-10-03", "characters": 1})
    said = ["Column 'day' is not read: the day of a row is that of its timestamp, in UTC"]
    for by, warnings in (("day", said), ("week", said), ("model", [])):
        with simulate(usage, by=(by,)) as found:
            assert ("day" in found.reading.columns, found.reading.unused) == (False, ("day",))
            assert found.reading.warnings() == warnings
    with pytest.raises(SimulationError, match=r"--map day=characters: .* Write --map timestamp=characters"):
        simulate(usage, by=("day",), columns={"day": "characters"})


def test_columns_that_look_like_missing_ones(tmp_path: Path) -> None:
    meant = {
        "input_tokens": "prompt_tokens",
        "output_tokens": "completion_tokens",
        "cache_read_input_tokens": "cached_tokens",
        "cache_write_tokens": "cache_creation_input_tokens",
        "Web_Search_Request": "web_search_requests",
        "service_teir": "service_tier",
    }
    row = {"type": "text", "model": "claude-opus-4-6", **dict.fromkeys((*meant, "region", "request_id"), "1")}
    assert reading_of(written(tmp_path / "usage.csv", row), current="2026-10-02").meant == meant


def test_a_timestamp_of_nearly_the_name_is_named() -> None:
    table = pyarrow.Table.from_pylist([SPEECH | {"characters": 5}]).rename_columns(["type", "model", "Time stamp", "n"])
    for asked in ({}, {"since": "2026-10-01", "current": "2026-10-02"}):
        with pytest.raises(
            SimulationError, match=r"no column 'timestamp'.* Did you mean 'Time stamp'\? Name it: --map"
        ):
            simulate(table, **asked)


def test_a_name_that_means_nothing_is_refused() -> None:
    table = pyarrow.Table.from_pylist([SPEECH | {"characters": 5}])
    wrong = (
        ({"promt_tokens": "characters"}, "'promt_tokens' is not a column that.*Did you mean 'prompt_tokens'"),
        ({"region": "characters"}, "'region' is not a column that"),
        ({"seconds": "character"}, r"no column 'character' \(for seconds\)\. Did you mean 'characters'"),
    )
    for columns, words in wrong:
        with pytest.raises(SimulationError, match=words):
            simulate(table, columns=columns)
    with simulate(table, columns={"region": "characters"}, by=("region",)) as found:
        assert found.groups[0].key == ("5",)


def test_where_no_row_has_a_price_it_is_said_why(tmp_path: Path) -> None:
    wrong = written(tmp_path / "a.jsonl", TEXT | {"prompt_tokens": "18,094"})
    with pytest.raises(SimulationError) as refused:
        simulate(wrong, "2026-10-02", "2026-10-03")
    assert str(refused.value) == (
        "1 of 1 rows cannot be priced:\n"
        "  1 text: usage.prompt_tokens: Expected number, received string"
        " (for example: model claude-opus-4-6, prompt_tokens 18,094, completion_tokens 0)"
    )
    right = written(tmp_path / "b.jsonl", TEXT | {"prompt_tokens": 5})
    with pytest.raises(SimulationError, match=r"1 of 1 rows cannot be priced:\n.*charged in USD, and .* added in EUR"):
        simulate(right, "2026-10-02", "2026-10-03", currency="EUR")


def test_a_row_without_a_type_has_that_of_its_model(tmp_path: Path) -> None:
    table = table_of(ROWS)
    with simulate(table) as found:
        whole = found.groups
        assert found.unpriced[0].rows == 1
    # RPC calls have no model from which the type could follow.
    kept = [None if type_ != "rpc" else type_ for type_ in table["type"].to_pylist()]
    untyped = with_column(table, "type", kept)
    with simulate(untyped, by=("type", "model", "day", "customer")) as found:
        assert {replace(row, key=row.key[1:]) for row in found.groups} == set(whole)
        assert {row.key[0] for row in found.groups} == {"text", "video", "rpc"}
    path = tmp_path / "usage.jsonl"
    lines(
        path,
        SPEECH | {"type": None, "characters": 1},
        {name: value for name, value in SPEECH.items() if name != "type"} | {"characters": 10},
        {"model": "claude-opus-4-6:enable_web_search=off", "timestamp": "2026-10-02", "prompt_tokens": 5,
         "completion_tokens": 0},
        {"model": "tts-kokor", "timestamp": "2026-10-02"},
        {"timestamp": "2026-10-02"},
    )  # fmt: skip
    with simulate(path, by=("type",)) as found:
        assert {row.key[0]: row.requests for row in found.groups} == {"speech": 2, "text": 1}
        assert [(each.rows, each.reason) for each in found.unpriced] == [
            (1, "type: missing, and no model of the name 'tts-kokor' that would say it. Did you mean 'tts-kokoro'?"),
            (1, "type: missing, and no model that would say it"),
        ]
    with simulate(path, where="type = 'speech'") as found:
        assert found.rows == 2
    with pytest.raises(SimulationError, match="no column 'type', and none 'model'"):
        simulate(pyarrow.table({"characters": [1]}))


def test_a_row_without_a_type_is_an_upscale_where_it_has_a_factor(tmp_path: Path) -> None:
    """As a single request is; of a model that makes no images, a factor means nothing."""
    image: dict[str, Any] = {"model": "qwen-image-2", "timestamp": "2026-10-02"}
    upscales = [image | {"factor": factor} for factor in ("2x", "4x")]
    voice: dict[str, Any] = {"model": "tts-kokoro", "timestamp": "2026-10-02", "characters": 900}
    path = lines(
        tmp_path / "usage.jsonl",
        *upscales,
        image | {"factor": "3x"},
        image | {"factor": None},
        voice | {"factor": "2x"},
    )
    prices = CARD.at(date(2026, 10, 2))
    made = [prices.rate({name: row[name] for name in row if name != "timestamp"}) for row in (*upscales, image, voice)]
    expected = {
        type_: sum(quote.total for quote in made if quote.type == type_) for type_ in ("upscale", "image", "speech")
    }
    with simulate(path, CARD, by=("type",)) as found:
        assert {group.key[0]: group.amounts[0] for group in found.groups} == expected
        assert [(each.type, each.rows) for each in found.unpriced] == [("upscale", 1)]
    assert len({quote.total for quote in made}) == len(made)


def test_how_far_it_is_goes_from_nothing_to_all(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(table_of(ROWS * 200), tmp_path / "usage.parquet")
    seen: list[tuple[str, float, int | None]] = []

    def progress(words: str, percent: Any) -> None:
        seen.append((words, percent(), percent.rows))

    with simulate(tmp_path / "usage.parquet", progress=progress):
        pass
    percents = [percent for _, percent, _ in seen]
    assert percents == sorted(percents)
    assert percents[0] == 0
    assert percents[-1] == 90
    assert [words for words, _, _ in seen] == [
        "Reading usage: columns",
        "Reading usage: video and music",
        "Reading usage: tokens",
        "Reading usage: other types",
        "Pricing",
    ]
    read = [rows for words, _, rows in seen if words == "Reading usage: other types"]
    assert read[0] is not None
    assert 600 <= read[0] <= 1000


def read_csv(*files: Path) -> list[tuple[str | None, ...]]:
    connection = duckdb.connect()
    with readable():
        return connection.execute(csv_query(connection, list(map(str, files)))).fetchall()


def text_in(path: Path, words: str, encoding: str = "utf-8") -> Path:
    path.write_text(words, encoding=encoding, newline="")
    return path


@pytest.mark.parametrize(
    ("words", "encoding", "row"),
    [
        ("type,note\ntext,007\n", "utf-8", ("text", "007")),
        ("type;note\r\ntext;1,5\r\n", "utf-8", ("text", "1,5")),
        ("type\tnote\ntext\ta b\n", "utf-8", ("text", "a b")),
        ('"type","note"\n"text","say ""hi"", then\nleave"\n', "utf-8-sig", ("text", 'say "hi", then\nleave')),
        ("type\ntext\n", "utf-8", ("text",)),
        ("type,note\ntext,\n", "utf-8", ("text", None)),
    ],
)
def test_values_are_the_text_that_stands_there(
    tmp_path: Path, words: str, encoding: str, row: tuple[str | None, ...]
) -> None:
    assert read_csv(text_in(tmp_path / "usage.csv", words, encoding)) == [row]


def test_files_may_have_columns_that_others_lack(tmp_path: Path) -> None:
    one, other = text_in(tmp_path / "a.csv", "type,a\ntext,1\n"), text_in(tmp_path / "b'.csv", "b;type\n2;image\n")
    assert sorted(read_csv(one, other), key=str) == [("image", None, "2"), ("text", "1", None)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "usage.csv is empty, without a heading"),
        ("type,n,n\ntext,1,2\n", "the columns 'n' and 'n' have one name"),
        ("type,n\ntext,1\ntext\n", "usage.csv, line 3 has 1 columns, and the heading 2: it may be cut off"),
        ("type,n\ntext,1,2\n", "usage.csv, line 2 has 3 columns, and the heading 2"),
        ("type,n\r\ntext,1\n", r"lines of a CSV file end in different ways \(\\n, \\r\\n or \\r\)"),
        ("type,n\ntext,1\ntext,2\r", "lines of a CSV file end in different ways"),
        ('type,n\ntext,"1\n', "usage.csv, line 2: Value with unterminated quote found"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, words: str, said: str) -> None:
    with pytest.raises(SimulationError, match=said):
        read_csv(text_in(tmp_path / "usage.csv", words))


def test_the_heading_is_the_first_line_of_a_large_file_every_time(tmp_path: Path) -> None:
    rows = "".join(f"text,{number:>50}\n" for number in range(400_000))
    large = text_in(tmp_path / "usage.csv", f"type,note\n{rows}")
    connection = duckdb.connect(config={"preserve_insertion_order": False, "threads": 4})
    assert len({csv_query(connection, [str(large)]) for _ in range(300)}) == 1
