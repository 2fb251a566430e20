"""Rates at hours and weekdays of a zone: each edge just before, at, and just after, also on days when clocks change."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from made_up_provider import faults, table

from ratecard import PriceBook, RateCard
from ratecard.load.folder import tables_from
from ratecard.tables.windows import Window, changes_between, open_at
from ratecard.testing import LAWS, Case
from ratecard.testing.case import BrokenLawError, check
from ratecard.testing.laws.any_quote import every_rate_is_charged_somewhere
from ratecard.views.sheet import price_cells

NIGHT = """
          - {tokens: input, rate: 1}
          - {tokens: input, hours: "16:30..00:30", zone: UTC, rate: 0.5}
          - {tokens: output, rate: 10}
          - {tokens: output, hours: "16:30..00:30", zone: UTC, rate: 5}
"""
PLAIN = "{usage: {prompt_tokens: 1000, completion_tokens: 1000}, total: 0.024}"


def lines(hours: str, rate: str = "2") -> str:
    """One rate at all times, and another at some hours, for both buckets."""
    return f"""
          - {{tokens: [input, output], rate: 1}}
          - {{tokens: [input, output], {hours}, rate: {rate}}}
"""


def card(text: str) -> RateCard:
    return RateCard(tables_from({"made-up.yaml": text.encode()}))._unproved


def rate_at(prices: RateCard, instant: str, bucket: str = "input", **conditions: Any) -> str:
    """The rate of a bucket at an instant."""
    tokens = {"input": 1000, "output": 0} | {bucket: 1000}
    book = prices.at(datetime.fromisoformat(instant))
    quote = book.rate({"type": "text", "model": "m", "tokens": tokens, **conditions})
    return next(str(line.unit_rate) for line in quote.lines if f"-{bucket.replace('_', '-')}-" in line.sku)


@pytest.mark.parametrize(
    ("instant", "rate"),
    [
        ("2026-10-01T16:29:59.999999Z", "1"),
        ("2026-10-01T16:30:00Z", "0.5"),
        ("2026-10-01T16:30:00.000001Z", "0.5"),
        ("2026-10-01T23:59:59.999999Z", "0.5"),
        ("2026-10-02T00:00:00Z", "0.5"),
        ("2026-10-02T00:29:59.999999Z", "0.5"),
        ("2026-10-02T00:30:00Z", "1"),
        ("2026-10-02T00:30:00.000001Z", "1"),
        ("2026-10-01T18:29:59+02:00", "1"),
        ("2026-10-01T18:30:00+02:00", "0.5"),
    ],
)
def test_a_window_holds_from_its_first_minute_until_before_its_last(instant: str, rate: str) -> None:
    assert rate_at(card(table(NIGHT, "")), instant) == rate


def test_a_date_is_its_first_instant_in_utc() -> None:
    prices = card(table(NIGHT, ""))
    quote = prices.at(date(2026, 10, 2)).rate({"type": "text", "model": "m", "tokens": {"input": 10**6}})
    assert str(quote.total.normalize()) == "0.5"


def test_a_sheet_lists_the_rates_of_its_hour_once() -> None:
    prices = card(table(NIGHT, ""))
    for instant, rates in (("2026-10-01T12:00:00Z", ["1", "10"]), ("2026-10-01T17:00:00Z", ["0.5", "5"])):
        cells = list(price_cells(prices.at(datetime.fromisoformat(instant)), "m"))
        assert [cell.quote.to_dict()["total"] for cell in cells] == rates


# Clocks of Berlin go from 02:00 to 03:00 on 2027-03-28, and from 03:00 to 02:00 on 2026-10-25, both at 01:00 UTC.
# Those of New York go from 02:00 to 03:00 on 2027-03-14 at 07:00 UTC, and from 02:00 to 01:00 on 2026-11-01 at 06:00.
@pytest.mark.parametrize(
    ("zone", "hours", "instant", "held"),
    [
        # The day before is an ordinary one, in summer.
        ("Europe/Berlin", "02:00..03:00", "2026-10-23T23:59:59Z", False),
        ("Europe/Berlin", "02:00..03:00", "2026-10-24T00:00:00Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-24T00:59:59Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-24T01:00:00Z", False),
        # The hour occurs twice, and the window is open both times.
        ("Europe/Berlin", "02:00..03:00", "2026-10-24T23:59:59Z", False),
        ("Europe/Berlin", "02:00..03:00", "2026-10-25T00:00:00Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-25T00:59:59Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-25T01:00:00Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-25T01:59:59Z", True),
        ("Europe/Berlin", "02:00..03:00", "2026-10-25T02:00:00Z", False),
        # A part of that hour opens and closes twice.
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T00:29:59Z", False),
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T00:30:00Z", True),
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T00:45:00Z", False),
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T01:29:59Z", False),
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T01:30:00Z", True),
        ("Europe/Berlin", "02:30..02:45", "2026-10-25T01:45:00Z", False),
        # The hour is skipped.
        ("Europe/Berlin", "02:00..03:00", "2027-03-28T00:59:59Z", False),
        ("Europe/Berlin", "02:00..03:00", "2027-03-28T01:00:00Z", False),
        ("Europe/Berlin", "02:00..03:00", "2027-03-28T01:59:59Z", False),
        # A window around the skipped hour ends when the clock is put forward, or continues after that.
        ("Europe/Berlin", "01:00..02:30", "2027-03-28T00:59:59Z", True),
        ("Europe/Berlin", "01:00..02:30", "2027-03-28T01:00:00Z", False),
        ("Europe/Berlin", "02:30..04:00", "2027-03-28T00:59:59Z", False),
        ("Europe/Berlin", "02:30..04:00", "2027-03-28T01:00:00Z", True),
        ("Europe/Berlin", "02:30..04:00", "2027-03-28T01:59:59Z", True),
        ("Europe/Berlin", "02:30..04:00", "2027-03-28T02:00:00Z", False),
        ("America/New_York", "01:00..02:00", "2026-11-01T04:59:59Z", False),
        ("America/New_York", "01:00..02:00", "2026-11-01T05:00:00Z", True),
        ("America/New_York", "01:00..02:00", "2026-11-01T05:59:59Z", True),
        ("America/New_York", "01:00..02:00", "2026-11-01T06:00:00Z", True),
        ("America/New_York", "01:00..02:00", "2026-11-01T06:59:59Z", True),
        ("America/New_York", "01:00..02:00", "2026-11-01T07:00:00Z", False),
        ("America/New_York", "02:00..03:00", "2027-03-14T06:59:59Z", False),
        ("America/New_York", "02:00..03:00", "2027-03-14T07:00:00Z", False),
        ("America/New_York", "03:00..04:00", "2027-03-14T06:59:59Z", False),
        ("America/New_York", "03:00..04:00", "2027-03-14T07:00:00Z", True),
    ],
)
def test_the_wall_clock_of_the_zone_decides(zone: str, hours: str, instant: str, held: bool) -> None:
    prices = card(table(lines(f'hours: "{hours}", zone: {zone}'), ""))
    assert rate_at(prices, instant) == ("2" if held else "1")


@pytest.mark.parametrize(
    ("hours", "instant", "held"),
    [
        # 2026-10-03 is a Saturday.
        ("weekdays: [sat, sun], zone: UTC", "2026-10-02T23:59:59Z", False),
        ("weekdays: [sat, sun], zone: UTC", "2026-10-03T00:00:00Z", True),
        ("weekdays: [sat, sun], zone: UTC", "2026-10-04T23:59:59Z", True),
        ("weekdays: [sat, sun], zone: UTC", "2026-10-05T00:00:00Z", False),
        # A window over midnight belongs to the weekday on which it began.
        ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2026-10-02T01:59:59Z", False),
        ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2026-10-02T22:00:00Z", True),
        ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2026-10-03T01:59:59Z", True),
        ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2026-10-03T02:00:00Z", False),
        ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2026-10-03T22:00:00Z", False),
        # The week ends on Sunday, but the night of Sunday ends on Monday.
        ('weekdays: sun, hours: "22:00..02:00", zone: UTC', "2026-10-05T01:59:59Z", True),
        ('weekdays: sun, hours: "22:00..02:00", zone: UTC', "2026-10-05T22:00:00Z", False),
        # The weekday is that of the zone.
        ("weekdays: sat, zone: America/New_York", "2026-10-03T03:59:59Z", False),
        ("weekdays: sat, zone: America/New_York", "2026-10-03T04:00:00Z", True),
        ("weekdays: sat, zone: Pacific/Auckland", "2026-10-02T11:00:00Z", True),
        # Midnight as an end can be written in two ways.
        ('hours: "22:00..24:00", zone: UTC', "2026-10-02T23:59:59Z", True),
        ('hours: "22:00..24:00", zone: UTC', "2026-10-03T00:00:00Z", False),
        ('hours: "22:00..00:00", zone: UTC', "2026-10-03T00:00:00Z", False),
        # A line with several ranges.
        ('hours: ["08:00..10:00", "18:00..20:00"], zone: UTC', "2026-10-03T09:00:00Z", True),
        ('hours: ["08:00..10:00", "18:00..20:00"], zone: UTC', "2026-10-03T10:00:00Z", False),
        ('hours: ["08:00..10:00", "18:00..20:00"], zone: UTC', "2026-10-03T19:59:59Z", True),
    ],
)
def test_weekdays_are_those_on_which_a_window_began(hours: str, instant: str, held: bool) -> None:
    assert rate_at(card(table(lines(hours), "")), instant) == ("2" if held else "1")


def test_hours_combine_with_tiers_and_conditions() -> None:
    rates = """
          - {tokens: [input, output], rate: 1}
          - {tokens: input, above: 1000, rate: 2}
          - {tokens: input, service_tier: priority, rate: 4}
          - {tokens: input, above: 1000, service_tier: priority, rate: 8}
          - {tokens: input, hours: "08:00..20:00", zone: UTC, rate: 16}
          - {tokens: input, hours: "08:00..20:00", zone: UTC, above: 1000, rate: 32}
          - {tokens: input, hours: "08:00..20:00", zone: UTC, service_tier: priority, rate: 64}
          - {tokens: input, hours: "08:00..20:00", zone: UTC, above: 1000, service_tier: priority, rate: 128}
"""
    factors = "\n        factors:\n          - {service_tier: batch, factor: 0.5}\n"
    prices = card(table(rates, factors))
    found = []
    for instant in ("2026-10-01T07:59:59Z", "2026-10-01T08:00:00Z"):
        book = prices.at(datetime.fromisoformat(instant))
        for tier in ("standard", "priority", "batch"):
            for prompt in (1000, 1001):
                usage = {"type": "text", "model": "m", "tokens": {"input": prompt}, "service_tier": tier}
                found.append(str(book.rate(usage).lines[0].unit_rate))
    assert found == ["1", "2", "4", "8", "0.5", "1", "16", "32", "64", "128", "8", "16"]


IMAGES = """family: pictures
models:
  - model: p
    name: Pictures
    type: image
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: nowhere
        rounding: none
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {resolution: [1k, 2k], rate: 1}
              - {resolution: 4k, rate: 3}
              - {resolution: 2k, hours: "09:00..17:00", zone: Europe/Berlin, rate: 2}
        examples:
          - {usage: {resolution: 2k}, total: 1}
          - {usage: {resolution: 2k}, at: 2026-07-01T09:30:00+02:00, total: 2}
"""


@pytest.mark.parametrize(
    ("instant", "totals"),
    [("2026-10-01T06:59:59Z", ["1", "1", "3"]), ("2026-10-01T07:00:00Z", ["1", "2", "3"])],
)
def test_the_rates_of_any_charge_may_have_hours(instant: str, totals: list[str]) -> None:
    """A line with hours takes only its own resolution from the line without."""
    prices = RateCard(tables_from({"p.yaml": IMAGES.encode()})).at(datetime.fromisoformat(instant))
    found = [prices.rate({"model": "p", "resolution": each}) for each in ("1k", "2k", "4k")]
    assert [str(quote.total.normalize()) for quote in found] == totals
    assert [quote.lines[0].source for quote in found][1] == ("p.yaml:17" if totals[1] == "1" else "p.yaml:19")


@pytest.mark.parametrize(("instant", "rate"), [("2026-10-01T06:59:59Z", "0.2"), ("2026-10-01T07:00:00Z", "0.4")])
def test_of_the_rates_of_a_video_one_holds_at_each_hour(instant: str, rate: str) -> None:
    table = (Path(__file__).parents[1] / "tables/sound/per_second.yaml").read_text(encoding="utf-8")
    hours = '              - {resolution: 720p, hours: "09:00..17:00", zone: Europe/Berlin, rate: 0.40}\n'
    table = table.replace("        rounding:", f"{hours}        rounding:")
    prices = RateCard(tables_from({"p.yaml": table.encode()})).at(datetime.fromisoformat(instant))
    bodies = [{"model": "per-second-video", "duration": "5s", "resolution": size} for size in ("480p", "720p")]
    assert [str(prices.quote_video(body).lines[0].unit_rate) for body in bodies] == ["0.1", rate]


def test_an_example_is_worked_at_its_own_hour() -> None:
    wrong = IMAGES.replace("09:30:00", "17:00:00")
    with pytest.raises(Exception, match="the example says 2, the rates give 1"):
        RateCard(tables_from({"p.yaml": wrong.encode()})).prove_all()
    RateCard(tables_from({"p.yaml": IMAGES.encode()})).prove_all()


def test_books_of_one_hour_share_what_is_compiled() -> None:
    prices = card(table(NIGHT, ""))

    def version(instant: str) -> object:
        book: PriceBook = prices.at(datetime.fromisoformat(instant))
        return book._at_hour(book.in_effect("m")[1])

    assert version("2026-10-01T12:00Z") is version("2026-10-05T13:00Z")
    assert version("2026-10-01T17:00Z") is version("2026-10-05T18:00Z")
    assert version("2026-10-01T12:00Z") is not version("2026-10-01T17:00Z")


def test_changes_within_a_day_are_those_of_the_hours_and_boundaries_leave_them_out() -> None:
    prices = card(table(NIGHT, "").replace("effective: 2026-01-01", "effective: 2026-01-01T06:00:00Z"))
    first = datetime(2026, 1, 1, tzinfo=UTC)
    found = [each.isoformat() for each in prices.changes_between(first, datetime(2026, 1, 2, tzinfo=UTC))]
    assert found == ["2026-01-01T00:30:00+00:00", "2026-01-01T06:00:00+00:00", "2026-01-01T16:30:00+00:00"]
    assert datetime(2026, 1, 1, 16, 30, tzinfo=UTC) not in prices.boundaries()
    assert datetime(2026, 1, 1, 6, tzinfo=UTC) in prices.boundaries()


@pytest.mark.parametrize(
    ("zone", "begins"),
    [
        ("Europe/London", datetime(2026, 10, 24, 7, 30, 20, tzinfo=UTC)),
        ("Australia/Lord_Howe", datetime(2027, 4, 1, tzinfo=UTC)),
        ("Asia/Kathmandu", datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_windows_change_at_the_minutes_at_which_others_hold(zone: str, begins: datetime) -> None:
    windows = [Window(zone, ((90, 150), (960, 1440)), (2, 5, 6)), Window("UTC", ((0, 480),), (0, 6))]
    end = begins + timedelta(days=8)
    minutes = [begins.replace(second=0) + timedelta(minutes=number) for number in range(8 * 24 * 60)]
    held = [open_at(windows, max(minute, begins)) for minute in minutes]
    changes = [minute for minute, before, now in zip(minutes[1:], held, held[1:], strict=False) if before != now]
    assert list(changes_between(windows, begins, end)) == changes
    assert list(changes_between(windows, changes[0], changes[-1])) == changes[1:-1] != []


@pytest.mark.parametrize(
    ("hours", "fault"),
    [
        ('hours: "08:00..10:00"', "made-up.yaml:18: hours without a zone. Write whose clock decides, like zone: UTC"),
        ("weekdays: sat", "made-up.yaml:18: weekdays without a zone. Write whose clock decides, like zone: UTC"),
        (
            "zone: UTC",
            "made-up.yaml:18: zone has no effect without hours or weekdays. Write some, or leave it out",
        ),
        (
            'hours: "08:00..10:00", zone: Europe/Berlim',
            "made-up.yaml:18: zone 'Europe/Berlim' is not a time zone. Did you mean 'Europe/Berlin'? "
            "Write a name like UTC or Europe/Berlin",
        ),
        ('hours: "08:00..10:00", zone: [UTC, GMT]', "made-up.yaml:18: names 2 zones. Write a line for each"),
        (
            'hours: "08:00..08:00", zone: UTC',
            "made-up.yaml:18: hours '08:00..08:00' ends where it begins. Write from and to, like 16:30..00:30; "
            "to is the first minute after",
        ),
        *(
            (
                f'hours: "{wrong}", zone: UTC',
                f"made-up.yaml:18: hours '{wrong}' is not a time of the day. Write from and to, like 16:30..00:30; "
                "to is the first minute after",
            )
            for wrong in ("8:00..10:00", "08:00-10:00", "08:00..24:01", "24:00..01:00", "08:60..10:00", "08:00..25:00")
        ),
        (
            "weekdays: [sat, sunday], zone: UTC",
            "made-up.yaml:18: weekdays 'sunday' is not known. Did you mean 'sun'? "
            "Allowed: mon, tue, wed, thu, fri, sat, sun",
        ),
    ],
)
def test_what_a_line_says_of_its_hours_is_checked(hours: str, fault: str) -> None:
    assert faults(table(lines(hours), "")) == [fault]


@pytest.mark.parametrize(
    ("rates", "fault"),
    [
        (  # two windows of one zone that overlap, in a minute of each day
            [('hours: "08:00..10:01", zone: UTC', "2"), ('hours: "10:00..12:00", zone: UTC', "3")],
            ["made-up.yaml:19: two rates for {} tokens, context base; keep one (on mon at 10:00 in UTC)"],
        ),
        ([('hours: "08:00..10:00", zone: UTC', "2"), ('hours: "10:00..12:00", zone: UTC', "3")], []),
        (  # of different zones, that overlap in winter only
            [('hours: "08:00..09:00", zone: UTC', "2"), ('hours: "09:00..10:00", zone: Europe/Berlin', "3")],
            ["made-up.yaml:19: two rates for {} tokens, context base; keep one (on mon at 08:00 in UTC)"],
        ),
        ([('hours: "08:00..09:00", zone: UTC', "2"), ('hours: "08:00..09:00", zone: Europe/Berlin', "3")], []),
        (  # a night that begins on Friday, and a weekend
            [
                ('weekdays: fri, hours: "22:00..02:00", zone: UTC', "2"),
                ("weekdays: [sat, sun], zone: UTC", "3"),
            ],
            ["made-up.yaml:19: two rates for {} tokens, context base; keep one (on sat at 00:00 in UTC)"],
        ),
        ([('weekdays: fri, hours: "22:00..00:00", zone: UTC', "2"), ("weekdays: [sat, sun], zone: UTC", "3")], []),
    ],
)
def test_two_rates_whose_windows_overlap_are_a_fault(rates: list[tuple[str, str]], fault: list[str]) -> None:
    text = lines(*rates[0]) + f"          - {{tokens: [input, output], {rates[1][0]}, rate: {rates[1][1]}}}\n"
    assert faults(table(text, "")) == [each.format(bucket) for each in fault for bucket in ("input", "output")]


def test_hours_beside_a_tier_or_a_condition_need_the_rate_for_both() -> None:
    rates = """
          - {tokens: [input, output], rate: 1}
          - {tokens: input, above: 1000, rate: 2}
          - {tokens: input, hours: "08:00..20:00", zone: UTC, rate: 3}
"""
    [fault] = faults(table(rates, ""))
    assert fault.startswith("made-up.yaml:19: this rate and that of line 18 both hold for input tokens")
    assert fault.endswith("Write the rate for both (on mon at 08:00 in UTC)")
    both = rates + '          - {tokens: input, above: 1000, hours: "08:00..20:00", zone: UTC, rate: 4}\n'
    assert faults(table(both, "")) == []
    short = both.replace('above: 1000, hours: "08:00..20:00"', 'above: 1000, hours: "08:00..19:59"')
    assert faults(table(short, ""))[0].endswith("(on mon at 19:59 in UTC)")


@pytest.mark.parametrize(
    ("rates", "fault"),
    [
        (
            """
          - {tokens: output, rate: 1}
          - {tokens: input, hours: "00:00..12:00", zone: UTC, rate: 2}
          - {tokens: input, hours: "12:00..23:59", zone: UTC, rate: 3}
""",
            ["made-up.yaml:16: no rate for input tokens, context base (on mon at 23:59 in UTC)"],
        ),
        (
            """
          - {tokens: output, rate: 1}
          - {tokens: input, hours: "00:00..12:00", zone: UTC, rate: 2}
          - {tokens: input, hours: "12:00..24:00", zone: UTC, rate: 3}
""",
            [],
        ),
        (
            """
          - {tokens: [input, output], rate: 1}
          - {tokens: cache_input, hours: "00:00..12:00", zone: UTC, rate: 0.1}
""",
            [
                "made-up.yaml:18: no rate for cache_input tokens. Write one for the other hours too "
                "(on mon at 12:00 in UTC)"
            ],
        ),
    ],
)
def test_a_bucket_without_a_rate_at_some_hour_is_a_fault(rates: str, fault: list[str]) -> None:
    assert faults(table(rates, "")) == fault


@pytest.mark.parametrize("line", ["tokens: input, above: 1k", f"tokens: input, above: {'9' * 5000}", ""])
def test_a_fault_of_a_line_with_hours_comes_before_the_buckets_of_other_hours(line: str) -> None:
    hours = ", ".join(filter(None, (line, 'hours: "08:00..10:00", zone: UTC, rate: 2')))
    [fault] = faults(table(f"          - {{tokens: [input, output], rate: 1}}\n          - {{{hours}}}\n"))
    assert fault.startswith("made-up.yaml:18: ")


def test_a_combination_without_a_rate_at_some_hour_is_a_fault() -> None:
    text = IMAGES.replace("{resolution: 4k, rate", "{resolution: 4k, weekdays: [mon, tue], zone: UTC, rate")
    words = "no rate for resolution: 4k, which this version accepts. Add one, or do not accept it"
    assert faults(text) == [f"made-up.yaml:16: {words} (on wed at 00:00 in UTC)"]


FEES = """
            - {rate: 0.01}
            - {hours: "08:00..20:00", zone: UTC, rate: 0.02}
            - {service_tier: batch, rate: 0.005}
            - {service_tier: batch, hours: "08:00..20:00", zone: UTC, rate: 0.007}
"""


def paged(rates: str) -> str:
    """The table with a charge by pages beside that of tokens."""
    charge = f"          - charge: pages\n            method: count\n            unit: page\n            rates:{rates}"
    return table("- {tokens: [input, output], rate: 0}", "", "0").replace(
        "        examples:", f"{charge.rstrip()}\n        examples:"
    )


@pytest.mark.parametrize(
    ("instant", "totals"),
    [
        ("2026-10-01T07:59:59Z", ["0.01", "0.005"]),
        ("2026-10-01T08:00:00Z", ["0.02", "0.007"]),
        ("2026-10-01T19:59:59Z", ["0.02", "0.007"]),
        ("2026-10-01T20:00:00Z", ["0.01", "0.005"]),
    ],
)
def test_a_fee_may_have_hours_and_conditions(instant: str, totals: list[str]) -> None:
    book = card(paged(FEES)).at(datetime.fromisoformat(instant))
    usage = {"type": "text", "model": "m", "tokens": {}, "counts": {"page": 1}}
    quotes = [book.rate(usage | {"service_tier": tier}) for tier in ("standard", "batch")]
    assert [format(quote.total.normalize(), "f") for quote in quotes] == totals


@pytest.mark.parametrize(
    "instant", ["2026-10-01T16:29Z", "2026-10-01T16:30Z", "2026-10-02T00:30Z", "2026-10-03T12:00Z"]
)
def test_the_laws_hold_at_every_hour(instant: str) -> None:
    at_night = 'hours: "16:30..00:30", zone: UTC'
    text = table(
        f"""
          - {{tokens: [input, output], rate: 2}}
          - {{tokens: input, {at_night}, rate: 1}}
          - {{tokens: input, above: 128000, rate: 4}}
          - {{tokens: input, above: 128000, {at_night}, rate: 3}}
          - {{tokens: input, service_tier: priority, rate: 6}}
          - {{tokens: input, service_tier: priority, {at_night}, rate: 5}}
          - {{tokens: input, service_tier: priority, above: 128000, rate: 8}}
          - {{tokens: input, service_tier: priority, above: 128000, {at_night}, rate: 7}}
          - {{tokens: output, weekdays: sat, zone: UTC, rate: 9}}
""",
        "",
    )
    case = Case(card(text).at(datetime.fromisoformat(instant)), "m")
    for law in (law for law in LAWS if law.applies(case)):
        check(law, case, max_examples=3)


def test_a_rate_of_all_hours_must_be_charged_outside_of_them() -> None:
    case = Case(card(table(NIGHT, "")).at(datetime.fromisoformat("2026-10-01T12:00Z")), "m")
    case.cells = case.cells[:1]
    with pytest.raises(BrokenLawError, match="No request is charged at a rate"):
        check(every_rate_is_charged_somewhere, case)


def test_the_hours_of_a_fee_are_checked_as_those_of_tokens() -> None:
    lines_of = FEES.splitlines(keepends=True)
    [fault] = faults(paged("".join(lines_of[:4])))
    assert "both hold for pages, service_tier: batch. Write the rate for both (on mon at 08:00 in UTC)" in fault
    [fault] = faults(paged("\n" + lines_of[2]))
    assert fault.endswith("no rate holds (on mon at 00:00 in UTC)")
