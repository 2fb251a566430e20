"""The requests behind a SKU of a billing export: all requests of a version whose quote has a line with that SKU.

A video clip is billed at its total, so its requests are found by their total. If two versions differ in more than
rates, a SKU does not say what its requests would cost.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.money import text
from ratecard.line_items.quote import MINIMUM, LineItem, Quote
from ratecard.methods.samples import edge_usages, unit_usages
from ratecard.price_book import PriceBook
from ratecard.review.difference import TermChange
from ratecard.review.rates import Terms, rate_changes, term_changes, terms_of
from ratecard.review.sides import Priceable
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.views.sheet import Cell, price_cells


class ModelInEffect(NamedTuple):
    """A model that has a price in a book, with its version there."""

    book: PriceBook
    model: AnyModel
    version: Any

    @classmethod
    def of(cls, book: PriceBook, name: str) -> "ModelInEffect":
        """Return a model in effect. Raises `QuoteError` with the reason if it has no price."""
        model, version = book.in_effect(name)
        return cls(book, model, book._at_hour(version))


class SkuSale(NamedTuple):
    """A request, and its line of one SKU."""

    request: Mapping[str, Any]
    line: LineItem


def model_of(book: PriceBook, named: str, sku: str) -> str:
    """Return the model that a row names, else the one with the longest name that the SKU begins with.

    A search that a text model makes is charged by the rates of the search.
    """
    models = book.tables.models
    if named in models:
        version = models[named].version_at(book.instant)
        searches = version.searches.values() if version else ()
        return next((search for search in searches if sku.startswith(f"{search}-")), named)
    return max((name for name in models if sku.startswith(f"{name}-")), key=len, default=named)


def sold_by_sku(in_effect: ModelInEffect) -> dict[str, list[SkuSale]]:
    """Return every SKU of a version that is not video, with a request for each way in which it is charged."""
    sales: dict[str, list[SkuSale]] = {}
    for request in _requests(in_effect.model, in_effect.version, in_effect.book.tables):
        try:
            quote = in_effect.book.rate(request)
        except QuoteError:
            continue  # a combination that has no price
        # The minimum adds a different amount to each request, so that it has no rate.
        for line in (line for line in quote.lines if line.unit != MINIMUM):
            sales.setdefault(line.sku, []).append(SkuSale(request, line))
    return sales


def _requests(model: AnyModel, version: MeteredVersion, tables: Tables) -> Iterator[dict[str, Any]]:
    """Yield every request that may have its own rate; a value that is left out may have another meaning later."""
    yield from unit_usages(model, version, tables)
    yield {"type": model.type, "model": model.model}
    yield from edge_usages(model, version, tables)


def line_in(sku: str, sold: list[SkuSale], now: ModelInEffect) -> LineItem:
    """Return the line of these requests in another version. Raises `ValueError` where they differ.

    Raises `QuoteError` where a request has no price there.
    """
    lines: dict[tuple[object, ...], LineItem] = {}
    place, errors = f"the version of {now.version.effective} of {now.model.model}", []
    for request, was in sold:
        try:
            line = next((line for line in now.book.rate(request).lines if line.sku == sku), None)
        except QuoteError as error:
            errors.append(error)
            continue
        if line is None:
            raise ValueError(f"SKU {sku} is not in {place}, or not for each of its requests")
        if (line.quantity, line.unit) != (was.quantity, was.unit):
            raise ValueError(f"SKU {sku} counts something else in {place}")
        lines[line.unit_rate, line.source] = line
    if errors and not lines:
        raise errors[0]
    if errors:
        raise ValueError(f"SKU {sku} is not in {place} for each of its requests")
    if len({rate for rate, _ in lines}) > 1:
        raise ValueError(f"SKU {sku} has more than one rate in {place}")
    return next(iter(lines.values()))


_REFERENCE = "reference_video_total_duration"


class Clips:
    """Every price cell of a video version by the SKU of the row that it makes."""

    def __init__(self, in_effect: ModelInEffect) -> None:
        self.in_effect = in_effect
        self._cells: dict[str, list[Cell]] = {}
        for cell in price_cells(in_effect.book, in_effect.model.model):
            self._cells.setdefault(cell.quote.lines[0].sku, []).append(cell)

    def cells(self, sku: str, billed: Decimal) -> list[Cell]:
        """Return the requests of a SKU that cost this amount; empty where the price depends on a measured video."""
        return [] if self.measured(sku) else [cell for cell in self._cells.get(sku, ()) if cell.quote.total == billed]

    def nearest(self, sku: str, billed: Decimal) -> Cell | None:
        """Return the request of a SKU with the price nearest to this amount; None if a measured video decides it.

        Raises `ValueError` for a SKU that charges no request.
        """
        if self.measured(sku):
            return None
        if sku not in self._cells:
            raise ValueError(f"sku: no request of {self.in_effect.model.model} is charged by it")
        return min(self._cells[sku], key=lambda cell: abs(cell.quote.total - billed))

    def measured(self, sku: str) -> bool:
        """Return True if the price depends on seconds or pixels of a sent video, which no row holds."""
        version = self.in_effect.version
        cells = (cell for sku_cells in self._cells.values() for cell in sku_cells)
        if version.accepts.reference_video_total_duration and not any(_REFERENCE in cell.body for cell in cells):
            return any("video_input" in charge.ATTRIBUTES for charge in version.charges)
        return any(cell.video or _REFERENCE in cell.body for cell in self._cells.get(sku, ()))

    def repriced(self, sku: str, billed: Decimal, now: PriceBook) -> Quote | None:
        """Quote the requests of a row in another book; None if the rates, and so the charge, are the same.

        Raises `QuoteError` where the book refuses them, and `ValueError` where they would not all cost the same.
        """
        cells = self._cells.get(sku, [])
        if not cells:
            raise ValueError(f"no request is known for SKU {sku}")
        if self.measured(sku):
            if all(cell.video is None for cell in cells) and _same_rates(cells, now):
                return None
            raise ValueError(f"the price of SKU {sku} depends on the video that was sent, and its rates changed")
        quotes, errors = [], []
        for cell in self.cells(sku, billed):
            try:
                quotes.append(now.quote_video(cell.body))
            except QuoteError as error:
                errors.append(error)
        if errors:
            if quotes:
                raise ValueError(f"some requests of SKU {sku} that were charged {text(billed)} would have no price")
            raise errors[0]
        if not quotes:
            raise ValueError(f"no request of SKU {sku} was charged {text(billed)}")
        totals = sorted({quote.total for quote in quotes})
        if len(totals) > 1:
            words = " or ".join(map(text, totals))
            raise ValueError(f"requests of SKU {sku} that were charged {text(billed)} would be charged {words}")
        return quotes[0]


def _same_rates(cells: Sequence[Cell], now: PriceBook) -> bool:
    """Return True if each of these requests has the same lines at the same rates in another book."""
    try:
        return all(_rates(cell.quote) == _rates(now.quote_video(cell.body)) for cell in cells)
    except QuoteError:
        return False


def _rates(quote: Quote) -> list[tuple[str, Decimal]]:
    return [(line.sku, line.unit_rate) for line in quote.lines]


# The beginnings of terms that change no price, or that are in the rates already.
_FREE = ("context_tokens", "surcharges ", "mode", "markup of ")
_ACCEPTS = "accepts "
_SHOWN = 3


def structural(was: ModelInEffect, now: ModelInEffect) -> str:
    """Return in words which conditions differ; empty if only rates do."""
    changes = list(_binding(was, term_changes(_terms(was), _terms(now))))
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    words = (
        f"{change.term} was {change.old or 'not set'}, is {change.new or 'not set'}" for change in changes[:_SHOWN]
    )
    return "; ".join([*words, *more])


def same_rates(was: ModelInEffect, now: ModelInEffect) -> bool:
    """Return True if two versions charge the same for every request."""
    if was.version is now.version:
        return True
    return not structural(was, now) and not rate_changes(_priceable(was), _priceable(now))


def _binding(was: ModelInEffect, changes: Iterable[TermChange]) -> Iterator[TermChange]:
    """Yield the changes that matter, without changes to a field for which requests had to choose a value."""
    for change in changes:
        field = change.term.removeprefix(_ACCEPTS)
        choices = getattr(getattr(was.version, "accepts", None), field, None)
        chosen = field != change.term and field != "audio" and isinstance(choices, tuple) and len(choices) > 1
        if not change.term.startswith(_FREE) and not chosen:
            yield change


def _terms(in_effect: ModelInEffect) -> Terms:
    """Return the conditions, and what each unit counts: a unit may count something else in another folder."""
    units = in_effect.book.tables.units
    counted = {f"what {charge.charge} counts": units[charge.unit].counts for charge in in_effect.version.charges}
    return {**terms_of(_priceable(in_effect)), **counted}


def _priceable(in_effect: ModelInEffect) -> Priceable:
    return Priceable(in_effect.model, in_effect.version, in_effect.book.tables.units)
