"""The rate card (all tables at one digest) and the price book (a card compiled for one instant)."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ratecard.load.folder import load_tables
from ratecard.pricing import Pricer, price_video
from ratecard.rating.quote import Quote
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.body import Body, read_body
from ratecard.requests.video import refuse_without_model
from ratecard.requests.video_fields import api_wide_fields
from ratecard.tables.card import Tables
from ratecard.tables.video import VideoModel, VideoVersion
from ratecard.words.errors import InstantError, QuoteError
from ratecard.words.suggest import suggestions
from ratecard.words.wording import echo


def load_rate_card(folder: str | Path | None = None) -> "RateCard":
    """The rate card of a folder of tables; the shipped tables where none is named.

    Raises `TableError` with every fault of the folder, each with its `file:line`.

    >>> load_rate_card().at(date(2026, 10, 1)).quote_video(b'{"model": "ovi-image-to-video"}').to_json()
    b'{"quote":0.22}'
    """
    return RateCard(load_tables(folder))


class RateCard:
    """All tables at one digest. Immutable; `at(instant)` gives the prices in effect then."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.api_wide = api_wide_fields(tables.vocabulary.video)
        # Compiled versions, shared by every price book of this card.
        self._compiled: dict[tuple[str, date], Pricer] = {}

    @property
    def digest(self) -> str:
        """Names what the tables mean: not their order, comments or line numbers."""
        return self.tables.digest

    def at(self, instant: datetime | date) -> "PriceBook":
        """The price book in effect at an aware instant; a date means its 00:00 UTC.

        Raises `InstantError` for a datetime without a time zone.
        """
        return PriceBook(self, _day(instant))

    def compiled(self, model: VideoModel, version: VideoVersion) -> Pricer:
        """The function that quotes at a version, made once and shared by every book of this card."""
        key = (model.model, version.effective)
        if key not in self._compiled:
            self._compiled[key] = price_video(model, version, self.tables, self.api_wide)
        return self._compiled[key]


class PriceBook:
    """A rate card compiled for one instant: immutable, pure, what a server holds."""

    __slots__ = ("_video", "card", "day")

    def __init__(self, card: RateCard, day: date) -> None:
        self.card, self.day = card, day
        self._video: dict[str, Pricer] = {}

    def in_effect_all(self) -> Iterator[tuple[VideoModel, VideoVersion]]:
        """Every model that has a price at this instant with its version in effect, by name."""
        for _, model in sorted(self.card.tables.models.items()):
            version = model.version_on(self.day)
            if version and not model.retired_on(self.day):
                yield model, version

    def quote_video(self, body: Body, *, source: SourceVideo | None = None) -> Quote:
        """The quote of a body of `POST /video/quote`: a mapping, or JSON as bytes or text.

        `source` is what is known of the video to process (upscale, interpolation, source-matched ratios). Amounts are
        in the model's currency; the total is rounded once, as its table says. Raises `QuoteError` and nothing else.

        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
        >>> quote.total, quote.lines[0].unit_rate
        (Decimal('0.77'), Decimal('0.154'))
        """
        fields = read_body(body)
        try:
            quote = self._video[fields["model"]]
        except (KeyError, TypeError):
            quote = self._find(fields)
        return quote(fields, source)

    def in_effect(self, name: str) -> tuple[VideoModel, VideoVersion]:
        """A model and its version in effect. Raises `QuoteError` for one that has no price now, and says why."""
        model = self.card.tables.models.get(name)
        if model is None:
            near = suggestions(name, (known.model for known, _ in self.in_effect_all()))
            hint = f". Did you mean: {', '.join(near)}?" if near else ""
            raise QuoteError(f"Specified model not found: {echo(name)}{hint}")
        if model.retired is not None and model.retired_on(self.day):
            hint = f" Use {model.retired.successor} instead." if model.retired.successor else ""
            raise QuoteError(f"Specified model not found: {name}. It was retired on {model.retired.on}.{hint}")
        version = model.version_on(self.day)
        if version is None:
            first = model.versions[-1].effective
            raise QuoteError(f"No price for {name} on {self.day}. Its first version takes effect on {first}.")
        return model, version

    def _find(self, fields: dict[str, Any]) -> Pricer:
        name = fields.get("model")
        if not isinstance(name, str):
            refuse_without_model(fields, self.card.api_wide)
        quote = self._video[name] = self.card.compiled(*self.in_effect(name))
        return quote


def _day(instant: datetime | date) -> date:
    if isinstance(instant, datetime):
        if instant.tzinfo is None or instant.utcoffset() is None:
            raise InstantError(f"{instant!r} has no time zone. Write an aware instant, like datetime(..., tzinfo=UTC)")
        try:
            return instant.astimezone(UTC).date()
        except OverflowError:
            return instant.date()
    if isinstance(instant, date):
        return instant
    raise InstantError(f"{instant!r} is not a datetime or a date")
