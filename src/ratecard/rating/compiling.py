"""What every calculator is compiled with, and how a compiled rate is found."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.base.money import multiply, plain
from ratecard.rating.quote import LineItem
from ratecard.tables.rate import Charge, Combination, Rate, select
from ratecard.tables.video import VideoVersion

# Seconds of every duration that a table may list, so that the common case is one look-up.
SECONDS = {f"{seconds}s": Decimal(seconds) for seconds in range(1, 1_000)}

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

    def rates_by(self, *further: str) -> tuple[Callable[[Shape], Any], dict[Any, CompiledRate]]:
        """How to read a shape's attributes, and the rates by what is read: `rates[key(shape)]` is one look-up.

        `further` attributes are looked up too, though no rate names them, so that a SKU can.
        """
        selection = select(self.version, self.charge)
        names = further + selection.attributes
        rates: dict[Any, CompiledRate] = {
            (*more, *key): self.compiled(rate, names, (*more, *key))
            for more in product(*(self.version.values_of(name) for name in further))
            for key, rate in selection.rates.items()
        }
        if not names:
            return lambda shape: (), rates
        if len(names) == 1:
            rates = {key[0]: rate for key, rate in rates.items()}
        return itemgetter(*names), rates

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
    return slug(value)
