"""Compare every price with its cost, and report those that leave less than a margin."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from ratecard.base.errors import Fault, QuoteError, in_order
from ratecard.base.instants import day_or_instant, utc
from ratecard.base.layouts import Identity
from ratecard.base.money import LINE_PLACES, from_fraction, plain, text
from ratecard.card import RateCard
from ratecard.contracts.checks import fault_at
from ratecard.price_book import PriceBook
from ratecard.tables.version import Version
from ratecard.tables.windows import each_hour, open_at, windows_of
from ratecard.views.sheet import ASKED, Cell, price_cells

_PLACES = 2


class TableCosts(NamedTuple):
    """The costs to compare with: the prices of a card, or a share of these prices."""

    card: RateCard
    share: Fraction | None = None


class Margins(NamedTuple):
    """The prices below the margin as faults, how many prices were compared, and the models without a cost."""

    faults: tuple[Fault, ...]
    compared: int
    unknown: tuple[str, ...]


def thin_margins(card: RateCard, costs: TableCosts, least: Fraction, since: date) -> Margins:
    """Check every price cell, on the day `since` and on later days with other prices or costs, at each of their hours.

    The margin of a cell is the price less the cost, as a share of the price, and must be at least `least`. For each
    rate the worst cell is reported, at the line of the rate.
    """
    worst: dict[tuple[str, str], tuple[Fraction, Fault]] = {}
    seen: set[tuple[object, ...]] = set()
    compared, unknown = 0, dict[str, None]()
    both = (card, costs.card)
    later = {moment for known in both for moment in known.boundaries() if moment > utc(since)}
    models = (model for known in both for model in known.tables.models.values())
    windows = windows_of(version for model in models for version in model.versions)
    moments = (moment for day in (utc(since), *sorted(later)) for moment in each_hour(day, windows))
    for day in map(day_or_instant, moments):
        # The models that contracts keep for themselves have prices too.
        prices, paid = card.listed.at(day), costs.card.listed.at(day)
        for model, version in prices._in_effect_all():
            pair = (model.model, _at_its_hour(version, day), *_deciding(costs.card, model.model, day))
            if pair in seen:
                continue
            seen.add(pair)
            for cell, cost in _compared(model.model, prices, paid, costs.share):
                if cost is None:
                    unknown[model.model] = None
                    continue
                compared += 1
                price = Fraction(cell.quote.total)
                if cost <= price * (1 - least):
                    continue
                margin = (price - cost) / price if price else Fraction(-(10**9))
                place = cell.quote.lines[0].source if cell.quote.lines else version.place
                known = worst.get((model.model, place))
                if known is None or margin < known[0]:
                    worst[model.model, place] = margin, _fault(model.model, place, day, cell, cost, least)
    return Margins(tuple(in_order(fault for _, fault in worst.values())), compared, tuple(unknown))


def _deciding(costs: RateCard, name: str, day: date) -> Iterator[object]:
    """Yield keys of the costs of a model and its searches; on days with equal keys the costs are the same."""
    own = costs.tables.meant(name)  # the costs may have the model under an alias or an open pattern
    for model in costs.tables.models.values():
        if model is own or model.type == "surcharge":
            version = None if model.retired_at(day) else model.version_at(day)
            yield version and _at_its_hour(version, day)


def _at_its_hour(version: Version, day: date) -> object:
    return Identity(version), open_at(windows_of([version]), utc(day))


def _compared(
    model: str, prices: PriceBook, paid: PriceBook, share: Fraction | None
) -> Iterator[tuple[Cell, Fraction | None]]:
    """Yield each price cell of a model with its cost; None if that is not known.

    A cost may depend on what no price does, such as the resolution: the cells of the costs are priced too.
    """
    cells = list(price_cells(prices, model))
    known = {cell.key for cell in cells}
    finer = list[Cell]()
    with suppress(QuoteError):  # the costs may have no such model then
        quoted = ((cell, cell.priced(prices)) for cell in price_cells(paid, model) if cell.key not in known)
        finer = [cell._replace(quote=quote) for cell, quote in quoted if quote]
    for cell in cells:
        cost = _cost(paid, cell, share)
        if cost is not None or not any(_asked(cell).items() <= _asked(other).items() for other in finer):
            yield cell, cost
    yield from ((cell, _cost(paid, cell, share)) for cell in finer)


def _asked(cell: Cell) -> Mapping[str, Any]:
    return cell.body if cell.usage is None else cell.usage


def _cost(paid: PriceBook, cell: Cell, share: Fraction | None) -> Fraction | None:
    """Return the cost of a cell; None if it is not known."""
    quote = cell.priced(paid)
    if quote is None:
        return None
    return Fraction(quote.total) * (1 if share is None else share) if quote.currency == cell.quote.currency else None


def _fault(model: str, place: str, day: date, cell: Cell, cost: Fraction, least: Fraction) -> Fault:
    request = (
        ", ".join(f"{name} {value}" for name, value in cell.row().items() if value and name in ASKED) or "each request"
    )
    price = Fraction(cell.quote.total)
    left = f"a margin of {_percent((price - cost) / price)}" if price else "nothing is charged for it"
    amounts = f"the price is {text(plain(cell.quote.total))}, the cost {text(from_fraction(cost, LINE_PLACES))}"
    words = f"{model} from {day}, {request}: {amounts}: {left}"
    return fault_at(place, model, f"{words}, and --min-margin is {_percent(least)}")


def _percent(share: Fraction) -> str:
    return f"{text(from_fraction(100 * share, _PLACES))}%"
