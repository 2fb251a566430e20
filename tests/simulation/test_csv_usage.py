"""CSV is read by its heading: nothing is guessed, nothing is lost, and a fault is named with its line."""

from pathlib import Path

import duckdb
import pytest

from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.duckdb_engine import csv_query
from ratecard.simulation.workspace import readable


def read(*files: Path) -> list[tuple[str | None, ...]]:
    connection = duckdb.connect()
    with readable():
        return connection.execute(csv_query(connection, list(map(str, files)))).fetchall()


def written(path: Path, words: str, encoding: str = "utf-8") -> Path:
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
    assert read(written(tmp_path / "usage.csv", words, encoding)) == [row]


def test_files_may_have_columns_that_others_lack(tmp_path: Path) -> None:
    one, other = written(tmp_path / "a.csv", "type,a\ntext,1\n"), written(tmp_path / "b'.csv", "b;type\n2;image\n")
    assert sorted(read(one, other), key=str) == [("image", None, "2"), ("text", "1", None)]


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
        read(written(tmp_path / "usage.csv", words))


def test_the_heading_is_the_first_line_of_a_large_file_every_time(tmp_path: Path) -> None:
    rows = "".join(f"text,{number:>50}\n" for number in range(400_000))
    large = written(tmp_path / "usage.csv", f"type,note\n{rows}")
    connection = duckdb.connect(config={"preserve_insertion_order": False, "threads": 4})
    assert len({csv_query(connection, [str(large)]) for _ in range(300)}) == 1
