"""What a response says of a model that will be retired."""

from datetime import date
from typing import Any, NamedTuple

from ratecard.tables.version import Model


class Deprecation(NamedTuple):
    """The texts of the two headers, for a model that has a price still.

    >>> Deprecation("m is retired on 2026-11-10.", "2026-11-10").headers["x-service-model-deprecation-date"]
    '2026-11-10'
    """

    warning: str
    date: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers by their names."""
        return {
            "x-service-model-deprecation-warning": self.warning,
            "x-service-model-deprecation-date": self.date,
        }


def deprecation_of(model: Model[Any], day: date) -> Deprecation | None:
    """The texts for a model that will be retired after a day; None of any other, and of one that is retired."""
    retired = model.retired
    if retired is None or retired.on <= day:
        return None
    hint = f" Use {retired.successor} instead." if retired.successor else ""
    return Deprecation(f"{model.model} is retired on {retired.on}, 00:00 UTC.{hint}", retired.on.isoformat())
