"""Every quote that the live service gave, and every later published price, to the cent."""

import csv
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ratecard import PriceBook, Quote, QuoteError, RateCard

FACTS = Path(__file__).parent / "facts"
QUOTED_ON = date(2026, 9, 29)
CENT = Decimal("0.01")
WORD_OF = {"true": True, "false": False, "with": True, "silent": False}

# The only given quotes that are not reproduced: exact half-cent ties, for which the live service (in binary floats)
# answers one cent less. (model, resolution, duration) -> the live quote.
TIES = {
    ("grok-imagine-1-5-text-to-video-private", "1080p", "2s"): "0.57",
    ("minimax-h3-max-turbo-text-to-video", "480P", "15s"): "0.22",
    ("minimax-h3-max-turbo-image-to-video", "480P", "15s"): "0.22",
}


def rows_of(name: str) -> list[dict[str, str]]:
    with (FACTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def body_of(row: dict[str, str]) -> dict[str, Any]:
    words = {name: row[name] for name in ("model", "resolution", "duration", "aspect_ratio") if row[name]}
    return {**words, **({"audio": WORD_OF[row["audio"]]} if row["audio"] else {})}


def cell_of(row: dict[str, str]) -> tuple[str, str, str]:
    return row["model"], row["resolution"], row["duration"]


def wrong(prices: PriceBook, rows: list[dict[str, str]], column: str) -> Iterator[tuple[dict[str, str], Quote | str]]:
    """The rows with another total than the given one."""
    for row in rows:
        try:
            quote = prices.quote_video(body_of(row))
        except QuoteError as error:
            yield row, str(error)
        else:
            if quote.total != Decimal(row[column]):
                yield row, quote


def assert_only_ties_missed(
    prices: PriceBook, rows: list[dict[str, str]], column: str, ties: dict[tuple[str, str, str], str]
) -> None:
    """The rows with another total are those of `ties`, each an exact half-cent tie one cent above the quote."""
    missed = list(wrong(prices, rows, column))
    assert {(row["model"], row["resolution"].upper(), row["duration"]): row[column] for row, _ in missed} == {
        (model, resolution.upper(), duration): quote for (model, resolution, duration), quote in ties.items()
    }
    for row, quote in missed:
        assert isinstance(quote, Quote), quote
        assert Fraction(quote.exact) * 100 % 1 == Fraction(1, 2), "not a tie"
        assert quote.total == Decimal(row[column]) + CENT


def test_every_quote_of_2026_09_29_is_reproduced_to_the_cent_save_the_listed_ties(card: RateCard) -> None:
    rows = rows_of("video_quotes_2026-09-29.csv")
    assert len(rows) == 2_355
    assert_only_ties_missed(card.at(QUOTED_ON), rows, "quote_usd", TIES)


@pytest.mark.parametrize("row", rows_of("video_quotes_earlier.csv"), ids=lambda row: " ".join(cell_of(row)))
def test_a_quote_of_an_earlier_month_is_reproduced_in_the_middle_of_its_month(
    card: RateCard, row: dict[str, str]
) -> None:
    prices = card.at(date.fromisoformat(f"{row['as_of']}-15"))
    assert not list(wrong(prices, [row], "quote_usd"))


@pytest.mark.parametrize("later", [0, 1, 200])
def test_every_october_price_holds_from_its_effective_day_on(card: RateCard, later: int) -> None:
    rows = rows_of("video_prices_2026-10.csv")
    assert len(rows) == 136
    for day in {row["effective"] for row in rows}:
        effective = date.fromisoformat(day)
        prices = card.at(date.fromordinal(effective.toordinal() + later))
        missed = list(wrong(prices, [row for row in rows if row["effective"] == day], "price_usd"))
        assert not missed


@pytest.mark.parametrize("day", [QUOTED_ON, date(2026, 10, 15)])
def test_until_the_day_before_an_october_version_the_price_is_the_quote_of_september(card: RateCard, day: date) -> None:
    rows = [row for row in rows_of("video_prices_2026-10.csv") if row["quote_2026_09_29"]]
    assert len(rows) == 54
    turbo = {cell: quote for cell, quote in TIES.items() if cell[0] == "minimax-h3-max-turbo-text-to-video"}
    assert_only_ties_missed(card.at(day), rows, "quote_2026_09_29", turbo)


def test_a_model_without_an_october_version_costs_in_november_what_it_cost_in_september(card: RateCard) -> None:
    changed = {row["model"] for row in rows_of("video_prices_2026-10.csv")}
    rows = [row for row in rows_of("video_quotes_2026-09-29.csv") if row["model"] not in changed]
    assert len(rows) > 2_000
    ties = {cell: quote for cell, quote in TIES.items() if cell[0] not in changed}
    assert_only_ties_missed(card.at(date(2026, 11, 9)), rows, "quote_usd", ties)
