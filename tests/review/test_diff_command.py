"""`ratecard diff`: what its two arguments may be, and what it writes."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from git_tables import FILES, SECOND, edited, git, newer, repository, write
from ratecard import load_rate_card
from ratecard.cli import main
from ratecard.cli.diff import diff_text as as_text
from ratecard.review.compare import compare_sides
from ratecard.review.report import diff_markdown, diff_page
from ratecard.review.sides import Side
from shipped import CARD

CHEAPER = edited((SECOND, "480p, rate: 0.10", "480p, rate: 0.05"))
CANDIDATE = """\
candidate: spring
effective: 2027-03-01
proposed_by: finance
why: a test
changes:
  - {set: per-second-video, where: {resolution: 480p}, rate: 0.125}
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["diff", *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two commits, the second one cheaper; we are at its top."""
    found = repository(tmp_path / "repo", FILES, CHEAPER)
    monkeypatch.chdir(found.parent)
    return found


def first_rate(sent: Result) -> tuple[str, str]:
    assert sent.exit_code == 0, sent.output
    (change,) = json.loads(sent.stdout)["changes"]
    return change["rates"][0]["old"]["rate"], change["rates"][0]["new"]["rate"]


def test_two_folders(folder: Path) -> None:
    write(folder.parent / "other", FILES)
    assert first_rate(run("other", "pricing_tables", "--format=json")) == ("0.1", "0.05")


def test_two_revisions_of_the_tables_of_the_repository(folder: Path) -> None:
    sent = run("HEAD~1", "main", "--format=json")
    assert first_rate(sent) == ("0.1", "0.05")
    body = json.loads(sent.stdout)
    assert body["old"] == f"HEAD~1 ({git(folder, 'rev-parse', 'HEAD~1')[:12]})"
    commit = git(folder, "rev-parse", "HEAD").strip()
    assert json.loads(run(commit, "HEAD~1", "--format=json").stdout)["old"] == commit[:12]


def test_a_revision_and_what_is_in_the_folder_now(folder: Path) -> None:
    write(folder, edited((SECOND, "480p, rate: 0.10", "480p, rate: 0.07")))
    assert first_rate(run("HEAD", "pricing_tables", "--format=json")) == ("0.05", "0.07")


def test_a_revision_of_another_folder(folder: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "far", FILES, CHEAPER, place="some/tables")
    assert first_rate(run("HEAD~1", "HEAD", "--tables", str(other), "--format=json")) == ("0.1", "0.05")


def test_two_dates_of_a_folder(folder: Path) -> None:
    write(folder, edited(newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30"))))
    words = ["2026-12-31", "2027-01-01T12:00:00Z", "--tables", str(folder), "--format=json"]
    assert first_rate(run(*words)) == ("0.1", "0.3")


def test_two_dates_of_the_shipped_tables(folder: Path) -> None:
    sent = run("2026-09-27", "2026-09-28", "--format=json")
    assert "ltx-2-fast-text-to-video" in {change["model"] for change in json.loads(sent.stdout)["changes"]}


def test_one_instant(folder: Path) -> None:
    write(folder, edited(newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30")), files=CHEAPER))
    assert run("HEAD", "pricing_tables", "--at=2026-12-31").stdout == "No price changes\n"
    assert first_rate(run("HEAD", "pricing_tables", "--at=2027-01-01", "--format=json")) == ("0.05", "0.3")


def test_a_candidate_is_laid_over_the_other_side(folder: Path) -> None:
    (folder.parent / "spring.yaml").write_text(CANDIDATE, encoding="utf-8")
    assert first_rate(run("pricing_tables", "spring.yaml", "--format=json")) == ("0.05", "0.125")
    assert first_rate(run("spring.yaml", "HEAD~1", "--format=json")) == ("0.125", "0.1")
    dearer = CANDIDATE.replace("0.125", "0.2")
    (folder.parent / "autumn.yaml").write_text(dearer, encoding="utf-8")
    words = ["spring.yaml", "autumn.yaml", "--tables", "pricing_tables", "--format=json"]
    assert first_rate(run(*words)) == ("0.125", "0.2")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            "nonsense",
            ["folder: there is no", "candidate: there is no", "is not a git revision in", "date: 'nonsense' is not"],
        ),
        ("", ["folder: there is no", "'' is not a git revision"]),
        ("-x", ["revision: '-x' is not a git revision"]),
        ("HEAD~9", ["revision: 'HEAD~9' is not a git revision in", "Write a commit, branch or tag"]),
        ("HEAD~1..HEAD", ["is not a git revision"]),
        ("HEAD\n", ["is not a git revision"]),
        ("2026-10-01T12:00", ["date: '2026-10-01T12:00' has no time zone"]),
    ],
)
def test_a_word_that_names_nothing_is_a_wrong_use(folder: Path, given: str, words: list[str]) -> None:
    sent = run("--", given, "HEAD")
    assert sent.exit_code == 2
    assert "names nothing that can be compared. Tried:" in sent.stderr
    for part in words:
        assert part in sent.stderr


def test_a_word_that_names_two_things_is_a_wrong_use(folder: Path) -> None:
    git(folder, "branch", "pricing_tables")
    sent = run("pricing_tables", "HEAD")
    assert sent.exit_code == 2
    assert (
        "'pricing_tables' is a folder and a revision. Write ./pricing_tables for the folder, refs/heads/" in sent.stderr
    )
    assert run("./pricing_tables", "refs/heads/pricing_tables").stdout == "No price changes\n"


def test_a_whole_path_is_not_asked_of_git(folder: Path) -> None:
    described = folder.parent / f"tables-g{git(folder, 'rev-parse', 'HEAD').strip()}"
    shutil.copytree(folder, described)
    assert run(str(described), str(described)).stdout == "No price changes\n"
    assert "\n  revision: a path is not a revision" in run(f"{described}/../not-{described.name}", "HEAD").stderr


def test_a_date_that_is_a_branch_too(folder: Path) -> None:
    git(folder, "branch", "2026-10-01")
    assert "is a revision and a date" in run("2026-10-01", "HEAD").stderr
    assert run("2026-10-01T00:00Z", "2026-10-01T00:00Z").exit_code == 0


def test_two_dates_and_an_instant_are_one_too_many(folder: Path) -> None:
    sent = run("2026-10-01", "2026-10-02", "--at=2026-10-03")
    assert (sent.exit_code, "two dates say already what to compare; leave out --at" in sent.stderr) == (2, True)


def test_outside_a_repository_there_are_no_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "tables", FILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    sent = run("HEAD", "tables")
    assert sent.exit_code == 2
    assert "revision: . is not in a git repository, so it has no revisions" in sent.stderr
    assert run("tables", "tables").stdout == "No price changes\n"


def test_a_repository_without_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "repo", FILES, place="elsewhere")
    monkeypatch.chdir(folder.parent)
    sent = run("HEAD", "elsewhere")
    assert sent.exit_code == 2
    assert "the repository has no folder pricing_tables. Name that of its tables by --tables" in sent.stderr
    assert run("HEAD", "elsewhere", "--tables=elsewhere").stdout == "No price changes\n"


def test_a_folder_that_was_not_there_then(folder: Path) -> None:
    git(folder.parent, "mv", "pricing_tables", "tables")
    sent = run("HEAD", "tables", "--tables=tables")
    assert sent.exit_code == 2
    assert "tables holds no rate table at HEAD (" in sent.stderr


def test_without_git_everything_else_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert run("pricing_tables", "./pricing_tables").stdout == "No price changes\n"
    sent = run("HEAD", "pricing_tables")
    assert (sent.exit_code, "revision: the command git is not installed here" in sent.stderr) == (2, True)


def test_unreadable_tables_are_refused(folder: Path) -> None:
    write(folder, {**FILES, SECOND: FILES[SECOND].replace("rate: 0.10", "rate: none")})
    git(folder, "commit", "-q", "-a", "-m", "broken")
    sent = run("HEAD", "HEAD~1")
    assert sent.exit_code == 1
    assert sent.stderr.startswith(f"HEAD:{SECOND}:21: rate 'none' is not a number")
    assert run("pricing_tables", "HEAD~1").stderr.startswith(f"{SECOND}:21: rate 'none'")


def test_the_text_of_a_terminal(folder: Path) -> None:
    write(
        folder, edited(newer(SECOND, "2027-01-01", ("[3s..5s]", "[3s..6s]"), ("rate: 0.20", "rate: 0.22")), files=FILES)
    )
    sent = run("HEAD", "pricing_tables")
    commit = git(folder, "rev-parse", "HEAD")[:12]
    assert (
        sent.stdout
        == f"""\
Key: ~ changed, + added, - removed
HEAD ({commit}) -> pricing_tables

~ per-second-video, from 2026-09-01, before 2027-01-01
    ~ video, resolution 480p: 0.05 -> 0.1 USD per video_second (+100%)
      per_second.yaml:21 -> per_second.yaml:38
    3 of 6 price cells affected
    Worst rise: 0.15 -> 0.3 (+100%) for duration 3s, resolution 480p

~ per-second-video, from 2027-01-01
    ~ video, resolution 480p: 0.05 -> 0.1 USD per video_second (+100%)
      per_second.yaml:21 -> per_second.yaml:21
    ~ video, resolution 720p: 0.2 -> 0.22 USD per video_second (+10%)
      per_second.yaml:22 -> per_second.yaml:22
    ~ accepts duration: 3s..5s -> 3s..6s
    8 of 8 price cells affected
    Worst rise: 0.15 -> 0.3 (+100%) for duration 3s, resolution 480p

3 rates changed, 1 condition changed, 11 price cells affected
Worst rise: 0.15 -> 0.3 (+100%) for per-second-video, duration 3s, resolution 480p
"""
    )


def test_the_text_of_what_comes_and_goes(folder: Path) -> None:
    end = (SECOND, "    versions:", "    retired: {on: 2027-01-01, successor: per-clip-video}\n    versions:")
    charge = "          - charge: input image\n            method: fixed\n            unit: input_image\n"
    fewer = ("per_clip.yaml", f"{charge}            rates:\n              - {{rate: 0.01}}\n", "")
    free = ("duration_band.yaml", "1..60, rate: 0.03", "1..60, rate: 0")
    write(folder.parent / "before", edited(free, ("duration_band.yaml", "61..90", "61..99")))
    write(folder.parent / "after", {name: text for name, text in edited(end, fewer).items() if name != "tokens.yaml"})
    text = run("before", "after").stdout
    for part in (
        "~ duration-band-music, from 2026-09-01\n",
        "    ~ song, seconds 1..60: 0 -> 0.03 USD per song (from zero)\n",
        "    + song, seconds 61..90: 0.04 USD per song\n      duration_band.yaml:17\n",
        "    - song, seconds 61..99: 0.04 USD per song\n",
        "    Worst rise: 0 -> 0.03 (from zero) for duration_seconds 60\n",
        "- per-second-video, from 2027-01-01: retired on 2027-01-01, use per-clip-video\n    6 of 6 price cells",
        "- tokens-text, from 2026-09-01: not in the tables any more\n",
        "    - unit of input image: input_image\n",
        "    Worst fall: 0.51 -> 0.5 (-1.96%) for duration 5s, audio false\n",
    ):
        assert part in text
    added = run("after", "before").stdout
    assert "+ tokens-text, from 2026-09-01\n    + tokens, context base, tokens input: 2 USD per mtoken\n" in added


def test_eighty_columns_are_enough(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratecard.cli.screen.width", lambda: 80)
    found = compare_sides(Side("shipped tables of long ago", CARD), Side("these", load_rate_card(folder)))
    text = re.sub(r"\x1b\[\d*m", "", as_text(found))
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "\x1b[33m~\x1b[0m" in as_text(compare_sides(*_sides(folder)))
    assert "\x1b" not in run("HEAD~1", "HEAD").stdout


def _sides(folder: Path) -> tuple[Side, Side]:
    write(folder.parent / "old", FILES)
    return Side("old", load_rate_card(folder.parent / "old")), Side("new", load_rate_card(folder))


def test_a_file_instead_of_the_screen(folder: Path) -> None:
    sent = run("HEAD~1", "HEAD", "--out=changes.txt")
    assert (sent.stdout, sent.stderr) == ("", "Wrote changes.txt\n")
    assert Path("changes.txt").read_text(encoding="utf-8") == run("HEAD~1", "HEAD").stdout


def test_a_file_in_no_folder_is_a_wrong_use(folder: Path) -> None:
    sent = run("HEAD~1", "HEAD", "--out=none/changes.txt")
    assert (sent.exit_code, "none/changes.txt cannot be written: no such folder" in sent.stderr) == (2, True)


def test_a_file_never_takes_the_place_of_what_is_compared(folder: Path) -> None:
    candidates = [folder.parent / name for name in ("spring.yaml", "summer.yaml", "a+b.yaml")]
    for path in candidates:
        path.write_text(CANDIDATE, encoding="utf-8")
    files = [next(folder.rglob("*.yaml")), *candidates]
    before = [path.read_bytes() for path in files]
    for words in (
        (str(folder), "HEAD", f"--out={files[0]}"),
        ("HEAD", "spring.yaml", "--out=./spring.yaml"),
        ("HEAD", "spring.yaml+summer.yaml", "--out=summer.yaml"),
        ("HEAD", "a+b.yaml", "--out=a+b.yaml"),
    ):
        refused = run(*words)
        assert (refused.exit_code, "is among what is compared" in refused.stderr) == (2, True), refused.output
        assert [path.read_bytes() for path in files] == before


def test_json_is_stable_and_keeps_amounts_as_text(folder: Path) -> None:
    once, again = (run("HEAD~1", "HEAD", "--format=json").stdout for _ in range(2))
    assert once == again
    body = json.loads(once, parse_float=lambda text: pytest.fail(f"{text} is a number"))
    assert body["counts"] == {
        "rates_changed": 1,
        "rates_added": 0,
        "rates_removed": 0,
        "conditions_changed": 0,
        "models_added": 0,
        "models_retired": 0,
        "models_removed": 0,
        "contracts_added": 0,
        "contracts_removed": 0,
        "price_cells_affected": 3,
    }
    assert body["worst_rise"] is None
    assert body["worst_fall"] == {
        "model": "per-second-video",
        "cell": "duration 3s, resolution 480p",
        "old": "0.3",
        "new": "0.15",
        "percent": "-50%",
    }
    (change,) = body["changes"]
    assert change["rates"] == [
        {
            "change": "changed",
            "charge": "video",
            "attributes": "resolution 480p",
            "old": {"rate": "0.1", "unit": "video_second", "source": f"{SECOND}:21"},
            "new": {"rate": "0.05", "unit": "video_second", "source": f"{SECOND}:21"},
            "percent": "-50%",
        }
    ]
    assert (change["price_cells"], change["until"]) == ({"affected": 3, "of": 6}, None)


def test_markdown_is_a_table_for_each_kind_of_change(folder: Path) -> None:
    write(folder, edited((SECOND, "[3s..5s]", "[3s..6s]"), files=CHEAPER))
    text = run("HEAD~1", "pricing_tables", "--format=markdown").stdout
    assert text.startswith("## Price changes\n\n**1 rate changed, 1 condition changed, 5 price cells affected**\n")
    assert "| ~ | `per-second-video` | 2026-09-01 | 5 of 8 price cells |  |" in text
    row = "| ~ | `per-second-video` | video, resolution 480p | 0.1 | 0.05 | -50% | video\\_second | 2026-09-01 |"
    assert f"{row} `{SECOND}:21` → `{SECOND}:21` |" in text
    assert "| ~ | `per-second-video` | accepts duration | 3s..5s | 3s..6s | 2026-09-01 |" in text
    assert "* Worst fall: 0.3 -> 0.15 (-50%) for `per-second-video`, duration 3s, resolution 480p" in text
    assert "<details>" not in text
    assert run("HEAD", "HEAD", "--format=markdown").stdout.startswith("**No price changes** (")


def test_shared_files_have_conditions_only(folder: Path) -> None:
    write(folder, edited(("limits.yaml", "scraped_urls: 5", "scraped_urls: 6"), files=CHEAPER))
    text = run("HEAD", "pricing_tables").stdout
    assert "~ limits.yaml, from 2026-08-03\n    ~ scraped_urls: 5 -> 6\n\n1 condition changed\n" in text
    assert "| ~ | `limits.yaml` | scraped\\_urls | 5 | 6 |" in run("HEAD", "pricing_tables", "--format=markdown").stdout
    assert "<b>limits.yaml</b>" in page("HEAD", "pricing_tables")


def test_long_markdown_is_folded_away(folder: Path) -> None:
    text = run("2026-08-01", "2026-11-16", "--format=markdown").stdout
    assert re.search(r"<details><summary><b>Rates</b> \(\d{3}\)</summary>\n\n\| ", text)
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| +")}
    assert columns == {6, 10}


def test_nothing_in_a_table_can_be_markup(folder: Path) -> None:
    nasty = "a|b <img src=x onerror=1> *x* `y` [z](w)"
    name = "video: clip <b>|</b>"
    files = edited(
        (SECOND, "charge: video", f"charge: '{name}'"), (SECOND, "  - model: per-second-video", "  - model: 'm<i>|`'")
    )
    write(folder, files)
    found = compare_sides(Side(nasty, load_rate_card(folder.parent / "pricing_tables")), _sides(folder)[0])
    words, page = diff_markdown(found), diff_page(found)
    assert "a\\|b \\<img" in words
    assert "<b>|" not in words
    assert "<img" not in page
    assert "<i>" not in page
    assert "<b>|" not in page
    assert "m&lt;i&gt;|`" in page


class _Page(HTMLParser):
    """What a page asks the network for, and whether its tags close."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "srcset", "onclick")]
        if tag in ("script", "link", "iframe", "object"):
            self.asked.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(*words: str) -> str:
    sent = run(*words, "--format=html")
    assert sent.exit_code == 0
    reader = _Page()
    reader.feed(sent.stdout)
    assert (reader.asked, reader.open) == ([], [])
    assert "url(" not in sent.stdout
    assert "@import" not in sent.stdout
    return sent.stdout


def test_a_page_needs_nothing_else(folder: Path) -> None:
    write(folder, edited((SECOND, "[3s..5s]", "[3s..6s]"), ("tokens.yaml", "rate: 2}", "rate: 3}"), files=CHEAPER))
    text = page("HEAD~1", "pricing_tables")
    assert "<b>2</b>rates changed" in text
    assert "<details open>" in text
    assert text.count("<svg ") == 2
    assert "-50%</span>" in text
    assert "+50%</span>" in text
    assert f"{SECOND}:21 &rarr; {SECOND}:21" in text


def test_bars_have_one_scale(folder: Path) -> None:
    write(
        folder,
        edited((SECOND, "480p, rate: 0.10", "480p, rate: 0.05"), (SECOND, "720p, rate: 0.20", "720p, rate: 0.40")),
    )
    drawing = re.findall(r"<svg.*?</svg>", page("HEAD~1", "pricing_tables"))
    (found,) = [re.findall(r'(?:x|x1|width)="(\d+)"', each) for each in drawing]
    # -50% and +100% on a scale of 10,000: zero is at one third.
    fall, rise, zero = found[:2], found[2:4], found[4]
    assert (fall, rise, zero) == (["0", "3333"], ["3333", "6666"], "3333")


def test_a_price_from_zero_has_a_bar(folder: Path) -> None:
    write(folder.parent / "free", edited((SECOND, "480p, rate: 0.10", "480p, rate: 0")))
    text = page("free", "HEAD~1")
    assert 'class="rise" x="0" y="2" width="10000"' in text
    assert "from zero" in text


def test_a_page_without_a_moved_price_has_no_bars(folder: Path) -> None:
    text = page("2026-09-27", "2026-11-16")
    assert "<svg" not in text  # models were added and removed, but no price changed
    assert "<details>" in text
    assert page("HEAD", "HEAD").count("No price changes") == 2


def test_no_more_than_thirty_bars(folder: Path) -> None:
    text = FILES[SECOND].partition("models:\n")[2]
    names = [f"per-second-{number:02}" for number in range(35)]
    together = "family: all\nmodels:\n" + "".join(text.replace("per-second-video", name) for name in names)
    write(folder.parent / "many", {"all.yaml": together})
    write(folder.parent / "dear", {"all.yaml": together.replace("rate: 0.10", "rate: 0.11")})
    found = page("many", "dear")
    assert found.count("<svg ") == 30
    assert "and 5 more below" in found
    assert "<details open>" not in found


def test_models_that_end_do_not_fold_the_rates_of_those_that_change(folder: Path) -> None:
    head, text = FILES[SECOND].partition("models:\n")[::2]
    models = [text.replace("per-second-video", f"per-second-{number:02}") for number in range(15)]
    write(folder.parent / "many", {"all.yaml": f"{head}models:\n{''.join(models)}"})
    write(folder.parent / "few", {"all.yaml": f"{head}models:\n{models[0].replace('rate: 0.10', 'rate: 0.11')}"})
    assert page("many", "few").count("<details open>") == 1
