"""What a finance team works out row by row, with no roll-up: which side offers a row, at what price, at what cost."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from rows import Row, quote_of

from ratecard import Quote, QuoteError, RateCard
from ratecard.simulation.answers.rows import LostAndNew


class Told(NamedTuple):
    """A row under the current prices and under a candidate; None where that side does not offer it."""

    row: Row
    asked: Row
    now: Quote | None
    then: Quote | None


# A function from a row as it is priced, its quote on one side, and its current quote, to the cost of the row.
CostOf = Callable[[Row, Quote, Quote | None], Decimal | None]


class WrongError(Exception):
    """A row that no price says anything of: wrong, or charged in another currency."""


def offered(card: RateCard, row: Row) -> Quote | None:
    """The quote of a row; None where the card does not offer it."""
    try:
        quote = quote_of(card, row)
    except QuoteError as error:
        if error.not_offered:
            return None
        raise WrongError(str(error)) from None
    if quote.currency != "USD":
        raise WrongError(quote.currency)
    return quote


def moved(card: RateCard, row: Row, to: str) -> Quote | None:
    """The quote of a row as one of another model; whatever that lacks, it does not offer the row."""
    try:
        quote = quote_of(card, row | {"model": to})
    except QuoteError:
        return None
    if quote.currency != "USD":
        raise WrongError(quote.currency)
    return quote


def successor_of(card: RateCard, row: Row) -> str | None:
    """The first successor of a row's model that is not retired when the row was sent."""
    name, seen = str(row["model"]), set[str]()
    model = card.tables.models.get(name)
    day = row["timestamp"].date()
    while model and model.retired and model.retired_at(day) and model.model not in seen:
        seen.add(model.model)
        model = card.tables.models.get(model.retired.successor or "")
    return model.model if model and model.model not in {*seen, name} else None


def told(
    current: RateCard, candidate: RateCard, row: Row, remap: Mapping[str, str], successors: bool = False
) -> Told | None:
    """Both quotes of a row; None for one that is in no figure."""
    asked = row
    try:
        now = offered(current, row)
        if row["type"] != "rpc" and (to := remap.get(str(row["model"]))):
            asked, then = row | {"model": to}, moved(candidate, row, to)
        else:
            then = offered(candidate, row)
            if then is None and now is not None and successors and (to := successor_of(candidate, row)):
                asked, then = row | {"model": to}, moved(candidate, row, to)
    except WrongError:
        return None
    return Told(row, asked, now, then) if now or then else None


def amounts(found: Iterable[Told]) -> tuple[Decimal, Decimal]:
    """Return the charges of both sides."""
    listed = list(found)
    now = sum((each.now.total for each in listed if each.now), Decimal(0))
    return now, sum((each.then.total for each in listed if each.then), Decimal(0))


def lost_and_new(found: Iterable[Told]) -> LostAndNew:
    """Return the requests that only one side offers."""
    listed = list(found)
    lost = [each.now.total for each in listed if each.now and not each.then]
    new = [each.then.total for each in listed if each.then and not each.now]
    return LostAndNew(len(lost), sum(lost, Decimal(0)), len(new), sum(new, Decimal(0)), 0)


def by_model(found: Iterable[Told]) -> dict[str, list[Told]]:
    rows: dict[str, list[Told]] = defaultdict(list)
    for each in found:
        rows[str(each.row["model"])].append(each)
    return rows


class Paid(NamedTuple):
    """Requests with a cost that is known, and those without; cost and revenue of the former on both sides."""

    requests: int
    unknown: int
    costs: tuple[Decimal, Decimal]
    revenues: tuple[Decimal, Decimal]


def paid(found: Iterable[Told], cost_of: CostOf) -> Paid:
    """Cost and revenue, row by row: a row that lacks a cost on a side that offers it is in neither."""
    requests = unknown = 0
    costs, revenues = [Decimal(0)] * 2, [Decimal(0)] * 2
    for each in found:
        pairs = [(each.row, each.now), (each.asked, each.then)]
        cost = [cost_of(row, quote, each.now) if quote else Decimal(0) for row, quote in pairs]
        if None in cost:
            unknown += 1
            continue
        requests += 1
        for side, (_, quote) in enumerate(pairs):
            costs[side] += cost[side] or 0
            revenues[side] += quote.total if quote else 0
    return Paid(requests, unknown, (costs[0], costs[1]), (revenues[0], revenues[1]))
