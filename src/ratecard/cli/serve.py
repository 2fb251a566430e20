"""`ratecard serve`: serve quotes over HTTP, without another application."""

import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ratecard.cli.options import FOLDER, checkout_tables, tell_tables
from ratecard.ledger import LedgerError

_KEYS = "RATECARD_API_KEYS"
# Seconds: until open requests are broken off, and until a worker that does not answer its parent is replaced. On a busy
# machine a worker may start slowly.
_GRACE, _SLOWEST_WORKER = 10, 60


@click.command(short_help="Answer quotes over HTTP.")
@click.argument("folder", required=False, type=FOLDER, default=checkout_tables)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free one.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes that answer.")
@click.option("--base-path", default="/api/v1", show_default=True, help="What every path begins with.")
@click.option("--database", metavar="URL", help="Ledger for the usage history, like sqlite:///ledger.db.")
@click.option("--allow-edits", is_flag=True, help="Take changed tables that edit what was in effect, without a word.")
@click.option("--no-auth", is_flag=True, help="Answer everybody, on a public address too.")
def serve(
    folder: Path | None,
    host: str,
    port: int,
    workers: int,
    base_path: str,
    database: str | None,
    allow_edits: bool,
    no_auth: bool,
) -> None:
    """Answer quotes over HTTP from the tables of FOLDER.

    Where none is named, they are those of the checkout that you are in, else the shipped ones; which, is said.

    \b
    RATECARD_API_KEYS=acme:SECRET ratecard serve pricing_tables --workers 2
    curl http://127.0.0.1:8000/api/v1/video/quote -H 'Authorization: Bearer SECRET' \\
         -H 'Content-Type: application/json' -d '{"model": "ovi-image-to-video"}'

    Keys are read from RATECARD_API_KEYS: KEY or ACCOUNT:KEY, separated by commas. Without keys everybody on this
    machine is answered; a public address then needs --no-auth. The folder is followed: sound changes are served at
    once, others are refused with file:line while the tables before them stay. A price that was in effect may not be
    edited, as `ratecard check --against` has it: write a new version, say `correction: reason`, or give --allow-edits.
    """
    for name in ("uvicorn", "fastapi", "brotli", "prometheus_client", "watchfiles"):
        if find_spec(name) is None:
            raise click.UsageError(f"The server needs {name}: pip install 'ratecard[server]'")
    _check_access(host, no_auth)
    _check_base_path(base_path)
    _check_database(database)
    tell_tables(folder)
    from ratecard.server.tables import LastSound, TableFolder

    with TemporaryDirectory(prefix="ratecard-") as shared:
        kept = Path(shared) / "tables.json"
        # Every worker compares changed tables with these, also one that is started later.
        card = TableFolder(folder, LastSound(kept)).card
        os.environ.update(_settings(folder, base_path, database, kept, workers, allow_edits))
        click.echo(f"{len(card.tables.models)} models of tables {card.digest}", err=True)
        _run(host, port, workers)


def _check_access(host: str, no_auth: bool) -> None:
    """Without keys, allow a local address only, unless --no-auth is given. Raises `click.UsageError`."""
    from ratecard.server.auth import ApiKeys

    given = os.environ.get(_KEYS)
    if given is not None and no_auth:
        raise click.UsageError(f"--no-auth answers everybody, and {_KEYS} is set. Give one of them")
    if given is not None:
        try:
            ApiKeys(given)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    elif not no_auth and not _is_loopback(host):
        raise click.UsageError(f"{host} is a public address: set {_KEYS}, or answer everybody with --no-auth")


def _is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host. A name is looked up, and all of its addresses must be local."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise click.BadParameter(f"'{host}' is not an address: {error.strerror}", param_hint="--host") from None
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)


def _check_base_path(base_path: str) -> None:
    if base_path and (not base_path.startswith("/") or base_path.endswith("/") or "{" in base_path):
        raise click.BadParameter(f"'{base_path}' must begin with / and not end with one", param_hint="--base-path")


def _check_database(database: str | None) -> None:
    """Open and close the ledger before anything runs. Raises `click.BadParameter` or `LedgerUnavailableError`."""
    if database is None:
        return
    from ratecard.ledger import LedgerUnavailableError, open_ledger

    try:
        open_ledger(database).close()
    except LedgerUnavailableError:
        raise
    except LedgerError as error:
        raise click.BadParameter(str(error), param_hint="--database") from None


def _settings(
    folder: Path | None, base_path: str, database: str | None, kept: Path, workers: int, allow_edits: bool
) -> Mapping[str, str]:
    """The environment variables that tell every process of the server its settings."""
    from ratecard.server import app as worker

    found = {worker.BASE: base_path, worker.TABLES_KEPT: str(kept)}
    found[worker.ALLOW_EDITS] = "yes" if allow_edits else ""
    if folder is not None:
        found[worker.TABLES] = str(folder.absolute())
    if database is not None:
        found[worker.DATABASE] = database
        found[worker.SECRET] = os.environ.get(worker.SECRET) or secrets.token_urlsafe()
    if workers > 1:  # where all processes write their metrics
        counts = kept.with_name("metrics")
        counts.mkdir()
        found["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
    return found


def _run(host: str, port: int, workers: int) -> None:
    import uvicorn
    from uvicorn.config import LOGGING_CONFIG

    # Once it has finished its requests, the server raises the signal again; that ends this command normally.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    log: dict[str, Any] = deepcopy(LOGGING_CONFIG)
    log["loggers"]["ratecard"] = {"handlers": ["default"], "level": "INFO"}
    uvicorn.run(
        "ratecard.server.app:worker",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_SLOWEST_WORKER,
        log_config=log,
    )
