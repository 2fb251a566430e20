"""Prices shapes under several cards; what two cards have in common is priced once."""

from collections.abc import Hashable, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import numpy

from ratecard.base.errors import QuoteError
from ratecard.base.identity import Identity
from ratecard.base.instants import utc
from ratecard.card import RateCard
from ratecard.changes.sides import Side
from ratecard.simulation.groups.predicates import Predicates, PriceBasis, price_basis
from ratecard.simulation.groups.roll_up import uncollected
from ratecard.simulation.groups.shape import UsageShape
from ratecard.simulation.groups.shapes import Shapes
from ratecard.simulation.prices.outcome import NOT_ADDED, NOT_OFFERED, Outcome, Refused
from ratecard.simulation.prices.outcomes import Distinct, Outcomes
from ratecard.simulation.prices.remap import NO_REMAPPING, Remapping
from ratecard.simulation.prices.shape_price import ShapePrices
from ratecard.tables.windows import open_at, windows_of

# Outcomes that are remembered: where there are more shapes, nearly each is of one request, and none comes again.
_MOST_FOUND = 100_000
_VIDEO = "video"
NO_TYPE = "type: missing, and no model of this name that would say it"
NO_INSTANT = "timestamp: missing, or not an instant"


class Pricer:
    """Prices shapes, each once for all cards that share the tables which decide its price."""

    def __init__(self, predicates: Predicates, currency: str = "USD", remapping: Remapping = NO_REMAPPING) -> None:
        self.predicates, self.currency, self.remapping = predicates, currency, remapping
        self._found: dict[Hashable, Outcome] = {}
        self._books: dict[tuple[RateCard, date], ShapePrices] = {}
        self._bases: dict[tuple[RateCard, str | None], _Basis] = {}
        self._standings: dict[tuple[RateCard, str | None, date], _Standing] = {}
        # One object for all of the same parts, so that they are compared and hashed as quickly as can be.
        self._same_bases: dict[tuple[Hashable, ...], _Basis] = {}
        self._same_standings: dict[tuple[Hashable, ...], _Standing] = {}

    def apart(self) -> "Pricer":
        """A pricer that knows the same; what it learns is forgotten with it."""
        other = Pricer(self.predicates, self.currency, self.remapping)
        other._found, other._books = dict(self._found), dict(self._books)
        other._bases, other._same_bases = dict(self._bases), dict(self._same_bases)
        other._standings = dict(self._standings)
        other._same_standings = dict(self._same_standings)
        return other

    def outcomes(self, sides: Sequence[Side], shapes: Shapes) -> list[Outcomes]:
        """What each side charges for each of these shapes."""
        with uncollected():
            first = Outcomes(shapes, [], numpy.empty(len(shapes), numpy.int32))
            self._price_all(sides[0], first, numpy.arange(len(shapes)))
            return [first, *(self.beside(side, sides[0], shapes, first) for side in sides[1:])]

    def beside(self, side: Side, base: Side, shapes: Shapes, known: Outcomes) -> Outcomes:
        """Price shapes under one side; with the same tables as `base`, each outcome is that of `base` (`known`)."""
        standings, of = shapes.standing
        numbers = numpy.flatnonzero(~numpy.array([self.alike(base, side, each) for each in standings] or [True])[of])
        # What is not offered may be refused for another reason where it is.
        priced = (known.priced | known.not_offered)[numbers]
        numbers = numpy.sort(numpy.concatenate((numbers[priced], known.complete(numbers[~priced]))))
        found = Outcomes(shapes, [*known.distinct], known.of.copy())
        self._price_all(side, found, numbers)
        if self.remapping:
            named = numpy.array([self.remapping.named(each) is not None for each in standings] or [False])[of]
            others = numpy.flatnonzero(named | (known.priced & found.not_offered))
            distinct = Distinct(found.distinct)
            for number, (shape, *_) in zip(others.tolist(), shapes.among(others), strict=True):
                if (other := self._other(side, shape)) is not None:
                    found.of[number] = distinct.number(self._priced_as(side, other))
            found = Outcomes(shapes, distinct.outcomes, found.of)
        return found

    def _price_all(self, side: Side, found: Outcomes, numbers: Any) -> None:
        """Price the shapes of these numbers: those of a family at once, for all moments that charge it the same."""
        if not len(numbers):
            return
        shapes, distinct, numbered = found.shapes, Distinct(found.distinct), dict[Hashable, int]()
        standings, of = shapes.standing
        kind = numpy.array([numbered.setdefault(self.basis(side, each), len(numbered)) for each in standings])
        bases = list(numbered)
        # Those with a length apart from the others; as small numbers, which take less time to sort.
        kind = (2 * kind[of[numbers]] + (shapes.length[numbers] >= 0)).astype(numpy.min_scalar_type(2 * len(bases)))
        order = numpy.argsort(kind, kind="stable")
        numbers, kind = numbers[order], kind[order]
        family = shapes.family[numbers]
        starts = numpy.flatnonzero(numpy.append(True, (family[1:] != family[:-1]) | (kind[1:] != kind[:-1])))
        first = zip(*(each[starts].tolist() for each in (family, shapes.moment[numbers], kind)), strict=True)
        own = numpy.empty(len(numbers), numpy.int32)
        for (at, moment, of_kind), (start, end) in zip(first, pairwise([*starts.tolist(), len(own)]), strict=True):
            shape, basis = shapes.families[at].shape(None, shapes.moments[moment]), bases[of_kind // 2]
            if of_kind % 2:
                own[start:end] = self._by_length(side, shape, basis, shapes, numbers[start:end], distinct)
            else:
                own[start:end] = distinct.number(self.price(side, shape, basis))
        found.of[numbers] = own
        found.distinct[:] = distinct.outcomes

    def _by_length(
        self, side: Side, shape: UsageShape, basis: Hashable, shapes: Shapes, numbers: Any, distinct: Distinct
    ) -> int | list[int]:
        """The numbers of the outcomes of shapes that are this one but for their length."""
        moment = _moment(side, shape)
        if moment is None or not (isinstance(basis, _Standing) and basis.known):
            return distinct.number(self.price(side, shape, basis))
        if shape.type != _VIDEO or shape.model is None:
            return [distinct.number(self.price(side, each.shape, basis)) for each in shapes.among(numbers)]
        prices, lengths = self._shape_prices(side, moment), shapes.length[numbers].tolist()
        try:
            currency, answers = prices.by_length(shape, map(shapes.numbers.__getitem__, lengths))
        except QuoteError as error:
            return distinct.number(Refused.of(error))
        return distinct.numbers((prices, currency), answers, lambda answer: prices.of_answer(answer, currency))

    def _other(self, side: Side, shape: UsageShape) -> UsageShape | None:
        """What the rows of a shape are priced as beside the current prices, where that is not what they are."""
        if (named := self.remapping.named(shape)) is not None:
            return named
        moment = _moment(side, shape)
        return self.remapping.successor(side.card.tables, shape, moment) if moment else None

    def _priced_as(self, side: Side, shape: UsageShape) -> Outcome:
        """The price of other rows; what these would lack is not offered to those that are."""
        found = self.price(side, shape)
        if found.price:
            return found.price._replace(shape=shape)
        why = found.refusal
        return Refused(f"as {shape.model}: {why.reason}", NOT_ADDED if why.kind == NOT_ADDED else NOT_OFFERED)

    def basis(self, side: Side, shape: UsageShape) -> Hashable:
        """What is equal at all moments at which a side is sure to charge the same for every shape of a model."""
        moment = _moment(side, shape)
        return moment and self._standing(side, shape, moment)

    def alike(self, one: Side, other: Side, shape: UsageShape) -> bool:
        """Whether two sides are sure to charge the same for every shape of a model and moment."""
        return one.at == other.at and self.basis(one, shape) is self.basis(other, shape)

    def price(self, side: Side, shape: UsageShape, basis: Hashable = None) -> Outcome:
        """What a side charges for each row of a shape, or why it has no price there; its lines may be of any shape.

        `basis` is that of the shape, where it is known.
        """
        if shape.type is None:
            return Refused(NO_TYPE)
        standing = self.basis(side, shape) if basis is None else basis
        if (moment := _moment(side, shape)) is None or not isinstance(standing, _Standing):
            return Refused(NO_INSTANT)
        key = _key(shape, standing)
        if (found := self._found.get(key)) is None:
            found = self._price(side, shape, side.at or standing.refused_at or moment)
            if len(self._found) < _MOST_FOUND:
                self._found[key] = found
        return found

    def _shape_prices(self, side: Side, moment: date) -> ShapePrices:
        place = (side.card, moment)
        if place not in self._books:
            self._books[place] = ShapePrices(side.card.at(moment), self.predicates, self.currency)
        return self._books[place]

    def _price(self, side: Side, shape: UsageShape, moment: date) -> Outcome:
        try:
            return self._shape_prices(side, moment).price(shape)
        except QuoteError as error:
            return Refused.of(error)

    def dispute(self, shape: UsageShape) -> str:
        """What contradicts the prices under which rows were billed; empty of usage, which was not."""
        return ""

    def _standing(self, side: Side, shape: UsageShape, moment: date) -> "_Standing":
        """What decides the price of a shape's model on a side at a moment: one object for the same parts."""
        model = shape.model if shape.type != "rpc" else None
        place = (side.card, model, moment)
        if (standing := self._standings.get(place)) is None:
            of = (side.card, model)
            if (basis := self._bases.get(of)) is None:
                found = price_basis(side.card.tables, model)
                basis = self._same_bases.get(found.parts) or _Basis(side.card, found)
                self._bases[of] = self._same_bases[found.parts] = basis
            if (standing := basis.standings.get(moment)) is None:
                made = _Standing(known=bool(basis.models), refused_at=basis.refused_at)
                standing = basis.standings[moment] = self._same_standings.setdefault(basis.parts_at(moment), made)
            self._standings[place] = standing
        return standing


class _Standing:
    """What decides the price of a model at a moment: equal only to itself. `known`: there is such a model.

    `refused_at`: see `_Basis`.
    """

    def __init__(self, *, known: bool, refused_at: date | None) -> None:
        self.known, self.refused_at = known, refused_at


class _Basis:
    """What decides the price of a model at any moment."""

    def __init__(self, card: RateCard, basis: PriceBasis) -> None:
        tables = card.tables
        self.models, self._parts, self._limits = basis.models, basis.parts, tables.limits
        self.standings: dict[date, _Standing] = {}
        # When the rows of an unknown model are refused: the names that could be meant are those of the newest prices,
        # whichever of its rows come first.
        self.refused_at = None if basis.models else next(reversed(card.boundaries()), None)
        always: list[object] = [tables.units, tables.vocabulary, tables.meters]
        for model in basis.models:
            always += [getattr(model, name) for name in type(model).model_fields if name not in ("versions", "retired")]
        self._always = tuple(map(Identity, always))

    def parts_at(self, moment: date) -> tuple[Hashable, ...]:
        """The parts of the tables that decide it at a moment, by identity: of the versions, those in effect."""
        if not self.models:
            return self._parts
        instant = utc(moment)
        versions = [model.version_at(instant) for model in self.models]
        # What is said of a model before its first version depends on all of them.
        rates = (Identity(version or model) for version, model in zip(versions, self.models, strict=True))
        retired = (Identity(model.retired) if model.retired_at(instant) else None for model in self.models)
        limits = (each for each in self._limits if utc(each.effective) <= instant)
        known = Identity(next(limits, self._limits[-1] if self._limits else None))
        opened = open_at(windows_of(version for version in versions if version), instant)
        return (*self._always, *rates, *retired, known, opened)


def _key(shape: UsageShape, standing: _Standing) -> Hashable:
    """What is equal where the price is the same."""
    # Without such a model, the rest of the shape does not matter.
    return (shape[:3] if standing.known else shape[:2], standing)


def _moment(side: Side, shape: UsageShape) -> date | None:
    """The day or instant at whose prices a side charges a shape."""
    return side.at or shape.moment
