"""Words that can name no file, or are no text, and files that cannot be written: a message, never a traceback."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ratecard.cli import main
from reports import small_disk

LONG = "x" * 300
USAGE = ["simulate", "usage.csv"]


@pytest.fixture(autouse=True)
def usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = "speech,tts-kokoro,2026-10-03T10:00:00Z,acme,2000000"
    Path("usage.csv").write_text(f"type,model,timestamp,account,characters\n{row}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([*USAGE, "--out", f"{LONG}.csv"], 2),
        ([*USAGE, "--contracts", "--statements", f"{LONG}.csv"], 2),
        ([*USAGE, "--disputes", f"{LONG}.csv"], 2),
        (["simulate", LONG], 1),
        ([*USAGE, "--current", LONG], 1),
        ([*USAGE, "--candidate", f"{LONG}.yaml"], 1),
        ([*USAGE, "--cost", f"{LONG}.csv"], 1),
        (["statement", LONG, "--account", "acme", "--month", "2026-10"], 1),
        (["rollup", LONG, "--out", "kept"], 1),
        (["whatif", LONG], 1),
        (["demo-usage", "--rows", "5", "--out", f"{LONG}.csv"], 1),
        (["diff", "2026-10-01", LONG], 1),
        (["promote", LONG], 1),
        (["schema", "--out", LONG], 1),
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_refused(words: list[str], status: int) -> None:
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, "File name too long" in done.stderr) == (status, True), done.output


@pytest.mark.parametrize("words", [["schema"], ["diff", "2026-08-03", "2026-08-21"]])
def test_a_disk_that_is_full_is_said(words: list[str]) -> None:
    with small_disk():
        done = CliRunner().invoke(main, [*words, "--out", "out"])
    assert (done.exit_code, done.stderr) == (1, "[Errno 27] File too large\n"), done.output


@pytest.mark.parametrize(
    "words",
    [
        [*USAGE, "--where", "account = 'caf\udce9'"],
        [*USAGE, "--by", "account", "--volume", "account:caf\udce9=-5%"],
        [*USAGE, "--out", "caf\udce9.html"],
        ["rollup", "usage.csv", "--out", "caf\udce9"],
        ["demo-usage", "--rows", "5", "--out", "caf\udce9.csv"],
    ],
)
def test_a_word_in_another_encoding_than_utf_8_is_refused(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, r"caf\udce9" in done.stderr, "this word is not in UTF-8" in done.stderr) == (2, True, True)
    assert [path.name for path in Path().iterdir()] == ["usage.csv"]
