"""`ratecard simulate`: what it prints and writes, what it refuses, its progress, and how it ends when it is stopped."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet
from rich.cells import cell_len
from test_cli_terminal import COLUMNS, plain, terminal

from ratecard.cli import main
from ratecard.cli.simulate_progress import ProgressWatch, progress
from ratecard.simulation.progress import HowFar
from ratecard.simulation.report.output import WRITERS
from reports import files

pytestmark = pytest.mark.usefixtures("few_shipped")

CHANGES_NOTHING = """
candidate: much later
effective: 2027-12-01
proposed_by: Pricing
why: a test
changes:
  - scale: {model: MODEL}
    factor: 1.1
"""


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str, str]:
    table, dearer, cheaper = files(tmp_path)
    return str(table), str(dearer), str(cheaper)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words])


def candidate(folder: Path, model: str) -> str:
    path = folder / "later.yaml"
    path.write_text(CHANGES_NOTHING.replace("MODEL", model), encoding="utf-8")
    return str(path)


def test_rows_without_a_price_come_before_the_answer(paths: tuple[str, str, str]) -> None:
    usage, dearer, _ = paths
    done = run(usage, "--candidate", dearer)
    assert (done.exit_code, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n")
    assert first == "6 of 240 rows cannot be priced and are in no figure"
    order = [
        "no-such-model",
        "Revenue rises by",
        "customers pay more",
        "Models that change most",
        "Why",
        "Losers",
        "Winners",
    ]
    places = [rest.index(words) for words in order]
    assert places == sorted(places)


def test_keys_may_be_named_together_or_each_by_itself(paths: tuple[str, str, str], tmp_path: Path) -> None:
    """The last of several does not win in silence."""
    usage, dearer, _ = paths
    for out, keys in (("one.json", ["--by", "model,customer"]), ("each.json", ["--by", "model", "--by", "customer"])):
        assert run(usage, "--candidate", dearer, *keys, "--out", str(tmp_path / out)).exit_code == 0
    one, each = ((json.loads((tmp_path / out).read_text(encoding="utf-8"))) for out in ("one.json", "each.json"))
    assert each["by"] == one["by"] == ["model", "customer"]
    assert each["rows"] == one["rows"]


def test_a_key_that_is_called_like_a_figure_is_shown_beside_it(paths: tuple[str, str, str], tmp_path: Path) -> None:
    rows = parquet.read_table(paths[0])
    names = ["Requests" if name == "customer" else name for name in rows.column_names]
    parquet.write_table(rows.rename_columns(names), tmp_path / "renamed.parquet")
    done = run(str(tmp_path / "renamed.parquet"), "--by", "Requests")
    assert [line.split()[2:] for line in done.stdout.splitlines() if "acme" in line] == [["30", "acme"]]


def test_every_option_is_answered(paths: tuple[str, str, str]) -> None:
    usage, dearer, _ = paths
    options = ["--cost", "2026-10-01", "--elasticity", "all=-0.8:-1.2..-0.4", "--until-target", "0.1%", "--rise", "2%"]
    done = run(usage, "--candidate", dearer, "--by", "customer", "--locale", "de_DE", *options)
    assert done.exit_code == 0, done.output
    for words in (
        "The smallest factor that reaches +0,10",
        "is above 2",
        "once volume answers prices by all -0.8",
        "Expected margin goes from",
    ):
        assert words in done.stdout


def test_two_candidates_are_shown_side_by_side(paths: tuple[str, str, str]) -> None:
    done = run(paths[0], "--candidate", paths[1], "--candidate", paths[2])
    assert done.exit_code == 0
    assert "Revenue under each" in done.stdout
    assert done.stdout.count("Models that change most") == 2


def test_every_format_is_written_and_says_what_made_it(paths: tuple[str, str, str], tmp_path: Path) -> None:
    usage, dearer, _ = paths
    folder = tmp_path / "out"
    folder.mkdir()
    outs = [word for ending in WRITERS for word in ("--out", str(folder / f"report{ending}"))]
    before = Path(usage).read_bytes()
    done = run(usage, "--candidate", dearer, *outs)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Revenue rises by" in done.stderr
    assert sorted(path.suffix for path in folder.iterdir()) == sorted(WRITERS)
    command = json.loads((folder / "report.json").read_text(encoding="utf-8"))["command"]
    assert command.startswith(f"ratecard simulate {usage} --candidate {dearer} --out ")
    assert Path(usage).read_bytes() == before


def test_strict_fails_where_rows_have_no_price(paths: tuple[str, str, str], tmp_path: Path) -> None:
    done = run(paths[0], "--candidate", paths[1], "--strict", "--out", str(tmp_path / "report.csv"))
    assert done.exit_code == 1
    assert "6 of 240 rows cannot be priced" in done.stderr
    assert not (tmp_path / "report.csv").exists()


def test_a_candidate_without_effect_says_why(paths: tuple[str, str, str], tmp_path: Path) -> None:
    later = candidate(tmp_path, "claude-opus-4-6")
    done = run(paths[0], "--candidate", later)
    assert done.exit_code == 1
    assert "its rates hold from 2027-12-01 on, and the usage ends on 2026-10-11" in done.stderr
    assert "--current 2027-12-01" in done.stderr
    assert run(paths[0], "--candidate", later, "--current", "2027-12-01").exit_code == 0
    done = run(paths[0], "--candidate", candidate(tmp_path, "ovi-image-to-video"))
    assert "the usage has none of the models whose rates it changes (ovi-image-to-video)" in done.stderr
    done = run(paths[0], "--candidate", "2026-10-01", "--current", "2026-10-02")
    assert "no rate is another than the current one" in done.stderr


def test_a_name_is_one_cell_whatever_it_holds(tmp_path: Path) -> None:
    rows = [{"type": "speech", "model": "tts-kokoro", "timestamp": "2026-10-02", "characters": 1_000_000}] * 2
    names = ("a\nTotal  $9", "\x1b[31mb")
    usage = tmp_path / "usage.jsonl"
    usage.write_text("\n".join(json.dumps(row | {"customer": name}) for row, name in zip(rows, names, strict=True)))
    shown = run(str(usage), "--by", "customer").stdout
    assert r"a\nTotal  $9" in shown
    assert r"\x1b[31mb" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing.parquet", "--candidate", "2026-10-01"), "There is no file missing.parquet"),
        (("missing*.parquet", "--candidate", "2026-10-01"), "there is no file missing*.parquet"),
        (("USAGE", "--currency", "eur"), "currency 'eur' is not an ISO 4217 code"),
        (("USAGE", "--bridge", "2026-10..2026-13"), "'2026-13' is not a month. Write it like 2026-10"),
        (("USAGE", "--memory", "lots"), "'lots' is not an amount of memory"),
        (("USAGE", "--disputes", "d.csv", "--where", "model ="), "where: 'model ='"),
        (("USAGE", "--candidate", "nothing"), "'nothing' names nothing that can be compared"),
        (("USAGE", "--elasticity", "all=-1", "--max-rise", "5%"), "or leave out --elasticity, --max-rise"),
        (("USAGE", "--volume", "5"), "volume '5' cannot be read. Write -5%, TYPE=-5%, FAMILY=-5%"),
        (("USAGE", "--pace", "30"), "pace '30' cannot be read. Write 30d, 90d or all"),
        (("USAGE", "--candidate", "DEARER", "--map", "model"), "'model' is not NAME=COLUMN"),
        (("USAGE", "--map", "customer=a", "--map", "customer=b"), "'customer' is given twice"),
        (("USAGE", "--candidate", "DEARER", "--remap", "a=a"), "'a=a' is not OLD=NEW, like kling-o3-pro=kling-o3"),
        (("USAGE", "--candidate", "DEARER", "--rise", "ten"), "'ten' is not a percentage. Write it like 10%"),
        (
            ("USAGE", "--candidate", "DEARER", "--rise", "1.12345678901234567%"),
            "has more than 16 digits before or after",
        ),
        (("USAGE", "--candidate", "DEARER", "--elasticity", "all"), "elasticity 'all' cannot be read"),
        (("USAGE", "--candidate", "DEARER", "--until-target", "5"), "target '5' cannot be read"),
        (("USAGE", "--candidate", "DEARER", "--until-target", "1_0/year"), "target '1_0/year' cannot be read"),
        (("USAGE", "--candidate", "DEARER", "--elasticity", "all=-0_8"), "elasticity 'all=-0_8' cannot be read"),
        (("USAGE", "--candidate", "DEARER", "--rise", "1_0%"), "'1_0%' is not a percentage. Write it like 10%"),
        (("USAGE", "--candidate", "2026-08-21", "--until-target", "5%"), "--until-target needs one --candidate"),
        (("USAGE", "--candidate", "DEARER", "--out", "report.pdf"), "report.pdf ends in none of .html"),
        (("USAGE", "--candidate", "DEARER", "--out", "no/folder/report.html"), "no such folder"),
        (("USAGE", "--candidate", "DEARER", "--out", "s3a://bucket/groups.parquet"), "--engine spark"),
        (
            ("USAGE", "--candidate", "DEARER", "--engine", "spark", "--out", "s3a://b/g.xlsx"),
            "a workbook is written as",
        ),
        (("USAGE", "--tornado", "5%", "--engine", "spark", "--out", "s3a://b/t.csv"), ".json, on this machine"),
        (("USAGE", "--candidate", "DEARER", "--locale", "xx_YY"), "'xx_YY' is not a locale"),
        (("USAGE", ""), "There is no file ''"),
    ],
)
def test_wrong_use_is_said_before_anything_is_read(
    paths: tuple[str, str, str], words: tuple[str, ...], said: str
) -> None:
    given = {"USAGE": paths[0], "DEARER": paths[1]}
    done = run(*(given.get(word, word) for word in words))
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_report_never_takes_the_place_of_the_usage(paths: tuple[str, str, str], tmp_path: Path) -> None:
    usage, dearer, _ = paths
    before = Path(usage).read_bytes()
    for given, out in ((usage, usage), (str(tmp_path), f"{tmp_path}/new.csv"), (f"{tmp_path}/*.parquet", usage)):
        done = run("--out", out, given, "--candidate", dearer)
        assert (done.exit_code, "is among the usage" in done.stderr) == (2, True)
    assert Path(usage).read_bytes() == before


def test_usage_that_is_cut_off_or_of_a_wrong_type_is_named(paths: tuple[str, str, str], tmp_path: Path) -> None:
    usage, dearer, _ = paths
    table = parquet.read_table(usage)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(Path(usage).read_bytes()[:2000])
    lines = tmp_path / "cut.csv"
    lines.write_text(
        "type,model,timestamp,duration\nvideo,ovi-image-to-video,2026-10-01,5s\nvideo,ovi-ima", encoding="utf-8"
    )
    wrong = tmp_path / "wrong.parquet"
    parquet.write_table(table.drop_columns("timestamp").append_column("timestamp", pyarrow.array([7] * 240)), wrong)
    empty = tmp_path / "empty.csv"
    empty.write_text("type,model,timestamp\n", encoding="utf-8")
    for path, said in (
        (cut, "cut.parquet': it is truncated, or not a Parquet file"),
        (lines, "cut.csv, line 3 has 2 columns, and the heading 4: it may be cut off"),
        (wrong, "column 'timestamp' is BIGINT, and timestamp can be timestamp or date or text"),
        (empty, "the usage has no rows"),
    ):
        done = run(str(path), "--candidate", dearer, "--out", str(tmp_path / "report.html"))
        assert (done.exit_code, done.stdout) == (1, "")
        assert said in done.stderr
        assert "SELECT" not in done.stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--where", "model = 'nothing'"), 1, "none of 240 rows is chosen: where model = 'nothing'"),
        (("--since", "2030-01-01"), 1, "none of 240 rows is chosen: since 2030-01-01"),
        (("--max-rise", "5%", "--by", "model"), 1, "the usage is not grouped by 'customer'. Add it to --by"),
    ],
)
def test_what_chooses_no_rows_or_no_prices_is_said(
    paths: tuple[str, str, str], options: tuple[str, ...], status: int, said: str
) -> None:
    usage, dearer, _ = paths
    done = run(usage, "--candidate", dearer, *options)
    assert (done.exit_code, done.stdout) == (status, "")
    assert said in done.stderr


# The command with each signal, in a fork of one that has loaded what it needs; it sends the signal to itself once the
# engine has read a part of the usage.
STOPPED = """
import os, signal, sys, threading, time, warnings
import duckdb, ratecard.cli.simulate, ratecard.cli.simulate_run
from ratecard.cli import main, simulate_progress

# Python 3.12 and newer warn of the threads that wait in these libraries: none of them holds a lock here.
warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)

begin = simulate_progress.ProgressWatch.begin

def stop(percent):
    first = percent()
    while percent() <= first:
        time.sleep(0.001)
    os.kill(os.getpid(), number)

def beginning(watch, words, percent):
    begin(watch, words, percent)
    if words == "Reading usage: tokens":
        threading.Thread(target=stop, args=[percent], daemon=True).start()

simulate_progress.ProgressWatch.begin = beginning
for number in (signal.SIGINT, signal.SIGTERM):
    if not os.fork():
        main()
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def test_a_run_that_is_stopped_leaves_nothing_half_written(paths: tuple[str, str, str], tmp_path: Path) -> None:
    """The usage takes long enough to read that a run can be stopped in its midst."""
    usage, dearer, _ = paths
    large, work, out = tmp_path / "large.parquet", tmp_path / "work", tmp_path / "out"
    parquet.write_table(pyarrow.concat_tables([parquet.read_table(usage)] * 20_000), large)
    work.mkdir()
    out.mkdir()
    words = ["simulate", str(large), "--candidate", dearer, "--out", str(out / "report.csv")]
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, *words], env=os.environ | {"TMPDIR": str(work)}, capture_output=True, text=True
    )
    # On a slow machine lines of progress come first.
    said = [line for line in done.stderr.splitlines() if " %  Reading usage: " not in line]
    assert (done.stdout, said) == ("130\n130\n", ["Interrupted; no report is written"] * 2)
    assert not list(out.iterdir())
    assert not list(work.iterdir())


def test_on_a_terminal_nothing_is_wider_than_it_and_the_progress_goes_away(paths: tuple[str, str, str]) -> None:
    """One bar goes from nothing to all, and is not there any more when the result is."""
    usage, dearer, _ = paths
    seen = terminal("simulate", usage, "--candidate", dearer, "--cost", "2026-10-01")
    progress, _, shown = seen.rpartition("rows cannot be priced")
    for words in ("\N{BOX DRAWINGS HEAVY HORIZONTAL}", "0%", "Reading usage"):
        assert words in plain(progress)
    assert "\N{BOX DRAWINGS HEAVY HORIZONTAL}" not in shown
    assert "\x1b[2K" in progress.rpartition("\N{BOX DRAWINGS HEAVY HORIZONTAL}")[2]  # its line is erased
    first, *lines = plain(shown).splitlines()
    assert "%" not in first
    assert [line for line in lines if cell_len(line) > COLUMNS] == []
    assert "Models that change most" in lines


def test_beside_files_each_reason_is_said_once_and_the_others_are_counted(tmp_path: Path) -> None:
    rows = ["type,model,timestamp,characters", "speech,tts-kokoro,2026-10-03,5", "text,one,2026-10-03,"]
    rows += [f"speech,{name},2026-10-03,5" for name in ("one", "two", "tree", "four")]
    (tmp_path / "usage.csv").write_text("\n".join(rows))
    done = run(str(tmp_path / "usage.csv"), "--out", str(tmp_path / "out.csv"))
    line = done.stderr.splitlines()[0]
    assert line.count("Specified model not found: ") == 3
    assert line.endswith("; and 1 more reason")


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
    now[0] = 1_235.0
    watch.begin("Writing", lambda: 95)
    assert watch.look().line() == " 95 %  Writing, 50,000 rows a second, 1:05 left"


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
    paths: tuple[str, str, str], tmp_path: Path
) -> None:
    _, dearer, _ = paths
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


def test_rows_are_chosen_and_the_report_says_what_was_read(paths: tuple[str, str, str], tmp_path: Path) -> None:
    usage, dearer, _ = paths
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
        (("--map", "promt_tokens=customer"), 1, "'promt_tokens' is not a column that is read, and nothing is grouped"),
    ],
)
def test_wrong_rows_and_columns_are_refused(
    paths: tuple[str, str, str], words: tuple[str, ...], status: int, said: str
) -> None:
    done = run(paths[0], "--candidate", paths[1], *words)
    assert (done.exit_code, done.stdout) == (status, "")
    assert said in done.stderr


def test_a_column_that_looks_like_a_missing_one_is_said_first(paths: tuple[str, str, str], tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    head = "type,model,timestamp,prompt_tokens,completion_tokens,cache_read_tokens"
    usage.write_text(f"{head}\ntext,claude-opus-4-6,2026-10-02,1000,5,900\n", encoding="utf-8")
    said = "Column 'cache_read_tokens' is not read. Did you mean 'cached_tokens'? Then name it"
    assert run(str(usage), "--candidate", paths[1]).stdout.startswith(said)
    done = run(str(usage), "--candidate", paths[1], "--out", str(tmp_path / "report.csv"))
    assert done.stderr.startswith(said)


MODEL = "kling-o3-pro-text-to-video"


@pytest.fixture
def one_day(tmp_path: Path) -> str:
    path = tmp_path / "usage.csv"
    rows = [f"video,{MODEL},2026-10-01T12:00:00Z,{name},{seconds}s" for name, seconds in (("a", 5), ("b", 8))]
    path.write_text("\n".join(("type,model,timestamp,customer,duration", *rows, "")), encoding="utf-8")
    return str(path)


def said(result: Result) -> str:
    return " ".join(result.stdout.split())


def test_a_target_out_of_reach_writes_the_report_and_says_so(one_day: str, tmp_path: Path) -> None:
    candidate, outs = tmp_path / "c.yaml", [tmp_path / f"out{ending}" for ending in (".json", ".html", ".csv")]
    head = "candidate: dearer\neffective: 2026-10-01\nproposed_by: x\nwhy: x\nchanges:\n"
    candidate.write_text(f"{head}  - scale: {{model: {MODEL}}}\n    factor: 1.1\n", encoding="utf-8")
    asked = [one_day, "--candidate", str(candidate), "--until-target", "10000%"]
    result = run(*asked, *(word for out in outs for word in ("--out", str(out))))
    words = "the target is not reached at 100 times the price"
    assert (result.exit_code, words in result.stderr) == (1, True)
    assert all(out.exists() for out in outs)
    assert words in json.loads(outs[0].read_text(encoding="utf-8"))["target"]["reason"]
    words = words.replace("the", "The", 1)
    assert words in outs[1].read_text(encoding="utf-8")
    result = run(*asked)
    assert (result.exit_code, words in said(result)) == (1, True)
    result = run(*asked[:3], "--until-target", "5%", "--out", str(outs[0]))
    assert result.exit_code == 0
    assert json.loads(outs[0].read_text(encoding="utf-8"))["target"]["factor"].startswith("1.0")


def test_one_day_is_named_once(one_day: str) -> None:
    words = said(run(one_day))
    assert "a year, at the pace of the only day (2026-10-01, x 365). The usage covers 1 of the 90 days that" in words
    words = said(run(one_day, "--pace", "all"))
    assert "at the pace of the only day" in words
    assert "covers" not in words


def test_usage_without_days_says_which_column_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "usage.csv"
    path.write_text(f"type,model,duration\nvideo,{MODEL},5s\n", encoding="utf-8")
    words = said(run(str(path), "--current", "2026-12-01"))
    assert "cannot be had: the usage has no column 'timestamp'. Name it: --map timestamp=COLUMN." in words
    assert "--by" not in words


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["--by", "month", "--bridge", "2026-09..2026-10"],
            "no request of 2026-09 has a price. The months are:",
        ),
        (
            ["--by", "model", "--volume", "customer:a=-5%"],
            "not grouped by 'customer'. Add it: by=[",
        ),
        (["--volume", "veo=-5%"], "volume of 'veo': no usage of a model, family or type of this name"),
    ],
)
def test_nothing_is_said_before_a_question_is_refused(one_day: str, words: list[str], why: str) -> None:
    result = run(one_day, *words)
    assert (result.exit_code, result.stdout, why in result.stderr) == (1, "", True), result.output


def test_a_bridge_is_between_two_periods(one_day: str) -> None:
    for given in ("2026-09", "2026-09..", "..2026-10"):
        result = run(one_day, "--bridge", given)
        assert (result.exit_code, f"'{given}' is not two periods" in result.stderr) == (2, True)
