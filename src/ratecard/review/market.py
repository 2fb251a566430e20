"""A comparison of our models with those of another price list at one instant, by the prices of units.

Only prices of the same thing are compared: the same count (a bucket of tokens, pages, images), for prompts of the same
length, under the same conditions. A price that only one side has is listed as such, never as zero.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import lcm
from pathlib import Path
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError, TableError
from ratecard.base.money import EXACT, add, exact_decimal, plain, text
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.line_items.conditions import (
    EVERY_PROMPT,
    StatedRate,
    WrittenRate,
    charge_under,
    combinations_of,
    written_rates,
)
from ratecard.load.yaml_text import read_yaml_text
from ratecard.price_book import PriceBook, rates_of_tokens
from ratecard.pricing.text import token_rates
from ratecard.requests.service_parameters import model_named
from ratecard.review.difference import Priced, RateChange
from ratecard.review.rates import described
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.meters import Unit
from ratecard.tables.rate import Charge, Conditioned, combinations, domains_of, named_conditions
from ratecard.tables.windows import windows_of

__all__ = ["Market", "MatchedModels", "compare_models"]

OURS, THEIRS = "ours", "theirs"
# The key of a price: the meter and the bucket that it counts.
_What = tuple[str, str]
_Stated = Mapping[str, str]
# Fields of a charge that are not noted, because they are part of the prices.
_IN_THE_PRICE = {"charge", "unit", "context_token_threshold", "missing_cache_rate"}


class MatchedModels(NamedTuple):
    """One of our models and one of theirs.

    The old price of each rate is ours, the new one theirs, both of the same unit; a price that one side lacks is None.
    `notes` name what else affects amounts, `reason` says why nothing could be compared, and `usage` is what our own
    usage pays for this model, if usage was given.
    """

    ours: str
    theirs: str
    currency: str
    rates: tuple[RateChange, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    usage: Decimal | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as text; a side without a price is null."""
        rates = []
        for rate in self.rates:
            as_text = rate.to_dict()
            sides = {OURS: as_text["old"], THEIRS: as_text["new"]}
            named = {"charge": rate.charge, "attributes": rate.attributes, **sides}
            rates.append({**named, "difference": absolute(rate) or None, "percent": as_text["percent"]})
        fields = {**self._asdict(), "rates": rates, "notes": list(self.notes), "reason": self.reason or None}
        paid = fields.pop("usage")
        return fields if paid is None else {**fields, "usage": text(plain(paid))}


class Market(NamedTuple):
    """Two price lists side by side at an instant; `unmatched` are our models with a price that the map leaves out."""

    ours: str
    theirs: str
    instant: datetime
    models: tuple[MatchedModels, ...]
    unmatched: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """Return how many prices are compared, how many of theirs are higher, lower or equal, and which side lacks one.

        A price that a side does not list, but that follows from another of its prices, is implied and not compared.
        """
        listed = [rate for pair in self.models for rate in pair.rates]
        rates = [rate for rate in listed if not any(side and side.implied for side in (rate.old, rate.new))]
        pairs = [(rate.old.each, rate.new.each) for rate in rates if rate.old and rate.new]
        return {
            "pairs of models": len(self.models),
            "prices compared": len(pairs),
            "higher than ours": sum(theirs > ours for ours, theirs in pairs),
            "lower than ours": sum(theirs < ours for ours, theirs in pairs),
            "equal": sum(theirs == ours for ours, theirs in pairs),
            "only ours": sum(rate.new is None for rate in rates),
            "only theirs": sum(rate.old is None for rate in rates),
            "implied by another": len(listed) - len(rates),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as text and counts, in a stable order."""
        return {
            "ours": self.ours,
            "theirs": self.theirs,
            "at": self.instant.isoformat(),
            "counts": {name.replace(" ", "_"): count for name, count in self.counts().items()},
            "models": [pair.to_dict() for pair in self.models],
            "unmatched": list(self.unmatched),
        }


def absolute(rate: RateChange) -> str:
    """Return their price minus ours, with its sign; empty if one side has no price."""
    if rate.old is None or rate.new is None:
        return ""
    difference = plain(EXACT.subtract(rate.new.amount, rate.old.amount))
    return f"+{text(difference)}" if difference > 0 else text(difference)


def read_matches(path: str | Path, ours: Tables, theirs: Tables) -> dict[str, list[str]]:
    """Read a map of models: `our-model: their-model`, or a list of theirs. Raises `TableError` with every fault."""
    name = str(path)
    try:
        file = read_yaml_text(name, Path(path).read_bytes())
    except OSError as error:
        raise TableError.of_file(name, f"cannot be read: {error.strerror}") from None
    listed = file.data if isinstance(file.data, dict) else {}
    if not file.faults and not listed:
        file.fault((), "must hold models, like `our-model: their-model` or `our-model: [theirs, another]`")
    matches: dict[str, list[str]] = {}
    our_names: dict[str, str] = {}
    for model, value in listed.items():
        names = [value] if isinstance(value, str) else value
        if not (isinstance(names, list) and names and all(isinstance(peer, str) and peer for peer in names)):
            file.fault((model,), f"{model} must name a model of {THEIRS}, or a list of such")
            continue
        matches[model] = names
        _check_name(file.fault, (model,), model, OURS, ours, our_names)
        their_names: dict[str, str] = {}
        for index, peer in enumerate(names):
            place = (model, index) if names is value else (model,)
            _check_name(file.fault, place, peer, THEIRS, theirs, their_names)
    if file.faults:
        raise TableError(file.faults)
    return matches


def _check_name(
    fault: Callable[..., None],
    place: tuple[str | int, ...],
    name: str,
    side: str,
    tables: Tables,
    listed: dict[str, str],
) -> None:
    """Add a fault for a name of no model, or of one that is listed; else list its model under this name."""
    model = tables.named(name)
    if model is None:
        near = did_you_mean(name, (*tables.models, *tables.aliases))
        fault(place, f"'{name}' is not a model of {side}.{near}")
    elif (first := listed.get(model.model)) is None:
        listed[model.model] = name
    else:
        words = "is listed twice" if first == name else f"and {first} are names of one model"
        fault(place, f"{name} {words}; keep one")


def compare_models(
    ours: RateCard,
    theirs: RateCard,
    models: Mapping[str, str | Sequence[str]],
    *,
    at: datetime | date | None = None,
    renamed: Mapping[str, str] | None = None,
    labels: tuple[str, str] = (OURS, THEIRS),
    usage: Mapping[str, Decimal] | None = None,
) -> Market:
    """Compare our models with those of another price list, at an instant (default: now).

    `models` maps each of our models to one or several of theirs. `renamed` maps their names of conditions, buckets and
    meters to ours, where these differ (`{"processing": "service_tier"}`). `labels` are the names of the two lists.
    `usage` is what our own usage pays for each of our models, under any names that usage may have for it; the models
    for which it pays most come first. Prices are exact, and those of different units are converted to one. A model
    without a price at the instant, or with one in another currency, is listed with the reason. Raises `QuoteError` for
    a model, condition, bucket or meter that a list does not have.

    >>> from ratecard import load_rate_card
    >>> card = load_rate_card()
    >>> found = compare_models(card, card, {"grok-4-3": "claude-fable-5"}, at=date(2026, 10, 1))
    >>> rate = found.models[0].rates[0]
    >>> rate.charge, str(rate.old.amount), str(rate.new.amount), rate.new.unit, absolute(rate), rate.percent
    ('input tokens', '1.42', '12', 'mtoken', '+10.58', '+745.07%')
    """
    instant = at or datetime.now(UTC)
    one, other = (side.listed._unproved.at(instant) for side in (ours, theirs))
    for side, tables, names in ((THEIRS, other.tables, renamed or {}), (OURS, one.tables, (renamed or {}).values())):
        _check_renamed(side, tables, names)
    pairs = [
        _matched(one, _known(one, model), other, _known(other, name), renamed or {})
        for model, names in models.items()
        for name in ([names] if isinstance(names, str) else names)
    ]
    listed = {model.model for pair in pairs if (model := one.tables.named(pair.ours))}
    unmatched = [model.model for model, _ in one._in_effect_all() if model.model not in listed]
    if usage is not None:
        paid = _by_model(one.tables, usage)
        pairs = [pair._replace(usage=_paid(one.tables, pair.ours, paid)) for pair in pairs]
        pairs.sort(key=lambda pair: -(pair.usage or 0))
        unmatched.sort(key=lambda model: -_paid(one.tables, model, paid))
    return Market(*labels, one.instant, tuple(pairs), tuple(unmatched))


def _check_renamed(side: str, tables: Tables, names: Iterable[str]) -> None:
    meters, counted = tables.meters, (unit.counts for unit in tables.units.values())
    known = dict.fromkeys((*meters.condition, *meters.buckets, *meters.by_name, *counted))
    for name in names:
        if name not in known:
            raise QuoteError(f"'{name}' is not a condition, bucket or meter of {side}.{did_you_mean(name, known)}")


def _by_model(tables: Tables, usage: Mapping[str, Decimal]) -> Mapping[str, Decimal]:
    """Return what usage pays for each model, under all its names."""
    paid = dict[str, Decimal]()
    for name, amount in usage.items():
        if model := model_named(tables, name):
            paid[model.model] = add(paid.get(model.model, Decimal(0)), amount)
    return paid


def _paid(tables: Tables, name: str, paid: Mapping[str, Decimal]) -> Decimal:
    model = tables.named(name)
    return paid.get(model.model if model else name, Decimal(0))


def _known(prices: PriceBook, name: str) -> str:
    if prices.tables.named(name) is None:
        prices.in_effect(name)  # This call raises the error for an unknown name.
    return name


def _matched(ours: PriceBook, model: str, theirs: PriceBook, name: str, renamed: Mapping[str, str]) -> MatchedModels:
    try:
        one, other = _Listed(ours, model, {}), _Listed(theirs, name, renamed)
    except QuoteError as refusal:
        return MatchedModels(model, name, "", reason=refusal.error)
    notes = (*(f"{OURS}: {note}" for note in one.notes), *(f"{THEIRS}: {note}" for note in other.notes))
    if one.currency == other.currency:
        return MatchedModels(model, name, one.currency, tuple(_rates(one.charges, other.charges)), notes)
    words = f"{OURS} is in {one.currency}, {THEIRS} in {other.currency}: prices of two currencies are not compared"
    return MatchedModels(model, name, "", (*_rates(one.charges, {}), *_rates({}, other.charges)), notes, words)


class _Price(NamedTuple):
    rate: Decimal
    unit: Unit
    source: str
    implied: bool = False

    @property
    def each(self) -> Fraction:
        return Fraction(self.rate) / self.unit.per


class _Costing(NamedTuple):
    """The prices of one side for one counted thing."""

    # The combinations of conditions that have a price.
    stated: Sequence[_Stated]
    # A function from conditions and a length of prompts to the price of a unit for longer prompts; None if not offered.
    price: Callable[[_Stated, int], _Price | None]
    # The numbers of tokens above which prompts may have another price.
    thresholds: Sequence[int] = ()
    # False for a bucket without a rate, which is charged at the rate of another one.
    own: bool = True


class _Listed:
    """The prices of one list for a model at an instant, by what is counted, and what else affects amounts."""

    def __init__(self, prices: PriceBook, name: str, renamed: Mapping[str, str]) -> None:
        model, version = prices.in_effect(name)
        self._prices, self._model = prices, model
        # The type is Any, because versions of video have neither conditions nor factors.
        self._version: Any = prices._at_hour(version)
        self._units, self._meters = prices.tables.units, prices.tables.meters
        self.currency = model.currency
        self.notes = list(_notes(self._version))
        if windows_of([version]):
            self.notes.append(f"rates depend on the hour; these are of {prices.instant:%H:%M} UTC")
        # The model and the version of each search.
        searches = self._version.searches.items()
        self._searches = {search: (name, prices._at_hour(prices.in_effect(name)[1])) for search, name in searches}
        versions = (self._version, *(version for _, version in self._searches.values()))
        # The conditions that the model knows.
        self._known = named_conditions(
            (charge for version in versions for charge in version.charges),
            (factor for version in versions for factor in version.multipliers),
        )
        self.charges: dict[_What, _Costing] = {}
        for what, costing in self._costings():
            as_ours = renamed.get(what[0], what[0]), renamed.get(what[1], what[1])
            if as_ours in self.charges:
                raise QuoteError(f"two prices of {model.model} would be prices of '{as_ours[1] or as_ours[0]}'")
            self.charges[as_ours] = _with_names(costing, renamed)

    def _costings(self) -> Iterator[tuple[_What, _Costing]]:
        for charge in self._version.charges:
            counts = self._units[charge.unit].counts
            if isinstance(charge, Tokens):
                yield from (((counts, bucket), costing) for bucket, costing in self._of_tokens(charge))
            else:
                yield (counts, ""), self._tabled(self._model.model, self._version, charge)
        for search, (name, version) in self._searches.items():
            yield (search, ""), self._tabled(name, version, version.charges[0])

    def _tabled(self, model: str, version: Any, charge: Charge) -> _Costing:
        """Return the prices of a charge whose rates name attributes and conditions."""
        unit = self._units[charge.unit]
        named = version.conditions_of(charge)
        priced: dict[tuple[tuple[str, str], ...], list[tuple[_Stated, _Price]]] = {}
        for stated in combinations_of(named, self._meters):
            held: Charge = charge
            if isinstance(charge, Conditioned):
                held = charge_under(charge, version, model, self._meters, stated)
            domains, prices_of = domains_of(version, held), priced.setdefault(tuple(stated.items()), [])
            for rate in held.rates:
                if isinstance(rate, StatedRate) and rate.factored.unmet:
                    continue
                price = _Price(held.unit_rate(rate), unit, rate.source)
                for values in combinations(rate, domains):
                    values_of = {name: value for name, value in zip(domains, values, strict=True) if value}
                    prices_of.append(({**values_of, **stated}, price))

        def price_of(stated: _Stated, above: int) -> _Price | None:
            further = {name: value for name, value in stated.items() if name not in charge.ATTRIBUTES}
            if isinstance(charge, Conditioned) and not self._offers(further):
                return None
            conditions = tuple((name, stated[name]) for name, values in named.items() if stated.get(name) in values)
            return next((price for values_of, price in priced[conditions] if values_of.items() <= stated.items()), None)

        return _Costing([values_of for under in priced.values() for values_of, _ in under], price_of)

    def _of_tokens(self, charge: Tokens) -> Iterator[tuple[str, _Costing]]:
        written, unit = list(written_rates(charge)), self._units[charge.unit]
        stated = list(self._stated(charge, written))
        rates = token_rates(self._prices._compiler.metered(self._model, self._version, self._prices.limits.rates))
        priced = {rate.bucket for rate in written}

        def price(bucket: str, stated: _Stated, above: int) -> _Price | None:
            held = rates_of_tokens(rates, stated, above + 1).get(bucket) if self._offers(stated) else None
            return _Price(held.unit_rate, unit, held.source, bucket not in priced) if held else None

        for bucket in rates.buckets:
            yield bucket, _Costing(stated, partial(price, bucket), rates.thresholds, bucket in priced)

    def _stated(self, charge: Tokens, written: Iterable[WrittenRate]) -> Iterator[_Stated]:
        """Yield the conditions of each rate, and of each factor by itself, without defaults."""
        factors = (*charge.factors, *self._version.multipliers)
        defaults = {(condition.condition, condition.default) for condition in self._meters.conditions}
        named = ({}, *(rate.conditions for rate in written), *(factor.conditions for factor in factors))
        yield from (
            {name: conditions[name] for name in conditions if (name, conditions[name]) not in defaults}
            for conditions in named
        )

    def _offers(self, stated: _Stated) -> bool:
        """Return True if the model is sold under these conditions: it knows them all, and needs no further one."""
        needed, refused = self._version.needed(self._meters), self._version.refuses(stated, self._meters)
        if refused or not needed.keys() <= stated.keys():
            return False
        return all(value in self._known.get(name, ()) for name, value in stated.items())


def _with_names(costing: _Costing, renamed: Mapping[str, str]) -> _Costing:
    """Return the same prices with other names of conditions."""
    back = {new: old for old, new in renamed.items()}
    stated = [{renamed.get(name, name): value for name, value in conditions.items()} for conditions in costing.stated]
    return costing._replace(
        stated=stated,
        price=lambda conditions, above: costing.price(
            {back.get(name, name): value for name, value in conditions.items()}, above
        ),
    )


def _notes(version: Any) -> Iterator[str]:
    """Yield what affects amounts besides the prices of units: included units, blocks, video methods, the minimum."""
    plainly = isinstance(version, MeteredVersion)
    for charge in version.charges:
        for name, value in sorted(described(charge).items()):
            if name not in _IN_THE_PRICE and not name.startswith("without_rate") and (name != "method" or not plainly):
                words = value if isinstance(value, str) else "; ".join(value)
                if (name, words) != ("markup", "1"):
                    yield f"{charge.charge}: {name} {words}"
    if isinstance(version, MeteredVersion) and version.minimum is not None:
        yield f"a request costs at least {text(plain(version.minimum))}"


# A number of tokens, and the prices of both sides for prompts of more tokens than that.
_Ranged = tuple[int, _Price | None, _Price | None]


def _rates(ours: Mapping[_What, _Costing], theirs: Mapping[_What, _Costing]) -> Iterator[RateChange]:
    """Yield every price of either side, with the price of the other side for the same thing."""
    for what in dict.fromkeys((*ours, *theirs)):
        sides = ours.get(what), theirs.get(what)
        if any(side and side.own for side in sides):
            changes = (rate for stated, ranges in _prices(*sides) for rate in _of_ranges(what, stated, ranges))
            for rate in changes:
                only_side = sides[0] if rate.new is None else sides[1] if rate.old is None else None
                if only_side is None or only_side.own:
                    yield rate


def _prices(one: _Costing | None, other: _Costing | None) -> Iterator[tuple[_Stated, list[_Ranged]]]:
    """Yield the prices of both sides by their conditions, without conditions that change neither side."""
    ways = [side.stated if side else () for side in (one, other)]
    joined = [
        {**way, **other_way}
        for way in ways[0]
        for other_way in ways[1]
        if all(other_way.get(name, value) == value for name, value in way.items())
    ]
    edges = _edges(*({*side.thresholds} if side else set() for side in (one, other)))
    rows: dict[frozenset[tuple[str, str]], tuple[_Stated, list[_Ranged]]] = {}
    for stated in sorted((*ways[0], *ways[1], *joined), key=len):
        key = frozenset(stated.items())
        if key not in rows:
            ranges = [
                (above, one.price(stated, above) if one else None, other.price(stated, above) if other else None)
                for above in edges
            ]
            rows[key] = stated, ranges
    amounts = {key: list(map(_amounts, ranges)) for key, (_, ranges) in rows.items()}
    compared = [(key, price) for key, (_, ranges) in rows.items() for _, *pair in ranges if all(pair) for price in pair]
    for key, (stated, ranges) in rows.items():
        same = any(amounts.get(key - {condition}) == amounts[key] for condition in key)
        lone_prices = [ours or theirs for _, ours, theirs in ranges if not (ours and theirs)]
        # True if every price that the other side lacks here is compared with one under further conditions.
        compared_elsewhere = len(lone_prices) == len(ranges) and all(
            price is None or any(price == other and more > key for more, other in compared) for price in lone_prices
        )
        if not (same or compared_elsewhere):
            yield stated, ranges


def _edges(ours: set[int], theirs: set[int]) -> list[int]:
    """Return the edges of ranges of prompts. Two edges of different lists, one token apart, become the upper one.

    Lists that write "above 200,000" and "from 200,000" mean the same edge; the one token between them is ignored.
    """
    every = {EVERY_PROMPT.above, *ours, *theirs}
    meeting = {
        edge for one, other in ((ours, theirs), (theirs, ours)) for edge in one - other if edge + 1 in other - one
    }
    return sorted(every - meeting)


def _amounts(ranged: _Ranged) -> list[Fraction | None]:
    return [price and price.each for price in ranged[1:]]


def _of_ranges(what: _What, stated: _Stated, ranges: Sequence[_Ranged]) -> Iterator[RateChange]:
    """Yield the rates of one thing; neighbouring ranges of prompts with the same prices become one."""
    (counts, bucket), conditions = what, [f"{name} {value}" for name, value in stated.items()]
    firsts = [next(group) for _, group in groupby(ranges, key=_amounts)]
    ends = [above for above, *_ in firsts[1:]]
    for (above, ours, theirs), end in zip(firsts, [*ends, None], strict=True):
        if ours or theirs:
            words = ", ".join(filter(None, [_prompts(above, end), *conditions]))
            yield RateChange(f"{bucket} tokens" if bucket else counts, words, *_of_one_unit(ours, theirs))


def _prompts(above: int, end: int | None) -> str:
    if above < 0:
        return "" if end is None else f"prompts up to {end:,} tokens"
    return f"prompts from {above + 1:,} tokens" if end is None else f"prompts of {above + 1:,} to {end:,} tokens"


def _of_one_unit(ours: _Price | None, theirs: _Price | None) -> tuple[Priced | None, Priced | None]:
    """Return both prices per our unit, their unit or a common multiple: the first for which both are exact decimals."""
    if ours is None or theirs is None:
        return ours and _priced(ours, ours.unit), theirs and _priced(theirs, theirs.unit)
    per = lcm(ours.unit.per, theirs.unit.per)
    both = Unit(unit=f"{per:,} x {ours.unit.counts}", counts=ours.unit.counts, per=per)
    for unit in (ours.unit, theirs.unit, both):
        try:
            return _priced(ours, unit), _priced(theirs, unit)
        except ArithmeticError:  # One of the prices is not an exact decimal in this unit.
            continue
    raise AssertionError("a unit of whole units has decimal prices")


def _priced(price: _Price, unit: Unit) -> Priced:
    return Priced(plain(exact_decimal(price.each * unit.per)), unit.unit, price.each, price.source, price.implied)
