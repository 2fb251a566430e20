"""Every kind of video charge has a calculator, and one that has none is named."""

from typing import Literal

import pytest

from ratecard import RateCard
from ratecard.line_items.compiling import Compiling
from ratecard.methods.method import Method
from ratecard.tables.video import VIDEO_CHARGES, VideoCharge, VideoModel


class ByWeight(VideoCharge, Method):
    """A method that nobody has written yet."""

    method: Literal["weight-rate"] = "weight-rate"


def test_every_kind_of_video_charge_is_rated_by_some_shipped_model(card: RateCard) -> None:
    videos = [model for model in card.tables.models.values() if isinstance(model, VideoModel)]
    shipped = {type(charge) for model in videos for version in model.versions for charge in version.charges}
    assert shipped == {*VIDEO_CHARGES.by_method.values()}


def test_a_charge_without_a_calculator_is_named(card: RateCard) -> None:
    model = card.tables.models["ovi-image-to-video"]
    assert isinstance(model, VideoModel)
    strange = ByWeight(charge="weight", unit="clip", rates=())
    with pytest.raises(NotImplementedError, match="no calculator for weight-rate"):
        strange.calculator(Compiling(model.model, model.versions[0], strange, 1, first=True))
