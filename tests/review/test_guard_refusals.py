"""What `ratecard check --against` refuses and lets pass: one edit each; and what it prints, in a real repository."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contract_tables import card_of as card_of_contracts
from git_tables import FILES, SECOND, Edit, card_of, edited, git, newer, repository, write
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.review.compare import compare_sides
from ratecard.review.guard import Rules, refusals
from ratecard.review.sides import Side
from token_tables import by_tokens, family, text_model

AS_OF = "--as-of=2026-11-01T12:00:00Z"
EXAMPLE = "{duration: 5s, resolution: 480p}, total: "
# Versions of one model: one in effect since September, and a future one.
BASE = edited(newer(SECOND, "2027-01-01"))
MODEL = "per-second-video"


def refused(
    before: Mapping[str, str], after: Mapping[str, str], as_of: str = "2026-11-01T12:00:00", most: str = "2"
) -> list[str]:
    """What the guard refuses of an edit of these files, in the words of `check`."""
    rules = Rules(datetime.fromisoformat(as_of).replace(tzinfo=UTC), Decimal(most), "HEAD")
    return [str(fault) for fault in refusals(card_of(before), card_of(after), rules)]


def check(folder: Path, *words: str) -> Result:
    day = [] if any(word.startswith("--as-of") for word in words) else [AS_OF]
    return CliRunner().invoke(main, ["check", str(folder), "--against=HEAD", *day, *words])


def first(old: str, new: str, text: str) -> str:
    """An edit of the newest version only."""
    assert old in text
    return text.replace(old, new, 1)


def last(old: str, new: str, text: str) -> str:
    """An edit of the version in effect, which is the last one."""
    assert old in text
    before, _, after = text.rpartition(old)
    return f"{before}{new}{after}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path, BASE)


def rewrite(folder: Path, text: str, name: str = SECOND) -> None:
    write(folder, {**BASE, name: text})


def dearer(text: str, rate: str = "0.125", total: str = "0.63") -> str:
    """The version in effect with another rate, its example worked again."""
    return last(f"{EXAMPLE}0.50", f"{EXAMPLE}{total}", last("480p, rate: 0.10", f"480p, rate: {rate}", text))


def corrected(text: str, reason: str = "was never 0.10") -> str:
    return last("        checked:", f"        correction: {reason}\n        checked:", text)


def test_nothing_changed(folder: Path) -> None:
    sent = check(folder)
    assert sent.exit_code == 0
    assert "Sound: " in sent.stdout
    head = git(folder, "rev-parse", "HEAD")[:12]
    assert f"Nothing that was in effect at HEAD ({head}) is changed without a correction.\n" in sent.stdout
    assert sent.stdout.endswith("\nNo price changes\n")


def test_an_edit_of_a_rate_in_effect_is_refused_at_its_line(folder: Path) -> None:
    rewrite(folder, dearer(BASE[SECOND]))
    sent = check(folder)
    assert sent.exit_code == 1
    line, empty, legend, *_ = sent.stdout.splitlines()
    assert line == (
        f"{SECOND}:38: version 2026-09-01 of {MODEL} is in effect, and was edited: video, resolution 480p: "
        "0.1 -> 0.125. Put it back as it was and write a new version above it; "
        "if it was wrong from the start, say `correction: reason` in it"
    )
    assert (empty, legend) == ("", "Key: ~ changed, + added, - removed")
    assert sent.stderr == f"Tables: {folder}\n1 change refused\n"


def test_a_correction_is_one(folder: Path) -> None:
    rewrite(folder, corrected(dearer(BASE[SECOND])))
    sent = check(folder)
    assert sent.exit_code == 0
    assert "0.1 -> 0.125 USD per video_second (+25%)" in sent.stdout


def test_the_reason_of_an_earlier_correction_is_not_one_for_the_next() -> None:
    once = {**BASE, SECOND: corrected(dearer(BASE[SECOND]))}
    again = {**BASE, SECOND: once[SECOND].replace("rate: 0.125", "rate: 0.13").replace("total: 0.63", "total: 0.65")}
    [words] = refused(once, again)
    assert "'was never 0.10' is the reason of an earlier correction; if this is one too, say why" in words
    assert refused(once, {**again, SECOND: again[SECOND].replace("was never 0.10", "nor was it 0.125")}) == []


FREE: dict[str, Edit] = {
    "the day of the last check": (SECOND, "checked: 2026-09-02", "checked: 2026-10-30"),
    "a source": (SECOND, "source: price page, 2026-09-02", "source: another page"),
    "evidence": (SECOND, "        accepts:", "        evidence: seen\n        accepts:"),
    "an announcement": (SECOND, "        accepts:", "        announced: 2026-08-01\n        accepts:"),
    "another example": (SECOND, f"{EXAMPLE}0.50", "{duration: 4s, resolution: 480p}, total: 0.40"),
    "a comment": (SECOND, "        accepts:", "        # why\n        accepts:"),
    "a number written shorter": (SECOND, "rate: 0.10", "rate: 0.1"),
    "the name of a charge": (SECOND, "- charge: video", "- charge: seconds of video"),
    "what can be asked for at the same prices": (SECOND, "[3s..5s]", "[3s..6s]"),
    "the name of the model": (SECOND, "name: Example Video", "name: Another Name"),
}


@pytest.mark.parametrize("edit", FREE.values(), ids=list(FREE))
def test_conditions_without_a_price_may_change(edit: Edit) -> None:
    assert refused(BASE, {**BASE, SECOND: last(*edit[1:], BASE[SECOND])}) == []


GUARDED: dict[str, tuple[Edit, str]] = {
    "rounding": ((SECOND, "places: 2", "places: 3"), "rounding places: 2 -> 3"),
    "an attribute of a rate": (
        (SECOND, "- {resolution: 720p, rate: 0.20}", "- {resolution: [720p, 1080p], rate: 0.20}"),
        "resolution 1080p: none -> 0.2",
    ),
    "a unit": (("per_clip.yaml", "unit: clip", "unit: input_image"), " and 5 more"),
    "a markup": (("upscale.yaml", "markup: 1.25", "markup: 1.2"), "video upscale"),
    "a size": (("megapixel.yaml", "1280x720", "1281x720"), "sizes of video megapixels"),
    "a default": (
        ("upscale.yaml", "defaults: {upscale_factor: 2}", "defaults: {upscale_factor: 1}"),
        "defaults upscale_factor: 2 -> 1",
    ),
    "what an alias means": (
        (SECOND, "          audio:", "          resolution_aliases: {768P: 720p}\n          audio:"),
        "accepts resolution_aliases 768P: none -> 720p",
    ),
    "the currency": ((SECOND, "currency: USD", "currency: EUR"), "video, resolution 480p: 0.1 -> none and 3 more"),
    "a removed rate": (
        (SECOND, "- {resolution: 720p, rate: 0.20}\n", "- {resolution: 720p, audio: false, rate: 0.20}\n"),
        "audio true: 0.1 -> none and 1 more",
    ),
}


@pytest.mark.parametrize(("edit", "words"), GUARDED.values(), ids=list(GUARDED))
def test_what_decides_a_price_may_not_change(edit: Edit, words: str) -> None:
    name, old, new = edit
    text = edited()[name]
    if "1080p" in new:
        text = text.replace("resolution: [480p, 720p]", "resolution: [480p, 720p, 1080p]")
    if "audio: false" in new:
        text = text.replace("audio: configurable", "audio: none")
    after = {**edited(), name: last(old, new, text) if old != "places: 2" else text.replace(old, new)}
    [line] = [line for line in refused(edited(), after) if "and was edited" in line]
    assert words in line


def test_a_unit_that_holds_another_count_changes_every_price_in_effect() -> None:
    after = edited(("units.yaml", "{unit: song, counts: song, per: 1}", "{unit: song, counts: song, per: 10}"))
    words = "version 2026-09-01 of duration-band-music is in effect, and was edited: song"
    assert any(words in line for line in refused(edited(), after))


METERS = """\
meters:
  - {meter: page, every_usage: 1}
conditions:
  - {condition: tier, values: [usual, batch], default: usual, same_as: {auto: usual}}
"""
READER = family(
    text_model(
        "reader",
        by_tokens("- {tokens: [input, output], rate: 2}", "factors: [{tier: batch, factor: 0.5}]").replace(
            "        examples:",
            "          - {charge: pages, method: count, unit: page, rates: [{rate: 0}]}\n        examples:",
        ),
    )
)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("default: usual", "default: batch", "reader is in effect, and was edited: default of tier: usual -> batch"),
        ("auto: usual", "auto: batch", "tier auto: usual -> batch (meters.yaml)"),
        ("every_usage: 1", "every_usage: 2", "page of every usage: 1 -> 2"),
        ("auto: usual", "auto: usual, none: usual", ""),
        (", default: usual", "", "default of tier: usual -> none"),
        (", same_as: {auto: usual}", "", "tier auto: usual -> none"),
        (", every_usage: 1", "", "page of every usage: 1 -> none"),
    ],
)
def test_a_meter_or_condition_by_which_a_version_in_effect_has_its_price_may_not_be_edited(
    old: str, new: str, words: str
) -> None:
    corrected = READER.replace("source:", "correction: was never so\n        source:")
    before, after, excused = [
        card_of_contracts(tables={"reader.yaml": text, "meters.yaml": meters})
        for text, meters in (
            (READER, METERS),
            (READER, METERS.replace(old, new)),
            (corrected, METERS.replace(old, new)),
        )
    ]
    rules = Rules(datetime(2026, 11, 10, tzinfo=UTC), Decimal(2), "HEAD")
    found = [str(fault) for fault in refusals(before, after, rules)]
    assert len(found) == bool(words), found
    assert words in "".join(found)
    assert refusals(before, excused, rules) == []


def test_a_deleted_version_is_refused(folder: Path) -> None:
    text = BASE[SECOND]
    start = text.index("      - effective: 2026-09-01")
    rewrite(folder, text[:start])
    sent = check(folder)
    assert sent.exit_code == 1
    assert sent.stdout.startswith(
        f"{SECOND}:9: version 2026-09-01 of {MODEL} was in effect (HEAD:{SECOND}:26), and is gone. Put it back"
    )


def test_a_version_of_the_future_may_be_deleted() -> None:
    assert refused(BASE, edited()) == []
    assert refused(BASE, edited(), "2026-12-31T23:59:59") == []
    [words] = refused(BASE, edited(), "2027-01-01")
    assert "version 2027-01-01 of per-second-video was in effect" in words


def test_a_moved_date_is_refused_unless_it_is_a_correction() -> None:
    moved = last("effective: 2026-09-01", "effective: 2026-09-15", BASE[SECOND])
    assert [line.partition(": ")[2][:30] for line in refused(BASE, {**BASE, SECOND: moved})] == [
        "version 2026-09-01 of per-seco",
        "new version 2026-09-15 of per-",
    ]
    assert refused(BASE, {**BASE, SECOND: corrected(moved, "began later")}) == []


def test_one_correction_excuses_one_version() -> None:
    files = edited(newer(SECOND, "2026-10-01"))
    text = last("effective: 2026-09-01", "effective: 2026-09-15", files[SECOND])
    start = text.index("      - effective: 2026-10-01")
    end = text.index("      - effective: 2026-09-15")
    found = refused(files, {**files, SECOND: corrected(text[:start] + text[end:])})
    assert ["was in effect (HEAD" in line for line in found].count(True) == 1


@pytest.mark.parametrize(
    ("day", "status"),
    [("2026-10-15", 1), ("2026-11-01", 1), ("2026-11-02", 0), ("2026-08-01", 0)],
    ids=["past", "this morning", "tomorrow", "before there was a price"],
)
def test_a_new_version_may_not_begin_in_the_past(day: str, status: int) -> None:
    after = edited(newer(SECOND, day))
    if day < "2026-09-01":
        text = edited()[SECOND]
        after = {**edited(), SECOND: text + text[text.index("      - effective") :].replace("2026-09-01", day)}
    found = refused(edited(), after)
    assert len(found) == status, found
    if status:
        assert f"new version {day} of {MODEL} begins in the past, in that of 2026-09-01" in found[0]
        assert refused(edited(), after, day) == []
        assert len(refused(edited(), after, f"{day}T00:00:01")) == 1
        with_reason = edited(newer(SECOND, day, more="        correction: was never cheaper\n"))
        assert refused(edited(), with_reason) == []


def test_a_vanished_model_is_refused_at_the_place_where_it_was(folder: Path) -> None:
    write(folder, {name: text for name, text in BASE.items() if name != SECOND})
    sent = check(folder)
    assert sent.exit_code == 1
    assert sent.stdout.startswith(
        f"HEAD:{SECOND}:26: model '{MODEL}' vanished, and has had prices since 2026-09-01. "
        "Put it back, and end it by `retired: {on: DATE}`; its versions stay\n"
    )
    assert f"- {MODEL}, from 2026-09-01: not in the tables any more" in sent.stdout


def test_a_model_of_the_future_may_vanish_and_so_may_a_retired_one() -> None:
    end = (SECOND, "    versions:", "    retired: {on: 2026-10-01}\n    versions:")
    before = edited(end, ("tokens.yaml", "effective: 2026-09-01", "effective: 2026-12-01"))
    after = {name: text for name, text in before.items() if name not in (SECOND, "tokens.yaml")}
    assert refused(before, after) == []
    assert len(refused(before, after, "2026-09-30")) == 1


OTHER = "per_clip.yaml"
RETIRED = "retired: {{on: {}}}"
NAMES = {"names.yaml": "patterns: true\n"}


def with_head(file: str, line: str) -> dict[str, str]:
    """The files with a further line of a model, above its versions."""
    return edited(
        (file, "    versions:", f"    {line}\n    versions:" if line else "    versions:"), files={**FILES, **NAMES}
    )


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("aliases: [latest]", "aliases: [latest]", "latest"),
        ("patterns: ['latest-*']", "patterns: ['latest-*']", "latest-*"),
        ("aliases: [latest-1]", "patterns: ['latest-*']", "latest-1"),
    ],
)
def test_a_name_of_a_model_in_effect_keeps_its_meaning(before: str, after: str, moved: str) -> None:
    old, new = with_head(SECOND, before), with_head(OTHER, after)
    words = f"'{moved}' meant {MODEL}, which has had prices since 2026-09-01, and now means per-clip-video"
    found = refused(old, new)
    assert found[0].startswith(f"{OTHER}:")
    assert any(words in line for line in found), found
    new[OTHER] = corrected(new[OTHER])
    assert refused(old, new) == refused(old, new, "2026-08-01") == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("aliases: [latest, newest]", "aliases: [newest]", "'latest' meant per-second-video, which has had prices"),
        ("aliases: [latest]", "", "and now means nothing, which changes what had a price in the past"),
        ("patterns: ['latest-*']", "patterns: ['latest-1*']", "'latest-*' meant"),
        ("provider: acme", "provider: other", "was edited: provider: acme -> other"),
        ("provider: acme", "", "was edited: provider: acme -> none"),
        ("aliases: [latest]", "aliases: [newest, latest]", ""),
        ("patterns: ['latest-1*']", "patterns: ['latest-*']", ""),
        ("", "provider: acme", ""),
        ("", RETIRED.format("2026-12-01"), ""),
        ("", RETIRED.format("2026-10-01"), "was retired not at all, and now on 2026-10-01"),
        (RETIRED.format("2026-10-01"), "", "was retired on 2026-10-01, and now not at all"),
        (
            RETIRED.format("2026-10-01"),
            RETIRED.format("2026-12-01"),
            "was retired on 2026-10-01, and now on 2026-12-01",
        ),
        (RETIRED.format("2026-12-01"), "", ""),
        (RETIRED.format("2026-12-01"), RETIRED.format("2026-12-15"), ""),
        (RETIRED.format("2026-10-01"), RETIRED.format("2026-10-01"), ""),
    ],
)
def test_a_line_of_a_model_in_effect_takes_nothing_away(before: str, after: str, words: str) -> None:
    old, new = with_head(SECOND, before), with_head(SECOND, after)
    found = refused(old, new)
    assert bool(found) == bool(words), found
    assert words in "".join(found)
    new[SECOND] = corrected(new[SECOND])
    assert refused(old, new) == refused(old, new, "2026-08-01") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (SECOND, "[3s..5s]", "[4s, 5s]", "accepts duration: 3s -> none"),
        (SECOND, "[3s..5s]", "[5s..9s]", "accepts duration: 3s, 4s -> none"),
        ("upscale.yaml", "min: 16", "min: 17", "accepts target_fps: min 16 -> none"),
        ("upscale.yaml", "max: 120", "max: 60", "accepts target_fps: max 120 -> none"),
        ("upscale.yaml", "max_seconds: 300", "max_seconds: 301", ""),
    ],
)
def test_what_a_request_of_the_past_has_said_is_still_accepted(file: str, old: str, new: str, words: str) -> None:
    found = refused(edited(), {**edited(), file: last(old, new, edited()[file])})
    assert bool(found) == bool(words), found
    assert words in "".join(found)


@pytest.mark.parametrize("names", ["model: latest-9", "aliases: [latest-9]"])
def test_a_name_that_a_pattern_has_fitted_stays_with_its_model(names: str) -> None:
    old = with_head(SECOND, "patterns: ['latest-*']")
    if names.startswith("model"):
        new = {**old, "new.yaml": old[OTHER].replace("model: per-clip-video", names)}
    else:
        new = {**old, OTHER: with_head(OTHER, names)[OTHER]}
    words = f"'latest-9' meant {MODEL}, which has had prices since 2026-09-01, and now means"
    assert any(words in line for line in refused(old, new))


def test_an_id_of_a_retired_model_is_no_name_of_another() -> None:
    old, new = with_head(SECOND, RETIRED.format("2026-10-01")), with_head(OTHER, f"aliases: [{MODEL}]")
    del new[SECOND]
    assert any(f"'{MODEL}' meant {MODEL}, which" in line for line in refused(old, new))


def test_a_correction_of_long_ago_excuses_no_retirement() -> None:
    files = {**FILES, SECOND: corrected(FILES[SECOND])}
    end = (SECOND, "    versions:", f"    {RETIRED.format('2026-10-01')}\n    versions:")
    [words] = refused(edited(files=files), edited(end, files=files))
    assert "was retired not at all" in words


def stepped(rate: str, total: str, *, more: str = "") -> dict[str, str]:
    return edited(
        newer(
            SECOND,
            "2027-01-01",
            ("480p, rate: 0.10", f"480p, rate: {rate}"),
            (f"{EXAMPLE}0.50", f"{EXAMPLE}{total}"),
            more=more,
        )
    )


@pytest.mark.parametrize(
    ("rate", "total", "factor"),
    [("0.20", "1.00", ""), ("0.05", "0.25", ""), ("0.201", "1.01", "2.01"), ("0.03", "0.15", "3.34"), ("1", "5", "10")],
)
def test_a_price_may_double_or_halve_without_a_word(rate: str, total: str, factor: str) -> None:
    found = refused(edited(), stepped(rate, total))
    assert len(found) == bool(factor), found
    if not factor:
        return
    assert found[0].startswith(f"{SECOND}:21: {MODEL}: video, resolution 480p goes from 0.1 ({SECOND}:21) to ")
    hint = f"by a factor of {factor}; without a word at most 2. If that is right, say `expected_change: {factor}`"
    assert hint in found[0]
    assert refused(edited(), stepped(rate, total, more=f"        expected_change: {factor}\n")) == []
    [words] = refused(edited(), stepped(rate, total, more="        expected_change: 2\n"))
    assert words.endswith("in version 2027-01-01, which says 2")


def test_an_expected_quarter_is_a_factor_of_four() -> None:
    assert refused(edited(), stepped("0.025", "0.13", more="        expected_change: 0.25\n")) == []


def test_another_greatest_factor(tmp_path: Path) -> None:
    assert refused(edited(), stepped("0.25", "1.25"), most="2.5") == []
    assert len(refused(edited(), stepped("0.15", "0.75"), most="1.4")) == 1
    folder = repository(tmp_path, edited())
    write(folder, stepped("0.25", "1.25"))
    assert [check(folder, f"--max-change={most}").exit_code for most in ("2.5", "2.4", "1")] == [0, 1, 1]
    for given, words in (("0.5", "is below 1"), ("x", "is not a number")):
        sent = check(folder, f"--max-change={given}")
        assert (sent.exit_code, words in sent.stderr) == (2, True)


def test_from_or_to_nothing_needs_a_word() -> None:
    [words] = refused(edited(), stepped("0", "0.00"))
    assert words.endswith("to 0. If that is right, say `expected_change: 1` in version 2027-01-01")
    assert refused(edited(), stepped("0", "0.00", more="        expected_change: 1\n")) == []


def test_a_price_that_no_rate_tells_is_found_by_its_cells() -> None:
    wider = newer("megapixel.yaml", "2027-01-01", ("1280x720", "12800x720"), ("total: 0.11", "total: 1.12"))
    [words] = refused(edited(), edited(wider))
    assert words.startswith("megapixel.yaml:9: megapixel-video: the price of ")
    assert "by a factor of 10;" in words


def test_a_slip_that_holds_at_some_hours_only_is_found() -> None:
    rates = "- {tokens: input, rate: 4}\n- {tokens: output, rate: 20}\n"
    by_day = '- {tokens: input, hours: "08:00..20:00", zone: UTC, rate: RATE}\n'

    def refused(*newer_versions: str) -> list[str]:
        before, after = (
            card_of_contracts(tables={"a.yaml": family(text_model("flat", *versions, by_tokens(rates)))})
            for versions in ((), newer_versions)
        )
        rules = Rules(datetime(2026, 11, 1, tzinfo=UTC), Decimal(2), "HEAD")
        return [str(fault) for fault in refusals(before, after, rules)]

    slip, half = (
        by_tokens(rates + by_day.replace("RATE", rate), effective=day)
        for rate, day in (("0.04", "2027-01-02"), ("2", "2027-01-01T21:00:00Z"))
    )
    [found] = refused(slip)
    assert "completion_tokens 0 at 2027-01-02T08:00Z goes from 4 to 0.04, by a factor of 100;" in found
    assert refused(half) == []
    # The rates before the first hour of a window are compared as a version of their own.
    allowed = slip.replace("        rounding", "        expected_change: 100\n        rounding")
    assert refused(allowed, half) == []


def test_prices_without_a_common_request_are_not_compared() -> None:
    other = [
        ("duration: [3s..5s]", "duration: [8s]"),
        (f"{EXAMPLE}0.50", "{duration: 8s, resolution: 480p}, total: 0.80"),
    ]
    assert refused(edited(), edited(newer(SECOND, "2027-01-01", *other))) == []


def test_two_versions_with_a_slip_are_told_each_once(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited(newer("per_clip.yaml", "2027-03-01")))
    files = stepped("1", "5")
    again = newer(
        SECOND, "2027-02-01", ("480p, rate: 1", "480p, rate: 2"), (f"{EXAMPLE}5", f"{EXAMPLE}10"), files=files
    )
    write(folder, edited(again, newer("per_clip.yaml", "2027-03-01"), files=files))
    sent = check(folder)
    assert [line.rpartition(" in version ")[2] for line in sent.stdout.splitlines()[:2]] == ["2027-02-01", "2027-01-01"]
    assert sent.stderr == f"Tables: {folder}\n2 changes refused\n"


def test_a_version_that_ends_a_promotion_is_compared_with_what_was_there() -> None:
    files = stepped("0.01", "0.05", more="        expected_change: 10\n")
    back = newer(
        SECOND,
        "2027-02-01",
        ("480p, rate: 0.01", "480p, rate: 0.10"),
        (f"{EXAMPLE}0.05", f"{EXAMPLE}0.50"),
        ("        expected_change: 10\n", ""),
        files=files,
    )
    promoted = edited(back, files=files)
    assert refused(edited(), promoted) == []
    # A planned price that was never in effect may be dropped.
    assert refused(promoted, edited()) == []


@pytest.mark.parametrize(("rate", "total", "words"), [("0.15", "0.75", ""), ("1.5", "7.50", "by a factor of 15")])
def test_an_edit_that_waits_is_free_but_not_of_any_size(rate: str, total: str, words: str) -> None:
    text = first("480p, rate: 0.10", f"480p, rate: {rate}", BASE[SECOND])
    found = refused(BASE, {**BASE, SECOND: first(f"{EXAMPLE}0.50", f"{EXAMPLE}{total}", text)})
    assert (len(found), words in "".join(found)) == (bool(words), True)


def test_wrong_examples_and_refusals_are_told_together(folder: Path) -> None:
    rewrite(folder, last("480p, rate: 0.10", "480p, rate: 0.125", BASE[SECOND]))
    sent = check(folder)
    assert sent.stderr == f"Tables: {folder}\n1 fault in the tables, 1 change refused\n"
    assert "the example says 0.5" in sent.stdout
    assert "and was edited" in sent.stdout


def test_json_is_the_same_tree_and_has_the_diff(folder: Path) -> None:
    rewrite(folder, dearer(BASE[SECOND]))
    sent = check(folder, "--json")
    body = json.loads(sent.stdout)
    node: Any = body["details"][SECOND][MODEL]
    assert sent.exit_code == 1
    assert body["error"] == "1 change refused"
    assert node["_errors"][0].startswith(f"{SECOND}:38: version 2026-09-01 of")
    assert body["diff"]["counts"]["rates_changed"] == 1
    rewrite(folder, BASE[SECOND])
    good = json.loads(check(folder, "--json").stdout)
    assert (good["models"], good["diff"]["changes"]) == (len(FILES), [])
    assert good["against"].startswith("HEAD (")


def test_two_refusals_are_counted(folder: Path) -> None:
    write(folder, {name: text for name, text in BASE.items() if name not in (SECOND, "tokens.yaml")})
    assert check(folder).stderr == f"Tables: {folder}\n2 changes refused\n"


def test_now_is_the_instant_where_none_is_named(folder: Path) -> None:
    rewrite(folder, dearer(BASE[SECOND]))
    sent = CliRunner().invoke(main, ["check", str(folder), "--against=HEAD"])
    assert (sent.exit_code, "and was edited" in sent.stdout) == (1, True)


def test_unsound_tables_of_either_side_are_refused_first(folder: Path) -> None:
    rewrite(folder, BASE[SECOND].replace("rate: 0.20", "rate: twenty"))
    assert check(folder).stderr == f"Tables: {folder}\n2 faults in the tables\n"
    git(folder, "commit", "-q", "-a", "-m", "broken")
    rewrite(folder, BASE[SECOND])
    assert check(folder).stdout.startswith(f"HEAD:{SECOND}:22: rate 'twenty' is not a number")


@pytest.mark.parametrize("words", [["--as-of=2026-10-01"], ["--max-change=3"]])
def test_rules_without_a_revision_are_a_wrong_use(folder: Path, words: list[str]) -> None:
    sent = CliRunner().invoke(main, ["check", str(folder), *words])
    assert (sent.exit_code, "go with --against" in sent.stderr) == (2, True)


def test_an_unknown_revision_is_a_wrong_use(folder: Path) -> None:
    sent = CliRunner().invoke(main, ["check", str(folder), "--against=no-such"])
    assert (sent.exit_code, "'no-such' is not a git revision in" in sent.stderr) == (2, True)


def test_the_shipped_tables_are_checked_where_no_folder_is_named() -> None:
    sent = CliRunner().invoke(main, ["check", "--against=no-such-revision"])
    assert sent.exit_code == 2


def test_the_service_parameters_are_not_taken_from_text_in_silence() -> None:
    text = family(text_model("words", by_tokens("- {tokens: input, rate: 1}\n- {tokens: output, rate: 2}")))
    shipped = (shipped_folder() / "vocabulary.yaml").read_text(encoding="utf-8")
    files = {"text.yaml": text, "vocabulary.yaml": shipped}
    old = card_of_contracts(tables=files)
    new = card_of_contracts(
        tables=files | {"vocabulary.yaml": shipped.replace("parameters: true", "parameters: false")}
    )
    rules = Rules(datetime(2026, 11, 1, tzinfo=UTC), Decimal(2), "HEAD")
    (fault,) = refusals(old, new, rules)
    assert "of words is in effect, and was edited: service_parameters: true -> none (vocabulary.yaml)" in str(fault)
    assert refusals(new, old, rules) == []
    (change,) = compare_sides(Side("old", old), Side("new", new)).changes
    assert [(term.term, term.old, term.new) for term in change.terms] == [("service_parameters", "true", "false")]
