"""Errors of the ledger."""

from ratecard.base.errors import RateCardError


class LedgerError(RateCardError):
    """A ledger that cannot be read or written; the message names the row, the field and what is allowed."""


class LedgerConflictError(LedgerError):
    """The request or the refund is in the ledger already, and not the same; nothing was written."""


class LedgerUnavailableError(LedgerError):
    """The database does not answer. It is unknown whether an append was kept; repeating it is safe."""


class RefundError(LedgerError):
    """A refund that its charge does not allow: `field` (request_id, sku, amount, corrected) and its `messages`.

    Nothing was written.
    """

    def __init__(self, field: str, *messages: str) -> None:
        super().__init__(field, *messages)
        self.field, self.messages = field, messages

    def __str__(self) -> str:
        return f"{self.field}: {'. '.join(self.messages)}"
