"""The choice of the rates of a charge that hold for a request, by its conditions and the length of its prompt.

If two rates hold, one overrides the other if it names everything that the other names: conditions, hours, and a tier
that is not lower. Factors then multiply a rate that does not name their conditions. A stated condition that neither the
rate nor a factor names has no price, and the message says which combinations are sold.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import NamedTuple

from ratecard.base.layouts import Identity
from ratecard.base.messages import REQUIRED, NotOffered, allowed_values
from ratecard.base.money import multiply, plain, text
from ratecard.line_items.compiling import slug
from ratecard.tables.metered import ABOVE, BEGINS, CONTEXT, FROM, MeteredVersion, Tokens
from ratecard.tables.meters import TOKEN, Meters
from ratecard.tables.rate import Charge, Conditioned, ListRate, Rate, RateFactor, domains_of, less, named_conditions
from ratecard.tables.version import Version

# The most combinations of conditions that a message lists.
_MOST_LISTED = 10
# The values of conditions, by name.
Stated = Mapping[str, str]


class FactoredRate(NamedTuple):
    """The price of one unit after markup and factors, with notes on how it was made, and its words in SKUs.

    `factors` are the factors that hold: their conditions in words, and their `file:line`. `conditions` are those that
    the rate or a factor names. `unmet` are stated conditions that neither names, so this is not their price. `listed`
    is the same price of the list, if a contract has another one.
    """

    unit_rate: Decimal
    notes: tuple[str, ...]
    words: tuple[str, ...]
    factors: tuple[tuple[str, str], ...]
    conditions: Stated
    unmet: tuple[str, ...]
    listed: ListRate | None = None


class Edge(NamedTuple):
    """The beginning of a tier: prompts of more than `above` tokens; and its name in SKUs."""

    above: int
    sku: str


EVERY_PROMPT = Edge(-1, "")


class WrittenRate(NamedTuple):
    """A rate as a table writes it: for a bucket, from an edge on, under conditions; perhaps only at some hours."""

    bucket: str
    edge: Edge
    conditions: Stated
    rate: Rate

    @property
    def timed(self) -> bool:
        """Return True if it holds at some hours only, and at this one."""
        return self.rate.timed


class RateResolver:
    """The rates of a charge for any request; `of_version` are the factors of its version."""

    def __init__(self, charge: Conditioned, meters: Meters, of_version: Iterable[RateFactor] = ()) -> None:
        self.charge, self._meters, self._factors = charge, meters, (*charge.factors, *of_version)
        self.named = named_conditions([charge], of_version)
        self.written = list(written_rates(charge))
        self._buckets = dict.fromkeys(rate.bucket for rate in self.written)

    def in_full(self, stated: Stated) -> dict[str, str]:
        """Return the value of each condition that affects the charge's prices: the stated value, else its default."""
        return in_full(self.named, stated, self._meters)

    def rates(self, version: Version, stated: Stated) -> Iterator[tuple[Rate, FactoredRate]]:
        """Yield each rate that holds under stated conditions, with attributes of the method only, and its price."""
        full = self.in_full(stated)
        for index, rate in held_under(version, self.charge, full):
            named = self.charge.conditions_of(self.charge.rates[index])
            yield rate, self.factored(rate, {name: full[name] for name in named}, full)

    def of_buckets(self, above: int, stated: Stated) -> dict[str, tuple[WrittenRate, FactoredRate]]:
        """Return the rate of each bucket that has one, in the tier above a number of tokens, under conditions."""
        full = self.in_full(stated)
        best = {name: rate for name in self._buckets if (rate := chosen(self.written, name, above, full))}
        return {name: (rate, self.factored(rate.rate, rate.conditions, full)) for name, rate in best.items()}

    def factored(self, rate: Rate, named: Stated, full: Stated) -> FactoredRate:
        """Return a rate that names conditions, times the factors that name others and hold under the `full` ones."""
        unit_rate, notes, used, multiplied = multiply(rate.rate, self.charge.markup), [], dict(named), []
        listed = rate.listed
        for factor in self._factors:
            if factor.conditions.items() <= full.items() and not factor.conditions.keys() & named.keys():
                shown = in_words(factor.conditions)
                notes.append(f"{text(plain(unit_rate))} x {text(factor.factor)} for {shown} ({factor.source})")
                unit_rate = multiply(unit_rate, factor.factor)
                listed = listed and listed._replace(rate=plain(multiply(listed.rate, factor.factor)))
                used |= factor.conditions
                multiplied.append((shown.replace(":", ""), factor.source))
        unmet = tuple(name for name, value in full.items() if name not in used and self._must_meet(name, value))
        words = (*self._words(used),)
        return FactoredRate(plain(unit_rate), (*notes,), words, (*multiplied,), used, unmet, listed)

    def _must_meet(self, name: str, value: str) -> bool:
        """Return True for a stated value that a rate or a factor must name."""
        without_rate, condition = self.charge.without_rate or {}, self._meters.condition[name]
        return value != condition.default and without_rate.get(value, without_rate.get(name)) != "default"

    def _words(self, used: Stated) -> Iterator[str]:
        """Yield the words of conditions in SKUs: the value, after the name if an earlier condition has that value."""
        for name, condition in self._meters.condition.items():
            if name in used and used[name] != condition.default:
                first = next(other for other in self._meters.conditions if used[name] in other.values)
                yield slug(used[name] if first is condition else f"{name}-{used[name]}")

    def offered(self) -> list[dict[str, str]]:
        """Return each combination of conditions that a rate or factor names, without defaults; the empty one first."""
        named = [self.charge.conditions_of(rate) for rate in self.charge.rates]
        listed = [
            dict(zip(conditions, values, strict=True))
            for conditions in named
            for values in product(*conditions.values())
        ]
        listed = [{}, *listed, *(dict(factor.conditions) for factor in self._factors)]
        needed = [
            [(name, value) for value in condition.values if value in self.named[name]]
            for name, condition in self._meters.condition.items()
            if name in self.named and condition.default is None
        ]
        listed = [{**dict(more), **combination} for combination in listed for more in product(*needed)]
        stated = [beside_defaults(combination, self._meters) for combination in listed]
        return list({tuple(combination.items()): combination for combination in stated}.values())

    def refusal(
        self, stated: Stated, is_sold: Callable[[Stated], bool], what: str = "", *, at_other_lengths: bool = False
    ) -> str:
        """Return the message for conditions under which `what` has no price; it lists what is sold.

        `at_other_lengths` says that the same conditions are sold for prompts of another tier.
        """
        conditions = {name: stated[name] for name in self.named if name in stated}
        message = not_sold(beside_defaults(conditions, self._meters), filter(is_sold, self.offered()), what)
        return NotOffered(f"{message}; it is sold at another length of the prompt") if at_other_lengths else message


def _for_one_request(one: Rate, other: Rate) -> bool:
    """Return True if some request has the attributes of both rates."""
    return all({*one.attributes.get(name, values)} & {*values} for name, values in other.attributes.items())


class StatedRate(Rate):
    """A rate under the conditions that a request states, after markup and factors, and what it was made of."""

    model: str
    factored: FactoredRate
    charge: Conditioned
    version: MeteredVersion
    meters: Meters
    stated: Stated
    written: Rate

    def on_line(self, sku: str) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
        """Return the SKU with the conditions, the factors and the notes. Raises `NotSoldError` for unmet conditions."""
        if self.factored.unmet:
            raise NotSoldError([(name, self._refusal) for name in self.factored.unmet])
        sku = "-".join((self.model, *self.factored.words)) + sku.removeprefix(self.model)
        return sku, self.factored.factors, self.factored.notes

    @cached_property
    def _refusal(self) -> str:
        """Return the message, which lists the combinations that have a rate for the same attributes."""
        resolver = RateResolver(self.charge, self.meters, self.version.factors)

        def is_sold(combination: Stated) -> bool:
            rates = [] if self.version.refuses(combination, self.meters) else resolver.rates(self.version, combination)
            return any(not factored.unmet and _for_one_request(rate, self.written) for rate, factored in rates)

        return resolver.refusal(self.stated, is_sold)


def is_plain(charge: Conditioned, version: MeteredVersion) -> bool:
    """Return True for a charge that is compiled as it is, whatever a request states.

    Tokens are such a charge, because their rate depends on bucket, tier and conditions together.
    """
    if isinstance(charge, Tokens):
        return True
    timed = any(rate.timed for rate in charge.rates)
    return not (timed or version.conditions_of(charge))


def charge_under(
    charge: Conditioned, version: MeteredVersion, model: str, meters: Meters, stated: Stated
) -> Conditioned:
    """Return a charge for requests that state these conditions: its rates include the factors and name no condition."""
    if is_plain(charge, version):
        return charge
    rates = [
        StatedRate.model_construct(
            rate=factored.unit_rate,
            attributes=rate.attributes,
            source=rate.source,
            listed=factored.listed,
            model=model,
            factored=factored,
            charge=charge,
            version=version,
            meters=meters,
            stated=stated,
            written=rate,
        )
        for rate, factored in RateResolver(charge, meters, version.factors).rates(version, stated)
    ]
    return charge.model_copy(update={"rates": tuple(rates), "markup": Decimal(1)})


# Conditions of requests.


def in_full(named: Mapping[str, Iterable[str]], stated: Stated, meters: Meters) -> dict[str, str]:
    """Return the value of each condition: the stated value, else its default, else the first of the named values."""
    return {name: stated.get(name) or meters.condition[name].default or min(values) for name, values in named.items()}


def beside_defaults(stated: Stated, meters: Meters) -> dict[str, str]:
    """Return stated conditions without those that have their defaults, in the order of meters.yaml."""
    defaults = ((name, condition.default) for name, condition in meters.condition.items())
    return {name: stated[name] for name, default in defaults if stated.get(name, default) != default}


def combinations_of(named: Mapping[str, set[str]], meters: Meters) -> Iterator[dict[str, str]]:
    """Yield every combination of the named values and defaults of conditions, without defaults; the empty one first.

    Every combination has a value of each condition without a default.
    """
    declared = [(meters.condition[name], values) for name, values in named.items()]
    listed = [
        [*([None] if one.default else []), *(value for value in one.values if value in values - {one.default})]
        for one, values in declared
    ]
    for values in product(*listed):
        yield {name: value for name, value in zip(named, values, strict=True) if value}


def accepted_conditions(named: Sequence[Mapping[str, Collection[str]]], meters: Meters) -> dict[str, dict[str, str]]:
    """Return the conditions that usages may state, with every spelling of the values that some rate or factor names."""
    return {
        name: condition.spellings({value for conditions in named for value in conditions.get(name, ())})
        for name, condition in meters.condition.items()
    }


class NotSoldError(Exception):
    """The conditions that a request states and that are not sold together, each with its message."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__(*problems)
        self.problems = problems


def wrong_conditions(version: MeteredVersion, meters: Meters) -> Callable[[Stated], list[tuple[str, str]]]:
    """Compile the function from stated conditions to their problems, each a condition with its message.

    Conditions may be `not_sold` together, or one without a default may not be stated.
    """
    needed = version.needed(meters)
    if not (needed or version.not_sold):
        return lambda stated: []
    spellings = {name: meters.condition[name].spellings(values) for name, values in needed.items()}
    required = {name: f"{REQUIRED}. Expected {allowed_values(words)}" for name, words in spellings.items()}

    def wrong(stated: Stated) -> list[tuple[str, str]]:
        problems = [(name, words) for name, words in required.items() if name not in stated]
        if refused := version.refuses(stated, meters):
            resolvers = (RateResolver(charge, meters, version.factors) for charge in version.charges)
            offered = (combination for resolver in resolvers for combination in resolver.offered())
            sold = {in_words(sale): sale for sale in offered if not version.refuses(sale, meters)}
            at = next((name for name in refused if name in stated), min(refused))
            problems.append((at, not_sold(refused, sold.values())))
        return problems

    return wrong


def not_sold(stated: Stated, sold: Iterable[Stated], what: str = "") -> NotOffered:
    """Return the message for conditions that are not sold together, with those that are; `what` has no price.

    >>> str(not_sold({"service_tier": "priority"}, [{}, {"service_tier": "batch"}]))
    "Not sold. Expected 'no condition' | 'service_tier: batch', received 'service_tier: priority'"
    """
    listed = list(islice(sold, _MOST_LISTED + 1))
    words = allowed_values(map(in_words, listed[:_MOST_LISTED])) + (" | ..." if len(listed) > _MOST_LISTED else "")
    reason = f"No price is known for {what} under these conditions" if what else "Not sold"
    expected = f"Expected {words}" if listed else "Expected another hour or length of the prompt"
    return NotOffered(f"{reason}. {expected}, received '{in_words(stated)}'")


def in_words(stated: Stated) -> str:
    """Return conditions as a message names them."""
    return ", ".join(f"{name}: {value}" for name, value in stated.items()) or "no condition"


# The choice between several rates: for tokens by bucket, for other charges by the attributes of their method.


class Rank(NamedTuple):
    """The specificity of a rate beside the attributes of its method: its conditions, and True if it names hours."""

    conditions: frozenset[str]
    timed: bool

    def above(self, other: "Rank") -> bool:
        """Return True if a rate overrides another."""
        return self != other and self.conditions >= other.conditions and self.timed >= other.timed


def rank(charge: Charge, rate: Rate) -> Rank:
    """Return the rank of a rate: the conditions that it names, and True if it names hours."""
    return Rank(frozenset(charge.conditions_of(rate)), rate.timed)


def held_under(version: Version, charge: Charge, stated: Stated) -> list[tuple[int, Rate]]:
    """Return the rates of a charge under conditions stated in full, each with the index of its line in the charge.

    The rates name only attributes of the method, and only those values that no overriding rate takes.
    """
    held = []
    for index, rate in enumerate(charge.rates):
        named = charge.conditions_of(rate)
        if all(stated.get(name) in values for name, values in named.items()):
            attributes = {name: values for name, values in rate.attributes.items() if name not in named}
            held.append((index, rank(charge, rate), rate.model_copy(update={"attributes": attributes})))
    domains = domains_of(version, charge)
    remaining: list[tuple[int, Rate]] = []
    for index, rate_rank, rate in held:
        overriding = [other for _, other_rank, other in held if other_rank.above(rate_rank)]
        remaining += ((index, part) for part in less(rate, overriding, domains))
    return remaining


def written_rates(charge: Charge) -> Iterator[WrittenRate]:
    """Yield every rate of a charge of tokens for each bucket and each combination of conditions that it names."""
    if not isinstance(charge, Tokens):
        return
    for rate in charge.rates:
        named = charge.conditions_of(rate)
        for values in product(*named.values()):
            conditions = dict(zip(named, values, strict=True))
            for edge, bucket in product(edges_of(charge, rate), rate.attributes["tokens"]):
                yield WrittenRate(bucket, edge, conditions, rate)


def edges_of(charge: Charge, rate: Rate) -> Iterator[Edge]:
    """Yield the edges of the tiers of a rate; that of every prompt if it names none."""
    for context in rate.attributes.get(CONTEXT, ()):
        begins = charge.context_token_threshold if isinstance(charge, Tokens) else None
        yield EVERY_PROMPT if context == "base" else Edge(begins or 0, context)
    for name in (ABOVE, FROM):
        for threshold in rate.attributes.get(name, ()):
            yield edge_of(name, int(threshold))
    if rate.attributes.keys().isdisjoint(BEGINS):
        yield EVERY_PROMPT


def edge_of(name: str, threshold: int) -> Edge:
    """Return the edge of a tier that begins `above` a threshold, or `from` it on.

    >>> edge_of("above", 200_000), edge_of("from", 128_500)
    (Edge(above=200000, sku='above-200k'), Edge(above=128499, sku='from-128500'))
    """
    short = f"{threshold // 1_000}k" if threshold and threshold % 1_000 == 0 else str(threshold)
    return Edge(threshold - (name == FROM), f"{name}-{short}")


def chosen(written: Iterable[WrittenRate], bucket: str, above: int, stated: Stated) -> WrittenRate | None:
    """Return the rate of a bucket in a tier, under conditions: the most specific that holds; None if none does.

    If neither of two rates is more specific, the one of the higher tier is chosen. Tables have such rates only where
    the price is refused.
    """
    best: WrittenRate | None = None
    for rate in written:
        if rate.bucket != bucket or rate.edge.above > above or not rate.conditions.items() <= stated.items():
            continue
        if best is None or rate.edge.above > best.edge.above or more_specific(rate, best):
            best = rate
    return best


def more_specific(one: WrittenRate, other: WrittenRate) -> bool:
    """Return True for a rate that names all that another names: conditions, hours, and a tier not lower."""
    return (
        one.conditions.items() >= other.conditions.items()
        and one.edge.above >= other.edge.above
        and one.timed >= other.timed
    )


def tiers_of(written: Iterable[WrittenRate]) -> list[int]:
    """Return the edges of tiers: prompts of a tier have more tokens than its edge; the first tier has every prompt."""
    return sorted({EVERY_PROMPT.above, *(rate.edge.above for rate in written)})


def parents_of(charge: Tokens, meters: Meters, priced: Iterable[str]) -> Mapping[str, tuple[str, bool]]:
    """Return the buckets charged at another's rate: each with the other bucket, and True if it has a line of its own.

    It has one if the charge itself, and not only meters.yaml, says `parent`.
    """
    of_charge = ({"cache": "parent"} if charge.missing_cache_rate else {}) | charge.without_rate
    return _parents(Identity(meters), tuple(of_charge.items()), tuple(priced))


# Most charges have rates for the same buckets, so there are few results to keep.
@lru_cache(1_000)
def _parents(
    of: Identity, said_of: tuple[tuple[str, str], ...], priced: tuple[str, ...]
) -> Mapping[str, tuple[str, bool]]:
    meters: Meters = of.value
    of_charge, general, parents = dict(said_of), meters.by_name[TOKEN].without_rate, {}
    for bucket in meters.buckets.keys() - {*priced}:
        dimensions, shown = dict(meters.buckets[bucket].dimensions), False
        for name, value in list(dimensions.items()):
            treatment = of_charge.get(value, of_charge.get(name))
            if (treatment or general.get(value, general.get(name))) == "parent":
                del dimensions[name]
                shown = shown or treatment == "parent"
                parent = meters.bucket_of.get(frozenset(dimensions.items()))
                if parent in priced:
                    parents[bucket] = parent, shown
                    break
    return {name: parents[name] for name in meters.buckets if name in parents}
