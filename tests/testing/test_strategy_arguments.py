"""A wrong argument is named at once, with what is allowed."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis.errors import InvalidArgument

import ratecard
from ratecard.testing import (
    invalid_video_requests,
    rate_cards,
    source_videos,
    sourced_video_requests,
    table_files,
    usages,
    video_requests,
)
from shipped import CARD

BOOK = CARD.at(date(2026, 9, 29))
SOUND = Path(__file__).parent.parent / "tables" / "sound"


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
