"""The models that have a price, as `GET /models` lists them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.charge import Charge
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.version import Version
from ratecard.tables.video import VideoVersion
from ratecard.tables.vocabulary import Unit
from ratecard.words.money import multiply, plain, text

# What a video model accepts and what a client cannot choose by: other spellings, and whose value is no field.
_NO_FIELDS = {"resolution_aliases", "enhancement_model"}
# What a metered model may be asked for by, where its rates name it.
_CHOICES = ("resolution", "quality", "factor")


def models_json(prices: PriceBook) -> bytes:
    """`{"data": [...], "object": "list"}`: every model that has a price now, with what it costs a unit."""
    data = [_listed(prices, model, version) for model, version in prices.in_effect_all()]
    return json.dumps({"data": data, "object": "list"}, ensure_ascii=False, separators=(",", ":")).encode()


def _listed(prices: PriceBook, model: AnyModel, version: Version) -> dict[str, Any]:
    """One model. `created` is when its first prices took effect; clients of the OpenAI API read that and `owned_by`."""
    prices.card.prove(model, version)
    first = model.versions[-1].effective
    listed: dict[str, Any] = {
        "id": model.model,
        "object": "model",
        "created": int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()),
        "owned_by": "service",
        "type": model.type,
        "name": model.name,
        "constraints": dict(_constraints(version)),
        "pricing": {
            "currency": model.currency,
            "effective": version.effective.isoformat(),
            "charges": [_charge(charge, prices.card.tables.units[charge.unit]) for charge in version.charges],
        },
        "deprecation": None,
    }
    deprecation = prices.deprecation(model.model)
    if deprecation and model.retired:
        listed["deprecation"] = {
            "date": deprecation.date,
            "warning": deprecation.warning,
            "successor": model.retired.successor,
        }
    return listed


def _constraints(version: Version) -> Iterator[tuple[str, Any]]:
    """The values of each request field, by the field's name; those of `enhancement_model` as `topaz.models`."""
    if isinstance(version, VideoVersion):
        for name in type(version.accepts).model_fields:
            value = getattr(version.accepts, name)
            if value is not None and name not in _NO_FIELDS:
                yield name, value.model_dump() if isinstance(value, BaseModel) else value
        if version.accepts.enhancement_model:
            yield "topaz", {"models": version.accepts.enhancement_model}
        if version.defaults:
            yield "defaults", version.defaults
    elif isinstance(version, MeteredVersion):
        for name in _CHOICES:
            if values := version.values_of(name):
                yield name, values


def _charge(charge: Charge, unit: Unit) -> dict[str, Any]:
    """What is charged: its unit, how many of what one unit holds, and the rates, exact and so as text."""
    rates = [{**rate.attributes, "rate": text(plain(multiply(rate.rate, charge.markup)))} for rate in charge.rates]
    return {"charge": charge.charge, "unit": unit.unit, "counts": unit.counts, "per": unit.per, "rates": rates}
