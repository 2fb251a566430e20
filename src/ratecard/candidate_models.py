"""Which models a change means, and whether they can be changed. Every refusal is (path into the change, message)."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date

from ratecard.candidate_rates import Refusal
from ratecard.tables.candidate import Selection
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import TextVersion
from ratecard.tables.version import Version
from ratecard.words.suggest import did_you_mean
from ratecard.words.tree import Path


def named(models: Mapping[str, AnyModel], name: str, path: Path) -> AnyModel:
    """The model of an id. Raises `Refusal`."""
    if name not in models:
        near = did_you_mean(name, models)
        raise Refusal((path, f"matches nothing: no model '{name}'.{near} Name a model's id, as the tables have it"))
    return models[name]


def selected(
    models: Mapping[str, AnyModel], families: Mapping[str, str], wanted: Selection, day: date
) -> list[AnyModel]:
    """The models of a family, a type, or both, that have a price on a day. Raises `Refusal` where there is none."""
    if wanted.family is None and wanted.type is None:
        raise Refusal((("scale",), "names no models. Write one of: model, family, type"))
    wrong = [
        *_unknown("family", wanted.family, set(families.values())),
        *_unknown("type", wanted.type, {model.type for model in models.values()}),
    ]
    if wrong:
        raise Refusal(*wrong)
    chosen = [
        model
        for name, model in models.items()
        if wanted.family in (None, families.get(name)) and wanted.type in (None, model.type)
        if model.version_on(day) and not model.retired_on(day)
    ]
    if not chosen:
        words = " and ".join(f"{part} {given}" for part, given in wanted if given)
        raise Refusal((("scale",), f"matches nothing: no model of {words} has a price on {day}"))
    return chosen


def _unknown(part: str, given: str | None, known: Collection[str]) -> Iterator[tuple[Path, str]]:
    if given is not None and given not in known:
        near, allowed = did_you_mean(given, sorted(known)), ", ".join(sorted(known))
        yield ("scale", part), f"matches nothing: no {part} '{given}'.{near} Allowed: {allowed}"


def in_effect(model: AnyModel, day: date, path: Path) -> Version:
    """The version of a model that is in effect on a day. Raises `Refusal` where there is none, and says why."""
    version = model.version_on(day)
    if version is None:
        words = f"its first version takes effect on {model.versions[-1].effective}"
    elif model.retired and model.retired_on(day):
        words = f"it is retired on {model.retired.on}"
    else:
        return version
    raise Refusal((path, f"matches nothing: {model.model} has no price on {day}; {words}"))


def users(models: Mapping[str, AnyModel], surcharge: str, day: date) -> list[str]:
    """The text models that charge by a surcharge on a day or later."""
    return sorted(
        model.model
        for model in models.values()
        for version in model.versions
        if isinstance(version, TextVersion) and surcharge in version.surcharges.values()
        if (version is model.version_on(day) or version.effective > day) and not model.retired_on(day)
    )
