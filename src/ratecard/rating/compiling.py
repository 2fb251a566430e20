"""What every calculator is compiled with, and how a compiled rate is found."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from decimal import Decimal

from ratecard.rating.line_item import LineItem
from ratecard.tables.charge import Charge
from ratecard.tables.rate import Rate
from ratecard.tables.selection import Combination, select
from ratecard.tables.video import VideoVersion
from ratecard.words.money import multiply, plain

# The part of a request that decides its price, with every default filled in: the shape.
Shape = Mapping[str, Any]
Calculator = Callable[[Shape], LineItem]


class CompiledRate(NamedTuple):
    """A rate with its markup applied, where it stands, and how its attributes end a SKU."""

    unit_rate: Decimal
    source: str
    words: str


@dataclass(frozen=True, slots=True)
class Compiling:
    """One charge of one version of one model, on its way to a calculator."""

    model: str
    version: VideoVersion
    charge: Charge
    per: int
    first: bool

    @property
    def sku(self) -> str:
        """The beginning of this charge's SKUs: model and method, and what sets further charges apart."""
        name = () if self.first else (slug(self.charge.charge),)
        return "-".join((self.model, *name, self.charge.method))

    @property
    def places(self) -> int:
        """How many decimal places a line's amount has at most."""
        return self.version.rounding.line_places

    def rate_of(self) -> Callable[[Shape], CompiledRate]:
        """The function that finds a shape's rate: one look-up."""
        selection = select(self.version, self.charge)
        rates = {key: self.compiled(rate, selection.attributes, key) for key, rate in selection.rates.items()}
        if not selection.attributes:
            only = rates[()]
            return lambda shape: only
        if len(selection.attributes) == 1:
            name = selection.attributes[0]
            by_value = {key[0]: rate for key, rate in rates.items()}
            return lambda shape: by_value[shape[name]]
        values = itemgetter(*selection.attributes)
        return lambda shape: rates[values(shape)]

    def compiled(self, rate: Rate, attributes: tuple[str, ...], key: Combination) -> CompiledRate:
        """A rate under one combination of attributes."""
        words = [sku_word(name, value) for name, value in zip(attributes, key, strict=True)]
        ending = "".join(f"-{word}" for word in words if word)
        return CompiledRate(plain(multiply(rate.rate, self.charge.markup)), rate.source, ending)


def slug(words: str) -> str:
    """Words as a SKU writes them.

    >>> slug("Artemis HQ"), slug("16:9")
    ('artemis-hq', '16x9')
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", re.sub(r"(?<=\d):(?=\d)", "x", words)).strip("-").lower()


def sku_word(attribute: str, value: str) -> str:
    """What a SKU says of one attribute; nothing of sound that is absent and of video that is not sent."""
    if attribute == "audio":
        return "audio" if value == "true" else ""
    if attribute == "video_input":
        return "video-input" if value == "true" else ""
    return "" if attribute == "duration" else slug(value)
