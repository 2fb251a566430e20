"""A source-matched duration on a model that bills plain seconds, and one whose ratio has no effect."""

from fractions import Fraction

import pytest
from made_up_tables import assert_costs, charge, prices_of

from ratecard import PriceBook, QuoteError, TableError
from ratecard.views.sheet import price_cells

FIELD = "reference_video_total_duration"


@pytest.fixture(scope="module")
def editing() -> PriceBook:
    """Edits a clip of 4 to 6 seconds, at a rate per second of output."""
    return prices_of(
        '{duration: [3s..6s, "-1", auto], audio: none, aspect_ratio: ["16:9", adaptive],'
        f" {FIELD}: {{max: 20, source_min: 4, source_max: 6}}}}",
        charge("method: duration-rate\nunit: video_second\n", ["rate: 0.07"]),
        mode="video-to-video",
    )


@pytest.mark.parametrize(("seconds", "billed"), [(4, 4), (4.2, 5), (5.999, 6), (6, 6)])
@pytest.mark.parametrize("word", ["-1", "auto", "Auto"])
def test_the_seconds_of_the_clip_are_billed_rounded_up(
    editing: PriceBook, word: str, seconds: float, billed: int
) -> None:
    quote = editing.quote_video({"model": "made-up", "duration": word, FIELD: seconds})
    assert_costs(quote, billed * Fraction("0.07"))
    assert quote.lines[0].sku == f"made-up-duration-rate-{billed}s"
    assert quote.ignored == ()


def test_the_longest_clip_that_a_duration_may_match_is_the_longest_that_a_table_may_have() -> None:
    def longest(seconds: int) -> PriceBook:
        accepts = f'{{duration: ["-1"], audio: none, {FIELD}: {{max: 2000, source_max: {seconds}}}}}'
        rates = charge("method: duration-rate\nunit: video_second\n", ["rate: 0.07"])
        return prices_of(accepts, rates, mode="video-to-video", longest_reference=2000)

    prices = longest(999)
    assert_costs(prices.quote_video({"model": "made-up", "duration": "-1", FIELD: 999}), 999 * Fraction("0.07"))
    # Without a clip it has no price, so the sheet has none of such a request.
    assert [cell.body for cell in price_cells(prices, "made-up")] == [{"model": "made-up", "duration": "-1", FIELD: 10}]
    with pytest.raises(TableError, match="source_max 1000 is a clip of 1000 seconds"):
        longest(1000)


def test_a_default_that_matches_the_clip_is_that_of_each_clip() -> None:
    """What one request without a duration was priced at is not kept for the next one of other seconds."""
    sizes = "method: token-formula\nunit: mtoken\nframes_per_second: 24\npixels_per_token: 1024\n"
    sizes += "sizes: [{size: 1280x720}]\nreference_minimum: 0\n"
    prices = prices_of(
        f'{{duration: ["-1", auto], audio: none, {FIELD}: {{max: 15}}}}',
        charge(sizes, ["rate: 1000"]),
        mode="reference-to-video",
        defaults='{duration: "-1"}',
    )
    for seconds in (4, 10, 4, 5.5):
        body = {"model": "made-up", FIELD: seconds}
        stated = prices.quote_video({**body, "duration": "-1"})
        assert prices.quote_video(body).lines == stated.lines
        assert f"-{-int(-seconds // 1)}s" in stated.lines[0].sku


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"duration": "-1"}, ["Required"]),
        ({"duration": "-1", FIELD: 3.9}, ["Number must be greater than or equal to 4"]),
        ({"duration": "auto", FIELD: 6.1}, ["Number must be less than or equal to 6"]),
        ({"duration": "3s", FIELD: 21}, ["Number must be less than or equal to 20"]),
    ],
)
def test_the_clip_must_fit_the_limits_of_the_table(
    editing: PriceBook, body: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(QuoteError) as caught:
        editing.quote_video({"model": "made-up", **body})
    assert caught.value.details == {"_errors": [], FIELD: {"_errors": words}}


def test_a_source_matched_ratio_without_effect_asks_for_no_clip(editing: PriceBook) -> None:
    body = {"model": "made-up", "duration": "3s", "aspect_ratio": "adaptive"}
    assert editing.quote_video(body).ignored == ("aspect_ratio",)
    with pytest.raises(QuoteError) as caught:
        editing.quote_video({**body, "audio": "yes"})
    assert list(caught.value.details or ()) == ["_errors", "audio"]


@pytest.mark.parametrize("listed", ['["-1"]', "[auto]", '["-1", auto, Auto]'])
def test_the_clip_may_be_all_that_says_how_long_a_video_is(listed: str) -> None:
    rates = [f"duration: {seconds}s, rate: 0.{seconds}" for seconds in (4, 5, 6)]
    matched = prices_of(
        f"{{duration: {listed}, audio: none, {FIELD}: {{max: 6}}}}",
        charge("method: duration-resolution-rate\nunit: clip\n", rates),
    )
    word = listed.strip('[]"').split('"')[0]
    for seconds, amount in ((4, "0.4"), (4.5, "0.5"), (6, "0.6")):
        quote = matched.quote_video({"model": "made-up", "duration": word, FIELD: seconds})
        assert_costs(quote, Fraction(amount))
    with pytest.raises(QuoteError) as caught:
        matched.quote_video({"model": "made-up", "duration": "5s", FIELD: 5})
    assert "duration" in (caught.value.details or ())


def test_each_second_of_such_a_clip_needs_its_rate() -> None:
    with pytest.raises(TableError, match="no rate for duration: 6s"):
        prices_of(
            f'{{duration: ["-1"], audio: none, {FIELD}: {{max: 6}}}}',
            charge("method: duration-resolution-rate\nunit: clip\n", ["duration: [4s, 5s], rate: 1"]),
        )
