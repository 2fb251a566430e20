"""`ratecard promote`: what it prints, and its exit status."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from overlays import candidate

import ratecard
from ratecard.cli import main


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["promote", *map(str, words)])


def test_it_says_which_lines_it_added_and_what_the_tables_mean_now(folder: Path) -> None:
    path = candidate(folder, "- scale: {family: mixed}\n  factor: 2\n- retire: talker\n")
    sent = run(path, "--tables", folder, "--checked", "2027-08-20")
    assert (sent.exit_code, sent.stderr) == (0, f"Tables: {folder}\n")
    digest = ratecard.load_rate_card(folder).digest
    assert sent.stdout.splitlines() == [
        "text/words.yaml:7-7: talker, retired on 2027-09-01",
        "video/mixed.yaml:10-18: plain from 2027-09-01",
        "video/mixed.yaml:35-61: sized from 2027-09-01",
        f"37 lines added to 2 files. Digest {digest}.",
    ]
    assert "checked: 2027-08-20" in (folder / "video" / "mixed.yaml").read_text()


def test_a_dry_run_shows_the_lines_and_writes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.yaml")}
    path = candidate(folder, "- retire: talker\n")
    sent = run(path, "--tables", folder, "--dry-run")
    assert sent.exit_code == 0
    assert sent.stdout.splitlines()[:2] == [
        "text/words.yaml:7-7: talker, retired on 2027-09-01",
        "+    retired: {on: 2027-09-01}",
    ]
    assert "1 line would be added to 1 file. Digest " in sent.stdout
    assert before == {path: path.read_bytes() for path in folder.rglob("*.yaml")}


def test_versions_are_checked_today_where_no_day_is_named(folder: Path) -> None:
    sent = run(candidate(folder, "- scale: {model: plain}\n  factor: 2\n"), "--tables", folder, "--dry-run")
    assert f"+        checked: {datetime.now(UTC).date()}\n" in sent.stdout


def test_a_refusal_is_told_by_file_and_line_with_status_1(folder: Path) -> None:
    path = candidate(folder, "- retire: talker\n")
    assert run(path, "--tables", folder).exit_code == 0
    sent = run(path, "--tables", folder)
    assert (sent.exit_code, sent.stdout) == (1, "")
    assert sent.stderr == f"Tables: {folder}\n{path}:6: changes nothing: talker is retired already, on 2027-09-01\n"


def test_wrong_use_has_status_2(folder: Path, tmp_path: Path) -> None:
    path = candidate(folder, "- retire: talker\n")
    assert run().exit_code == 2
    assert run(tmp_path / "none.yaml").exit_code == 2
    assert run(path, "--tables", tmp_path / "none").exit_code == 2
    for day in ("soon", "20261001", "2026-W40-4"):
        sent = run(path, "--tables", folder, "--checked", day)
        assert sent.exit_code == 2
        assert f"'{day}' is not a day. Write it like 2026-10-01" in sent.stderr


def test_without_a_folder_it_is_that_of_the_checkout_and_never_that_of_a_package(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = candidate(folder, "- retire: talker\n")
    monkeypatch.chdir(tmp_path)  # outside of the checkout that the tests are run in
    monkeypatch.setattr("ratecard.review.promote.shipped_folder", lambda: folder)
    assert run(path, "--dry-run").exit_code == 0
    (tmp_path / "__init__.py").write_text("")
    sent = run(path)
    assert sent.exit_code == 2
    assert "These tables belong to an installed package. Name yours: --tables FOLDER" in sent.stderr
    assert "retired: {on" not in (folder / "text" / "words.yaml").read_text()


def test_help_teaches() -> None:
    sent = run("--help")
    assert sent.exit_code == 0
    assert "--dry-run" in sent.stdout
    assert max(map(len, sent.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("checked", "effective", "until", "words"),
    [
        ("2027-08-20", "2027-09-01", "", []),
        ("2027-09-01", "2027-09-01", "", []),
        ("2027-09-02", "2027-09-01", "", ["2: effective 2027-09-01 has passed"]),
        (
            "2027-10-02",
            "2027-09-01",
            "2027-10-01",
            ["2: effective 2027-09-01 has passed", "3: until 2027-10-01 has passed"],
        ),
        ("2026-09-01", "2027-09-01", "", []),
        ("2026-08-31", "2027-09-01", "", ["2: effective 2027-09-01 is more than a year ahead. Is its year right?"]),
    ],
)
def test_promote_and_diff_warn_of_days_that_are_unlikely(
    folder: Path, monkeypatch: pytest.MonkeyPatch, checked: str, effective: str, until: str, words: list[str]
) -> None:
    path = candidate(folder, "- scale: {model: plain}\n  factor: 2\n", effective)
    if until:
        path.write_text(path.read_text().replace("proposed_by", f"until: {until}\nproposed_by"))
    monkeypatch.setattr("ratecard.cli.options.now", lambda: datetime.fromisoformat(f"{checked}T12:00:00Z"))
    promoted = run(path, "--tables", folder, "--dry-run")
    differing = CliRunner().invoke(main, ["diff", str(folder), str(path), "--format", "json"])
    assert promoted.exit_code == differing.exit_code == 0
    for sent in (promoted, differing):
        warnings = [line for line in sent.stderr.splitlines() if not line.startswith("Tables:")]
        assert len(warnings) == len(words)
        for warning, each in zip(warnings, words, strict=True):
            assert warning.startswith(f"Warning: {path}:{each}")
