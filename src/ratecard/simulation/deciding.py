"""What decides about the price of a model: the parts of the tables, and the days on which one of them changes."""

from collections.abc import Hashable
from datetime import date
from typing import NamedTuple

from ratecard.requests.service_parameters import split_model
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import TextVersion


class Deciding(NamedTuple):
    """The identity of all that decides (equal: the same objects), and the days of change in order."""

    identity: Hashable
    days: tuple[date, ...] = ()


def deciding(tables: Tables, name: str | None) -> Deciding:
    """What decides about a model; without a name, about RPC credits. A text model is decided by its searches too."""
    if name is not None and name not in tables.models:
        name = split_model(name)[0]
    if name is not None and name not in tables.models:  # no model of this name on any day
        return Deciding(tuple(tables.models))
    models: list[AnyModel] = [model for model in tables.models.values() if model.type == "rpc"]
    if name is not None:
        models = [tables.models[name]]
        texts = (version for version in models[0].versions if isinstance(version, TextVersion))
        searches = {search for version in texts for search in version.surcharges.values()}
        models += [tables.models[search] for search in sorted(searches)]
    days = {version.effective for model in models for version in model.versions}
    days |= {model.retired.on for model in models if model.retired} | {limits.effective for limits in tables.limits}
    shared = (id(tables.units), id(tables.vocabulary), id(tables.limits))
    return Deciding((*map(id, models), *shared), tuple(sorted(days)))
