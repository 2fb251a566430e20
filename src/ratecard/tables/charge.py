"""What every charge has: a name, a pricing method, a unit, and its rates."""

from decimal import Decimal
from typing import ClassVar

from ratecard.tables.rate import Rate
from ratecard.tables.scalars import Frozen, Positive, Text


class Charge(Frozen):
    """One priced part of a version. A subclass is one kind of formula, with the options that it reads.

    `markup` multiplies every rate of the charge: the rates are then a provider's list rates.
    """

    # Attributes that a rate of this charge may name, in the order in which a SKU names them.
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ()
    # What the units of this charge may count (see units.yaml).
    METERS: ClassVar[tuple[str, ...]] = ()

    charge: Text
    method: str
    unit: Text
    markup: Positive = Decimal(1)
    rates: tuple[Rate, ...]

    @property
    def fields(self) -> frozenset[str]:
        """The request fields that this charge's amount depends on."""
        return frozenset(attribute for rate in self.rates for attribute in rate.attributes)
