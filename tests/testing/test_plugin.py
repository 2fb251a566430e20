"""`pytest --rate-card FOLDER` in folders of its own: what it collects, what a failure shows, what a wrong use says."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st
from mutations import MUTATIONS

import ratecard.testing.plugin
from ratecard.load.folder import shipped_folder
from readme_blocks import blocks, passing

pytest_plugins = ["pytester"]

SOUND = Path(__file__).parent.parent / "tables" / "sound"
# A process of its own, without the plugins of others: they take most of its time.
ALONE = ("-p", "no:anyio", "-p", "no:pytest_cov", "-p", "no:schemathesis", "-p", "no:xdist")
KLING = "video/kling-o3.yaml::kling-o3-pro-text-to-video::2026-09-28"


@pytest.fixture(autouse=True, scope="module")
def everything_is_imported() -> None:
    """A run inside a run forgets what it imported: Hypothesis would be there twice, and not know itself again."""
    find(st.lists(st.integers()), lambda numbers: sum(numbers) > 9)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A folder with one model that is charged by the second."""
    folder = tmp_path / "my tables"
    (folder / "video").mkdir(parents=True)
    text = (SOUND / "per_second.yaml").read_text(encoding="utf-8")
    (folder / "video" / "mine.yaml").write_text(text, encoding="utf-8")
    return folder


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "video" / "mine.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(pytester: pytest.Pytester, *options: object) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *map(str, options))


def test_every_example_and_law_is_an_item(pytester: pytest.Pytester, tables: Path) -> None:
    found = run(pytester, f"--rate-card={tables}", "--collect-only", "-q")
    model = "video/mine.yaml::per-second-video::2026-09-01"
    found.stdout.fnmatch_lines([f"{model}::example 1", f"{model}::law lines add up to the exact amount", "*collected*"])
    found.stdout.no_fnmatch_line("*law every token is charged once*")


def test_sound_tables_pass(pytester: pytest.Pytester, tables: Path) -> None:
    found = run(pytester, f"--rate-card={tables}")
    assert found.ret == pytest.ExitCode.OK
    assert found.parseoutcomes().keys() == {"passed"}


def test_the_examples_of_contracts_are_tried(pytester: pytest.Pytester, tables: Path) -> None:
    (tables / "contracts").mkdir()
    head = "contract: acme\naccounts: [a]\nfrom: 2026-10-01\nuntil: 2026-11-01\nsource: signed\n"
    example = "examples: [{model: per-second-video, request: {duration: 5s, resolution: 480p}, total: 0.5}]\n"
    (tables / "contracts" / "acme.yaml").write_text(
        f"{head}overrides: [{{for: {{type: video}}, rate: 0.2}}]\n{example}"
    )
    found = run(pytester, f"--rate-card={tables}", "-k", "acme")
    found.assert_outcomes(failed=1, deselected=found.parseoutcomes()["deselected"])
    found.stdout.fnmatch_lines(["contracts/acme.yaml:7: acme: the example says 0.5, the rates give 1.00:"])
    later = run(pytester, f"--rate-card={tables}", "--rate-card-at=2026-11-01", "--collect-only", "-q")
    later.stdout.no_fnmatch_line("*acme*")


def test_paths_are_collected_too_where_they_are_named(pytester: pytest.Pytester, tables: Path) -> None:
    pytester.makepyfile(test_mine="def test_mine(): pass")
    alone = run(pytester, f"--rate-card={tables}", "--collect-only", "-q")
    alone.stdout.no_fnmatch_line("*test_mine*")
    both = run(pytester, f"--rate-card={tables}", "test_mine.py", "--collect-only", "-q")
    both.stdout.fnmatch_lines(["test_mine.py::test_mine", "video/mine.yaml::*"])


def test_without_the_option_nothing_is_added(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine="import sys\ndef test_mine(): assert 'ratecard' not in sys.modules")
    assert pytester.runpytest_subprocess("-p", "no:cacheprovider", *ALONE).ret == pytest.ExitCode.OK


def test_a_wrong_example_shows_its_line_and_the_lines_of_its_price(pytester: pytest.Pytester, tables: Path) -> None:
    edit(tables, "total: ", "total: 9")
    found = run(pytester, f"--rate-card={tables}", "-k", "example", "-v")
    found.assert_outcomes(failed=1, deselected=found.parseoutcomes()["deselected"])
    found.stdout.fnmatch_lines([
        "video/mine.yaml::*::example 1*FAILED*",
        "The example says 9*, but the rates give *",
        "  video/mine.yaml:*: - {request: *total: 9*",
        '  {"model": "per-second-video", "duration": "5s", "resolution": "480p"}',
        "    per-second-video-*: * video_second x * = *",
        "      video/mine.yaml:*: - {*rate: *",
    ])  # fmt: skip


def test_the_failure_that_the_page_shows_is_a_real_one(pytester: pytest.Pytester, tmp_path: Path) -> None:
    [shown] = [block.text for block in blocks("docs/test-your-tables.md") if block.text.startswith("The example says")]
    shutil.copytree(shipped_folder(), tmp_path / "shipped")
    path = tmp_path / "shipped" / "video" / "grok-imagine.yaml"
    before, here, after = path.read_text(encoding="utf-8").partition("model: grok-imagine-1-5-image-to-video-private\n")
    path.write_text(before + here + after.replace("4.32", "4.23", 1), encoding="utf-8")
    select = "grok-imagine-1-5-image-to-video-private and example"
    found = run(pytester, f"--rate-card={tmp_path / 'shipped'}", "-k", select)
    assert passing(shown) in passing(found.stdout.str())


def test_an_example_that_is_refused_says_why(pytester: pytest.Pytester, tables: Path) -> None:
    edit(tables, "{request: {", "{request: {audio: loud, ")
    found = run(pytester, f"--rate-card={tables}", "-k", "example")
    found.stdout.fnmatch_lines(
        ["The example says *, but it is refused: Invalid request body", "  audio: Expected boolean*"]
    )


def test_a_folder_that_cannot_be_loaded_is_a_wrong_use_with_all_its_faults(
    pytester: pytest.Pytester, tables: Path
) -> None:
    edit(tables, "rate: ", "rate: x")
    broken, missing = run(pytester, f"--rate-card={tables}"), run(pytester, f"--rate-card={tables}/none")
    for found in (broken, missing):
        assert found.ret == pytest.ExitCode.USAGE_ERROR
        found.stderr.fnmatch_lines(["ERROR: --rate-card * cannot be loaded:"])
        assert "Traceback" not in f"{found.stdout}{found.stderr}"
    broken.stderr.fnmatch_lines([f"video/mine.yaml:{line}: rate 'x*' is not a number. *" for line in (21, 22)])
    missing.stderr.fnmatch_lines(["*none:1: is not a folder. Name the folder that holds the rate tables"])


def test_a_law_is_tried_as_often_as_is_asked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tables: Path
) -> None:
    quote_video = ratecard.PriceBook.quote_video
    bodies: list[Any] = []

    def counted(prices: ratecard.PriceBook, body: Any, **more: Any) -> ratecard.Quote:
        bodies.append(body)
        return quote_video(prices, body, **more)

    monkeypatch.setattr("ratecard.PriceBook.quote_video", counted)
    for number in (1, 40):
        bodies.clear()
        run(pytester, f"--rate-card={tables}", f"--rate-card-examples={number}", "-k", "negative")
        assert len(bodies) == number


def test_an_instant_chooses_the_versions_in_effect(pytester: pytest.Pytester, tables: Path) -> None:
    instants = {"2026-09-01": True, "2026-09-01T01:00:00+02:00": False, "2030-01-01T00:00:00Z": True}
    for instant, priced in instants.items():
        found = run(pytester, f"--rate-card={tables}", "--rate-card-at", instant, "-k", "example")
        assert found.parseoutcomes().get("passed", 0) == priced, instant


def test_a_version_after_the_retirement_of_its_model_is_not_checked(pytester: pytest.Pytester, tables: Path) -> None:
    edit(tables, "    currency: USD\n", "    currency: USD\n    retired: {on: 2026-09-05}\n")
    text = (tables / "video" / "mine.yaml").read_text(encoding="utf-8")
    head, version = text.split("    versions:\n")
    later = version.replace("2026-09-01", "2026-10-01")
    (tables / "video" / "mine.yaml").write_text(f"{head}    versions:\n{later}{version}", encoding="utf-8")
    found = run(pytester, f"--rate-card={tables}", "-k", "example", "-v")
    found.stdout.fnmatch_lines(["*2026-09-01::example 1*PASSED*"])
    found.stdout.no_fnmatch_line("*2026-10-01*")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rate-card-at", "2026-10-01"], "--rate-card-at goes with --rate-card FOLDER"),
        (["--rate-card-examples", "5"], "--rate-card-examples goes with --rate-card FOLDER"),
        (["--rate-card=.", "--rate-card-examples", "0"], "--rate-card-examples 0: write a number above zero"),
        (["--rate-card=.", "--rate-card-examples", "few"], "--rate-card-examples: invalid int value: 'few'"),
        (["--rate-card=.", "--rate-card-at", "soon"], "--rate-card-at 'soon' is not an instant. Write 2026-10-01*"),
        (["--rate-card=.", "--rate-card-at", "2026-10-01T12:00"], "*has no time zone. Write 2026-10-01T12:00Z*"),
    ],
)
def test_a_wrong_use(pytester: pytest.Pytester, tables: Path, options: list[str], words: str) -> None:
    found = run(pytester, *(option.replace("=.", f"={tables}") for option in options))
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines([f"*{words}"])


def test_without_hypothesis_it_says_what_to_install(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_ratecard.find_spec", lambda name: None)
    found = run(pytester, "--rate-card=.")
    found.stderr.fnmatch_lines(["*--rate-card needs hypothesis: pip install 'ratecard[[]testing]'"])


def test_the_kit_without_hypothesis_says_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import ratecard.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("ratecard.testing needs hypothesis: pip install 'ratecard[testing]'\n")


def test_a_planted_error_fails_with_the_request_the_lines_and_the_yaml(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    [swapped] = [mutation for mutation in MUTATIONS if mutation.name == "sound for silence"]
    names = "kling-o3-pro-text-to-video and (example or fits)"
    select = ("-k", names, f"--rate-card={shipped_folder()}", "-v")
    assert "failed" not in run(pytester, *select).parseoutcomes()
    swapped.plant(monkeypatch)
    found = run(pytester, *select)
    assert found.parseoutcomes()["failed"] >= 2
    found.stdout.fnmatch_lines([
        f"{KLING}::law a line is charged at the rate that fits*FAILED*",
        "kling-o3-pro-text-to-video-duration-rate-3s* is charged at the rate of something else",
        '  {"model": "kling-o3-pro-text-to-video", "duration": "3s"*}',
        "    kling-o3-pro-text-to-video-duration-rate-3s*: 3 video_second x * = *",
        "      video/kling-o3.yaml:*: - {audio: *, rate: *}",
        "    total * USD, exact *",
    ])  # fmt: skip


def test_an_error_of_the_library_shows_its_traceback(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("ratecard.PriceBook.quote_video", fail)
    found = run(pytester, f"--rate-card={shipped_folder()}", "-k", "ovi-image and negative")
    found.assert_outcomes(failed=1, deselected=found.parseoutcomes()["deselected"])
    found.stdout.fnmatch_lines(["*ZeroDivisionError: planted", "*asked for ovi-image-to-video on *"])


def test_it_works_from_an_empty_folder_with_the_installed_package(tmp_path: Path, tables: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    options = ["-p", "no:cacheprovider", *ALONE, "-q", "--rate-card", "../my tables", "-k", "example or negative"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "ratecard" not in done.stderr
