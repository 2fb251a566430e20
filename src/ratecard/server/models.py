"""The models as `GET /models` lists them: everything that a client needs to compute their prices.

Charges and versions are listed by the fields of their classes, so that an option of a new pricing method is listed as
soon as tables can have it.
"""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.messages import NotOffered
from ratecard.base.money import multiply, plain_text
from ratecard.methods import METHODS
from ratecard.price_book import PriceBook
from ratecard.server.answers import ListedCharge, ListedDeprecation, ListedModel, ListedPricing, ListedVersion
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Rate
from ratecard.tables.version import Model, Version
from ratecard.tables.video import VideoVersion

# Parts of `accepts` that are listed in another form.
_OTHERWISE = {"resolution_aliases", "enhancement_model"}


def listed_models(prices: PriceBook, now: date, type_: str | None = None) -> list[ListedModel]:
    """Every model (of a type) that has a price at the instant of `prices`, as far as it is known `now`."""
    models = (model for _, model in sorted(prices.tables.models.items()) if type_ in (None, model.type))
    return [
        _listed(prices, model, version, now)
        for model in models
        if not model.retired_at(prices.instant) and (version := _in_effect(model, prices.instant, now))
    ]


def listed_model(prices: PriceBook, now: date, name: str) -> ListedModel:
    """One model. Raises `QuoteError` that says why it has no price at the instant of `prices`."""
    model, _ = prices.in_effect(name)
    version = _in_effect(model, prices.instant, now)
    if version is None:
        raise QuoteError(NotOffered(f"No price for {name} on {prices.day} is announced"))
    return _listed(prices, model, version, now)


def price_change(model: Model[Any], now: date) -> dict[str, str]:
    """The headers that announce the next change of a model's prices; none where no change is announced.

    >>> from ratecard import load_rate_card
    >>> price_change(load_rate_card().tables.models["ovi-image-to-video"], date(2026, 10, 1))
    {}
    """
    for version in _announced(model, now):
        when = version.effective if isinstance(version.effective, datetime) else f"{version.effective}, 00:00 UTC"
        return {
            "x-service-model-price-change-warning": f"The prices of {model.model} change on {when}.",
            "x-service-model-price-change-date": version.effective.isoformat(),
        }
    return {}


def _is_known(version: Version, now: date) -> bool:
    """Whether a version is in effect or announced: a future one without `announced` is not listed."""
    return version.begins <= utc(now) or (version.announced is not None and utc(version.announced) <= utc(now))


def _in_effect(model: Model[Any], moment: date, now: date) -> Any:
    """The version of an instant as far as it is known; None before the first one."""
    return next((each for each in model.versions if each.begins <= utc(moment) and _is_known(each, now)), None)


def _announced(model: Model[Any], now: date, after: date | None = None) -> list[Any]:
    """The announced versions after an instant (by default now), the next one first."""
    return [each for each in reversed(model.versions) if each.begins > utc(after or now) and _is_known(each, now)]


def _listed(prices: PriceBook, model: AnyModel, version: Version, now: date) -> ListedModel:
    deprecation, retired = prices.deprecation(model.model), None
    if deprecation and model.retired:
        retired = ListedDeprecation(
            date=date.fromisoformat(deprecation.date), warning=deprecation.warning, successor=model.retired.successor
        )
    return ListedModel(
        id=model.model,
        created=int(model.versions[-1].begins.timestamp()),
        type=model.type,
        name=model.name,
        **_further(model, Model),
        **{name: value for name in ("provider", "aliases", "patterns") if (value := getattr(model, name))},
        **dict(_version(prices, model, version)),
        deprecation=retired,
        upcoming=[
            ListedVersion(**dict(_version(prices, model, each))) for each in _announced(model, now, prices.instant)
        ],
    )


def _version(prices: PriceBook, model: AnyModel, version: Version) -> Iterator[tuple[str, Any]]:
    """What a model accepts, and what that costs, in one version."""
    prices.prove(model, version)
    yield "constraints", dict(_constraints(version, prices.tables.meters))
    further = {name: value for name, value in _further(version, Version).items() if name not in ("accepts", "defaults")}
    charges = [_charge(charge, prices.tables) for charge in version.charges]
    yield (
        "pricing",
        ListedPricing(
            currency=model.currency,
            effective=version.effective,
            announced=version.announced,
            charges=charges,
            **further,
        ),
    )


def _constraints(version: Version, meters: Meters) -> Iterator[tuple[str, Any]]:
    """The allowed values by request field, or condition; those of `enhancement_model` as `topaz.models`."""
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
            method = METHODS[charge.method]
            for name in method.choices:
                words.setdefault(name, {}).update(dict.fromkeys(method.words_of(charge, name)))
        yield from ((name, tuple(values)) for name, values in words.items() if values)
        named = {name: meters.condition[name] for name in version.conditions}
        for name, each in named.items():
            yield name, tuple(dict.fromkeys(each.spellings(version.conditions[name]).values()))
        if named:
            yield "defaults", {name: each.default for name, each in named.items()}


def _charge(charge: Charge, tables: Tables) -> ListedCharge:
    unit = tables.units[charge.unit]
    every = tables.meters.by_name[unit.counts].every_usage if METHODS[charge.method].beside else None
    return ListedCharge(
        charge=charge.charge,
        method=charge.method,
        unit=unit.unit,
        counts=unit.counts,
        per=unit.per,
        rates=[_rate(rate, charge) for rate in charge.rates],
        **({} if every is None else {"every_usage": every}),
        **_further(charge, Charge),
    )


def _rate(rate: Rate, charge: Charge) -> dict[str, Any]:
    """A rate, with the markup of its charge, under its conditions."""
    own = rate.model_dump(mode="json", exclude={"attributes", "rate", "source"}, exclude_none=True)
    return {**rate.attributes, **own, "rate": plain_text(multiply(rate.rate, charge.markup))}


def _further(part: BaseModel, base: type[BaseModel]) -> dict[str, Any]:
    """What a class of tables has beyond its base, as JSON: decimals and fractions as text, sizes as two numbers."""
    return part.model_dump(mode="json", by_alias=True, exclude=set(base.model_fields), exclude_none=True)
