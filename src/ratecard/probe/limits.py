"""Limits of a probe, and its one error.

Why a video could not be read.

How far a probe may go.
"""

from dataclasses import dataclass


class UnreadableError(Exception):
    """A video that is not read; the message completes the sentence `Could not read the video: ...`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one probe may take: bytes read, whole seconds in all, redirects; and where it may go.

    `max_bytes` bounds what is read, not the size of the file; a data URI may hold no more. `private_addresses` is for
    tests and for hosts that probe their own network.

    >>> Limits(seconds=5).schemes
    ('https',)
    """

    max_bytes: int = 32 * 2**20
    seconds: int = 20
    redirects: int = 3
    schemes: tuple[str, ...] = ("https",)
    ports: tuple[int, ...] = (443,)
    private_addresses: bool = False

    def __post_init__(self) -> None:
        for name, least in (("max_bytes", 1), ("seconds", 1), ("redirects", 0)):
            given = getattr(self, name)
            if not isinstance(given, int) or isinstance(given, bool) or given < least:
                raise ValueError(f"{name}={given!r} must be a whole number of at least {least}")
        if not set(self.schemes) <= {"http", "https"}:
            raise ValueError(f"schemes={self.schemes!r} may hold only 'http' and 'https'")

    @property
    def megabytes(self) -> str:
        """`max_bytes` as messages name it.

        >>> Limits().megabytes
        '32 MiB'
        """
        return f"{self.max_bytes // 2**20} MiB" if self.max_bytes % 2**20 == 0 else f"{self.max_bytes} bytes"
