"""Every exception of ratecard. Each keeps its parts as fields, for programs that answer with JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ratecard.base.messages import ErrorTree, NotOffered, Path, error_tree, plural


class RateCardError(Exception):
    """Base class of all ratecard errors; the message says what was given, where, and what is allowed."""


class QuoteError(RateCardError):
    """A request that has no price: `error` (a sentence), `details` (the `_errors` tree, or None), `body()`.

    >>> QuoteError("Invalid request body", [(("duration",), "Required")]).body()
    {'error': 'Invalid request body', 'details': {'_errors': [], 'duration': {'_errors': ['Required']}}}
    """

    def __init__(self, error: str, problems: Sequence[tuple[Path, str]] = ()) -> None:
        super().__init__(error, problems)
        self.error = error
        self.problems = tuple(problems)

    def __str__(self) -> str:
        at_fields = (f"{'.'.join(map(str, path)) or 'body'}: {message}" for path, message in self.problems)
        return "\n  ".join([self.error, *at_fields])

    @property
    def details(self) -> ErrorTree | None:
        """Return the nested tree of field errors; None if `error` alone is the answer."""
        return error_tree(self.problems) if self.problems else None

    @property
    def not_offered(self) -> bool:
        """Return True if the request is well formed, but its model, a value or a rate is not offered at this instant.

        >>> from ratecard import load_rate_card
        >>> from datetime import date
        >>> try:
        ...     load_rate_card().at(date(2026, 10, 1)).quote_video({"model": "ltx-2-fast-text-to-video"})
        ... except QuoteError as error:
        ...     print(error.not_offered)
        True
        """
        messages = [message for _, message in self.problems] or [self.error]
        return all(isinstance(message, NotOffered) for message in messages)

    def body(self) -> dict[str, Any]:
        """Return the error object that HTTP answers."""
        error = str(self.error)
        return {"error": error, "details": self.details} if self.problems else {"error": error}

    def to_json(self) -> bytes:
        """Return `body()` as JSON."""
        return json.dumps(self.body(), ensure_ascii=False, separators=(",", ":")).encode()


class InstantError(RateCardError, ValueError):
    """A datetime without a time zone, or a value that is not a date."""


class CurrencyError(RateCardError, ValueError):
    """An amount in a currency that cannot pay the charge, or whose worth is not stated."""


class UnknownContractError(RateCardError, KeyError):
    """A name that no contract of a rate card has."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in a table: the file, the line, the path to the field, and what is wrong with it."""

    file: str
    line: int
    path: Path
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Sort faults by file and line, and those of one line by message."""
    return sorted(faults, key=lambda fault: (fault.file, fault.line, fault.message))


class TableError(RateCardError):
    """All mistakes in a folder of tables."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(faults)
        self.faults = tuple(faults)

    @classmethod
    def of_file(cls, name: str, message: str) -> Self:
        """Return the error of a file that is wrong as a whole: one fault, at its first line."""
        return cls([Fault(name, 1, (), message)])

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))

    @property
    def details(self) -> ErrorTree:
        """Return the faults as a nested tree, as for the errors of a request: file, then the path to the field."""
        return error_tree(((fault.file, *fault.path), str(fault)) for fault in self.faults)

    def body(self) -> dict[str, Any]:
        """Return the error object that `ratecard check --json` prints."""
        return {"error": f"{plural(len(self.faults), 'fault')} in the tables", "details": self.details}


class SimulationError(RateCardError):
    """A simulation that cannot be made; the message names the usage, column or specification, and what is allowed."""


def missing_extra(extra: str, error: ImportError) -> SimulationError:
    """Return the error that says which extra to install, because a package of it is missing."""
    return SimulationError(f"{error.name} is not installed. Install it: pip install 'ratecard[{extra}]'")


class LedgerError(RateCardError):
    """A ledger that cannot be read or written; the message names the row, the field and what is allowed."""


class LedgerConflictError(LedgerError):
    """A request or refund that is already in the ledger with other values; nothing was written."""


class LedgerUnavailableError(LedgerError):
    """A database that does not answer, or is busy with other writers for too long.

    It is unknown whether an append was kept; repeating it is safe.
    """


class LedgerDamagedError(LedgerError):
    """A ledger that records something as booked, but lacks its rows; nothing was acknowledged.

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
