"""A year of versions of one model, quoted around every boundary to the microsecond; what nearby instants share."""

import csv
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from overlays import candidate, copy_of_shipped, made_up

import ratecard
from ratecard import InstantError, PriceBook, QuoteError, RateCard
from ratecard.price_book import Deprecation
from ratecard.review.promote import promotion
from ratecard.tables.limits import Rates
from ratecard.tables.metered import TextVersion
from ratecard.tables.video import VideoModel, VideoVersion

FACTS = Path(__file__).parent.parent / "facts"
TICK = timedelta(microseconds=1)
# Twelve versions: on the first day of each month, but on the last day of February and on the day after it.
DAYS = [date(2027, 1, 1), date(2027, 2, 28), *(date(2027, month, 1) for month in range(3, 13))]
RETIRED = date(2028, 2, 29)
ZONES = [UTC, *(timezone(timedelta(minutes=minutes)) for minutes in (-12 * 60, -210, 345, 14 * 60))]
VERSION = """      - effective: {day}
        checked: {day}
        source: made up
        accepts: {{duration: [5s], audio: none}}
        charges:
          - {{charge: video, method: fixed, unit: clip, rates: [{{rate: {rate}}}]}}
        rounding: {{places: 2, mode: half-up}}
        examples:
          - {{request: {{duration: 5s}}, total: {rate}}}
"""
HEAD = """  - model: {name}
    name: A year
    type: video
    mode: text-to-video
    currency: USD
"""


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> RateCard:
    folder = tmp_path_factory.mktemp("year")
    versions = "".join(VERSION.format(day=day, rate=f"{n}.10") for n, day in reversed(list(enumerate(DAYS, start=1))))
    text = "family: year\nmodels:\n" + HEAD.format(name="year")
    text += f"    retired: {{on: {RETIRED}, successor: next}}\n    versions:\n" + versions
    text += HEAD.format(name="next") + "    versions:\n" + VERSION.format(day=DAYS[0], rate="0.50")
    (folder / "year.yaml").write_text(text)
    return ratecard.load_rate_card(folder)


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize(("number", "day"), list(enumerate(DAYS, start=1)))
def test_a_version_holds_from_its_first_microsecond_until_the_next_ones(
    year: RateCard, number: int, day: date, zone: timezone
) -> None:
    first = midnight(day)
    for instant, expected in ((first, number), (first + TICK, number), (first - TICK, number - 1)):
        prices = year.at(instant.astimezone(zone))
        if expected:
            quote = prices.quote_video({"model": "year", "duration": "5s"})
            assert (str(quote.total), quote.effective) == (f"{expected}.10", DAYS[expected - 1])
        else:
            words = "^No price for year on 2026-12-31. Its first version takes effect on 2027-01-01.$"
            with pytest.raises(QuoteError, match=words):
                prices.quote_video({"model": "year", "duration": "5s"})


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_a_model_is_retired_from_the_first_microsecond_of_its_day(year: RateCard, zone: timezone) -> None:
    last = year.at((midnight(RETIRED) - TICK).astimezone(zone))
    assert str(last.quote_video({"model": "year", "duration": "5s"}).total) == "12.10"
    assert last.deprecation("year")
    for instant in (midnight(RETIRED), midnight(RETIRED) + TICK):
        after = year.at(instant.astimezone(zone))
        assert after.deprecation("year") is None
        with pytest.raises(QuoteError, match=f"It was retired on {RETIRED}. Use next instead.$"):
            after.quote_video({"model": "year", "duration": "5s"})


@pytest.mark.parametrize("day", [*DAYS, RETIRED])
def test_a_date_is_its_midnight_and_a_naive_instant_is_refused(year: RateCard, day: date) -> None:
    assert year.at(day).day == year.at(midnight(day)).day == day
    for naive in (midnight(day), midnight(day) - TICK):
        with pytest.raises(InstantError, match="has no time zone"):
            year.at(naive.replace(tzinfo=None))


def test_boundaries_are_the_only_instants_at_which_an_answer_changes(year: RateCard) -> None:
    known = year.boundaries()
    assert known == tuple(sorted(known))
    assert set(map(midnight, [*DAYS, RETIRED])) <= set(known)

    def answers(instant: datetime) -> list[Any]:
        prices = year.at(instant)
        return [(model.model, version) for model, version in prices._in_effect_all()]

    for before, after in pairwise(known):
        assert answers(before) == answers(after - TICK)


def test_what_a_response_says_of_a_model_that_will_be_retired(year: RateCard) -> None:
    expected = Deprecation("year is retired on 2028-02-29, 00:00 UTC. Use next instead.", "2028-02-29")
    for instant in (date(2020, 1, 1), DAYS[0], date(2028, 2, 28)):
        found = year.at(instant).deprecation("year")
        assert found == expected
        assert found is not None
        assert found.headers == {
            "x-service-model-deprecation-warning": expected.warning,
            "x-service-model-deprecation-date": "2028-02-29",
        }
        assert date.fromisoformat(found.date) == RETIRED
    assert year.at(DAYS[0]).deprecation("next") is None
    assert year.at(DAYS[0]).deprecation("no such model") is None


def test_a_model_without_a_successor_names_none(card: RateCard) -> None:
    found = card.at(date(2026, 10, 1)).deprecation("seedance-1-5-pro-text-to-video")
    assert found is None or found.warning.endswith("2026-11-10, 00:00 UTC.")
    retiring = {name: card.at(date(2026, 10, 1)).deprecation(name) for name in card.tables.models}
    assert {each.date for each in retiring.values() if each} == {"2026-11-10"}


def test_books_of_nearby_instants_share_the_video_versions_that_they_have_in_common(year: RateCard) -> None:
    def pricer(day: date, name: str) -> object:
        model, version = year.at(day).in_effect(name)
        assert isinstance(model, VideoModel)
        assert isinstance(version, VideoVersion)
        return year._compiler.video(model, version, Rates())

    assert pricer(date(2027, 5, 1), "year") is pricer(date(2027, 5, 31), "year")
    assert pricer(date(2027, 5, 31), "year") is not pricer(date(2027, 6, 1), "year")
    assert pricer(date(2027, 5, 31), "next") is pricer(date(2027, 6, 1), "next")


def test_books_share_what_they_rate_with_until_the_model_or_its_surcharge_changes(tmp_path: Path) -> None:
    folder = made_up(tmp_path / "tables")
    base = ratecard.load_rate_card(folder)
    dearer = base.with_candidate(candidate(folder, "- scale: {model: looking}\n  factor: 2\n"))

    def rater(day: date) -> object:
        book = dearer.at(day)
        model, version = book.in_effect("talker")
        assert isinstance(version, TextVersion)
        searches: dict[str, Any] = {search: book.in_effect(name) for search, name in version.surcharges.items()}
        return dearer._compiler.rater("text", model, version, searches, book.limits)

    before, after = date(2027, 8, 31), date(2027, 9, 1)
    assert rater(date(2027, 1, 1)) is rater(before)
    assert rater(before) is not rater(after)
    assert rater(after) is rater(date(2030, 1, 1))
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    body = {"type": "text", "model": "talker", "usage": usage, "web_search_requests": 1}
    assert [str(dearer.at(day).rate(body).total) for day in (after, before, after)] == ["0.020", "0.010", "0.020"]


def rows(name: str) -> Iterator[dict[str, str]]:
    with (FACTS / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def video_answers(card: RateCard, rows: list[dict[str, str]], column: str) -> Iterator[str]:
    words = {"true": True, "false": False, "with": True, "silent": False}
    books: dict[str, PriceBook] = {}
    for row in rows:
        day = row.get(column) or "2026-09-29"
        prices = books.setdefault(day, card.at(date.fromisoformat(day)))
        body: dict[str, Any] = {k: row[k] for k in ("model", "resolution", "duration", "aspect_ratio") if row[k]}
        if row["audio"]:
            body["audio"] = words[row["audio"]]
        quote = prices.quote_video(body)
        yield f"{quote.total} {quote.exact} {quote.effective}"


def test_the_published_repricings_stay_as_they_were_after_new_versions(card: RateCard, tmp_path: Path) -> None:
    folder = copy_of_shipped(tmp_path / "tables")
    changes = "".join(
        f"- scale: {{type: {type_}}}\n  factor: 1.25\n"
        for type_ in sorted({model.type for model in card.tables.models.values()})
    )
    made = promotion(folder, candidate(folder, changes, "2027-01-01"), date(2026, 12, 1))
    made.write()
    new = ratecard.load_rate_card(folder)
    for name, column in (("video_quotes_2026-09-29.csv", ""), ("video_prices_2026-10.csv", "effective")):
        given = list(rows(name))
        assert list(video_answers(card, given, column)) == list(video_answers(new, given, column))
    # Every list price of the four days of August, and its version, to the last digit.
    days = {date.fromisoformat(row["as_of"]) for row in rows("published_prices.csv")}
    published = {row["model"] for row in rows("published_prices.csv")} & card.tables.models.keys()
    assert len(days) == 4
    assert len(published) > 100
    for day in days:
        old_book, new_book = card.at(day), new.at(day)
        for name in published:
            old, same = (each.tables.models[name].version_at(day) for each in (old_book, new_book))
            assert (old is None) == (same is None)
            if old and same:
                kept = old.model_dump(exclude={"charges", "examples", "place"})
                assert kept == same.model_dump(exclude={"charges", "examples", "place"})
                assert [rate.rate for charge in old.charges for rate in charge.rates] == [
                    rate.rate for charge in same.charges for rate in charge.rates
                ]
    assert new.digest != card.digest
    dear = new.at(date(2027, 1, 1)).quote_video({"model": "ovi-image-to-video"})
    assert str(dear.exact) == "0.275"
