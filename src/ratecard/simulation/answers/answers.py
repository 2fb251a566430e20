"""The answers of a simulation: totals, breakdowns, and what could not be priced."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

import numpy

from ratecard.base.collector import uncollected
from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, from_fraction, minus
from ratecard.requests.service_parameters import family_of, model_named
from ratecard.review.sides import Side
from ratecard.simulation.amounts import SidePrices, TooManyDigitsError
from ratecard.simulation.answers.attribution import Attribution, attribute, first_day, without_effect
from ratecard.simulation.answers.bridge import Bridge, bridge_of, last_instant, period_key
from ratecard.simulation.answers.comparison import MODEL, Comparison
from ratecard.simulation.answers.customers import Customers, Discounted, customers_of, discounts_of
from ratecard.simulation.answers.margin import Margin, known_costs, margin_of
from ratecard.simulation.answers.rows import NOTHING_LOST_OR_NEW, Disputed, OwnDays, Row, Since, Uncommon, Unpriced
from ratecard.simulation.answers.volume import (
    DEFAULT_PACE,
    AnyElasticity,
    Elasticity,
    Expected,
    Pace,
    Response,
    check_named_usage,
    elasticities_of,
    expected_of,
    marks_of,
    pace_of,
    volumes_of,
)
from ratecard.simulation.groups.grouped_usage import Reading, RollUp
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.outcome import Outcome, Outcomes, PricedShape, Refused, Vector
from ratecard.simulation.prices.pricer import NO_REMAPPING, Pricer
from ratecard.simulation.prices.shape_price import FEWER_PLACES_ADDED
from ratecard.simulation.prices.sides import OWN_DATE, Costs, Specification, against
from ratecard.simulation.rows.columns import DAY

_EXAMPLES, _RESPONSE_PLACES = 3, 2
# A limit in a reason that depends on other numbers of the row, so that it would split equal reasons.
_NUMBER = re.compile(r"(?<= than or equal to )\d+$")


class Answers:
    """Exact totals of usage under every side; the first is the current side, the others are the candidates.

    Rows = priced + unpriced. A row that a side does not offer (it has no such model, value or rate in effect) adds
    nothing to that side's amounts: `lost` or `new`. Rows that no side prices, or that some side cannot price for
    another reason (wrong rows, another currency), are in `unpriced` and in no total.
    """

    def __init__(
        self,
        rolled: RollUp,
        sides: Sequence[Side],
        pricer: Pricer,
        outcomes: Sequence[Outcomes],
        costs: Costs | None = None,
        *,
        current: SidePrices | None = None,
    ) -> None:
        with uncollected():
            try:
                self.comparison = _compared(rolled, outcomes, current)
            except TooManyDigitsError:  # rows with finer rates than most are left out, and reported as unpriced
                pricer = pricer.apart()
                pricer.add_to(FEWER_PLACES_ADDED)
                self.comparison = _compared(rolled, pricer.outcomes(sides, rolled.shapes))
        self.sides, self.pricer, self.costs = tuple(sides), pricer, costs

    def against(self, *candidates: Specification) -> Self:
        """Compare the same usage and current prices with other candidates, without reading the usage again.

        Only what a candidate changes is priced. Raises `SimulationError` for a candidate whose thresholds or dates need
        the usage to be grouped in another way.
        """
        return self._against(candidates, self.pricer)

    @contextmanager
    def trying(self, *candidates: Specification) -> Iterator[Self]:
        """Add candidates like `against`, for one `with` block: their prices and sums are forgotten at its end."""
        workspace = self.comparison.roll_up.workspace
        with workspace.forgetting_statements(), self._trial(candidates, self.pricer.apart()) as trial:
            yield trial

    @contextmanager
    def _trial(self, candidates: Sequence[Specification], pricer: Pricer) -> Iterator[Self]:
        trial = self._against(candidates, pricer)
        try:
            yield trial
        finally:
            trial.forget()
            if (current := trial.comparison.sides[0]) is not self.comparison.sides[0]:
                current.drop()

    def _against(self, candidates: Sequence[Specification], pricer: Pricer) -> Self:
        compared = (self.sides[0], *against(self.sides[0], candidates))
        known, dated = self.comparison.roll_up, any(side.at is None for side in compared)
        by_model = bool(known.plan.predicates.of_model)
        pricer.remapping.check(side.card for side in compared)
        cards = [side.card for side in compared]
        pairs, predicates = pricer.remapping.pairs(cards), known.plan.predicates
        # A usage rolled up for fixed instants is not split at the instants at which prices change.
        served = predicates if known.plan.dated or not dated else None
        layouts, contracts = known.plan.layouts, bool(known.plan.account)
        needed = Predicates.of(
            cards, dated=dated, by_model=by_model, pairs=pairs, layouts=layouts, known=served, contracts=contracts
        )
        known.check_columns(cards)
        rolled = known.serving(needed, dated=dated)
        if rolled is not known:
            return type(self)(rolled, compared, pricer, pricer.outcomes(compared, rolled.shapes), self.costs)
        current = self.comparison.sides[0]
        with uncollected():
            changed = [pricer.beside(side, compared[0], rolled.shapes, current.outcomes) for side in compared[1:]]
        return type(self)(rolled, compared, pricer, (current.outcomes, *changed), self.costs, current=current)

    def forget(self) -> None:
        """Free what only the candidates need; the current prices and the roll-up stay."""
        self.comparison.forget()
        for pair in self.__dict__.pop("cost_prices", ()):
            for prices in pair:
                prices.drop()
        for prices in self.__dict__.pop("list_prices", ()):
            prices.drop()

    @property
    def outcomes(self) -> list[Outcomes]:
        """Return what each side charges for each shape, or why it has no price."""
        return [side.outcomes for side in self.comparison.sides]

    @property
    def by(self) -> tuple[str, ...]:
        """Return the keys that the usage is grouped by."""
        return self.comparison.roll_up.plan.by

    @cached_property
    def rows(self) -> int:
        """Return the number of rows of the usage."""
        return self.comparison.roll_up.rows

    @cached_property
    def priced(self) -> int:
        """Return the number of rows in the figures: some side prices them, the others do too or do not offer them."""
        return sum(self.comparison.roll_up.shapes.requests[self.comparison.coverage.in_figures].tolist())

    @cached_property
    def total(self) -> Row:
        """Return all usage as one row."""
        return self.comparison.rows(())[0]

    @cached_property
    def groups(self) -> tuple[Row, ...]:
        """Return one row for every combination of values of the keys in `by`."""
        return self.table(*self.by)

    def table(self, *keys: str) -> tuple[Row, ...]:
        """Break usage down by some of the keys of `by`, or by `model`; the rows add up exactly to `total`.

        Raises `SimulationError` for a key that the usage was not grouped by.
        """
        return self.comparison.rows(keys)

    def size(self, *keys: str) -> int:
        """Count the rows of the breakdown by some of the keys."""
        return self.comparison.count(keys)

    @cached_property
    def unpriced(self) -> tuple[Unpriced, ...]:
        """Return the rows without a price, by side and reason, the most rows first."""
        by_reason: dict[tuple[str, str, str], list[Counted]] = {}
        labels = [side.label for side in self.sides]
        numbers = numpy.flatnonzero(~self.comparison.coverage.in_figures)
        for number, counted in zip(numbers.tolist(), self.comparison.roll_up.shapes.among(numbers), strict=True):
            sides = zip(labels, self.comparison.sides, strict=True)
            refused = [(label, why) for label, side in sides if (why := side.outcomes[number].refusal)]
            # A wrong row says more than a model that is not offered.
            label, why = next((pair for pair in refused if not pair[1].not_offered), refused[0])
            reason = _NUMBER.sub("...", why.reason) if counted.shape.irregular else why.reason
            by_reason.setdefault((label, counted.shape.type or "", reason), []).append(counted)
        rows = (Unpriced(*key, *_counted(shapes)) for key, shapes in by_reason.items())
        return tuple(sorted(rows, key=lambda row: (-row.rows, row.side, row.type, row.reason)))

    @cached_property
    def disputed(self) -> tuple[Disputed, ...]:
        """Return the rows of a billing export that do not agree with the prices under which they were billed."""
        by_reason: dict[str, list[Counted]] = {}
        for counted in self.comparison.roll_up.shapes:
            if reason := self.pricer.dispute(counted.shape):
                by_reason.setdefault(reason, []).append(counted)
        rows = (Disputed(reason, *_counted(shapes)) for reason, shapes in by_reason.items())
        return tuple(sorted(rows, key=lambda row: (-row.rows, row.reason)))

    def attribution(self, candidate: int = 1) -> Attribution:
        """Split a candidate's difference from the current total by the rates that changed.

        `candidate` is its number among the sides, from 1. The parts add up exactly to the difference.
        """
        return attribute(self.comparison, self.sides, candidate)

    def lost(self, candidate: int = 1) -> tuple[Uncommon, ...]:
        """Return the requests that a candidate does not offer any more, and why; the greatest revenue first."""
        return self._uncommon(self.comparison.coverage.lost(candidate), 0, candidate)

    def new(self, candidate: int = 1) -> tuple[Uncommon, ...]:
        """Return the requests that only a candidate offers, and why; the greatest revenue first."""
        return self._uncommon(self.comparison.coverage.new(candidate), candidate, 0)

    def _uncommon(self, numbers: Any, offers: int, lacks: int) -> tuple[Uncommon, ...]:
        sums: dict[tuple[str, str, str], tuple[int, Decimal]] = {}
        sides = self.comparison.sides
        for number, counted in zip(numbers, self.comparison.roll_up.shapes.among(numbers), strict=True):
            price, why = sides[offers].outcomes[number].price, sides[lacks].outcomes[number].refusal
            if price and why:
                key = (counted.shape.type or "", counted.shape.model or "", why.reason)
                requests, amount = sums.get(key, (0, Decimal(0)))
                more = self.comparison.charge(counted, price.amounts)
                sums[key] = (requests + counted.requests, EXACT.add(amount, more))
        rows = (Uncommon(*key, requests, amount) for key, (requests, amount) in sums.items())
        return tuple(sorted(rows, key=lambda row: (minus(row.amount), row.type, row.model, row.reason)))

    @cached_property
    def no_effect(self) -> tuple[str, ...]:
        """Return the reasons why candidates change nothing; empty where each changes something."""
        return without_effect(self.comparison, self.sides)

    def since(self, candidate: int = 1) -> Since | None:
        """Split the usage at the first day on which a candidate's prices differ; None if no request is before it.

        Also None where both are priced at one instant, whenever a request was sent.
        """
        # Remapped rows change their price on every day.
        remapped = self.pricer.remapping.models
        day = (
            None if remapped else first_day(*(self.sides[at] for at in (0, candidate)), contracts=bool(self.by_account))
        )
        split = self.comparison.since(day, candidate) if day else None
        return split if split and split.before else None

    def customers(self, key: str = "customer", candidate: int = 1) -> Customers:
        """List who pays less and who pays more under a candidate; `key` is the column of `by` that names a customer."""
        return customers_of(self.comparison.sums((key,)), candidate)

    def bridge(self, before: str, after: str, side: int = 0) -> Bridge:
        """Explain the revenue of two periods under one side by price, size, volume and mix of models.

        A period is a day, a week (named by its Monday) or a month (`2026-10`). Raises `SimulationError` for a period
        that the usage is not grouped by, or that has no priced request.
        """
        key, named = period_key(self.comparison, before, after), self.sides[side]
        if named.at is not None or not named.has_rates:  # both periods have the same prices, or those of a bill
            return bridge_of(self.comparison, (before, after), side)
        pricer = self.pricer.apart()
        pricer.remapping = NO_REMAPPING
        base = type(self)(self.comparison.roll_up, (named,), pricer, (self.outcomes[side],))
        with base._trial([Side(f"the end of {before}", named.card, last_instant(before, key))], pricer) as fixed:
            rows = fixed.comparison.rows((key, MODEL))
        base.comparison.sides[0].drop()
        return bridge_of(self.comparison, (before, after), side, rows)

    def margin(self) -> Margin:
        """Return the cost and margin of every side by model, and the sales below cost, exactly.

        Raises `SimulationError` where `simulate` was given no costs.
        """
        return margin_of(self.comparison, self.known_costs)

    @cached_property
    def known_costs(self) -> dict[int, tuple[Vector, ...]]:
        """Return what a row of each shape costs by side, where known. Raises `SimulationError` without any costs."""
        if self.costs is None:
            raise SimulationError("a margin needs our costs: give costs")
        return known_costs(self.comparison, self.sides, self.pricer, self.costs)

    @cached_property
    def cost_prices(self) -> tuple[tuple[SidePrices, SidePrices], ...]:
        """Return cost and margin of each side as prices that the engine adds up; without shapes of unknown cost."""
        rolled, known, prices = self.comparison.roll_up, self.known_costs, []
        refused: Outcome = Refused("its cost is not known")
        for at, side in enumerate(self.comparison.sides):
            costs, margins = [refused] * len(rolled.shapes), [refused] * len(rolled.shapes)
            for number, vectors in known.items():
                price = side.outcomes[number]
                left = tuple(map(EXACT.subtract, price.amounts, vectors[at]))
                costs[number], margins[number] = (PricedShape(amounts, (), "") for amounts in (vectors[at], left))
            both = (SidePrices(rolled, Outcomes.listed(rolled.shapes, outcomes)) for outcomes in (costs, margins))
            prices.append((next(both), next(both)))
        return tuple(prices)

    def costs_by(self, *keys: str) -> dict[tuple[str | None, ...], tuple[tuple[Decimal, Decimal], ...]]:
        """Return cost and margin under each side by some of the keys, of the requests whose cost is known."""
        sums = [[self.comparison.sums_of(prices, keys) for prices in pair] for pair in self.cost_prices]
        zero = Decimal(0)
        return {
            row.key: tuple((cost.get(row.key, zero), margin.get(row.key, zero)) for cost, margin in sums)
            for row in self.table(*keys)
        }

    @property
    def by_account(self) -> str:
        """Return the column of the accounts whose contracts price the rows; empty where the list alone does."""
        return self.comparison.roll_up.plan.account

    @cached_property
    def list_prices(self) -> tuple[SidePrices, ...]:
        """Return each side's charges for every row at list prices, even for models that only contracts offer."""
        rolled, prices = self.comparison.roll_up, []
        in_figures, left = self.comparison.coverage.in_figures, Refused("it is in no figure")
        with uncollected():
            lists = [replace(side, card=side.card.listed) for side in self.sides]
            listed = self.pricer.outcomes(lists, rolled.shapes.without_accounts())
            for net, others in zip(self.outcomes, listed, strict=True):
                of = numpy.where(others.priced, others.of + len(net.distinct) + 1, net.of)
                of = numpy.where(in_figures & net.priced, of, len(net.distinct))
                prices.append(SidePrices(rolled, Outcomes(rolled.shapes, [*net.distinct, left, *others.distinct], of)))
        return tuple(prices)

    def discounts(self, key: str = "") -> tuple[Discounted, ...]:
        """Return each customer's charges by contract and at list prices, by side; with costs, its margin.

        `key` is the column of `by` that names a customer, by default that of the account; the amounts add up exactly to
        the totals. Raises `SimulationError` where rows are not priced by contract, or usage is not grouped by `key`.
        """
        if not self.by_account:
            raise SimulationError("all rows are at list prices. Price them by contract: contracts=True, or --contracts")
        keys = (key or self.by_account,)
        rows, costs = self.table(*keys), self.costs_by(*keys) if self.costs else {}
        return discounts_of(rows, [self.comparison.sums_of(prices, keys) for prices in self.list_prices], costs)

    def expected(
        self,
        elasticities: Mapping[str, AnyElasticity] | None = None,
        volumes: Mapping[str, Decimal | str] | Iterable[str] = (),
        *,
        since: date | None = None,
    ) -> Expected:
        """Estimate revenue, cost and margin of every side at other volumes; with `since`, revenue from that day on.

        `elasticities` are as in `response`. `volumes` are changes by model, family, type, `all`, or a value of a key
        that the usage is grouped by: `["-5%", "veo=+10%", "customer:acme=-100%"]`. Raises `SimulationError`.
        """
        changes, elastic = volumes_of(volumes), elasticities_of(elasticities or {})
        self.check_named(elastic, changes)
        return self.expected_at(elastic, changes, since)

    def expected_at(
        self,
        elastic: Mapping[str, Elasticity],
        changes: Mapping[str, Decimal],
        since: date | None = None,
        *,
        with_costs: bool = True,
    ) -> Expected:
        """Estimate the same without `check_named`, which a search calls once for all factors that it tries."""
        costs = self.cost_prices if self.costs and with_costs and since is None else ()
        marks = marks_of(changes, self.by)
        cells = self.comparison.cells(marks, since, costs)
        for key, values in marks.items():
            missing = next((value for value in values if all(cell.marks[key] != value for cell in cells)), None)
            if missing is not None and since is None:
                raise SimulationError(f"volume of '{key}:{missing}': no usage of this {key}")
        groups = self._groups({cell.model for cell in cells})
        return expected_of(cells, elastic, changes, groups, len(self.sides))

    def pace(self, most: int | None = DEFAULT_PACE) -> Pace | None:
        """Return the last days of the usage, at most `most` (None: all), to scale to a year; None without days."""
        days = self.comparison.roll_up.days
        return pace_of(days, self.table(DAY), most) if days else None

    def own_days(self) -> OwnDays | None:
        """Price the usage at each row's own day; return None where the current prices already do so.

        Raises `SimulationError` where the usage is not grouped by day.
        """
        current, plan = self.sides[0], self.comparison.roll_up.plan
        if current.at is None or not current.has_rates:
            return None
        if not self.reading.timed:
            raise SimulationError("the usage has no column 'timestamp'. Name it: --map timestamp=COLUMN")
        if DAY not in plan.keys:
            raise SimulationError("the usage is not grouped by day. Add it: by=[..., 'day'], or --by ...,day")
        pricer = self.pricer.apart()
        pricer.remapping = NO_REMAPPING
        with self._trial([Side(OWN_DATE, current.card)], pricer) as trial:
            both_sides, lost_and_new = trial.total, self.total.beside() if len(self.sides) > 1 else NOTHING_LOST_OR_NEW
        offered = self.total.requests - lost_and_new.new_requests - lost_and_new.neither
        without = offered - both_sides.both_requests()
        difference = EXACT.subtract(both_sides.amounts[1], self.total.amounts[0])
        return OwnDays(both_sides.amounts[1], difference, without, both_sides.beside().new_requests)

    def response(self, elasticities: Mapping[str, AnyElasticity], candidate: int = 1) -> Response:
        """Estimate the revenue after customers react to the prices, rounded to cents.

        `elasticities` are by model, family, type or `all`: a number, or a text with a range (`"-0.8:-1.2..-0.4"`).
        """
        expected = self.expected(elasticities)
        revenues = expected.total.revenues
        amounts = (revenues[candidate], *expected.ranges[candidate], revenues[0])
        return Response(*(from_fraction(amount, _RESPONSE_PLACES) for amount in amounts))

    def check_named(self, elasticities: Iterable[str], volumes: Iterable[str] = ()) -> None:
        """Raise `SimulationError` for an elasticity or a volume of a model, family, type or key without usage."""
        models = [row.key[0] or "" for row in self.by_model]
        check_named_usage(elasticities, volumes, models, self._groups(models), self.by)

    def _groups(self, models: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the model, the family and the type of each of these names of models in the usage."""
        return {
            name: tuple(filter(None, (model.model, family_of(side.card.tables, name), model.type)))
            for side in reversed(self.sides)
            for name in models
            if (model := model_named(side.card.tables, name))
        }

    @cached_property
    def by_model(self) -> tuple[Row, ...]:
        """Return one row per model, whatever the usage is grouped by."""
        return self.table(MODEL)

    def unpriced_text(self) -> str:
        """Describe the unpriced rows in lines of text, or say why there are no rows at all."""
        if not self.rows:
            words = f"none of {self.reading.found:,} rows is chosen: {self.reading.chosen}"
            return words if self.reading.found else "the usage has no rows"
        count = self.rows - self.priced
        lines = [f"{count} of {self.rows} rows cannot be priced:"]
        for row in self.unpriced:
            example = ", ".join(f"{name} {value}" for name, value in row.examples[0].items() if name != "type")
            lines.append(f"  {row.rows} {row.type or 'of no known type'}: {row.reason} (for example: {example})")
        return "\n".join((*lines, *self.reading.warnings()))

    @property
    def reading(self) -> Reading:
        """Return what was read: files, columns and rows."""
        return self.comparison.roll_up.reading

    @property
    def sql(self) -> tuple[str, ...]:
        """Return the SQL statements that have run until now, in order, so that a person can run them by hand.

        A mark `?` stands for a value that was bound. Statements that Spark ran are not among them.
        """
        return self.comparison.roll_up.workspace.statements

    def close(self) -> None:
        """Free the memory and the spilled files; breakdowns cannot be made any more."""
        self.comparison.roll_up.workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compared(rolled: RollUp, outcomes: Sequence[Outcomes], current: SidePrices | None = None) -> Comparison:
    first = current or SidePrices(rolled, outcomes[0])
    return Comparison(rolled, (first, *(SidePrices(rolled, further, first) for further in outcomes[1:])))


def _counted(shapes: Sequence[Counted]) -> tuple[int, tuple[dict[str, Any], ...]]:
    """Return the number of rows of shapes, and a few shapes as examples."""
    return sum(counted.requests for counted in shapes), tuple(counted.shape.row() for counted in shapes[:_EXAMPLES])
