"""The base class of the pricing methods, the methods that tables can name, and sample usages that they make."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from random import Random
from typing import Any, ClassVar, NamedTuple, cast

from ratecard.base.messages import Finding
from ratecard.line_items.compiling import Calculator, Compiling, LineBySeconds, Shape
from ratecard.line_items.conditions import StatedRate, charge_under, combinations_of, is_plain
from ratecard.line_items.quote import LineItem
from ratecard.methods.conditions import check_rates
from ratecard.methods.metered import Metered
from ratecard.requests.fields import Field, NumberField, RequestShape
from ratecard.requests.metered import Meterage, Settle
from ratecard.tables.card import Tables
from ratecard.tables.metered import METERED_CHARGES, MeteredVersion
from ratecard.tables.meters import Meters, Unit
from ratecard.tables.rate import Charge, CountedCharge
from ratecard.tables.version import Model
from ratecard.tables.video import VIDEO_CHARGES, VideoCharge

Lines = Callable[[RequestShape], list[LineItem]]
# Usages, with or without their type and model.
Samples = Iterator[dict[str, Any]]
# Words and numbers in the order in which a bill shows them.
Steps = tuple[str | Decimal, ...]
# The kind of the quote bodies of speech, transcription and music, which share two fields of the API.
AUDIO_BODY = "audio"
# The greatest count of a usage.
MOST_COUNTED = 10**12
# The check of a count of a meter, whole or not.
ANY_NUMBER = NumberField(Decimal(0), Decimal(MOST_COUNTED))


class Items(NamedTuple):
    """The rules for the items of a list in a usage: their fields, and the most items."""

    of: Callable[[Mapping[str, Any]], Sequence[Any]]
    most: int


class UsageReading(NamedTuple):
    """The fields that a charge reads from a usage, and the function from them to its lines.

    `inert` fields are checked and have no effect. `settle` reads the `further` keys, each a list: it takes the usage,
    and adds to the shape and to the problems. `meters` are those of `Method.meters`; the shape has their `counts`.
    """

    lines: Lines
    fields: Mapping[str, Field] = {}
    defaults: Mapping[str, Any] = {}
    required: Sequence[str] = ()
    inert: Sequence[str] = ()
    further: Mapping[str, Items] = {}
    settle: Settle | None = None
    meters: Mapping[str, Meterage] = {}


def least_charged(charge: CountedCharge, count: int) -> int:
    """Return the count that a request needs so that `count` are charged: the included ones come first."""
    return ceil(charge.included or 0) + count


class Method(Charge):
    """A charge by one pricing method: what a table says of it, what it checks, charges and shows.

    A new method is a class like this in a file of its own, and its name in `methods/__init__.py`. One of video has a
    `calculator`, any other a `reading`.
    """

    # The types of models that may have such a charge.
    TYPES: ClassVar[tuple[str, ...]] = ()
    # The kinds that it prices beside usages of its model's type: usages of another type, or bodies of `audio`.
    KINDS: ClassVar[tuple[str, ...]] = ()
    # True if a version may have such charges together with charges of any other method.
    BESIDE: ClassVar[bool] = False
    # True if a version may have several of them, each of which makes a line for the same count.
    SEVERAL: ClassVar[bool] = False
    # The formula of its count, by the options of its tables; empty if their names show it.
    FORMULA: ClassVar[str] = ""
    # The fields of a request whose words the rates name.
    CHOICES: ClassVar[tuple[str, ...]] = ()
    # The fields for which a version may have `defaults`.
    DEFAULTED: ClassVar[tuple[str, ...]] = ()
    # Fields of usages, one of which may have the charged number; the laws try each of them.
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    def words_of(self, name: str) -> tuple[str, ...]:
        """Return the words that requests may state in one of the `CHOICES`: the words of the rates."""
        return self.values_of(name)

    def calculator(self, compiling: Compiling) -> Calculator:
        """Compile a charge of a video model into the function from a request shape to its line item."""
        raise NotImplementedError(f"no calculator for {self.method}")

    def by_seconds(self, compiling: Compiling) -> Callable[[Shape], LineBySeconds]:
        """Compile a charge of video into a function of a shape; its result makes a line from the reference seconds."""
        calculate = self.calculator(compiling)
        return lambda shape: lambda seconds: calculate({**shape, "reference_seconds": seconds})

    def working(self, shape: Shape, counted: Decimal) -> Steps:
        """Return the steps from a request to the count of a line of video; empty if the request states that count."""
        return ()

    def check(self, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Check the charge as a part of a version that is not video."""
        yield from check_rates(version, self)

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Return how the charge prices usages of a kind (their type, or `audio` for a body); None if it does not."""
        raise NotImplementedError(f"no reading for {self.method}")

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield usages without type and model, one for each rate: one unit of it, if that can be charged alone."""
        yield {}

    def meters(self, of: Metered | Tables) -> Mapping[str, Meterage]:
        """Return the meters whose `counts` the charge reads from a usage, each with its check."""
        return {}

    def edges(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield further such usages, which may have a rate or a line of their own."""
        yield from ()

    def required(self, version: MeteredVersion) -> dict[str, str]:
        """Return the choices of this charge that a request must state, each with one of its words."""
        return {}

    def typical(self, usages: Iterable[dict[str, Any]], chance: Random) -> Samples:
        """Yield the usages, which have one unit at each rate, with typical counts: medians of real requests."""
        yield from usages

    def linear(self, unit: Unit) -> bool:
        """Return True if twice as much usage is charged exactly twice as much, so that usage can be summed."""
        return unit.is_decimal and not self.options


# The class of every method by its name, in the order of messages.
METHODS: dict[str, type[Method]] = {}


def register(*charges: type[Method]) -> None:
    """Register methods under each of their names, so that tables can have such charges."""
    for charge in charges:
        classes = VIDEO_CHARGES if issubclass(charge, VideoCharge) else METERED_CHARGES
        METHODS.update(dict.fromkeys(classes.add(charge), charge))


def method_of(charge: Charge) -> Method:
    """Return a charge of a table as its method, because tables have only charges of registered methods."""
    return cast(Method, charge)


def is_linear(version: MeteredVersion, tables: Tables, meter: str = "") -> bool:
    """Return True if a version's charge for the count of a meter is linear; without a meter, for all other usage."""
    if version.minimum is not None:
        return False
    for charge in version.charges:
        method = method_of(charge)
        meters = method.meters(tables)
        counts_it = meter in meters if meter else not (meters and method.BESIDE)
        known = not meter or (counts_it and meters[meter].field is ANY_NUMBER)
        if counts_it and not (known and method.linear(tables.units[charge.unit])):
            return False
    return True


def unit_usages(model: Model[Any], version: MeteredVersion, tables: Tables) -> Samples:
    """Yield a usage for `prices.rate` for every rate of the version: one unit of it, if that can be used alone."""
    complete = _Whole(model, version, tables)
    for stated, method in _each_condition(version, model, tables):
        for sample in method.samples(version, model.type, tables):
            yield complete.usage({**sample, **stated}, beside=method.BESIDE)


def edge_usages(model: Model[Any], version: MeteredVersion, tables: Tables) -> Samples:
    """Yield further usages that may have a rate or a line of their own."""
    complete = _Whole(model, version, tables)
    for stated, method in _each_condition(version, model, tables):
        for edge in method.edges(version, model.type, tables):
            yield complete.usage({**edge, **stated})


def _each_condition(
    version: MeteredVersion, model: Model[Any], tables: Tables
) -> Iterator[tuple[Mapping[str, str], Method]]:
    """Yield combinations of conditions that are sold, each with a charge that has only the rates all of them affect."""
    for charge in version.charges:
        if is_plain(charge, version):
            yield {}, method_of(charge)
            continue
        for stated in combinations_of(version.conditions_of(charge), tables.meters):
            if version.refuses(stated, tables.meters):
                continue
            held = charge_under(charge, version, model.model, tables.meters, stated)
            rates = [
                rate
                for rate in held.rates
                if isinstance(rate, StatedRate)
                and stated.items() <= rate.factored.conditions.items()
                and not rate.factored.unmet
            ]
            if rates:
                yield stated, method_of(held.with_rates(rates))


class _Whole:
    """A maker of complete usages: it adds type, model, needed conditions, and the counts that other charges need."""

    def __init__(self, model: Model[Any], version: MeteredVersion, tables: Tables) -> None:
        self._named = {"type": model.type, "model": model.model, **version.first_values(tables.meters)}
        self._counts: dict[str, int] = {}
        samples: Samples = iter(())
        for charge in reversed(version.charges):
            method = method_of(charge)
            meters = method.meters(tables)
            self._counts |= {name: 0 for name, meterage in meters.items() if meterage.otherwise is None}
            if not method.BESIDE:
                samples = method.samples(version, model.type, tables)
        self._own = next(samples, {})

    def usage(self, sample: Mapping[str, Any], *, beside: bool = False) -> dict[str, Any]:
        """Return a complete usage; for a charge `beside` others, it includes a usage that these others charge."""
        complete = {**self._named, **(self._own if beside else {}), **sample}
        return complete | ({"counts": {**self._counts, **complete.get("counts", {})}} if self._counts else {})
