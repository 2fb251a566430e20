"""Errors of the ledger."""

from ratecard.base.errors import RateCardError


class LedgerError(RateCardError):
    """A ledger that cannot be read or written; the message names the row, the field and what is allowed."""


class LedgerConflictError(LedgerError):
    """The request is in the ledger already with another charge; nothing was written."""


class LedgerUnavailableError(LedgerError):
    """The database does not answer. It is unknown whether an append was kept; repeating it is safe."""
