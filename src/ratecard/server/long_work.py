"""Work that takes long, in threads of its own: a few at a time, in order, and only for clients that still wait.

The event loop answers everybody, so what may take more than 5 ms is done here: long bodies, encoded ones, lists of
usages, listings of models, source videos. The threads are daemons: they do not keep a process that ends.
"""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ratecard.base.threads import Threads

Result = TypeVar("Result")

# Longer bodies in bytes, and longer lists of usages, are not read and priced on the event loop.
LONG_BODY, LONG_LIST = 2**14, 4


class LongWork:
    """Threads for work that takes long. One is enough where the work holds Python's lock: more would slow the loop."""

    def __init__(self, threads: int = 1, most_waiting: int = 64) -> None:
        self._threads, self._most, self._begun = Threads(threads, "ratecard long work"), most_waiting + threads, 0

    async def result_of(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return what `work` returns, or raise what it raises, once it is its turn.

        Raises `HTTPException` 503 where too much waits already, and `ClientDisconnect` if the client goes: work that
        has not begun is then dropped. The body of the request must have been read.
        """
        if self._begun >= self._most:
            raise HTTPException(503, "Too much long work waits here. Try again later", {"Retry-After": "1"})
        # The log names the request.
        done = asyncio.wrap_future(self._threads.submit(partial(copy_context().run, work)))
        gone = asyncio.ensure_future(_has_gone(request))
        self._begun += 1
        try:
            await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                raise ClientDisconnect
            return done.result()
        finally:
            self._begun -= 1
            gone.cancel()
            done.cancel()


async def _has_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
