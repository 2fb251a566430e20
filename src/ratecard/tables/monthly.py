"""The terms of a month, which a statement applies at its end: included amounts, tiers, a commitment, a minimum."""

from ratecard.tables.scalars import Frozen


class Monthly(Frozen):
    """What a contract says of a whole month."""
