"""`probe`, which reads one video in a process of its own, and its limits."""

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any, NoReturn

from ratecard.base.errors import QuoteError
from ratecard.line_items.source_video import SourceVideo
from ratecard.requests.body import INVALID


class UnreadableError(Exception):
    """A video that cannot be read; the message completes the sentence `Could not read the video: ...`."""


def is_installed() -> bool:
    """Return True if the extra `ratecard[probe]` is installed, which reads videos."""
    return all(find_spec(name) for name in ("av", "httpx"))


def is_data_uri(video_url: str) -> bool:
    """Return True if a URL holds the video itself."""
    return video_url[:5].lower() == "data:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one probe (bytes, whole seconds in all, redirects), and the places that it may connect to.

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


# The only variables that the process gets: where its libraries and the machine's certificates are. Keys and passwords
# of the server are not passed on.
_KEPT = ("LD_LIBRARY_PATH", "PYTHONHOME", "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT")
_LONGEST_URL = 8192
_log = logging.getLogger(__name__)


def probe(video_url: str, limits: Limits | None = None) -> SourceVideo:
    """Read seconds, size in pixels and frames per second of a video, from its URL or data URI, for `quote_video`.

    Seconds and rate are exact fractions. If the container allows it, only the parts of the file that describe it are
    fetched. Blocks up to `limits.seconds`; use `asyncio.to_thread(probe, url)` in a coroutine. Raises `QuoteError` at
    `video_url` for a video that cannot be read, and `ImportError` without the extra.

    >>> probe("data:text/plain,no video")
    Traceback (most recent call last):
        ...
    ratecard.base.errors.QuoteError: Invalid request body
      video_url: Could not read the video: it is not an MP4, MOV, WebM or Matroska file
    """
    limits = limits or Limits()
    if not is_installed():
        raise ImportError("Probing videos needs PyAV and httpx: pip install 'ratecard[probe]'")
    if len(video_url) > (4 * limits.max_bytes if is_data_uri(video_url) else _LONGEST_URL):
        _refuse("its URL is too long")
    facts = _run({"video_url": video_url, "limits": asdict(limits)}, limits.seconds)
    return SourceVideo(**facts)


def _run(task: dict[str, Any], seconds: int) -> dict[str, str]:
    """Run the process and return its answer; it is killed when its time is up.

    It has a process of its own, because a large library in C reads files of strangers: a crash, an endless loop or too
    much memory ends that process and not the server, and a name server that does not answer cannot block the server.
    """
    path = os.pathsep.join(filter(None, sys.path))
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"PYTHONPATH": path}
    try:
        process = subprocess.run(
            [sys.executable, "-B", "-P", "-m", "ratecard.probe.worker"],
            input=json.dumps(task).encode(),
            capture_output=True,
            env=environment,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _refuse(f"it took more than {seconds} seconds")
    if process.returncode:
        _log.error(
            "a probe ended with status %d: %s", process.returncode, process.stderr[-2000:].decode(errors="replace")
        )
        _refuse("it is damaged")
    answer: dict[str, str] = json.loads(process.stdout)
    if "refused" in answer:
        _refuse(answer["refused"])
    return answer


def _refuse(reason: str) -> NoReturn:
    raise QuoteError(INVALID, [(("video_url",), f"Could not read the video: {reason}")])
