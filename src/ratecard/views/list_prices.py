"""The price sheet: one row for each price, with its next price, for a page that customers read."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import product
from typing import NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import text
from ratecard.base.suggestions import did_you_mean
from ratecard.line_items.conditions import RateResolver, in_words
from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.models import listed_rates
from ratecard.tables.rate import WINDOW, Conditioned
from ratecard.tables.scalars import Words
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
        family = prices.tables.families.get(model.model, "")
        for key, row in {**now, **{key: row for key, row in then.items() if begins and key not in now}}.items():
            amounts = [
                {side[key].amount} if key in side else _amounts_for(row, priced_version, prices)
                for side, priced_version in ((now, version), (then, later))
            ]
            # A row that is split on the other side has no one price there: the rows of its parts say it.
            [price, *several], [following, *parts] = amounts
            if not several or key in now:
                changed = price != following and not parts
                yield ListPrice(model, family, row.price_of, row.unit, price, following, begins if changed else None)


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


class _Row(NamedTuple):
    """A rate, a factor or a minimum of a version, in words; `charge` is empty unless it is a rate."""

    price_of: str
    unit: str
    amount: Decimal
    charge: str = ""
    attributes: Mapping[str, Words] = {}


def _prices_of(prices: PriceBook, model: AnyModel, version: Version) -> dict[Hashable, _Row]:
    """Return the rates, factors and the minimum of a version, by what they are for, however that is written."""
    prices.prove(model, version)
    rows: list[_Row] = []
    for charge in version.charges:
        per = _per(prices.tables.units[charge.unit])
        for rate in listed_rates(charge):
            values = [f"{name} {' or '.join(words)}" for name, words in rate.conditions.items()]
            # This avoids `tokens, tokens input`.
            named = [] if charge.charge in rate.conditions else [charge.charge]
            rows.append(_Row(", ".join(named + values), per, rate.amount, charge.charge, rate.conditions))
        for factor in charge.multipliers:
            rows.append(_Row(f"{charge.charge}, {in_words(factor.conditions)}: times", "", factor.factor))
    for factor in version.multipliers:
        rows.append(_Row(f"all of it, {in_words(factor.conditions)}: times", "", factor.factor))
    if isinstance(version, MeteredVersion) and version.minimum:
        rows.append(_Row("a request costs at least", "request", version.minimum))
    return {_key(row): row for row in rows}


def _key(row: _Row) -> Hashable:
    named = frozenset((name, frozenset(values)) for name, values in row.attributes.items())
    return (row.charge, named, row.unit) if row.charge else (row.price_of, row.unit)


def _amounts_for(row: _Row, version: Version | None, prices: PriceBook) -> set[Decimal | None]:
    """Return the prices in a version of what a rate of another version is for; None for what it does not sell."""
    amounts: set[Decimal | None] = set()
    charges = [charge for charge in version.charges if charge.charge == row.charge] if version else ()
    for charge, values in product(charges, product(*row.attributes.values())):
        named = dict(zip(row.attributes, values, strict=True))
        rates = [
            rate for rate in charge.rates if all(named.get(name, of[0]) in of for name, of in rate.attributes.items())
        ]
        # Of rates that name no more than these values, the one that names most holds.
        fitting = [rate for rate in rates if rate.attributes.keys() <= named.keys()]
        if fitting:
            rates = [max(fitting, key=lambda rate: len(rate.attributes))]
        stated = {name: value for name, value in named.items() if name not in (*charge.ATTRIBUTES, *WINDOW)}
        for rate in rates if _per(prices.tables.units[charge.unit]) == row.unit else ():
            if isinstance(charge, Conditioned) and isinstance(version, MeteredVersion):
                resolver = RateResolver(charge, prices.tables.meters, version.factors)
                full = resolver.in_full(stated) | stated
                factored = resolver.factored(rate, {name: full[name] for name in charge.conditions_of(rate)}, full)
                unsold = factored.unmet or version.refuses(stated, prices.tables.meters)
                amounts.add(None if unsold else factored.unit_rate)
            else:
                amounts.add(charge.unit_rate(rate))
    return amounts or {None}


def _per(unit: Unit) -> str:
    """Return a unit in words, like `million tokens` or `second of video`."""
    noun, separator, thing = unit.counts.partition(" of ")
    many = _MANY.get(unit.per, f"{unit.per:,} ")
    return f"{many}{_plural(noun) if many else noun}{separator}{thing}"


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
