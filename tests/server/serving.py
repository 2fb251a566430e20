"""`ratecard serve` as a process of its own, on a free port, over a copy of the shipped tables or another folder."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import httpx

from ratecard.load.folder import shipped_folder

BODY = b'{"model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"}'
JSON = {"content-type": "application/json"}
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104
# Far longer than anything takes on a slow machine: what does not come at all fails, and nothing else.
_PATIENCE = 60
GROK, RATE = "video/grok-imagine.yaml", "rate: 0.161}"


class Server:
    """A running server: its address, its process, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.said = process, ""
        self._listening, self._ended = threading.Event(), threading.Event()
        self.base = ""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r"running on (http://[^ ]+)", line):
                self.base = found[1]
                self._listening.set()
        self._ended.set()
        self._listening.set()

    def close(self) -> None:
        """Let go of what it said."""
        self._listener.join(_PATIENCE)
        assert self.process.stderr
        self.process.stderr.close()

    def ready(self) -> "Server":
        """Wait until it answers."""
        assert self._listening.wait(_PATIENCE), self.said
        wait_for(lambda: self.process.poll() is not None or self._answers(), "an answer")
        assert self.process.poll() is None, self.said
        return self

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.base}/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def workers(self) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        named = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
        return [child for child, command in named.items() if b"spawn_main" in command]

    def quote(self, body: bytes = BODY) -> httpx.Response:
        return httpx.post(f"{self.base}/api/v1/video/quote", content=body, headers=JSON)

    def health(self) -> dict[str, object]:
        found: dict[str, object] = httpx.get(f"{self.base}/healthz").json()
        return found

    def stop(self) -> int:
        """End it as a system does; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(_PATIENCE)
        assert self._ended.wait(_PATIENCE)
        return status


@contextmanager
def serving(*arguments: str | Path, **environment: str) -> Iterator[Server]:
    """A server with these arguments, ended with the block."""
    command = [sys.executable, "-m", "ratecard", "serve", "--port", "0", *map(str, arguments)]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RATECARD_", "COV_"))}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=inherited | environment)
    server = Server(process)
    try:
        yield server.ready()
    finally:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        finally:
            process.kill()
            server.close()


def copy_tables(folder: Path) -> Path:
    """A copy of the shipped tables, to be edited."""
    copied = folder / "tables"
    shutil.copytree(shipped_folder(), copied)
    return copied


def at_rate(text: str, rate: str) -> str:
    """The tables of Grok with another rate of 720p, and the example that has it worked again: 15 s and the fee."""
    total = (15 * Decimal(rate) + Decimal("0.0115")).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return text.replace(RATE, f"rate: {rate}}}").replace("total: 2.43}", f"total: {total}}}")


def wait_for(holds: "object", what: str, seconds: int = _PATIENCE) -> None:
    """Wait until something holds, for so long at most."""
    assert callable(holds)
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"no {what} after {seconds} s"
        time.sleep(0.02)
