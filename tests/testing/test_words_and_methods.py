"""Every word of vocabulary.yaml with every pricing method of video: the table is refused at the word, or all laws hold.

Each table accepts the one word, of the one field. Without `make nightly` the laws are tried on the words that differ in
kind; all others are priced.
"""

from datetime import date
from typing import Any

import pytest
from every_law import try_every_law
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nightly import is_nightly
from ratecard import RateCard, TableError
from ratecard.base.money import plain, text
from ratecard.examples import price_example
from ratecard.load.folder import tables_from
from ratecard.methods import METHODS
from ratecard.tables.video import REQUEST_FIELDS, SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS
from ratecard.testing import LAWS, Case, check
from ratecard.testing.card_strategies import example_of, yaml_text
from ratecard.views.explain import explain
from ratecard.views.sheet import price_cells

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
# By method: unit, options, what every version of it accepts beside the word, and the attributes of its rate.
MADE: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]] = {
    "duration-rate": ("video_second", {}, {}, {}),
    "resolution-rate": ("video_second", {}, {}, {}),
    "fixed": ("clip", {}, {}, {}),
    "duration-resolution-rate": ("clip", {}, {}, {}),
    "token-formula": (
        "mtoken",
        {"frames_per_second": "24", "pixels_per_token": "1024", "reference_minimum": "5/3", "sizes": [SIZE]},
        {},
        {},
    ),
    "megapixel-rate": ("megapixel", {"frames": {"per_second": "24"}, "sizes": [SIZE]}, {}, {}),
    "megapixel-rate of the source": ("megapixel", {}, {"upscale_factor": ["1"]}, {}),
    "upscale-rate": (
        "video_second",
        {"frame_rate": {"from": "48", "factor": "2"}},
        {"upscale_factor": ["1"], **FPS},
        {"up_to": "any"},
    ),
    "interpolation-rate": (
        "interpolated_second",
        {"at_frame_rate": "60"},
        {"slowdown_factor": ["1"], **FPS},
        {"up_to": "any"},
    ),
}
OF_SOURCE = ("megapixel-rate of the source", "upscale-rate", "interpolation-rate")
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
    """What the table of a pair is refused for; nothing where it must be sound."""
    if word == "1 gen" and made not in PER_CLIP:
        return f"duration '1 gen' has no seconds, but {made.partition(' ')[0]} bills them"
    return ""


def files_of(table: dict[str, Any]) -> dict[str, bytes]:
    return {"made-up.yaml": yaml_text(table).encode()}


def test_every_method_of_video_is_tried_with_every_field_of_listed_words() -> None:
    methods = {name for name, method in METHODS.items() if "video" in method.types}
    assert {made.partition(" ")[0] for made in MADE} == methods
    listed = {"duration", "aspect_ratio", "resolution", "upscale_factor", "slowdown_factor"}
    assert {field for field, _ in WORDS} == listed
    assert {word for _, word in WORDS} >= KINDS


# One run for all laws of a table, as starting one takes longer than a few requests.
@settings(
    max_examples=2,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def try_a_little(card: RateCard, files: dict[str, bytes], data: st.DataObject) -> None:
    try_every_law(card, files, data)


@pytest.mark.parametrize("made", MADE)
def test_every_word_is_refused_at_its_line_or_every_law_holds(made: str) -> None:
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
        model = card.tables.models["m"]
        quote = price_example(card.unproved.at(DAY), model, model.versions[0].examples[0])
        files = files_of(table_of(made, field, word, total=text(plain(quote.total))))
        card = RateCard(tables_from(files))
        assert list(price_cells(card.at(DAY), "m")), (field, word)
        assert explain(card.at(DAY), "m").charges
        if is_nightly() or word in KINDS:
            try_a_little(card=card, files=files)


def test_every_law_holds_where_the_default_ratio_is_that_of_the_clip() -> None:
    table = table_of("token-formula", "aspect_ratio", "16:9", reference_video_total_duration={"max": "10"})
    version = table["models"][0]["versions"][0]
    version["accepts"]["aspect_ratio"].append("adaptive")
    version["defaults"] = {"aspect_ratio": "adaptive"}
    files = files_of(table)
    card = RateCard(tables_from(files))
    law = next(law for law in LAWS if law.trial.__name__ == "a_field_left_out_is_required_or_has_no_effect")
    check(law, Case(card.unproved.at(DAY), "m", files), max_examples=40)
