"""The bridge between two periods as tables: its effects, each a row, and every model."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ratecard.base.money import EXACT, from_fraction, round_half_up, total
from ratecard.simulation.answers.bridge import EFFECTS, Bridge
from ratecard.simulation.report.figures import adding_up, apportion
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Kind, Table, Value

# Fractions are apportioned with more decimals than any amount that is shown.
_PLACES, _SIZE_PLACES = 24, 2
_MEANINGS = {
    "price": "other prices for the same requests",
    "size": "other sizes or kinds of a request, within a model",
    "volume": "more or fewer requests, at the mean revenue of one before",
    "mix": "a move to dearer or cheaper models",
}


def effects_table(report: Report, bridge: Bridge, *, exact: bool = False) -> Table:
    """Return what each effect adds to the first period's revenue, the greatest first; they sum to the change.

    With `exact`, for a workbook, the exact amounts.
    """
    effects = bridge.effects
    change = EXACT.subtract(*reversed(bridge.revenues))
    parts = list(effects.values())
    amounts: Sequence[Value] = parts if exact else _shown(report, parts, _change(report, bridge))
    rows = [
        (name.capitalize(), amount, _MEANINGS.get(name, "models that the other period does not have"))
        for name, amount in zip(effects, amounts, strict=True)
    ]
    columns = (Column("Effect"), Column("Adds", Kind.CHANGE), Column("Is"))
    before, after = bridge.periods
    shown = change if exact else _change(report, bridge)
    return Table(f"Why revenue differs from {before} to {after}", columns, tuple(rows), ("Total", shown, ""))


def bridge_table(report: Report, bridge: Bridge, *, exact: bool = False) -> Table:
    """Return the effects of each model, the greatest change first, then the models of only one period.

    With `exact`, for a workbook: exact amounts, with the revenue of each model in both periods.
    """
    before, after = bridge.periods
    alone = [(f"{name} (only in {before})", amount, Decimal(0)) for name, amount in bridge.gone.items()]
    alone += [(f"{name} (only in {after})", Decimal(0), amount) for name, amount in bridge.new.items()]
    wholes = {name: amount for name, amount in bridge.effects.items() if name in EFFECTS}
    changes_alone = [EXACT.subtract(then, now) for _, now, then in alone]
    fractions = [[getattr(step, name) for step in bridge.steps] for name in EFFECTS]
    shown: list[Sequence[Value]] = list(fractions)
    sums: Sequence[Value] = [wholes[name] for name in EFFECTS]
    if not exact:
        effects = [*(wholes[name] for name in EFFECTS), Fraction(total(changes_alone))]
        *rounded, rest = _shown(report, effects, _change(report, bridge))
        sums = rounded
        shown = [_shown(report, column, totals) for column, totals in zip(fractions, rounded, strict=True)]
        changes_alone = list(apportion(changes_alone, report.figures.places, rest))
    columns = [Column("Model"), *(Column(f"{period}: requests", Kind.COUNT) for period in bridge.periods)]
    columns += [Column(f"{period}: size", Kind.QUANTITY) for period in bridge.periods]
    columns += [Column(name.capitalize(), Kind.CHANGE) for name in EFFECTS]
    revenues = [f"{period}: revenue" for period in bridge.periods]
    columns += [Column(name, Kind.MONEY) for name in revenues] if exact else []
    columns.append(Column("Change", Kind.CHANGE, revenues[0] if exact else ""))
    rows: list[tuple[Value, ...]] = []
    for step, *parts in zip(bridge.steps, *shown, strict=True):
        sizes = step.sizes if exact else tuple(map(_size, step.sizes))
        change = None if exact else total([part for part in parts if isinstance(part, Decimal)])
        changed = (change,) if change is not None else (*step.revenues, EXACT.subtract(*reversed(step.revenues)))
        rows.append((step.model, *step.requests, *sizes, *parts, *changed))
    none = (None,) * (4 + len(EFFECTS))
    rows += [
        (name, *none, *((now, then) if exact else ()), amount)
        for (name, now, then), amount in zip(alone, changes_alone, strict=True)
    ]
    requests = [sum(step.requests[number] for step in bridge.steps) for number in (0, 1)]
    totals = (*bridge.revenues, EXACT.subtract(*reversed(bridge.revenues))) if exact else (_change(report, bridge),)
    return Table(
        f"From {before} to {after}, by model",
        tuple(columns),
        tuple(rows),
        ("Total", *requests, None, None, *sums, *totals),
    )


def bridge_sentences(report: Report, bridge: Bridge) -> Iterator[str]:
    """Yield sentences on the revenue of both periods, and on the prices at which the effects are computed."""
    money = report.figures.money
    before, after = (round_half_up(revenue, report.figures.places) for revenue in bridge.revenues)
    yield f"Revenue was {money(before)} in {bridge.periods[0]} and {money(after)} in {bridge.periods[1]}."
    prices = (
        "Both have the same prices, so that none of it is a price."
        if bridge.fixed
        else f"Size, volume and mix are at the prices of the end of {bridge.periods[0]}; price is what changed since."
    )
    yield f"{prices} A size is tokens, characters or seconds a request, where these are counted."


def bridge_record(bridge: Bridge) -> dict[str, Any]:
    """Return the bridge for JSON: its effects, which add up, and those of each model.

    Effects that no decimal holds are rounded so that they add up; `exact` has them as fractions, `1/3`.
    """

    def named(effects: dict[str, Fraction]) -> dict[str, Decimal]:
        return dict(zip(effects, adding_up(list(effects.values())), strict=True))

    return {
        "periods": bridge.periods,
        "revenues": bridge.revenues,
        "effects": named(bridge.effects),
        "models": [
            {"model": step.model, "requests": step.requests, "revenues": step.revenues}
            | named(parts := {name: getattr(step, name) for name in EFFECTS})
            | {"exact": {name: str(part) for name, part in parts.items()}}
            for step in bridge.steps
        ],
        "gone": bridge.gone,
        "new": bridge.new,
    }


def _change(report: Report, bridge: Bridge) -> Decimal:
    """Return the change of revenue as it is shown."""
    before, after = (round_half_up(revenue, report.figures.places) for revenue in bridge.revenues)
    return EXACT.subtract(after, before)


def _shown(report: Report, parts: Sequence[Fraction], total: Decimal) -> list[Decimal]:
    return list(apportion([from_fraction(part, _PLACES) for part in parts], report.figures.places, total))


def _size(size: Fraction | None) -> Decimal | None:
    return None if size is None else round_half_up(from_fraction(size, _SIZE_PLACES), _SIZE_PLACES)
