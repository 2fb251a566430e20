"""Functions that executors run, to end their own processes: a module of its own, which they import by its name."""

import os
import signal
import subprocess
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
            os.kill(_parent(executor), signal.SIGKILL)
            os.kill(executor, signal.SIGKILL)
        yield from batches

    return passed


def killing_always(batches: Batches) -> Batches:
    """Ends the executor that has any row."""
    for batch in batches:
        os.kill(_ancestor("CoarseGrainedExecutorBackend"), signal.SIGKILL)
        yield batch


def _is_first(marker: str) -> bool:
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _ancestor(name: str) -> int:
    """The nearest process above this one whose command has a name in it."""
    found = os.getppid()
    while name not in _asked("args", found):
        found = _parent(found)
    return found


def _parent(process: int) -> int:
    return int(_asked("ppid", process))


def _asked(what: str, process: int) -> str:
    return subprocess.run(["/bin/ps", "-o", f"{what}=", "-p", str(process)], capture_output=True, text=True).stdout
