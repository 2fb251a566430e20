"""When `promote` refuses, it says why, and every file stays as it was."""

import errno
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from overlays import ADDED, MIXED, candidate

import ratecard
from ratecard import TableError
from ratecard.base.files import replace_files
from ratecard.review.promote import promotion

CHECKED = date(2027, 8, 20)
SCALE = "- scale: {type: video}\n  factor: 2\n"
NEW = ADDED[2:].replace("\n  ", "\n")


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(folder: Path, path: Path) -> str:
    before = files(folder)
    with pytest.raises(TableError) as caught:
        promotion(folder, path, CHECKED)
    assert files(folder) == before
    return str(caught.value).replace(str(path), path.name)


def edit(folder: Path, *pairs: tuple[str, str], name: str = "video/mixed.yaml") -> None:
    path = folder / name
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_a_candidate_is_promoted_once(folder: Path) -> None:
    scale = "- scale: {family: mixed}\n  factor: 2\n"
    path = candidate(folder, scale + "- retire: talker\n" + NEW.format(family="fresh", model="new"))
    promotion(folder, path, CHECKED).write()
    assert refusal(folder, path).splitlines() == [
        "c.yaml:6: plain has a version from 2027-09-01 already (video/mixed.yaml). Choose another day",
        "c.yaml:6: sized has a version from 2027-09-01 already (video/mixed.yaml). Choose another day",
        "c.yaml:8: changes nothing: talker is retired already, on 2027-09-01",
        "c.yaml:11: model 'new' is in the tables already (video/fresh.yaml); use set or scale",
    ]


def test_a_version_in_brackets_is_written_line_by_line_first(folder: Path) -> None:
    edit(
        folder,
        (
            "      - effective: 2027-01-01\n        checked: 2027-01-01\n        source: made up\n"
            "        accepts: {duration: [5s], audio: none}\n        charges:\n"
            "          - {charge: video, method: fixed, unit: clip, rates: [{rate: 0.10}]}\n"
            "        rounding: {places: 2, mode: half-up}\n        examples:\n"
            "          - {request: {duration: 5s}, total: 0.10}\n",
            "      - {effective: 2027-01-01, checked: 2027-01-01, source: s, accepts: {duration: [5s], audio: none},\n"
            "         charges: [{charge: video, method: fixed, unit: clip, rates: [{rate: 0.10}]}],\n"
            "         rounding: {places: 2, mode: half-up}, examples: [{request: {duration: 5s}, total: 0.10}]}\n",
        ),
    )
    words = "video/mixed.yaml:10: must begin with a dash and its first key, not in brackets: write it so first"
    assert refusal(folder, candidate(folder, "- scale: {type: video}\n  factor: 2\n")) == words


def test_a_retirement_that_is_written_already_is_moved_by_hand(folder: Path) -> None:
    words = "retired is there already; change that line by hand, since promote only adds lines"
    assert refusal(folder, candidate(folder, "- retire: free\n")) == f"video/mixed.yaml:74: {words}"


def test_a_currency_that_ends_the_file_in_its_line_has_no_line_below_it(folder: Path) -> None:
    lines = MIXED.split("\n")
    plain = lines[:18]
    assert plain.pop(7).strip() == "currency: USD"
    (folder / "video" / "mixed.yaml").write_text("\n".join([*plain, "    currency: USD"]))
    words = "is the last line of the file and has no line ending; add one first"
    assert refusal(folder, candidate(folder, "- retire: plain\n")) == f"video/mixed.yaml:18: {words}"


def test_a_model_in_brackets_is_neither_retired_nor_followed_by_another(folder: Path) -> None:
    text = (
        "family: mixed\nmodels: [{model: plain, name: P, type: video, mode: upscale, currency: USD, versions: [\n"
        "  {effective: 2027-01-01, checked: 2027-08-01, source: s, accepts: {duration: [5s], audio: none},\n"
        "   charges: [{charge: video, method: fixed, unit: clip, rates: [{rate: 0.7}]}],\n"
        "   rounding: {places: 2, mode: half-up}, examples: [{request: {duration: 5s}, total: 0.7}]}]}]\n"
    )
    (folder / "video" / "mixed.yaml").write_text(text)
    words = "video/mixed.yaml:2: must begin with a dash and its first key, not in brackets: write it so first"
    path = candidate(folder, "- retire: plain\n" + NEW.format(family="mixed", model="new"))
    assert refusal(folder, path) == f"{words}\n{words}"


@pytest.mark.parametrize("family", ["A/b", "../up", "Big", ".hidden", "a b", "x" * 90])
def test_a_family_that_cannot_name_a_file_is_refused(folder: Path, family: str) -> None:
    path = candidate(folder, NEW.format(family=family, model="new"))
    words = f"family '{family}' cannot be the name of a file. Write small letters, digits, - . and _"
    assert refusal(folder, path) == f"c.yaml:6: {words}"


def test_a_new_family_takes_no_file_of_another_one(folder: Path) -> None:
    (folder / "video" / "mixed.yaml").rename(folder / "video" / "fresh.yaml")
    path = candidate(folder, NEW.format(family="fresh", model="new"))
    words = "family 'fresh' is new, but its file video/fresh.yaml is there already. Choose another name"
    assert refusal(folder, path) == f"c.yaml:6: {words}"


def test_a_table_in_another_encoding_is_saved_as_utf_8_first(folder: Path) -> None:
    (folder / "video" / "mixed.yaml").write_bytes(MIXED.encode("utf-16"))
    words = "video/mixed.yaml:1: is not text in UTF-8; save it as that first"
    assert set(refusal(folder, candidate(folder, SCALE)).splitlines()) == {words}
    assert refusal(folder, candidate(folder, NEW.format(family="mixed", model="new"))) == words


def test_a_candidate_in_another_encoding_is_saved_as_utf_8_first(folder: Path) -> None:
    path = candidate(folder, NEW.format(family="mixed", model="new"))
    path.write_bytes(path.read_text().encode("utf-16"))
    assert refusal(folder, path) == "c.yaml:1: is not text in UTF-8; save it as that first"


def test_an_added_model_has_right_examples(folder: Path) -> None:
    path = candidate(folder, NEW.format(family="mixed", model="new").replace("total: 0.70", "total: 0.71"))
    words = "new: the example says 0.71, with the candidate it is 0.70"
    assert refusal(folder, path) == f"c.yaml:28: {words}"


def test_examples_that_have_no_price_any_more_are_refused(folder: Path) -> None:
    edit(
        folder,
        (
            "{usage: {prompt_tokens: 100, completion_tokens: 10}, total: 0.00012}",
            "{usage: {prompt_tokens: 100, cached_tokens: 1, completion_tokens: 10}, total: 0.00012}",
        ),
        name="text/words.yaml",
    )
    retire = candidate(folder, "- retire: talker\n", name="one.yaml")
    assert promotion(folder, retire, CHECKED)
    # One example of the version from 2028 on names a search that is retired by then.
    searches = folder / "searches.yaml"
    searches.write_text(
        searches.read_text().replace("currency: USD\n", "currency: USD\n    retired: {on: 2027-08-01}\n")
    )
    words = refusal(folder, candidate(folder, "- scale: {type: text}\n  factor: 2\n"))
    assert words.splitlines()[0] == (
        "text/words.yaml:23: talker: from 2027-09-01 on the example has no price: "
        "Specified model not found: looking. It was retired on 2027-08-01."
    )


def test_an_example_elsewhere_that_depends_on_a_changed_rate_is_refused(folder: Path) -> None:
    words = folder / "text" / "words.yaml"
    text = words.read_text()
    version = text[text.index("      - effective") :]
    words.write_text(text.replace(version, version.replace("2027-01-01", "2028-01-01") + version))
    path = candidate(folder, "- scale: {model: looking}\n  factor: 2\n")
    assert (
        refusal(folder, path)
        == "text/words.yaml:24: talker: the example says 0.01012, with the candidate it is 0.02012"
    )


CONTRACT = """contract: acme
accounts: [acme]
from: 2027-01-01
source: made up
overrides:
  - {for: {model: talker}, percent: -50%}
examples:
  - {model: talker, usage: {prompt_tokens: 1000, completion_tokens: 0}, total: 0.0005}
  - {model: talker, usage: {prompt_tokens: 1000, completion_tokens: 0}, at: 2028-01-01, total: 0.0005}
"""


def test_an_example_of_a_contract_that_depends_on_a_changed_rate_is_refused(folder: Path) -> None:
    contract = folder / "contracts" / "acme.yaml"
    contract.parent.mkdir()
    contract.write_text(CONTRACT)
    dearer = candidate(folder, "- scale: {model: talker}\n  factor: 2\n")
    words = "contracts/acme.yaml:9: acme: the example"
    assert refusal(folder, dearer) == f"{words} says 0.0005, with the candidate it is 0.001"
    retired = candidate(folder, "- retire: talker\n", name="retired.yaml")
    assert refusal(folder, retired).startswith(f"{words} has no price: Specified model not found: talker.")
    contract.write_text(CONTRACT.replace("at: 2028-01-01, total: 0.0005", "at: 2028-01-01, total: 0.001"))
    promotion(folder, dearer, CHECKED).write()
    assert not [worked for worked in ratecard.load_rate_card(folder).work_all() if worked.total != worked.example.total]


def test_a_total_that_no_table_can_hold_is_refused(folder: Path) -> None:
    method = (
        "method: token-formula, frames_per_second: 1, pixels_per_token: 536870912, sizes: [{size: 7x7}], unit: mtoken"
    )
    edit(
        folder,
        ("method: fixed, unit: clip, rates: [{rate: 0.10}]", f"{method}, rates: [{{rate: 0}}]"),
        ("total: 0.10", "total: 0"),
        ("rounding: {places: 2, mode: half-up}", "rounding: {places: 50, line_places: 60, mode: half-up}"),
    )
    words = refusal(folder, candidate(folder, "- set: plain\n  rate: 0.000000000001\n"))
    assert words.startswith("video/mixed.yaml:18: plain: from 2027-09-01 on the example costs 0.0000")
    assert words.endswith("25, more than 40 decimal places. Round the rates")


def test_lines_that_would_mean_something_else_are_not_written(folder: Path) -> None:
    # A first key in the long form leaves no place for another key.
    old = "family: mixed\nmodels:\n  - model: plain\n"
    lines = MIXED[MIXED.index(old) :].replace("- effective: 2027-01-01", "- ? effective\n        : 2027-01-01", 1)
    (folder / "video" / "mixed.yaml").write_text(lines)
    words = refusal(folder, candidate(folder, "- set: plain\n  rate: 0.3\n"))
    assert words.startswith(
        "c.yaml:1: cannot be written as lines of these tables, write its versions by hand. They would say:\n"
    )


def test_another_meaning_than_that_of_the_candidate_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = candidate(folder, "- set: plain\n  rate: 0.3\n")
    with monkeypatch.context() as patched:
        patched.setattr("ratecard.review.insertion.text", lambda amount: "0.31")
        assert "plain: the example says 0.3, the rates give 0.31" in refusal(folder, path)
    with monkeypatch.context() as patched:
        patched.setattr("ratecard.review.insertion.literal", lambda value: "other")
        assert refusal(folder, path).endswith("other dates or sources of plain than the candidate")
    edit(
        folder,
        ("duration: [5s], audio: none}", "duration: [5s, 10s], audio: none}"),
        ("rates: [{rate: 0.10}]", "rates: [{duration: 5s, rate: 0.10}, {duration: 10s, rate: 0.20}]"),
    )
    path = candidate(folder, "- set: plain\n  where: {duration: 10s}\n  rate: 0.3\n")
    with monkeypatch.context() as patched:
        patched.setattr("ratecard.review.insertion.text", lambda amount: "0.31")
        assert "  other prices than the candidate: digest " in refusal(folder, path)


def test_a_file_that_changed_meanwhile_is_not_overwritten(folder: Path) -> None:
    made = promotion(folder, candidate(folder, SCALE + "- retire: talker\n"), CHECKED)
    edit(folder, ("# A comment at the top.", "# Another comment."))
    before = files(folder)
    with pytest.raises(TableError, match=r"^video/mixed.yaml:1: has changed meanwhile; nothing is written. Try again$"):
        made.write()
    assert files(folder) == before


@pytest.mark.parametrize("failing", range(1, 4))
def test_a_failure_half_way_leaves_every_file_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    changes = SCALE + "- retire: talker\n" + NEW.format(family="new", model="new")
    made = promotion(folder, candidate(folder, changes), CHECKED)
    assert len(made.after) == 3
    before, calls, replace = files(folder), [0], Path.replace

    def fail(self: Path, target: Path) -> Path:
        calls[0] += self.suffix == ".new"
        if self.suffix == ".new" and calls[0] == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(TableError, match=r"cannot be written: No space left on device. No file is changed$"):
        made.write()
    assert files(folder) == before
    monkeypatch.undo()
    made.write()
    assert len(files(folder)) == len(before) + 1
    assert not list(folder.rglob(".*"))


def test_an_interrupt_half_way_leaves_every_file_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = promotion(folder, candidate(folder, SCALE + "- retire: talker\n"), CHECKED)
    before, replace = files(folder), Path.replace

    def stop(self: Path, target: Path) -> Path:
        if self.name.startswith(".mixed") and self.suffix == ".new":
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        made.write()
    assert files(folder) == before


def test_new_files_and_their_folders_are_gone_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.yaml").write_bytes(b"old")
    replace = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if self.name.startswith(".old") and self.suffix == ".new":
            raise OSError(errno.EACCES, "Permission denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(TableError):
        replace_files(tmp_path, {"old.yaml": b"old"}, {"a/b/new.yaml": b"1", "old.yaml": b"2"})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["old.yaml"]


def test_a_file_keeps_its_permissions_and_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_files(tmp_path, {"link.yaml": b"old"}, {"link.yaml": b"new"})
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o640)


def test_nothing_to_write_is_written(tmp_path: Path) -> None:
    replace_files(tmp_path, {}, {})
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = promotion(folder, candidate(folder, SCALE), CHECKED)

    usual = Path.open

    def refuse(path: Path, mode: str = "r", **how: Any) -> Any:
        if mode == "xb":
            raise PermissionError(errno.EACCES, "Permission denied")
        return usual(path, mode, **how)

    before = files(folder)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(
        TableError, match=r"^video/mixed.yaml:1: cannot be written: Permission denied. No file is changed$"
    ):
        made.write()
    assert files(folder) == before


def test_tables_that_are_wrong_themselves_are_told_so(folder: Path) -> None:
    edit(folder, ("total: 0.10", "total: 0.11"))
    words = "plain: the example says 0.11, with the candidate it is 0.10"
    assert refusal(folder, candidate(folder, "- retire: talker\n")) == f"video/mixed.yaml:18: {words}"
    with pytest.raises(TableError, match="is not a folder"):
        promotion(folder / "none", candidate(folder, SCALE), CHECKED)


def test_the_card_is_loaded_from_what_was_written(folder: Path) -> None:
    made = promotion(folder, candidate(folder, SCALE), CHECKED)
    made.write()
    assert ratecard.load_rate_card(folder).digest == made.digest
