"""Every word of vocabulary.yaml with every pricing method of video: the table is refused at the word, or all laws hold.

Each table accepts the one word, of the one field. Without `make nightly` the laws are tried on the words that differ in
kind; all others are priced.
"""

from datetime import date
from typing import Any

import pytest
from every_law import cases_of, every_law, try_a_little

from nightly import is_nightly
from ratecard import RateCard, TableError
from ratecard.base.money import plain, text
from ratecard.examples import price_example
from ratecard.load.folder import tables_from
from ratecard.methods import METHODS
from ratecard.tables.rate import Charge
from ratecard.tables.video import (
    LISTED_NUMBERS,
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    VideoCharge,
    VideoModel,
)
from ratecard.testing import LAWS, Case, check
from ratecard.testing.card_strategies import example_of, yaml_text
from ratecard.views.explain import explain
from ratecard.views.sheet import price_cells
from shipped import CARD

DAY = date(2026, 1, 1)
VIDEO = tables_from({}).vocabulary.video
WORDS = [
    (field, str(word))
    for field in REQUEST_FIELDS
    if isinstance(words := getattr(VIDEO, field, None), tuple)
    for word in words
]
KINDS = {"5s", "1 gen", *SOURCE_MATCHED_DURATIONS, *SOURCE_MATCHED_RATIOS, "16:9", "720p", "2K", "1", "2"}
SIZE: dict[str, Any] = {"size": "1000x1000"}
FPS: dict[str, Any] = {"target_fps": {"min": "16", "max": "120"}}


def words_in(part: Any) -> Any:
    """A part of a table as a person writes it."""
    if isinstance(part, dict):
        return {name: words_in(value) for name, value in part.items()}
    return [words_in(value) for value in part] if isinstance(part, list) else str(part)


def made_of(charge: VideoCharge) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]:
    """Unit, options, what every version of it accepts beside the word, and the attributes of its rate."""
    options = charge.model_dump(
        mode="json", by_alias=True, exclude=set(Charge.model_fields), exclude_none=True, exclude_defaults=True
    )
    options = words_in(options) | ({"sizes": [SIZE]} if "sizes" in options else {})
    accepted = {name: ["1"] for name in LISTED_NUMBERS if name in charge.reads}
    accepted |= FPS if "target_fps" in charge.reads else {}
    return charge.unit, options, accepted, {"up_to": "any"} if "up_to" in charge.ATTRIBUTES else {}


# By method, and by whether it counts the source video: the shipped charge with the most options.
CHARGES = [model.versions[0].charges[0] for model in CARD.tables.models.values() if isinstance(model, VideoModel)]
SHIPPED = {
    f"{charge.method} of the source" if charge.of_source else charge.method: charge
    for charge in sorted(CHARGES, key=lambda charge: len(charge.model_dump(exclude_none=True, exclude_defaults=True)))
}
MADE = {name: made_of(charge) for name, charge in SHIPPED.items()}
OF_SOURCE = [name for name, charge in SHIPPED.items() if charge.of_source]
PER_CLIP = ("fixed", "duration-resolution-rate")


def table_of(made: str, field: str, word: str, total: str = "0", **further: Any) -> dict[str, Any]:
    """A table that accepts one word of a field; where it matches a clip, reference video or a source."""
    unit, options, accepted, attributes = MADE[made]
    accepts: dict[str, Any] = {"duration": ["Auto" if made in OF_SOURCE else "5s"], "audio": "none", **accepted}
    accepts |= {field: [word], **further}
    if word in (*SOURCE_MATCHED_DURATIONS, *SOURCE_MATCHED_RATIOS) and made not in OF_SOURCE:
        accepts["reference_video_total_duration"] = {"max": "10"}
    if "sizes" in options and field in ("resolution", "aspect_ratio") and word not in SOURCE_MATCHED_RATIOS:
        options = {**options, "sizes": [{field: word, **SIZE}]}
    method = made.partition(" ")[0]
    charge: dict[str, Any] = {
        "charge": "video",
        "method": method,
        "unit": unit,
        **options,
        "rates": [{**attributes, "rate": "1"}],
    }
    version: dict[str, Any] = {"effective": str(DAY), "checked": str(DAY), "source": "made-up", "accepts": accepts}
    version |= {"charges": [charge], "rounding": {"places": "2", "mode": "half-up"}}
    example = example_of(version, "video")
    if made in OF_SOURCE:
        example = {"request": example["request"], "source": {"seconds": "1", "width": "9", "height": "9", "fps": "24"}}
        example["request"].pop("reference_video_total_duration", None)
    version["examples"] = [{**example, "total": total}]
    model = {"model": "m", "name": "M", "type": "video", "mode": "text-to-video", "currency": "USD"}
    return {"family": "made-up", "models": [{**model, "versions": [version]}]}


def refusal_of(made: str, field: str, word: str) -> str:
    """Return the reason why the table of a pair is refused; empty where it must be sound."""
    if word == "1 gen" and made not in PER_CLIP:
        return f"duration '1 gen' has no seconds, but {made.partition(' ')[0]} bills them"
    return ""


def files_of(table: dict[str, Any]) -> dict[str, bytes]:
    return {"made-up.yaml": yaml_text(table).encode()}


def test_every_method_of_video_is_tried_with_every_field_of_listed_words() -> None:
    methods = {name for name, method in METHODS.items() if "video" in method.TYPES}
    assert {made.partition(" ")[0] for made in MADE} == methods
    listed = {"duration", "aspect_ratio", "resolution", "upscale_factor", "slowdown_factor"}
    assert {field for field, _ in WORDS} == listed
    assert {word for _, word in WORDS} >= KINDS


@pytest.mark.parametrize("made", MADE)
def test_every_word_is_refused_at_its_line_or_every_law_holds(made: str) -> None:
    cases: list[Case] = []
    for field, word in WORDS:
        expected = refusal_of(made, field, word)
        try:
            card = RateCard(tables_from(files_of(table_of(made, field, word))))
        except TableError as error:
            faults = [str(fault) for fault in error.faults]
            assert expected, (field, word, faults)
            assert any(expected in fault for fault in faults), (field, word, faults)
            continue
        assert not expected, (field, word)
        model, prices = card.tables.models["m"], card._unproved.at(DAY)
        quote = price_example(prices, model, model.versions[0].examples[0])
        assert list(price_cells(prices, "m")), (field, word)
        assert explain(prices, "m").charges
        if is_nightly() or word in KINDS:
            files = files_of(table_of(made, field, word, total=text(plain(quote.total))))
            cases += cases_of(RateCard(tables_from(files)), files)
    try_a_little(every_law(cases))


def test_every_law_holds_where_the_default_ratio_is_that_of_the_clip() -> None:
    table = table_of("token-formula", "aspect_ratio", "16:9", reference_video_total_duration={"max": "10"})
    version = table["models"][0]["versions"][0]
    version["accepts"]["aspect_ratio"].append("adaptive")
    version["defaults"] = {"aspect_ratio": "adaptive"}
    files = files_of(table)
    card = RateCard(tables_from(files))
    law = next(law for law in LAWS if law.trial.__name__ == "a_field_left_out_is_required_or_has_no_effect")
    check(law, Case(card._unproved.at(DAY), "m", files), max_examples=40)
