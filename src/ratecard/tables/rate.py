"""Rates, the charges that hold them, and the rate that a request selects.

Every combination of attributes that a version accepts must fit exactly one rate of each charge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, Union, get_args

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_plain_validator_function

from ratecard.base.money import EXACT, multiply, plain, plain_text
from ratecard.tables.meters import OfCharge
from ratecard.tables.scalars import (
    SOURCE_KEY,
    Frozen,
    Id,
    Multiplier,
    Number,
    Positive,
    PositiveQuantity,
    Quantity,
    Words,
    gathered,
)

# The most rates, and the most factors, of a charge: those with conditions are compared with each other.
MOST_RATES = 1_000
# Keys that a rate of any charge may have: the hours and weekdays at which it holds, and their time zone.
WINDOW = HOURS, WEEKDAYS, ZONE = ("hours", "weekdays", "zone")
# The upper edge of the last tier.
ANY = "any"


_FACTORS = "Write factors of the charge, beside its rates: `factors: [{service_tier: batch, factor: 0.5}]`"


def _line_of(given: Any, amount: str, others: str, like: str) -> dict[str, Any]:
    """Return a line of a table, or arguments of a program, as its amount and one mapping of its other keys."""
    if not isinstance(given, dict):
        raise ValueError(f"must be a line like {like}")
    if amount not in given:
        if amount == "rate" and "factor" in given:
            raise ValueError(f"has a factor and no rate. {_FACTORS}")
        raise ValueError(f"has no {amount}. Write one, like {like}")
    return given if isinstance(given.get(others), dict) else gathered(given, (amount, SOURCE_KEY), others)


class ListRate(NamedTuple):
    """The list price of one unit and its `file:line`, for a rate whose price a contract sets."""

    rate: Decimal
    source: str


def _only_of_programs(given: Any) -> ListRate | None:
    if given is not None and not isinstance(given, ListRate):
        raise ValueError("is not for tables. Leave it out")
    return given


class Rate(Frozen):
    """One line of a table: `{resolution: [480p, 720p], audio: true, rate: 0.154}`.

    `rate` is an amount of the model's currency per unit of the charge. `attributes` are the conditions under which it
    applies; an attribute that is not written does not matter.
    """

    # True for a rate whose window holds now: it is more specific than a rate that always holds.
    timed: ClassVar[bool] = False

    rate: Number
    attributes: dict[str, Words]
    source: str = Field(default="", alias=SOURCE_KEY)
    # For a contract's rate: the list's price, after markup.
    listed: Annotated[ListRate | None, PlainValidator(_only_of_programs), PlainSerializer(str), WithJsonSchema({})] = (
        Field(default=None, exclude=True)
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_attributes(cls, given: Any) -> Any:
        line = _line_of(given, "rate", "attributes", "{resolution: 720p, rate: 0.10}")
        if "factors" in line["attributes"]:
            raise ValueError(f"has factors of its own. {_FACTORS}")
        digits = next((key for key in line["attributes"] if str(key).isdigit()), None)
        if digits is not None:
            raise ValueError(f"is cut off by a comma before {digits}. Write a decimal point, like 0.25")
        return line

    def on_line(self, sku: str) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
        """Return the SKU of a line at this rate, the factors in its price, and notes that say how it was made."""
        return sku, (), ()


class HeldRate(Rate):
    """A rate whose window has been checked and holds now."""

    timed: ClassVar = True


class RateFactor(Frozen):
    """A factor on the rates of a charge: `{service_tier: batch, factor: 0.5}`.

    It holds for requests under these conditions, on rates that do not name them.
    """

    factor: Multiplier
    conditions: dict[str, Id]
    source: str = Field(default="", alias=SOURCE_KEY, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _gather_conditions(cls, given: Any) -> Any:
        line = _line_of(given, "factor", "conditions", like := "{service_tier: batch, factor: 0.5}")
        if several := next(
            (name for name, value in line["conditions"].items() if isinstance(value, (list, tuple))), None
        ):
            raise ValueError(f"has a list of {several}. Write a line for each value, like {like}")
        return line


class Charge(Frozen):
    """One priced part of a version. A subclass is one pricing method, with its options.

    `markup` multiplies every rate of the charge: the rates are then a provider's list rates.
    """

    # Attributes that a rate of this charge may name, in the order in which a SKU names them.
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ()
    # The meters that the units of this charge may count (see units.yaml).
    METERS: ClassVar[tuple[str, ...]] = ()
    # True if the units of this charge may also count any other meter of meters.yaml except tokens.
    ANY_METER: ClassVar[bool] = False
    # True if the price of one counted thing must be a decimal, because quantities are not rounded.
    OF_DECIMALS: ClassVar[bool] = False
    # True if the most specific of several rates that hold is chosen; otherwise exactly one may hold.
    SPECIFIC: ClassVar[bool] = False

    charge: Id
    method: str
    unit: Id
    markup: Positive = Decimal(1)
    rates: Annotated[tuple[Rate, ...], Field(max_length=MOST_RATES)]

    @property
    def options(self) -> bool:
        """Return True if the charged quantity may differ from the counted one."""
        return False

    @property
    def multipliers(self) -> tuple[RateFactor, ...]:
        """Return the factors on the rates of this charge."""
        return ()

    def implied(self, rate: Rate) -> dict[str, Words]:
        """Return the attributes that a rate implies without naming them."""
        return {}

    def conditions_of(self, rate: Rate) -> dict[str, Words]:
        """Return the conditions of meters.yaml that a rate names, with their values; empty for a charge of a video."""
        not_conditions = (*self.ATTRIBUTES, *WINDOW)
        return {name: values for name, values in rate.attributes.items() if name not in not_conditions}

    @property
    def fields(self) -> frozenset[str]:
        """Return the request fields on which the amount of this charge depends."""
        return frozenset(attribute for rate in self.rates for attribute in rate.attributes)

    def unit_rate(self, rate: Rate) -> Decimal:
        """Return the price of one unit at a rate of this charge: the rate times the markup, exact."""
        return plain(multiply(rate.rate, self.markup))

    def charged(self, count: int | Decimal) -> tuple[int | Decimal, str]:
        """Return the charged quantity of a count, and a note on how it was made; empty if it is the count itself."""
        return count, ""

    def with_rates(self, rates: Iterable[Rate]) -> Self:
        """Return the same charge with these rates."""
        return self.model_copy(update={"rates": tuple(rates)})

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Return every value of an attribute that a rate names, in the order of the table."""
        return tuple(dict.fromkeys(value for rate in self.rates for value in rate.attributes.get(attribute, ())))


class Conditioned(Charge):
    """A charge whose rates may name conditions of meters.yaml; `factors` hold for those that do not.

    A request that states a condition has no price at a rate that neither names it nor has a factor for it, unless
    `without_rate` says, by condition or by value, that the price is the one without it: `{batch: default}`.
    """

    SPECIFIC: ClassVar = True
    factors: Annotated[tuple[RateFactor, ...], Field(max_length=MOST_RATES)] = ()
    without_rate: dict[str, OfCharge] | None = None

    @property
    def multipliers(self) -> tuple[RateFactor, ...]:
        """Return the factors on the rates of this charge."""
        return self.factors


def named_conditions(charges: Iterable[Charge], factors: Iterable[RateFactor] = ()) -> dict[str, set[str]]:
    """Return the conditions that charges and further factors name, each with its values."""
    conditions: dict[str, set[str]] = {}
    for charge in charges:
        for rate in charge.rates:
            for name, values in charge.conditions_of(rate).items():
                conditions.setdefault(name, set()).update(values)
        factors = (*factors, *charge.multipliers)
    for factor in factors:
        for name, value in factor.conditions.items():
            conditions.setdefault(name, set()).add(value)
    return conditions


class CountedCharge(Conditioned):
    """A charge of what is counted. Its options say how much is charged, in this order and in what its unit counts.

    `included` costs nothing; of what is left, if anything, at least `at_least` is charged; then whole blocks of
    `started`.
    """

    included: Quantity | None = None
    at_least: PositiveQuantity | None = None
    started: PositiveQuantity | None = None

    @property
    def options(self) -> bool:
        """Return True if the charged quantity may differ from the counted one."""
        return bool(self.included or self.at_least or self.started)

    def charged(self, count: int | Decimal) -> tuple[int | Decimal, str]:
        """Return the charged quantity of a count, and a note on how it was made; empty if it is the count itself.

        >>> audio = CountedCharge(charge="audio", method="count", unit="second", rates=(), included=10, started=60)
        >>> audio.charged(Decimal("71.2"))
        (Decimal('120'), '71.2 counted; 10 included; charged in blocks of 60')
        """
        if not self.options:
            return count, ""
        quantity, notes = count, [f"{_words(count)} counted"]
        if self.included and quantity:
            quantity = EXACT.subtract(quantity, min(quantity, self.included))
            notes.append(f"{_words(self.included)} included")
        if self.at_least and 0 < quantity < self.at_least:
            quantity = self.at_least
            notes.append(f"at least {_words(self.at_least)} charged")
        if self.started:
            blocks = multiply(ceil(Fraction(quantity) / Fraction(self.started)), self.started)
            if blocks != quantity:
                quantity = blocks
                notes.append(f"charged in blocks of {_words(self.started)}")
        return quantity, "; ".join(notes) if len(notes) > 1 else ""


def _words(count: int | Decimal) -> str:
    return plain_text(Decimal(count))


class ChargeClasses:
    """The classes of charges by their methods, as the package `methods` registers them; a table names one of them."""

    def __init__(self) -> None:
        self.by_method: dict[str, type[Charge]] = {}

    def add(self, charge: type[Charge]) -> tuple[str, ...]:
        """Register a class of charges; return the methods that it states."""
        methods = get_args(charge.model_fields["method"].annotation)
        self.by_method |= dict.fromkeys(methods, charge)
        self.__dict__.pop("_any", None)
        return methods

    def remove(self, method: str) -> None:
        """Remove a method: tables cannot have charges of it any more."""
        del self.by_method[method]
        self.__dict__.pop("_any", None)

    @cached_property
    def _any(self) -> TypeAdapter[Charge]:
        kinds: Any = Union[tuple(dict.fromkeys(self.by_method.values()))]  # noqa: UP007 (made of a list)
        return TypeAdapter(Annotated[kinds, Field(discriminator="method")])

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(lambda charge: self._any.validate_python(charge))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._any.core_schema)


Combination = tuple[str, ...]
Domains = Mapping[str, Sequence[str]]


class Accepting(Protocol):
    """A version, as the selection of rates needs it: it lists the values of attributes."""

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Return every value that the attribute can have."""


def named_attributes(rates: Iterable[Rate], order: Sequence[str]) -> tuple[str, ...]:
    """Return the attributes that these rates name, in the order of `order`."""
    named = {attribute for rate in rates for attribute in rate.attributes}
    return tuple(attribute for attribute in order if attribute in named)


def combinations(rate: Rate, domains: Domains) -> Iterator[Combination]:
    """Return every combination of values that a rate applies to, in the order of the attributes of `domains`."""
    return product(*(rate.attributes.get(attribute, values) for attribute, values in domains.items()))


def domains_of(version: Accepting, charge: Charge) -> dict[str, tuple[str, ...]]:
    """Return the values that each attribute named by a charge's rates can have; for `up_to`, its tiers."""
    names = named_attributes(charge.rates, charge.ATTRIBUTES)
    return {name: tiers(charge.rates) if name == "up_to" else version.values_of(name) for name in names}


def tiers(rates: Iterable[Rate]) -> tuple[str, ...]:
    """Return the upper edges of these rates' tiers, rising, `any` last."""
    edges = {edge for rate in rates for edge in rate.attributes.get("up_to", ())}
    return tuple(sorted(edges, key=lambda edge: (edge == ANY, len(edge), edge)))


def select(version: Accepting, charge: Charge) -> tuple[tuple[str, ...], dict[Combination, Rate]]:
    """Return the attributes that the rates of a checked charge name, and its rates by their values."""
    domains = domains_of(version, charge)
    return tuple(domains), {key: rate for rate in charge.rates for key in combinations(rate, domains)}


def less(rate: Rate, others: Iterable[Rate], domains: Domains) -> list[Rate]:
    """Return the rest of a rate, as several rates, without the combinations of other rates.

    >>> one, other = Rate(rate="1", attributes={}), Rate(rate="2", attributes={"resolution": "720p"})
    >>> [rate.attributes for rate in less(one, [other], {"resolution": ("480p", "720p")})]
    [{'resolution': ('480p',)}]
    """
    remaining: list[Mapping[str, tuple[str, ...]]] = [rate.attributes]
    for other in others:
        remaining = [part for attributes in remaining for part in _without(attributes, other.attributes, domains)]
    return [rate.model_copy(update={"attributes": dict(attributes)}) for attributes in remaining]


def _without(
    own: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]], domains: Domains
) -> Iterator[Mapping[str, tuple[str, ...]]]:
    values = {name: own.get(name, tuple(domains.get(name, wanted))) for name, wanted in other.items()}
    shared = {name: tuple(value for value in values[name] if value in wanted) for name, wanted in other.items()}
    if not all(shared.values()):
        yield own
        return
    for name, both in shared.items():
        if rest := tuple(value for value in values[name] if value not in both):
            yield {**own, name: rest}
        own = {**own, name: both}


def overlaps(rates: Sequence[Rate], domains: Domains) -> Iterator[tuple[int, int, str]]:
    """Yield (index, index of the earlier rate, first common combination) for each rate that overlaps an earlier one."""
    seen: dict[Combination, int] = {}
    for index, rate in enumerate(rates):
        for key in combinations(rate, domains):
            if key in seen:
                yield index, seen[key], _describe(domains, key)
                break
            seen[key] = index


def missing(rates: Sequence[Rate], domains: Domains) -> Iterator[str]:
    """Yield every accepted combination that no rate fits."""
    have = {key for rate in rates for key in combinations(rate, domains)}
    for key in product(*domains.values()):
        if key not in have:
            yield _describe(domains, key)


def _describe(attributes: Iterable[str], key: Combination) -> str:
    """Return text like `resolution: 720p, audio: true`."""
    return ", ".join(f"{attribute}: {value}" for attribute, value in zip(attributes, key, strict=True))
