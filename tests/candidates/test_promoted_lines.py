"""What `promote` adds to a table, line by line; every other byte stays as it was."""

import difflib
import subprocess
from datetime import date
from pathlib import Path

import pytest
from overlays import ADDED, MIXED, amounts, candidate, copy_of_shipped, made_up, without

import ratecard
from copied_tables import copy_with_shared
from ratecard.review.promote import Promotion, promotion

CHECKED = date(2027, 8, 20)


def promote(folder: Path, path: Path) -> Promotion:
    """Promote, and prove that the folder means what the candidate means and that no byte but the new lines changed."""
    wanted = ratecard.load_rate_card(folder).with_candidate(path)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    made = promotion(folder, path, CHECKED)
    assert before == {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    made.write()
    for file in (file for file in folder.rglob("*") if file.is_file()):
        added = [(each.first, each.last) for each in made.added if folder / each.file == file]
        assert without(file.read_bytes(), added) == before.get(file, b"")
    card = ratecard.load_rate_card(folder)
    assert card.digest == wanted.digest == made.digest
    assert {name: amounts(card, name) for name in card.tables.models} == {
        name: amounts(wanted, name) for name in wanted.tables.models
    }
    return made


def new_lines(folder: Path, name: str, old: str) -> str:
    """The lines of a file that are new; none of the old ones may be gone."""
    lines = list(difflib.ndiff(old.splitlines(), (folder / name).read_bytes().decode("utf-8-sig").splitlines()))
    assert not [line for line in lines if line.startswith("- ")]
    return "\n".join(line[2:] for line in lines if line.startswith("+ "))


def test_a_new_version_is_a_copy_with_other_dates_rates_and_totals(folder: Path) -> None:
    changes = """- set: sized
  where: {resolution: [480p, 720p], audio: true}
  rate: 0.025
- set: sized
  where: {resolution: 1080p}
  rate: 0.04
"""
    made = promote(folder, candidate(folder, changes, announced="2027-08-01"))
    (added,) = made.added
    assert str(added) == "video/mixed.yaml:26-53: sized from 2027-09-01"
    assert (
        added.text
        == """      - effective: 2027-09-01
        announced: 2027-08-01
        checked: 2027-08-20
        source: "candidate spring by Pricing: because"
        accepts:
          duration: [5s]
          resolution: [480p, 720p, 1080p]
          audio: configurable
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates:
              - {resolution: [480p, 720p], audio: false, rate: 0.01}
              # Between two rates.
              - {resolution: [480p, 720p], audio: true, rate: 0.025}   # with sound
              - resolution: 1080p
                rate: 0.04
          - charge: fee
            method: fixed
            unit: clip
            rates:
              - {rate: 0.5}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s, resolution: 720p}, total: 0.63}
          - request: {duration: 5s, resolution: 1080p}
            total: 0.70
"""
    )
    lines = (folder / "video" / "mixed.yaml").read_text().splitlines()
    # The comment above the old version stays with it.
    assert lines[24:26] == ["    versions:", "      - effective: 2027-09-01"]
    assert lines[53:55] == ["      # It stands above its version.", "      - effective: 2027-06-01"]


def test_a_version_between_two_is_written_between_them(folder: Path) -> None:
    made = promote(folder, candidate(folder, "- scale: {model: sized}\n  factor: 2\n", "2027-03-01"))
    lines = (folder / "video" / "mixed.yaml").read_text().splitlines()
    begins = [line.strip() for line in lines[made.added[0].first - 2 : made.added[0].last + 1]]
    assert begins[:2] == ["total: 0.65", "- effective: 2027-03-01"]
    assert begins[-2:] == ["- {request: {duration: 5s, resolution: 720p}, total: 0.10}", "- effective: 2027-01-01"]
    # Without an announcement there is no line for its day; the other remarks of the base are left out too.
    assert "announced" not in made.added[0].text


def test_what_the_base_says_of_itself_is_not_said_of_the_new_version(folder: Path) -> None:
    made = promote(folder, candidate(folder, "- set: sized\n  charge: fee\n  rate: 0.25\n"))
    for word in ("announced", "correction", "expected_change", "a fair", "made up"):
        assert word not in made.added[0].text


def test_the_page_of_the_base_is_not_that_of_the_new_version(folder: Path) -> None:
    file, page = folder / "video" / "mixed.yaml", "        reference: https://example.com/old\n"
    file.write_text(file.read_text().replace("        source:", f"{page}        source:"))
    made = promote(folder, candidate(folder, "- set: sized\n  charge: fee\n  rate: 0.25\n"))
    assert page not in made.added[0].text
    assert page in file.read_text()


@pytest.mark.parametrize("order", [["source", "checked", "effective"], ["checked", "effective", "source"]])
def test_the_dates_of_a_version_may_be_in_any_order(folder: Path, order: list[str]) -> None:
    words = {"source": "source: made up", "checked": "checked: 2027-01-01", "effective": "effective: 2027-01-01"}
    head = "\n        ".join(
        [words[order[0]], "accepts: {duration: [5s], audio: none}", *(words[w] for w in order[1:])]
    )
    old = "\n        ".join(
        [words["effective"], words["checked"], words["source"], "accepts: {duration: [5s], audio: none}"]
    )
    (folder / "video" / "mixed.yaml").write_text(MIXED.replace(old, head))
    made = promote(folder, candidate(folder, "- set: plain\n  rate: 0.3\n"))
    assert made.added[0].text.startswith("      - effective: 2027-09-01\n        checked: 2027-08-20\n        source: ")


def test_a_version_that_begins_with_something_else_is_copied_too(folder: Path) -> None:
    words = [
        "effective: 2027-01-01",
        "checked: 2027-01-01",
        "source: made up",
        "accepts: {duration: [5s], audio: none}",
    ]
    old, head = ("- " + "\n        ".join(order) for order in (words, [words[3], words[2], words[0], words[1]]))
    assert old in MIXED
    (folder / "video" / "mixed.yaml").write_text(MIXED.replace(old, head, 1))
    made = promote(folder, candidate(folder, "- set: plain\n  rate: 0.3\n"))
    assert made.added[0].text.startswith(
        "      - accepts: {duration: [5s], audio: none}\n        effective: 2027-09-01\n        checked: 2027-08-20\n"
    )


def test_a_retirement_is_one_line_below_the_currency(folder: Path) -> None:
    changes = "- retire: plain\n  successor: sized\n- retire: talker\n"
    made = promote(folder, candidate(folder, changes))
    assert [(str(each), each.text) for each in made.added] == [
        ("text/words.yaml:7-7: talker, retired on 2027-09-01", "    retired: {on: 2027-09-01}\n"),
        ("video/mixed.yaml:9-9: plain, retired on 2027-09-01", "    retired: {on: 2027-09-01, successor: sized}\n"),
    ]
    lines = (folder / "video" / "mixed.yaml").read_text().splitlines()
    assert lines[7].strip() == "currency: USD"


def test_a_new_model_goes_below_the_last_one_of_its_family(folder: Path) -> None:
    made = promote(folder, candidate(folder, ADDED.format(family="mixed", model="new")))
    (added,) = made.added
    assert str(added) == "video/mixed.yaml:85-106: new, a new model of mixed"
    assert (
        added.text
        == """
  - model: new
    name: New
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2027-09-01
        checked: 2027-08-01
        source: "a plan: good"
        accepts: {duration: [5s], audio: none}
        charges:
          - charge: video
            method: fixed
            unit: clip
            # How much.
            rates:
              - {rate: 0.70}

        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.70}
"""
    )


def test_a_new_family_is_a_new_file_in_the_folder_of_its_type(folder: Path) -> None:
    changes = "".join(ADDED.format(family=family, model=f"new-{n}") for n, family in enumerate(("b.2", "a-1", "b.2")))
    made = promote(folder, candidate(folder, changes))
    assert [(each.file, each.first, each.what) for each in made.added] == [
        ("video/a-1.yaml", 1, "new-1, a new model of a-1"),
        ("video/b.2.yaml", 1, "new-0, a new model of b.2, new-2, a new model of b.2"),
    ]
    text = (folder / "video" / "b.2.yaml").read_text()
    assert text.startswith("family: b.2\nmodels:\n  - model: new-0\n    name: New\n")
    assert "total: 0.70}\n\n  - model: new-2\n" in text


def test_a_new_file_names_the_schema_that_its_neighbours_name(tmp_path: Path) -> None:
    folder = copy_with_shared(tmp_path / "tables", "video/ovi.yaml")
    promote(folder, candidate(folder, ADDED.format(family="fresh", model="fresh-1")))
    first, second = (folder / "video" / "fresh.yaml").read_text().splitlines()[:2]
    assert first == (folder / "video" / "ovi.yaml").read_text().splitlines()[0]
    assert second == "family: fresh"


def test_a_family_with_several_files_takes_a_model_into_that_of_its_type(tmp_path: Path) -> None:
    folder = copy_with_shared(
        tmp_path / "tables", *(f"{name}/grok-imagine.yaml" for name in ("edit", "image", "video")), "text/claude.yaml"
    )
    made = promote(folder, candidate(folder, ADDED.format(family="grok-imagine", model="new")))
    assert [each.file for each in made.added] == ["video/grok-imagine.yaml"]
    made = promote(folder, candidate(folder, ADDED.format(family="claude", model="newer")))
    assert [each.file for each in made.added] == ["text/claude.yaml"]


def test_a_type_without_a_table_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = made_up(tmp_path / "tables")
    speech = (
        ADDED.format(family="speech", model="new")
        .replace("type: video", "type: speech")
        .replace("      mode: text-to-video\n", "")
        .replace("          accepts: {duration: [5s], audio: none}\n", "")
        .replace("method: fixed", "method: per-character")
        .replace("unit: clip", "unit: mcharacter")
        .replace("{places: 2, mode: half-up}", "none")
        .replace("request: {duration: 5s}", "usage: {characters: 1000000}")
    )
    made = promote(folder, candidate(folder, speech))
    assert [each.file for each in made.added] == ["speech/speech.yaml"]
    flat = tmp_path / "flat"
    flat.mkdir()
    (flat / "mixed.yaml").write_text(MIXED)
    made = promote(flat, candidate(flat, ADDED.format(family="other", model="new")))
    assert [each.file for each in made.added] == ["other.yaml"]


def test_an_added_model_in_brackets_or_at_another_depth_means_the_same(folder: Path) -> None:
    changes = """- add:
          # The id.
          name: "Ne\\
            w"
          model: new
          type: video
          mode: text-to-video
          currency: &money USD
          versions:
          - effective: 2027-09-01
            checked: 2027-08-01
            source: |
              line one
                line two
            accepts: {duration: [5s],
       audio: none}
            charges:
            - {charge: video, method: fixed, unit: clip, rates: [{rate: 0.7}]}
            rounding: {places: 2, mode: half-up}
            examples:
            # far to the left
     # and further
            - {request: {duration: 5s}, total: 0.7}
  family: mixed
- {family: mixed, add: {model: newer, name: N, type: video, mode: upscale, currency: *money, versions: [
    {effective: 2027-09-01, checked: 2027-08-01, source: s, accepts: {duration: [5s], audio: none},
     charges: [{charge: video, method: fixed, unit: clip, rates: [{rate: 0.7}]}],
     rounding: {places: 2, mode: half-up}, examples: [{request: {duration: 5s}, total: 0.7}]}]}}
"""
    made = promote(folder, candidate(folder, changes))
    assert [each.what.split(",")[0] for each in made.added] == ["new", "newer"]
    assert "&" not in made.added[0].text
    assert "*" not in made.added[1].text
    assert made.added[1].text.startswith("\n  - {model: newer, name: N,")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "", "  \n\n# the end", "\n\n\n"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_every_other_byte_stays_whatever_ends_the_lines_and_the_file(
    folder: Path, eol: str, end: str, mark: str
) -> None:
    text = mark + MIXED.replace("audio: configurable\n", "audio: configurable   \n").rstrip("\n") + end
    (folder / "video" / "mixed.yaml").write_bytes(text.replace("\n", eol).encode())
    changes = "- scale: {type: video}\n  factor: 2\n" + ADDED.format(family="mixed", model="new")[2:].replace(
        "\n  ", "\n"
    )
    made = promote(folder, candidate(folder, changes))
    assert len(made.added) == 3
    content = (folder / "video" / "mixed.yaml").read_bytes()
    assert content.count(b"\r\n") == (content.count(b"\n") if eol == "\r\n" else 0)
    assert content.endswith(end.partition("\n")[2].replace("\n", eol).encode())
    assert end or content.endswith(b"0.00}")
    assert content.startswith(mark.encode() + b"# A comment")
    assert b"audio: configurable   " + eol.encode() in content


def test_the_last_version_of_a_file_without_a_last_line_ending_is_copied_above_itself(folder: Path) -> None:
    (folder / "video" / "mixed.yaml").write_bytes(
        MIXED.replace("rate: 0}", "rate: 1}").replace("total: 0.00", "total: 1.00").encode().rstrip()
    )
    promote(folder, candidate(folder, "- scale: {model: free}\n  factor: 2\n"))
    assert (folder / "video" / "mixed.yaml").read_text().endswith("total: 1.00}")


def test_lines_that_end_in_two_ways_are_kept_each_as_it_is(folder: Path) -> None:
    lines = MIXED.splitlines()
    text = "".join(line + ("\r\n" if n % 3 else "\n") for n, line in enumerate(lines))
    (folder / "video" / "mixed.yaml").write_bytes(text.encode())
    promote(folder, candidate(folder, "- scale: {type: video}\n  factor: 2\n"))


def test_shared_values_of_a_version_are_written_out_in_its_copy(folder: Path) -> None:
    text = MIXED.replace("audio: false, rate: 0.01", "audio: false, rate: &low 0.01")
    text = text.replace("audio: true, rate: 0.02", "audio: true, rate: *low").replace(
        "rates: [{rate: 0}]", "rates: [{rate: *low}]"
    )
    text = text.replace("total: 0.60", "total: 0.55").replace("total: 0.00", "total: 0.01")
    (folder / "video" / "mixed.yaml").write_text(text)
    changes = "- set: sized\n  where: {audio: false}\n  rate: 0.04\n"
    made = promote(folder, candidate(folder, changes))
    assert "audio: false, rate: 0.04}" in made.added[0].text
    assert "audio: true, rate: 0.01}" in made.added[0].text


def test_a_total_is_as_long_as_it_is_exact(folder: Path) -> None:
    changes = "- set: talker\n  where: {tokens: [input, cache_input], context: base}\n  rate: 0.123456789012\n"
    made = promote(folder, candidate(folder, changes))
    assert "completion_tokens: 10}, total: 0.0000323456789012}" in made.added[0].text


def test_totals_and_rates_that_stay_are_copied_as_they_are_written(folder: Path) -> None:
    made = promote(folder, candidate(folder, "- set: talker\n  where: {context: extended}\n  rate: 5.00\n"))
    assert "total: 0.00012}" in made.added[0].text
    assert "{context: extended, tokens: [input, output], rate: 5}" in made.added[0].text


def test_a_candidate_for_three_families_of_the_shipped_tables_adds_lines_and_nothing_else(tmp_path: Path) -> None:
    folder = copy_of_shipped(tmp_path / "tables")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *words], check=True)
    changes = """- scale: {family: kling-o3}
  factor: 1.0525
- scale: {family: claude}
  factor: 0.95
- set: ovi-image-to-video
  rate: 0.25
- retire: veo3-fast-text-to-video
  successor: veo3.1-fast-text-to-video
"""
    made = promote(folder, candidate(folder, changes, "2027-03-01"))
    assert {each.file for each in made.added} == {
        "text/claude.yaml",
        "video/kling-o3.yaml",
        "video/ovi.yaml",
        "video/veo.yaml",
    }
    sent = subprocess.run([*git, "diff", "--numstat"], check=True, capture_output=True, text=True)
    counts = {name: (int(plus), int(minus)) for plus, minus, name in map(str.split, sent.stdout.splitlines())}
    assert counts == {
        name: (sum(each.last - each.first + 1 for each in made.added if each.file == name), 0)
        for name in (each.file for each in made.added)
    }
