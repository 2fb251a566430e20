"""What strategies draw is valid, or invalid as they say, and shrinks to something simple; wrong arguments are named."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

import ratecard
from ratecard import PriceBook, QuoteError
from ratecard.requests.body import TYPES
from ratecard.testing import (
    Request,
    invalid_video_requests,
    rate_cards,
    source_videos,
    sourced_video_requests,
    table_files,
    usages,
    video_requests,
)
from shipped import CARD

SOUND = Path(__file__).parent.parent / "tables" / "sound"
BOOKS = [CARD.at(day) for day in (date(2026, 9, 29), date(2026, 10, 24))]
MANY = settings(
    max_examples=80, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
# The phase that explains which part of an example mattered is left out.
PLAIN = settings(database=None, phases=(Phase.generate, Phase.shrink))


def book_of(name: str, folder: Path) -> PriceBook:
    """A book of one model."""
    (folder / "one.yaml").write_bytes((SOUND / f"{name}.yaml").read_bytes())
    return ratecard.load_rate_card(folder).at(date(2026, 10, 1))


def fields_of(error: QuoteError) -> tuple[str, ...]:
    return tuple(name for name in error.details or {} if name != "_errors")


def of_books(strategy: Callable[[PriceBook], st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[PriceBook, Any]]:
    """Draw a book, and what its strategy draws: one strategy a book, as one looks at every model."""
    return st.one_of([st.tuples(st.just(book), strategy(book)) for book in BOOKS])


@MANY
@given(of_books(video_requests))
def test_a_video_request_has_a_quote(drawn: tuple[PriceBook, Any]) -> None:
    prices, body = drawn
    assert prices.quote_video(body).total >= 0


@MANY
@given(of_books(sourced_video_requests))
def test_a_video_request_with_its_source_has_a_quote(drawn: tuple[PriceBook, Any]) -> None:
    prices, (body, source) = drawn
    assert prices.quote_video(body, source=source).total >= 0


@MANY
@given(of_books(invalid_video_requests))
def test_an_invalid_video_request_is_refused_at_its_fields(drawn: tuple[PriceBook, Any]) -> None:
    prices, (body, fields) = drawn
    with pytest.raises(QuoteError) as caught:
        prices.quote_video(body)
    assert fields_of(caught.value) == fields


def usages_of_every_type(prices: PriceBook) -> st.SearchStrategy[Any]:
    return st.one_of([st.tuples(st.just(type_), usages(prices, types=[type_])) for type_ in TYPES.words])


@MANY
@given(of_books(usages_of_every_type))
def test_a_usage_of_every_type_has_a_price(drawn: tuple[PriceBook, Any]) -> None:
    prices, (type_, usage) = drawn
    assert prices.rate(usage).total >= 0
    assert usage["type"] == type_ or (usage["type"], type_) == ("upscale", "image")


def test_without_fields_that_change_nothing() -> None:
    book = BOOKS[0]
    bodies: Any = video_requests(book, model="kling-o3-pro-text-to-video", without_effect=False)
    with pytest.raises(Exception, match="No examples found"):
        find(bodies, lambda body: "target_fps" in body, settings=settings(database=None, max_examples=200))
    assert "target_fps" in find(video_requests(book), lambda body: "target_fps" in body)


@pytest.mark.parametrize(
    ("strategy", "simplest"),
    [
        (video_requests(BOOKS[0]), {"model": "ovi-image-to-video"}),
        (video_requests(BOOKS[0], model="veo3.1-full-text-to-video"),
         {"model": "veo3.1-full-text-to-video", "duration": "4s", "resolution": "720p"}),
        (sourced_video_requests(BOOKS[0], model="seedvr2-video-upscale").map(str),
         '{"model": "seedvr2-video-upscale"}\n  of SourceVideo(seconds=Fraction(1, 1), width=16, height=16, '
         "fps=Fraction(24, 1))"),
        (invalid_video_requests(BOOKS[0]), ({"model": "ovi-image-to-video", "duration": "0s"}, ("duration",))),
        (invalid_video_requests(BOOKS[0], model="kling-o3-pro-text-to-video"),
         ({"model": "kling-o3-pro-text-to-video"}, ("duration",))),
        (usages(BOOKS[0], types=["text"]), {"type": "text", "model": "aion-labs-aion-3-0",
         "usage": {"prompt_tokens": 0, "completion_tokens": 0}}),
        (usages(BOOKS[0], types={"rpc"}),
         {"type": "rpc", "network": "ethereum-mainnet", "calls": [{"method": "trace_replayBlockTransactions"}]}),
        (usages(BOOKS[0], model="flux-2-max-edit"), {"type": "edit", "model": "flux-2-max-edit"}),
        (usages(BOOKS[0], model="ovi-image-to-video"), {"type": "video", "model": "ovi-image-to-video"}),
    ],
)  # fmt: skip
def test_the_simplest_example_is_short(strategy: st.SearchStrategy[Any], simplest: Any) -> None:
    assert find(strategy, lambda drawn: True, settings=PLAIN) == simplest


def test_a_condition_shrinks_to_what_matters() -> None:
    model = "seedance-2-5-reference-to-video-basic"
    dear = find(video_requests(BOOKS[0], model=model), lambda body: BOOKS[0].quote_video(body).total > 5)
    assert dear.keys() <= {"model", "duration", "resolution", "aspect_ratio", "reference_video_total_duration"}


@pytest.mark.parametrize("path", sorted(SOUND.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_card_of_one_model(path: Path, tmp_path: Path) -> None:
    prices = book_of(path.stem, tmp_path)
    [(model, _)] = prices._in_effect_all()

    @settings(MANY, max_examples=30)
    @given(st.data())
    def try_it(data: st.DataObject) -> None:
        if model.type != "video":
            assert prices.rate(data.draw(usages(prices))).total >= 0
            return
        body, source = data.draw(sourced_video_requests(prices))
        assert prices.quote_video(body, source=source).total >= 0
        if path.stem not in ("source_megapixel",):
            broken, fields = data.draw(invalid_video_requests(prices))
            with pytest.raises(QuoteError) as caught:
                prices.quote_video(broken)
            assert fields_of(caught.value) == fields

    try_it()


def test_a_request_says_what_it_is() -> None:
    assert str(Request({"type": "text", "usage": {"n": [1]}, "model": None})) == (
        '{"type": "text", "usage": {"n": [1]}, "model": null}'
    )


@given(source_videos(max_seconds=3, heights=()))
@MANY
def test_source_videos_keep_to_their_limits(source: ratecard.SourceVideo) -> None:
    assert source.seconds is not None
    assert 1 <= source.seconds <= 3
    assert source.height is not None
    assert 16 <= source.height <= 4_400


BOOK = CARD.at(date(2026, 9, 29))


@pytest.mark.parametrize(
    ("strategy", "arguments", "words"),
    [
        (video_requests, {"prices": CARD}, "Expected a PriceBook, like card.at(instant), but got prices=<RateCard"),
        (usages, {"prices": None}, "Expected a PriceBook, like card.at(instant), but got prices=None"),
        (video_requests, {"prices": BOOK, "model": 5}, "Expected the name of a model but got model=5"),
        (video_requests, {"prices": BOOK, "model": "kling"}, "Got model='kling': Specified model not found: kling"),
        (invalid_video_requests, {"prices": BOOK, "model": "grok-4-3"},
         "Got model='grok-4-3', which is of type text. Allowed: video"),
        (video_requests, {"prices": BOOK, "model": "seedvr2-video-upscale"},
         "model='seedvr2-video-upscale' needs a source video. Use sourced_video_requests"),
        (usages, {"prices": BOOK, "model": "seedvr2-video-upscale"}, "usages are of models that need no source video"),
        (usages, {"prices": BOOK, "types": "text"}, "Expected some of text, embedding,"),
        (usages, {"prices": BOOK, "types": []}, "but got types=[]"),
        (usages, {"prices": BOOK, "types": ["txt"]}, "'txt' is not known. Did you mean 'text'? Allowed: text, "),
        (usages, {"prices": BOOK, "types": ["rpc"], "model": "grok-4-3"}, "which is of type text. Allowed: rpc"),
        (sourced_video_requests, {"prices": CARD.at(date(2020, 1, 1))}, "No model of type video has a price on 2020"),
        (invalid_video_requests, {"prices": BOOK, "min_fields": 0}, "at least 1 but got min_fields=0"),
        (invalid_video_requests, {"prices": BOOK, "max_fields": True}, "but got max_fields=True"),
        (invalid_video_requests, {"prices": BOOK, "min_fields": 3, "max_fields": 2},
         "Cannot have max_fields=2 < min_fields=3"),
        (source_videos, {"max_seconds": "9"}, "but got max_seconds='9'"),
        (rate_cards, {"min_models": 4}, "Cannot have max_models=3 < min_models=4"),
        (rate_cards, {"methods": ["rate"]}, "'rate' is not known."),
        (table_files, {"methods": ["rpc-credits"], "min_models": 2}, "Cannot have min_models=2 of rpc-credits"),
    ],
)  # fmt: skip
def test_a_wrong_argument(strategy: Callable[..., Any], arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        strategy(**arguments)
    assert words in str(refusal.value)


def test_a_book_whose_videos_all_need_a_source(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_bytes((SOUND / "source_megapixel.yaml").read_bytes())
    prices = ratecard.load_rate_card(tmp_path).at(date(2026, 10, 1))
    with pytest.raises(InvalidArgument, match="Every video model on 2026-10-01 needs a source video"):
        video_requests(prices)
    with pytest.raises(InvalidArgument, match="need no source video"):
        usages(prices)
