"""A Spark session: the running one, which stays, or a new one that is stopped at the end."""

import logging
import os
import re
import shutil
import socket
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from ratecard.base.errors import SimulationError, missing_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
# Spark Connect, which needs no Java here.
_REMOTE = "sc://"
_STANDALONE = "spark://"
_ANSI = "spark.sql.ansi.enabled"
_LOG_LEVEL = "spark.log.level"
# Settings of a session that ratecard starts, unless `spark-defaults.conf` or PYSPARK_SUBMIT_ARGS set them.
_SETTINGS = {
    _ANSI: "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A part of the groups is taken to the driver at a time, and so must be small beside its memory.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
}
# The memory of the driver's Java on a cluster, unless something else says it: no more than a part of the groups passes.
_DRIVER_MEMORY, _MEMORY_OF_DRIVER = "512m", "SPARK_DRIVER_MEMORY"
# Bytes of usage whose groups are one shuffle partition: Parquet has tens of bytes a row, a group has hundreds.
_PARTITION, _MOST_PARTITIONS = 4 * 2**20, 4_000
# Seconds without an answer, after which a master is gone.
_PATIENCE = 10
# Words in Spark's messages, and what they mean to a user.
_MORE = "Give it more: spark.{}.memory, in spark-defaults.conf or PYSPARK_SUBMIT_ARGS"
# Spark's message about a context that is stopped.
_STOPPED = "stopped SparkContext"
_CAUSES = {
    r"ExecutorLostFailure|executor \d+\): java.lang.OutOfMemoryError": (
        f"an executor of Spark ran out of memory, or was killed. {_MORE.format('executor')}"
    ),
    r"OutOfMemoryError|Not enough memory": f"the driver of Spark ran out of memory. {_MORE.format('driver')}",
    r"TaskResultLost": (
        "what an executor of Spark found did not reach the driver, which may have too little memory. "
        f"{_MORE.format('driver')}"
    ),
    r"UnsupportedClassVersionError|Unrecognized (VM )?option": (
        "Spark needs Java 17 or newer, and found an older one. Set JAVA_HOME"
    ),
    rf"removed our application|masters are unresponsive|SparkContext was shut ?down|{_STOPPED}": (
        "the cluster of Spark was lost. Look whether its master runs, and try again"
    ),
}
# Spark says so every fifteen seconds, as long as it takes: a cluster may grow meanwhile.
_WAITING = "Initial job has not accepted any resources"
_NO_WORKER = "Spark waits: no worker is free, or none has what an executor asks for (spark.executor.memory, .cores)"
_GONE = re.compile(
    "Java side is empty|Connection refused|while sending or receiving|JAVA_GATEWAY_EXITED|does not exist in the JVM"
)
_ENDED = re.compile(f"{_GONE.pattern}|SparkContext was shut ?down|{_STOPPED}|removed our application")
_OF_A_TASK = re.compile(r"^.*most recent failure: .*? executor \w+\): |^Job aborted due to stage failure: ", re.DOTALL)
_IN_PYTHON = re.compile(r"^(?s:.*)Traceback \(most recent call last\):\n(?:[ \t].*\n)*(?=\S)")
_DECORATION = re.compile(r"^([\w.$]+(Exception|Error): )*(\[[A-Z0-9_.]+\] )?|\s*SQLSTATE: \w+$")


def is_spark_frame(usage: Any) -> bool:
    """Return True if an object is a data frame of Spark; Spark is not loaded to see that."""
    return type(usage).__module__.startswith("pyspark.sql.") and hasattr(usage, "sparkSession")


@contextmanager
def spark_session(master: str | None = None) -> Iterator["SparkSession"]:
    """Give the session that runs, or one made for `master` (by default Spark's own setting, else `local[*]`).

    Raises `SimulationError` where Spark or Java is missing, or no session can be had of the master.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise missing_extra("spark", error) from None
    with warnings.catch_warnings():
        # The warning is about pandas, which is not used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        running = SparkSession.getActiveSession()
        session = running or _made(SparkSession.builder, master)
        try:
            if running and master and _master_of(running) != master:
                words = (
                    f"a Spark session on {_master_of(running)} runs already. Stop it, or leave out the master {master}"
                )
                raise SimulationError(words)
            yield proven(session)
        finally:
            if not running:
                _stop(session)


def proven(session: "SparkSession") -> "SparkSession":
    """Return a session in which no sum can wrap. Raises `SimulationError` for any other, which is not changed."""
    with failures("the Spark session cannot be used"):
        ansi = str(session.conf.get(_ANSI)).lower() == "true"
    if not ansi:
        words = f"Set it: spark.conf.set('{_ANSI}', True)"
        raise SimulationError(f"the Spark session has {_ANSI} = false, in which sums can overflow unseen. {words}")
    return session


def partition(session: "SparkSession", size: int) -> None:
    """Shuffle groups in as many partitions as a usage of `size` bytes needs, where nobody has said how many."""
    context = getattr(session, "_sc", None)
    name = "spark.sql.shuffle.partitions"
    if context is not None and not context.getConf().contains(name):
        session.conf.set(name, min(max(context.defaultParallelism, size // _PARTITION), _MOST_PARTITIONS))


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Turn an error of Spark into a `SimulationError` of one sentence: what failed, and why."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    with _logged_once():
        try:
            yield
        except Py4JJavaError as error:
            try:
                text, message = str(error), _own_words(error.java_exception)
            except (Py4JError, OSError) as gone:  # Java has ended since, and is not there to be asked
                text = message = _said_by(gone)
            raise SimulationError(f"{what}: {_cause(text, message)}") from error
        except (PySparkException, Py4JError, OSError) as error:
            raise SimulationError(f"{what}: {_cause(_said_by(error), _said_by(error))}") from error


@contextmanager
def _logged_once() -> Iterator[None]:
    """Silence the log of py4j while Java ends during a call; that error is raised too."""

    def other(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("Exception while sending command")

    root = logging.getLogger()
    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)


def _own_words(exception: Any) -> object:
    """Return what an exception of Java says, or its cause where it says only that something waited in vain."""
    while "awaitResult" in str(exception.getMessage()) and exception.getCause() is not None:
        exception = exception.getCause()
    return exception.getMessage()


def _said_by(error: Exception) -> str:
    """Return what an error says, also where the process that should say it has ended."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (the errors of Spark ask its process for their words)
        return str(getattr(error, "_desc", "")) or type(error).__name__


def _cause(said: str, message: object) -> str:
    """Return why something failed: what Spark's user can do, where that is known, else Spark's first line."""
    said = f"{said}\n{_STOPPED}" if _is_stopped() else said
    # Where Spark has ended, its last words say why.
    log = _LOG.last(ended=bool(_GONE.search(said))) if _ENDED.search(said) else ""
    for pattern, cause in _CAUSES.items():
        if re.search(pattern, f"{log}{said}"):
            return cause
    if _GONE.search(said):
        # The script that starts Java prints errors of its own when Java ends.
        lines = [line.strip() for line in log.splitlines() if line.strip() and "spark-class: line" not in line]
        return f"the Java process of Spark ended: {lines[-1] if lines else 'it said nothing'}"
    words = _OF_A_TASK.sub("", str(message or "").strip()) or said
    line = _IN_PYTHON.sub("a Python worker of Spark says: ", words).splitlines()[0]
    return _DECORATION.sub("", line.strip()).rstrip(" .") or line


def _is_stopped() -> bool:
    """Return True if the context has ended in Java, where whatever asked for one of its parts fails, in any words."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    try:
        return context is not None and bool(context._jsc.sc().isStopped())
    except (Py4JError, OSError):  # the process has ended too, which the error says itself
        return False


class _Log:
    """What the Java process of Spark writes: kept, as far as an error needs it, or passed on where it is asked for."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=200)
        self.shown = self._waits = False
        self._reader = Thread()

    def follow(self, stream: IO[bytes]) -> None:
        """Read all that a process says, as long as it runs."""
        self._lines.clear()
        self._reader = Thread(target=self._read, args=(stream,), name="ratecard-spark-log", daemon=True)
        self._reader.start()

    def show(self) -> None:
        """Pass on what was said, and all that will be."""
        self.shown = True
        while self._lines:
            sys.stderr.write(self._lines.popleft())

    def last(self, *, ended: bool) -> str:
        """Return the last lines; of a process that has ended, all that it said to the end."""
        if ended and self._reader.is_alive():
            self._reader.join(_PATIENCE)
        return "".join(tuple(self._lines))

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.append(line.decode(errors="replace"))
            if self.shown:
                self.show()
            elif _WAITING in self._lines[-1] and not self._waits:
                self._waits = True
                sys.stderr.write(f"{_NO_WORKER}\n")


_LOG = _Log()


def _made(builder: Any, master: str | None) -> Any:
    if master and master.startswith(_REMOTE):
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        with failures(f"no Spark session can be had of the master {master}"):
            return builder.remote(master).getOrCreate()
    if not _java():
        raise SimulationError("Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME")
    _quieten()
    with failures(f"no Spark session can be had of the master {master or DEFAULT_MASTER}"):
        if master and master.startswith(_STANDALONE):
            _reached(master)
        return builder.config(conf=_context(master).getConf()).getOrCreate()


def _context(master: str | None) -> Any:
    """Return the context of a session, of a Java process that runs from an earlier one, or of a new one."""
    from pyspark import SparkConf, SparkContext

    gateway = SparkContext._gateway or _launched(alone=not master or master.startswith("local"))
    settings = SparkConf(_jvm=gateway.jvm)
    if settings.contains(_LOG_LEVEL):
        _LOG.show()
    for name, value in (_SETTINGS | {"spark.master": DEFAULT_MASTER, "spark.app.name": "ratecard"}).items():
        settings.setIfMissing(name, value)
    if master:
        settings.setMaster(master)
    return SparkContext(conf=settings, gateway=gateway)


def _launched(*, alone: bool) -> Any:
    """Return the Java process of Spark, whose log is followed; it has little memory unless it executes all `alone`."""
    from pyspark import java_gateway

    launch: Any = java_gateway.launch_gateway
    reading, writing = os.pipe()
    # Of all that can say it, Spark asks the environment last; and it takes that of this process alone.
    is_set = alone or _MEMORY_OF_DRIVER in os.environ
    try:
        if not is_set:
            os.environ[_MEMORY_OF_DRIVER] = _DRIVER_MEMORY
        return launch(popen_kwargs={"stderr": writing})
    finally:
        if not is_set:
            del os.environ[_MEMORY_OF_DRIVER]
        os.close(writing)
        _LOG.follow(os.fdopen(reading, "rb"))


def _quieten() -> None:
    """Keep the traces to themselves that the libraries of Spark write besides what they raise."""
    from pyspark.logger import PySparkLogger

    for logger in (logging.getLogger("py4j"), PySparkLogger.getLogger("SQLQueryContextLogger")):
        logger.setLevel(logging.CRITICAL)


def _reached(master: str) -> None:
    """Ask whether one of the masters answers; Spark itself would try for a minute. Raises `SimulationError`."""
    reason = ""
    for place in master.removeprefix(_STANDALONE).split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal():
            return  # Spark says what is wrong with it
        try:
            socket.create_connection((host, int(port)), _PATIENCE).close()
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return
    raise SimulationError(f"no master of Spark answers at {master}: {reason}")


@contextmanager
def as_far_as_it_runs() -> Iterator[None]:
    """Tidy up in Spark, unless its process or cluster has ended."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with warnings.catch_warnings(), suppress(Py4JError, PySparkException, OSError), _logged_once():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _stop(session: Any) -> None:
    """Stop a session that ratecard started; Spark itself keeps one whose process has ended."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with as_far_as_it_runs():
        session.stop()
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


def _java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return (Path(home) / "bin" / "java").is_file() if home else shutil.which("java") is not None


def _master_of(session: "SparkSession") -> str:
    return str(session.conf.get("spark.master", DEFAULT_MASTER))
