"""A server of two workers without a proxy, under each attack: others are answered soon, and its memory is bounded."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attacks import NAMES
from serving import BODY, Server, serving

ATTACKS = Path(__file__).with_name("attacks.py")
# Seconds of an attack before it is measured, the number of quotes to another client, and the seconds between two.
BEGIN, QUOTES, PAUSE = 1, 200, 0.01
# The most seconds for 99 of 100 quotes, on a machine that does nothing else.
SLOWEST = 0.25
# Seconds in which the load of the machine by other programs is measured.
MEASURE = 0.5
MOST_BYTES = 300 * 10**6
DRAIN, GRACE = 1, 1
# Further seconds that the end of its processes may take on a busy machine.
BESIDE = 15


@contextmanager
def attacked(server: Server, name: str) -> Iterator[None]:
    """Attack a server from a process of its own, which leaves the machine to others."""
    host, port = server.base.removeprefix("http://").split(":")
    process = subprocess.Popen([sys.executable, ATTACKS, name, host, port])
    try:
        yield
        assert process.poll() is None, "the attack ended"
    finally:
        process.kill()
        process.wait()


def stretch() -> float:
    """Return how many times longer work takes now than its processor time: 1 if nothing else runs."""
    start, worked = time.monotonic(), time.process_time()
    while time.monotonic() - start < MEASURE:
        pass
    return max(1, (time.monotonic() - start) / (time.process_time() - worked))


def slowest_quote(server: Server) -> float:
    """The seconds in which 99 of 100 quotes of another client are answered, each on a connection of its own."""
    seconds = []
    for _ in range(QUOTES):
        start = time.monotonic()
        answer = server.quote(BODY)
        seconds.append(time.monotonic() - start)
        assert (answer.status_code, answer.content) == (200, b'{"quote":0.82}'), answer.text
        time.sleep(PAUSE)
    return sorted(seconds)[-max(1, QUOTES // 100)]


def most_memory(process: int) -> int:
    """The most bytes of memory that a process has had."""
    status = Path(f"/proc/{process}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("name", NAMES)
def test_others_are_answered_soon(name: str) -> None:
    with serving("--workers", "2", RATECARD_DRAIN=str(DRAIN), RATECARD_GRACE=str(GRACE)) as server:
        workers = server.workers()
        assert len(workers) == 2
        # This is measured before the attack, so that the load of the attack does not raise the limit.
        most = SLOWEST * stretch()
        with attacked(server, name):
            time.sleep(BEGIN)
            slowest = slowest_quote(server)
            if slowest > most:  # the machine may have begun something else
                slowest = slowest_quote(server)
            memory = max(map(most_memory, workers))
            assert slowest <= most
            assert server.workers() == workers, "a worker was replaced"
            start = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - start <= DRAIN + GRACE + BESIDE
            assert "Traceback" not in server.said, "an attack fills the log, which the event loop waits for"
        assert memory < MOST_BYTES
