"""The shipped rate card, loaded once for all tests; and every other folder of tables once for what its files hold."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, wraps

from ratecard import load_rate_card
from ratecard.load import folder
from ratecard.tables.card import Tables

CARD = load_rate_card()

Load = Callable[[Mapping[str, bytes]], Tables]


def remember_tables() -> None:
    """Make tables of the same files only once, and their digest: that is pure, and takes most of a command's time."""
    folder.tables_from = remembered(folder.tables_from)  # type: ignore[assignment]


def remembered(load: Load) -> Load:
    """The same function, which keeps the last answers. Each caller gets models and versions of its own, as if read."""

    @lru_cache(maxsize=8)
    def once(contents: tuple[tuple[str, bytes], ...]) -> Tables:
        return load(dict(contents))

    @wraps(load)
    def tables_from(contents: Mapping[str, bytes]) -> Tables:
        tables = once(tuple((name, bytes(content)) for name, content in contents.items()))
        models = {
            name: model.model_copy(update={"versions": tuple(each.model_copy() for each in model.versions)})
            for name, model in tables.models.items()
        }
        units = {name: unit.model_copy() for name, unit in tables.units.items()}
        limits = tuple(each.model_copy() for each in tables.limits)
        vocabulary = tables.vocabulary.model_copy()
        made = replace(tables, models=models, units=units, vocabulary=vocabulary, limits=limits)
        meanings = {name: (model, tables._meanings[name][1]) for name, model in models.items()}
        vars(made).update(digest=tables.digest, _meanings=meanings)
        return made

    return tables_from
