"""A draft is saved whole or not at all, and never replaces a file without being told to."""

import os
from pathlib import Path

import pytest
from small_usage import DAY

import ratecard
from ratecard.whatif.candidate_file import FileThereError, SaveError, save
from ratecard.whatif.draft import Draft, DraftError, Factor, Head

DRAFT = Draft(DAY, (Factor("family", ("kling-o3",), "1.05"),), Head("dearer", "Pricing", "costs"))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_is_saved_is_the_candidate(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "candidates" / "dearer.yaml"
    save(DRAFT, card, path)
    assert path.read_text(encoding="utf-8") == DRAFT.text()
    assert card.with_candidate(path).digest == DRAFT.card(card).digest
    assert files(tmp_path) == ["candidates/dearer.yaml"]


def test_a_file_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "dearer.yaml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileThereError, match=r"There is a file .* already"):
        save(DRAFT, card, path)
    assert path.read_text(encoding="utf-8") == "mine"
    save(DRAFT, card, path, replace=True)
    assert path.read_text(encoding="utf-8") == DRAFT.text()
    assert files(tmp_path) == ["dearer.yaml"]


def test_a_draft_with_a_mistake_leaves_everything_as_it_is(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "dearer.yaml"
    path.write_text("mine", encoding="utf-8")
    wrong = DRAFT._replace(changes=(Factor("family", ("kling-o3",), "1"),))
    with pytest.raises(DraftError, match="changes nothing"):
        save(wrong, card, path, replace=True)
    assert path.read_text(encoding="utf-8") == "mine"
    assert files(tmp_path) == ["dearer.yaml"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dearer.json", "must end in .yaml or .yml"),
        ("", "must end in .yaml or .yml"),
        ("tables/video/dearer.yaml", "in a folder of tables"),
        ("folder.yaml", "is a folder"),
        ("file/dearer.yaml", "is not in a folder"),
    ],
)
def test_names_that_are_refused(name: str, words: str, tmp_path: Path, card: ratecard.RateCard) -> None:
    (tmp_path / "tables" / "video").mkdir(parents=True)
    (tmp_path / "tables" / "units.yaml").touch()
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "file").touch()
    before = files(tmp_path)
    with pytest.raises(SaveError, match=words):
        save(DRAFT, card, tmp_path / name if name else Path())
    assert files(tmp_path) == before


def test_a_disk_that_fails_leaves_the_old_file(
    tmp_path: Path, card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dearer.yaml"
    path.write_text("mine", encoding="utf-8")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SaveError, match="No space left on device"):
        save(DRAFT, card, path, replace=True)
    assert path.read_text(encoding="utf-8") == "mine"
    assert files(tmp_path) == ["dearer.yaml"]


def test_what_is_read_again_must_be_what_was_meant(
    tmp_path: Path, card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        for name, content in after.items():
            (folder / name).write_bytes(content.replace(b"1.05", b"1.06"))

    monkeypatch.setattr("ratecard.whatif.candidate_file.replace_files", mistaken)
    with pytest.raises(SaveError, match="differs from what was tried"):
        save(DRAFT, card, tmp_path / "dearer.yaml")
