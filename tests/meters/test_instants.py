"""Versions that begin at an instant: just before, at and just after it, and everything that names it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_up_provider import faults, table

from ratecard import QuoteError, RateCard
from ratecard.base.instants import Instant, day_or_instant, utc
from ratecard.cli.commands import main
from ratecard.load.folder import load_tables, tables_from
from ratecard.review.compare import compare_sides
from ratecard.review.guard import Rules, refusals
from ratecard.review.promote import promotion
from ratecard.review.sides import Side

FIRST = "2026-01-01"
SECOND = "2026-10-01T18:00:00+02:00"
USAGE = {"type": "text", "model": "m", "tokens": {"input": 1_000_000}}


def text(*versions: tuple[str, str], further: str = "") -> str:
    """A model whose versions begin at these, newest first, each with one rate for input and output."""
    lines = "\n          - {{tokens: [input, output], rate: {rate}}}\n"
    head, _, version = table(lines, "", "0").partition("    versions:\n")
    version = version.replace("_tokens: 1000", "_tokens: 0")
    written = (
        version.replace("effective: 2026-01-01", f"effective: {effective}").replace("rate: {rate}", f"rate: {rate}")
        for effective, rate in versions
    )
    return f"{head}{further}    versions:\n{''.join(each.replace('{{', '{').replace('}}', '}') for each in written)}"


def card(*versions: tuple[str, str], further: str = "") -> RateCard:
    return RateCard(tables_from({"m.yaml": text(*versions, further=further).encode()}))


BOTH = ((SECOND, "2"), (FIRST, "1"))


@pytest.mark.parametrize(
    ("instant", "rate", "effective"),
    [
        ("2026-10-01T15:59:59.999999Z", "1", "2026-01-01"),
        ("2026-10-01T16:00:00Z", "2", "2026-10-01T16:00:00Z"),
        ("2026-10-01T16:00:00.000001Z", "2", "2026-10-01T16:00:00Z"),
        ("2026-10-01T17:59:59+02:00", "1", "2026-01-01"),
        ("2026-10-01T18:00:00+02:00", "2", "2026-10-01T16:00:00Z"),
    ],
)
def test_a_version_begins_at_its_instant(instant: str, rate: str, effective: str) -> None:
    quote = card(*BOTH).at(datetime.fromisoformat(instant)).rate(USAGE)
    assert (str(quote.lines[0].unit_rate), str(quote.effective)) == (rate, effective)
    assert quote.to_dict()["effective"] == effective


def test_a_date_is_its_first_instant() -> None:
    prices = card(*BOTH)
    assert str(prices.at(date(2026, 10, 1)).rate(USAGE).total) == "1.000000"
    assert str(prices.at(date(2026, 10, 2)).rate(USAGE).total) == "2.000000"


def test_boundaries_are_instants_in_order() -> None:
    found = [each.isoformat() for each in card(*BOTH).boundaries()]
    assert found == ["2026-01-01T00:00:00+00:00", "2026-10-01T16:00:00+00:00"]


def test_the_offset_does_not_matter_and_midnight_in_utc_is_a_day() -> None:
    assert card(*BOTH).digest == card(("2026-10-01T16:00:00Z", "2"), (FIRST, "1")).digest
    assert card(*BOTH).digest == card(("2026-10-01T16:00Z", "2"), (FIRST, "1")).digest
    assert card(*BOTH).digest != card(("2026-10-01T16:00:01Z", "2"), (FIRST, "1")).digest
    one, other = card(("2026-10-01T02:00:00+02:00", "2"), (FIRST, "1")), card(("2026-10-01", "2"), (FIRST, "1"))
    assert one.digest == other.digest
    assert one.tables.models["m"].versions[0].effective == date(2026, 10, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        "2026-10-01T16:00:00",
        "2026-10-01 16:00:00Z",
        "2026-10-01T25:00:00Z",
        "2026-10-01T16:00:00.5Z",
        "2026-13-01T16:00Z",
    ],
)
def test_an_instant_has_a_time_zone(wrong: str) -> None:
    [fault] = faults(text((wrong, "1")))
    assert "effective" in fault
    assert "is not a date" in fault


@pytest.mark.parametrize(
    ("newer", "older", "wrong"),
    [
        ("2026-10-01T16:00:00Z", "2026-10-01T18:00:00+02:00", True),
        ("2026-10-01T16:00:01Z", "2026-10-01T18:00:00+02:00", False),
        ("2026-10-01", "2026-10-01T00:00:01Z", True),
        ("2026-10-01T00:00:01Z", "2026-10-01", False),
    ],
)
def test_versions_stand_newest_first(newer: str, older: str, wrong: bool) -> None:
    found = faults(text((newer, "2"), (older, "1")))
    assert bool(found) is wrong
    assert all("versions are listed newest first" in fault for fault in found)


def test_a_model_may_not_be_retired_before_its_first_instant() -> None:
    retired = "    retired: {on: 2026-10-01}\n"
    assert "the first version takes effect on 2026-10-01T16:00:00Z" in faults(text((SECOND, "1"), further=retired))[0]
    prices = card((SECOND, "1"), further="    retired: {on: 2026-10-02}\n")
    with pytest.raises(QuoteError, match=r"Its first version takes effect on 2026-10-01T16:00:00Z"):
        prices.at(datetime(2026, 10, 1, 15, 59, tzinfo=UTC)).rate(USAGE)
    assert prices.at(datetime(2026, 10, 1, 23, 59, tzinfo=UTC)).deprecation("m")
    with pytest.raises(QuoteError, match="was retired on 2026-10-02"):
        prices.at(date(2026, 10, 2)).rate(USAGE)


def test_differences_are_told_from_the_instant() -> None:
    [change] = compare_sides(Side("old", card((FIRST, "1"))), Side("new", card(*BOTH))).changes
    assert str(change.effective) == "2026-10-01T16:00:00Z"
    assert change.to_dict()["effective"] == "2026-10-01T16:00:00Z"
    nothing = compare_sides(
        Side("old", card((FIRST, "1"))), Side("new", card(*BOTH)), datetime(2026, 10, 1, 15, tzinfo=UTC)
    )
    assert nothing.changes == ()


@pytest.mark.parametrize(("hour", "refused"), [(16, True), (15, False)])
def test_what_is_in_effect_since_an_instant_is_guarded(hour: int, refused: bool) -> None:
    rules = Rules(datetime(2026, 10, 1, hour, tzinfo=UTC), Decimal(9), "before")
    found = refusals(card(*BOTH), card((SECOND, "3"), (FIRST, "1")), rules)
    assert bool(found) is refused
    assert all("version 2026-10-01T16:00:00Z of m is in effect, and was edited" in str(fault) for fault in found)


def test_a_candidate_holds_beside_versions_from_an_instant(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "m.yaml").write_text(text(*BOTH))
    candidate = tmp_path / "c.yaml"
    candidate.write_text(
        "candidate: c\neffective: 2026-09-01\nuntil: 2026-11-01\nproposed_by: me\nwhy: to see\nchanges:\n"
        "  - scale: {model: m}\n    factor: 10\n"
    )
    found = RateCard(tables_from({"m.yaml": text(*BOTH).encode()})).with_candidate(candidate)
    instants = ("08-31T23:59Z", "09-01T00:00Z", "10-01T15:59Z", "10-01T16:00Z", "11-01T00:00Z")
    books = [found._unproved.at(datetime.fromisoformat(f"2026-{instant}")) for instant in instants]
    assert [book.rate(USAGE).total for book in books] == [1, 10, 10, 20, 2]
    # A candidate after the instant is promoted as a version of its own.
    candidate.write_text(
        "candidate: c\neffective: 2026-12-01\nproposed_by: me\nwhy: to see\nchanges:\n"
        "  - scale: {model: m}\n    factor: 2\n"
    )
    promotion(folder, candidate, date(2026, 11, 1)).write()
    after = load_tables(folder).models["m"].versions
    assert [str(version.effective) for version in after] == ["2026-12-01", "2026-10-01T16:00:00Z", "2026-01-01"]
    for command in (["explain", "m"], ["models", "--json"]):
        done = CliRunner().invoke(main, [*command, "--tables", str(folder), "--at", "2026-10-01T16:00:00Z"])
        assert "2026-10-01T16:00:00Z" in done.output


def test_instants_are_written_in_one_way() -> None:
    instant = Instant.of(datetime.fromisoformat(SECOND))
    assert str(instant) == instant.isoformat() == f"{instant}" == "2026-10-01T16:00:00Z"
    assert utc(instant) == instant
    assert type(utc(instant)) is datetime
    assert day_or_instant(utc(date(2026, 10, 1))) == date(2026, 10, 1)
    assert utc(datetime.max.replace(tzinfo=UTC)).year == 9999
