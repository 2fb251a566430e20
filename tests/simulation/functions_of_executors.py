"""Functions that executors run, to fail or to end their processes: a module of its own, imported by its name."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pyarrow

Batches = Iterator[pyarrow.RecordBatch]


def killing_once(marker: str) -> Callable[[Batches], Batches]:
    """A function that passes rows on; its third part ends the executor that has it, and the worker of that, once."""

    def passed(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.partitionId() == 2 and _is_first(marker):
            executor = _ancestor("CoarseGrainedExecutorBackend")
            _end(_parent(executor), executor)
        yield from batches

    return passed


def killing_always(batches: Batches) -> Batches:
    """Ends the executor that has any row."""
    for batch in batches:
        _end(_ancestor("CoarseGrainedExecutorBackend"))
        yield batch


def failing(batches: Batches) -> Batches:
    """Fails at any row, after something else did."""
    for batch in batches:
        try:
            int("seven")
        except ValueError as error:
            raise KeyError("the tokens of row 7") from error
        yield batch


def _end(*processes: int) -> None:
    """End processes, and wait to be ended with them: what is said meanwhile would be the cause, of whatever lives."""
    for process in filter(None, processes):
        os.kill(process, signal.SIGKILL)
    time.sleep(30)


def _is_first(marker: str) -> bool:
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _ancestor(name: str) -> int:
    """The nearest process above this one whose command has a name in it; 0 where that has ended meanwhile."""
    found = os.getppid()
    while found and name not in _asked("args", found):
        found = _parent(found)
    return found


def _parent(process: int) -> int:
    return int(_asked("ppid", process))


def _asked(what: str, process: int) -> str:
    return subprocess.run(["/bin/ps", "-o", f"{what}=", "-p", str(process)], capture_output=True, text=True).stdout
