"""What the page offers on a day, and what it says of a rate."""

from datetime import date

from small_usage import CLAUDE, KLING

import ratecard
from ratecard.whatif.choices import names_of, rates_on
from ratecard.whatif.draft import Draft, NewRate

DAY = date(2026, 11, 22)


def test_only_what_has_a_price_on_the_day_is_offered(card: ratecard.RateCard) -> None:
    names, earlier = names_of(card, DAY), names_of(card, date(2026, 1, 1))
    assert KLING in names["model"]
    assert KLING not in earlier["model"]
    assert "kling-o3" in names["family"]
    assert earlier["type"] == ["video"]
    assert not any(names_of(card, date(2000, 1, 1)).values())


def test_a_rate_is_offered_by_what_it_is_for(card: ratecard.RateCard) -> None:
    assert [choice.label for choice in rates_on(card, DAY, KLING)] == [
        "video, audio false: 0.1232 per video_second",
        "video, audio true: 0.154 per video_second",
    ]
    assert rates_on(card, date(2000, 1, 1), KLING) == []
    assert rates_on(card, DAY, "no-such-model") == []


def test_every_rate_that_is_offered_can_be_set(card: ratecard.RateCard) -> None:
    for model in (KLING, CLAUDE, "seedance-2-5-reference-to-video-basic", "crypto-rpc"):
        before = rates_on(card, DAY, model)
        for choice in before:
            draft = Draft(DAY.isoformat(), (NewRate(model, *choice[:2], "0.123456789", choice.word),))
            [changed] = [
                each for each in rates_on(draft.card(card), DAY, model) if each not in rates_on(card, DAY, model)
            ]
            assert changed[:2] == choice[:2]
