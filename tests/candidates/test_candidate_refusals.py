"""All faults of a candidate are reported at once, each at its line, with what was given and what is allowed."""

from pathlib import Path

import pytest
from overlays import ADDED, HEAD, candidate, made_up, refusal

import ratecard
from ratecard import RateCard, TableError
from ratecard.candidates.file import load_candidate

NEW = ADDED.format(family="mixed", model="new")[2:].replace("\n  ", "\n")
_VERSION = NEW[NEW.index("      - effective") :]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up(tmp_path_factory.mktemp("made") / "tables")


@pytest.fixture(scope="module")
def card(folder: Path) -> RateCard:
    return ratecard.load_rate_card(folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        # Changes that match nothing.
        (
            "- set: plane\n  rate: 1",
            "6: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it",
        ),
        (
            "- scale: {model: zzz}\n  factor: 2",
            "6: matches nothing: no model 'zzz'. Name a model's id, as the tables have it",
        ),
        (
            "- scale: {family: mixt}\n  factor: 2",
            "6: matches nothing: no family 'mixt'. Did you mean 'mixed'? Allowed: mixed, searches, words",
        ),
        (
            "- scale: {type: vidio}\n  factor: 2",
            "6: matches nothing: no type 'vidio'. Did you mean 'video'? Allowed: surcharge, text, video",
        ),
        (
            "- scale: {family: mixed, type: text}\n  factor: 2",
            "6: matches nothing: no model of family mixed and type text has a price on 2027-09-01",
        ),
        (
            "- set: sized\n  charge: feee\n  rate: 1",
            "7: matches nothing: sized has no charge 'feee'. Did you mean 'fee'? Allowed: video, fee",
        ),
        (
            "- set: sized\n  where:\n    resolutoin: 720p\n  rate: 1",
            "8: matches nothing: no rate of sized names 'resolutoin'. Did you mean "
            "'resolution'? Allowed: resolution, audio",
        ),
        (
            "- set: plain\n  where: {audio: true}\n  rate: 1",
            "7: matches nothing: no rate of plain names 'audio'. Allowed: none, leave where out",
        ),
        (
            "- set: sized\n  where: {resolution: [1080p, 8k]}\n  rate: 1",
            "7: matches nothing: no rate of sized is for resolution '8k'. Allowed: 480p, 720p, 1080p",
        ),
        (
            "- set: sized\n  where: {resolution: 1080p, audio: true}\n  rate: 1",
            "7: no rate of sized matches all of these conditions. It has: "
            "resolution 480p | 720p, audio false; "
            "resolution 480p | 720p, audio true; resolution 1080p",
        ),
        ("- retire: zzz", "6: matches nothing: no model 'zzz'. Name a model's id, as the tables have it"),
        # Changes that are not clear.
        (
            "- set: sized\n  where: {resolution: 720p, audio: true}\n  rate: 1",
            "7: the rate at video/mixed.yaml:46 is for resolution 480p, 720p together; name "
            "them all, or split its line first",
        ),
        ("- set: sized\n  rate: 1", "6: fits rates of 2 charges of sized. Name one. charge: video | fee"),
        (
            "- set: sized\n  where: {resolution: [480p, 720p]}\n  rate: 1",
            "7: fits 2 different rates of sized: 0.01 (video/mixed.yaml:44), 0.02 "
            "(video/mixed.yaml:46). Say in where which. audio: false | true",
        ),
        (
            "- set: talker\n  where: {tokens: [output, input]}\n  rate: 9",
            "7: the rate at text/words.yaml:18 is for tokens input, cache_input together; "
            "name them all, or split its line first\n"
            "c.yaml:7: fits 3 different rates of talker: 1 (text/words.yaml:18), 2 "
            "(text/words.yaml:19), 4 (text/words.yaml:20). "
            "Say in where which. context: base | extended",
        ),
        ("- scale: {model: plain, family: mixed}\n  factor: 2", "6: names a model, so leave out family and type"),
        ("- scale: {model: plain, type: video}\n  factor: 2", "6: names a model, so leave out family and type"),
        ("- scale: {}\n  factor: 2", "6: names no models. Write one of: model, family, type"),
        (
            "- set: sized\n  charge: fee\n  rate: 1\n- set: sized\n  charge: fee\n  rate: 2",
            "9: line 6 sets a rate that is meant here too; keep one",
        ),
        (
            "".join(
                f"- set: sized\n  where: {{resolution: [480p, 720p]{audio}}}\n  rate: {rate}\n"
                for audio, rate in ((", audio: false", 1), (", audio: true", 1), ("", 2))
            ),
            "12: line 6 sets a rate that is meant here too; keep one",
        ),
        (
            "- scale: {model: plain}\n  factor: 2\n- retire: plain",
            "8: line 6 changes plain from the same day on; keep one",
        ),
        (
            "- retire: plain\n- set: plain\n  rate: 2",
            "7: matches nothing: plain has no price on 2027-09-01; it is retired on 2027-09-01",
        ),
        (
            NEW + "- set: new\n  rate: 2",
            "29: line 6 adds new; write it there as it should be",
        ),
        (
            NEW + "- scale: {model: new}\n  factor: 2",
            "29: line 6 adds new; write it there as it should be",
        ),
        (NEW + "- retire: new", "29: line 6 adds new; write it there as it should be"),
        # Changes without effect.
        ("- set: plain\n  rate: 0.1000", "7: changes nothing: plain has this rate already (video/mixed.yaml:15)"),
        ("- scale: {type: video}\n  factor: 1.0", "7: changes nothing: every rate x 1 is the same"),
        ("- scale: {model: free}\n  factor: 2", "6: changes nothing: all of these rates are 0"),
        (
            "- scale: {model: plain}\n  factor: 2\n- scale: {model: plain}\n  factor: 0.5",
            "8: changes nothing of plain: it undoes line 6, its rates are as they were. "
            "Leave both out; to change all models but one, use except",
        ),
        ("- retire: plain\n- retire: plain", "7: changes nothing: plain is retired already, on 2027-09-01"),
        # Results that tables cannot hold.
        (
            "- scale: {model: sized}\n  factor: 0.00000000000000000000000000001",
            "7: 0.01 (video/mixed.yaml:44) x 0.00000000000000000000000000001 has more than 30 decimal places, "
            "and 2 more rates of the model. "
            "Choose a factor with fewer digits, or set the rates",
        ),
        (
            "- scale: {model: looking}\n  factor: 100000000000000",
            "7: 10 (searches.yaml:12) x 100000000000000 has more than 15 digits. Choose a "
            "factor with fewer digits, or set the rates",
        ),
        (
            "- retire: looking",
            "6: text models charge by 'looking' from then on, like talker; give them versions without it first",
        ),
        (
            "- retire: plain\n  successor: plane",
            "7: successor 'plane' is not in the tables. Did you mean 'plain'? Name a model's id",
        ),
        (
            NEW.replace("model: new", "model: plain"),
            "8: model 'plain' is in the tables already (video/mixed.yaml); use set or scale",
        ),
        (
            NEW.replace("2027-09-01", "2027-08-31"),
            "14: effective 2027-08-31 is before 2027-09-01, from which the candidate holds",
        ),
        (
            NEW + _VERSION.replace("2027-09-01", "2027-08-31"),
            "29: effective 2027-08-31 is before 2027-09-01, from which the candidate holds",
        ),
        (
            NEW.replace("unit: clip", "unit: clips"),
            "21: unit 'clips' is not in units.yaml. Did you mean 'clip'? Allowed for fixed: clip, input_image",
        ),
        (
            NEW.replace("[5s]", "[5 s]"),
            "17: duration '5 s' is not in vocabulary.yaml. Did you mean '5s'? Allowed: ",
        ),
        # Items that are not written as changes.
        (
            "- set: plain\n  rate: 1\n  rate: 2\n- retire: zzz",
            "8: key 'rate' is written twice (first in line 7); keep one\n"
            "c.yaml:9: matches nothing: no model 'zzz'. Name a model's id, as the tables have it",
        ),
        (
            "- set: plain\n  rate: 0.2\n  wher: {}",
            "8: unknown key 'wher'. Did you mean 'where'? Allowed here: set, charge, where, factor, rate",
        ),
        (
            "- scale: {modle: plain}\n  factor: 2",
            "6: unknown key 'modle'. Did you mean 'model'? Allowed here: model, family, type, except",
        ),
        ("- scale: plain\n  factor: 2", "6: scale 'plain' must hold keys, like `key: value`"),
        ("- set: plain\n  rate: -1", "7: rate '-1' is negative. Write zero or more"),
        ("- set: plain", "6: rate is missing"),
        ("- scale: {type: video}\n  factor: 0", "7: factor '0' must be more than zero"),
        ("- retire: plain\n  on: 2027-01-01", "7: unknown key 'on'. Allowed here: retire, successor"),
        (
            "- retires: plain",
            "6: 'retires' names no change. Did you mean 'retire'? Write one of: set, scale, retire, add",
        ),
        ("- rate: 1\n  factor: 2", "6: 'rate, factor' names no change."),
        ("- plain", "6: a change must hold keys, like `set: MODEL`. Write one of: set, scale, retire, add"),
        (
            "- set: plain\n  retire: plain\n  rate: 2",
            "6: set and retire in one change; write each on its own, begun by a dash",
        ),
        ("- add: {model: x}", "6: family is missing"),
        (
            NEW.replace("mode: text", "moda: text"),
            "11: unknown key 'moda'. Did you mean 'mode'? Allowed here: ",
        ),
        (
            NEW.replace("      type: video\n", "").replace("    type: video\n", ""),
            "7: type is missing in add",
        ),
        (
            NEW.replace("rate: 0.70", "rate: 0.7x"),
            "24: rate '0.7x' is not a number. Write digits",
        ),
    ],
)
def test_a_change_that_cannot_be_made_is_told_at_its_line(
    card: RateCard, folder: Path, changes: str, words: str
) -> None:
    assert f"c.yaml:{words}" in refusal(card, candidate(folder, changes.strip() + "\n"))


def test_a_candidate_on_the_day_of_a_version_is_refused(card: RateCard, folder: Path) -> None:
    words = "has a version from 2027-06-01 already (video/mixed.yaml). Choose another day"
    for change in ("- set: sized\n  charge: fee\n  rate: 1\n", "- scale: {type: video}\n  factor: 2\n"):
        assert refusal(card, candidate(folder, change, "2027-06-01")) == f"c.yaml:6: sized {words}"


def test_a_candidate_before_the_first_version_names_it(card: RateCard, folder: Path) -> None:
    words = "plain has no price on 2026-12-31; its first version takes effect on 2027-01-01"
    path = candidate(folder, "- set: plain\n  rate: 0.2\n", "2026-12-31")
    assert refusal(card, path) == f"c.yaml:6: matches nothing: {words}"
    path = candidate(folder, "- retire: plain\n", "2026-12-31")
    assert refusal(card, path) == "c.yaml:6: retired on 2026-12-31, but the first version takes effect on 2027-01-01"


def test_an_added_model_without_a_version_is_refused(card: RateCard, folder: Path) -> None:
    change = "- family: f\n  add: {model: m, name: M, type: video, mode: upscale, currency: usd, versions: []}\n"
    assert refusal(card, candidate(folder, change)).splitlines() == [
        "c.yaml:7: currency 'usd' is not an ISO 4217 code. Write three capitals, like USD",
        "c.yaml:7: versions is empty. A model without a known price does not belong in the tables",
    ]


def test_a_surcharge_that_no_version_will_name_can_be_retired(tmp_path: Path) -> None:
    tables = made_up(tmp_path / "tables")
    words = tables / "text" / "words.yaml"
    text = words.read_text()
    words.write_text(text.replace("currency: USD\n", "currency: USD\n    retired: {on: 2027-09-01}\n"))
    card = ratecard.load_rate_card(tables)
    assert card.with_candidate(candidate(tables, "- retire: looking\n"))
    # A version that begins later counts, although the version in effect names no surcharge.
    version = text[text.index("      - effective") :].replace("2027-01-01", "2027-12-01")
    old = text[text.index("      - effective") :].replace("        surcharges: {web_search: looking}\n", "")
    old = old[: old.rindex("          - {usage")]
    words.write_text(text[: text.index("      - effective")] + version + old)
    card = ratecard.load_rate_card(tables)
    assert "charge by 'looking' from then on, like talker" in refusal(card, candidate(tables, "- retire: looking\n"))


def test_a_metered_model_that_is_added_obeys_the_rules_of_its_type(card: RateCard, folder: Path) -> None:
    change = """- family: f
  add:
    model: m
    name: M
    type: music
    currency: USD
    versions:
      - effective: 2027-09-01
        checked: 2027-09-01
        source: s
        charges:
          - {charge: c, method: tokens, unit: mtoken, rates: [{tokens: input, rate: 1}]}
        rounding: none
        examples:
          - {usage: {}, total: 1}
"""
    words = (
        "c.yaml:17: method tokens does not price music. Allowed: per-character, "
        "per-audio-second, per-song, duration-band, count"
    )
    assert refusal(card, candidate(folder, change)) == words


def test_all_faults_of_a_candidate_are_told_at_once_in_the_order_of_its_lines(card: RateCard, folder: Path) -> None:
    changes = """- set: plane
  rate: 1
- set: plain
  rate: x
- scale: {family: zzz, type: yyy}
  factor: 2
- set: sized
  where: {resolution: 9p, audoi: true}
  rate: 3
- retire: free
  successor: unwritten
- family: f
  add: {model: unwritten}
"""
    lines = refusal(card, candidate(folder, changes)).splitlines()
    assert [int(line.split(":")[1]) for line in lines] == [6, 9, 10, 10, 13, 13, 18]


def test_a_successor_that_is_added_with_a_fault_is_one_fault(card: RateCard, folder: Path) -> None:
    broken = ADDED.format(family="f", model="new").replace("rate: 0.70", "rate: no")
    words = refusal(card, candidate(folder, "  - retire: plain\n    successor: new\n" + broken))
    assert words.count("\n") == 0
    assert "rate 'no' is not a number" in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "1: the file is empty"),
        ("just words\n", "1: the file 'just words' must hold keys, like `key: value`"),
        (
            HEAD.format(day="2027-09-31", announced="") + "- retire: plain\n",
            "2: effective '2027-09-31' is not a date. Write YYYY-MM-DD, like 2026-09-28",
        ),
        (HEAD.format(day="2027-09-01", announced=""), "5: changes '' must be a list (items start with \"- \")"),
        (
            HEAD.format(day="2027-09-01", announced="").replace("changes:", "changes: []"),
            "5: changes is empty. Write at least one: set, scale, retire, add",
        ),
        (HEAD.format(day="2027-09-01", announced="").replace("changes:\n", ""), "1: changes is missing"),
        (
            HEAD.format(day="2027-09-01", announced="").replace("why: because", "why: ' '") + "- retire: plain\n",
            "4: why ' ' is empty. Write a value, or leave the key out",
        ),
        (
            HEAD.format(day="2027-09-01", announced="colour: red\n") + "- retire: plain\n",
            "3: unknown key 'colour'. Allowed here: candidate, effective, until, announced, proposed_by, why, changes,"
            " contracts",
        ),
        (
            HEAD.format(day="2027-09-01", announced="") + "- retire: plain\n  retire: free\n",
            "7: key 'retire' is written twice (first in line 6); keep one",
        ),
        (HEAD.format(day="2027-09-01", announced="") + "- [\n", "7: not YAML: "),
    ],
)
def test_a_file_that_is_not_a_candidate_is_refused(card: RateCard, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    assert f"c.yaml:{words}" in refusal(card, path)


def test_a_bad_head_and_bad_changes_are_told_together(card: RateCard, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("candidate: x\nproposed_by: y\nwhy: z\nchanges:\n  - retires: a\n")
    assert refusal(card, path).splitlines() == [
        "c.yaml:1: effective is missing",
        "c.yaml:5: 'retires' names no change. Did you mean 'retire'? Write one of: set, scale, retire, add",
    ]


def test_faults_of_the_head_are_told_with_those_of_matching(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "- set: plane\n  rate: 1\n- set: plain\n  rate: x\n- scale: {type: video}\n  factor: 1\n")
    path.write_text(
        path.read_text().replace("why: because", "why: ' '\ncolour: red").replace("candidate: spring\n", "")
    )
    assert refusal(card, path).splitlines() == [
        "c.yaml:1: candidate is missing",
        "c.yaml:3: why ' ' is empty. Write a value, or leave the key out",
        "c.yaml:4: unknown key 'colour'. "
        "Allowed here: candidate, effective, until, announced, proposed_by, why, changes, contracts",
        "c.yaml:6: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it",
        "c.yaml:9: rate 'x' is not a number. Write digits with at most 30 decimal places, like 0.10",
        "c.yaml:11: changes nothing: every rate x 1 is the same",
    ]


def test_a_file_that_is_not_there_is_refused(card: RateCard, tmp_path: Path) -> None:
    assert refusal(card, tmp_path / "none.yaml") == "none.yaml:1: cannot be read: No such file or directory"


def test_loading_a_candidate_tells_the_faults_of_its_changes(folder: Path) -> None:
    path = candidate(folder, "- retires: plain\n- retire: free\n")
    with pytest.raises(TableError, match="names no change"):
        load_candidate(path)
    assert load_candidate(candidate(folder, "- retire: free\n")).changes[0][0] == 0
