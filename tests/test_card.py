"""The rate card and its price books: which version holds when, which models there are, what is shared."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import InstantError, PriceBook, QuoteError, RateCard
from ratecard.load.folder import shipped_folder
from ratecard.pricing.compiler import Compiler
from ratecard.pricing.video import VideoPricer
from ratecard.tables.limits import Rates
from ratecard.tables.video import VideoModel, VideoVersion

TURBO = {"model": "minimax-h3-max-turbo-text-to-video", "duration": "10s", "resolution": "480P"}
LTX = {"model": "ltx-2-fast-text-to-video", "duration": "6s", "resolution": "2160p"}
BEFORE, AFTER = "0.15", "0.19"


def error_of(prices: PriceBook, body: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(QuoteError) as caught:
        prices.quote_video(body)
    return caught.value.body()


@pytest.mark.parametrize(
    ("instant", "effective"),
    [
        (date(2026, 10, 15), date(2026, 9, 28)),
        (date(2026, 10, 16), date(2026, 10, 16)),
        (date(2030, 1, 1), date(2026, 10, 16)),
        (datetime(2026, 10, 15, 23, 59, 59, 999_999, tzinfo=UTC), date(2026, 9, 28)),
        (datetime(2026, 10, 16, tzinfo=UTC), date(2026, 10, 16)),
        (datetime(2026, 10, 16, 1, 59, tzinfo=timezone(timedelta(hours=2))), date(2026, 9, 28)),
        (datetime(2026, 10, 15, 22, 0, tzinfo=timezone(timedelta(hours=-2))), date(2026, 10, 16)),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), date(2026, 10, 16)),
    ],
)
def test_a_version_holds_from_0_00_utc_of_its_day_until_the_next(
    card: RateCard, instant: date | datetime, effective: date
) -> None:
    assert card.at(instant).quote_video(TURBO).effective == effective


def test_a_price_book_of_an_old_day_keeps_its_prices_whatever_was_asked_before(card: RateCard) -> None:
    old, new = card.at(date(2026, 10, 15)), card.at(date(2026, 10, 16))
    totals = [str(prices.quote_video(TURBO).total) for prices in (new, old, new, old, card.at(date(2026, 10, 15)))]
    assert totals == [totals[0], BEFORE, totals[0], BEFORE, BEFORE]
    assert totals[0] > BEFORE


@pytest.mark.parametrize("instant", [datetime(2026, 10, 1), "2026-10-01", 20261001, None])  # noqa: DTZ001
def test_an_instant_that_names_no_moment_is_refused(card: RateCard, instant: Any) -> None:
    with pytest.raises(InstantError) as caught:
        card.at(instant)
    assert repr(instant) in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_before_its_first_version_a_model_has_no_price(card: RateCard) -> None:
    body = {"model": "kling-v4-text-to-video"}
    assert error_of(card.at(date(2026, 10, 23)), body) == {
        "error": "No price for kling-v4-text-to-video on 2026-10-23. Its first version takes effect on 2026-10-24."
    }
    assert "details" in error_of(card.at(date(2026, 10, 24)), body)


def test_a_retired_model_is_not_found_and_its_successor_is_named(card: RateCard) -> None:
    assert str(card.at(date(2026, 9, 27)).quote_video(LTX).total) == "1.06"
    assert error_of(card.at(date(2026, 9, 28)), LTX) == {
        "error": "Specified model not found: ltx-2-fast-text-to-video. It was retired on 2026-09-28. "
        "Use ltx-2-v2-3-fast-text-to-video instead."
    }
    sora = {"model": "sora-2-text-to-video"}
    assert error_of(card.at(date(2026, 9, 28)), sora) == {
        "error": "Specified model not found: sora-2-text-to-video. It was retired on 2026-09-28."
    }


def test_no_suggestion_names_a_model_without_a_price(card: RateCard) -> None:
    words = error_of(card.at(date(2026, 9, 29)), {"model": "kling-v4-text-to-vide"})["error"]
    assert "Did you mean: " in words
    assert "kling-v4-text-to-video" not in words
    later = error_of(card.at(date(2026, 10, 24)), {"model": "kling-v4-text-to-vide"})["error"]
    assert "Did you mean: kling-v4-text-to-video, " in later


def test_a_price_book_lists_the_models_that_have_a_price_by_name(card: RateCard) -> None:
    for day in (date(2025, 12, 15), date(2026, 9, 29), date(2026, 10, 24), date(2026, 11, 10)):
        prices = card.at(day)
        found = {model.model: model for model in prices.models()}
        assert list(found) == sorted(found)
        for name in card.models:
            if name in found:
                assert prices.model(name) == found[name]
            else:
                with pytest.raises(QuoteError, match=r"^(No price for|Specified model not found: .* It was retired)"):
                    prices.model(name)
    assert not card.at(date(2020, 1, 1)).models()


def test_video_versions_are_compiled_once_and_shared_by_all_price_books(card: RateCard) -> None:
    pricers = []
    for day in (date(2026, 9, 29), date(2026, 10, 1), date(2026, 10, 16)):
        model, version = card.at(day).in_effect(TURBO["model"])
        assert isinstance(model, VideoModel)
        assert isinstance(version, VideoVersion)
        pricers.append(card._compiler.video(model, version, Rates()))
    assert pricers[0] is pricers[1]
    assert pricers[0] is not pricers[2]


class Counting(Compiler):
    """Counts how often a price book asks for a compiled version."""

    asked = 0

    def video(self, model: VideoModel, version: VideoVersion, rates: Rates) -> VideoPricer:
        self.asked += 1
        return super().video(model, version, rates)


def test_a_price_book_finds_a_model_once(card: RateCard) -> None:
    counting = Counting(card.tables)
    prices = RateCard(card.tables, compiler=counting, proves=False).at(date(2026, 9, 29))
    for _ in range(3):
        prices.quote_video(TURBO)
    assert counting.asked == 1


def test_a_model_of_another_type_has_no_video_quote(card: RateCard, prices: PriceBook) -> None:
    name = prices.models("text")[0].model
    assert set(error_of(card.at(date(2026, 9, 29)), {"model": name})) == {"error"}


def test_the_same_tables_have_the_same_digest_and_every_quote_carries_it(card: RateCard, prices: PriceBook) -> None:
    assert card.digest == ratecard.load_rate_card().digest == card.tables.digest
    assert prices.quote_video({"model": "ovi-image-to-video"}).digest == card.digest


def test_a_folder_has_its_own_models_and_the_shipped_units_and_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes((shipped_folder() / "video" / "ovi.yaml").read_bytes())
    own = ratecard.load_rate_card(tmp_path)
    prices = own.at(date(2026, 10, 1))
    assert [model.model for model in prices.models()] == ["ovi-image-to-video"]
    quote = prices.quote_video({"model": "ovi-image-to-video"})
    assert (str(quote.total), quote.digest) == ("0.22", own.digest)
    assert quote.lines[0].source.startswith("mine.yaml:")
    assert error_of(prices, {"model": TURBO["model"]}) == {"error": f"Specified model not found: {TURBO['model']}"}
