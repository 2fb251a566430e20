"""`ratecard simulate`: progress of long work, checks before the usage is read, and the choice of rows."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len
from test_cli_terminal import COLUMNS, plain, terminal

from ratecard.cli import main
from ratecard.cli.simulate_progress import ProgressWatch, progress
from ratecard.simulation.progress import HowFar
from reports import files


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words])


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    table, dearer, _ = files(tmp_path)
    return str(table), str(dearer)


def test_one_bar_goes_from_nothing_to_all(paths: tuple[str, str]) -> None:
    usage, dearer = paths
    seen = terminal("simulate", usage, "--candidate", dearer)
    shown = plain(seen)
    assert "0%" in shown
    assert "Reading usage" in shown
    result = shown.rpartition("rows cannot be priced")[2]
    assert "%\n" not in result.partition("\n")[0]
    assert [line for line in result.splitlines() if cell_len(line) > COLUMNS] == []


def test_what_a_line_says() -> None:
    now = [0.0]
    watch = ProgressWatch(lambda: now[0])
    part = [0.0]
    watch.begin("Reading usage: tokens", HowFar(5, 90, lambda: part[0], 1_000_000))
    assert watch.look().line() == "  5 %  Reading usage: tokens, 0:00 left"
    now[0], part[0] = 10.0, 50.0
    assert watch.look().line() == " 48 %  Reading usage: tokens, 50,000 rows a second, 0:11 left"
    part[0] = 40.0  # an engine may take back its percentage
    assert watch.look().percent == 47.5
    watch.begin("Writing", None)
    assert watch.look().line() == " 95 %  Writing, 50,000 rows a second, 0:01 left"


def test_lines_are_told_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    said = ""
    with progress(every=0.01) as begin:
        begin("Reading usage: tokens", HowFar(5, 90, lambda: 50.0, 1_000))
        while "\n 48 %  Reading usage: tokens, " not in f"\n{said}":
            time.sleep(0.01)
            said += capfd.readouterr().err
    capfd.readouterr()
    with progress() as begin:  # short work prints nothing
        begin("Reading usage: tokens", None)
    assert capfd.readouterr().err == ""


def test_a_place_that_cannot_be_written_is_refused_before_the_usage_is_read(
    paths: tuple[str, str], tmp_path: Path
) -> None:
    _, dearer = paths
    unreadable = tmp_path / "usage.parquet"
    unreadable.write_bytes(b"nothing that could be read")
    long = tmp_path / f"{'x' * 250}.html"  # the name is too long for a temporary file beside it
    done = run(str(unreadable), "--candidate", dearer, "--out", str(long))
    assert done.exit_code == 2
    assert "cannot be written: File name too long" in done.stderr
    good = tmp_path / "report.html"
    assert run(str(unreadable), "--candidate", dearer, "--out", str(good)).exit_code == 1
    assert not good.exists()
    assert not list(tmp_path.glob(".*"))


def test_rows_are_chosen_and_the_report_says_what_was_read(paths: tuple[str, str], tmp_path: Path) -> None:
    usage, dearer = paths
    outs = [tmp_path / f"report.{ending}" for ending in ("json", "html", "xlsx")]
    options = ["--where", "type = 'text' and customer is not missing", "--since", "2026-10-02", "--until", "2026-10-04"]
    words = [word for out in outs for word in ("--out", str(out))]
    done = run(usage, "--candidate", dearer, *options, *words)
    assert done.exit_code == 0, done.output
    found = json.loads(outs[0].read_text(encoding="utf-8"))
    assert 0 < found["rows"] < found["reading"]["found"] == 240
    assert found["reading"]["source"]["files"] == 1
    assert found["reading"]["source"]["bytes"] == Path(usage).stat().st_size
    page = outs[1].read_text(encoding="utf-8")
    for said in (found["reading"]["source"]["fingerprint"], "Columns not used", "since 2026-10-02, until 2026-10-04"):
        assert said in page
    assert f"({found['rows']} of 240 rows: where type" in run(usage, "--candidate", dearer, *options).stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--where", "region = eu"), 2, "Text is in quotes: 'eu'"),
        (("--since", "yesterday"), 2, "since is 'yesterday', and must be a day, like 2026-10-01"),
        (("--where", "regoin = 'eu'"), 1, "no column 'regoin'"),
        (("--map", "promt_tokens=customer"), 1, "'promt_tokens' is not a column that a simulation reads"),
    ],
)
def test_wrong_rows_and_columns_are_refused(
    paths: tuple[str, str], words: tuple[str, ...], status: int, said: str
) -> None:
    done = run(paths[0], "--candidate", paths[1], *words)
    assert (done.exit_code, done.stdout) == (status, "")
    assert said in done.stderr


def test_a_column_that_looks_like_a_missing_one_is_said_first(paths: tuple[str, str], tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    head = "type,model,timestamp,prompt_tokens,completion_tokens,cache_read_tokens"
    usage.write_text(f"{head}\ntext,claude-opus-4-6,2026-10-02,1000,5,900\n", encoding="utf-8")
    said = "Column 'cache_read_tokens' is not read. Did you mean 'cached_tokens'? Then name it"
    assert run(str(usage), "--candidate", paths[1]).stdout.startswith(said)
    done = run(str(usage), "--candidate", paths[1], "--out", str(tmp_path / "report.csv"))
    assert done.stderr.startswith(said)
