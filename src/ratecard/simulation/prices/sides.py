"""The sides that a simulation compares, and our costs: by a rate card, by units and SKUs, or as a share of charges.

A side is the current prices, a candidate, or `as-billed`, what a bill charged.
"""

import csv
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError, TableError
from ratecard.base.instants import utc
from ratecard.base.money import EXACT, text
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard, load_rate_card
from ratecard.line_items.quote import MINIMUM
from ratecard.load.revision import RevisionError
from ratecard.requests.service_parameters import model_named
from ratecard.review.sides import Side, SideError, Stack, named, side_of, stack_of
from ratecard.simulation.groups.predicates import price_basis
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
        """Raise `SimulationError` if dearer prices of what only a candidate sells lead away from a margin.

        `kept` is the share of revenue that the margin leaves for the costs.
        """

    def following(self, at: datetime | None) -> "Costs":
        """Return these costs; if their fixed instant is `at`, they follow the instant of the compared side instead."""
        return self


@dataclass(frozen=True, slots=True)
class CardCosts(Costs):
    """Costs by a rate card, at the instant of the side that is compared, or at a fixed instant."""

    card: Side

    @property
    def about(self) -> str:
        """Name the card and its tables."""
        return f"{self.card.label}, tables {self.card.card.digest}"

    def of(self, sold: SoldShape, pricer: Pricer) -> Vector | None:
        """Return the cost of a row, per request and per unit of each quantity; None where it is not known."""
        at = self.card.at or sold.side.at
        # Suppliers do not know our accounts, so that costs have no contracts.
        shape = (sold.price.shape or sold.counted.shape)._replace(account=None)
        if not self._holds(shape.model, at or shape.moment):
            return None
        outcome = pricer.price(replace(self.card, at=at), shape)
        return outcome.amounts if outcome.price else None

    def _holds(self, name: str | None, moment: date | None) -> bool:
        """Return True unless a candidate that decides the price of a model does not hold at a moment."""
        tables = self.card.card.tables
        for candidate in reversed(self.card.candidates):
            below = tables.below or tables
            is_held = moment is not None and candidate.holds(moment)
            if not is_held and price_basis(tables, name) != price_basis(below, name):
                return False
            tables = below
        return True

    def following(self, at: datetime | None) -> Costs:
        """Return these costs; if their fixed instant is `at`, they follow the instant of the compared side instead."""
        return CardCosts(replace(self.card, at=None)) if self.card.at == at else self


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
        quantities = (sold.counted.requests, *sold.counted.sums)
        for line in sold.price.lines:
            place = line.number if line.counted is None else line.counted
            # What no row of the shape has, such as cached tokens, costs nothing, so that its cost need not be known.
            if line.sku == ROUNDING_PART or line.unit == MINIMUM or not quantities[place]:
                continue
            if (cost := self._of_unit(shape.model, line, sold.side.card)) is None:
                return None
            costs[place] = EXACT.add(costs[place], EXACT.multiply(line.quantity, cost))
        return tuple(costs)

    def _of_unit(self, name: str | None, line: PricedLine, card: RateCard) -> Decimal | None:
        if (cost := self.skus.get(line.sku)) is not None:
            return cost
        model = model_named(card.tables, name)
        return self.units.get((model.model, line.unit)) if model else None


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
        """Raise `SimulationError` if dearer prices of what only a candidate sells lead away from a margin."""
        if Fraction(self.share) > kept:
            words = f"what only the candidate sells costs {self.label} of its revenue, so that a dearer price is"
            raise SimulationError(f"{words} further from this margin; give its costs as tables or CSV")


def share_costs(given: str) -> ShareCosts | None:
    """Read a share like `60%`; None for other text. Raises `SimulationError` for a percentage that cannot be a cost."""
    if not given.endswith("%"):
        return None
    try:
        return ShareCosts(given, EXACT.scaleb(read_number(given.removesuffix("%")), -2))
    except ValueError as error:
        raise SimulationError(f"costs '{given}': the share {error}. Write it like 60%") from None


def read_costs(path: Path, cards: Sequence[RateCard]) -> ListedCosts:
    """Read costs from CSV: `model,unit,cost` or `sku,cost`, or both in one. Raises `SimulationError` with the line.

    A line names a model and the unit of its charge, or an SKU, which some card must sell: else the cost would never
    apply. It is the cost of one unit, in the currency of the prices.
    """
    sold: dict[str, set[str]] = {}
    for name, model in (pair for card in cards for pair in card.tables.models.items()):
        sold.setdefault(name, set()).update(charge.unit for version in model.versions for charge in version.charges)
    units: dict[tuple[str, str], Decimal] = {}
    skus: dict[str, Decimal] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            heading = [name.strip().lower() for name in next(rows, [])]
            _check_heading(path, heading)
            for cells in rows:
                if any(cell.strip() for cell in cells):
                    _read_row(f"{path}:{rows.line_num}", heading, cells, units, skus, sold)
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
    sold: Mapping[str, Collection[str]],
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
    if sku and not any(sku.startswith(f"{name}-") for name in sold):
        raise SimulationError(f"{place}: the SKU '{sku}' begins with no model.{did_you_mean(sku, sold)}")
    if model and model not in sold:
        raise SimulationError(f"{place}: there is no model '{model}'.{did_you_mean(model, sold)}")
    if model and unit not in sold[model]:
        names = sorted(sold[model])
        words = f"{model} is not charged by '{unit}'.{did_you_mean(unit, names)} Allowed: {', '.join(names)}"
        raise SimulationError(f"{place}: {words}")
    known: dict[str, Decimal] | dict[tuple[str, str], Decimal] = skus if sku else units
    key = sku or (model, unit)
    if key in known:
        raise SimulationError(f"{place}: {sku or f'{model}, {unit}'} has a cost already: {text(known[key])}")  # type: ignore[index]
    known[key] = cost  # type: ignore[index]


AS_BILLED, OWN_DATE = "as-billed", "each row's own date"


@dataclass(frozen=True, slots=True)
class AsBilled(Side):
    """The charges that a billing export states. Its card says under which prices they were billed."""

    @property
    def has_rates(self) -> bool:
        """Return False: a bill states amounts, not rates."""
        return False


# A folder, a candidate file, a git revision or a date, as text; or any of these as an object.
Specification = str | Path | date | datetime | RateCard | Side


def sides(
    current: Specification | None, candidates: Specification | Sequence[Specification], tables: Path | None
) -> tuple[Side, ...]:
    """Return the current side and every candidate. Raises `SimulationError` for a specification that names no prices.

    A candidate is laid over the current card. Where the current prices are those of one instant, the candidate's are
    those of its first day, or of that instant if that is later.
    """
    base = Side(OWN_DATE, load_rate_card(tables)) if current is None else _side(current, tables, None)
    several: Sequence[Any] = candidates if isinstance(candidates, (list, tuple)) else [candidates]
    compared = [base, *against(base, several, tables)]
    labels = [side.label for side in compared]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SimulationError(f"'{twice}' is compared with itself; name each side once")
    return tuple(compared)


def against(base: Side, candidates: Sequence[Specification], tables: Path | None = None) -> list[Side]:
    """Return the sides of candidates for a current side."""
    return [_side(candidate, tables, base) for candidate in candidates]


def costs_of(given: "Specification | Costs | None", compared: Sequence[Side], tables: Path | None) -> Costs | None:
    """Return our costs: a share (`60%`), a CSV file, or prices; a candidate is laid over the current ones.

    Prices are taken at the instant of the compared side; those of a date, at that date. Raises `SimulationError`.
    """
    if given is None or isinstance(given, Costs):
        return given
    if isinstance(given, (str, Path)):
        if (share := share_costs(str(given))) is not None:
            return share
        if Path(given).suffix.lower() == ".csv" and not Path(given).is_dir():
            return read_costs(Path(given), [side.card for side in compared])
        with suppress(SideError):
            return _candidate_costs(stack_of(str(given)), compared)
    if given == AS_BILLED or isinstance(given, AsBilled):
        raise SimulationError(f"{AS_BILLED} is what we charge; give what we pay: tables, a candidate, CSV or a share")
    return CardCosts(_side(given, tables, compared[0]))


def _candidate_costs(stack: Stack, compared: Sequence[Side]) -> Costs:
    try:
        card = stack.over(compared[0].card)
        for side in compared:
            day = side.at and side.at.astimezone(UTC).date()
            if day and (first := stack.holds(day)) > day:
                words = f"the costs of {stack} hold from {first} on, and {side.label} is priced at {day}"
                raise SimulationError(f"{words}; give them an earlier effective date")
    except (TableError, SideError) as error:
        raise SimulationError(str(error)) from None
    return CardCosts(Side(str(stack), card, None, stack.candidates))


def _side(spec: Specification, tables: Path | None, base: Side | None) -> Side:
    if isinstance(spec, Side):
        return spec
    if isinstance(spec, RateCard):
        return Side("current" if base is None else f"card {spec.digest[:12]}", spec)
    if isinstance(spec, date):
        at = utc(spec)
        return Side(spec.isoformat(), load_rate_card(tables), at)
    if spec == AS_BILLED:
        return AsBilled(AS_BILLED, base.card if base else load_rate_card(tables))
    try:
        stack = named(str(spec), tables)
        if not isinstance(stack, Stack):
            return side_of(str(spec), stack, tables)
    except (SideError, RevisionError) as error:
        raise SimulationError(str(error)) from None
    if base is None:
        raise SimulationError(f"{spec} is a candidate, and the current prices are a folder, a revision or a date")
    if base.at is None:
        return Side(str(spec), stack.over(base.card), None, stack.candidates)
    try:
        day = stack.holds(base.at.astimezone(UTC).date())
    except SideError as error:
        raise SimulationError(str(error)) from None
    at = max(base.at, utc(day))
    return Side(str(spec), stack.over(base.card), at, stack.candidates)
