"""Work that takes long, in threads of its own: a few at a time, in order, and only for clients that still wait.

The event loop answers everybody, so what may take more than 5 ms is done here: long bodies, encoded ones, lists of
usages, listings of models, source videos. The threads are daemons: they do not keep a process that ends.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

Result = TypeVar("Result")

# Longer bodies in bytes, and longer lists of usages, are not read and priced on the event loop.
LONG_BODY, LONG_LIST = 2**14, 4


class _Job:
    """Work for one request, and the future that its coroutine waits for."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._context: Context = copy_context()  # the log names the request
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def do(self) -> None:
        """Do it, unless the client has gone meanwhile."""
        if self.future.cancelled():
            return
        result, error = None, None
        try:
            result = self._context.run(self._work)
        except BaseException as raised:  # noqa: BLE001 - it is raised where the result is waited for
            error = raised
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(self._tell, result, error)

    def _tell(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class LongWork:
    """Threads for work that takes long. One is enough where the work holds Python's lock: more would slow the loop."""

    def __init__(self, threads: int = 1, most_waiting: int = 64) -> None:
        self._most_threads, self._most_waiting = threads, most_waiting
        self._queue = SimpleQueue[_Job]()
        self._threads = list[Thread]()
        self._waiting = 0

    async def result_of(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return what `work` returns, or raise what it raises, once it is its turn.

        Raises `HTTPException` 503 where too much waits already, and `ClientDisconnect` if the client goes: work that
        has not begun is then dropped. The body of the request must have been read.
        """
        if self._waiting >= self._most_waiting + self._most_threads:
            raise HTTPException(503, "Too much long work waits here. Try again later", {"Retry-After": "1"})
        self._start_threads()  # first: where there can be no more, nothing waits
        job, gone = _Job(work), asyncio.ensure_future(_has_gone(request))
        self._waiting += 1
        self._queue.put(job)
        try:
            await asyncio.wait((job.future, gone), return_when=asyncio.FIRST_COMPLETED)
            if not job.future.done():
                raise ClientDisconnect
            result: Result = job.future.result()
            return result
        finally:
            self._waiting -= 1
            gone.cancel()
            job.future.cancel()

    def _start_threads(self) -> None:
        """Start what is missing: all of them at first, and in a forked process."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        while len(self._threads) < self._most_threads:
            thread = Thread(target=self._do_all, name="ratecard long work", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _do_all(self) -> None:
        while True:
            self._queue.get().do()


async def _has_gone(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
