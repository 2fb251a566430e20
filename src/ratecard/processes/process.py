"""The processes of `ratecard serve`: the socket, the workers, and an end that leaves no request without an answer."""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import ssl
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from stat import S_ISSOCK
from types import FrameType
from typing import Any

from prometheus_client.multiprocess import mark_process_dead
from uvicorn import Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from ratecard.processes.protocol import Connection, ServiceConfig, break_off_stuck, connections_in
from ratecard.processes.settings import SettingError, Settings, option
from ratecard.server.endpoints import DRAINING
from ratecard.server.monitoring import log_config

_logger = logging.getLogger(__name__)
# Seconds until a worker that does not answer its parent is replaced. On a busy machine a worker may start slowly.
_SLOWEST_WORKER = 60
# Connections that may wait to be accepted, as many as in uvicorn.
_BACKLOG = 2048
# Bytes of answers that the kernel may hold for a client: by default it holds megabytes for one that reads nothing.
_UNSENT = 2**16
# The part of the grace period after which answers that clients do not read are broken off.
_MOST_OF = 3 / 4
# Ticks of uvicorn in a second.
_TICKS = 10
# Seconds in which the last connections must be set up.
_SET_UP = 2
# Seconds for handshakes that have begun when no further connection may begin.
_HANDSHAKES = 1 / 20
# The option of a socket that drops packets, and a program for it that drops those that begin a connection (SYN).
_ATTACH_FILTER = 26
_NO_SYN = (0x30, 0, 0, 13), (0x45, 0, 1, 2), (0x06, 0, 0, 0), (0x06, 0, 0, 2**32 - 1)
# Everybody may connect to a socket, if the folder lets them reach it.
_SOCKET_MODE = 0o666


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. The settings must be in the environment too, for the workers."""
    config = ServiceConfig(
        "ratecard.processes.worker:worker",
        settings,
        factory=True,
        http=Connection,
        ws="none",
        workers=settings.workers,
        access_log=False,
        server_header=False,
        root_path=settings.root_path,
        forwarded_allow_ips=list(settings.forwarded_allow),
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        timeout_keep_alive=settings.keep_alive,
        timeout_graceful_shutdown=settings.grace,
        timeout_worker_healthcheck=_SLOWEST_WORKER,
        log_config=log_config(settings.log_format, settings.access_log),
    )
    # Once it has finished its requests, the server raises the signal again; that ends this command normally.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sockets = listen(settings)
    try:
        if settings.workers > 1:
            supervisor = Supervisor(config, sockets)
            supervisor.run()
            failed = any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes)
        else:
            server = DrainingServer(config)
            with suppress(KeyboardInterrupt):
                server.run(sockets)
            failed = not server.started
    finally:
        if settings.unix_socket:
            settings.unix_socket.unlink(missing_ok=True)
    if failed:
        sys.exit(STARTUP_FAILURE)


def listen(settings: Settings) -> list[socket.socket]:
    """Open the sockets of an address, or a unix socket, and log where. Raises `SettingError` if that fails."""
    if settings.unix_socket:
        sockets, address = [_unix_socket(settings.unix_socket)], f"unix socket {settings.unix_socket}"
    else:
        sockets = _sockets(settings.host, settings.port)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"http{'s' if settings.tls_certificate else ''}://{host}:{sockets[0].getsockname()[1]}"
    for listener in sockets:  # from here on, the system lets clients wait
        listener.listen(_BACKLOG)
    _logger.info("ratecard is running on %s (Press CTRL+C to quit)", address)
    return sockets


def _sockets(host: str, port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((answer[0], answer[4]) for answer in answers):
            listener = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # each accepted connection inherits it
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # The other addresses use the free port that was chosen for the first one.
            listener.bind((address[0], port or sockets[0].getsockname()[1], *address[2:]))
    except OSError as error:
        for listener in sockets:
            listener.close()
        raise SettingError(f"{option('port')}: {host}:{port} cannot be listened on: {error.strerror}") from None
    return sockets


def _unix_socket(path: Path) -> socket.socket:
    """Return a socket at a path; replace one that a killed server left there."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            if S_ISSOCK(path.stat().st_mode) and listener.connect_ex(str(path)):
                path.unlink()
        listener.close()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        path.chmod(_SOCKET_MODE)
    except OSError as error:
        listener.close()
        raise SettingError(f"{option('unix_socket')}: {path} cannot be listened on: {error.strerror}") from None
    return listener


def check_tls(settings: Settings) -> None:
    """Check that the certificate and its key can be read. Raises `SettingError`."""
    if settings.tls_certificate is None:
        if settings.tls_key:
            raise SettingError(f"{option('tls_key')} needs {option('tls_certificate')}")
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_certificate, settings.tls_key)
    except OSError as error:  # an unreadable file, or one that holds something else
        raise SettingError(f"{option('tls_certificate')}: {error.strerror or error}") from None


class DrainingServer(Server):
    """A server that still answers for a while after SIGTERM, and closes no connection that waits for an answer."""

    config: ServiceConfig

    def __init__(self, config: ServiceConfig) -> None:
        super().__init__(config)
        self._drains = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to shut down: on Ctrl-C without draining; a second Ctrl-C breaks off requests too."""
        self._drains = sig == signal.SIGTERM and (self._drains or not self.should_exit)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Break off stuck connections every second; return True if the server should end."""
        if counter % _TICKS == 0:
            break_off_stuck(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, answer the connections that wait to be accepted, and end."""
        DRAINING.set()
        if self._drains and self.config.settings.drain:
            await self._drain(self.config.settings.drain)
        await self._accept_the_last(sockets or [])
        # This comes before the end of the grace period, when uvicorn would cancel such requests, each with a traceback.
        asyncio.get_running_loop().call_later(_MOST_OF * self.config.settings.grace, self._break_off_untaken)
        await super().shutdown(sockets)

    def _break_off_untaken(self) -> None:
        for connection in connections_in(self.server_state.connections):
            if connection.untaken:
                connection.break_off()

    async def _drain(self, seconds: int) -> None:
        _logger.info("Draining for %d s: not ready, and each connection is closed after its answer", seconds)
        for connection in connections_in(self.server_state.connections):
            connection.drain()
        for tick in range(1, seconds * _TICKS + 1):
            if not self._drains:  # Ctrl-C ends the draining
                return
            await asyncio.sleep(1 / _TICKS)
            await self.on_tick(tick)

    async def _accept_the_last(self, sockets: Sequence[socket.socket]) -> None:
        """Accept all waiting clients, then close the listening sockets: the kernel resets clients that still wait."""
        listeners = [listener.dup() for listener in sockets]
        for server in self.servers:
            server.close()
        if self.config.workers == 1:  # the sockets of workers may outlive this one
            for listener in listeners:
                hold_back(listener)
            await asyncio.sleep(_HANDSHAKES)
        clients: list[socket.socket] = []
        for listener in listeners:
            listener.setblocking(False)
            with suppress(OSError):  # no client is left
                while True:
                    clients.append(listener.accept()[0])
            listener.close()
        loop = asyncio.get_running_loop()
        handshakes = (loop.connect_accepted_socket(self._connection, client, ssl=self.config.ssl) for client in clients)
        with suppress(TimeoutError):  # a client may not finish its TLS handshake
            await asyncio.wait_for(asyncio.gather(*handshakes, return_exceptions=True), _SET_UP)

    def _connection(self) -> asyncio.Protocol:
        return Connection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


def hold_back(listener: socket.socket) -> None:
    """Have the kernel begin no further connection of a listener, so that none is reset when it is closed (Linux only).

    A client that tries meanwhile tries again after a second, and is refused then, as after the end of any server.
    """
    if sys.platform == "linux" and listener.family != socket.AF_UNIX:
        program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _NO_SYN))
        with suppress(OSError):  # a kernel that has no such filters
            filter_ = struct.pack("HP", len(_NO_SYN), ctypes.addressof(program))
            listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, filter_)


class Worker(Process):
    """A worker process whose server drains."""

    config: ServiceConfig

    @property
    def server(self) -> Server:
        """Return the server of this process."""
        if self._server is None:
            self._server = DrainingServer(self.config)
        return self._server

    def is_alive(self, timeout: Any = 5) -> bool:
        """Return True if the worker answers its parent in time; do not wait for one that ends meanwhile."""
        if not self.process.is_alive():
            return False
        with suppress(OSError, EOFError):
            self.parent_conn.send(b"ping")
            ready = wait([self.parent_conn, self.process.sentinel], timeout)
            return self.parent_conn in ready and isinstance(self.parent_conn.recv(), bool)
        return False

    def join(self) -> None:
        """Wait for the end of the process, and remove its gauges from the metrics of live processes."""
        super().join()
        if self.pid is not None and "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            mark_process_dead(self.pid)  # type: ignore[no-untyped-call]


class Supervisor(Multiprocess):
    """The parent of the workers, which share its sockets."""

    def _begin(self) -> Worker:
        worker = Worker(self.config, self.sockets)
        worker.start()
        return worker

    def init_processes(self) -> None:
        """Start the workers."""
        self.processes += [self._begin() for _ in range(self.processes_num)]

    def handle_ttin(self) -> None:
        """Start one more worker."""
        self.processes_num += 1
        self.processes.append(self._begin())

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have ended or hang; end the server if a worker cannot start."""
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if worker.is_alive(self.config.timeout_worker_healthcheck):
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:  # the next one would fail in the same way
                self.should_exit.set()
            elif not self.should_exit.is_set():
                _logger.info("Worker %s has ended, and is replaced", worker.pid)
                self.processes[place] = self._begin()

    def restart_all(self) -> None:
        """Replace each worker after its successor is ready."""
        for place, worker in enumerate(self.processes):
            successor = self._begin()
            if not successor.wait_until_ready(self.config.timeout_worker_healthcheck, self.should_exit):
                successor.kill()
                successor.join()
                return
            worker.terminate()
            worker.join()
            self.processes[place] = successor

    def terminate_all(self) -> None:
        """End every worker; close the parent's sockets, so that the last worker accepts all clients that wait."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()
