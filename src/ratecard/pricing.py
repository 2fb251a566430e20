"""One version of a video model, compiled: a body goes in, a quote comes out."""

from collections.abc import Mapping
from typing import Any

from ratecard.rating.calculators import calculator
from ratecard.rating.compiling import Compiling
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.fields import Field
from ratecard.requests.video import VideoReader
from ratecard.tables.card import Tables
from ratecard.tables.video import VideoModel, VideoVersion
from ratecard.words.money import ROUNDING, step, total


class PricedVideo:
    """The reader and the calculators of one version. Immutable; a quote costs look-ups and one multiplication a line."""

    def __init__(self, model: VideoModel, version: VideoVersion, tables: Tables, api_wide: Mapping[str, Field]) -> None:
        self.model, self.version = model, version
        self._read = VideoReader(version, api_wide).read
        self._calculators = tuple(
            calculator(Compiling(model.model, version, charge, tables.units[charge.unit].per, first=number == 0))
            for number, charge in enumerate(version.charges)
        )
        self._only = self._calculators[0] if len(self._calculators) == 1 else None
        self._step = step(version.rounding.places)
        self._digest = tables.digest

    def quote(self, body: dict[str, Any], source: SourceVideo | None = None) -> Quote:
        """The price of a body. Raises `QuoteError`."""
        shape, ignored = self._read(body, source)
        if self._only:
            line = self._only(shape)
            lines, exact = (line,), line.amount
        else:
            lines = tuple(calculate(shape) for calculate in self._calculators)
            exact = total([line.amount for line in lines])
        rounded = ROUNDING.quantize(exact, self._step)
        model = self.model
        return Quote(
            model.model, rounded, exact, model.currency, lines, self.version.effective, self._digest, ignored
        )
