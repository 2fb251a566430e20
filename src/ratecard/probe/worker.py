"""The process that reads one video: `python -m ratecard.probe.worker`, a task as JSON in, an answer as JSON out.

It reads the facts from a URL or a data URI (RFC 2397).
"""

import binascii
import io
import json
import signal
import ssl
import sys
from typing import Any
from urllib.parse import unquote_to_bytes

from ratecard.line_items.source_video import SourceVideo
from ratecard.probe.container import facts_of
from ratecard.probe.probing import Limits, UnreadableError, is_data_uri
from ratecard.probe.web import BLOCK, RangedFile, Resolver, Web, look_up

_MEMORY = 2 * 2**30
_FILES = 64


def decode(uri: str, limits: Limits) -> bytes:
    """Decode a data URI, in base64 or percent-encoded; its length is checked first.

    Its media type is ignored: the first bytes of the file decide. Raises `UnreadableError`.

    >>> decode("data:video/mp4;base64,AAEC", Limits())
    b'\\x00\\x01\\x02'
    """
    head, comma, payload = uri.partition(",")
    if not comma:
        raise UnreadableError("its data URI has no comma")
    base64 = head.lower().endswith(";base64")
    # The longest text of `max_bytes` bytes: in base64 four characters for three bytes, else three for one.
    longest = (limits.max_bytes + 2) // 3 * 4 if base64 and "%" not in payload else limits.max_bytes * 3
    if len(payload) > longest:
        raise UnreadableError(f"its data URI holds more than {limits.megabytes}")
    try:
        content = unquote_to_bytes(payload)
        content = binascii.a2b_base64(content, strict_mode=True) if base64 else content
    except ValueError:
        raise UnreadableError("its data URI is not valid base64") from None
    if len(content) > limits.max_bytes:
        raise UnreadableError(f"its data URI holds more than {limits.megabytes}")
    return content


def read_source(
    video_url: str, limits: Limits, resolve: Resolver = look_up, tls: ssl.SSLContext | None = None
) -> SourceVideo:
    """Read seconds, size and frame rate in this process, without a deadline. Raises `UnreadableError`."""
    if is_data_uri(video_url):
        return facts_of_bytes(decode(video_url, limits))
    with Web(video_url, limits, resolve, tls) as web:
        start, size = web.open(BLOCK)
        if len(start) == size:
            return facts_of_bytes(start)
        file = RangedFile(web, start, size)
        try:
            return facts_of(file, size)
        finally:
            if file.failure:  # FFmpeg may have returned facts from the part that was read
                raise file.failure


def facts_of_bytes(content: bytes) -> SourceVideo:
    """Read seconds, size and frame rate of a file in memory. Raises `UnreadableError`."""
    if not content:
        raise UnreadableError("it is empty")
    return facts_of(io.BytesIO(content), len(content))


def confine(seconds: int) -> None:
    """Limit the memory and time of this process, and forbid it to write files. Windows has no such limits."""
    if sys.platform == "win32":
        return
    import resource

    for kind, bound in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    # The parent kills it in time; the alarm is for a parent that was killed itself.
    signal.alarm(seconds + 1)


def _answer(task: dict[str, Any]) -> dict[str, Any]:
    """Return the facts as exact text, or the reason of a refusal."""
    try:
        facts = read_source(task["video_url"], Limits(**task["limits"]))
    except UnreadableError as refusal:
        return {"refused": str(refusal)}
    except MemoryError:
        return {"refused": "it would take too much memory to read"}
    return {name: str(getattr(facts, name)) for name in ("seconds", "width", "height", "fps")}


def main() -> None:
    """Read a task from standard input and write the answer."""
    task = json.load(sys.stdin)
    confine(task["limits"]["seconds"])
    json.dump(_answer(task), sys.stdout)


if __name__ == "__main__":
    main()
