"""Notes on sound tables: lines that are allowed and may be a mistake. `ratecard check` prints them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from ratecard.base.errors import Fault
from ratecard.examples import Worked
from ratecard.line_items.conditions import (
    EVERY_PROMPT,
    Edge,
    WrittenRate,
    combinations_of,
    held_under,
    in_full,
    more_specific,
    written_rates,
)
from ratecard.methods.conditions import contradict, rates_at_each_hour
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import MeteredVersion, TextVersion, Tokens
from ratecard.tables.meters import TOKEN, Meters
from ratecard.tables.rate import Charge, Conditioned, Rate, RateFactor, named_conditions
from ratecard.tables.version import Version

_YEAR, _QUARTER = timedelta(days=365), timedelta(days=90)


def notes_on(tables: Tables, examples: Iterable[Worked], now: datetime) -> list[Fault]:
    """Return the notes on tables with worked `examples`: first mistakes, then lines that no example reaches."""
    reached = reached_by(examples)
    mistakes, untried = list[Fault](), list[Fault]()
    for model in tables.models.values():
        for version in model.versions:
            never = dict(_never_applying(version, tables.meters))
            idle = _idle_words(version, tables.meters)
            mistakes += _faults(model, (*_dates(version, now), *never.items(), *idle, *_lonely_tiers(version)))
            untried += _faults(model, _untried(version, never, reached))
    return [note for notes in (mistakes, untried) for note in sorted(notes, key=lambda note: (note.file, note.line))]


def reached_by(examples: Iterable[Worked]) -> set[str]:
    """Return the `file:line` of each rate and factor that worked examples take."""
    lines = [line for worked in examples if worked.quote for line in worked.quote.lines]
    return {line.source for line in lines} | {source for line in lines for _, source in line.rate.factors}


# The notes of a version: `file:line`, and the words about it.
_Noted = tuple[str, str]


def _faults(model: AnyModel, noted: Iterable[_Noted]) -> Iterator[Fault]:
    for source, words in noted:
        file, _, line = source.rpartition(":")
        yield Fault(file, int(line or 0), (model.model,), f"{model.model}: {words}")


def _dates(version: Version, now: datetime) -> Iterator[_Noted]:
    if version.begins > now + _YEAR:
        yield version.place, f"effective {version.effective} is more than a year ahead. Is its year right?"
    if version.begins.date() - version.checked > _QUARTER:
        words = f"checked {version.checked} is more than {_QUARTER.days} days before effective {version.effective}"
        yield version.place, f"{words}. Compare the rates with their source again, and write that day"


def _never_applying(version: Version, meters: Meters) -> Iterator[_Noted]:
    """Note each rate and each factor that no request takes."""
    never = {id(factor): factor for factor in version.multipliers}
    for charge in version.charges:
        applying = _Applying(version, charge, meters)
        for index, rate in enumerate(charge.rates):
            if index not in applying.rates:
                yield rate.source, f"this rate can never apply: {applying.why_never(rate)}"
        never |= {id(factor): factor for factor in charge.multipliers}
        never = {key: factor for key, factor in never.items() if not applying.multiplies(factor)}
    for factor in never.values():
        names = " and ".join(factor.conditions)
        yield factor.source, f"this factor can never apply: every rate under it names {names} itself. Leave it out"


def _idle_words(version: Version, meters: Meters) -> Iterator[_Noted]:
    """Note each key of `without_rate` without effect: rates and factors name it not at all, or only as a default."""
    for charge in version.charges:
        if not isinstance(charge, Conditioned) or not charge.rates:
            continue
        token = meters.by_name[TOKEN].dimensions if isinstance(charge, Tokens) else {}
        of_buckets = {word for name, values in token.items() for word in (name, *values)}
        named = version.conditions_of(charge)
        other = {name: values - {meters.condition[name].default} for name, values in named.items()}
        known = of_buckets | {word for name, values in other.items() if values for word in (name, *values)}
        for word in (charge.without_rate or {}).keys() - known:
            words = f"without_rate {word} has no effect: of such a condition, charge {charge.charge} names the default"
            yield charge.rates[0].source, f"{words} or nothing. Leave it out, or correct the name"


def _lonely_tiers(version: Version) -> Iterator[_Noted]:
    """Note each tier in which only one of several buckets has a rate."""
    for charge in version.charges:
        written = list(written_rates(charge))
        buckets = list(dict.fromkeys(rate.bucket for rate in written))
        for edge in dict.fromkeys(rate.edge for rate in written if rate.edge != EVERY_PROMPT):
            first, *further = (rate for rate in written if rate.edge == edge)
            others = [bucket for bucket in buckets if bucket != first.bucket]
            if others and all(rate.bucket == first.bucket for rate in further):
                words = f"only {first.bucket} has a rate {_tier(edge)}: {', '.join(others)} cost there what they cost"
                yield first.rate.source, f"{words} below. Write their rates too, if they differ"


def _tier(edge: Edge) -> str:
    return edge.sku.replace("-", " ", 1)


def _untried(version: Version, never: Collection[str], reached: Collection[str]) -> Iterator[_Noted]:
    """Note rates and factors that no example reaches, except those that can never apply."""
    for charge in version.charges:
        lines: Sequence[Rate | RateFactor] = (*charge.rates, *charge.multipliers)
        sources = [line.source for line in lines if line.source not in never]
        missing = [source for source in sources if source not in reached]
        if missing == sources and sources:
            yield sources[0], f"no example reaches charge {charge.charge}, by the {charge.unit}. {_WRITE_ONE}"
            continue
        tiers: dict[Edge, set[str]] = {}
        for rate in written_rates(charge):
            tiers.setdefault(rate.edge, set()).add(rate.rate.source)
        for edge, in_tier in tiers.items():
            if edge != EVERY_PROMPT and in_tier - {*never} and in_tier.isdisjoint(reached):
                first = min(in_tier - {*never}, key=sources.index)
                yield first, f"no example has a prompt {_tier(edge)}. {_WRITE_ONE}"
                missing = [source for source in missing if source not in in_tier]
        if missing:
            numbers = [source.rpartition(":")[2] for source in missing[:_NAMED]]
            more = f" and {len(missing) - _NAMED} more" if missing[_NAMED:] else ""
            of_lines = f"lines {', '.join(numbers)}{more}" if missing[1:] else "this line"
            yield missing[0], f"no example reaches {of_lines}. {_WRITE_ONE}"
    for factor in version.multipliers:
        if factor.source not in never and factor.source not in reached:
            yield factor.source, f"no example reaches this line. {_WRITE_ONE}"


_WRITE_ONE = "Write one, worked by hand"
# The most lines that one note names.
_NAMED = 8


class _Moment(NamedTuple):
    """A charge at some hours, the index of each of its rates in the table, and rates of tokens by bucket and tier."""

    charge: Charge
    indexes: Sequence[int]
    of_tokens: Mapping[tuple[str, int], Sequence[WrittenRate]]


class _Applying:
    """The rates of a charge that apply to some request, and the factors on these rates."""

    def __init__(self, version: Version, charge: Charge, meters: Meters) -> None:
        self._version, self._charge, self._meters = version, charge, meters
        self._values = version.conditions
        unsold = version.not_sold or () if isinstance(version, MeteredVersion) else ()
        # A value may be sold only together with a value of these conditions that is not the default.
        self._in_not_sold = dict.fromkeys(name for combination in unsold for name in combination)
        self._longest = version.context_tokens if isinstance(version, TextVersion) else None
        self._moments = [_moment(charge, numbered) for numbered in rates_at_each_hour(version, charge)]
        self.rates = {index for moment in self._moments for index in self._taken(moment, {})}

    def multiplies(self, factor: RateFactor) -> bool:
        """Return True if some request takes a rate that this factor multiplies."""
        return any(
            self._charge.conditions_of(self._charge.rates[index]).keys().isdisjoint(factor.conditions)
            for moment in self._moments
            for index in self._taken(moment, factor.conditions)
        )

    def why_never(self, rate: Rate) -> str:
        edges = [written.edge for written in written_rates(self._charge) if written.rate is rate]
        if edges and all(map(self._is_too_long, edges)):
            return f"context_tokens {self._longest} allows no such prompt. Correct one of them, or leave the rate out"
        return "wherever it holds, another names more. Leave it out, or correct what the others name"

    def _is_too_long(self, edge: Edge) -> bool:
        return self._longest is not None and edge.above >= self._longest

    def _taken(self, moment: _Moment, conditions: Mapping[str, str]) -> Iterator[int]:
        """Yield the indexes of the rates that some request under these conditions takes."""
        if isinstance(moment.charge, Tokens):
            indexes = dict(zip(map(id, moment.charge.rates), moment.indexes, strict=True))
            for rates in moment.of_tokens.values():
                for rate in rates:
                    possible = not (self._is_too_long(rate.edge) or contradict(rate.conditions, conditions))
                    if possible and self._is_chosen(rate, rates, {**rate.conditions, **conditions}):
                        yield indexes[id(rate.rate)]
        else:
            charge = moment.charge.model_copy(update={"factors": ()})
            names = [name for name in {**named_conditions([charge]), **self._in_not_sold} if name not in conditions]
            for stated in self._combinations(names):
                full = in_full(self._values, {**stated, **conditions}, self._meters)
                if self._sold(full):
                    yield from (moment.indexes[index] for index, _ in held_under(self._version, charge, full))

    def _is_chosen(self, rate: WrittenRate, others: Sequence[WrittenRate], conditions: Mapping[str, str]) -> bool:
        """Return True if some request under conditions takes this rate of tokens, and no better one of its tier."""
        overriding = [other for other in others if other is not rate and more_specific(other, rate)]
        names = dict.fromkeys(name for other in overriding for name in other.conditions if name not in conditions)
        names |= {name: None for name in self._in_not_sold if name not in conditions}
        for stated in self._combinations(names):
            full = in_full(self._values, {**stated, **conditions}, self._meters)
            if self._sold(full) and not any(other.conditions.items() <= full.items() for other in overriding):
                return True
        return False

    def _sold(self, conditions: Mapping[str, str]) -> bool:
        return not self._version.refuses(conditions, self._meters)

    def _combinations(self, names: Iterable[str]) -> Iterator[dict[str, str]]:
        """Yield the combinations of these conditions that requests can state, without defaults."""
        return combinations_of({name: self._values[name] for name in names}, self._meters)


def _moment(charge: Charge, numbered: Sequence[tuple[int, Rate]]) -> _Moment:
    held = charge.with_rates(rate for _, rate in numbered)
    of_tokens: dict[tuple[str, int], list[WrittenRate]] = {}
    for written in written_rates(held):
        of_tokens.setdefault((written.bucket, written.edge.above), []).append(written)
    return _Moment(held, [index for index, _ in numbered], of_tokens)
