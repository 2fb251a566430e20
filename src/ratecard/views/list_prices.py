"""The price sheet: one row for each price, with its next price, for a page that customers read."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import text
from ratecard.base.suggestions import did_you_mean
from ratecard.line_items.conditions import in_words
from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.models import listed_rates
from ratecard.tables.units import Unit
from ratecard.tables.version import Version

PRICE_COLUMNS = ("name", "model", "family", "type", "price of", "unit", "price", "currency", "next price", "from")
# Large numbers of a unit in the words of price pages.
_MANY = {1: "", 1_000: "1,000 ", 1_000_000: "million "}
_MARKS = frozenset("*?[")
GONE = "not offered"


class ListPrice(NamedTuple):
    """A price of a model: what it is for (`price_of`), its unit in words, and the next price with its first day.

    A factor of conditions has no unit. `price` is None for a price that begins later, `next_price` if no price follows.
    """

    model: AnyModel
    family: str
    price_of: str
    unit: str
    price: Decimal | None
    next_price: Decimal | None
    begins: date | None

    def row(self) -> dict[str, str]:
        """Return the price as text, by column."""
        later = GONE if self.next_price is None else text(self.next_price)
        cells = (self.model.name, self.model.model, self.family, self.model.type, self.price_of, self.unit)
        price = GONE if self.price is None else text(self.price)
        currency = self.model.currency if self.unit else ""
        following = (later, str(self.begins)) if self.begins else ("", "")
        return dict(zip(PRICE_COLUMNS, (*cells, price, currency, *following), strict=True))


def list_prices(prices: PriceBook, names: Sequence[str]) -> Iterator[ListPrice]:
    """Yield every price of the named models, families and patterns (`kling-*`); of all models without names.

    Each has the price in the next version of its model, and the first day of that. Raises `QuoteError` for an unknown
    name, and `TableError` for a version that contradicts its examples.
    """
    for model, version in chosen_models(prices, names):
        later = next((newer for newer in reversed(model.versions) if newer.begins > utc(prices.instant)), None)
        begins = later.effective if later else None
        if model.retired and (later is None or model.retired_at(later.effective)):
            later, begins = None, model.retired.on
        now, then = (
            {} if priced_version is None else _prices_of(prices, model, priced_version)
            for priced_version in (version, later)
        )
        for key in {**now, **(then if begins else {})}:
            family, changed = prices.tables.families.get(model.model, ""), now.get(key) != then.get(key)
            yield ListPrice(model, family, *key, now.get(key), then.get(key), begins if changed else None)


def chosen_models(prices: PriceBook, names: Sequence[str]) -> Iterator[tuple[AnyModel, Version]]:
    """Yield the named models that have a price, each once. Raises `QuoteError` for an unknown name."""
    families = prices.tables.families
    in_effect = {model.model: (model, version) for model, version in prices._in_effect_all()}
    chosen: dict[str, tuple[AnyModel, Version]] = {} if names else dict(in_effect)
    for name in names:
        matches = [
            model_name for model_name in in_effect if name == families.get(model_name) or fnmatchcase(model_name, name)
        ]
        if not matches and not _MARKS.isdisjoint(name):
            raise QuoteError(f"No model fits {name}. Name a model, a family, or a pattern like kling-*")
        if not matches and prices.tables.named(name) is None and (near := did_you_mean(name, set(families.values()))):
            raise QuoteError(f"No model or family is called {name}.{near}")
        chosen |= {model_name: in_effect[model_name] for model_name in matches}
        if not matches:
            model, version = prices.in_effect(name)
            chosen[model.model] = model, version
    yield from chosen.values()


def _prices_of(prices: PriceBook, model: AnyModel, version: Version) -> dict[tuple[str, str], Decimal]:
    """Return the rates, factors and the minimum of a version, by their description and their unit in words."""
    prices.prove(model, version)
    amounts: dict[tuple[str, str], Decimal] = {}
    for charge in version.charges:
        per = _per(prices.tables.units[charge.unit])
        for rate in listed_rates(charge):
            values = [f"{name} {' or '.join(words)}" for name, words in rate.conditions.items()]
            # This avoids `tokens, tokens input`.
            named = [] if charge.charge in rate.conditions else [charge.charge]
            amounts[", ".join(named + values), per] = rate.amount
        for factor in charge.multipliers:
            amounts[f"{charge.charge}, {in_words(factor.conditions)}: times", ""] = factor.factor
    for factor in version.multipliers:
        amounts[f"all of it, {in_words(factor.conditions)}: times", ""] = factor.factor
    if isinstance(version, MeteredVersion) and version.minimum:
        amounts["a request costs at least", "request"] = version.minimum
    return amounts


def _per(unit: Unit) -> str:
    """Return a unit in words, like `million tokens` or `second of video`."""
    noun, separator, thing = unit.counts.partition(" of ")
    many = _MANY.get(unit.per, f"{unit.per:,} ")
    return f"{many}{_plural(noun) if many else noun}{separator}{thing}"


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
