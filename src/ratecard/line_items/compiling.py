"""The inputs for compiling a calculator of video, and the look-up of its rates."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.base.money import from_fraction, part_of
from ratecard.line_items.quote import LineItem, LineRate
from ratecard.tables.rate import Charge, Combination, ListRate, Rate, select
from ratecard.tables.video import LONGEST, VideoVersion

# Every duration that a table may list, with its seconds.
SECONDS = {f"{seconds}s": Decimal(seconds) for seconds in range(1, LONGEST + 1)}

# SKUs consist of few words, so this many results are enough.
_REMEMBERED = 1_000

# The part of a request that decides its price, with every default filled in.
Shape = Mapping[str, Any]
Calculator = Callable[[Shape], LineItem]
# A function from the seconds of reference video (None without any) to the line of a charge.
LineBySeconds = Callable[[Decimal | None], LineItem]


class CompiledRate(NamedTuple):
    """A rate with its markup applied, its `file:line`, and the end of its SKUs, made of its attributes.

    `listed` is the rate of the list, if this one is a contract's.
    """

    unit_rate: Decimal
    source: str
    words: str
    listed: ListRate | None = None


@dataclass(frozen=True, slots=True)
class Compiling:
    """One charge of one version of one model, to be compiled into a calculator.

    `per` is the number of counted things in one unit; `first` is True for the version's first charge.
    """

    model: str
    version: VideoVersion
    charge: Charge
    per: int
    first: bool

    @property
    def sku(self) -> str:
        """Return the start of this charge's SKUs: the model, the charge's name unless it is the first, the method."""
        name = () if self.first else (slug(self.charge.charge),)
        return "-".join((self.model, *name, self.charge.method))

    @property
    def places(self) -> int:
        """Return the most decimal places of a line's amount."""
        return self.version.rounding.line_places

    def rates_by(self, *further: str) -> tuple[Callable[[Shape], Any], dict[Any, CompiledRate]]:
        """Return a function `key` and rates, so that `rates[key(shape)]` is the rate of a shape.

        `further` attributes become part of the key, and so of the SKU, though no rate names them.
        """
        attributes, selected = select(self.version, self.charge)
        names = further + attributes
        rates: dict[Any, CompiledRate] = {
            (*more, *key): self.compiled(rate, names, (*more, *key))
            for more in product(*(self.version.values_of(name) for name in further))
            for key, rate in selected.items()
        }
        if not names:
            return lambda shape: (), rates
        if len(names) == 1:
            rates = {value: rate for (value,), rate in rates.items()}
        return itemgetter(*names), rates

    def line_rate(self, rate: CompiledRate) -> LineRate:
        """Return the rate of the lines at a compiled rate."""
        sku, unit, of_unit = f"{self.sku}{rate.words}", self.charge.unit, part_of(self.per)
        return LineRate(sku, unit, rate.unit_rate, rate.source, "", of_unit, self.places, listed=rate.listed)

    def line_of_part(self) -> Callable[[CompiledRate, Fraction, str], LineItem]:
        """Return the function (rate, units, note) -> line item, for units that need not be an exact decimal."""
        start, unit, places = self.sku, self.charge.unit, self.places

        def line(rate: CompiledRate, units: Fraction, note: str) -> LineItem:
            amount = from_fraction(units * Fraction(rate.unit_rate), places)
            line_rate = LineRate(f"{start}{rate.words}", unit, rate.unit_rate, rate.source, note, listed=rate.listed)
            return LineItem(line_rate, from_fraction(units, places), amount)

        return line

    def compiled(self, rate: Rate, attributes: tuple[str, ...], key: Combination) -> CompiledRate:
        """Apply the markup to a rate, and make the end of its SKU from one combination of attributes."""
        words = [sku_word(name, value) for name, value in zip(attributes, key, strict=True)]
        ending = "".join(f"-{word}" for word in words if word)
        return CompiledRate(self.charge.unit_rate(rate), rate.source, ending, rate.listed)


@lru_cache(_REMEMBERED)
def slug(words: str) -> str:
    """Write words as part of a SKU.

    >>> slug("Artemis HQ"), slug("16:9")
    ('artemis-hq', '16x9')
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", re.sub(r"(?<=\d):(?=\d)", "x", words)).strip("-").lower()


def sku_word(attribute: str, value: str) -> str:
    """Write one attribute as part of a SKU; empty for a clip without sound, or a request without input video."""
    if attribute in ("audio", "video_input"):
        return slug(attribute) if value == "true" else ""
    return slug(value)
