"""Clients that ask without a pause, and what became of each of their requests."""

import asyncio
from collections import Counter

from serving import BODY, QUOTE

REQUEST = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    QUOTE.encode(),
    len(BODY),
    BODY,
)
ANSWER = b'{"quote":0.82}'


class Flood:
    """Clients: `answered` by status, `lost` requests that were sent and not answered, `refused` connections."""

    def __init__(self, host: str, port: int, clients: int, *, again: bool) -> None:
        self.answered, self.lost, self.refused, self.over = Counter[int](), list[str](), 0, False
        self._address, self._clients, self._again = (host, port), clients, again

    async def run(self) -> None:
        """Ask until `over` is set; a client that is refused stops, or tries `again`."""
        await asyncio.gather(*(self._client(kept=number % 2 == 0) for number in range(self._clients)))

    async def _client(self, *, kept: bool) -> None:
        """One that keeps its connection as long as it may, or one that opens a connection for each request."""
        while not self.over:
            try:
                reader, writer = await asyncio.open_connection(*self._address)
            except OSError:
                self.refused += 1
                if not self._again:
                    return
                await asyncio.sleep(0.01)
                continue
            try:
                while await self._ask(reader, writer) and kept and not self.over:
                    pass
            except (OSError, EOFError) as error:
                self.lost.append(repr(error))
            writer.close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Ask once; whether the connection may be used again."""
        writer.write(REQUEST)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split()[1])
        length = int(head.partition(b"content-length:")[2].split()[0])
        body = await reader.readexactly(length)
        self.answered[status] += 1
        if status == 200 and body != ANSWER:
            self.lost.append(f"another answer: {body!r}")
        return b"connection: close" not in head
