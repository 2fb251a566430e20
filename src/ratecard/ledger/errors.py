"""What a ledger refuses."""

from ratecard.base.errors import RateCardError


class LedgerError(RateCardError):
    """A ledger that cannot be read or written: which row, which field, and what is allowed."""


class LedgerConflictError(LedgerError):
    """A request that is in the ledger already, with another charge: nothing was written."""


class LedgerUnavailableError(LedgerError):
    """The database does not answer. Whether an append was kept is unknown; the same append again is safe."""
