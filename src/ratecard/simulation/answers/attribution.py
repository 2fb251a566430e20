"""The difference of a candidate's total, split by the rates that changed; or why it changes nothing.

The parts add up to the difference exactly.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from ratecard.base.errors import SimulationError
from ratecard.base.instants import day_or_instant, utc
from ratecard.base.money import EXACT, minus, total
from ratecard.candidates.rates import attributes_of
from ratecard.requests.service_parameters import model_named
from ratecard.review.difference import RateChange, percent_text
from ratecard.review.rates import rate_changes
from ratecard.review.sides import Side, Standing
from ratecard.simulation.answers.comparison import Comparison
from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.groups.plan import EARLIEST
from ratecard.simulation.prices.outcome import ROUNDING_PART, PricedLine, PricedShape
from ratecard.simulation.rows.columns import LEDGER
from ratecard.tables.card import Tables
from ratecard.tables.contract import Contract

RATE, TERMS, _ADDED, _REMOVED = "rate", "terms", "added", "removed"
LOST_PART, NEW_PART, MOVED, BILLED = "lost", "new", "moved", "billed"


@dataclass(frozen=True, slots=True)
class Part:
    """The change of the total by one changed rate.

    `kind` is `rate` (another amount per unit), `terms` (the same rate, another quantity of it), `added` or `removed`
    (usage is charged by a rate that the other side does not have), or `rounding` (of each request, to the cent). For
    whole requests it is `lost` or `new` (only one side offers them; the label says why), `moved` (priced as requests of
    another model) or `billed` (charged by a bill at an unknown rate).
    """

    model: str
    kind: str
    label: str
    unit: str = ""
    old: Decimal | None = None
    new: Decimal | None = None
    old_source: str = ""
    new_source: str = ""
    amount: Decimal = Decimal(0)

    @property
    def percent(self) -> str:
        """Return the change of the rate in percent; empty unless both sides have a rate."""
        return (
            percent_text(self.old, self.new)
            if self.kind == RATE and self.old is not None and self.new is not None
            else ""
        )


@dataclass(frozen=True, slots=True)
class Untouched:
    """A changed rate that charged no usage."""

    model: str
    change: RateChange


@dataclass(frozen=True, slots=True)
class Attribution:
    """The parts of a difference, the greatest first, and the changed rates that no usage touched."""

    difference: Decimal
    parts: tuple[Part, ...]
    untouched: tuple[Untouched, ...]


_ZERO = Decimal(0)


def attribute(comparison: Comparison, sides: Sequence[Side], candidate: int) -> Attribution:
    """Split a candidate's difference from the current total, line by line of every shape."""
    before, after = _labels(sides[0].card.tables), _labels(sides[candidate].card.tables)
    amounts: dict[Part, Decimal] = {}
    touched: set[tuple[str, str, str]] = set()
    for number, counted, prices in comparison.changed(candidate):
        old, new, model = prices[0], prices[candidate], counted.shape.model or ""
        if old is new:
            continue
        named, changes = _model_id(sides, model), list[tuple[Part, _Priced, _Priced]]()
        if (part := _of_requests(sides, comparison, number, candidate, model, old, new)) is not None:
            changes.append((part, old, new))
            touched |= {(named, line.source, "") for line in (old.lines if old else ())}
            touched |= {(named, "", line.source) for line in (new.lines if new else ())}
        elif old is not None and new is not None:
            changes += [(_of_line(model, was, now, before, after), was, now) for was, now in _pairs(old, new)]
        for part, was, now in changes:
            then, first = (comparison.charge(counted, price.amounts) if price else _ZERO for price in (now, was))
            if then or first or isinstance(was or now, PricedShape):
                touched |= {(named, part.old_source, part.new_source), *_factors(named, was, now)}
                # The contract follows the list, so a list rate has changed the amount too.
                touched.add((named, _list_source(was), _list_source(now)))
                amounts[part] = EXACT.add(amounts.get(part, _ZERO), EXACT.subtract(then, first))
    parts = [replace(part, amount=amount) for part, amount in amounts.items() if amount]
    parts.sort(
        key=lambda part: (
            minus(part.amount.copy_abs()),
            part.model,
            part.kind,
            part.label,
            part.old_source,
            part.new_source,
        )
    )
    changed = changed_rates(sides[0], sides[candidate])
    untouched = tuple(
        Untouched(model, change)
        for model, change in dict.fromkeys((name, rate) for _, name, rates in changed for rate in rates)
        if (model, change.old.source if change.old else "", change.new.source if change.new else "") not in touched
    )
    return Attribution(total([part.amount for part in parts]), tuple(parts), untouched)


def _model_id(sides: Sequence[Side], name: str) -> str:
    """Return the id of a model that the usage may name otherwise; the name where no side has such a model."""
    return next((model.model for side in sides if (model := model_named(side.card.tables, name))), name)


_Priced = PricedShape | PricedLine | None


def _of_requests(
    sides: Sequence[Side],
    comparison: Comparison,
    number: int,
    candidate: int,
    model: str,
    old: PricedShape | None,
    new: PricedShape | None,
) -> Part | None:
    """Return the part, without its amount, for whole requests that differ; None where rates explain it."""
    if old is None or new is None:
        refusal = comparison.sides[candidate if new is None else 0].outcomes[number].refusal
        return Part(model, LOST_PART if new is None else NEW_PART, refusal.reason if refusal else "")
    if new.shape is not None:
        return Part(model, MOVED, f"priced as {new.shape.model}")
    if sides[0].has_rates and sides[candidate].has_rates:
        return None
    # A bill states the price of a unit, but not its rates: it is compared with the price of a unit now.
    sku, unit, sources = old.lines[0].sku, new.unit or old.unit, (old.lines[0].source, new.lines[0].source)
    if old.unit_price is None or new.unit_price is None:
        return Part(model, BILLED, f"{sku}: the rate that it was billed at is not known", unit, None, None, *sources)
    kind = TERMS if old.unit_price == new.unit_price else RATE
    return Part(model, kind, sku, unit, old.unit_price, new.unit_price, *sources)


def _list_source(priced: _Priced) -> str:
    return priced.list_source if isinstance(priced, PricedLine) else ""


def _pairs(old: PricedShape, new: PricedShape) -> Iterator[tuple[PricedLine | None, PricedLine | None]]:
    """Pair the lines of both sides that have the same SKU and quantity; several buckets may share a rate."""
    was, now = map(_by_place, (old, new))
    return ((was.get(place), now.get(place)) for place in {**was, **now})


def _by_place(side: PricedShape) -> dict[tuple[str, int, int], PricedLine]:
    lines, times = dict[tuple[str, int, int], PricedLine](), Counter[tuple[str, int]]()
    for line in side.lines:
        place = (line.sku, line.number)
        lines[*place, times[place]] = line
        times[place] += 1
    return lines


def _of_line(
    model: str, was: PricedLine | None, now: PricedLine | None, before: dict[str, str], after: dict[str, str]
) -> Part:
    """Return the part for a difference of one line, without its amount."""
    line = now or was
    if line is None or line.sku == ROUNDING_PART:
        return Part(model, ROUNDING_PART, "rounding of each request")
    old_rate, new_rate = was and was.unit_rate, now and now.unit_rate
    kind = _ADDED if was is None else _REMOVED if now is None else TERMS if old_rate == new_rate else RATE
    old_source, new_source = was.source if was else "", now.source if now else ""
    name = before.get(old_source) or after.get(new_source) or line.sku
    label = ", ".join((name, *(words for words, _ in line.factors)))
    return Part(model, kind, label, line.unit, old_rate, new_rate, old_source, new_source)


def _factors(model: str, was: _Priced, now: _Priced) -> set[tuple[str, str, str]]:
    """Return the factors in two rates, by their lines on both sides."""
    old, new = (dict(priced.factors) if isinstance(priced, PricedLine) else {} for priced in (was, now))
    return {(model, old.get(words, ""), new.get(words, "")) for words in {**old, **new}}


def _labels(tables: Tables) -> dict[str, str]:
    """Return a readable name for the rate of each line: its charge, and what it is for."""
    labels: dict[str, str] = {}
    for model in tables.models.values():
        for version in model.versions:
            for charge in version.charges:
                for rate in charge.rates:
                    words = ", ".join(
                        f"{name} {' | '.join(values)}"
                        for name, values in attributes_of(charge, rate, tables.meters).items()
                    )
                    labels.setdefault(rate.source, f"{charge.charge}: {words}" if words else charge.charge)
    return labels


def changed_rates(old: Side, new: Side, start: date = EARLIEST) -> Iterator[tuple[date, str, tuple[RateChange, ...]]]:
    """Yield day, model and rates: those of the model that differ between two sides on a day from `start` on.

    Each pair of versions of a model is compared once, in the order of days.
    """
    days = {start, *(day for side in (old, new) for day in side.days() if utc(day) > utc(start))}
    instants = dict[tuple[date, date], date]()
    for day in sorted(days, key=utc):
        instants.setdefault((old.at or day, new.at or day), day)
    theirs, ours = old.card.tables.models, new.card.tables.models
    names = sorted(name for name in {**theirs, **ours} if old.at != new.at or theirs.get(name) is not ours.get(name))
    compared = set[tuple[str, int, int]]()
    for (was, now), day in instants.items() if names else ():
        before, after = old.book(was), new.book(now)
        for name in names:
            one, other = Standing.of(before, name), Standing.of(after, name)
            versions = name, id(one.version), id(other.version)
            if one.version is not other.version and versions not in compared:
                compared.add(versions)
                if changes := rate_changes(one.priceable(before), other.priceable(after)):
                    yield day, name, changes


_NAMED = 5


def check_effect(reasons: Sequence[str], sides: Sequence[Side]) -> None:
    """Raise `SimulationError` with the reasons where no candidate changes anything."""
    if reasons and all(reasons):
        pairs = zip(sides[1:], reasons, strict=True)
        raise SimulationError("; ".join(f"{side.label} changes nothing: {why}" for side, why in pairs))


def without_effect(comparison: Comparison, sides: Sequence[Side]) -> tuple[str, ...]:
    """Return, by candidate, why it changes nothing; empty where it adds, removes or changes the price of a row."""
    current, *candidates = (side.outcomes for side in comparison.sides)
    return tuple(
        _why(comparison.roll_up, sides[0], side) if outcomes.charge_like(current) else ""
        for side, outcomes in zip(sides[1:], candidates, strict=True)
    )


def first_day(old: Side, new: Side, *, contracts: bool = False) -> date | None:
    """Return the first day on which two sides' prices differ; None where one has a fixed instant, or is as billed.

    With `contracts`, also the day on which a contract begins that only one of them has.
    """
    if old.at or new.at or not (old.has_rates and new.has_rates):
        return None
    begins = {contract.begins for contract in _other_contracts(old, new)} if contracts else set[date]()
    return min({*_first_days(old, new, EARLIEST).values(), *begins}, default=None, key=utc)


def _other_contracts(old: Side, new: Side) -> list[Contract]:
    """Return the contracts that differ between two sides, or that only one of them has."""
    ours, theirs = old.card.contracts, new.card.contracts
    return [side[name] for side in (ours, theirs) for name in side if ours.get(name) != theirs.get(name)]


def _why(rolled: RollUp, current: Side, side: Side) -> str:
    accounts = _listed({name for contract in _other_contracts(current, side) for name in contract.accounts})
    if accounts and not rolled.plan.account:
        is_bill = LEDGER in rolled.plan.layouts
        hint = "A bill is re-rated at these: give its usage" if is_bill else "Price them by contract: --contracts"
        return f"it changes the prices of {accounts}, and all rows are at list prices. {hint}"
    shapes, days = rolled.shapes, rolled.days
    moments = [day_or_instant(shape.moment) for shape in shapes.model_moments[0] if shape.moment]
    changed = _first_days(current, side, days[0] if days else min(moments, default=EARLIEST, key=utc))
    if not changed and accounts:
        return f"the usage has no request that a contract of {accounts} changes, on a day on which it does"
    if not changed:
        return "no rate is another than the current one on any day of the usage, or after it"
    used = {_model_id((current, side), template.model or "") for template in shapes.templates}
    changed_days = {model: day for model, day in changed.items() if model in used}
    if not changed_days:
        return f"the usage has none of the models whose rates it changes ({_listed(changed)}); it has {_listed(used)}"
    first = min(changed_days.values(), key=utc)
    last = days[1] if days else max(moments, default=None, key=utc)
    if last is not None and utc(first) > utc(last):
        ends = f"the usage ends on {last}" if days else "the usage ends before"
        return f"its rates hold from {first} on, and {ends}. Price both at a day: --current {first}"
    return f"no request is charged by a rate that it changes (of {_listed(changed_days)})"


def _first_days(old: Side, new: Side, start: date) -> dict[str, date]:
    """Return the first day, from `start` on, on which the rates of each model differ."""
    first_days = dict[str, date]()
    for day, name, _ in changed_rates(old, new, start):
        first_days.setdefault(name, day)
    return first_days


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more
