"""The video clips of a ledger: one row at the total, so that a new price is found by the requests with this total."""

from collections.abc import Sequence
from decimal import Decimal

from ratecard.price_book import PriceBook
from ratecard.rating.quote import Quote
from ratecard.sheet import Cell, price_cells
from ratecard.simulation.ledger_skus import Standing
from ratecard.tables.video_charges import TokenFormula
from ratecard.words.errors import QuoteError
from ratecard.words.money import text

_REFERENCE = "reference_video_total_duration"


class Clips:
    """Every price cell of a video version by the SKU of the row that it makes."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self._cells: dict[str, list[Cell]] = {}
        for cell in price_cells(standing.book, standing.model.model):
            self._cells.setdefault(cell.quote.lines[0].sku, []).append(cell)

    def cells(self, sku: str, billed: Decimal) -> list[Cell]:
        """All requests that were charged so much under this SKU; none where the price depends on what was measured."""
        return [] if self.measured(sku) else [cell for cell in self._cells.get(sku, ()) if cell.quote.total == billed]

    def disputed(self, sku: str, billed: Decimal) -> bool:
        """Whether no request of this SKU is charged so much."""
        return sku in self._cells and not self.measured(sku) and not self.cells(sku, billed)

    def measured(self, sku: str) -> bool:
        """Whether the price depends on seconds or pixels of a video that was sent, which no row holds."""
        version = self.standing.version
        if version.accepts.reference_video_total_duration and not self._named():
            return any(isinstance(charge, TokenFormula) for charge in version.charges)
        return any(cell.video or _REFERENCE in cell.body for cell in self._cells.get(sku, ()))

    def repriced(self, sku: str, billed: Decimal, now: PriceBook) -> Quote | None:
        """What the requests of a row are quoted in another book; None: as they were billed, by the very same rates.

        Raises `QuoteError` where the book refuses them, and `ValueError` where they would not all cost the same.
        """
        cells = self._cells.get(sku, [])
        if not cells:
            raise ValueError(f"no request is known for SKU {sku}")
        if self.measured(sku):
            if all(cell.video is None for cell in cells) and _same_rates(cells, now):
                return None
            raise ValueError(f"the price of SKU {sku} depends on the video that was sent, and its rates changed")
        found, refused = [], []
        for cell in self.cells(sku, billed):
            try:
                found.append(now.quote_video(cell.body))
            except QuoteError as error:
                refused.append(error)
        if refused:
            if found:
                raise ValueError(f"some requests of SKU {sku} that were charged {text(billed)} would have no price")
            raise refused[0]
        if not found:
            raise ValueError(f"no request of SKU {sku} was charged {text(billed)}")
        totals = sorted({quote.total for quote in found})
        if len(totals) > 1:
            words = " or ".join(map(text, totals))
            raise ValueError(f"requests of SKU {sku} that were charged {text(billed)} would be charged {words}")
        return found[0]

    def _named(self) -> bool:
        return any(_REFERENCE in cell.body for cells in self._cells.values() for cell in cells)


def _same_rates(cells: Sequence[Cell], now: PriceBook) -> bool:
    """Whether each of these requests has the same lines at the same rates in another book."""
    try:
        return all(_rates(cell.quote) == _rates(now.quote_video(cell.body)) for cell in cells)
    except QuoteError:
        return False


def _rates(quote: Quote) -> list[tuple[str, Decimal]]:
    return [(line.sku, line.unit_rate) for line in quote.lines]
