"""The pricer of shapes under several cards, which prices once what cards have in common.

It also prices rows as requests of another model: of retired models, or of named ones.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy

from ratecard.base.collector import uncollected
from ratecard.base.errors import QuoteError, SimulationError
from ratecard.base.instants import utc
from ratecard.base.layouts import Identity
from ratecard.base.messages import echo
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.contracts.overlay import ContractChain
from ratecard.requests.service_parameters import model_named, plain_name, split_name
from ratecard.review.sides import Side
from ratecard.simulation.groups.plan import EARLIEST
from ratecard.simulation.groups.predicates import Predicates, PriceBasis, price_basis
from ratecard.simulation.groups.shapes import Shapes, UsageShape
from ratecard.simulation.prices.outcome import NOT_ADDED, NOT_OFFERED, Outcome, Outcomes, PricedLine, Refused
from ratecard.simulation.prices.shape_price import PLACES_ADDED, ShapePrices
from ratecard.tables.card import Tables, meaning
from ratecard.tables.contract import Override
from ratecard.tables.windows import open_at, windows_of

# The most outcomes that are remembered: if there are more shapes, nearly all of them occur only once.
_MOST_OUTCOMES = 100_000
_VIDEO = "video"
# The names of a contract and of those that it extends.
ChainNames = tuple[str, ...]
# What a contract means for a model: whether it withholds the model, and the overrides of each contract of a chain.
ModelTerms = tuple[bool, *tuple[tuple[str, ...], ...]]
NO_INSTANT = "timestamp: missing, or not an instant"


def no_type(model: str | None, card: RateCard) -> str:
    """Return why a row that states no type has none: the card has no model of its name, which would say it."""
    if not model:
        return "type: missing, and no model that would say it"
    near = did_you_mean(model, card.tables.models)
    return f"type: missing, and no model of the name '{echo(model)}' that would say it.{near}"


@dataclass(frozen=True, slots=True)
class Remapping:
    """The models that a candidate prices as other ones: `models` has the name of the replacement by the name of each.

    With `successors`, requests that a candidate no longer offers are priced at the successor that its tables name.
    """

    models: Mapping[str, str] = field(default_factory=dict, hash=False)
    successors: bool = False

    def __bool__(self) -> bool:
        return bool(self.models or self.successors)

    def check(self, cards: Iterable[RateCard]) -> None:
        """Raise `SimulationError` for a replacement that no card has."""
        known = {name for card in cards for name in card.tables.models}
        for old, new in self.models.items():
            if new not in known:
                raise SimulationError(f"remap {old}={new}: there is no model '{new}'.{did_you_mean(new, known)}")

    def check_used(self, models: Iterable[str | None], cards: Iterable[RateCard]) -> None:
        """Raise `SimulationError` for a model with a replacement that is not among the `models` of the usage."""
        names = {name for name in models if name}
        named = {part for name in names for part in (name, name.partition(":")[0])}
        named |= {model.model for card in cards for name in names if (model := model_named(card.tables, name))}
        for old, new in self.models.items():
            if old not in named:
                words = f"remap {old}={new}: the usage has no rows of '{old}'.{did_you_mean(old, named)}"
                raise SimulationError(words)

    def named(self, tables: Tables, shape: UsageShape) -> UsageShape | None:
        """Return a shape with the replacement of its model, and the same parameters in its name; None without one."""
        if not self.models or shape.model is None or shape.type == "rpc":
            return None
        if (named := self._replacement(tables, shape.model)) is not None:
            return shape._replace(model=named)
        model, suffix = split_name(shape.model)
        before, colon, rest = shape.model.partition(":")
        if colon and rest[:1] in ("", "&"):  # parameters that begin without a name
            model, suffix = before, f"{colon}{rest}"
        new = self._replacement(tables, model) if suffix else None
        return None if new is None else shape._replace(model=f"{new}{suffix}")

    def _replacement(self, tables: Tables, name: str) -> str | None:
        """Return the replacement of a name, else that of the model for which the name is an alias."""
        model = tables.meant(name)
        return self.models.get(name) or (self.models.get(model.model) if model else None)

    def successor(self, tables: Tables, shape: UsageShape, day: date) -> UsageShape | None:
        """Return a shape with the first successor of its model that is not retired on a day; None without one."""
        if not self.successors or shape.model is None:
            return None
        name = plain_name(tables, shape.model)
        suffix = shape.model.removeprefix(name)
        named = model = tables.named(name)
        while model and model.retired and model.retired_at(day):  # no tables have successors that lead back
            model = tables.models.get(model.retired.successor or "")
        return shape._replace(model=f"{model.model}{suffix}") if model and model is not named else None

    def pairs(self, cards: Iterable[RateCard]) -> Iterator[tuple[str, str]]:
        """Yield pairs of a model and its replacement."""
        yield from self.models.items()
        if not self.successors:
            return
        for card in cards:
            models = card.tables.models
            for name, model in models.items():
                while model.retired and (successor := models.get(model.retired.successor or "")):
                    yield name, successor.model
                    model = successor


NO_REMAPPING = Remapping()


class Pricer:
    """A pricer that prices each shape once for all cards that share the tables which decide its price."""

    # The most decimals of amounts that can be added up.
    places = PLACES_ADDED
    # The word for a row of the usage.
    noun = "request"

    def __init__(self, predicates: Predicates, currency: str = "USD", remapping: Remapping = NO_REMAPPING) -> None:
        self.predicates, self.currency, self.remapping = predicates, currency, remapping
        self._outcomes: dict[Hashable, Outcome] = {}
        self._books: dict[tuple[RateCard, date, ChainNames], ShapePrices] = {}
        self._inputs: dict[tuple[RateCard, str | None], PriceInputs] = {}
        # Equal parts share one object, so that they are compared and hashed by identity.
        self._same_inputs: dict[tuple[Hashable, ...], PriceInputs] = {}
        self._same_states: dict[tuple[Hashable, ...], PriceState] = {}
        self._chains: dict[tuple[RateCard, date, str | None], HeldChain] = {}
        self._meanings: dict[Identity, str] = {}
        self._representatives: dict[tuple[RateCard, PriceState], tuple[str | None, date]] = {}
        self._terms: dict[tuple[RateCard, ChainNames], Mapping[str, ModelTerms]] = {}

    def add_to(self, places: int) -> None:
        """Refuse amounts with more than `places` decimals from now on."""
        self.places = places
        self._outcomes.clear()
        self._books.clear()

    def apart(self) -> "Pricer":
        """Return a copy of this pricer, which forgets on its own the prices that it learns."""
        other = copy(self)
        vars(other).update({name: dict(value) for name, value in vars(self).items() if isinstance(value, dict)})
        return other

    def outcomes(self, sides: Sequence[Side], shapes: Shapes) -> list[Outcomes]:
        """Return what each side charges for each of these shapes."""
        with uncollected():
            first = Outcomes(shapes, [], numpy.empty(len(shapes), numpy.int32))
            self._price_all(sides[0], first, numpy.arange(len(shapes)))
            return [first, *(self.beside(side, sides[0], shapes, first) for side in sides[1:])]

    def beside(self, side: Side, base: Side, shapes: Shapes, known: Outcomes) -> Outcomes:
        """Price shapes under one side; take the outcomes of `base` (`known`) where both have the same tables."""
        models, of = shapes.model_moments
        numbers = numpy.flatnonzero(
            ~numpy.array([self.alike(base, side, model_shape) for model_shape in models] or [True])[of]
        )
        # A shape that `base` does not offer may be offered here, and still be refused for another reason.
        priced = (known.priced | known.not_offered)[numbers]
        numbers = numpy.sort(numpy.concatenate((numbers[priced], known.complete(numbers[~priced]))))
        outcomes = Outcomes(shapes, known.distinct, known.of.copy())
        self._price_all(side, outcomes, numbers)
        if self.remapping:
            named = numpy.array(
                [self.remapping.named(side.card.tables, model_shape) is not None for model_shape in models] or [False]
            )[of]
            others = numpy.flatnonzero(named | (known.priced & outcomes.not_offered))
            outcomes = Outcomes(shapes, outcomes.distinct, outcomes.of)
            for number, (shape, *_) in zip(others.tolist(), shapes.among(others), strict=True):
                if (other := self._other(side, shape)) is not None:
                    outcomes.of[number] = outcomes.number(self._priced_as(side, other))
        return outcomes

    def _price_all(self, side: Side, outcomes: Outcomes, numbers: Any) -> None:
        """Price the shapes with these numbers: each template once for all moments that charge it the same."""
        if not len(numbers):
            return
        shapes, numbered = outcomes.shapes, dict[Hashable, int]()
        models, of = shapes.model_moments
        kind = numpy.array(
            [numbered.setdefault(self.state(side, model_shape), len(numbered)) for model_shape in models]
        )
        states = list(numbered)
        # Shapes with a length are kinds of their own. Small integers take less time to sort.
        kind = (2 * kind[of[numbers]] + (shapes.length[numbers] >= 0)).astype(numpy.min_scalar_type(2 * len(states)))
        order = numpy.argsort(kind, kind="stable")
        numbers, kind = numbers[order], kind[order]
        template = shapes.template[numbers]
        starts = numpy.flatnonzero(numpy.append(True, (template[1:] != template[:-1]) | (kind[1:] != kind[:-1])))
        columns = (template, shapes.moment[numbers], shapes.party[numbers], kind)
        first = zip(*(column[starts].tolist() for column in columns), strict=True)
        ends = pairwise([*starts.tolist(), len(kind)])
        for (at, moment, party, of_kind), (start, end) in zip(first, ends, strict=True):
            shape = shapes.templates[at].shape(None, shapes.moments[moment], shapes.accounts[party])
            state, same_kind = states[of_kind // 2], numbers[start:end]
            if of_kind % 2:
                outcomes.of[same_kind] = self._by_length(side, shape, state, outcomes, same_kind)
            else:
                outcomes.of[same_kind] = outcomes.number(self.price(side, shape, state))

    def _by_length(
        self, side: Side, shape: UsageShape, state: Hashable, outcomes: Outcomes, numbers: Any
    ) -> int | list[int]:
        """Return the numbers of the outcomes of shapes that differ from this one only in their length."""
        moment, shapes = _moment(side, shape), outcomes.shapes
        if moment is None or not (isinstance(state, PriceState) and state.known):
            return outcomes.number(self.price(side, shape, state))
        if shape.type != _VIDEO or shape.model is None:
            return [outcomes.number(self.price(side, counted.shape, state)) for counted in shapes.among(numbers)]
        prices, lengths = (
            self._shape_prices(side, *self._representative(side, shape, moment, state)),
            shapes.length[numbers].tolist(),
        )
        try:
            currency, answers = prices.by_length(shape, map(shapes.numbers.__getitem__, lengths))
        except QuoteError as error:
            return outcomes.number(Refused.of(error))

        def outcome_of(answer: Any) -> Outcome:
            return self._with_own_lines(side, prices.of_answer(answer, currency), state)

        return outcomes.numbers((prices, currency), answers, outcome_of)

    def _other(self, side: Side, shape: UsageShape) -> UsageShape | None:
        """Return the shape that a candidate prices the rows of a shape as, by remapping; None where it is their own."""
        if (named := self.remapping.named(side.card.tables, shape)) is not None:
            return named
        moment = _moment(side, shape)
        return self.remapping.successor(side.card.tables, shape, moment) if moment else None

    def _priced_as(self, side: Side, shape: UsageShape) -> Outcome:
        """Return the outcome of rows that are priced as this shape; if it is refused, they are not offered."""
        outcome = self.price(side, shape)
        if outcome.price:
            return outcome.price._replace(shape=shape)
        why = outcome.refusal
        return Refused(f"as {shape.model}: {why.reason}", NOT_ADDED if why.kind == NOT_ADDED else NOT_OFFERED)

    def state(self, side: Side, shape: UsageShape) -> Hashable:
        """Return an object that is equal for moments at which a side surely charges each shape of a model the same."""
        moment = _moment(side, shape)
        return moment and self._state_at(side, shape, moment)

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """Return True if two sides are sure to charge the same for every shape of a model and moment."""
        return one.at == other.at and self.state(one, shape) is self.state(other, shape)

    def price(self, side: Side, shape: UsageShape, known: Hashable = None) -> Outcome:
        """Return what a side charges for each row of a shape, or why it has no price; take the lines by `of_shape`.

        `known` is the state of the shape's price, where that is known.
        """
        if shape.type is None:
            return Refused(no_type(shape.model, side.card))
        state = self.state(side, shape) if known is None else known
        if (moment := _moment(side, shape)) is None or not isinstance(state, PriceState):
            return Refused(NO_INSTANT)
        # Without such a model, the rest of the shape does not matter.
        key = (shape[:3] if state.known else shape[:2], state, side.card if state.by_contract else None)
        if (outcome := self._outcomes.get(key)) is None:
            try:
                representative = self._representative(side, shape, side.at or state.refused_at or moment, state)
                outcome = self._shape_prices(side, *representative).price(shape)
            except QuoteError as error:
                outcome = Refused.of(error)
            outcome = self._with_own_lines(side, outcome, state)
            if len(self._outcomes) < _MOST_OUTCOMES:
                self._outcomes[key] = outcome
        return outcome

    def _with_own_lines(self, side: Side, outcome: Outcome, state: "PriceState") -> Outcome:
        """Return an outcome with the lines of each shape's own contract: several contracts may charge the same."""
        if not outcome.price or not state.by_contract:
            return outcome

        def lines(shape: UsageShape) -> tuple[PricedLine, ...]:
            price = self._shape_prices(side, shape.account, _moment(side, shape) or EARLIEST).price(shape).price
            return price.of_shape(shape).lines if price else ()

        return outcome.price._replace(charged=lines)

    def _representative(
        self, side: Side, shape: UsageShape, moment: date, state: "PriceState"
    ) -> tuple[str | None, date]:
        """Return an account and a moment with the prices of a state, the same for all shapes of this state.

        Where many contracts charge the same, only one of them is compiled for each state. The account is None where
        contracts say nothing: the list prices hold.
        """
        if not state.by_contract:
            return None, moment
        return self._representatives.setdefault((side.card, state), (shape.account, moment))

    def _shape_prices(self, side: Side, account: str | None, moment: date) -> ShapePrices:
        chain = self._chain(side.card, account, moment)
        place = (side.card, moment, chain.names)
        if place not in self._books:
            book = side.card.under(chain.contracts, utc(moment))
            self._books[place] = ShapePrices(book, self.predicates, self.currency, self.places)
        return self._books[place]

    def _chain(self, card: RateCard, account: str | None, moment: date) -> "HeldChain":
        """Return the contract that an account has at a moment, and those that it extends."""
        if not card.contracts:
            return NO_CHAIN
        place = (card, moment, account)
        if place not in self._chains:
            instant = utc(moment)
            contracts = card.in_force.chain(card.contract_of(None, account, instant), instant)
            names = tuple(contract.contract for contract in contracts)
            if (card, names) not in self._terms:
                self._terms[card, names] = self._terms_of(card, contracts)
            self._chains[place] = HeldChain(contracts, names, self._terms[card, names])
        return self._chains[place]

    def _terms_of(self, card: RateCard, chain: ContractChain) -> Mapping[str, ModelTerms]:
        """Return what a contract means for each model whose price or access it changes."""
        in_force, layers = card.in_force, dict[str, list[list[str]]]()
        for number, contract in enumerate(chain):
            for override in contract.overrides:
                for name in in_force.models_of(override.target):
                    layers.setdefault(name, [[] for _ in chain])[number].append(self._meaning(override))
        withheld, nothing = in_force.withheld(chain), [list[str]()] * len(chain)
        return {
            name: (name in withheld, *(tuple(sorted(layer)) for layer in layers.get(name, nothing)))
            for name in withheld | layers.keys()
        }

    def _meaning(self, override: Override) -> str:
        identity = Identity(override)
        if identity not in self._meanings:
            self._meanings[identity] = meaning(override)
        return self._meanings[identity]

    def dispute(self, shape: UsageShape) -> str:
        """Return how rows contradict the prices under which they were billed; empty for usage, which was not billed."""
        return ""

    def _state_at(self, side: Side, shape: UsageShape, moment: date) -> "PriceState":
        """Return what decides a shape's price on a side at a moment: one object wherever the same parts decide it."""
        place = (side.card, shape.model if shape.type != "rpc" else None)
        if (inputs := self._inputs.get(place)) is None:
            basis = price_basis(side.card.tables, place[1])
            if (inputs := self._same_inputs.get(basis.parts)) is None:
                inputs = self._same_inputs[basis.parts] = PriceInputs(side.card, basis)
            self._inputs[place] = inputs
        of_models = self._chain(side.card, shape.account, moment).terms
        terms = tuple([of_models.get(model.model) for model in inputs.models])
        if not any(terms):  # the list prices hold
            terms = ()
        if (state := inputs.states.get((moment, terms))) is None:
            state = PriceState(known=bool(inputs.models), refused_at=inputs.refused_at, by_contract=bool(terms))
            parts = (*inputs.parts_at(moment), terms)
            state = inputs.states[moment, terms] = self._same_states.setdefault(parts, state)
        return state


class HeldChain(NamedTuple):
    """The contract that an account has, those that it extends, and what they mean for each model that they change."""

    contracts: ContractChain
    names: ChainNames
    terms: Mapping[str, ModelTerms]


NO_CHAIN = HeldChain((), (), {})


class PriceState:
    """The parts of the tables that decide the price of a model at a moment, as an object that is equal only to itself.

    `known` is True if there is such a model; `by_contract` if contracts change its price, several of them perhaps in
    the same way. `refused_at` is that of `PriceInputs`.
    """

    def __init__(self, *, known: bool, refused_at: date | None, by_contract: bool) -> None:
        self.known, self.refused_at, self.by_contract = known, refused_at, by_contract


class PriceInputs:
    """The parts of the tables that decide the price of a model, at any moment."""

    def __init__(self, card: RateCard, basis: PriceBasis) -> None:
        tables = card.tables
        self.models, self._parts, self._limits = basis.models, basis.parts, tables.limits
        self.states: dict[tuple[date, tuple[Hashable, ...]], PriceState] = {}
        self._parts_at: dict[date, tuple[Hashable, ...]] = {}
        # Rows of an unknown model are refused at the newest prices, so that the names that are suggested do not depend
        # on which rows come first.
        self.refused_at = None if basis.models else next(reversed(card.boundaries()), None)
        always: list[object] = [tables.units, tables.vocabulary, tables.meters]
        for model in basis.models:
            always += [getattr(model, name) for name in type(model).model_fields if name not in ("versions", "retired")]
        self._always = tuple(map(Identity, always))

    def parts_at(self, moment: date) -> tuple[Hashable, ...]:
        """Return the parts of the tables that decide the price at a moment, by identity, with versions in effect."""
        if not self.models:
            return self._parts
        if moment not in self._parts_at:
            self._parts_at[moment] = self._found_at(utc(moment))
        return self._parts_at[moment]

    def _found_at(self, instant: datetime) -> tuple[Hashable, ...]:
        versions = [model.version_at(instant) for model in self.models]
        # The refusal of a model before its first version depends on all of its versions.
        rates = (Identity(version or model) for version, model in zip(versions, self.models, strict=True))
        retired = (Identity(model.retired) if model.retired_at(instant) else None for model in self.models)
        limits = (limit for limit in self._limits if utc(limit.effective) <= instant)
        known = Identity(next(limits, self._limits[-1] if self._limits else None))
        opened = open_at(windows_of(version for version in versions if version), instant)
        return (*self._always, *rates, *retired, known, opened)


def _moment(side: Side, shape: UsageShape) -> date | None:
    """Return the day or instant at whose prices a side charges a shape."""
    return side.at or shape.moment
