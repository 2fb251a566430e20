"""What the page offers on a day, and what it says of a rate."""

from datetime import date

from small_usage import CLAUDE, KLING, OVI

import ratecard
from ratecard.whatif.draft import Choices, Draft, NewRate

DAY = date(2026, 11, 22)


def test_only_what_has_a_price_on_the_day_is_offered(card: ratecard.RateCard) -> None:
    names, earlier = Choices(card, DAY).names(), Choices(card, date(2026, 1, 1)).names()
    assert KLING in names["model"]
    assert KLING not in earlier["model"]
    assert "kling-o3" in names["family"]
    assert earlier["type"] == ["video"]
    assert not any(Choices(card, date(2000, 1, 1)).names().values())


def test_a_rate_is_offered_by_what_it_is_for(card: ratecard.RateCard) -> None:
    assert [choice.label for choice in Choices(card, DAY).rates(KLING)] == [
        "video, audio false: 0.1232 per video_second",
        "video, audio true: 0.154 per video_second",
    ]
    assert Choices(card, date(2000, 1, 1)).rates(KLING) == []
    assert Choices(card, DAY).rates("no-such-model") == []


def test_every_rate_that_is_offered_can_be_set(card: ratecard.RateCard) -> None:
    for model in (KLING, CLAUDE, "seedance-2-5-reference-to-video-basic", "crypto-rpc"):
        before = Choices(card, DAY).rates(model)
        for choice in before:
            draft = Draft(DAY.isoformat(), (NewRate(model, *choice[:2], "0.123456789", choice.word),))
            [changed] = [each for each in Choices(draft.card(card), DAY).rates(model) if each not in before]
            assert changed[:2] == choice[:2]


def test_of_a_type_families_and_models_can_be_left_out_and_of_a_family_its_models(card: ratecard.RateCard) -> None:
    choices = Choices(card, DAY)
    of_type = choices.exceptions("type", ["video"])
    assert {("family", "kling-o3"), ("model", KLING), ("model", OVI)} < {*of_type}
    assert ("model", CLAUDE) not in of_type and ("family", "") not in of_type
    of_family = choices.exceptions("family", ["kling-o3"])
    assert ("model", KLING) in of_family and {kind for kind, _ in of_family} == {"model"}
    assert ("model", OVI) not in of_family
    assert choices.exceptions("model", [KLING]) == []
