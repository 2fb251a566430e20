"""A tornado: how revenue changes if all prices of one family alone rise or fall by a few percent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, from_fraction, places_of, total
from ratecard.candidates.rates import Refusal, moved, rates_of, scaled
from ratecard.card import RateCard
from ratecard.review.sides import Side
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.outcome import PricedShape
from ratecard.tables.candidate import Scale
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.selection import Selection

_PLACES = 12


@dataclass(frozen=True, slots=True)
class Swing:
    """The change of revenue if one family's prices fall or rise by the share.

    `revenue` is that of its models now. Where its prices cannot be scaled, `reason` says why, and there is no effect.
    """

    family: str
    revenue: Decimal
    fall: Decimal | None
    rise: Decimal | None
    reason: str = ""

    @property
    def size(self) -> Decimal:
        """Return the greater of both effects."""
        return max((effect.copy_abs() for effect in (self.fall, self.rise) if effect is not None), default=Decimal(0))


def tornado(simulation: Answers, share: Fraction) -> tuple[Swing, ...]:
    """Rank every family of the usage by its effect, the greatest first; each effect is priced request by request.

    The usage is that of the simulation and stays as it is: no request is made or left out because of a price. A family
    also changes charges of other families by its rates (searches). Raises `SimulationError` for a share of 100 % or
    more.
    """
    side = simulation.sides[0]
    step = from_fraction(share, _PLACES)
    if not 0 < share < 1 or Fraction(step) != share or places_of(step) > _PLACES:
        raise SimulationError("a tornado needs a percentage above 0% and below 100%, with at most 10 decimals")
    if not side.has_rates:
        raise SimulationError("a tornado scales rates, and a billing export as it was billed has none: name prices")
    families: dict[str, list[str]] = {}
    for name, family in side.card.tables.families.items():
        families.setdefault(family, []).append(name)
    shapes = _alike(simulation)
    revenues: dict[str, list[Decimal]] = {}
    for row in simulation.by_model:
        revenues.setdefault(side.card.tables.families.get(row.key[0] or "", ""), []).append(row.amounts[0])
    swings = []
    for family, names in families.items():
        revenue = total(revenues.get(family, []))
        try:
            fall, rise = (_effect(simulation, shapes, names, EXACT.add(Decimal(1), change)) for change in (-step, step))
        except (Refusal, SimulationError) as error:
            words = error.findings[0][1] if isinstance(error, Refusal) else str(error)
            swings.append(Swing(family, revenue, None, None, words))
            continue
        if revenue or fall or rise:
            swings.append(Swing(family, revenue, fall, rise))
    return tuple(sorted(swings, key=lambda swing: (-swing.size, -swing.revenue, swing.family)))


_Priced = Sequence[tuple[Counted, PricedShape]]


def _alike(simulation: Answers) -> Collection[_Priced]:
    """Return the shapes that have a price, grouped by what decides it."""
    by_basis: dict[tuple[bool, str | None, date | None], list[tuple[Counted, PricedShape]]] = {}
    for _, counted, prices in simulation.comparison.priced:
        if prices[0] is not None:
            shape = counted.shape
            by_basis.setdefault((shape.type == "rpc", shape.model, shape.moment), []).append((counted, prices[0]))
    return by_basis.values()


def _effect(simulation: Answers, shapes: Collection[_Priced], names: Sequence[str], factor: Decimal) -> Decimal:
    """Return the change of all charges if the rates of some models are multiplied by a factor."""
    current = simulation.sides[0]
    # The worked examples are of the unscaled prices, so they cannot prove this card.
    card = RateCard(_scaled(current.card.tables, names, factor))._unproved
    side = Side(f"times {factor}", card, current.at)
    # A pricer of its own forgets the prices of this family afterwards.
    pricer = simulation.pricer.apart()
    added = []
    for priced in shapes:
        if pricer.alike(current, side, priced[0][0].shape):
            continue
        for counted, was in priced:
            now = pricer.price(side, counted.shape)
            if now.refusal:
                raise SimulationError(f"{counted.requests} rows have no price then: {now.refusal.reason}")
            if now is not was:
                before, after = (simulation.comparison.charge(counted, price.amounts) for price in (was, now))
                added.append(EXACT.subtract(after, before))
    return total(added)


def _scaled(tables: Tables, names: Sequence[str], factor: Decimal) -> Tables:
    """Return tables in which every rate of some models is multiplied, in all versions."""
    change, models = Scale(scale=Selection(), factor=factor), dict(tables.models)
    for name in names:
        model: AnyModel = models[name]
        versions = [
            version.model_copy(update=moved(version, scaled(version, change, rates_of(version).keys()), name))
            for version in model.versions
        ]
        models[name] = model.model_copy(update={"versions": tuple(versions)})
    return replace(tables, models=models)
