"""A price list as lines of tables: models, versions, the most specific rates, and shared files."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.messages import printable
from ratecard.base.money import USD, plain_text
from ratecard.load.folder import shipped_meters, shipped_units
from ratecard.load.positions import literal, on_one_line
from ratecard.price_lists.peer import PeerCharge, PeerExample, PeerModel, PeerRate, PeerVersion, PriceList
from ratecard.tables.meters import TOKEN

# The tiers of a price by the length of the prompt: (tokens that the prompt exceeds, amount); the first is for all.
TierAmounts = tuple[tuple[int, Decimal], ...]
EVERY_LENGTH = -1


class PricedCase(NamedTuple):
    """The amounts of a price under some conditions."""

    conditions: Mapping[str, str]
    amounts: TierAmounts


class SpecificRate(NamedTuple):
    """A rate that holds under conditions, for prompts of more tokens than `above`."""

    conditions: Mapping[str, str]
    above: int
    amount: Decimal


def specific_rates(cases: Sequence[PricedCase], kept: Collection[tuple[str, str]] = ()) -> Iterator[SpecificRate]:
    """Yield rates for these cases, which are all combinations of their conditions, including the one without any.

    A case has no rate of its own if a rate with fewer conditions gives its price, unless its condition is `kept`. Where
    two rates would hold and neither is more specific, the case has a rate of its own.

    >>> amounts = ((-1, Decimal(2)), (128000, Decimal(3)))
    >>> batch = PricedCase({"tier": "batch"}, ((-1, Decimal(1)),))
    >>> cases = [PricedCase({}, amounts), PricedCase({"tier": "fast"}, amounts), batch]
    >>> for rate in specific_rates(cases):
    ...     print(dict(rate.conditions), rate.above, rate.amount)
    {} -1 2
    {} 128000 3
    {'tier': 'batch'} -1 1
    {'tier': 'batch'} 128000 1
    """
    # The amounts of the cases that have rates, and the edges of their tiers.
    written: dict[frozenset[tuple[str, str]], tuple[TierAmounts, frozenset[int]]] = {}
    for conditions, amounts in sorted(cases, key=lambda case: len(case.conditions)):
        stated = frozenset(conditions.items())
        below = [other for other in written if other < stated]
        nearest = [one for one in below if not any(one < other for other in below)]
        settled = len(nearest) == 1 and _changes(written[nearest[0]][0]) == _changes(amounts)
        if settled and not (len(stated) == 1 and stated & set(kept)):
            continue
        changes = (above for above, _ in _changes(amounts))
        edges = frozenset((*changes, *(edge for other in below for edge in written[other][1])))
        written[stated] = amounts, edges
        for edge in sorted(edges):
            yield SpecificRate(conditions, edge, amount_at(amounts, edge))


def amount_at(amounts: TierAmounts, above: int) -> Decimal:
    """Return the amount for prompts of more tokens than this, up to the next tier."""
    return amounts[bisect_right(amounts, above, key=lambda tier: tier[0]) - 1][1]


def _changes(amounts: TierAmounts) -> TierAmounts:
    """Return the amounts without tiers that have the same amount as the tier before them."""
    return tuple(tier for index, tier in enumerate(amounts) if not index or tier[1] != amounts[index - 1][1])


# These are more places than any amount of a list needs; a quotient that is not an exact decimal is rounded to them.
_LINE_PLACES = 30
# The prefixes of units that hold this many counted things.
_SCALES = {1: "", 1_000: "k", 1_000_000: "m", 1_000_000_000: "g"}
_TIMES = {60: "minute", 3_600: "hour"}


class TableLines:
    """A writer of the models and versions of a list as lines of tables; it names units that the shipped tables lack.

    `source` names the list, and `checked` is the day on which versions say that they were checked.
    """

    def __init__(self, source: str, checked: date) -> None:
        self._source, self._checked = source, checked
        self._shipped = shipped_units()
        self._by_content = {(unit.counts, unit.per): name for name, unit in self._shipped.items()}
        self.units: dict[str, tuple[str, int]] = {}

    def _unit(self, meter: str, per: int) -> str:
        """Return the unit of `per` of a meter; a new one if the shipped tables have none."""
        if (known := self._by_content.get((meter, per))) is not None:
            return known
        if meter.endswith("second") and per in _TIMES:
            name = meter.removesuffix("second") + _TIMES[per]
        else:
            name = f"{_SCALES[per]}{meter}" if per in _SCALES else f"{meter}_{per}"
        while name in self._shipped or name in self.units:
            name += "_counted"
        self._by_content[meter, per] = name
        self.units[name] = (meter, per)
        return name

    def of_model(self, model: PeerModel) -> list[str]:
        """Return the lines of a model, as an item of a file's list of models, its versions newest first."""
        head = {
            "model": model.model,
            "name": model.name or model.id,
            "type": "text",
            "currency": USD,
            "provider": model.provider,
        }
        lines = [f"    {name}: {literal(value)}" for name, value in head.items()]
        lines[0] = f"  - {lines[0].strip()}"
        if model.aliases:
            lines.append("    aliases:")
            lines += [f"      - {literal(alias)}" for alias in model.aliases]
        lines.append("    versions:")
        for version in sorted(model.versions, key=lambda version: version.effective, reverse=True):
            lines += self.of_version(model, version, version.effective)
        return lines

    def of_version(self, model: PeerModel, version: PeerVersion, effective: date) -> list[str]:
        """Return the lines of a version, as an item of a model's list of versions."""
        head = {"effective": str(effective), "checked": str(self._checked), "source": self._source}
        if model.reference:
            head["reference"] = model.reference
        head |= {"line_places": str(_LINE_PLACES), "rounding": "none"}
        lines = [f"        {name}: {literal(value)}" for name, value in head.items()]
        lines[0] = f"      - {lines[0].strip()}"
        lines.append("        charges:")
        for charge in version.charges:
            lines += self._of_charge(charge)
        lines.append("        examples:")
        return lines + [f"          - {on_one_line(_example(example))}" for example in version.examples]

    def _of_charge(self, charge: PeerCharge) -> Iterator[str]:
        if charge.note:
            yield f"          # {printable(charge.note)}"
        by_tokens = charge.meter == TOKEN
        yield f"          - charge: {literal('tokens' if by_tokens else charge.meter)}"
        yield f"            method: {'tokens' if by_tokens else 'count'}"
        yield f"            unit: {literal(self._unit(charge.meter, charge.per))}"
        for name in ("included", "at_least"):
            if (number := getattr(charge, name)) is not None:
                yield f"            {name}: {plain_text(number)}"
        if charge.without_rate:
            yield f"            without_rate: {on_one_line(charge.without_rate)}"
        yield "            rates:"
        yield from (f"              - {on_one_line(_rate(rate))}" for rate in charge.rates)
        factors = [f"              - {on_one_line({**named, 'factor': factor})}" for named, factor in charge.factors]
        yield from ["            factors:", *factors] if factors else ()


def unit_lines(added: Mapping[str, tuple[str, int]]) -> dict[str, list[str]]:
    """Return the lines of units, by their names."""
    return {
        name: [f"  - {{unit: {literal(name)}, counts: {literal(meter)}, per: {per}}}"]
        for name, (meter, per) in added.items()
    }


def meter_lines(listed: PriceList) -> dict[str, list[str]]:
    """Return the lines of meters, by their names; those of tokens only if the list has further buckets."""
    lines = {TOKEN: _token_lines(listed.buckets)} if listed.buckets else {}
    for meter in listed.meters:
        silent = {} if meter.every_usage is None else {"every_usage": meter.every_usage}
        lines[meter.meter] = [f"  - {on_one_line({'meter': meter.meter, **silent})}"]
    return lines


def _token_lines(further: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the shipped meter of tokens with further buckets."""
    token = shipped_meters().by_name[TOKEN]
    dimensions = {name: list(values) for name, values in token.dimensions.items()}
    for bucket_dimensions in further.values():
        for name, value in bucket_dimensions.items():
            dimensions[name] += [value] if value not in dimensions[name] else []
    buckets = [bucket_line(bucket.bucket, bucket.dimensions, bucket.sku) for bucket in token.buckets]
    buckets += [bucket_line(name, bucket_dimensions) for name, bucket_dimensions in further.items()]
    return [
        f"  - meter: {TOKEN}",
        "    dimensions:",
        *(f"      {name}: {on_one_line(values)}" for name, values in dimensions.items()),
        f"    without_rate: {on_one_line(token.without_rate)}",
        "    buckets:",
        *buckets,
    ]


def bucket_line(name: str, dimensions: Mapping[str, str], sku: str | None = None) -> str:
    """Return the line of a bucket of tokens."""
    named = {"sku": sku} if sku else {}
    return f"      - {on_one_line({'bucket': name, **dimensions, **named})}"


def value_line(value: str) -> str:
    """Return the line of a value of a condition."""
    return f"      - {literal(value)}"


def condition_lines(listed: PriceList) -> dict[str, list[str]]:
    """Return the lines of conditions, by their names."""
    return {
        condition.condition: [
            f"  - condition: {literal(condition.condition)}",
            f"    default: {literal(condition.default)}",
            *([f"    same_as: {on_one_line(condition.same_as)}"] if condition.same_as else []),
            "    values:",
            *map(value_line, condition.values),
        ]
        for condition in listed.conditions
    }


def _rate(rate: PeerRate) -> dict[str, Any]:
    hours = rate.hours[0] if len(rate.hours) == 1 else rate.hours
    window = {"hours": hours, "zone": "UTC"} if hours else {}
    parts = {"tokens": rate.tokens, "above": rate.above, "from": rate.begins, **window, **rate.conditions}
    return {name: value for name, value in parts.items() if value is not None} | {"rate": rate.amount}


def _example(example: PeerExample) -> dict[str, Any]:
    at = {"at": example.at} if example.at is not None else {}
    return {"usage": example.usage, **at, "total": example.total}


def listing(key: str, items: Iterable[list[str]]) -> list[str]:
    """Return the lines of a list under a key; none if it has no items."""
    lines = [line for item in items for line in item]
    return [f"{key}:", *lines] if lines else []
