"""`as-billed`: a side whose amounts are the ledger's own."""

from ratecard.diff.side import Side

AS_BILLED = "as-billed"


class AsBilled(Side):
    """What the rows of a ledger say was charged. Its card says under which prices they were billed."""
