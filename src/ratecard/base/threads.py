"""Threads that call functions, in order or at an interval, and do not keep the process from ending."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic_ns
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class Threads:
    """Threads that call functions in the order of their submission; a thread is started when it is needed.

    Unlike the threads of an executor they do not keep the process from ending, even while a database hangs.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name, self._lock = most, name, Lock()
        self._calls = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]()
        self._threads = list[Thread]()
        self._closed = False

    def submit(self, call: Callable[[], _Result]) -> Future[_Result]:
        """Call a function in a thread, once one is free, in a copy of the caller's context: its logs name the request.

        Raises `RuntimeError` after `close`.
        """
        future: Future[_Result] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"{self._name} is closed")
            self._threads = [thread for thread in self._threads if thread.is_alive()]  # after a fork no thread is alive
            if len(self._threads) < self._most:
                thread = Thread(target=self._run, name=self._name, daemon=True)
                thread.start()  # before `put`: if no thread can start, the call must not run later
                self._threads.append(thread)
            self._calls.put((future, partial(copy_context().run, call)))
        return future

    def waiting(self) -> int:
        """Return the number of calls that wait for a thread."""
        return self._calls.qsize()

    def close(self, seconds: int) -> None:
        """End the threads after the waiting calls; wait for them at most this many seconds."""
        with self._lock:
            self._closed, deadline = True, monotonic_ns() + seconds * 10**9
            for _ in self._threads:
                self._calls.put(None)
        for thread in self._threads:
            thread.join(max(0, deadline - monotonic_ns()) / 10**9)

    def _run(self) -> None:
        while (job := self._calls.get()) is not None:
            future, call = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)
            del future, call, job  # otherwise this thread would keep the last result until the next call


@contextmanager
def repeating(call: Callable[[], object], milliseconds: int) -> Iterator[None]:
    """Call a function in a thread every `milliseconds` while the block runs."""
    over = Event()

    def run() -> None:
        while not over.wait(milliseconds / 1000):
            call()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# The milliseconds between two requests to stop.
_AGAIN = 200


@contextmanager
def stoppable(stop: Callable[[], object]) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of one thread, which has ended after the block.

    If the block fails or is interrupted, calls that wait are dropped, and `stop` is called until the running one ends:
    a database forgets a request to stop that arrives just before its query.
    """
    pool = ThreadPoolExecutor(1)
    try:
        yield pool
    except BaseException:
        ending = Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
        ending.start()
        while ending.is_alive():
            stop()
            ending.join(_AGAIN / 1000)
        raise
    pool.shutdown()
