"""The price cells of a model on both sides: every request that decides a price of either, priced under both."""

import json
from collections.abc import Iterator
from typing import Any

from ratecard.diff.change import CellChange, Cells, factor
from ratecard.price_book import PriceBook
from ratecard.rating.quote import Quote
from ratecard.sheet import Cell, price_cells
from ratecard.words.errors import QuoteError
from ratecard.words.money import plain


def compare_cells(model: str, old: PriceBook | None, new: PriceBook | None) -> Cells:
    """The cells of both sides; None is a side on which the model has no price."""
    differing, steepest, steepest_factor = [], None, None
    added = removed = count = 0
    for cell, was, now in _pairs(model, old, new):
        count += 1
        if was is None or now is None:
            added, removed = added + (was is None), removed + (now is None)
            continue
        if was.total != now.total or was.currency != now.currency:
            differing.append(CellChange(model, cell, plain(was.total), plain(now.total)))
        times = factor(was.exact, now.exact)
        if steepest is None or times is None or (steepest_factor is not None and times > steepest_factor):
            steepest, steepest_factor = CellChange(model, cell, plain(was.exact), plain(now.exact)), times
    return Cells(tuple(differing), added, removed, count, steepest)


def _pairs(
    model: str, old: PriceBook | None, new: PriceBook | None
) -> Iterator[tuple[str, Quote | None, Quote | None]]:
    seen: set[str] = set()
    for cell in price_cells(old, model) if old else ():
        seen.add(_key(cell))
        yield describe(cell), cell.quote, _priced(new, cell)
    for cell in price_cells(new, model) if new else ():
        if _key(cell) not in seen:
            yield describe(cell), _priced(old, cell), cell.quote


def _key(cell: Cell) -> str:
    return repr((sorted(cell.body.items()), cell.video, cell.quote.type))


def _priced(prices: PriceBook | None, cell: Cell) -> Quote | None:
    """The quote of a cell in another book; None where that has no price for it."""
    if prices is None:
        return None
    body, kind = cell.body, cell.quote.type
    try:
        if kind == "video":
            return prices.quote_video(body, source=cell.video)
        if kind == "surcharge":
            return prices.surcharge(body["model"], 1)
        return prices.rate({"type": kind, "model": body["model"], **json.loads(body["usage"])})
    except QuoteError:
        return None


def describe(cell: Cell) -> str:
    """`duration 5s, audio true`: what was asked for, without the model."""
    asked = {name: value for name, value in cell.body.items() if name not in ("model", "usage")}
    asked |= json.loads(cell.body.get("usage", "{}"))
    if cell.video:
        asked["source video"] = f"{cell.video.width}x{cell.video.height}, {cell.video.fps} fps"
    return ", ".join(_flat(asked))


def _flat(asked: dict[str, Any]) -> Iterator[str]:
    for name, value in asked.items():
        if isinstance(value, dict):
            yield from _flat(value)
        elif isinstance(value, list):
            yield from (word for each in value for word in _flat(each))
        else:
            yield f"{name} {str(value).lower() if isinstance(value, bool) else value}"
