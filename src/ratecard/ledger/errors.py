"""Errors of the ledger."""

from ratecard.base.errors import RateCardError


class LedgerError(RateCardError):
    """A ledger that cannot be read or written; the message names the row, the field and what is allowed."""


class LedgerConflictError(LedgerError):
    """The request or the refund is in the ledger already, and not the same; nothing was written."""


class LedgerUnavailableError(LedgerError):
    """The database does not answer, or others write for too long.

    It is unknown whether an append was kept; repeating it is safe.
    """


class LedgerDamagedError(LedgerError):
    """The ledger says that something was booked, and does not have its rows; nothing was acknowledged.

    A transaction of the ledger never leaves this behind: something else wrote into its tables.
    """


class RefundError(LedgerError):
    """A refund that its charge does not allow: `field` (request_id, sku, amount, corrected, timestamp), `messages`.

    Nothing was written.
    """

    def __init__(self, field: str, *messages: str) -> None:
        super().__init__(field, *messages)
        self.field, self.messages = field, messages

    def __str__(self) -> str:
        return f"{self.field}: {'. '.join(self.messages)}"
