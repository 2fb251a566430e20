"""What is served at one time: a rate card on one day, and all that is made of it once."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property

from ratecard.card import RateCard
from ratecard.server.encoding import encode_as
from ratecard.server.listing import models_json
from ratecard.server.refusal import JSON
from ratecard.server.revision import SERVICE_VERSION

_SECOND = 10**9


class Served:
    """A rate card, its price book of a day, and from when until when that is the book of now (nanoseconds, UTC).

    Versions take effect at 00:00 UTC and nowhere else, so a book is that of now for one UTC day.
    """

    def __init__(self, card: RateCard, now: int) -> None:
        self.card = card
        instant = datetime.fromtimestamp(now // _SECOND, UTC)
        midnight = instant.replace(hour=0, minute=0, second=0)
        self.since = int(midnight.timestamp()) * _SECOND
        self.until = int((midnight + timedelta(days=1)).timestamp()) * _SECOND
        self.book = card.at(instant)
        self.digest = card.digest
        self._models: dict[str, bytes] = {}
        # The headers of every answer, and of every model that will be retired.
        own = {"content-type": JSON, "x-service-version": SERVICE_VERSION, "x-ratecard-digest": self.digest}
        self.headers = _encoded(own)
        deprecations = {name: self.book.deprecation(name) for name in card.tables.models}
        self.deprecated = {name: _encoded(each.headers) for name, each in deprecations.items() if each}

    def models(self, encoding: str) -> bytes:
        """The answer of `GET /models` in an encoding, made when it is first asked for."""
        if encoding not in self._models:
            self._models[encoding] = encode_as(models_json(self.book), encoding)
        return self._models[encoding]

    @cached_property
    def versions(self) -> dict[str, str]:
        """The date of the version in effect of every model."""
        return {model.model: version.effective.isoformat() for model, version in self.book.in_effect_all()}

    @cached_property
    def changes_at(self) -> str | None:
        """The next instant at which some price changes, begins or ends; None where no change is known."""
        later = (each for each in self.card.boundaries() if each.timestamp() * _SECOND >= self.until)
        return next((each.isoformat() for each in later), None)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
