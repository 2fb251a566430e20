"""The result of a simulation: totals, breakdowns, and what could not be priced."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from ratecard.diff.side import Side
from ratecard.simulation.allocation import uncollected
from ratecard.simulation.attribution import Attribution, attribute
from ratecard.simulation.comparison import MODEL, Comparison, Row
from ratecard.simulation.customers import Customers, customers_of
from ratecard.simulation.disputes import Disputed, disputes
from ratecard.simulation.failure import SimulationError
from ratecard.simulation.margin import Margin, margin_of
from ratecard.simulation.notebook import html_of
from ratecard.simulation.predicates import Predicates
from ratecard.simulation.pricer import Outcome, Pricer, Refused
from ratecard.simulation.reading import Reading
from ratecard.simulation.roll_up import Counted, RollUp
from ratecard.simulation.side_prices import SidePrices
from ratecard.simulation.specification import Specification, against
from ratecard.simulation.volume import Elasticity, Response, response
from ratecard.words.money import EXACT

_EXAMPLES = 3
# The limit of a number that depends on other numbers of the same row.
_NUMBER = re.compile(r"(?<= than or equal to )\d+$")


class Unpriced(NamedTuple):
    """Rows without a price under a side: how many, why, and a few of their shapes."""

    side: str
    type: str
    reason: str
    rows: int
    examples: tuple[dict[str, Any], ...]


class Simulation:
    """Exact totals of usage under every side; the first one is the current, the others are the candidates.

    Rows that some side cannot price are in `unpriced` and in no total: rows = priced + unpriced.
    """

    def __init__(
        self,
        rolled: RollUp,
        sides: Sequence[Side],
        pricer: Pricer,
        outcomes: Sequence[Sequence[Outcome]],
        costs: Side | None = None,
        *,
        current: SidePrices | None = None,
    ) -> None:
        self.sides, self.pricer, self.costs = tuple(sides), pricer, costs
        with uncollected():
            first = current or SidePrices(rolled, outcomes[0])
            further = [SidePrices(rolled, each, first) for each in outcomes[1:]]
        self.comparison = Comparison(rolled, (first, *further))

    def against(self, *candidates: Specification) -> "Simulation":
        """The same usage and current prices against other candidates, on the roll-up that is kept.

        Only what a candidate changes is priced. Raises `SimulationError` for one that needs another roll-up.
        """
        compared = (self.sides[0], *against(self.sides[0], candidates))
        known, dated = self.comparison.roll_up, any(side.at is None for side in compared)
        by_model = bool(known.plan.predicates.of_model)
        asked = Predicates.of((side.card for side in compared), dated=dated, by_model=by_model)
        rolled = known.serving(asked, dated=dated)
        if rolled is not known:
            return Simulation(rolled, compared, self.pricer, self.pricer.outcomes(compared, rolled.shapes), self.costs)
        current = self.comparison.sides[0]
        with uncollected():
            changed = [self.pricer.beside(side, compared[0], rolled.shapes, current.outcomes) for side in compared[1:]]
        outcomes = (current.outcomes, *changed)
        return Simulation(rolled, compared, self.pricer, outcomes, self.costs, current=current)

    def forget(self) -> None:
        """Free what only the candidates need; the current prices and the roll-up stay."""
        self.comparison.forget()

    @property
    def outcomes(self) -> list[Sequence[Outcome]]:
        """What each side makes of each shape."""
        return [side.outcomes for side in self.comparison.sides]

    @property
    def by(self) -> tuple[str, ...]:
        """The keys that the usage is grouped by."""
        return self.comparison.roll_up.plan.keys

    @cached_property
    def rows(self) -> int:
        """Every row of the usage."""
        return self.comparison.roll_up.rows

    @cached_property
    def priced(self) -> int:
        """The rows that every side prices."""
        return sum(each.requests for _, each, _ in self.comparison.priced)

    @cached_property
    def total(self) -> Row:
        """The whole, as one row."""
        return self.comparison.rows(())[0]

    @cached_property
    def groups(self) -> tuple[Row, ...]:
        """One row for every combination of the keys in `by`."""
        return self.table(*self.by)

    def table(self, *keys: str) -> tuple[Row, ...]:
        """The breakdown by some of the keys; its rows add up exactly to `total`."""
        return self.comparison.rows(keys)

    def size(self, *keys: str) -> int:
        """How many rows the breakdown by some of the keys has."""
        return self.comparison.count(keys)

    @cached_property
    def unpriced(self) -> tuple[Unpriced, ...]:
        """What could not be priced, by side and reason, the most rows first."""
        found: dict[tuple[str, str, str], list[Counted]] = {}
        for number, each in enumerate(self.comparison.roll_up.shapes):
            for side, outcomes in zip(self.sides, self.outcomes, strict=True):
                outcome = outcomes[number]
                if isinstance(outcome, Refused):
                    reason = _NUMBER.sub("...", outcome.reason) if each.shape.irregular else outcome.reason
                    found.setdefault((side.label, each.shape.type or "", reason), []).append(each)
                    break
        rows = []
        for key, shapes in found.items():
            examples = tuple(each.shape.row() for each in shapes[:_EXAMPLES])
            rows.append(Unpriced(*key, sum(each.requests for each in shapes), examples))
        return tuple(sorted(rows, key=lambda row: (-row.rows, row)))

    @cached_property
    def disputed(self) -> tuple[Disputed, ...]:
        """Rows of a billing export that do not agree with the prices under which they were billed."""
        return disputes(self.comparison.roll_up.shapes, self.pricer)

    def attribution(self, candidate: int = 1) -> Attribution:
        """A candidate's difference, split by the rates that changed; the parts add up to it."""
        return attribute(self.comparison, self.sides, candidate)

    def customers(self, key: str = "customer", candidate: int = 1) -> Customers:
        """Winners and losers under a candidate; `key` is the column of `by` that names a customer."""
        return customers_of(self.table(key), candidate)

    def margin(self) -> Margin:
        """Cost and margin of every side, by model, and what is sold below cost; it needs the `costs` of `simulate`."""
        if self.costs is None:
            raise SimulationError("a margin needs a rate card of what we pay: costs")
        return margin_of(self.comparison, self.pricer, self.costs)

    def response(self, elasticities: Mapping[str, Elasticity], candidate: int = 1) -> Response:
        """The revenue that is expected once volume has answered the prices."""
        families = {name: family for side in self.sides for name, family in side.card.tables.families.items()}
        return response(self.by_model, candidate, elasticities, families)

    @cached_property
    def by_model(self) -> tuple[Row, ...]:
        """One row a model, whatever the usage is grouped by."""
        return self.table(MODEL)

    def revenue(self, side: Side) -> Decimal:
        """What one more side charges for the rows that the others price; `SimulationError` where it refuses some."""
        difference = Decimal(0)
        for _, counted, found in self.comparison.priced:
            price = self.pricer.price(side, counted.shape)
            if isinstance(price, Refused):
                raise SimulationError(f"{side.label}: {counted.requests} rows cannot be priced: {price.reason}")
            if price is not found[0]:
                now, then = (self.comparison.charge(counted, each.amounts) for each in (found[0], price))
                difference = EXACT.add(difference, EXACT.subtract(then, now))
        return EXACT.add(self.total.amounts[0], difference)

    def unpriced_text(self) -> str:
        """The unpriced rows as lines for a person."""
        count = self.rows - self.priced
        lines = [f"{count} of {self.rows} rows cannot be priced:"]
        for each in self.unpriced:
            example = ", ".join(f"{name} {value}" for name, value in each.examples[0].items() if name != "type")
            lines.append(f"  {each.rows} {each.type or 'of no known type'}: {each.reason} (for example: {example})")
        return "\n".join((*lines, *self.reading.warnings()))

    @property
    def reading(self) -> Reading:
        """What was read: files, columns and rows."""
        return self.comparison.roll_up.reading

    def _repr_html_(self) -> str:
        return html_of(self)

    def close(self) -> None:
        """Free the memory and what was spilled; the tables cannot be asked any more."""
        self.comparison.roll_up.workspace.close()

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
