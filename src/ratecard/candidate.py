"""A candidate laid over tables: new immutable tables, with a new version of every model that it changes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ratecard.load.candidate_file import CandidateFile
from ratecard.tables.candidate import Add, Candidate, Retire, Scale, SetRate
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.charge import Charge
from ratecard.tables.digest import digest
from ratecard.tables.rate import Rate
from ratecard.tables.version import Retirement, Version
from ratecard.words.errors import TableError
from ratecard.words.money import multiply, places_of, plain, text
from ratecard.words.suggest import did_you_mean

_PLACES = 12
Replace = Callable[[Charge, Rate], Rate | None]


class RefusalError(Exception):
    """Why a change cannot be made."""


def with_candidate(tables: Tables, file: CandidateFile) -> Tables:
    """The tables as they would be. The base stays as it is.

    A change that matches nothing, or changes nothing, is an error at its line. Raises `TableError` with all of them.
    """
    models, faults = dict(tables.models), []
    families = dict(tables.families)
    proposed = set(tables.proposed)
    for index, change in enumerate(file.candidate.changes):
        try:
            for model in _changed(models, families, proposed, file, index, change):
                models[model.model] = model
                proposed.add((model.model, file.candidate.effective))
                if isinstance(change, Add):
                    families[model.model] = change.family
        except RefusalError as refusal:
            faults.append(file.fault(index, str(refusal)))
    if faults:
        raise TableError(faults)
    parts = [*models.values(), *tables.units.values(), tables.vocabulary, *tables.limits]
    return replace(tables, models=models, families=families, proposed=frozenset(proposed), digest=digest(parts))


def _changed(
    models: dict[str, AnyModel],
    families: dict[str, str],
    proposed: set[tuple[str, Any]],
    file: CandidateFile,
    index: int,
    change: SetRate | Scale | Retire | Add,
) -> Iterator[AnyModel]:
    candidate, place = file.candidate, file.place(index)
    match change:
        case Add():
            model = file.added(index)
            if model.model in models:
                raise RefusalError(f"model '{model.model}' is in the tables already; use set or scale")
            yield model
        case Retire():
            model = _model(models, change.retire)
            if model.retired and model.retired.on <= candidate.effective:
                raise RefusalError(f"{model.model} is retired already, on {model.retired.on}")
            yield model.model_copy(update={"retired": Retirement(on=candidate.effective, successor=change.successor)})
        case SetRate():
            model = _model(models, change.set)
            yield _with_version(model, candidate, proposed, lambda charge, rate: _set(charge, rate, change, place))
        case Scale():
            chosen = _chosen(models, families, change, candidate)
            for model in chosen:
                yield _with_version(model, candidate, proposed, lambda _, rate: _scaled(rate, change.factor, place))


def _model(models: dict[str, AnyModel], name: str) -> AnyModel:
    if name not in models:
        raise RefusalError(f"matches nothing: no model '{name}'.{did_you_mean(name, models)}")
    return models[name]


def _chosen(
    models: dict[str, AnyModel], families: dict[str, str], change: Scale, candidate: Candidate
) -> list[AnyModel]:
    """The models that a factor applies to, as far as they have a price on the candidate's date."""
    wanted = change.scale
    if sum(part is not None for part in (wanted.model, wanted.family, wanted.type)) != 1:
        raise RefusalError("scale names one of: model, family, type")
    if wanted.model is not None:
        return [_model(models, wanted.model)]
    day = candidate.effective
    found = [
        model
        for model in models.values()
        if wanted.family in (None, families.get(model.model)) and wanted.type in (None, model.type)
        if model.version_on(day) and not model.retired_on(day)
    ]
    if not found:
        known = set(families.values()) if wanted.family else {model.type for model in models.values()}
        near = did_you_mean(wanted.family or wanted.type or "", known)
        raise RefusalError(f"matches nothing on {day}: no model of {wanted.family or wanted.type}.{near}")
    return found


def _with_version(model: AnyModel, candidate: Candidate, proposed: set[tuple[str, Any]], change: Replace) -> AnyModel:
    day = candidate.effective
    base = model.version_on(day)
    if base is None or model.retired_on(day):
        raise RefusalError(f"matches nothing: {model.model} has no price on {day}")
    if base.effective == day and (model.model, day) not in proposed:
        raise RefusalError(f"{model.model} has a version from {day} already; choose a later date")
    charges, touched = [], 0
    for charge in base.charges:
        rates = tuple((change(charge, rate) or rate) for rate in charge.rates)
        touched += sum(new is not old for new, old in zip(rates, charge.rates, strict=True))
        charges.append(charge.model_copy(update={"rates": rates}))
    if not touched:
        raise RefusalError(f"changes nothing of {model.model}")
    version = base.model_copy(
        update={
            "effective": day,
            "announced": candidate.announced,
            "source": f"candidate {candidate.candidate}: {candidate.why}",
            "charges": tuple(charges),
        }
    )
    others: list[Version] = [each for each in model.versions if each.effective != day]
    versions = sorted([version, *others], key=lambda each: each.effective, reverse=True)
    return model.model_copy(update={"versions": tuple(versions)})


def _set(charge: Charge, rate: Rate, change: SetRate, place: str) -> Rate | None:
    if change.charge not in (None, charge.charge):
        return None
    for name, wanted in change.where.items():
        has = rate.attributes.get(name)
        if has is None or not set(has) & set(wanted):
            return None
        if not set(has) <= set(wanted):
            together = ", ".join(has)
            raise RefusalError(f"the rate at {rate.source} is for {name} {together}; name them all, or split its line")
    return None if rate.rate == change.rate else _moved(rate, change.rate, place)


def _scaled(rate: Rate, factor: Any, place: str) -> Rate | None:
    amount = plain(multiply(rate.rate, factor))
    if places_of(amount) > _PLACES:
        raise RefusalError(f"{text(rate.rate)} ({rate.source}) x {text(factor)} has more than {_PLACES} decimal places")
    return None if amount == rate.rate else _moved(rate, amount, place)


def _moved(rate: Rate, amount: Any, place: str) -> Rate:
    return rate.model_copy(update={"rate": amount, "source": place})
