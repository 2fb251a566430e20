"""Columns: aligned, never cut, and the last one continued where the terminal is narrow."""

import pytest

from ratecard.cli import screen

HEADINGS = ("Rate", "Empty", "For")
ROWS = [("$1.00", "", "720p"), ("$10.00", "", "every resolution of this model that is not named above")]


def test_a_pipe_gets_lines_as_long_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    screen.show_table(HEADINGS, ROWS, right=("Rate",))
    assert capsys.readouterr().out == (
        "  Rate  For\n $1.00  720p\n$10.00  every resolution of this model that is not named above\n"
    )


def test_a_terminal_gets_lines_as_long_as_it_is_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "width", lambda: 38)
    screen.show_table(HEADINGS, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "Rate    For",
        "$1.00   720p",
        "$10.00  every resolution of this model",
        "        that is not named above",
    ]


def test_a_word_longer_than_the_terminal_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "width", lambda: 12)
    assert screen.paragraph("a seedance-2-0-fast-text-to-video-basic b", indent="  ").splitlines() == [
        "a",
        "  seedance-2-0-fast-text-to-video-basic",
        "  b",
    ]


def test_columns_count_what_a_terminal_shows() -> None:
    assert screen.align([("a", "b"), ("日本", "c")]) == ["a     b", "日本  c"]
    assert screen.align([("a", "b")], right={1}, least=10) == ["a        b"]


def test_an_empty_table_has_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    screen.show_table(("Rate",), [("",)])
    assert capsys.readouterr().out.strip() == ""
