"""Which lines the charges and conditions of a term are met by: those whose rates an override would be for.

An override that changes no price marks its lines: they have a list rate beside their own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from ratecard.base.errors import QuoteError
from ratecard.card import RateCard
from ratecard.contracts.checks import meets
from ratecard.line_items.quote import MINIMUM, LineItem
from ratecard.price_book import PriceBook
from ratecard.simulation.billing.skus import ModelInEffect, sold_by_sku
from ratecard.tables.contract import Contract
from ratecard.tables.monthly import Term
from ratecard.tables.selection import OverrideTarget, names_of_model

# The most marks that are kept with their compiled prices, as few terms name charges or conditions; and the most names
# of models for which a mark keeps if it can meet them, as rows may name anything.
_MOST_MARKS, _MOST_NAMES = 64, 1_000
_MARK = "mark"


class Mark:
    """The target of a term, laid over the list as an override that changes no price; `key` is the target as text."""

    def __init__(self, card: RateCard, key: str) -> None:
        self.key, self.target = key, OverrideTarget.model_validate_json(key)
        override = {"for": self.target, "factor": "1"}
        head = {"contract": _MARK, "from": "0001-01-01", "source": "the term of a month"}
        self._contract = Contract.model_validate({**head, "overrides": [override]})
        self._card = RateCard(replace(card.tables, contracts={_MARK: self._contract}), proves=False)
        self.can_meet = lru_cache(_MOST_NAMES)(self._can_meet)

    def book(self, instant: datetime) -> PriceBook:
        """Return the prices of the list at an instant, marked."""
        return self._card.under([self._contract], instant)

    def _can_meet(self, name: str) -> bool:
        """Return True if a model has a rate that the target is for, in any version, or is not known."""
        tables = self._card.tables
        if (model := tables.models.get(name)) is None:
            return True
        charges = [(version, charge) for version in model.versions for charge in version.charges]
        fits = self.target.fits(names_of_model(model, tables.families))
        return fits and meets(self.target, charges, tables.meters)


def marks_for(card: RateCard, terms: Iterable[Term]) -> Sequence[Mark]:
    """Return a mark for each target of these terms that names charges or conditions."""
    keys = dict.fromkeys(term.target_key for term in terms if not term.target.of_whole_models)
    return [_mark(card, key) for key in keys]


_mark = lru_cache(_MOST_MARKS)(Mark)


def marked_by_sku(lines: Iterable[LineItem]) -> dict[str, bool]:
    """Return whether lines of each SKU are marked, without the SKUs of which some lines are and others are not."""
    marked: dict[str, set[bool]] = {}
    for line in lines:
        if line.unit != MINIMUM:
            marked.setdefault(line.sku, set()).add(line.rate.listed is not None)
    return {sku: True in of_sku for sku, of_sku in marked.items() if len(of_sku) == 1}


def marked_skus(book: PriceBook, name: str) -> dict[str, bool]:
    """Return whether each SKU of a model is marked in a book; of a video no SKU, because it has its total alone."""
    model = book.tables.models.get(name)
    if model is None or model.type == "video":
        return {}
    try:
        sales = sold_by_sku(ModelInEffect.of(book, name))
    except QuoteError:
        return {}
    return marked_by_sku(sale.line for sold in sales.values() for sale in sold)
