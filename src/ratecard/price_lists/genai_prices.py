"""The prices of the installed package genai-prices as a price list.

The package itself is asked for its prices, at every instant and under every condition at which its data can change;
its own calculation gives the totals of the examples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from itertools import pairwise, product
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError, RateCardError
from ratecard.base.money import EXACT
from ratecard.load.folder import shipped_meters
from ratecard.price_lists.lines import EVERY_LENGTH, PricedCase, TierAmounts, specific_rates
from ratecard.price_lists.peer import (
    UNDATED,
    InexpressibleError,
    LeftOut,
    PeerCharge,
    PeerCondition,
    PeerExample,
    PeerModel,
    PeerRate,
    PeerVersion,
    PriceList,
    without_rate,
)
from ratecard.requests.dialects import DIALECTS
from ratecard.requests.usage_from import usage_from
from ratecard.tables.meters import PROMPT, TOKEN, Bucket, Meter, UsageCondition

_NAME = "genai-prices"
# The meter of a price per request: every usage is one request, whatever it counts.
_REQUEST = "request"
# The hours of a case are a condition like any other, until they are written.
_HOURS = "hours"
_MINUTES_OF_DAY = 24 * 60
# A rule that genai-prices has in its code, not its data: the fewest seconds of audio that a request is charged for.
_LEAST_SECONDS = {("groq", "whisper-large-v3"): Decimal(10), ("groq", "whisper-large-v3-turbo"): Decimal(10)}
# Values of the list that the tables name differently, each with its dimension and value in the tables.
_DIMENSIONS = {
    "cache_read": ("cache", "read"),
    "cache_write": ("cache", "write"),
    "1h": ("lifetime", "1h"),
    **{part: ("part", part) for part in ("reasoning", "citation", "tool")},
}


def installed_list() -> PriceList:
    """Read the installed genai-prices. Raises `RateCardError` if it is not installed, or too old."""
    try:
        from genai_prices.data_snapshot import get_snapshot
        from genai_prices.data_units import unit_data
        from genai_prices.types import PriceVariant  # noqa: F401 (older ones have other data)
    except ImportError:
        try:
            missing = f"{version_of(_NAME)} is too old"
        except PackageNotFoundError:
            missing = "is not installed"
        raise RateCardError(f"{_NAME} {missing}. Install it beside ratecard: pip install -U genai-prices") from None
    return read_providers(get_snapshot().providers, unit_data, version_of(_NAME))


def read_providers(providers: Sequence[Any], units: Mapping[str, Mapping[str, Any]], version: str) -> PriceList:
    """Return the price list of these providers of genai-prices; `units` is its data on each key of a usage."""
    counted = _counted(units)
    buckets = _buckets(units, counted)
    conditions = tuple(_conditions([model for provider in providers for model in provider.models]))
    models: list[PeerModel] = []
    left_out: list[LeftOut] = []
    for provider in providers:
        for model in provider.models:
            try:
                models.append(_Model(provider, model, counted, buckets, _defaults(conditions)).read())
            except InexpressibleError as reason:
                left_out.append(LeftOut(provider.id, model.id, str(reason), reason.priced))
    shipped = shipped_meters()
    others = (unit.name for unit in counted.values() if not unit.is_bucket and unit.name not in shipped.by_name)
    meters = tuple(Meter(meter=meter, every_usage=0) for meter in others)
    further = {name: bucket.dimensions for name, bucket in buckets.items() if name not in shipped.buckets}
    return PriceList(f"{_NAME} {version}", tuple(models), tuple(left_out), meters, conditions, further)


class _Counted(NamedTuple):
    """The thing that a price counts, `per` at a time: a bucket of tokens or a meter, which may be a part of `whole`."""

    key: str
    per: int
    name: str
    is_bucket: bool
    whole: str


def _counted(units: Mapping[str, Mapping[str, Any]]) -> dict[str, _Counted]:
    """Return the thing that each price of genai-prices counts, by the name of the price."""
    names = {
        path[-1]: (counter.bucket, counter.meter) for counter in DIALECTS[_NAME].counters for path in counter.paths
    }
    by_price = {}
    for key, unit in units.items():
        bucket, meter = names.get(key, ("", ""))
        if bucket or meter:
            dimensions = set(unit["dimensions"].items())
            wholes = [other for other, its in units.items() if set(its["dimensions"].items()) < dimensions]
            total = names[wholes[0]][1] if meter and wholes else ""
            by_price[str(unit["price_key"])] = _Counted(key, int(unit["per"]), bucket or meter, bool(bucket), total)
    return by_price


def _buckets(units: Mapping[str, Mapping[str, Any]], counted: Mapping[str, _Counted]) -> dict[str, Bucket]:
    """Return the shipped buckets of tokens, and those that only the list has."""
    buckets = dict(shipped_meters().buckets)
    for unit in counted.values():
        if unit.is_bucket and unit.name not in buckets:
            stated = units[unit.key]["dimensions"]
            dimensions: dict[str, str] = dict(
                _DIMENSIONS.get(value, (name, value)) for name, value in stated.items() if name != "family"
            )
            order = shipped_meters().by_name[TOKEN].dimensions
            buckets[unit.name] = Bucket(
                bucket=unit.name, dimensions={name: dimensions[name] for name in order if name in dimensions}
            )
    return buckets


def _conditions(models: Sequence[Any]) -> Iterator[PeerCondition]:
    """Yield the conditions that the shipped meters lack, or lack values of; a value without prices is the default."""
    values: dict[str, dict[str, bool]] = {}
    for variant in (variant for model in models for variant in model.price_variants or ()):
        for name, value in variant.when.items():
            known = values.setdefault(name, {})
            known[value] = known.get(value, True) and not _prices(variant.prices)
    for name, defaults in values.items():
        shipped = shipped_meters().condition.get(name)
        if shipped is None:
            default = next((value for value, is_default in defaults.items() if is_default), "standard")
            yield PeerCondition(name, tuple(dict.fromkeys((default, *defaults))), default)
        elif further := [value for value in defaults if value not in (*shipped.values, *shipped.same_as)]:
            yield PeerCondition(name, (*shipped.values, *further), shipped.default or "standard", shipped.same_as)


def _defaults(conditions: Sequence[PeerCondition]) -> dict[str, frozenset[str]]:
    every: list[UsageCondition | PeerCondition] = [*shipped_meters().conditions, *conditions]
    return {
        condition.condition: frozenset(
            word
            for word in (condition.default, *condition.same_as)
            if word and condition.same_as.get(word, word) == condition.default
        )
        for condition in every
    }


def _prices(prices: Any) -> dict[str, Any]:
    """Return the prices of a `ModelPrice`, by their names."""
    return {key: value for key, value in vars(prices).items() if value is not None and not key.startswith("_")}


def _minute(edge: time) -> int:
    """Return the minute of the day in UTC at which an interval begins or ends."""
    at = datetime.combine(date(2000, 1, 2), edge, edge.tzinfo or UTC).astimezone(UTC)
    if at.second or at.microsecond:
        raise InexpressibleError(f"its hours begin or end within a minute, at {edge}")
    return at.hour * 60 + at.minute


def _moment(day: date, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=UTC)


def _amounts(price: Any) -> TierAmounts:
    """Return a price by the length of the prompt."""
    tiers = {tier.start: tier.price for tier in getattr(price, "tiers", ())}
    return ((EVERY_LENGTH, getattr(price, "base", price)), *sorted(tiers.items()))


class _Part(NamedTuple):
    """The parts of a day with the same prices: a minute in them, their hours (empty for the longest), and prices."""

    minute: int
    hours: str
    priced: Sequence[Mapping[str, TierAmounts]]


class _Model:
    def __init__(
        self,
        provider: Any,
        model: Any,
        counted: Mapping[str, _Counted],
        buckets: Mapping[str, Bucket],
        defaults: Mapping[str, frozenset[str]],
    ) -> None:
        self.provider, self.model, self.counted = provider, model, counted
        self.buckets, self.defaults = buckets, defaults
        self.by_name = {unit.name: unit for unit in counted.values()}
        dated = model.prices if isinstance(model.prices, list) else []
        self.variants = model.price_variants or []
        self.constraints = [entry.constraint for entry in (*dated, *self.variants) if entry.constraint is not None]

    def read(self) -> PeerModel:
        """Return the model, with a version for every day on which its prices change. Raises `InexpressibleError`."""
        versions: list[PeerVersion] = []
        starts = {constraint.start_date for constraint in self.constraints if hasattr(constraint, "start_date")}
        for day in sorted({UNDATED, *starts}):
            version = self._version(day)
            if version is not None and (not versions or version.charges != versions[-1].charges):
                versions.append(version)
            elif version is None and versions:
                raise InexpressibleError(f"has prices before {day}, and none from then on")
        if not versions:
            raise InexpressibleError("has no price in the list", priced=False)
        reference = next(iter(self.provider.pricing_urls or ()), None)
        required = (self.provider.id, self.model.id, tuple(versions))
        return PeerModel(*required, name=self.model.name or "", aliases=tuple(self._aliases()), reference=reference)

    def _aliases(self) -> Iterator[str]:
        """Yield the other names that the list writes in full and by which it finds this model."""
        clause = self.model.match
        for part in getattr(clause, "or_", (clause,)):
            name = getattr(part, "equals", None)
            if name and name != self.model.id and self.provider.find_model(name) is self.model:
                yield name

    def _version(self, day: date) -> PeerVersion | None:
        """Return the prices from a day on; None if there are none."""
        values = self._values(day)
        contexts = [
            {name: value for name, value in zip(values, chosen, strict=True) if value}
            for chosen in product(*(("", *choices) for choices in values.values()))
        ]
        parts = self._parts(day, contexts)
        names = dict.fromkeys(name for part in parts for priced in part.priced for name in priced)
        if not names:
            return None
        cases: dict[str, list[PricedCase]] = {}
        for part in parts:
            for context, priced in zip(contexts, part.priced, strict=True):
                stated = {**context, _HOURS: part.hours} if part.hours else context
                for name, amounts in self._complete(priced, names).items():
                    cases.setdefault(name, []).append(PricedCase(stated, amounts))
        # The list knows a condition even if it changes no price, so the tables keep it.
        kept = [(name, value) for name, choices in values.items() for value in choices]
        examples = [
            example
            for part in parts
            for context in contexts
            if len(context) <= 1
            for example in self._examples(
                day, part.minute, context, {name: cases[name] for name in names}, len(parts) > 1
            )
        ]
        return PeerVersion(day, tuple(self._charges(cases, kept)), tuple(examples))

    def _values(self, day: date) -> dict[str, list[str]]:
        """Return the conditions with prices from a day on, and their values without the defaults."""
        values: dict[str, list[str]] = {}
        for variant in self.variants:
            if (start := getattr(variant.constraint, "start_date", None)) is not None and start > day:
                continue
            for name, value in variant.when.items():
                if value not in self.defaults[name]:
                    values.setdefault(name, [])
                    values[name] += [value] if value not in values[name] else []
                elif _prices(variant.prices):
                    raise InexpressibleError(f"has other prices for {name} {value}, which is the default")
        return values

    def _parts(self, day: date, contexts: Sequence[Mapping[str, str]]) -> list[_Part]:
        """Return the parts of a day whose prices differ, the longest first."""
        edges = (
            edge
            for constraint in self.constraints
            if hasattr(constraint, "start_time")
            for edge in (constraint.start_time, constraint.end_time)
        )
        minutes = sorted({0, *map(_minute, edges)})
        ends = dict(zip(minutes, (*minutes[1:], _MINUTES_OF_DAY), strict=True))
        parts: list[tuple[list[dict[str, TierAmounts]], list[int]]] = []
        for minute in minutes:
            priced = [self._priced(day, minute, context) for context in contexts]
            same = next((begins for other, begins in parts if other == priced), None)
            if same is None:
                parts.append((priced, [minute]))
            else:
                same.append(minute)
        parts.sort(key=lambda part: -sum(ends[minute] - minute for minute in part[1]))
        return [
            _Part(begins[0], ", ".join(_windows(begins, ends)) if index else "", priced)
            for index, (priced, begins) in enumerate(parts)
        ]

    def _priced(self, day: date, minute: int, context: Mapping[str, str]) -> dict[str, TierAmounts]:
        """Return the amounts of buckets and meters at an instant, under conditions."""
        amounts = {}
        for key, price in _prices(self.model.get_prices(_moment(day, minute), context)).items():
            if (counted := self.counted.get(key)) is None:
                raise InexpressibleError(f"the tables have no meter for the price {key}")
            amounts[counted.name] = _amounts(price)
            if not counted.is_bucket and len(amounts[counted.name]) > 1:
                raise InexpressibleError(f"{key} depends on the length of the prompt")
        return amounts

    def _complete(self, priced: Mapping[str, TierAmounts], names: Mapping[str, None]) -> dict[str, TierAmounts]:
        """Return an amount for each name: a missing one is that of its whole, and parts are priced on top of wholes."""
        complete = {name: priced[name] if name in priced else self._of_whole(name, priced) for name in names}
        complete |= {part: complete[bucket] for part, bucket in self._elsewhere(complete)}
        return complete | {name: self._on_top(name, complete) for name in complete if self._whole(name) in complete}

    def _elsewhere(self, priced: Mapping[str, TierAmounts]) -> Iterator[tuple[str, str]]:
        """Yield unpriced parts with their smallest priced whole, if the tables would use the rate of another bucket."""
        for name, bucket in self.buckets.items():
            if name not in priced and (least := self._least_whole(name, priced)):
                left, parents = dict(bucket.dimensions), list[str]()
                dimensions_of = {other: self.buckets[other].dimensions for other in priced if other in self.buckets}
                for dimension in [key for key in left if key != "direction"]:
                    del left[dimension]
                    parents += (other for other in dimensions_of if dimensions_of[other] == left)
                if parents and parents[0] != least:
                    yield name, least

    def _least_whole(self, name: str, priced: Mapping[str, TierAmounts]) -> str | None:
        """Return the smallest bucket with a price that contains a bucket."""
        wholes = [
            bucket for bucket in priced if bucket in self.buckets and self.buckets[name].within(self.buckets[bucket])
        ]
        return max(wholes, key=lambda bucket: len(self.buckets[bucket].dimensions), default=None)

    def _of_whole(self, name: str, priced: Mapping[str, TierAmounts]) -> TierAmounts:
        """Return the amounts of a part without a price under these conditions: those of its smallest priced whole."""
        total = self._least_whole(name, priced) if name in self.buckets else None
        if total is None:
            raise InexpressibleError(f"{name} has a price under some conditions or at some hours only")
        return priced[total]

    def _whole(self, name: str) -> str:
        return self.by_name[name].whole if name in self.by_name else ""

    def _on_top(self, name: str, priced: Mapping[str, TierAmounts]) -> TierAmounts:
        """Return what a part costs on top of its whole, because the count of the whole includes its parts."""
        (_, amount), (_, of_whole) = priced[name][0], priced[self._whole(name)][0]
        if amount < of_whole:
            raise InexpressibleError(f"{name} costs less than {self._whole(name)}, of which it is a part")
        return ((EVERY_LENGTH, EXACT.subtract(amount, of_whole)),)

    def _charges(
        self, cases: Mapping[str, Sequence[PricedCase]], kept: Sequence[tuple[str, str]]
    ) -> Iterator[PeerCharge]:
        rates: list[PeerRate] = []
        buckets = [bucket for bucket in self.buckets if bucket in cases]
        for number, bucket in enumerate(buckets):
            rates += _rates(cases[bucket], () if number else kept, bucket)
        if rates:
            yield PeerCharge(TOKEN, 1_000_000, tuple(rates), without_rate(cases) | _left_as_it_is(rates))
        for name in cases:
            if name not in buckets:
                counted, total = self.by_name[name], self._whole(name)
                words = f"on top of {total}, of which it is a part" if total in cases else ""
                of_meter = tuple(_rates(cases[name], () if rates else kept, None))
                least = _LEAST_SECONDS.get((self.provider.id, self.model.id)) if name == "audio_second" else None
                left = _left_as_it_is(of_meter)
                yield PeerCharge(name, counted.per, of_meter, left, at_least=least, note=words)

    def _examples(
        self, day: date, minute: int, context: Mapping[str, str], cases: Mapping[str, Sequence[PricedCase]], hours: bool
    ) -> Iterator[PeerExample]:
        """Yield, for every tier, a usage of everything with a price, and the total that genai-prices calculates."""
        edges = {above for name in cases for case in cases[name] for above, _ in case.amounts}
        moment = _moment(day, minute)
        for above in sorted(edges):
            usage = {self.by_name[name].key: self._count(name, above) for name in cases if name != _REQUEST}
            try:
                total = self.model.calc_price(
                    usage, self.provider, genai_request_timestamp=moment, price_context=context
                ).total_price
                read = usage_from(_NAME, usage, model=self.model.id)
            except (ValueError, QuoteError) as error:
                raise InexpressibleError(f"its example has no price: {error}") from None
            fields = read.model_dump(include={"tokens", "counts"}, exclude_none=True)
            counted = fields if any(fields["tokens"].values()) else {"counts": fields["counts"]}
            yield PeerExample({**counted, **context}, total, f"{moment:%Y-%m-%dT%H:%M:%SZ}" if hours else None)

    def _count(self, name: str, above: int) -> int:
        """Return the count of a bucket or meter in an example; a part has a smaller one than its whole."""
        if name in self.buckets:
            further = len(self.buckets[name].dimensions) - 1
            return max(1_000, above + 1) if name == PROMPT else 1_000 // 10**further
        return self.by_name[name].per * (1 if self._whole(name) else 2)


def _rates(cases: Sequence[PricedCase], kept: Sequence[tuple[str, str]], bucket: str | None) -> Iterator[PeerRate]:
    for rate in specific_rates(cases, kept):
        hours = tuple(rate.conditions[_HOURS].split(", ")) if _HOURS in rate.conditions else ()
        conditions = {name: value for name, value in rate.conditions.items() if name != _HOURS}
        above = None if rate.above == EVERY_LENGTH else rate.above
        yield PeerRate(rate.amount, bucket, above, hours=hours, conditions=conditions)


def _left_as_it_is(rates: Iterable[PeerRate]) -> dict[str, str]:
    """Return a `without_rate` by which a condition without a rate of its own does not change the price."""
    return dict.fromkeys((name for rate in rates for name in rate.conditions), "default")


def _windows(begins: Sequence[int], ends: Mapping[int, int]) -> Iterator[str]:
    """Yield parts of a day as the hours of a table; parts that meet, at midnight too, become one."""
    windows = [[begin, ends[begin]] for begin in begins]
    for one, other in pairwise(windows):
        if one[1] == other[0]:
            one[1], other[0] = -1, one[0]
    windows = [window for window in windows if window[1] >= 0]
    if len(windows) > 1 and windows[0][0] == 0 and windows[-1][1] == _MINUTES_OF_DAY:
        windows[-1][1] = windows.pop(0)[1]
    yield from (f"{_clock(begin)}..{_clock(end)}" for begin, end in windows)


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
