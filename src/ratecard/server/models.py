"""The models as `GET /models` lists them: everything that a client needs to compute their prices.

Charges and versions are listed by the fields of their classes, so that an option of a new pricing method is listed as
soon as tables can have it.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.messages import NotOffered
from ratecard.base.money import plain_text
from ratecard.methods import method_of
from ratecard.price_book import PriceBook, deprecation_of
from ratecard.server.schemas import (
    ListedCharge,
    ListedDeprecation,
    ListedModel,
    ListedPricing,
    ListedRate,
    ListedVersion,
)
from ratecard.tables.card import Tables, same_prices
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.models import PricedModel, listed_rates
from ratecard.tables.rate import Charge
from ratecard.tables.version import Model, Version
from ratecard.tables.video import VideoVersion

# Parts of `accepts` that are listed in another form.
_OTHERWISE = {"resolution_aliases", "enhancement_model"}


def listed_models(prices: PriceBook, now: date, type_: str | None = None) -> list[ListedModel]:
    """Return every model (of a type) that has a price at the instant of `prices`, as far as it is known `now`."""
    known_models = (_as_known(model, prices.instant, now) for model in prices.models(type_))
    return [_listed(prices, model, now) for model in known_models if model]


def listed_model(prices: PriceBook, now: date, name: str) -> ListedModel:
    """Return one model. Raises `QuoteError` that says why it has no price at the instant of `prices`."""
    model = _as_known(prices.model(name), prices.instant, now)
    if model is None:
        raise QuoteError(NotOffered(f"No price for {name} on {prices.day} is announced"))
    return _listed(prices, model, now)


def price_change(model: Model[Any], now: date) -> dict[str, str]:
    """Return the headers that announce the next change of a model's prices; empty if no change is announced.

    >>> from ratecard import load_rate_card
    >>> price_change(load_rate_card().tables.models["ovi-image-to-video"], date(2026, 10, 1))
    {}
    """
    in_effect = model.version_at(now)
    for version in _announced(model, now):
        # The prices of an account stay the same where its contract fixes what the list changes.
        if in_effect is not None and same_prices(version, in_effect):
            continue
        when = version.effective if isinstance(version.effective, datetime) else f"{version.effective}, 00:00 UTC"
        return {
            "x-service-model-price-change-warning": f"The prices of {model.model} change on {when}.",
            "x-service-model-price-change-date": version.effective.isoformat(),
        }
    return {}


def _is_known(version: Version, now: date) -> bool:
    """Return True if a version is in effect or announced: a future one without `announced` is not listed."""
    return version.begins <= utc(now) or (version.announced is not None and utc(version.announced) <= utc(now))


def _as_known(model: PricedModel, moment: date, now: date) -> PricedModel | None:
    """Return a model with its version at an instant, by what is known `now`; None before its first version."""
    begun = (dated for dated in model.versions if dated.version.begins <= utc(moment))
    return next((dated for dated in begun if _is_known(dated.version, now)), None)


def _announced(model: Model[Any], now: date, after: date | None = None) -> list[Any]:
    """Return the announced versions after an instant (by default now), the next one first."""
    later = (version for version in reversed(model.versions) if version.begins > utc(after or now))
    return [version for version in later if _is_known(version, now)]


def _listed(prices: PriceBook, model: PricedModel, now: date) -> ListedModel:
    deprecation, retired = deprecation_of(model.table, prices.instant), None
    if deprecation and model.retired:
        retired = ListedDeprecation(date=model.retired, warning=deprecation.warning, successor=model.successor)
    upcoming = (replace(model, version=version) for version in _announced(model.table, now, prices.instant))
    return ListedModel(
        id=model.model,
        created=int(model.versions[-1].version.begins.timestamp()),
        type=model.type,
        name=model.name,
        **_further(model.table, Model),
        **{name: value for name in ("provider", "aliases") if (value := getattr(model, name))},
        **({"patterns": model.table.patterns} if model.table.patterns else {}),
        **_version(prices.tables, model),
        deprecation=retired,
        upcoming=[ListedVersion(**_version(prices.tables, upcoming_model)) for upcoming_model in upcoming],
    )


def _version(tables: Tables, model: PricedModel) -> dict[str, Any]:
    version = model.version
    model.prove(model.table, version)
    further = {name: value for name, value in _further(version, Version).items() if name not in ("accepts", "defaults")}
    further |= {"effective": model.effective, "announced": version.announced}
    charges = [_charge(charge, tables) for charge in version.charges]
    pricing = ListedPricing(currency=model.currency, charges=charges, **further)
    return {"constraints": dict(_constraints(version, tables.meters)), "pricing": pricing}


def _constraints(version: Version, meters: Meters) -> Iterator[tuple[str, Any]]:
    """Return the allowed values by request field, or condition; those of `enhancement_model` as `topaz.models`."""
    if isinstance(version, VideoVersion):
        for name in type(version.accepts).model_fields:
            value = getattr(version.accepts, name)
            if value is not None and name not in _OTHERWISE:
                yield name, value.model_dump() if isinstance(value, BaseModel) else value
        if limits := version.accepts.reference_video_total_duration:
            yield "reference_video_total_duration", {**limits.model_dump(), "source_max": limits.longest_clip}
        if version.accepts.resolution_aliases:
            yield "resolution_aliases", version.accepts.resolution_aliases
        if version.accepts.enhancement_model:
            yield "topaz", {"models": version.accepts.enhancement_model}
        if version.defaults:
            yield "defaults", version.default_values
    elif isinstance(version, MeteredVersion):
        words: dict[str, dict[str, None]] = {}
        for charge in version.charges:
            method = method_of(charge)
            for name in method.CHOICES:
                words.setdefault(name, {}).update(dict.fromkeys(method.words_of(name)))
        yield from ((name, tuple(values)) for name, values in words.items() if values)
        conditions = {name: meters.condition[name] for name in version.conditions}
        for name, limit in conditions.items():
            yield name, tuple(dict.fromkeys(limit.spellings(version.conditions[name]).values()))
        if conditions or version.defaults:
            stated_defaults = {name: condition.default for name, condition in conditions.items() if condition.default}
            yield "defaults", {**version.default_values, **stated_defaults}


def _charge(charge: Charge, tables: Tables) -> ListedCharge:
    unit = tables.units[charge.unit]
    every_usage = tables.meters.by_name[unit.counts].every_usage if method_of(charge).BESIDE else None
    return ListedCharge(
        charge=charge.charge,
        method=charge.method,
        unit=unit.unit,
        counts=unit.counts,
        per=unit.per,
        rates=[ListedRate(**rate.conditions, rate=plain_text(rate.amount)) for rate in listed_rates(charge)],
        **({} if every_usage is None else {"every_usage": every_usage}),
        **_further(charge, Charge),
    )


def _further(part: BaseModel, base: type[BaseModel]) -> dict[str, Any]:
    """Return what a class of tables has beyond its base, as JSON: decimals as text, sizes as two numbers."""
    return part.model_dump(mode="json", by_alias=True, exclude=set(base.model_fields), exclude_none=True)
