"""Tables read at a git revision: as they were then, without checking anything out."""

import os
import shutil
from pathlib import Path

import pytest

from git_tables import FILES, SECOND, card_of, edited, git, repository, write
from ratecard import RateCard, TableError, load_rate_card
from ratecard.load.revision import RevisionError, find_revision, load_revision, repository_of

CHEAPER = edited((SECOND, "480p, rate: 0.10", "480p, rate: 0.05"))


def digest(folder: Path, name: str) -> str:
    return RateCard(load_revision(find_revision(folder, name))).digest


def test_each_commit_has_its_own_tables(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES, CHEAPER)
    shutil.rmtree(folder)
    folder.mkdir()
    assert digest(folder, "HEAD~1") == card_of(FILES).digest
    assert digest(folder, "HEAD") == card_of(CHEAPER).digest
    assert not list(folder.iterdir())


def test_every_way_to_name_a_commit(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES, CHEAPER)
    git(folder, "tag", "-m", "first", "v1", "HEAD~1")
    commit = git(folder, "rev-parse", "HEAD~1").strip()
    assert {digest(folder, name) for name in ("v1", "HEAD^", commit, commit[:10], "main~1")} == {card_of(FILES).digest}
    assert find_revision(folder, "v1").label == f"v1 ({commit[:12]})"
    assert find_revision(folder, commit[:10]).label == commit[:12]


def test_tables_at_the_top_of_a_repository_and_in_folders_of_their_own(tmp_path: Path) -> None:
    top = repository(
        tmp_path / "top", {f"deep/er/{SECOND}": FILES[SECOND], "other.yml": FILES["tokens.yaml"]}, place="."
    )
    found = load_revision(find_revision(top, "HEAD"))
    assert found.files == {"per-second-video": f"deep/er/{SECOND}", "tokens-text": "other.yml"}
    assert found.digest == load_rate_card(top).digest


def test_other_files_and_links_are_not_read(tmp_path: Path) -> None:
    folder = repository(tmp_path, {**FILES, "README.md": "no table", "schema.json": "{}"})
    (folder / "link.yaml").symlink_to(SECOND)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "link")
    assert digest(folder, "HEAD") == card_of(FILES).digest


def test_a_name_that_is_not_ascii(tmp_path: Path) -> None:
    folder = repository(tmp_path, {"prix d'été.yaml": FILES[SECOND]})
    assert load_revision(find_revision(folder, "HEAD")).files == {"per-second-video": "prix d'été.yaml"}


def test_a_hook_reads_the_repository_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "one", FILES)
    other = repository(tmp_path / "other", CHEAPER)
    monkeypatch.setenv("GIT_DIR", str(other.parent / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.parent))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.parent / ".git" / "index"))
    assert digest(folder, "HEAD") == card_of(FILES).digest


@pytest.mark.parametrize("name", ["", "--all", "nothing", "HEAD~7", "HEAD..HEAD", "HEAD:pricing_tables", "HEAD\n"])
def test_a_name_of_no_commit(tmp_path: Path, name: str) -> None:
    folder = repository(tmp_path, FILES)
    with pytest.raises(RevisionError, match=r"is not a git revision in .*Write a commit, branch or tag"):
        find_revision(folder, name)


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(RevisionError, match="is not in a git repository, so it has no revisions"):
        repository_of(tmp_path)


def test_a_repository_that_git_refuses_to_read(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES)
    (tmp_path / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n", encoding="utf-8")
    with pytest.raises(RevisionError, match=r"git cannot read .*pricing_tables: fatal:"):
        find_revision(folder, "HEAD")


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path, FILES)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(RevisionError, match="the command git is not installed here"):
        find_revision(folder, "HEAD")


def test_a_folder_that_came_later(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES)
    write(tmp_path / "later", FILES)
    with pytest.raises(RevisionError, match=r"later holds no rate table at HEAD \([0-9a-f]{12}\)"):
        load_revision(find_revision(tmp_path / "later", "HEAD"))
    only_units = repository(tmp_path / "units", {"units.yaml": edited()["units.yaml"]}, place=".")
    with pytest.raises(RevisionError, match=r"^\. holds no rate table"):
        load_revision(find_revision(only_units, "HEAD"))
    assert folder.is_dir()


def test_every_fault_names_the_revision(tmp_path: Path) -> None:
    folder = repository(tmp_path, {SECOND: FILES[SECOND].replace("rate: 0.10", "rate: x").replace("audio:", "sound:")})
    with pytest.raises(TableError) as refusal:
        load_revision(find_revision(folder, "main"))
    assert [str(fault)[:25].strip() for fault in refusal.value.faults] == [
        f"main:{SECOND}:{line}:" for line in (12, 15, 21)
    ]
