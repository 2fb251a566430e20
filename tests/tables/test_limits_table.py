"""limits.yaml: every mistake is refused at its line, edits of the past are refused, and every fact is as published."""

import json
import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ratecard
from bad_limits import BAD_LIMITS, SHIPPED, BadLimits
from git_tables import FILES, repository, write
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.tables.limits import Limits

# Every fact of the table as it was written before each fact was stated once (with the full headers of the sunset).
BEFORE: dict[str, Any] = {
    "text": {
        ("XS", False): (500, 1000000), ("S", False): (75, 750000), ("M", False): (50, 750000),
        ("L", False): (20, 500000), ("XS", True): (500, 2000000), ("S", True): (150, 1500000),
        ("M", True): (100, 1500000), ("L", True): (60, 1000000),
    },
    "types": {
        ("image", False): 20, ("audio", False): 60, ("embedding", False): 500, ("video-queue", False): 40,
        ("video-retrieve", False): 120, ("image", True): 60, ("audio", True): 120, ("embedding", True): 500,
    },
    "failed_requests": (20, 30, 30),
    "scraped_urls": 5,
    "top_up": ("USD", Decimal(5)),
    "diem": (Decimal(1), Decimal("0.1")),
    "dated": (date(2026, 8, 3), date(2026, 9, 29), "API specification"),
}  # fmt: skip
SUNSET_BEFORE = {
    "endpoint": "GET /billing/usage",
    "deprecated": "@1783555200",
    "sunset": "Wed, 16 Sep 2026 00:00:00 GMT",
    "on": date(2026, 9, 16),
    "successor": "/billing/usage-history",
    "link": '</api/v1/billing/usage-history>; rel="successor-version"',
    "renamed": {
        "page": "pageSize and cursor (the nextCursor of the answer before)",
        "limit": "pageSize",
        "startDate": "startTimestamp",
        "endDate": "endTimestamp",
    },
}


def shipped_limits(card: ratecard.RateCard) -> Limits:
    [limits] = card.tables.limits
    return limits


def test_every_limit_means_what_it_meant(card: ratecard.RateCard) -> None:
    limits = shipped_limits(card)
    failed, top_up, diem = limits.failed_requests, limits.top_up, limits.diem
    assert failed
    assert top_up
    assert diem
    found: dict[str, Any] = {
        "text": {(each.tier, each.partner): (each.requests, each.tokens) for each in limits.text},
        "types": {(each.type, each.partner): each.requests for each in limits.types},
        "failed_requests": (failed.more_than, failed.within_seconds, failed.blocked_seconds),
        "scraped_urls": limits.scraped_urls,
        "top_up": (top_up.currency, top_up.least),
        "diem": (diem.usd_per_day, diem.least_staked),
        "dated": (limits.effective, limits.checked, limits.source),
    }
    assert found == BEFORE
    assert (len(limits.text), len(limits.types)) == (len(BEFORE["text"]), len(BEFORE["types"]))


def test_every_sunset_means_what_it_meant(card: ratecard.RateCard) -> None:
    [each] = shipped_limits(card).sunsets
    gone, day_before = (card.at(date(2026, 9, day)).sunset(each.endpoint) for day in (16, 15))
    assert gone is not None
    assert day_before is not None
    found = {
        "endpoint": each.endpoint,
        "deprecated": gone.headers["Deprecation"],
        "sunset": gone.headers["Sunset"],
        "on": each.sunset,
        "successor": each.successor,
        "link": gone.headers["Link"],
        "renamed": each.renamed,
    }
    assert found == SUNSET_BEFORE
    assert (gone.status, day_before.status) == (410, 404)
    assert gone.body["error"] == (
        "GET /billing/usage was sunset on 2026-09-16. Use /billing/usage-history instead: `page` is now pageSize and "
        "cursor (the nextCursor of the answer before); `limit` is now pageSize; `startDate` is now startTimestamp; "
        "`endDate` is now endTimestamp."
    )


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("    diem: {usd_per_day: 1, least_staked: 0.1}", "one of the published facts beside it"),
        ("        deprecated: 2026-07-09", "the header `Deprecation: @1783555200`"),
    ],
)
def test_what_the_specification_does_not_say_names_its_own_source(line: str, source: str) -> None:
    lines = SHIPPED.splitlines()
    comment = lines[lines.index(line) - 1]
    assert comment.lstrip().startswith("# ")
    assert source in comment
    assert int(datetime(2026, 7, 9, tzinfo=UTC).timestamp()) == 1783555200


def checked(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["check", str(folder), *words])


@pytest.mark.parametrize("bad", BAD_LIMITS, ids=lambda bad: str(bad.name))
def test_a_mistake_is_the_one_fault_at_its_line(bad: BadLimits, tmp_path: Path) -> None:
    (tmp_path / "limits.yaml").write_text(bad.text, encoding="utf-8")
    shutil.copy(shipped_folder() / "video/ovi.yaml", tmp_path)
    fault = f"limits.yaml:{bad.line}: {bad.said}"
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(tmp_path)
    assert str(refusal.value) == fault
    sent = checked(tmp_path)
    assert (sent.exit_code, sent.stdout, sent.stderr) == (
        1,
        f"{fault}\n",
        f"Tables: {tmp_path}\n1 fault in the tables\n",
    )


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    text = SHIPPED.replace("tier: M, partner: false", "tier: MM, partner: false").replace("on: GET", "on: POST")
    text = text.replace("deprecated: 2026-07-09", "deprecated: soon").replace("type: audio", "type: adio")
    (tmp_path / "limits.yaml").write_text(text, encoding="utf-8")
    shutil.copy(shipped_folder() / "video/ovi.yaml", tmp_path)
    assert checked(tmp_path).stderr == f"Tables: {tmp_path}\n4 faults in the tables\n"


def test_a_renamed_parameter_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "limits.yaml").write_text(SHIPPED.partition("        renamed:")[0], encoding="utf-8")
    shutil.copy(shipped_folder() / "video/ovi.yaml", tmp_path)
    found = ratecard.load_rate_card(tmp_path).at(date(2026, 10, 1)).sunset("GET /billing/usage")
    assert found is not None
    assert found.body == {"error": "GET /billing/usage was sunset on 2026-09-16. Use /billing/usage-history instead."}


AS_OF = "--as-of=2026-11-01T12:00:00Z"
ENTRY = SHIPPED.partition("limits:\n")[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path, {**FILES, "limits.yaml": SHIPPED})


def rewritten(folder: Path, text: str, *words: str) -> Any:
    write(folder, {**FILES, "limits.yaml": text})
    return checked(folder, "--against=HEAD", AS_OF, *words)


def line_of(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


EDITS = {
    "requests of a tier": ("requests: 75", "requests: 80", "requests: 80"),
    "tokens of partners": ("requests: 60, tokens: 1000000", "requests: 60, tokens: 999", "tokens: 999"),
    "requests of a type": ("type: audio, partner: false, requests: 60", "type: audio, partner: false, requests: 6",
                           "requests: 6}"),
    "a partner's own line": ("      - {type: audio, partner: true, requests: 120}\n", "", "effective:"),
    "the scraped URLs": ("scraped_urls: 5", "scraped_urls: 6", "effective:"),
    "the most of an estimate": ("{web_search_requests: 1}", "{web_search_requests: 2}", "effective:"),
    "the block": ("more_than: 20", "more_than: 10", "effective:"),
    "the least top-up": ("least: 5,", "least: 10,", "effective:"),
    "the stake": ("least_staked: 0.1", "least_staked: 0.2", "effective:"),
    "the worth of a balance": ("DIEM: 1,", "DIEM: 0.5,", "effective:"),
    "the sunset": ("sunset: 2026-09-16", "sunset: 2026-12-16", "endpoint:"),
    "the deprecation": ("deprecated: 2026-07-09", "deprecated: 2026-07-10", "endpoint:"),
    "a renamed parameter": ("limit: pageSize", "limit: size", "endpoint:"),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_limits_in_effect_are_not_edited(folder: Path, edit: tuple[str, str, str]) -> None:
    old, new, at = edit
    assert SHIPPED.count(old) == 1
    text = SHIPPED.replace(old, new)
    sent = rewritten(folder, text)
    assert (sent.exit_code, sent.stderr) == (1, f"Tables: {folder}\n1 change refused\n")
    line = sent.stdout.splitlines()[0]
    assert line.startswith(
        f"limits.yaml:{line_of(text, at)}: the limits of 2026-08-03 are in effect, and were edited: "
    ), line
    assert line.endswith("; if they were wrong from the start, say `correction: reason` in them")
    assert "~ limits.yaml, from 2026-08-03\n" in sent.stdout, "the difference is shown below"
    corrected = text.replace("    source: API", "    correction: a slip\n    source: API")
    assert rewritten(folder, corrected).exit_code == 0


def test_balances_in_effect_pay_in_their_order(folder: Path) -> None:
    """No price depends on the order, so the digest does not, but what an account pays with does."""
    sent = rewritten(folder, SHIPPED.replace("{DIEM: 1, BUNDLED_CREDITS: 1,", "{BUNDLED_CREDITS: 1, DIEM: 1,"))
    assert sent.exit_code == 1
    assert "rates order: DIEM, BUNDLED_CREDITS -> BUNDLED_CREDITS, DIEM. Put them back" in sent.stdout


def test_the_words_of_an_edit(folder: Path) -> None:
    sent = rewritten(folder, SHIPPED.replace("scraped_urls: 5", "scraped_urls: 6"))
    assert sent.stdout.splitlines()[0] == (
        f"limits.yaml:{line_of(SHIPPED, 'effective')}: the limits of 2026-08-03 are in effect, and were edited: "
        "scraped_urls: 5 -> 6. Put them back as they were and write new ones above them; "
        "if they were wrong from the start, say `correction: reason` in them"
    )
    body = json.loads(rewritten(folder, SHIPPED.replace("requests: 75", "requests: 1"), "--json").stdout)
    assert list(body["details"]["limits.yaml"]) == ["_errors", "limits"]


@pytest.mark.parametrize(
    "edit",
    [("checked: 2026-09-29", "checked: 2026-10-30"), ("source: API specification", "source: another page"),
     (_LINES := "      - {type: image, partner: false, requests: 20}\n"
      "      - {type: audio, partner: false, requests: 60}\n", "".join(reversed(_LINES.splitlines(keepends=True)))),
     ("least: 5,", "least: 5.0,")],
)  # fmt: skip
def test_what_is_no_limit_may_change(folder: Path, edit: tuple[str, str]) -> None:
    assert SHIPPED.count(edit[0]) == 1
    assert rewritten(folder, SHIPPED.replace(*edit)).exit_code == 0


def test_new_limits_begin_later(folder: Path) -> None:
    def above(day: str, more: str = "") -> str:
        return f"limits:\n{ENTRY.replace('2026-08-03', f'{day}{more}').replace('requests: 75', 'requests: 80')}{ENTRY}"

    sent = rewritten(folder, above("2026-12-01"))
    assert sent.exit_code == 0
    assert "~ limits.yaml, from 2026-12-01\n    ~ text: " in sent.stdout
    assert "requests 80, tier S, tokens 750000" in sent.stdout
    sent = rewritten(folder, above("2026-10-01"))
    assert sent.stdout.splitlines()[0] == (
        "limits.yaml:2: new limits begin on 2026-10-01, in the past. Let them begin later; "
        "if the limits of that day were wrong, say `correction: reason`"
    )
    assert rewritten(folder, above("2026-10-01", "\n    correction: a slip")).exit_code == 0
    write(folder, {**FILES, "limits.yaml": above("2026-12-01")})
    for instant, exit_code in (("2026-12-01T00:00:00Z", 0), ("2026-12-01T00:00:01Z", 1)):
        assert checked(folder, "--against=HEAD", f"--as-of={instant}").exit_code == exit_code, instant


def test_limits_that_were_in_effect_do_not_vanish(tmp_path: Path) -> None:
    two = f"limits:\n{ENTRY.replace('2026-08-03', '2026-10-01').replace('requests: 75', 'requests: 80')}{ENTRY}"
    folder = repository(tmp_path, {**FILES, "limits.yaml": two})
    first = rewritten(folder, SHIPPED).stdout.splitlines()[0]
    assert first == (
        f"limits.yaml:{line_of(SHIPPED, 'effective')}: "
        "the limits of 2026-10-01 were in effect (HEAD:limits.yaml:2), and are gone. Put them back; "
        "if only their date was wrong, say `correction: reason` in the others"
    )
    moved = two.replace("2026-10-01", "2026-10-02\n    correction: the first day was the second")
    assert rewritten(folder, moved).exit_code == 0


def test_one_correction_excuses_one_date_of_limits(tmp_path: Path) -> None:
    later = [ENTRY.replace("2026-08-03", day).replace("requests: 75", "requests: 80") for day in (SECOND, THIRD)]
    folder = repository(tmp_path, {**FILES, "limits.yaml": f"limits:\n{later[1]}{later[0]}{ENTRY}"})
    corrected = later[0].replace(SECOND, "2026-09-02\n    correction: the first day was the second")
    sent = rewritten(folder, f"limits:\n{corrected}{ENTRY}")
    assert sent.exit_code == 1
    assert sent.stdout.count("were in effect (HEAD:limits.yaml:") == 1
    both = later[1].replace(THIRD, "2026-10-02\n    correction: that one too")
    assert rewritten(folder, f"limits:\n{both}{corrected}{ENTRY}").exit_code == 0


SECOND, THIRD = "2026-09-01", "2026-10-01"


def test_a_correction_of_long_ago_excuses_no_other_edit(tmp_path: Path) -> None:
    once = SHIPPED.replace("    source: API", "    correction: a slip\n    source: API")
    folder = repository(tmp_path, {**FILES, "limits.yaml": once})
    again = once.replace("requests: 75", "requests: 80")
    assert "'a slip' is the reason of an earlier correction" in rewritten(folder, again).stdout
    assert rewritten(folder, again.replace("a slip", "another slip")).exit_code == 0


def test_limits_that_wait_may_be_edited(tmp_path: Path) -> None:
    waiting = f"limits:\n{ENTRY.replace('2026-08-03', '2026-12-01')}{ENTRY}"
    folder = repository(tmp_path, {**FILES, "limits.yaml": waiting})
    head, _, tail = waiting.partition("requests: 75")
    assert rewritten(folder, f"{head}requests: 80{tail}").exit_code == 0
    assert rewritten(folder, SHIPPED).exit_code == 0


def test_the_tier_of_a_model_is_compared_and_may_be_corrected(tmp_path: Path) -> None:
    text = (shipped_folder() / "text/grok.yaml").read_text(encoding="utf-8")
    shared = {"surcharges.yaml": (shipped_folder() / "surcharges.yaml").read_text(encoding="utf-8")}
    folder = repository(tmp_path, {**shared, "grok.yaml": text})
    write(folder, {**shared, "grok.yaml": text.replace("    type: text\n", "    type: text\n    tier: L\n", 1)})
    sent = checked(folder, "--against=HEAD", AS_OF)
    assert (sent.exit_code, "+ limit tier: L" in sent.stdout) == (0, True), sent.output
