"""Rows that a candidate prices as requests of another model: of retired models, or of named ones."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from ratecard.base.errors import SimulationError
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.requests.service_parameters import plain_name, split_name
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.tables.card import Tables


@dataclass(frozen=True, slots=True)
class Remapping:
    """The models that a candidate prices as other ones: `models` has the name of the replacement by the name of each.

    With `successors`, requests that a candidate no longer offers are priced at the successor that its tables name.
    """

    models: Mapping[str, str] = field(default_factory=dict, hash=False)
    successors: bool = False

    def __bool__(self) -> bool:
        return bool(self.models or self.successors)

    def check(self, cards: Iterable[RateCard]) -> None:
        """Raise `SimulationError` for a replacement that no card has."""
        known = {name for card in cards for name in card.tables.models}
        for old, new in self.models.items():
            if new not in known:
                raise SimulationError(f"remap {old}={new}: there is no model '{new}'.{did_you_mean(new, known)}")

    def check_used(self, models: Iterable[str | None]) -> None:
        """Raise `SimulationError` for a model with a replacement that is not among the `models` of the usage."""
        named = {part for model in models if model for part in (model, model.partition(":")[0])}
        for old, new in self.models.items():
            if old not in named:
                words = f"remap {old}={new}: the usage has no rows of '{old}'.{did_you_mean(old, named)}"
                raise SimulationError(words)

    def named(self, shape: UsageShape) -> UsageShape | None:
        """Return a shape with the replacement of its model, and the same parameters in its name; None without one."""
        if not self.models or shape.model is None or shape.type == "rpc":
            return None
        if (named := self.models.get(shape.model)) is not None:
            return shape._replace(model=named)
        model, suffix = split_name(shape.model)
        before, colon, rest = shape.model.partition(":")
        if colon and rest[:1] in ("", "&"):  # parameters that begin without a name
            model, suffix = before, f"{colon}{rest}"
        new = self.models.get(model) if suffix else None
        return None if new is None else shape._replace(model=f"{new}{suffix}")

    def successor(self, tables: Tables, shape: UsageShape, day: date) -> UsageShape | None:
        """Return a shape with the first successor of its model that is not retired on a day; None without one."""
        if not self.successors or shape.model is None:
            return None
        name = plain_name(tables, shape.model)
        suffix = shape.model.removeprefix(name)
        seen, model = set[str](), tables.named(name)
        while model is not None and model.retired and model.retired_at(day) and model.model not in seen:
            seen.add(model.model)
            model = tables.models.get(model.retired.successor or "")
        return shape._replace(model=f"{model.model}{suffix}") if model and model.model not in seen | {name} else None

    def pairs(self, cards: Iterable[RateCard]) -> Iterator[tuple[str, str]]:
        """Yield pairs of a model and its replacement."""
        yield from self.models.items()
        if not self.successors:
            return
        for card in cards:
            models = card.tables.models
            for name, model in models.items():
                seen = {name}
                while model.retired and (successor := models.get(model.retired.successor or "")):
                    if successor.model in seen:
                        break
                    seen.add(successor.model)
                    yield name, successor.model
                    model = successor


NO_REMAPPING = Remapping()
