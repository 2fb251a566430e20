"""A standalone Spark cluster on this machine: a master and workers, each a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep
from typing import NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

_DEPLOY = "org.apache.spark.deploy"
# These words end a started program as soon as its standard input is closed, even if the tests were killed.
_GUARDED = 'exec 3<&0; (read -r _ <&3; kill -KILL $$ 2>/dev/null) & exec "$@" </dev/null 3<&-'
# Seconds between two looks at the output of a process.
_LOOK = 0.05
# Small queries end before a slow compiler would pay off.
_SOON_READY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LOG = """
rootLogger.level = info
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_OUT
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %m%n%ex
"""


class Memory(NamedTuple):
    """What each worker has, and each executor takes of it; an executor needs 450 MB."""

    worker: str = "512m"
    executor: str = "512m"


SMALL = Memory()


def settings_of(folder: Path, local: Path, memory: Memory = SMALL) -> Mapping[str, str]:
    """Write what an administrator writes for every application, ours among them; and the environment that finds it."""
    own = {
        "spark.executor.memory": memory.executor,
        "spark.executor.cores": 1,
        "spark.local.dir": local,
        "spark.locality.wait": "0s",
        "spark.task.maxFailures": 2,
        # Queries of several tests are compiled only once.
        "spark.sql.codegen.cache.maxEntries": 5_000,
    }
    if memory == SMALL:  # a few rows need no more
        own["spark.sql.shuffle.partitions"] = 2
        own |= {f"spark.{each}.extraJavaOptions": _SOON_READY for each in ("driver", "executor")}
    folder.mkdir()
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in own.items()))
    return {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}


class Cluster:
    """Starts workers of a master, and ends the processes that it started."""

    def __init__(self, folder: Path, memory: Memory, stack: ExitStack) -> None:
        # Imported here, because `make test` collects every module without Spark.
        import pyspark

        self._place = Path(str(pyspark.__file__)).parent
        self.folder, self._memory, self._stack = folder, memory, stack
        settings = folder / "conf"
        settings_of(settings, folder / "local", memory)
        (settings / "log4j2.properties").write_text(_LOG)
        self._environment = os.environ | {
            "SPARK_HOME": str(self._place),
            "SPARK_CONF_DIR": str(settings),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _SOON_READY,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        web = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        # The driver has the settings of the cluster, but not its log, which belongs to these processes.
        self.for_driver = settings_of(folder / "driver", folder / "local", memory)
        self.master = self._started("master.Master", *web, says=r"Starting Spark master at (spark://\S+)")
        self._web = web

    def remove_waiting(self) -> None:
        """Have the master remove an application that waits, as it does by itself with one that it gives up."""
        log = (self.folder / "master.Master-0.log").read_text()
        page = re.search(r"MasterWebUI .* at http://[^:]+:(\d+)", log)
        assert page
        place = f"http://127.0.0.1:{page[1]}/"
        with urlopen(place) as shown:
            rows = re.split("<tr", shown.read().decode())
        (waiting,) = (row for row in rows if "WAITING" in row and "app/kill" in row)
        # This sends the form of the page, with its token.
        asked = re.findall(r'name="([^"]+)" value="([^"]*)"', waiting)
        with urlopen(f"{place}app/kill/", urlencode(asked).encode()):  # noqa: S310
            pass

    def add_worker(self) -> None:
        """Start a worker of one core, and wait until the master knows it."""
        size = ("--cores", "1", "--memory", self._memory.worker, "--work-dir", str(self.folder / "work"))
        says = r"(Successfully registered with master)"
        self._started("worker.Worker", *self._web, *size, self.master, says=says)

    def _started(self, name: str, *arguments: str, says: str) -> str:
        command = [str(self._place / "bin" / "spark-class"), f"{_DEPLOY}.{name}", *arguments]
        log = self.folder / f"{name}-{len(list(self.folder.glob('*.log')))}.log"
        with log.open("w") as written:
            process = self._stack.enter_context(
                subprocess.Popen(
                    ["/bin/sh", "-c", _GUARDED, "sh", *command],
                    stdin=subprocess.PIPE,
                    stdout=written,
                    stderr=subprocess.STDOUT,
                    env=self._environment,
                )
            )
        assert process.stdin
        # Closing its standard input ends the process, and Popen waits for that at the end of its block.
        self._stack.callback(process.stdin.close)
        while not (found := re.search(says, log.read_text())):
            assert process.poll() is None, f"{name} ended: {log.read_text()}"
            sleep(_LOOK)
        return found[1]


@contextmanager
def spark_cluster(folder: Path, workers: int = 2, memory: Memory = SMALL) -> Iterator[Cluster]:
    """A master and workers of one core each, which are ended in every case."""
    with ExitStack() as stack:
        cluster = Cluster(folder, memory, stack)
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
