"""Audio: characters, seconds and songs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any, ClassVar, Literal

from ratecard.base.messages import Finding, NotOffered, too_big, too_small
from ratecard.line_items.quote import LineItem
from ratecard.methods.metered import Metered
from ratecard.methods.method import ANY_NUMBER, AUDIO_BODY, MOST_COUNTED, Method, Samples, UsageReading, least_charged
from ratecard.requests.fields import Field, WholeNumber, WholeSeconds
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Conditioned, CountedCharge, Rate

_BAND = re.compile(r"(\d{1,6})\.\.(\d{1,6})", re.ASCII)
_CHARACTERS, _WHOLE_SECONDS = WholeNumber(0, MOST_COUNTED), WholeSeconds(1, MOST_COUNTED)
# Fields of music and of every body of audio: those that are not billed have no effect.
_SOUND: Mapping[str, Field] = {"duration_seconds": _WHOLE_SECONDS, "character_count": _CHARACTERS}


class _OneCount(CountedCharge, Method):
    """A charge of one count, in a field of its own for each of its two types."""

    KINDS: ClassVar = (AUDIO_BODY,)
    SEVERAL: ClassVar = True
    # The check of each of its `NUMBERS`, in the order of its `TYPES`.
    CHECKS: ClassVar[tuple[Field, Field]]
    # The charged count of a sample, in the order of its `TYPES`.
    SAMPLES: ClassVar = (1, 1)

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the count; in music and bodies of audio, the other count has no effect."""
        at = int(kind != self.TYPES[0])
        field, count, sku = self.NUMBERS[at], metered.counter(self), metered.unit_sku(self)
        fields = {field: self.CHECKS[at]} | {name: other for name, other in _SOUND.items() if at and name != field}
        inert = tuple(name for name in fields if name != field)
        return UsageReading(lambda shape: [count(shape[field], self.rates[0], sku)], fields, {}, (field,), inert)

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        at = int(type_ != self.TYPES[0])
        yield {self.NUMBERS[at]: least_charged(self, self.SAMPLES[at])}


class PerCharacter(_OneCount):
    """Characters spoken or set to music."""

    METERS: ClassVar = ("character",)
    TYPES: ClassVar = ("speech", "music")
    NUMBERS: ClassVar = ("characters", "character_count")
    CHECKS: ClassVar = (_CHARACTERS, _CHARACTERS)
    SAMPLES: ClassVar = (1_000_000, 1_000)
    method: Literal["per-character"]

    def typical(self, usages: Iterable[dict[str, Any]], chance: Random) -> Samples:
        """Yield a paragraph."""
        for usage in usages:
            yield {name: 700 if name in self.NUMBERS else value for name, value in usage.items()}


class PerAudioSecond(_OneCount):
    """Seconds of audio, heard or made."""

    METERS: ClassVar = ("second of audio",)
    TYPES: ClassVar = ("transcription", "music")
    NUMBERS: ClassVar = ("seconds", "duration_seconds")
    CHECKS: ClassVar = (ANY_NUMBER, _WHOLE_SECONDS)
    method: Literal["per-audio-second"]

    def typical(self, usages: Iterable[dict[str, Any]], chance: Random) -> Samples:
        """Yield a recording of some minutes, and sounds from an effect to a minute of music."""
        for usage in usages:
            typical = {"seconds": (Decimal(150),), "duration_seconds": (5, 10, 30, 60)}
            yield from ({**usage, name: count} for name in typical if name in usage for count in typical[name])


class PerSong(Conditioned, Method):
    """One price per song."""

    METERS: ClassVar = ("song",)
    TYPES: ClassVar = ("music",)
    KINDS: ClassVar = (AUDIO_BODY,)
    method: Literal["per-song"]

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read no field, because no field has an effect."""
        count, sku = metered.counter(self), f"{metered.model.model}-fixed"
        return UsageReading(lambda shape: [count(1, self.rates[0], sku)], _SOUND, inert=tuple(_SOUND))


class DurationBand(Conditioned, Method):
    """One price per song, by the band of its seconds: `{seconds: 61..120, rate: 1.38}`."""

    ATTRIBUTES: ClassVar = ("seconds",)
    METERS: ClassVar = ("song",)
    TYPES: ClassVar = ("music",)
    KINDS: ClassVar = (AUDIO_BODY,)
    method: Literal["duration-band"]

    def check(self, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Find invalid bands, and bands that overlap."""
        findings = list(super().check(version, type_, meters))
        yield from findings
        bands = []
        for index, rate in enumerate(self.rates if not findings else ()):
            for value in rate.attributes.get("seconds", ("",)):
                edges = band(value)
                if edges is None:
                    words = f"seconds '{value}' is not a band. Write its first and last second, like 61..120"
                    yield ("rates", index, "seconds"), words
                else:
                    bands.append((edges, index))
        for (one, _), (other, index) in pairwise(sorted(bands)):
            if other[0] <= one[1]:
                words = f"seconds {other[0]}..{other[1]} overlaps {one[0]}..{one[1]}; let it begin at {one[1] + 1}"
                yield ("rates", index, "seconds"), words

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the seconds, which choose the band."""
        bands, count, model = bands_of(self), metered.counter(self), metered.model.model
        least = bands[0][0][0]

        def lines(shape: Mapping[str, Any]) -> list[LineItem]:
            last, rate = next((edges[1], rate) for edges, rate in bands if shape["duration_seconds"] <= edges[1])
            return [count(1, rate, f"{model}-duration-based-{last}s")]

        fields = {**_SOUND, "duration_seconds": BandSeconds(edges for edges, _ in bands)}
        return UsageReading(lines, fields, {"duration_seconds": least}, inert=("character_count",))

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield the longest song of each band."""
        for rate in self.rates:
            yield from (
                {"duration_seconds": edges[1]} for value in rate.attributes["seconds"] if (edges := band(value))
            )

    def edges(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield the shortest song of each band."""
        return ({"duration_seconds": first} for (first, _), _ in bands_of(self))


def band(text: str) -> tuple[int, int] | None:
    """Read `61..120` as its first and last second; None if it is not a band."""
    match = _BAND.fullmatch(text)
    return (int(match[1]), int(match[2])) if match and int(match[1]) <= int(match[2]) else None


def bands_of(charge: DurationBand) -> list[tuple[tuple[int, int], Rate]]:
    """Return the bands of a checked charge with their rates, rising."""
    rows = [(band(value), rate) for rate in charge.rates for value in rate.attributes["seconds"]]
    return sorted(((edges, rate) for edges, rate in rows if edges), key=lambda row: row[0])


class BandSeconds(WholeSeconds):
    """Whole seconds within one of the bands."""

    def __init__(self, bands: Iterable[tuple[int, int]]) -> None:
        self.bands = sorted(bands)
        super().__init__(1, MOST_COUNTED)

    def accept(self, given: object) -> int | None:
        """Return the seconds; None if no band has them."""
        number = super().accept(given)
        return number if number is not None and any(first <= number <= last for first, last in self.bands) else None

    def messages(self, given: object) -> list[str]:
        """Return the reasons why the seconds are wrong."""
        if words := super().messages(given):
            return words
        number, least, most = super().accept(given) or 0, self.bands[0][0], self.bands[-1][1]
        outside = too_small(least) if number < least else too_big(most) if number > most else None
        return [NotOffered(outside or f"No price for {number} s")]
