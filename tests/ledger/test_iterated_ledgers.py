"""A file of rows is read one at a time: of any size, in one page or in many."""

import io
import tracemalloc
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_rows import ROWS, all_rows
from nightly import examples
from ratecard import PriceBook
from ratecard.ledger import LedgerError, iter_ledger, ledger_csv, ledger_json, read_ledger
from ratecard.ledger.files import json_rows
from ratecard.line_items import LedgerEntry

MANY = 4_000


@settings(max_examples=examples(40, nightly=100))
@given(rows=st.lists(ROWS, max_size=2))
def test_what_was_written_is_read_with_any_size_of_chunk(rows: list[LedgerEntry]) -> None:
    written = ledger_json(rows)
    expected = list(json_rows(io.StringIO(written)))
    for chunk in (1, 2, 3, 7, 20, 50):
        assert list(json_rows(Trickle(written, chunk))) == expected


class Trickle(io.StringIO):
    """A file that gives a few characters at a time."""

    def __init__(self, text: str, most: int) -> None:
        super().__init__(text)
        self._most = most

    def read(self, size: int | None = -1, /) -> str:
        return super().read(self._most)


def test_pages_that_follow_one_another(prices: PriceBook, tmp_path: Path) -> None:
    rows = all_rows(prices)
    for between in ("", "\n", " \r\n\t"):
        pages = between.join(ledger_json([row], next_cursor="c") for row in rows) + between
        assert read_ledger(pages) == tuple(rows)
        (tmp_path / "pages.json").write_text("\ufeff" + pages)
        assert list(iter_ledger(tmp_path / "pages.json")) == rows


@pytest.mark.parametrize("write", [ledger_json, ledger_csv])
def test_a_long_file_is_never_in_memory(
    prices: PriceBook, tmp_path: Path, write: Callable[[Iterable[LedgerEntry]], str]
) -> None:
    file = tmp_path / "long"
    file.write_text(write(islice(cycle_of(prices), MANY)))
    tracemalloc.start()
    assert sum(1 for _ in iter_ledger(file)) == MANY
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 450_000 < file.stat().st_size


def cycle_of(prices: PriceBook) -> Iterable[LedgerEntry]:
    rows = all_rows(prices)
    while True:
        yield from rows


def test_a_number_at_the_edge_of_a_chunk_is_read_in_whole() -> None:
    for number in ("12345", "12.5", "12e3", "-1.25E+30", "0.1e-7"):
        page = f'{{"limit": {number} , "total":{number}, "data": [{{"a": 67890}}]}}'
        for chunk in range(1, len(page)):
            assert list(json_rows(Trickle(page, chunk))) == [{"a": 67890}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"a": 1}', "line 1: not JSON: Expecting ',' delimiter"),
        ('[{"a": 1}\n{', "line 2: not JSON: Expecting ',' delimiter"),
        ('{"data": []', "line 1: not JSON: Expecting ',' delimiter"),
        ('\n[{"a": 1},\n\n\n{"a": "\\x"}]', "line 5: not JSON: Invalid \\escape"),
        ('{"data" []}', "line 1: not JSON: Expecting ':' delimiter"),
        ('{"data": [],\n}', "line 2: not JSON: Expecting property name enclosed in double quotes"),
        ('{"data": []} x', "line 1: not JSON: something follows that is not a page"),
        ('{"data": [], "data": []}', "the page has the key 'data' twice; keep one"),
        ('{"data": []}\n{"rows": []}', 'the page has no list "data"'),
    ],
)
@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_anything_but_a_page_is_refused(content: str, said: str, chunk: int) -> None:
    with pytest.raises(LedgerError) as caught:
        list(json_rows(Trickle(content, chunk)))
    assert str(caught.value) == said


@pytest.mark.parametrize("write", [ledger_json, ledger_csv])
def test_a_file_that_is_cut_off_says_where(
    prices: PriceBook, tmp_path: Path, write: Callable[[Iterable[LedgerEntry]], str]
) -> None:
    rows = all_rows(prices)
    file = tmp_path / "cut"
    content = write(rows)
    file.write_text(content[: content.index(rows[5].sku) + 3])
    with pytest.raises(LedgerError) as caught:
        list(iter_ledger(file))
    assert str(caught.value).startswith(f"{file}: ")
    reader = iter_ledger(file)
    assert [next(reader) for _ in range(5)] == rows[:5], "the rows before it are sound"
    with pytest.raises(LedgerError):
        next(reader)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "ledger.csv"
    for path, said in ((file, "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(LedgerError) as refused:
            list(iter_ledger(path))
        assert str(refused.value) == f"{path}: {said}"
    for count in (0, 20_000, 300_000):
        file.write_bytes(b"timestamp,sku,pricePerUnitUsd,unit,amount,currency\n" + b"\n" * count + b"\xff")
        with pytest.raises(LedgerError) as caught:
            list(iter_ledger(file))
        assert str(caught.value) == f"{file}: byte {51 + count} is not UTF-8"
