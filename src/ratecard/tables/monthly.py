"""The terms of a month: they are settled at its end over all requests of an account, not in the price of each."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ratecard.base.money import add
from ratecard.tables.scalars import SOURCE_KEY, Day, Frozen, Id, Multiplier, Number, Percent, Positive, Text, value_text
from ratecard.tables.selection import OverrideTarget

# The kinds of terms in the order in which a statement settles them; the order in a file means nothing.
INCLUDED, GRADUATED, VOLUME, COMMITMENT, MONTHLY_MINIMUM = TERM_KINDS = (
    "included",
    "graduated",
    "volume",
    "commitment",
    "minimum",
)
# The steps of a statement: at most one term of a step applies to a line.
STEPS = ((INCLUDED,), (GRADUATED, VOLUME), (COMMITMENT,), (MONTHLY_MINIMUM,))
# The target of a term without `for`.
_EVERYTHING = OverrideTarget.model_construct()


class MonthlyTier(Frozen):
    """One tier: `{up_to: 100, rate: 2.50}`, `{up_to: 100, percent: -10%}`, or the last one without `up_to`.

    What is exactly `up_to` is in the tier. `rate` is the price of one unit, in place of the contract price; `percent`
    and `factor` are of the contract price.
    """

    up_to: Positive | None = None
    rate: Number | None = None
    percent: Percent | None = None
    factor: Multiplier | None = None

    @model_validator(mode="after")
    def _one_price(self) -> "MonthlyTier":
        named = [name for name in ("rate", "percent", "factor") if getattr(self, name) is not None]
        if len(named) != 1:
            has = f"has {' and '.join(named)}; keep one" if named else "has no price"
            raise ValueError(f"{has}. Write one of: rate (like 2.50), percent (like -10%), factor (like 0.90)")
        return self

    @property
    def times(self) -> Decimal | None:
        """Return the factor on contract prices; None for a tier with a rate."""
        return add(Decimal(1), self.percent) if self.percent is not None else self.factor


class Term(Frozen):
    """One term of a month: one of `included`, `graduated`, `volume`, `commitment` and `minimum`, and what it is for.

    An amount is in units of `unit`, or of money in `currency` at contract prices. `for` says for which lines, as in an
    override; without it, a term is for all that its unit or currency measures. `from` and `until` are first days of
    months.
    """

    target: OverrideTarget = Field(default=_EVERYTHING, alias="for")
    included: Positive | None = None
    graduated: tuple[MonthlyTier, ...] | None = None
    volume: tuple[MonthlyTier, ...] | None = None
    commitment: Positive | None = None
    minimum: Positive | None = None
    unit: Id | None = None
    currency: Id | None = None
    begins: Day | None = Field(default=None, alias="from")
    until: Day | None = None
    note: Text | None = None
    source: str = Field(default="", alias=SOURCE_KEY)

    def __hash__(self) -> int:
        # Conditions are a dict, which has no hash.
        return hash(self.source)

    @field_validator("begins", "until")
    @classmethod
    def _first_of_month(cls, day: date | None, info: ValidationInfo) -> date | None:
        if day is not None and day.day != 1:
            raise ValueError("is within a month, and nothing is prorated. Write the first day of a month")
        return day

    @model_validator(mode="after")
    def _one_kind(self) -> "Term":
        kinds = [kind for kind in TERM_KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            has = f"has {' and '.join(kinds)}; write each on its own" if kinds else "is not a term"
            raise ValueError(f"{has}. Write one of: {', '.join(TERM_KINDS)}")
        if (self.unit is None) == (self.currency is None):
            raise ValueError("must say what it measures, by one of: unit (like mtoken), currency (like USD)")
        if self.unit is not None and self.kind in (COMMITMENT, MONTHLY_MINIMUM):
            raise ValueError(f"has a {self.kind} in units, and it must be of money. Write currency in place of unit")
        if self.begins and self.until and self.until <= self.begins:
            raise ValueError(f"until {self.until} must be after from {self.begins}")
        self._check_tiers()
        return self

    def _check_tiers(self) -> None:
        if self.kind not in (GRADUATED, VOLUME):
            return
        edges = [tier.up_to for tier in self.tiers]
        if not edges or edges[-1] is not None or None in edges[:-1]:
            raise ValueError("must have an up_to in every tier but the last, and none in the last")
        known = [edge for edge in edges if edge is not None]
        if known != sorted(set(known)):
            raise ValueError("has tiers whose up_to do not rise")
        if self.currency is not None and any(tier.rate is not None for tier in self.tiers):
            raise ValueError("is over money, so its tiers cannot have a rate per unit. Write percent or factor in them")

    @property
    def kind(self) -> str:
        """Return the key under which the amount or the tiers are written."""
        return next(kind for kind in TERM_KINDS if getattr(self, kind) is not None)

    @property
    def step(self) -> int:
        """Return the number of the step of a statement that settles it."""
        return next(number for number, kinds in enumerate(STEPS) if self.kind in kinds)

    @property
    def tiers(self) -> tuple[MonthlyTier, ...]:
        """Return the tiers, rising; empty for a term without any."""
        return self.graduated or self.volume or ()

    @property
    def amount(self) -> Decimal:
        """Return the units or the money of a term without tiers."""
        return self.included or self.commitment or self.minimum or Decimal(0)

    @property
    def measure(self) -> str:
        """Return the unit or the currency that it measures."""
        return self.unit or self.currency or ""

    @property
    def target_key(self) -> str:
        """Return its target as text, which is the same for two terms for the same lines."""
        return self.target.model_dump_json(by_alias=True)

    @property
    def name(self) -> str:
        """Return what distinguishes it within its contract: its kind, measure, target and beginning."""
        target = self.target.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        words = value_text(target, in_order=False) if target else ""
        name = f"monthly {self.kind} of {self.measure}{f' for {words}' if words else ''}"
        return name + (f" from {self.begins}" if self.begins else "")

    def holds(self, month: date) -> bool:
        """Return True if the term holds in the month that begins on this day."""
        return (self.begins is None or self.begins <= month) and (self.until is None or month < self.until)

    def within(self, begins: date | None, until: date | None) -> "Term":
        """Return the term with the dates of its contract, where it has none of its own."""
        return self.model_copy(update={"begins": self.begins or begins, "until": self.until or until})

    def means(self, named: Mapping[str, str | None]) -> bool:
        """Return True if the term is for lines of this type, family, model and charge, whatever its conditions."""
        target = self.target
        return target.fits(named) and (target.charge is None or named["charge"] in target.charge)


def described_terms(terms: Iterable[Term]) -> dict[str, str]:
    """Return the text of each term by its name, which says what the term is for, so that terms can be compared.

    >>> described_terms([Term.model_validate({"minimum": "5", "currency": "USD", "until": "2027-01-01"})])
    {'monthly minimum of USD': '5, until 2027-01-01'}
    """
    texts: dict[str, str] = {}
    for term in terms:
        amount = "; ".join(map(_tier_text, term.tiers)) or value_text(term.amount)
        texts[term.name] = amount + (f", until {term.until}" if term.until else "")
    return texts


def _tier_text(tier: MonthlyTier) -> str:
    price = value_text(tier.rate) if tier.rate is not None else f"x {value_text(tier.times or 0)}"
    return f"up to {value_text(tier.up_to)}: {price}" if tier.up_to is not None else f"above: {price}"


class Monthly(Frozen):
    """The file of the terms that every account has: `monthly:` and a list of terms.

    `correction` is the reason why terms of months that have begun were changed, for which `ratecard check --against`
    asks.
    """

    monthly: tuple[Term, ...] = ()
    correction: Text | None = None
