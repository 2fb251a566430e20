"""Find the models that a change names. A name that fits no model is refused, and so is an `except` without effect."""

from collections.abc import Callable, Collection, Iterator, Mapping

from ratecard.base.messages import Finding, Path
from ratecard.candidates.rates import Refusal
from ratecard.tables.card import AnyModel
from ratecard.tables.selection import ModelNames, Selection, known_names, no_model


def model_by_id(models: Mapping[str, AnyModel], name: str, path: Path) -> AnyModel:
    """Find a model by its id. Raises `Refusal`."""
    if name not in models:
        raise Refusal((path, no_model(name, models)))
    return models[name]


def selected(
    models: Mapping[str, AnyModel],
    families: Mapping[str, str],
    wanted: Selection,
    path: Path,
    *,
    day: str = "",
    priced: Callable[[AnyModel], bool] = lambda model: True,
) -> list[AnyModel]:
    """Find the models that a selection names and does not leave out, in the order of `models`.

    Parameters: `families` has the family of each model; `path` is the place of the selection in the file, for messages.
    Of a family or type, only the models that are `priced` are meant; `day` says in messages when that is, like ` on
    2027-03-01`. Models that are named by their ids are found whether they have a price or not.

    Raises `Refusal` with every name that is of no model, or of none that the other names allow, and with every `except`
    that leaves no model out.
    """
    known = known_names(models, families)
    wrong = [*_unclear(wanted, path), *(((*path, part), words) for part, words in wanted.unknown(known))]
    excluded = [(names, (*path, "except", number)) for number, names in enumerate(wanted.excluded)]
    for names, at in excluded:
        wrong += [*_unclear(names, at), *(((*at, part), words) for part, words in names.unknown(known))]
    if wrong:
        raise Refusal(*dict.fromkeys(wrong))
    has = {name: _names_of(model, families) for name, model in models.items()}
    named = [
        model
        for name, model in models.items()
        if ModelNames.fits(wanted, has[name]) and (wanted.model or priced(model))
    ]
    wrong += [
        (path, f"matches nothing: no model of {words} has a price{day}") for words in _idle(named, families, wanted)
    ]
    for names, at in excluded if not wrong else ():
        left_out = [model for model in named if names.fits(has[model.model])]
        words = f"excludes nothing: of the models of {wanted} that have a price{day}, none is of"
        wrong += [(at, f"{words} {idle}") for idle in _idle(left_out, families, names)]
    chosen = [model for model in named if wanted.fits(has[model.model])]
    if not chosen and not wrong:
        wrong.append(((*path, "except"), f"excludes every model of {wanted} that has a price{day}; nothing is left"))
    if wrong:
        raise Refusal(*dict.fromkeys(wrong))
    return chosen


def _names_of(model: AnyModel, families: Mapping[str, str]) -> dict[str, str | None]:
    return {"model": model.model, "family": families.get(model.model), "type": model.type}


def _unclear(names: ModelNames, path: Path) -> Iterator[Finding]:
    if not any(names.named):
        yield path, "names no models. Write one of: model, family, type"
    elif names.model and (names.family or names.type):
        yield path, "names a model, so leave out family and type"
    elif isinstance(names, Selection) and "excluded" in names.model_fields_set:
        if names.model:
            yield (*path, "except"), "except is of a family or type; beside model, leave the name out there instead"
        elif not names.excluded:
            yield (*path, "except"), "except is empty. Name a model, family or type in it, or leave it out"


def _idle(fitting: Collection[AnyModel], families: Mapping[str, str], names: ModelNames) -> Iterator[str]:
    """Yield each name that none of the models has, with the names beside it."""
    for part, listed in names.named:
        has = {_names_of(model, families)[part] for model in fitting}
        yield from (str(names.model_copy(update={part: (name,)})) for name in listed if name not in has)
