"""Strategies: random valid tables of every method, written as YAML and read by the loader."""

from collections.abc import Collection
from typing import Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.card import RateCard
from ratecard.examples import price_example
from ratecard.load.folder import LIMITS, UNITS, VOCABULARY, shipped_folder, tables_from
from ratecard.testing.arguments import check_range, check_words
from ratecard.testing.example_requests import example_of
from ratecard.testing.metered_tables import VERSIONS as METERED_VERSIONS
from ratecard.testing.table_parts import Draft, some
from ratecard.testing.video_tables import VERSIONS as VIDEO_VERSIONS
from ratecard.testing.yaml_writer import yaml_text
from ratecard.words.money import plain, text

METHODS = (*VIDEO_VERSIONS, *METERED_VERSIONS)
FIRST_DAY, SECOND_DAY = "2026-01-01", "2026-07-01"
_RPC = "rpc-credits"
_NAME = "tables.yaml"
_SEARCHES = ("web_search", "web_scraping", "x_search")


def rate_cards(
    *, methods: Collection[str] | None = None, min_models: int = 1, max_models: int = 3
) -> st.SearchStrategy[RateCard]:
    """Rate cards of a few models, of some pricing methods or of all.

    Every model has a price from 2026-01-01 on, and perhaps another one from 2026-07-01 on. Shrinks to one model with
    one rate of 1; the YAML is shown with a failing example.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5, deadline=None)
    ... @given(rate_cards(methods=["tokens", "surcharge"]))
    ... def every_card_names_its_tables(card):
    ...     assert len(card.digest) == 16
    >>> every_card_names_its_tables()
    """
    return table_files(methods=methods, min_models=min_models, max_models=max_models).map(card_of)


def table_files(
    *, methods: Collection[str] | None = None, min_models: int = 1, max_models: int = 3
) -> st.SearchStrategy[dict[str, bytes]]:
    """As `rate_cards`, as the bytes of a file by its name, to be written into a folder. Every example is right."""
    check_range("min_models", min_models, "max_models", max_models)
    known = check_words("methods", methods, METHODS)
    if known == (_RPC,) and min_models > 1:
        raise InvalidArgument(f"Cannot have min_models={min_models} of {_RPC}: a usage does not name its model")
    drawn = st.lists(st.sampled_from(known), min_size=min_models, max_size=max_models)
    return drawn.filter(lambda methods: methods.count(_RPC) < 2).flatmap(_files)


def card_of(files: dict[str, bytes]) -> RateCard:
    """The card of these files, with the shipped units and vocabulary."""
    shared = {name: (shipped_folder() / name).read_bytes() for name in (UNITS, VOCABULARY, LIMITS)}
    return RateCard(tables_from(shared | files))


@st.composite
def _files(draw: st.DrawFn, methods: list[str]) -> dict[str, bytes]:
    models = [draw(_models(method, f"model-{number}")) for number, method in enumerate(methods, 1)]
    searches = [model["model"] for model in models if model["type"] == "surcharge"]
    for model in models:
        if model["type"] == "text" and searches:
            for version in model["versions"]:
                version["surcharges"] = {kind: draw(st.sampled_from(searches)) for kind in draw(some(_SEARCHES))}
    family = {"family": "made-up", "models": models}
    # Read once to know what the examples cost, which a person would work out by hand.
    card = card_of({_NAME: yaml_text(family).encode()})
    for model in models:
        found = card.tables.models[model["model"]]
        for version, draft in zip(found.versions, model["versions"], strict=True):
            quote = price_example(card.unproved.at(version.effective), found, version.examples[0])
            draft["examples"][0]["total"] = text(plain(quote.total))
    written = yaml_text(family)
    note(written)
    return {_NAME: written.encode()}


@st.composite
def _models(draw: st.DrawFn, method: str, name: str) -> Draft:
    model: dict[str, Any] = {"model": name, "name": name.title()}
    if method in VIDEO_VERSIONS:
        mode, made = VIDEO_VERSIONS[method]
        model |= {"type": "video", "mode": mode}
        versions = made(method)
    else:
        kinds, made = METERED_VERSIONS[method]
        model["type"] = draw(st.sampled_from(kinds))
        versions = made(model["type"])
    model["currency"] = draw(st.sampled_from(("USD", "EUR")))
    days = [SECOND_DAY, FIRST_DAY] if draw(st.booleans()) else [FIRST_DAY]
    model["versions"] = [_dated(draw(versions), day, model["type"]) for day in days]
    return model


def _dated(version: Draft, day: str, kind: str) -> Draft:
    head = {"effective": day, "checked": day, "source": "made-up"}
    return head | version | {"examples": [example_of(version, kind) | {"total": "0"}]}
