"""What `ratecard check --against` refuses, and what it lets pass: one edit each, in a real repository."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contract_tables import card_of
from git_tables import FILES, SECOND, Edit, edited, git, newer, repository, write
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


def test_the_reason_of_an_earlier_correction_is_not_one_for_the_next(tmp_path: Path) -> None:
    once = corrected(dearer(BASE[SECOND]))
    folder = repository(tmp_path, {**BASE, SECOND: once})
    again = once.replace("rate: 0.125", "rate: 0.13").replace("total: 0.63", "total: 0.65")
    rewrite(folder, again)
    assert (
        "'was never 0.10' is the reason of an earlier correction; if this is one too, say why" in check(folder).stdout
    )
    rewrite(folder, again.replace("was never 0.10", "nor was it 0.125"))
    assert check(folder).exit_code == 0


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
}


@pytest.mark.parametrize("edit", FREE.values(), ids=list(FREE))
def test_conditions_without_a_price_may_change(folder: Path, edit: Edit) -> None:
    rewrite(folder, last(*edit[1:], BASE[SECOND]))
    sent = check(folder)
    assert sent.exit_code == 0, sent.output


def test_the_name_of_a_model_may_change(folder: Path) -> None:
    rewrite(folder, BASE[SECOND].replace("name: Example Video", "name: Another Name"))
    assert check(folder).exit_code == 0


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
def test_what_decides_a_price_may_not_change(tmp_path: Path, edit: Edit, words: str) -> None:
    name, old, new = edit
    folder = repository(tmp_path, edited())
    text = edited()[name]
    if "1080p" in new:
        text = text.replace("resolution: [480p, 720p]", "resolution: [480p, 720p, 1080p]")
    if "audio: false" in new:
        text = text.replace("audio: configurable", "audio: none")
    write(folder, {**edited(), name: last(old, new, text) if old != "places: 2" else text.replace(old, new)})
    sent = check(folder)
    refused = [line for line in sent.stdout.splitlines() if "and was edited" in line]
    assert sent.exit_code == 1
    assert len(refused) == 1, sent.stdout
    assert words in refused[0]


def test_a_unit_that_holds_another_count_changes_every_price_in_effect(folder: Path) -> None:
    write(
        folder,
        {
            **BASE,
            "units.yaml": BASE["units.yaml"].replace(
                "{unit: song, counts: song, per: 1}", "{unit: song, counts: song, per: 10}"
            ),
        },
    )
    assert "version 2026-09-01 of duration-band-music is in effect, and was edited: song" in check(folder).stdout


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
        card_of(tables={"reader.yaml": text, "meters.yaml": meters})
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


def test_a_version_of_the_future_may_be_deleted(folder: Path) -> None:
    rewrite(folder, FILES[SECOND])
    assert check(folder).exit_code == 0
    assert check(folder, "--as-of=2026-12-31T23:59:59Z").exit_code == 0
    sent = check(folder, "--as-of=2027-01-01")
    assert "version 2027-01-01 of per-second-video was in effect" in sent.stdout


def test_a_moved_date_is_refused_unless_it_is_a_correction(folder: Path) -> None:
    moved = last("effective: 2026-09-01", "effective: 2026-09-15", BASE[SECOND])
    rewrite(folder, moved)
    sent = check(folder)
    refused = [line for line in sent.stdout.splitlines() if line.startswith(f"{SECOND}:")]
    assert [line.partition(": ")[2][:30] for line in refused] == [
        "version 2026-09-01 of per-seco",
        "new version 2026-09-15 of per-",
    ]
    rewrite(folder, corrected(moved, "began later"))
    assert check(folder).exit_code == 0


def test_one_correction_excuses_one_version(tmp_path: Path) -> None:
    files = edited(newer(SECOND, "2026-10-01"))
    folder = repository(tmp_path, files)
    text = last("effective: 2026-09-01", "effective: 2026-09-15", files[SECOND])
    start = text.index("      - effective: 2026-10-01")
    end = text.index("      - effective: 2026-09-15")
    write(folder, {**files, SECOND: corrected(text[:start] + text[end:])})
    assert check(folder).stdout.count("was in effect (HEAD") == 1


@pytest.mark.parametrize(
    ("day", "status"),
    [("2026-10-15", 1), ("2026-11-01", 1), ("2026-11-02", 0), ("2026-08-01", 0)],
    ids=["past", "this morning", "tomorrow", "before there was a price"],
)
def test_a_new_version_may_not_begin_in_the_past(tmp_path: Path, day: str, status: int) -> None:
    folder = repository(tmp_path, edited())
    new = edited(newer(SECOND, day))
    if day < "2026-09-01":
        text = edited()[SECOND]
        older = text[text.index("      - effective") :].replace("2026-09-01", day)
        new = {**edited(), SECOND: text + older}
    write(folder, new)
    sent = check(folder)
    assert sent.exit_code == status, sent.output
    assert (f"new version {day} of {MODEL} begins in the past, in that of 2026-09-01" in sent.stdout) == bool(status)
    if status:
        assert check(folder, f"--as-of={day}").exit_code == 0
        assert check(folder, f"--as-of={day}T00:00:01Z").exit_code == 1
        write(folder, edited(newer(SECOND, day, more="        correction: was never cheaper\n")))
        assert check(folder).exit_code == 0


def test_a_vanished_model_is_refused_at_the_place_where_it_was(folder: Path) -> None:
    write(folder, {name: text for name, text in BASE.items() if name != SECOND})
    sent = check(folder)
    assert sent.exit_code == 1
    assert sent.stdout.startswith(
        f"HEAD:{SECOND}:26: model '{MODEL}' vanished, and has had prices since 2026-09-01. "
        "Put it back, and end it by `retired: {on: DATE}`; its versions stay\n"
    )
    assert f"- {MODEL}, from 2026-09-01: not in the tables any more" in sent.stdout


def test_a_model_of_the_future_may_vanish_and_so_may_a_retired_one(tmp_path: Path) -> None:
    end = (SECOND, "    versions:", "    retired: {on: 2026-10-01}\n    versions:")
    future = ("tokens.yaml", "effective: 2026-09-01", "effective: 2026-12-01")
    files = edited(end, future)
    folder = repository(tmp_path, files)
    write(folder, {name: text for name, text in files.items() if name not in (SECOND, "tokens.yaml")})
    assert check(folder).exit_code == 0
    assert check(folder, "--as-of=2026-09-30").exit_code == 1


OTHER = "per_clip.yaml"
NAMES = {"names.yaml": "patterns: true\n"}


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("aliases: [latest]", "aliases: [latest]", "latest"),
        ("patterns: ['latest-*']", "patterns: ['latest-*']", "latest-*"),
        ("aliases: [latest-1]", "patterns: ['latest-*']", "latest-1"),
    ],
)
def test_a_name_of_a_model_in_effect_keeps_its_meaning(tmp_path: Path, before: str, after: str, moved: str) -> None:
    def named(file: str, names: str) -> dict[str, str]:
        return edited((file, "    versions:", f"    {names}\n    versions:"), files={**FILES, **NAMES})

    folder = repository(tmp_path, named(SECOND, before))
    files = named(OTHER, after)
    write(folder, files)
    sent = check(folder)
    assert sent.exit_code == 1, sent.output
    assert (
        f"'{moved}' meant {MODEL}, which has had prices since 2026-09-01, and now means per-clip-video" in sent.stdout
    )
    assert sent.stdout.startswith(f"{OTHER}:")
    write(folder, {**files, OTHER: corrected(files[OTHER])})
    assert check(folder).exit_code == 0
    assert check(folder, "--as-of=2026-08-01").exit_code == 0


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
    ],
)
def test_what_a_request_of_the_past_has_named_is_still_known(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    def named(names: str) -> dict[str, str]:
        line = f"    {names}\n" if names else ""
        return edited((SECOND, "    versions:", f"{line}    versions:"), files={**FILES, **NAMES})

    folder = repository(tmp_path, named(before))
    write(folder, named(after))
    sent = check(folder)
    assert sent.exit_code == bool(words), sent.output
    assert words in sent.stdout
    write(folder, {**named(after), SECOND: corrected(named(after)[SECOND])})
    assert check(folder).exit_code == 0
    assert check(folder, "--as-of=2026-08-01").exit_code == 0


LIMITED = "target_fps: {min: 16, max: 120}"


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
def test_what_a_request_of_the_past_has_said_is_still_accepted(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    files = edited()
    folder = repository(tmp_path, files)
    assert old in files[file]
    write(folder, {**files, file: files[file].replace(old, new)})
    sent = check(folder)
    assert sent.exit_code == bool(words), sent.output
    assert words in sent.stdout


@pytest.mark.parametrize("names", ["model: latest-9", "aliases: [latest-9]"])
def test_a_name_that_a_pattern_has_fitted_stays_with_its_model(tmp_path: Path, names: str) -> None:
    files = edited((SECOND, "    versions:", "    patterns: ['latest-*']\n    versions:"), files={**FILES, **NAMES})
    folder = repository(tmp_path, files)
    if names.startswith("model"):
        new = {**files, "new.yaml": files[OTHER].replace("model: per-clip-video", names)}
    else:
        new = {**files, OTHER: files[OTHER].replace("    versions:", f"    {names}\n    versions:")}
    write(folder, new)
    sent = check(folder)
    assert sent.exit_code == 1, sent.output
    assert f"'latest-9' meant {MODEL}, which has had prices since 2026-09-01, and now means" in sent.stdout


def test_an_id_of_a_retired_model_is_no_name_of_another(tmp_path: Path) -> None:
    files = edited((SECOND, "    versions:", "    retired: {on: 2026-10-01}\n    versions:"))
    folder = repository(tmp_path, files)
    renamed = edited((OTHER, "    versions:", f"    aliases: [{MODEL}]\n    versions:"))
    write(folder, {name: text for name, text in renamed.items() if name != SECOND})
    assert f"'{MODEL}' meant {MODEL}, which" in check(folder).stdout


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, "2026-12-01", ""),
        (None, "2026-10-01", "was retired not at all, and now on 2026-10-01"),
        ("2026-10-01", None, "was retired on 2026-10-01, and now not at all"),
        ("2026-10-01", "2026-12-01", "was retired on 2026-10-01, and now on 2026-12-01"),
        ("2026-12-01", None, ""),
        ("2026-12-01", "2026-12-15", ""),
        ("2026-10-01", "2026-10-01", ""),
    ],
)
def test_a_retirement_changes_no_past(tmp_path: Path, before: str | None, after: str | None, words: str) -> None:
    def retired(day: str | None) -> dict[str, str]:
        return edited((SECOND, "    versions:", f"    retired: {{on: {day}}}\n    versions:")) if day else edited()

    folder = repository(tmp_path, retired(before))
    write(folder, retired(after))
    sent = check(folder)
    assert sent.exit_code == (1 if words else 0), sent.output
    assert words in sent.stdout
    if words:
        files = retired(after)
        write(folder, {**files, SECOND: corrected(files[SECOND])})
        assert check(folder).exit_code == 0


def test_a_correction_of_long_ago_excuses_no_retirement(tmp_path: Path) -> None:
    text = corrected(FILES[SECOND])
    folder = repository(tmp_path, edited(files={**FILES, SECOND: text}))
    write(
        folder,
        edited(
            (SECOND, "    versions:", "    retired: {on: 2026-10-01}\n    versions:"), files={**FILES, SECOND: text}
        ),
    )
    assert "was retired not at all" in check(folder).stdout


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
def test_a_price_may_double_or_halve_without_a_word(tmp_path: Path, rate: str, total: str, factor: str) -> None:
    folder = repository(tmp_path, edited())
    write(folder, stepped(rate, total))
    sent = check(folder)
    assert sent.exit_code == (1 if factor else 0), sent.output
    if not factor:
        return
    line = sent.stdout.splitlines()[0]
    assert line.startswith(f"{SECOND}:21: {MODEL}: video, resolution 480p goes from 0.1 ({SECOND}:21) to ")
    assert (
        f"by a factor of {factor}; without a word at most 2. If that is right, say `expected_change: {factor}`" in line
    )
    write(folder, stepped(rate, total, more=f"        expected_change: {factor}\n"))
    assert check(folder).exit_code == 0
    write(folder, stepped(rate, total, more="        expected_change: 2\n"))
    assert "in version 2027-01-01, which says 2\n" in check(folder).stdout


def test_an_expected_quarter_is_a_factor_of_four(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited())
    write(folder, stepped("0.025", "0.13", more="        expected_change: 0.25\n"))
    assert check(folder).exit_code == 0


def test_another_greatest_factor(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited())
    write(folder, stepped("0.25", "1.25"))
    assert check(folder, "--max-change=2.5").exit_code == 0
    write(folder, stepped("0.15", "0.75"))
    assert check(folder, "--max-change=1.4").exit_code == 1
    for given, words in (("0.5", "is below 1"), ("x", "is not a number")):
        sent = check(folder, f"--max-change={given}")
        assert (sent.exit_code, words in sent.stderr) == (2, True)


def test_from_or_to_nothing_needs_a_word(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited())
    write(folder, stepped("0", "0.00"))
    line = check(folder).stdout.splitlines()[0]
    assert line.endswith("to 0. If that is right, say `expected_change: 1` in version 2027-01-01")
    write(folder, stepped("0", "0.00", more="        expected_change: 1\n"))
    assert check(folder).exit_code == 0


def test_a_price_that_no_rate_tells_is_found_by_its_cells(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited())
    wider = newer("megapixel.yaml", "2027-01-01", ("1280x720", "12800x720"), ("total: 0.11", "total: 1.12"))
    write(folder, edited(wider))
    line = check(folder).stdout.splitlines()[0]
    assert line.startswith("megapixel.yaml:9: megapixel-video: the price of ")
    assert "by a factor of 10;" in line


def test_a_slip_that_holds_at_some_hours_only_is_found() -> None:
    rates = "- {tokens: input, rate: 4}\n- {tokens: output, rate: 20}\n"
    by_day = '- {tokens: input, hours: "08:00..20:00", zone: UTC, rate: RATE}\n'

    def refused(*newer_versions: str) -> list[str]:
        before, after = (
            card_of(tables={"a.yaml": family(text_model("flat", *versions, by_tokens(rates)))})
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


def test_prices_without_a_common_request_are_not_compared(tmp_path: Path) -> None:
    folder = repository(tmp_path, edited())
    other = [
        ("duration: [3s..5s]", "duration: [8s]"),
        (f"{EXAMPLE}0.50", "{duration: 8s, resolution: 480p}, total: 0.80"),
    ]
    write(folder, edited(newer(SECOND, "2027-01-01", *other)))
    assert check(folder).exit_code == 0


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


def test_a_version_that_ends_a_promotion_is_compared_with_what_was_there(tmp_path: Path) -> None:
    files = stepped("0.01", "0.05", more="        expected_change: 10\n")
    folder = repository(tmp_path, edited())
    back = newer(
        SECOND,
        "2027-02-01",
        ("480p, rate: 0.01", "480p, rate: 0.10"),
        (f"{EXAMPLE}0.05", f"{EXAMPLE}0.50"),
        ("        expected_change: 10\n", ""),
        files=files,
    )
    write(folder, edited(back, files=files))
    assert check(folder).exit_code == 0
    # A planned price that was never in effect may be dropped.
    git(folder, "commit", "-q", "-a", "-m", "promotion")
    write(folder, edited())
    assert check(folder).exit_code == 0


def test_an_edit_that_waits_is_free_but_not_of_any_size(folder: Path) -> None:
    def edit(rate: str, total: str) -> str:
        return first(
            f"{EXAMPLE}0.50", f"{EXAMPLE}{total}", first("480p, rate: 0.10", f"480p, rate: {rate}", BASE[SECOND])
        )

    rewrite(folder, edit("0.15", "0.75"))
    assert check(folder).exit_code == 0
    rewrite(folder, edit("1.5", "7.50"))
    assert "by a factor of 15" in check(folder).stdout


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
    old = card_of(tables=files)
    new = card_of(tables=files | {"vocabulary.yaml": shipped.replace("parameters: true", "parameters: false")})
    rules = Rules(datetime(2026, 11, 1, tzinfo=UTC), Decimal(2), "HEAD")
    (fault,) = refusals(old, new, rules)
    assert "of words is in effect, and was edited: service_parameters: true -> none (vocabulary.yaml)" in str(fault)
    assert refusals(new, old, rules) == []
    (change,) = compare_sides(Side("old", old), Side("new", new)).changes
    assert [(term.term, term.old, term.new) for term in change.terms] == [("service_parameters", "true", "false")]
