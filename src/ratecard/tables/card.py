"""All tables of a folder together, the digest of what they mean, and open patterns of the names of models.

In a pattern like `gpt-4o-*`, `*` stands for any letters, `?` for one.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fnmatch import translate
from fractions import Fraction
from functools import cache, cached_property
from hashlib import sha256
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import BaseModel, Field

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.messages import NotOffered, echo
from ratecard.base.money import plain, text
from ratecard.tables.limits import Flag, Limits
from ratecard.tables.metered import MeteredModel, TextModel
from ratecard.tables.meters import Meters, Unit, Vocabulary
from ratecard.tables.rate import Charge
from ratecard.tables.scalars import Frozen, Id, Size
from ratecard.tables.version import Version
from ratecard.tables.video import VideoModel

if TYPE_CHECKING:
    from ratecard.tables.contract import Contract
    from ratecard.tables.monthly import Term

# Keys that do not change an answer: evidence and examples, notes, and the `file:line` of a version.
_NO_MEANING = {"checked", "examples", "evidence", "reference", "announced", "name", "note", "accounts"}
_NO_MEANING |= {"correction", "expected_change", "place", "minimum_place", "service_parameters"}
# Parts whose source is a `file:line`, or says who signed.
_WITH_SOURCE = ("Rate", "RateFactor", "Override", "Contract", "Term")
# Lists whose order has a meaning: the first charge has the shortest SKU, and the first tier that fits applies.
_ORDERED = ("charges", "tiers")
_LENGTH = 16
# Types of values that are compared as they are.
_PLAIN = {str, int, bool}


_MEANING = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_ORDER = json.JSONEncoder(sort_keys=True)


def meaning(part: BaseModel) -> str:
    """Return the meaning of a part of the tables as text: equal for two parts that give equal answers."""
    return _MEANING.encode(_meaning(part))


def same_prices(one: Version, other: Version) -> bool:
    """Return True if two versions give equal answers, whenever they begin and whatever the list has beside a contract.

    A rate with a markup is the same price as a rate that includes it.
    """
    first, second = (
        meaning(version.model_copy(update={"effective": date.min, "charges": (*map(_priced, version.charges),)}))
        for version in (one, other)
    )
    return first == second


def _priced(charge: Charge) -> Charge:
    rates = (rate.model_copy(update={"rate": charge.unit_rate(rate), "listed": None}) for rate in charge.rates)
    return charge.model_copy(update={"rates": (*rates,), "markup": Decimal(1)})


def digest(meanings: Iterable[str]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of these meanings; their order does not matter."""
    return sha256("\n".join(sorted(meanings)).encode()).hexdigest()[:_LENGTH]


@cache
def _fields_of_meaning(kind: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields of a part of the tables that change an answer; the source of a rate or version does not."""
    own_source = {"source"} if kind.__name__ in _WITH_SOURCE or "effective" in kind.model_fields else set()
    return tuple(name for name in kind.model_fields if name not in _NO_MEANING | own_source)


def _meaning(value: Any) -> Any:
    if value.__class__ in _PLAIN:  # most values have one of these types
        return value
    if value.__class__ is Decimal:
        return text(plain(value))
    if isinstance(value, Size):
        return str(value)
    if isinstance(value, (tuple, list)):
        parts = [_meaning(part) for part in value]
        return sorted(parts, key=_ORDER.encode) if len(parts) > 1 else parts
    if isinstance(value, Mapping):
        return {str(key): _meaning(part) for key, part in value.items()}
    if isinstance(value, BaseModel):
        return {
            name: [_meaning(item) for item in part] if name in _ORDERED else _meaning(part)
            for name in (*_fields_of_meaning(value.__class__), *(value.model_extra or ()))
            if (part := getattr(value, name)) is not None
        }
    return str(value) if isinstance(value, (date, Fraction)) else value


AnyModel = Annotated[VideoModel | TextModel | MeteredModel, Field(discriminator="type")]
# The class of models of each type.
MODEL_CLASSES: Mapping[str, type[VideoModel | TextModel | MeteredModel]] = {
    type_: kind
    for kind in (VideoModel, TextModel, MeteredModel)
    for type_ in get_args(kind.model_fields["type"].annotation)
}


# Two threads must not make models at the same time: pydantic would discard validators that one of them builds.
_ONE_AT_A_TIME = RLock()


class ModelsOnDemand(Mapping[str, AnyModel]):
    """Models by id, each made at its first look-up."""

    def __init__(self, ids: Collection[str], make: Callable[[str], AnyModel]) -> None:
        self._ids, self._make, self._made = ids, make, dict[str, AnyModel]()

    def __getitem__(self, name: str) -> AnyModel:
        if name not in self._ids:
            raise KeyError(name)
        if name not in self._made:
            with _ONE_AT_A_TIME:
                if name not in self._made:
                    self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


class Family(Frozen):
    """One file of models that are priced alike."""

    family: Id
    models: tuple[AnyModel, ...]


@dataclass(frozen=True, repr=False)
class Tables:
    """All tables of a folder, checked, with the digest of their meaning."""

    models: Mapping[str, AnyModel]
    units: Mapping[str, Unit]
    meters: Meters
    vocabulary: Vocabulary
    limits: tuple[Limits, ...]
    # True if requests may name models by open patterns.
    patterns: bool = False
    # The family and the file of every model.
    families: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    # The terms of a month that every account has, unless its contract has its own.
    monthly: "Sequence[Term]" = ()
    # The reason why these terms were changed for months that have begun.
    monthly_correction: str | None = None
    # Versions that a candidate proposes: (model, effective date).
    proposed: frozenset[tuple[str, date]] = frozenset()
    # The proposed versions that end a candidate: from then on the list prices hold again.
    restored: frozenset[tuple[str, date]] = frozenset()
    # The tables under a candidate, from which it has most of its models.
    below: "Tables | None" = field(default=None, compare=False)
    # All contracts by name; the contract whose prices these tables have, if any; and the tables of the list then.
    contracts: "Mapping[str, Contract]" = field(default_factory=dict, compare=False)
    contract: str | None = None
    list_tables: "Tables | None" = field(default=None, compare=False)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Return the model of every alias."""
        return {alias: model.model for model in self.models.values() for alias in model.aliases or ()}

    @cached_property
    def _patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Return each open pattern, compiled, with the model that it means."""
        if not self.patterns:
            return ()
        models = self.models.values()
        return tuple((matcher_of(pattern), model.model) for model in models for pattern in model.patterns or ())

    @cached_property
    def digest(self) -> str:
        """Return the digest of their meaning, computed at first use, because loading tables does not need it."""
        shared: tuple[BaseModel, ...] = (*self.units.values(), *self.meters.meters, *self.meters.conditions)
        shared += (self.vocabulary, *self.limits, *self.monthly)
        if self.patterns:
            shared += (Names(patterns=True),)
        return digest((*(words for _, words in self._meanings.values()), *map(meaning, shared)))

    @property
    def digest_with_contracts(self) -> str:
        """Return the digest of their meaning and of that of all contracts, with the accounts that they are for."""
        contracts = self.contracts.values()
        return digest([self.digest, *(f"{sorted(contract.accounts)} {meaning(contract)}" for contract in contracts)])

    @cached_property
    def _meanings(self) -> Mapping[str, tuple[AnyModel, str]]:
        """Return each model with its meaning; that of a model is reused if a candidate does not change it."""
        known = self.below._meanings if self.below else {}
        return {
            name: pair if (pair := known.get(name)) and pair[0] is model else (model, meaning(model))
            for name, model in self.models.items()
        }

    @property
    def listed(self) -> "Tables":
        """Return the tables of the list: these tables, unless they have the prices of a contract."""
        return self.list_tables or self

    def boundaries(self) -> set[datetime]:
        """Return the instants at which a price or limit of these models begins, changes or ends."""
        begins = {version.begins for model in self.models.values() for version in model.versions}
        ends = {utc(model.retired.on) for model in self.models.values() if model.retired}
        return {*begins, *ends, *(utc(limits.effective) for limits in self.limits)}

    def named(self, name: str) -> AnyModel | None:
        """Return the model of a name: its id, an alias or, where the folder switches them on, an open pattern.

        Raises `QuoteError` for a name that patterns of several models match.
        """
        model = self.models.get(name)
        if model is not None or not (self.aliases or self._patterns):
            return model
        if name in self.aliases:
            return self.models[self.aliases[name]]
        ids = dict.fromkeys(model_id for pattern, model_id in self._patterns if pattern.fullmatch(name))
        if len(ids) > 1:
            words = f"Specified model not found: {echo(name)} matches the patterns of {' and '.join(ids)}"
            raise QuoteError(NotOffered(words))
        return self.models[next(iter(ids))] if ids else None

    def meant(self, name: str) -> AnyModel | None:
        """Return the model of a name or pattern (which fits itself); None if no model or several models are meant."""
        try:
            return self.named(name)
        except QuoteError:
            return None


class Names(Frozen):
    """The file of names: whether models of the folder may have open patterns."""

    patterns: Flag = False


def matcher_of(pattern: str) -> re.Pattern[str]:
    """Return a compiled expression that matches the names of a pattern.

    >>> [bool(matcher_of("gpt-4o-*").fullmatch(name)) for name in ("gpt-4o-mini", "gpt-4o-", "gpt-4o")]
    [True, True, False]
    """
    # A pattern of `fnmatch` matches each part at its first place, without backtracking. The loader refuses a [.
    return re.compile(translate(pattern.replace("[", "[[]")))


def share_a_name(one: str, other: str) -> bool:
    """Return True if some name matches both patterns.

    >>> share_a_name("gpt-*-mini", "gpt-4o-*"), share_a_name("gpt-4o-*", "gpt-4.1-*")
    (True, False)
    """
    # The possible places in `other` after each letter of `one`; a star may match no letter.
    places = _after_stars({0}, other)
    for letter in one:
        if letter == "*":
            places = set(range(min(places), len(other) + 1)) if places else places
            continue
        moved = {at + 1 for at in places if at < len(other) and (other[at] in (letter, "?", "*") or letter == "?")}
        stayed = {at for at in places if at < len(other) and other[at] == "*"}
        places = _after_stars(moved | stayed, other)
    return len(other) in places


def _after_stars(places: set[int], pattern: str) -> set[int]:
    reached = set(places)
    for at in sorted(places):
        while at < len(pattern) and pattern[at] == "*":
            at += 1
            reached.add(at)
    return reached
