"""The models that a change names: by id, or by family, type or both; and those of them that it leaves out."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.tables.scalars import Frozen, Words


def known_names(models: Mapping[str, Any], families: Mapping[str, str]) -> Mapping[str, Collection[str]]:
    """Return the known names of models, families and types; `families` has the family of each model."""
    types = {model.type for model in models.values()}
    return {"model": models, "family": sorted(set(families.values())), "type": sorted(types)}


def names_of_model(model: Any, families: Mapping[str, str]) -> dict[str, str | None]:
    """Return the id, the family and the type of a model, by which selections name it."""
    return {"model": model.model, "family": families.get(model.model), "type": model.type}


def no_model(name: str, models: Collection[str]) -> str:
    """Return the message that no model has this id."""
    return f"matches nothing: no model '{name}'.{did_you_mean(name, models)} Name a model's id, as the tables have it"


class ModelNames(Frozen):
    """Models by their ids, by family, by type, or by family and type; of several names of one kind, any may hold."""

    model: Words | None = None
    family: Words | None = None
    type: Words | None = None

    @property
    def named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield (`model`, `family` or `type`, its names) for each of these keys that is written."""
        for part in ModelNames.model_fields:
            if names := getattr(self, part):
                yield part, names

    def unclear(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield (the key below the selection, message) if it does not say which models it means."""
        if not any(self.named):
            yield (), "names no models. Write one of: model, family, type"
        elif self.model and (self.family or self.type):
            yield (), "names a model, so leave out family and type"

    def fits(self, named: Mapping[str, str | None]) -> bool:
        """Return True if the model whose id, family and type are in `named` is one of these models."""
        return (
            (not self.model or named["model"] in self.model)
            and (not self.family or named["family"] in self.family)
            and (not self.type or named["type"] in self.type)
        )

    def unknown(self, known: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
        """Yield (`model`, `family` or `type`, message) for each name that is not known."""
        for part, name in ((part, name) for part, names in self.named for name in names if name not in known[part]):
            words = f"matches nothing: no {part} '{name}'.{meant_or_allowed(name, known[part])}"
            yield part, no_model(name, known[part]) if part == "model" else words

    def __str__(self) -> str:
        """Write the names for a message: `family wan or kling-v3 and type image`."""
        return " and ".join(f"{part} {' or '.join(names)}" for part, names in self.named)


def _listed(given: Any) -> Any:
    """Return a value as a list; a single value becomes a list of one."""
    return given if isinstance(given, (list, tuple)) else [given]


_Excluded = Annotated[
    tuple[ModelNames, ...],
    BeforeValidator(_listed, json_schema_input_type=ModelNames | Annotated[list[ModelNames], Field(min_length=1)]),
]


class Selection(ModelNames):
    """Models by their names, without those that `except` names: one set of names, or a list of them."""

    excluded: _Excluded = Field(default_factory=tuple, alias="except")

    def unclear(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield (the key below the selection, message) if it does not say which models it means, or leaves out."""
        yield from super().unclear()
        if self.model and self.excluded:
            yield ("except",), "except is of a family or type; beside model, leave the name out there instead"
        elif not self.excluded and "excluded" in self.model_fields_set:
            yield ("except",), "except is empty. Name a model, family or type in it, or leave it out"

    def fits(self, named: Mapping[str, str | None]) -> bool:
        """Return True if a model is named, and `except` does not leave it out."""
        return super().fits(named) and not any(names.fits(named) for names in self.excluded)

    def idle_except(self, models: Collection[Mapping[str, str | None]]) -> str:
        """Return why `except` is useless for these models: it leaves out nothing, or everything; else an empty text."""
        if not self.excluded:
            return ""
        selected = [named for named in models if super(Selection, self).fits(named)]
        model_words = f"model of {self}" if str(self) else "model"
        for names in self.excluded:
            if not any(names.fits(named) for named in selected):
                return f"except leaves nothing out: no {model_words} is of {names}. Leave it out"
        if selected and not any(self.fits(named) for named in selected):
            return f"except leaves out every {model_words}. Name fewer in it"
        return ""


class OverrideTarget(Selection):
    """What an override or a term is for: models, and of these the charges, and values of attributes, that it names."""

    charge: Words | None = None
    conditions: dict[str, Words] = Field(default_factory=dict)

    @property
    def of_whole_models(self) -> bool:
        """Return True if it names neither charges nor conditions."""
        return not (self.charge or self.conditions)
