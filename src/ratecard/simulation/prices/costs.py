"""Our costs: by a rate card, by a list of units and SKUs, or as a share of the charges."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, text
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.line_items.quote import MINIMUM
from ratecard.review.sides import Side
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.outcome import NOTHING, ROUNDING_PART, PricedLine, PricedShape, Vector
from ratecard.simulation.prices.pricer import Pricer
from ratecard.tables.scalars import read_number

_COLUMNS = ("model", "sku", "unit", "cost")


@dataclass(frozen=True, slots=True)
class SoldShape:
    """The rows of a shape with their price under a side, and their current price if there is one."""

    counted: Counted
    side: Side
    price: PricedShape
    current: PricedShape | None


class Costs(ABC):
    """The costs of the rows of a shape."""

    __slots__ = ()

    @property
    @abstractmethod
    def about(self) -> str:
        """Describe the costs for the report."""

    @abstractmethod
    def of(self, sold: SoldShape, pricer: Pricer) -> Vector | None:
        """Return the cost of a row, per request and per unit of each quantity; None where it is not known."""

    @property
    def card(self) -> Side | None:
        """Return the side whose card prices the costs, so that usage is rolled up for it too; None for other costs."""
        return None

    def check_margin(self, kept: Fraction) -> None:  # noqa: B027 (most costs have nothing to check)
        """Raise `SimulationError` where higher prices of what only a candidate sells lead away from a margin.

        `kept` is the share of revenue that the margin leaves for the costs.
        """

    def following(self, at: datetime | None) -> "Costs":
        """Return costs that take the instant of the side they are compared with, if their own instant is `at`."""
        return self


@dataclass(frozen=True, slots=True)
class CardCosts(Costs):
    """Costs by a rate card, at the instant of the side that is compared, or at a fixed instant."""

    side: Side

    @property
    def about(self) -> str:
        """Name the card and its tables."""
        return f"{self.side.label}, tables {self.side.card.digest}"

    @property
    def card(self) -> Side | None:
        """Return the side of the rate card."""
        return self.side

    def of(self, sold: SoldShape, pricer: Pricer) -> Vector | None:
        """Return the cost of a row, per request and per unit of each quantity; None where it is not known."""
        at = self.side.at or sold.side.at
        # Suppliers do not know our accounts, so that costs have no contracts.
        shape = (sold.price.shape or sold.counted.shape)._replace(account=None)
        outcome = pricer.price(replace(self.side, at=at), shape)
        return outcome.amounts if outcome.price else None

    def following(self, at: datetime | None) -> Costs:
        """Return costs that take the instant of the side they are compared with, if their own instant is `at`."""
        return CardCosts(replace(self.side, at=None)) if self.side.at == at else self


@dataclass(frozen=True, slots=True)
class ListedCosts(Costs):
    """A cost for each unit, by model and unit or by SKU; every line of a charge must have one."""

    label: str
    units: Mapping[tuple[str, str], Decimal] = field(hash=False)
    skus: Mapping[str, Decimal] = field(hash=False)

    @property
    def about(self) -> str:
        """Name the file and its number of costs."""
        return f"{self.label}, {len(self.units) + len(self.skus)} costs"

    def of(self, sold: SoldShape, pricer: Pricer) -> Vector | None:
        """Return the cost of a row, per request and per unit of each quantity; None where it is not known."""
        shape, costs = sold.price.shape or sold.counted.shape, list(NOTHING) * len(sold.price.amounts)
        for line in sold.price.lines:
            if line.sku == ROUNDING_PART or line.unit == MINIMUM:
                continue
            if (cost := self._of_unit(shape.model, line)) is None:
                return None
            place = line.number if line.counted is None else line.counted
            costs[place] = EXACT.add(costs[place], EXACT.multiply(line.quantity, cost))
        return tuple(costs)

    def _of_unit(self, model: str | None, line: PricedLine) -> Decimal | None:
        if (cost := self.skus.get(line.sku)) is not None:
            return cost
        named = (model or "", (model or "").partition(":")[0])
        return next((self.units[name, line.unit] for name in named if (name, line.unit) in self.units), None)

    def check(self, cards: Sequence[RateCard]) -> None:
        """Raise `SimulationError` for a cost of a model, unit or SKU that no card sells, which would never apply."""
        models = {name: model for card in cards for name, model in card.tables.models.items()}
        units = {
            (name, charge.unit)
            for name, model in models.items()
            for version in model.versions
            for charge in version.charges
        }
        for model, unit in self.units:
            if model not in models:
                raise SimulationError(f"{self.label}: there is no model '{model}'.{did_you_mean(model, models)}")
            if (model, unit) not in units:
                names = sorted(sold_unit for name, sold_unit in units if name == model)
                words = f"{model} is not charged by '{unit}'.{did_you_mean(unit, names)} Allowed: {', '.join(names)}"
                raise SimulationError(f"{self.label}: {words}")
        for sku in self.skus:
            if not any(sku.startswith(f"{name}-") for name in models):
                near = did_you_mean(sku, models)
                raise SimulationError(f"{self.label}: the SKU '{sku}' begins with no model.{near}")


@dataclass(frozen=True, slots=True)
class ShareCosts(Costs):
    """A share of the current charge, or of the charge of a candidate where only that has a price."""

    label: str
    share: Decimal

    @property
    def about(self) -> str:
        """Describe the share, and the charges that it is taken of."""
        return f"{self.label} of the current charge, and of a candidate's where only it has a price"

    def of(self, sold: SoldShape, pricer: Pricer) -> Vector | None:
        """Return the cost of a row, per request and per unit of each quantity; None where it is not known."""
        charged = sold.current or sold.price
        return tuple(EXACT.multiply(amount, self.share) for amount in charged.amounts)

    def check_margin(self, kept: Fraction) -> None:
        """Raise `SimulationError` where higher prices of what only a candidate sells lead away from a margin."""
        if Fraction(self.share) > kept:
            words = f"what only the candidate sells costs {self.label} of what it brings, so that a dearer price is"
            raise SimulationError(f"{words} further from this margin; give its costs as tables or CSV")


def share_costs(given: str) -> ShareCosts | None:
    """Read a share like `60%`; None for other text. Raises `SimulationError` for a percentage that cannot be a cost."""
    if not given.endswith("%"):
        return None
    try:
        return ShareCosts(given, EXACT.scaleb(read_number(given.removesuffix("%")), -2))
    except ValueError as error:
        raise SimulationError(f"costs '{given}': the share {error}. Write it like 60%") from None


def read_costs(path: Path) -> ListedCosts:
    """Read costs from CSV: `model,unit,cost` or `sku,cost`, or both in one. Raises `SimulationError` with the line.

    A line names a model and the unit of its charge, or an SKU; the cost is of one unit, in the currency of the prices.
    """
    units: dict[tuple[str, str], Decimal] = {}
    skus: dict[str, Decimal] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            heading = [name.strip().lower() for name in next(rows, [])]
            _check_heading(path, heading)
            for cells in rows:
                if any(cell.strip() for cell in cells):
                    _read_row(f"{path}:{rows.line_num}", heading, cells, units, skus)
    except OSError as error:
        raise SimulationError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimulationError(f"{path} is not a CSV file in UTF-8: {error}") from None
    if not units and not skus:
        raise SimulationError(f"{path} holds no costs")
    return ListedCosts(str(path), units, skus)


def _check_heading(path: Path, heading: Sequence[str]) -> None:
    unknown = [name for name in heading if name not in _COLUMNS]
    sound = "cost" in heading and ({"model", "unit"} <= set(heading) or "sku" in heading)
    if unknown or not sound or len(set(heading)) < len(heading):
        words = f"the heading is '{','.join(heading)}'. Write model,unit,cost or sku,cost"
        raise SimulationError(f"{path}:1: {words}")


def _read_row(
    place: str,
    heading: Sequence[str],
    cells: Sequence[str],
    units: dict[tuple[str, str], Decimal],
    skus: dict[str, Decimal],
) -> None:
    if len(cells) != len(heading):
        raise SimulationError(f"{place}: {len(cells)} cells under {len(heading)} headings")
    row = {name: cell.strip() for name, cell in zip(heading, cells, strict=True)}
    sku, model, unit = (row.get(name, "") for name in ("sku", "model", "unit"))
    try:
        cost = read_number(row["cost"])
    except ValueError as error:
        raise SimulationError(f"{place}: cost '{row['cost']}' {error}") from None
    if sku and model:
        raise SimulationError(f"{place}: name a model or an SKU, not both")
    if not sku and not (model and unit):
        raise SimulationError(f"{place}: name an SKU, or a model and its unit")
    known: dict[str, Decimal] | dict[tuple[str, str], Decimal] = skus if sku else units
    key = sku or (model, unit)
    if key in known:
        raise SimulationError(f"{place}: {sku or f'{model}, {unit}'} has a cost already: {text(known[key])}")  # type: ignore[index]
    known[key] = cost  # type: ignore[index]
