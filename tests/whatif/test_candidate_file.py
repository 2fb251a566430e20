"""A draft is saved as a candidate file, and opened again with its controls."""

import os
from pathlib import Path

import pytest
from small_usage import DAY, KLING

import ratecard
from contract_tables import card_of, contract
from ratecard import TableError
from ratecard.whatif.candidate_file import FileThereError, SaveError, candidates_in, opened, save
from ratecard.whatif.draft import Draft, DraftError, Factor, Head, Kept, NewRate, from_json, to_json
from readme_blocks import CANDIDATES, ROOT

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


HEAD = """candidate: mine
effective: 2027-03-01
until: 2027-05-01
announced: 2027-02-01
proposed_by: me
why: "costs: rose"
changes:
"""
CHANGES = f"""- scale: {{family: kling-v3}}
  percent: +10 %
- factor: 1.50
  where: {{tokens: output}}
  scale: {{family: claude}}
- set: {KLING}
  charge: video
  where: {{audio: [true]}}
  rate: 0.17
# It has no control.
- {{scale: {{family: wan, type: image}}, factor: 2}}
- scale:
    model: ovi-image-to-video
  round: {{to: 0.01, mode: up}}  # up
  percent: 7%
- scale: {{type: rpc}}
  charge: rpc credits
  factor: 3
"""


def test_what_is_opened_is_the_candidate(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + CHANGES, encoding="utf-8")
    draft = opened(path, card)
    kinds = [type(change) for change in draft.changes]
    assert kinds == [Factor, Factor, NewRate, Kept, Factor, Kept]
    assert draft.changes[0] == Factor("family", ("kling-v3",), "+10 %")
    assert draft.changes[1] == Factor("family", ("claude",), "1.50", (("tokens", ("output",)),))
    assert draft.changes[4] == Factor("model", ("ovi-image-to-video",), "7%", (), (), "up", "0.01")
    assert (draft.effective, draft.until, draft.announced) == ("2027-03-01", "2027-05-01", "2027-02-01")
    assert draft.card(card).digest == card.with_candidate(path).digest
    assert from_json(to_json(draft)) == draft
    again = tmp_path / "again.yaml"
    again.write_text(draft.text(), encoding="utf-8")
    assert opened(again, card) == draft._replace(changes=(draft.changes[0]._replace(factor="10%"), *draft.changes[1:]))


@pytest.mark.parametrize(
    ("selection", "change"),
    [
        ("{family: [kling-v3, grok-imagine]}", Factor("family", ("kling-v3", "grok-imagine"), "2")),
        (
            "{type: video, except: {family: [kling-v3, grok-imagine]}}",
            Factor("type", ("video",), "2", (), (("family", ("kling-v3", "grok-imagine")),)),
        ),
        (
            f"{{type: video, except: [{{family: grok-imagine}}, {{model: {KLING}}}]}}",
            Factor("type", ("video",), "2", (), (("family", ("grok-imagine",)), ("model", (KLING,)))),
        ),
        # The control leaves out whole families and models.
        ("{type: [video, image], except: {family: grok-imagine, type: video}}", None),
        ("{type: video, family: [grok-imagine, kling-v3]}", None),
    ],
)
def test_a_selection_is_opened_as_it_is_written(
    tmp_path: Path, card: ratecard.RateCard, selection: str, change: Factor | None
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"{HEAD}- scale: {selection}\n  factor: 2\n", encoding="utf-8")
    draft = opened(path, card)
    assert draft.changes == ((change,) if change else (Kept(f"  - scale: {selection}\n    factor: 2\n"),))
    assert draft.card(card).digest == card.with_candidate(path).digest


def test_models_that_are_added_and_retired_are_kept_too(tmp_path: Path, card: ratecard.RateCard) -> None:
    page = (ROOT / CANDIDATES).read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    path = tmp_path / "page.yaml"
    path.write_text(text, encoding="utf-8")
    draft = opened(path, card)
    assert sum(isinstance(change, Kept) for change in draft.changes) >= 2
    assert draft.card(card).digest == card.with_candidate(path).digest


def test_a_fault_of_a_change_that_is_kept_is_told_at_it(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD.replace("until: 2027-05-01\n", "") + "- retire: no-such-model\n", encoding="utf-8")
    draft = opened(path, card)
    with pytest.raises(ratecard.RateCardError, match="no model 'no-such-model'"):
        draft.card(card)


def test_contracts_are_kept_and_their_faults_told_at_them(tmp_path: Path) -> None:
    base = card_of(contract("- {for: {type: text}, percent: -20%}", "plain", "a", "2026-10-01"))
    head, _, _ = HEAD.partition("until")
    offers = [
        f"- contract: {name}\n  accounts: [{name}]\n  from: {begins}\n  source: an offer\n"
        "  overrides:\n  - {for: {type: text}, factor: 0.5}\n"
        for name, begins in (("b", "2027-03-01"), ("c", "2027-04-01"), ("a", "2027-03-01"), ("d", "2027-02-01"))
    ]
    path, again = tmp_path / "mine.yaml", tmp_path / "again.yaml"
    for changes in ("", "changes:\n- retire: clip\n- scale: {model: flat}\n  factor: 2\n"):
        head_of_file = f"{head}proposed_by: me\nwhy: costs rose\n{changes}"
        path.write_text(f"{head_of_file}contracts:\n{offers[0]}{offers[1]}", encoding="utf-8")
        draft = opened(path, base)
        assert not draft.empty
        assert from_json(to_json(draft)) == draft
        save(draft, base, again, replace=True)
        for card in (draft.card(base), base.with_candidate(again)):
            assert [*card.contracts] == ["plain", "b", "c"]
            assert card.tables.digest_with_contracts == base.with_candidate(path).tables.digest_with_contracts
        path.write_text(f"{head_of_file}contracts:\n{''.join(offers)}", encoding="utf-8")
        with pytest.raises(DraftError) as raised:
            opened(path, base).card(base)
        before = len(draft.changes) - 2
        assert raised.value.head == {}
        assert [*raised.value.changes] == [before + 2, before + 3]
        assert "account 'a' has contract 'plain' (contracts/c0.yaml:1)" in raised.value.changes[before + 2]
        assert "is before 2027-03-01, from which the candidate holds" in raised.value.changes[before + 3]


def test_a_file_that_is_not_a_candidate_is_refused(tmp_path: Path, card: ratecard.RateCard) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("family: x\n", encoding="utf-8")
    for wrong in (path, tmp_path / "none.yaml", tmp_path):
        with pytest.raises(TableError):
            opened(wrong, card)


def test_files_are_offered_the_newest_first(tmp_path: Path) -> None:

    assert candidates_in(tmp_path / "none") == []
    for age, name in enumerate(("new.yaml", "old.yml", "other.txt")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (100 - age, 100 - age))
    (tmp_path / "folder.yaml").mkdir()
    assert [path.name for path in candidates_in(tmp_path)] == ["new.yaml", "old.yml"]
