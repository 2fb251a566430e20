"""The shipped rate card, loaded once for all tests; and every other folder of tables once for what its files hold."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, wraps

from ratecard import RateCard, load_rate_card
from ratecard.load import folder
from ratecard.tables.card import Tables

CARD = load_rate_card()


def few_models(*names: str, of_each: int = 2) -> RateCard:
    """The shipped tables with these models and some of each kind: more of them take time and show nothing new."""
    kinds = Counter[tuple[object, ...]]()
    chosen = {}
    for name, model in CARD.tables.models.items():
        kind = (model.type, bool(model.retired), *(charge.method for charge in model.versions[-1].charges))
        if model.type == "surcharge" or name in names or kinds[kind] < of_each:
            chosen[name] = model
            kinds[kind] += 1
    assert chosen.keys() >= {*names}
    return RateCard(replace(CARD.tables, models=chosen))


# These models are enough for most simulations: a roll-up and a candidate look at every model of a card.
FEW = few_models(
    "claude-opus-4-6", "claude-sonnet-4-6", "kling-o3-pro-text-to-video", "nvidia/parakeet-tdt-0.6b-v3",
    "openai-gpt-54", "openai-gpt-56-luna-pro", "tts-gemini-3-1-flash", "tts-kokoro", "wan-2.2-a14b-text-to-video",
    "wan-3-0-text-to-video", "zai-org-glm-5-2",
)  # fmt: skip

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
