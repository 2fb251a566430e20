"""`ratecard serve`: serve quotes over HTTP, without another application."""

import logging.config
import os
import secrets
import socket
import tempfile
import typing
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import annotated_types
import click
from pydantic.fields import FieldInfo

from ratecard.cli.options import FOLDER, Decorator, as_wrong_use, checkout_tables, options, tell_tables
from ratecard.ledger import LedgerError
from ratecard.processes.settings import CONFIG, SettingError, Settings, is_secret, option, read_settings, variable

_SHOWN = {name: field for name, field in Settings.model_fields.items() if name != "tables" and not is_secret(name)}

_OF_LEDGER = ("pool_size", "connect_timeout", "wait_timeout", "statement_timeout", "charge_ahead")


def _option(name: str, field: FieldInfo) -> Decorator:
    """Return the option of a setting; without it, the environment or the file decides."""
    words = f"{field.description}."
    if field.annotation is bool:
        return click.option(option(name), is_flag=True, default=None, help=words)
    several = isinstance(field.default, tuple)
    shown = ", ".join(field.default) if several else str(field.default)
    return click.option(
        option(name),
        name,
        type=_type(field),
        multiple=several,
        default=None,
        help=f"{words}  [default: {shown}]" if field.default not in (None, "", ()) else words,
    )


def _type(field: FieldInfo) -> Any:
    if field.annotation is int:
        least = next((int(str(bound.ge)) for bound in field.metadata if isinstance(bound, annotated_types.Ge)), None)
        most = next((int(str(bound.le)) for bound in field.metadata if isinstance(bound, annotated_types.Le)), None)
        return click.IntRange(least, most)
    if typing.get_origin(field.annotation) is typing.Literal:
        return click.Choice(typing.get_args(field.annotation))
    return click.Path(path_type=Path) if field.annotation == Path | None else str


@click.command(short_help="Answer quotes over HTTP.")
@click.argument("folder", required=False, type=FOLDER)
@click.option(
    "--config", CONFIG, type=click.Path(path_type=Path), help="Settings as TOML, like `port = 80` or `no-auth = true`."
)
@options(*(_option(name, field) for name, field in _SHOWN.items()))
def serve(folder: Path | None, **given: Any) -> None:
    """Answer quotes over HTTP from the tables of FOLDER.

    Without a folder, they are those of the checkout that you are in, or else the shipped ones; it says which.

    \b
    RATECARD_API_KEYS=acme:SECRET ratecard serve pricing_tables --workers 2
    curl http://127.0.0.1:8000/api/v1/video/quote -H 'Authorization: Bearer SECRET' \\
         -H 'Content-Type: application/json' -d '{"model": "ovi-image-to-video"}'

    Keys are read from RATECARD_API_KEYS: KEY or ACCOUNT:KEY, separated by commas; or from --keys-file. Without keys
    everybody on this machine is answered; a public address then needs --no-auth. The folder is followed: sound changes
    are served at once, others are refused with file:line while the tables before them stay. A price that was in effect
    may not be edited, as `ratecard check --against` has it: write a new version, say `correction: reason`, or give
    --allow-edits. With --state that holds over restarts too: if the tables are refused at the start, those that were
    served last are served, and the log says why.

    With --database and --charge-keys the server books charges and refunds, for holders of these keys only.

    Each option is a variable of the environment too (--header-bytes: RATECARD_HEADER_BYTES) and a key of the file of
    --config (header-bytes); options come first, then the environment, then the file. The environment alone holds
    RATECARD_API_KEYS and RATECARD_CURSOR_SECRET, which signs the cursors of the usage history.

    SIGTERM ends the server without losing a request: `/readyz` answers 503 at once, requests are answered for --drain
    seconds more and each connection is closed after its answer, then those in flight have --grace seconds. Ctrl-C
    skips the draining.
    """
    for name in ("uvicorn", "fastapi", "brotli", "prometheus_client", "watchfiles"):
        if find_spec(name) is None:
            raise click.UsageError(f"The server needs {name}: pip install 'ratecard[server]'")
    # Loaded here, because --help needs no server.
    from ratecard.processes.process import check_tls

    stated = {name: value for name, value in {**given, "tables": folder}.items() if value not in (None, ())}
    with as_wrong_use(SettingError):
        settings = read_settings(stated, os.environ, {"tables": checkout_tables()})
        if settings.database is None and (alone := [option(name) for name in _OF_LEDGER if given[name] is not None]):
            raise SettingError(f"without a ledger nothing uses {', '.join(alone)}. Give {option('database')} too")
        if settings.unix_socket and (alone := [option(name) for name in ("host", "port") if given[name] is not None]):
            words = f"{option('unix_socket')} listens on no address, and nothing uses {', '.join(alone)}"
            raise SettingError(f"{words}. Leave one of them out")
        _check_access(settings)
        check_tls(settings)
        if settings.tables is not None and not settings.tables.is_dir():
            raise SettingError(f"FOLDER: '{settings.tables}' does not exist")
    _check_database(settings)
    _serve(settings)


def _serve(settings: Settings) -> None:
    from ratecard.processes.worker import table_folder
    from ratecard.server.monitoring import log_config

    if settings.state:  # The tables may differ from those that were served last, and the log says so.
        logging.config.dictConfig(log_config(settings.log_format, settings.access_log))
    if settings.log_format == "text":  # A line of words would spoil a log of JSON.
        tell_tables(settings.tables)
    with _shared_folder(settings.workers) as shared:
        # Every worker compares changed tables with these, even a worker that is started later.
        card = table_folder(settings, shared).card
        if settings.log_format == "text":
            click.echo(f"{len(card.tables.models)} models of tables {card.digest}", err=True)
        _run(settings, shared)


@contextmanager
def _shared_folder(workers: int) -> Iterator[Path | None]:
    """Yield the folder where workers share the last valid tables and metrics; None for a single worker."""
    if workers == 1:
        yield None
        return
    for place in (None, "/dev/shm"):  # noqa: S108 - shared memory is left where nothing else can be written
        with suppress(OSError):
            folder = tempfile.TemporaryDirectory(prefix="ratecard-", dir=place)
            break
    else:
        raise click.UsageError("several workers need a folder that can be written: name one in TMPDIR")
    with folder as shared:
        (Path(shared) / "metrics").mkdir()
        yield Path(shared)


def _check_access(settings: Settings) -> None:
    """Refuse contradicting settings, and a public address without keys or --no-auth. Raises `SettingError`."""
    from ratecard.processes.worker import charging_of, check_of

    keys, file = variable("api_keys"), option("keys_file")
    keyed = [name for name, value in ((keys, settings.api_keys), (file, settings.keys_file)) if value is not None]
    if keyed and settings.no_auth:
        raise SettingError(f"--no-auth answers everybody, and {keyed[0]} is set. Give one of them")
    if len(keyed) > 1:
        raise SettingError(f"{keys} and {file} are set. Give one of them")
    try:
        check_of(settings)
        charging_of(settings)
    except ValueError as error:
        raise SettingError(str(error)) from None
    if settings.charge_keys and settings.database is None:
        raise SettingError(f"{option('charge_keys')} books charges in a ledger. Give {option('database')} too")
    if not keyed and not settings.no_auth and not settings.unix_socket and not _is_loopback(settings.host):
        raise SettingError(f"{settings.host} is a public address: set {keys}, or answer everybody with --no-auth")


def _is_loopback(host: str) -> bool:
    """Return True if only this machine reaches a host. A name is looked up, and all of its addresses must be local."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SettingError(f"{option('host')}: '{host}' is not an address: {error.strerror}") from None
    return all(ip_address(str(address[0])).is_loopback for *_, address in addresses)


def _check_database(settings: Settings) -> None:
    """Open and close the ledger before anything runs. Raises `click.BadParameter` or `LedgerUnavailableError`."""
    if settings.database is None:
        return
    from ratecard.ledger import LedgerUnavailableError, open_ledger

    try:
        open_ledger(settings.database, connect_timeout=settings.connect_timeout).close()
    except LedgerUnavailableError:
        raise
    except LedgerError as error:
        raise click.BadParameter(str(error), param_hint=option("database")) from None


def _run(settings: Settings, shared: Path | None) -> None:
    """Run the server, with everything that the workers need in the environment, which they inherit."""
    from ratecard.processes.process import run_server
    from ratecard.processes.worker import BETWEEN_WORKERS, SETTINGS

    tables = settings.tables.absolute() if settings.tables else None
    secret = settings.cursor_secret or secrets.token_urlsafe()
    complete = settings.model_copy(update={"tables": tables, "cursor_secret": secret})
    os.environ[SETTINGS] = complete.model_dump_json()
    if shared:
        os.environ |= {BETWEEN_WORKERS: str(shared), "PROMETHEUS_MULTIPROC_DIR": str(shared / "metrics")}
    run_server(complete)
