"""A PostgreSQL of its own in a temporary folder, on a socket there, which is stopped and started."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest; None where there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


class Postgres:
    """One cluster. Nothing is lost here with the machine, so it does not wait for the disk."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self.folder = programs, folder
        self.url = f"postgresql://ratecard@/postgres?host={folder}"
        self._run("initdb", "-D", f"{folder}/data", "-U", "ratecard", "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", settings, "start")

    def stop(self, mode: str) -> None:
        """Stop it: `fast` ends every connection, `immediate` is a crash."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_postgres(), str(self._programs / program), *arguments]
        done = subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")


def _as_postgres() -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


@contextmanager
def postgres() -> Iterator[Postgres | None]:
    """One that runs, removed with the block; None where PostgreSQL is not installed."""
    found = programs()
    if found is None:
        yield None
        return
    folder = Path(mkdtemp())
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    cluster = Postgres(found, folder)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop("immediate")
        shutil.rmtree(folder)
