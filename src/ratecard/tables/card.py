"""All tables of a folder: models, units and vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated

from pydantic import Field

from ratecard.tables.limits import Limits
from ratecard.tables.metered import MeteredModel, TextModel
from ratecard.tables.scalars import Frozen, Text
from ratecard.tables.video import VideoModel
from ratecard.tables.vocabulary import Unit, Vocabulary

AnyModel = Annotated[VideoModel | TextModel | MeteredModel, Field(discriminator="type")]


class Family(Frozen):
    """One file of models that are priced alike."""

    family: Text
    models: tuple[AnyModel, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Every table of a folder, checked, at one digest of what they mean."""

    models: Mapping[str, AnyModel]
    units: Mapping[str, Unit]
    vocabulary: Vocabulary
    limits: tuple[Limits, ...]
    digest: str
    # The family and the file of every model.
    families: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    # Versions that a candidate proposes: (model, effective date).
    proposed: frozenset[tuple[str, date]] = frozenset()
    # Those of them with which the prices before a candidate hold again.
    restored: frozenset[tuple[str, date]] = frozenset()
