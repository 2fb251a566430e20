"""Models that are not video: text, embedding, image, edit, upscale, speech, transcription, music, surcharge, rpc."""

from typing import Any, Literal

from pydantic import Field

from ratecard.tables.limits import TierName
from ratecard.tables.metered_charges import MeteredCharge
from ratecard.tables.scalars import Integer, Text
from ratecard.tables.version import Example, Model, Version

# Which methods a model of a type may be charged by.
METHODS_OF_TYPE = {
    "text": ("tokens",),
    "embedding": ("tokens",),
    "image": ("per-image", "per-upscale"),
    "edit": ("per-image", "per-input-image"),
    "upscale": ("per-image", "per-upscale"),
    "speech": ("per-character",),
    "transcription": ("per-audio-second",),
    "music": ("per-song", "duration-band", "per-audio-second", "per-character"),
    "surcharge": ("surcharge",),
    "rpc": ("rpc-credits",),
}


class UsageExample(Example):
    """What was used, without model and type, and its total."""

    usage: dict[str, Any]


class MeteredVersion(Version):
    """A version of a model that is not video. Its amounts are exact: nothing is rounded."""

    charges: tuple[MeteredCharge, ...]
    rounding: Literal["none"]
    examples: tuple[UsageExample, ...]

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value of an attribute that a rate names, in the order of the table."""
        rates = (rate for charge in self.charges for rate in charge.rates)
        return tuple(dict.fromkeys(value for rate in rates for value in rate.attributes.get(attribute, ())))


class TextVersion(MeteredVersion):
    """A version of a text model; `surcharges` names the table of each kind of search that the model supports."""

    context_tokens: Integer | None = None
    surcharges: dict[Literal["web_search", "web_scraping", "x_search"], Text] = Field(default_factory=dict)


class TextModel(Model[TextVersion]):
    """A language model; `tier` is that of its request limits, where it is published."""

    type: Literal["text"]
    tier: TierName | None = None


class MeteredModel(Model[MeteredVersion]):
    """A model whose requests are a count of something."""

    type: Literal["embedding", "image", "edit", "upscale", "speech", "transcription", "music", "surcharge", "rpc"]
