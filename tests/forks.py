"""Processes that start at once: forks of one that has imported what they need, which takes most of a start.

What the start itself does is tested with `python -m ratecard`: in `tests/cli/test_cli_terminal.py`, `tests/uses` and
`tests/server/test_serve_operation.py`.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

# The first process reads (words, environment, folder) with four files: standard input, output and error, and one to
# which the identity of the new process and then its status are written. An attendant waits for the new process, because
# it is not a child of the tests.
_FIRST = """
import json, os, runpy, signal, socket, sys
from importlib import import_module
from ratecard.cli import main
for name in ("serve", "quote", "views", "check", "screen"):
    import_module(f"ratecard.cli.{name}")
for name in ("processes.process", "processes.worker", "server.charges", "server.usage_history", "probe.worker"):
    import_module(f"ratecard.{name}")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
asked = socket.socket(fileno=int(sys.argv[1]))
while True:
    request, files, _, _ = socket.recv_fds(asked, 2**20, 4)
    if not request:
        os._exit(0)
    if not os.fork():
        break
    for file in files:
        os.close(file)
asked.close()
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
process = os.fork()
if process:
    for file in files[:3]:
        os.close(file)
    os.write(files[3], f"{process}\\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.write(files[3], f"{status}\\n".encode())
    os._exit(0)
for place, file in enumerate(files[:3]):
    os.dup2(file, place)
for file in files:
    os.close(file)
words, environment, folder = json.loads(request)
os.environ.clear()
os.environ.update(environment)
os.chdir(folder)
sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
tests, sys.argv = sys.argv[2], words
if words[0] == "ratecard":
    main()
else:
    sys.path[:0] = [os.path.dirname(words[0]), tests]
    runpy.run_path(words[0], run_name="__main__")
"""


@cache
def _first() -> socket.socket:
    """The connection to the process whose forks all others are; it ends when the connection does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-c", _FIRST, str(theirs.fileno()), str(Path(__file__).parent)]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


class Fork:
    """A running process, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, told: IO[str], stdout: IO[str] | None, stderr: IO[str] | None) -> None:
        self.pid = int(told.readline())
        self.stdout, self.stderr = stdout, stderr
        self.returncode: int | None = None
        self._told = told

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = int(self._told.readline())
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start(
    words: list[str],
    *,
    stdin: Any = None,
    stdout: Any = None,
    stderr: Any = None,
    env: Mapping[str, str] | None = None,
) -> Fork:
    """Start `ratecard`, or the script that the first word is, in the folder of the caller.

    `stdout` and `stderr` may be `subprocess.PIPE`.
    """
    with ExitStack() as ours:
        outputs = [_output(file, ours) for file in (stdout, stderr)]
        told_by, tells = os.pipe()
        ours.callback(os.close, tells)
        nothing = ours.enter_context(open(os.devnull, "r+b"))  # noqa: PTH123
        files = [nothing if file is None else file for file in (stdin, *(written for _, written in outputs))]
        request = json.dumps([words, dict(os.environ if env is None else env), str(Path.cwd())]).encode()
        numbers = [file if isinstance(file, int) else file.fileno() for file in files]
        socket.send_fds(_first(), [request], [*numbers, tells])
    return Fork(os.fdopen(told_by), *(read for read, _ in outputs))


def _output(file: Any, ours: ExitStack) -> tuple[IO[str] | None, Any]:
    """Return the file from which an output is read, and the file to which it is written."""
    if file != subprocess.PIPE:
        return None, file
    read, written = os.pipe()
    ours.callback(os.close, written)
    return os.fdopen(read), written


def run(
    words: list[str], *, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `ratecard`, or a script, to its end."""
    with TemporaryFile() as read, TemporaryFile() as printed, TemporaryFile() as said:
        read.write(stdin)
        read.seek(0)
        status = start(words, stdin=read, stdout=printed, stderr=said, env=env).wait()
        for file in (printed, said):
            file.seek(0)
        return subprocess.CompletedProcess(words, status, printed.read(), said.read())
