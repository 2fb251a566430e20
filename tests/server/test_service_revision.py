"""The revision of the service is derived from the sources and the dates of the tables."""

import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ratecard.server.revision import BUILT, SERVICE_VERSION, derived, revision_of_package

FORM = re.compile(r"\d{8}\.\d{6}")
NOON = int(datetime(2026, 10, 5, 12, 30, 15, tzinfo=UTC).timestamp())


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree whose files are of that noon."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    root = tmp_path / "tree"
    for name, text in (("src/a.py", "A = 1\n"), ("pricing_tables/video/b.yaml", "      checked: 2026-09-29\n")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (NOON, NOON))
    return root


def git(folder: Path, *words: str, **environment: str) -> None:
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *settings, *words]
    subprocess.run(command, check=True, capture_output=True, env=kept | environment)


def commit(folder: Path, when: str) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "x", GIT_COMMITTER_DATE=when, GIT_AUTHOR_DATE="2020-01-01T00:00:00Z")


def test_it_has_the_form_of_the_specification() -> None:
    assert FORM.fullmatch(SERVICE_VERSION)


def test_without_git_it_is_the_time_of_the_newest_file(tree: Path) -> None:
    assert derived(tree) == "20261005.123015"
    os.utime(tree / "src" / "a.py", (NOON + 60, NOON + 60))
    assert derived(tree) == "20261005.123115"


def test_without_the_command_git_it_is_the_same(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tree, "2026-10-01T01:02:03Z")
    monkeypatch.setenv("PATH", str(tree))
    assert derived(tree) == "20261005.123015"


def test_with_git_it_is_the_time_of_the_newest_commit(tree: Path) -> None:
    commit(tree, "2026-10-01T03:02:03+02:00")
    assert derived(tree) == "20261001.010203"


def test_a_commit_of_another_repository_around_it_means_nothing(tree: Path) -> None:
    commit(tree.parent, "2026-10-01T01:02:03Z")
    assert derived(tree) == "20261005.123015"


def test_a_table_that_was_checked_later_makes_a_later_revision(tree: Path) -> None:
    commit(tree, "2026-10-01T01:02:03Z")
    (tree / "pricing_tables" / "c.yaml").write_text(
        "- {effective: 2027-03-01, checked: 2026-10-02}\n", encoding="utf-8"
    )
    assert derived(tree) == "20261002.000000"


def test_the_environment_of_a_reproducible_build_decides(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tree, "2026-10-01T01:02:03Z")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(NOON + 1))
    assert derived(tree) == "20261005.123016"


def test_an_archive_of_the_sources_keeps_its_own(tree: Path) -> None:
    (tree / BUILT).write_text("20260102.030405\n", encoding="ascii")
    assert derived(tree) == "20260102.030405"


def test_a_package_keeps_the_one_that_it_was_built_with(tree: Path) -> None:
    (tree / BUILT).write_text("20260102.030405\n", encoding="ascii")
    assert revision_of_package(tree) == "20260102.030405"


def test_an_empty_folder_has_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert FORM.fullmatch(derived(tmp_path))
