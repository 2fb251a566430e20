"""`ratecard serve` as a process of its own, on a free port, over a copy of the shipped tables or another folder."""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

# Benchmarks and scripts import this file from another folder.
sys.path.append(str(Path(__file__).parent.parent))

from copied_tables import copy_files
from forks import Fork, start

BODY = b'{"model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"}'
QUOTE = "/api/v1/video/quote"
JSON = {"content-type": "application/json"}
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104
# Seconds, far more than anything takes on a busy machine: a test fails only if something never happens.
PATIENCE = 300
GROK, RATE = "video/grok-imagine.yaml", "rate: 0.161}"
OVI = "video/ovi.yaml"


def _client(verify: ssl.SSLContext | bool) -> httpx.Client:
    """A client whose requests each have a connection of their own, so that every worker is met."""
    return httpx.Client(timeout=PATIENCE, verify=verify, limits=httpx.Limits(max_keepalive_connections=0))


# A client without TLS, because reading the certificates of the machine takes long.
_HTTP = _client(verify=False)


class Server:
    """A running server: its address, its process, and its output so far."""

    def __init__(self, process: "Fork | subprocess.Popen[str]", verify: ssl.SSLContext | None = None) -> None:
        self.process, self.said = process, ""
        self._http = _HTTP if verify is None else _client(verify)
        self._listening, self._ended = threading.Event(), threading.Event()
        self.base = ""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r"running on (https?://[^ \"]+)", line):
                self.base = found[1]
                self._listening.set()
        self._ended.set()
        self._listening.set()

    def close(self) -> None:
        """Close its output."""
        self._listener.join(PATIENCE)
        assert self.process.stderr
        self.process.stderr.close()

    def ready(self) -> "Server":
        """Wait until it answers."""
        assert self._listening.wait(PATIENCE), self.said
        wait_for(lambda: self.process.poll() is not None or self._answers(), "an answer")
        assert self.process.poll() is None, self.said
        return self

    def _answers(self) -> bool:
        try:
            return self.get("/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def workers(self) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        named = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
        return [child for child, command in named.items() if b"spawn_main" in command]

    def said_by(self, words: str) -> list[int]:
        """The processes of the lines with these words, in the order of the log."""
        return [int(line.split()[2]) for line in self.said.splitlines() if words in line]

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        return self._http.get(f"{self.base}{path}", headers=headers)

    def quote(
        self, body: bytes | Iterator[bytes] = BODY, path: str = QUOTE, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self._http.post(f"{self.base}{path}", content=body, headers=JSON | dict(headers or {}))

    def connect(self) -> socket.socket:
        """A connection for bytes of any kind."""
        host, port = self.base.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def health(self, headers: Mapping[str, str] | None = None) -> dict[str, object]:
        found: dict[str, object] = self.get("/healthz", headers).json()
        return found

    def stop(self) -> int:
        """End it as a system does; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        assert self._ended.wait(PATIENCE)
        return status


@contextmanager
def serving(
    *arguments: str | Path, verify: ssl.SSLContext | None = None, within: Sequence[str] = (), **environment: str
) -> Iterator[Server]:
    """A server with these arguments, ended with the block; it does not drain unless it is told to.

    `verify` says whom it trusts over TLS, and `within` is a command that runs it.
    """
    free_port = [] if "--port" in arguments else ["--port", "0"]
    words = ["serve", *free_port, *map(str, arguments)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("RATECARD_", "COV_"))}
    variables |= {"RATECARD_DRAIN": "0"} | environment
    process: Fork | subprocess.Popen[str]
    if within:
        command = [*within, sys.executable, "-m", "ratecard", *words]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables)
    else:
        process = start(["ratecard", *words], stderr=subprocess.PIPE, env=variables)
    server = Server(process, verify)
    try:
        yield server.ready()
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            server.close()


def copy_tables(folder: Path, names: Iterable[str] = (GROK, OVI)) -> Path:
    """A copy of some of the shipped tables, to be edited: all of them would only take longer to load."""
    return copy_files(folder / "tables", names)


@cache
def few_tables() -> Path:
    """The same tables for every server of a run whose tables are not edited: all of them take half a second to load."""
    return copy_tables(Path(_few.name), (GROK, OVI, "limits.yaml"))


_few = TemporaryDirectory(prefix="ratecard-few-")


def rewrite(path: Path, text: str) -> None:
    """Write a file in one step: a server that reads it meanwhile never sees a part of it."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.replace(path)


def at_rate(text: str, rate: str) -> str:
    """The tables of Grok with another rate of 720p, and the example that has it worked again: 15 s and the fee."""
    total = (15 * Decimal(rate) + Decimal("0.0115")).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return text.replace(RATE, f"rate: {rate}}}").replace("total: 2.43}", f"total: {total}}}")


def wait_for(holds: Callable[..., object], what: str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"no {what} after {PATIENCE} s"
        time.sleep(0.02)
