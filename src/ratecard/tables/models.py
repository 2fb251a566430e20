"""Models as users of the library see them: names and dates, and the rates of one version with their `file:line`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property

from ratecard.base.errors import QuoteError
from ratecard.base.messages import NotOffered, echo
from ratecard.base.suggestions import meant_or_allowed, suggestions
from ratecard.tables.card import MODEL_CLASSES, AnyModel, Tables
from ratecard.tables.rate import Charge
from ratecard.tables.version import Version

# Every type that a model can have.
MODEL_TYPES = tuple(MODEL_CLASSES)
# A function that raises `TableError` for a version that contradicts its own examples.
Prove = Callable[[AnyModel, Version], None]


@dataclass(frozen=True, slots=True)
class ModelRate:
    """A rate of a model: `amount` of its currency for one `unit`, under `conditions`, at `source`, its `file:line`.

    The amount is exact and includes the markup of its `charge`. `conditions` are the values of request fields, tiers,
    buckets, conditions of meters.yaml and hours under which the rate applies; anything else does not matter.
    """

    charge: str
    amount: Decimal
    unit: str
    conditions: Mapping[str, tuple[str, ...]] = field(hash=False)
    source: str


def listed_rates(charge: Charge) -> tuple[ModelRate, ...]:
    """Return the rates of a charge, in the order of its table."""
    return tuple(
        ModelRate(charge.charge, charge.unit_rate(rate), charge.unit, dict(rate.attributes), rate.source)
        for rate in charge.rates
    )


@dataclass(frozen=True, repr=False)
class PricedModel:
    """A model with one of its versions: in a card the newest, in a price book the one in effect.

    `table` and `version` are parts of the tables; their form may change with the format of the tables.

    >>> from ratecard import load_rate_card
    >>> model = load_rate_card().models["kling-o3-pro-text-to-video"]
    >>> model.name, model.type, str(model.effective), model.retired
    ('Kling O3 Pro Text to Video', 'video', '2026-09-28', None)
    >>> rate = model.rates[0]
    >>> rate.amount, rate.unit, rate.conditions
    (Decimal('0.1232'), 'video_second', {'audio': ('false',)})
    """

    table: AnyModel
    version: Version
    prove: Prove = field(compare=False)

    def __hash__(self) -> int:
        return hash((self.model, self.effective))

    def __repr__(self) -> str:
        return f"<PricedModel {self.model}, effective {self.effective}>"

    @property
    def model(self) -> str:
        """Return the id, which requests name."""
        return self.table.model

    @property
    def name(self) -> str:
        """Return the name for display."""
        return self.table.name

    @property
    def type(self) -> str:
        """Return the type of its requests: `video`, `text`, `image`, ..."""
        return self.table.type

    @property
    def provider(self) -> str | None:
        """Return the provider that runs the model; None if the tables do not say it."""
        return self.table.provider

    @property
    def aliases(self) -> tuple[str, ...]:
        """Return its other names, which requests may use too."""
        return self.table.aliases or ()

    @property
    def currency(self) -> str:
        """Return the ISO 4217 code of its rates."""
        return self.table.currency

    @property
    def effective(self) -> date:
        """Return the first day of these rates, from 00:00 UTC, or their first instant, a `datetime`."""
        return self.version.effective

    @property
    def retired(self) -> date | None:
        """Return the first day on which the model is no longer served; None if no such day is known."""
        return self.table.retired.on if self.table.retired else None

    @property
    def successor(self) -> str | None:
        """Return the id of the model to use when this one is retired; None if the tables do not name one."""
        return self.table.retired.successor if self.table.retired else None

    @cached_property
    def rates(self) -> tuple[ModelRate, ...]:
        """Return its rates of all hours and conditions, in the order of the table. They are made at first use.

        Factors, a minimum and the options of charges, which `ratecard explain` and `GET /models` show, are not applied.
        Raises `TableError` for a version that contradicts its own examples.
        """
        self.prove(self.table, self.version)
        return tuple(rate for charge in self.version.charges for rate in listed_rates(charge))

    @property
    def versions(self) -> "tuple[PricedModel, ...]":
        """Return the same model with each of its versions, the newest first, announced ones too."""
        return tuple(replace(self, version=version) for version in self.table.versions)


class Models(Mapping[str, PricedModel]):
    """The models of a rate card by id, in the order of their ids; each is made at its first look-up.

    A look-up takes the names that requests may use: the id, an alias, a name that fits an open pattern. Iteration and
    length are of ids only. An unknown name raises `UnknownModelError`, which is a `KeyError` and a `QuoteError`.

    >>> from ratecard import load_rate_card
    >>> models = load_rate_card().models
    >>> models["kling-o3-pro-text-to-vidoe"]
    Traceback (most recent call last):
    ratecard.tables.models.UnknownModelError: Specified model not found: kling-o3-pro-text-to-vidoe. Did you mean: ...
    >>> models.get("kling-o3-pro-text-to-vidoe") is None, "veo3-fast-text-to-video" in models
    (True, True)
    """

    def __init__(self, tables: Tables, prove: Prove) -> None:
        self._tables, self._prove = tables, prove

    def __getitem__(self, name: str) -> PricedModel:
        try:
            model = self._tables.named(name) if isinstance(name, str) else None
        except QuoteError as refusal:  # the name matches patterns of several models
            raise UnknownModelError(refusal.error) from None
        if model is None:
            raise UnknownModelError(model_not_found(str(name), self))
        return PricedModel(model, model.versions[0], self._prove)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._tables.models))

    def __len__(self) -> int:
        return len(self._tables.models)

    def __repr__(self) -> str:
        return f"<Models of {len(self)} ids>"


class UnknownModelError(QuoteError, KeyError):
    """A name that no model of a rate card has."""


def model_not_found(name: str, known: Iterable[str]) -> NotOffered:
    """Return the message that no model has this name, with the known names that are near it."""
    near = suggestions(name, known)
    hint = f". Did you mean: {', '.join(near)}?" if near else ""
    return NotOffered(f"Specified model not found: {echo(name)}{hint}")


def refuse_unknown_type(type_: object) -> None:
    """Raise `QuoteError` for an unknown type of models."""
    if type_ not in MODEL_TYPES:
        word = str(type_)
        raise QuoteError(f"Unknown type of models: {echo(word)}.{meant_or_allowed(word, MODEL_TYPES)}")
