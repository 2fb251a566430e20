"""Compile versions of models into functions, once for each version of a set of tables."""

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from ratecard.base.layouts import Identity
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.metered import Metered, Rater
from ratecard.pricing.counted import price_counted
from ratecard.pricing.text import price_text, token_rates
from ratecard.pricing.video import KeptByWords, VideoPricer, price_video
from ratecard.requests.video import api_wide_fields
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.limits import Limits, Rates
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.version import AnyVersion, Version
from ratecard.tables.video import VideoModel, VideoVersion
from ratecard.tables.windows import Window, open_at, version_at_hours, windows_of


class Compiler:
    """A compiler of the versions of one set of tables. All price books of a card share it, and what it compiled."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.api_wide = api_wide_fields(tables.vocabulary.video)
        # The windows of each version; and by version and open windows, the version with only the rates that hold then.
        self._windows: dict[Identity, tuple[Window, ...]] = {}
        self._at_hours: dict[tuple[Identity, frozenset[Window]], Version] = {}
        self._video: dict[tuple[Identity, Identity, Rates], VideoPricer] = {}
        # The results of bodies by their words, for all video versions together.
        self.kept: KeptByWords = {}
        self._tokens: dict[tuple[Identity, Identity], TokenRates] = {}
        # Raters of other types. The key has the surcharges and limits in effect, with which text versions are compiled.
        self._raters = dict[tuple[object, ...], Rater | None]()

    def at_hour(self, version: AnyVersion, instant: datetime) -> AnyVersion:
        """Return a version as it is at the hour of an instant, without the rates of other hours; made once for each."""
        key_of_version = Identity(version)
        windows = self._windows.get(key_of_version)
        if windows is None:
            windows = self._windows[key_of_version] = windows_of([version])
        if not windows:
            return version
        key = (key_of_version, open_at(windows, instant))
        if key not in self._at_hours:
            self._at_hours[key] = version_at_hours(version, key[1])
        return cast(AnyVersion, self._at_hours[key])

    def video(self, model: VideoModel, version: VideoVersion, rates: Rates) -> VideoPricer:
        """Return the function that quotes bodies at a video version; `rates` has the worth of balances."""
        key = (Identity(model), Identity(version), rates)
        if key not in self._video:
            self._video[key] = price_video(model, version, self.tables, self.api_wide, rates, self.kept)
        return self._video[key]

    def metered(self, model: AnyModel, version: Version, rates: Rates) -> Metered:
        """Return a version of a model that is not video, with everything that its function is compiled from."""
        if not isinstance(version, MeteredVersion):
            raise TypeError(f"{model.model} is a video model")
        tables, listed = self.tables, None
        if tables.contract:
            listed = cast(MeteredVersion, tables.listed.models[model.model].version_at(version.begins))
        return Metered(model, version, tables.units, tables.digest, rates, tables.meters, tables.contract, listed)

    def token_rates(self, metered: Metered) -> TokenRates:
        """Return the rates of the tokens of a version that charges them."""
        key = (Identity(metered.model), Identity(metered.version))
        if key not in self._tokens:
            self._tokens[key] = token_rates(metered)
        return self._tokens[key]

    def rater(
        self,
        kind: str,
        model: AnyModel,
        version: Version,
        searches: Mapping[str, tuple[AnyModel, Version]],
        limits: Limits,
    ) -> Rater | None:
        """Return the function that rates usages of a type at a version; None where the model has no price for the type.

        `searches` are the surcharges in effect that a text model supports.
        """
        versions = tuple(Identity(charged) for _, charged in searches.values())
        key = (kind, Identity(model), Identity(version), versions, limits.effective)
        if key in self._raters:
            return self._raters[key]
        rater = None
        if isinstance(version, MeteredVersion):
            metered = self.metered(model, version, limits.rates)
            if kind == model.type and version.tokens:
                surcharges = {search: self.metered(*charged, limits.rates) for search, charged in searches.items()}
                with_parameters = self.tables.vocabulary.service_parameters
                rates = self.token_rates(metered)
                rater = price_text(metered, rates, surcharges, limits.scraped_urls, with_parameters=with_parameters)
            else:
                rater = price_counted(metered, kind)
        self._raters[key] = rater
        return rater
