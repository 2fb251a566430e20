"""The limits of a probe, and its error."""

from dataclasses import dataclass


class UnreadableError(Exception):
    """A video that cannot be read; the message completes the sentence `Could not read the video: ...`."""


def is_data_uri(video_url: str) -> bool:
    """Return True if a URL holds the video itself."""
    return video_url[:5].lower() == "data:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one probe may take (bytes, whole seconds in all, redirects), and where it may connect to.

    `max_bytes` bounds the bytes that are read, not the size of the file; a data URI may not be longer. `schemes` and
    `ports` are those of URLs; `private_addresses` is for tests, and for hosts that probe their own network. Raises
    `ValueError` for a limit that is not a whole number, and for another scheme than http and https.

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
            limit = getattr(self, name)
            if not isinstance(limit, int) or isinstance(limit, bool) or limit < least:
                raise ValueError(f"{name}={limit!r} must be a whole number of at least {least}")
        if not set(self.schemes) <= {"http", "https"}:
            raise ValueError(f"schemes={self.schemes!r} may hold only 'http' and 'https'")

    @property
    def megabytes(self) -> str:
        """Return `max_bytes` as text for messages.

        >>> Limits().megabytes
        '32 MiB'
        """
        return f"{self.max_bytes // 2**20} MiB" if self.max_bytes % 2**20 == 0 else f"{self.max_bytes} bytes"
