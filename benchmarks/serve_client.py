"""A client of HTTP/1.1 that costs little: one kept connection, one request at a time."""

import asyncio
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (in small letters) and body."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """One connection to a server."""

    def __init__(self, base: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.host, self._reader, self._writer = urlsplit(base).netloc, reader, writer

    @classmethod
    async def open(cls, base: str) -> Self:
        """Connect to `http://host:port`."""
        parts = urlsplit(base)
        return cls(base, *await asyncio.open_connection(parts.hostname, parts.port))

    async def post(self, path: str, body: bytes) -> Answer:
        """A JSON body."""
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        return await self.send(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def send(self, request: bytes) -> Answer:
        """A request as it is. Raises `OSError` or `EOFError` where the connection ends."""
        self._writer.write(request)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Answer(int(lines[0].split()[1]), headers, body)

    def close(self) -> None:
        """End the connection."""
        self._writer.close()
