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
# The scheme of Spark Connect, which needs no Java on this machine.
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
    # The groups come to the driver one part at a time, so a part must be small compared with its memory.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
}
# The memory of the driver's Java on a cluster, unless it is set: only one part of the groups passes at a time.
_DRIVER_MEMORY, _MEMORY_OF_DRIVER = "512m", "SPARK_DRIVER_MEMORY"
# Bytes of usage whose groups make one shuffle partition: Parquet has tens of bytes per row, a group has hundreds.
_PARTITION, _MOST_PARTITIONS = 4 * 2**20, 4_000
# Seconds without an answer after which a master counts as gone.
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
# Spark logs this every fifteen seconds without ever giving up, because a cluster may grow meanwhile.
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
    """Give the running session, or a new one on `master` (by default Spark's own setting, else `local[*]`).

    Raises `SimulationError` if Spark or Java is missing, or if the master gives no session.
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
    """Return the session if its sums cannot overflow unseen; its settings are not changed. Raises `SimulationError`."""
    with failures("the Spark session cannot be used"):
        ansi = str(session.conf.get(_ANSI)).lower() == "true"
    if not ansi:
        words = f"Set it: spark.conf.set('{_ANSI}', True)"
        raise SimulationError(f"the Spark session has {_ANSI} = false, in which sums can overflow unseen. {words}")
    return session


def partition(session: "SparkSession", size: int) -> None:
    """Set the number of shuffle partitions that a usage of `size` bytes needs, unless the user has set it."""
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
            except (Py4JError, OSError) as gone:  # Java has ended meanwhile, and cannot be asked
                text = message = _said_by(gone)
            raise SimulationError(f"{what}: {_cause(text, message)}") from error
        except (PySparkException, Py4JError, OSError) as error:
            raise SimulationError(f"{what}: {_cause(_said_by(error), _said_by(error))}") from error


@contextmanager
def _logged_once() -> Iterator[None]:
    """Silence what py4j logs when Java ends during a call, because that error is raised too."""

    def other(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("Exception while sending command")

    root = logging.getLogger()
    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)


def _own_words(exception: Any) -> object:
    """Return the message of a Java exception, or of its cause if the exception only says that a wait failed."""
    while "awaitResult" in str(exception.getMessage()) and exception.getCause() is not None:
        exception = exception.getCause()
    return exception.getMessage()


def _said_by(error: Exception) -> str:
    """Return the message of an error, even if the process that knows it has ended."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (the errors of Spark ask its process for their words)
        return str(getattr(error, "_desc", "")) or type(error).__name__


def _cause(text: str, message: object) -> str:
    """Return why something failed: what the user can do, if that is known, else the first line of Spark's message."""
    text = f"{text}\n{_STOPPED}" if _is_stopped() else text
    # Where Spark has ended, its last words say why.
    log = _LOG.last(ended=bool(_GONE.search(text))) if _ENDED.search(text) else ""
    for pattern, cause in _CAUSES.items():
        if re.search(pattern, f"{log}{text}"):
            return cause
    if _GONE.search(text):
        # The script that starts Java prints its own errors when Java ends, which are left out.
        lines = [line.strip() for line in log.splitlines() if line.strip() and "spark-class: line" not in line]
        return f"the Java process of Spark ended: {lines[-1] if lines else 'it said nothing'}"
    words = _OF_A_TASK.sub("", str(message or "").strip()) or text
    line = _IN_PYTHON.sub("a Python worker of Spark says: ", words).splitlines()[0]
    return _DECORATION.sub("", line.strip()).rstrip(" .") or line


def _is_stopped() -> bool:
    """Return True if the context has ended in Java: then any call to one of its parts fails, with varying messages."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    try:
        return context is not None and bool(context._jsc.sc().isStopped())
    except (Py4JError, OSError):  # the process has ended too, which the error says itself
        return False


class _Log:
    """The log of Spark's Java process: the last lines are kept for errors, or all are shown if the user wants it."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=200)
        self.shown = self._waits = False
        self._reader = Thread()

    def follow(self, stream: IO[bytes]) -> None:
        """Read the log of a process until the process ends."""
        self._lines.clear()
        self._reader = Thread(target=self._read, args=(stream,), name="ratecard-spark-log", daemon=True)
        self._reader.start()

    def show(self) -> None:
        """Pass on the lines that were kept, and all that follow."""
        self.shown = True
        while self._lines:
            sys.stderr.write(self._lines.popleft())

    def last(self, *, ended: bool) -> str:
        """Return the last lines; if the process has `ended`, after all of its log is read."""
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
    """Return a new context, in the Java process of an earlier session if that still runs, else in a new process."""
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
    """Start the Java process of Spark and follow its log; it has little memory unless it does all work `alone`."""
    from pyspark import java_gateway

    launch: Any = java_gateway.launch_gateway
    read_end, write_end = os.pipe()
    # Spark looks in the environment last, after all other settings; and only in the environment of this process.
    is_set = alone or _MEMORY_OF_DRIVER in os.environ
    try:
        if not is_set:
            os.environ[_MEMORY_OF_DRIVER] = _DRIVER_MEMORY
        return launch(popen_kwargs={"stderr": write_end})
    finally:
        if not is_set:
            del os.environ[_MEMORY_OF_DRIVER]
        os.close(write_end)
        _LOG.follow(os.fdopen(read_end, "rb"))


def _quieten() -> None:
    """Silence the traces that the libraries of Spark log in addition to the errors that they raise."""
    from pyspark.logger import PySparkLogger

    for logger in (logging.getLogger("py4j"), PySparkLogger.getLogger("SQLQueryContextLogger")):
        logger.setLevel(logging.CRITICAL)


def _reached(master: str) -> None:
    """Check that one of the masters answers; Spark itself would try for a minute. Raises `SimulationError`."""
    reason = ""
    for place in master.removeprefix(_STANDALONE).split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal():
            return  # Spark itself says what is wrong with the address
        try:
            socket.create_connection((host, int(port)), _PATIENCE).close()
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return
    raise SimulationError(f"no master of Spark answers at {master}: {reason}")


@contextmanager
def as_far_as_it_runs() -> Iterator[None]:
    """Let a clean-up in Spark fail without an error if its process or cluster has ended."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with warnings.catch_warnings(), suppress(Py4JError, PySparkException, OSError), _logged_once():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _stop(session: Any) -> None:
    """Stop a session that ratecard started; forget a session whose process has ended, which Spark itself would keep."""
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
