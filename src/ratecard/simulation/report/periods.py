"""What a report says of time: a year at the pace of the usage, and the bridge between two periods."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction

from ratecard.simulation.bridge import Bridge, Step
from ratecard.simulation.report.apportion import apportion
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.words.money import EXACT, from_fraction, round_half_up, total

_YEAR = 365
# Fractions are apportioned with so many decimals: more than any amount that is shown.
_PLACES, _SIZE_PLACES = 12, 2


def annualised(report: Report, candidate: int) -> str:
    """`That is +$1,234.56 a year, at the pace of these 31 days (x 365 / 31).`; empty where days are not known."""
    if report.days is None:
        return ""
    first, last = map(date.fromisoformat, report.days)
    covered = (last - first).days + 1
    change = Fraction(report.simulation.total.difference(candidate)) * _YEAR / covered
    words = report.figures.change(round_half_up(from_fraction(change, _PLACES), report.figures.places))
    days = "day" if covered == 1 else f"{report.figures.count(covered)} days"
    return f"That is {words} a year, at the pace of these {days} (x {_YEAR} / {report.figures.count(covered)})."


def bridge_table(report: Report, bridge: Bridge) -> Table:
    """The bridge of two periods: price, volume and mix of each model, then the models of one period alone."""
    before, after = bridge.periods
    places = report.figures.places
    whole = [round_half_up(revenue, places) for revenue in bridge.revenues]
    apart = [*(-each for each in bridge.gone.values()), *bridge.new.values()]
    effects = [*map(_decimal, (bridge.price, bridge.volume, bridge.mix)), total(apart)]
    wholes = apportion(effects, places, EXACT.subtract(whole[1], whole[0]))
    shown = [
        apportion([_decimal(getattr(step, name)) for step in bridge.steps], places, each)
        for name, each in zip(("price", "volume", "mix"), wholes, strict=False)
    ]
    shown_apart = apportion(apart, places, wholes[3])
    columns = (
        Column("Model"),
        *(Column(f"{period}: requests", Kind.COUNT) for period in bridge.periods),
        *(Column(f"{period}: size", Kind.QUANTITY) for period in bridge.periods),
        *(Column(name, Kind.CHANGE) for name in ("Price", "Volume", "Mix", "Change")),
    )
    rows: list[tuple[Value, ...]] = [
        (step.model, *step.requests, *map(_size, step.sizes), *each, total(list(each)))
        for step, *each in zip(bridge.steps, *shown, strict=True)
    ]
    names = [
        *((name, f"only in {before}") for name in bridge.gone),
        *((name, f"only in {after}") for name in bridge.new),
    ]
    rows += [
        (f"{name} ({where})", None, None, None, None, None, None, None, amount)
        for (name, where), amount in zip(names, shown_apart, strict=True)
    ]
    requests = [sum(step.requests[number] for step in bridge.steps) for number in (0, 1)]
    last = ("Total", *requests, None, None, *wholes[:3], EXACT.subtract(whole[1], whole[0]))
    note = " ".join(bridge_sentences(report, bridge))
    return Table(f"From {before} to {after}", columns, tuple(rows), last, note)


def exact_bridge_table(bridge: Bridge) -> Table:
    """The bridge for a workbook: exact amounts, with the revenue of each model in both periods."""
    before, after = bridge.periods
    revenues = [f"{period}: revenue" for period in bridge.periods]
    columns = (
        Column("Model"),
        *(Column(f"{period}: requests", Kind.COUNT) for period in bridge.periods),
        *(Column(f"{period}: size", Kind.QUANTITY) for period in bridge.periods),
        *(Column(name, Kind.CHANGE) for name in ("Price", "Volume", "Mix")),
        *(Column(name, Kind.MONEY) for name in revenues),
        Column("Change", Kind.CHANGE, revenues[0]),
    )
    rows: list[tuple[Value, ...]] = [
        (step.model, *step.requests, *step.sizes, step.price, step.volume, step.mix, *step.revenues, _change(step))
        for step in bridge.steps
    ]
    none = (None,) * 7
    rows += [
        (f"{name} (only in {before})", *none, amount, Decimal(0), EXACT.minus(amount))
        for name, amount in bridge.gone.items()
    ]
    rows += [(f"{name} (only in {after})", *none, Decimal(0), amount, amount) for name, amount in bridge.new.items()]
    requests = [sum(step.requests[number] for step in bridge.steps) for number in (0, 1)]
    effects = (bridge.price, bridge.volume, bridge.mix)
    last = ("Total", *requests, None, None, *effects, *bridge.revenues, EXACT.subtract(*reversed(bridge.revenues)))
    return Table(f"From {before} to {after}", columns, tuple(rows), last)


def _change(step: Step) -> Decimal:
    return EXACT.subtract(*reversed(step.revenues))


def bridge_sentences(report: Report, bridge: Bridge) -> Iterator[str]:
    """What the bridge comes to, and how it is meant."""
    money = report.figures.money
    before, after = (round_half_up(revenue, report.figures.places) for revenue in bridge.revenues)
    yield f"Revenue was {money(before)} in {bridge.periods[0]} and {money(after)} in {bridge.periods[1]}."
    yield (
        "Price is what other prices and sizes of a request come to, volume more or fewer requests at the mean revenue"
        " of one before, mix a move to dearer or cheaper models. Size is tokens, characters or seconds a request."
    )


def _size(size: Fraction | None) -> Decimal | None:
    return None if size is None else round_half_up(from_fraction(size, _SIZE_PLACES), _SIZE_PLACES)


def _decimal(amount: Fraction) -> Decimal:
    return from_fraction(amount, _PLACES)
