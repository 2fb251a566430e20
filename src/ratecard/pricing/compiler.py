"""Compile versions of models into functions, once for each version of a set of tables."""

from collections.abc import Mapping
from datetime import date

from ratecard.methods.metered import Metered, Rater
from ratecard.pricing.counted import price_counted
from ratecard.pricing.text import price_text
from ratecard.pricing.video import VideoPricer, price_video
from ratecard.requests.video import api_wide_fields
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.limits import Limits, Rates
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.version import Version
from ratecard.tables.video import VideoModel, VideoVersion


class Compiler:
    """Compiles versions of one set of tables; all price books of a card share one compiler, and what it compiled."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.api_wide = api_wide_fields(tables.vocabulary.video)
        self._video: dict[tuple[str, date, Rates], VideoPricer] = {}
        # Of every other type. Text versions are compiled with the surcharges and limits in effect, so the key has them.
        self._raters: dict[tuple[object, ...], Rater | None] = {}

    def video(self, model: VideoModel, version: VideoVersion, rates: Rates) -> VideoPricer:
        """The function that quotes bodies at a video version; `rates` is what balances are worth."""
        key = (model.model, version.effective, rates)
        if key not in self._video:
            self._video[key] = price_video(model, version, self.tables, self.api_wide, rates)
        return self._video[key]

    def metered(self, model: AnyModel, version: Version, rates: Rates) -> Metered:
        """A version of a model that is not video, with what its function is compiled from."""
        if not isinstance(version, MeteredVersion):
            raise TypeError(f"{model.model} is a video model")
        return Metered(model, version, self.tables.units, self.tables.digest, rates, self.tables.meters)

    def rater(
        self,
        kind: str,
        model: AnyModel,
        version: Version,
        searches: Mapping[str, tuple[AnyModel, Version]],
        limits: Limits,
    ) -> Rater | None:
        """The function that rates usages of a type at a version; None where the model has no price for the type.

        `searches` are the surcharges in effect that a text model supports.
        """
        days = tuple(charged.effective for _, charged in searches.values())
        key = (kind, model.model, version.effective, days, limits.effective)
        if key not in self._raters:
            self._raters[key] = self._compile(kind, model, version, searches, limits)
        return self._raters[key]

    def _compile(
        self,
        kind: str,
        model: AnyModel,
        version: Version,
        searches: Mapping[str, tuple[AnyModel, Version]],
        limits: Limits,
    ) -> Rater | None:
        if not isinstance(version, MeteredVersion):
            return None
        metered = self.metered(model, version, limits.rates)
        if kind == model.type and any(isinstance(charge, Tokens) for charge in version.charges):
            surcharges = {search: self.metered(*charged, limits.rates) for search, charged in searches.items()}
            return price_text(metered, surcharges, limits.scraped_urls)
        return price_counted(metered, kind)
