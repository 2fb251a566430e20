"""A Spark session: the running one, which stays, or a new one that is stopped at the end."""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratecard.simulation.errors import SimulationError, missing_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
# Spark Connect, which needs no Java here.
_REMOTE = "sc://"
_ANSI = "spark.sql.ansi.enabled"
_SETTINGS = {
    _ANSI: "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def is_spark_frame(usage: Any) -> bool:
    """Whether an object is a data frame of Spark; Spark is not loaded to see that."""
    return type(usage).__module__.startswith("pyspark.sql.") and hasattr(usage, "sparkSession")


@contextmanager
def spark_session(master: str | None = None) -> Iterator["SparkSession"]:
    """The session that runs, or one made for `master` (by default Spark's own setting, else `local[*]`).

    Raises `SimulationError` where Spark or Java is missing, or no session can be had of the master.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise missing_extra("spark", error) from None
    with warnings.catch_warnings():
        # Nothing here uses the pandas that this is about.
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
                session.stop()


def proven(session: "SparkSession") -> "SparkSession":
    """A session in which no sum can wrap. Raises `SimulationError` for any other, which is not changed."""
    if str(session.conf.get(_ANSI)).lower() != "true":
        words = f"Set it: spark.conf.set('{_ANSI}', True)"
        raise SimulationError(f"the Spark session has {_ANSI} = false, in which sums can overflow unseen. {words}")
    return session


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Turns an error of Spark into a `SimulationError`: what failed, and the first line that Spark says."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as error:
        raise SimulationError(f"{what}: {_first_line(error.java_exception.getMessage())}") from error
    except (PySparkException, Py4JError, OSError) as error:
        raise SimulationError(f"{what}: {_first_line(error)}") from error


def _made(builder: Any, master: str | None) -> Any:
    from pyspark import SparkConf

    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    if master and master.startswith(_REMOTE):
        with failures(f"no Spark session can be had of the master {master}"):
            return builder.remote(master).getOrCreate()
    if not _java():
        raise SimulationError("Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME")
    with failures(f"no Spark session can be had of the master {master or DEFAULT_MASTER}"):
        place = master or SparkConf().get("spark.master", DEFAULT_MASTER)
        return builder.appName("ratecard").master(place).getOrCreate()


def _java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return (Path(home) / "bin" / "java").is_file() if home else shutil.which("java") is not None


def _master_of(session: "SparkSession") -> str:
    return str(session.conf.get("spark.master", DEFAULT_MASTER))


def _first_line(words: object) -> str:
    return (str(words).strip() or type(words).__name__).splitlines()[0]
