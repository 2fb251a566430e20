"""The application of one worker process of `ratecard serve`."""

import os
import sys
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI

from ratecard.probe.probing import is_installed, probe
from ratecard.processes.settings import Settings
from ratecard.server.app import application, while_running
from ratecard.server.auth import DEFAULT_ACCOUNT, ApiKeys, Bearer, Check, KeyFile
from ratecard.server.last_sound import LastSound
from ratecard.server.tables import LiveRateCard, TableFolder

# Variables of the environment, which every worker inherits: the settings as JSON, and the folder that workers share.
SETTINGS, BETWEEN_WORKERS = "_RATECARD_SETTINGS", "_RATECARD_SHARED"
# Seconds after which a thread of long work gives way to the event loop, which needs a turn for each read and write of a
# connection. With Python's default of five milliseconds, a quote took ten times as long beside long work.
_SWITCH = 1 / 1000


def worker() -> FastAPI:
    """Return the application for the settings in the environment."""
    sys.setswitchinterval(_SWITCH)
    shared = os.environ.get(BETWEEN_WORKERS)
    app = configured(Settings.model_validate_json(os.environ[SETTINGS]), Path(shared) if shared else None)
    app.openapi()  # made now and kept, because the first request for it would make all others wait
    return app


def configured(settings: Settings, shared: Path | None = None) -> FastAPI:
    """Return the application for these settings: usage history with a database, charges with keys of their own."""
    folder = table_folder(settings, shared)
    check = check_of(settings)
    options: dict[str, Any] = {
        "base_path": settings.base_path,
        "check": check,
        "probe": probe if is_installed() else None,
        "most_body_bytes": settings.body_bytes,
        "cors_origins": settings.cors_origin,
    }
    if settings.database is None:
        return application(LiveRateCard(folder), **options)
    return _with_ledger(settings, LiveRateCard(folder), check, options)


def table_folder(settings: Settings, shared: Path | None = None) -> TableFolder:
    """Return the folder of tables; the tables that were served last are kept for restarts or the other workers."""
    last_sound = LastSound(settings.state or (shared / "state" if shared else None))
    return TableFolder(settings.tables, last_sound, allow_edits=settings.allow_edits, digest=settings.digest)


def _with_ledger(settings: Settings, live: LiveRateCard, check: Check | None, options: dict[str, Any]) -> FastAPI:
    from ratecard.ledger.clock import Clock
    from ratecard.ledger.database import Waiting
    from ratecard.server.database import LedgerWatch, MeasuredLedger
    from ratecard.server.usage_history import usage_history_router

    waiting = Waiting(settings.pool_size, settings.connect_timeout, settings.wait_timeout, settings.statement_timeout)
    # The ledger was opened before the workers began, so it is lazy: if its schema has changed since, charges are
    # refused for now and must be sent again later.
    ledger = MeasuredLedger(settings.database or "", waiting, clock=Clock(settings.charge_ahead), lazy=True)
    # The usage history alone may be read from a copy that takes no writes.
    watch = LedgerWatch(ledger, writes=settings.charge_keys is not None)
    app = application(live, **options, unready=watch.unready)
    account_of = Bearer(check) if check else default_account
    history = usage_history_router(ledger, account_of, secret=settings.cursor_secret or "", tables=live)
    app.include_router(history, prefix=settings.base_path)
    if charging := charging_of(settings):
        from ratecard.server.charges import charges_router

        charges = charges_router(ledger, live, Bearer(charging), most_body_bytes=settings.body_bytes)
        app.include_router(charges, prefix=settings.base_path)
    app.include_router(APIRouter(lifespan=while_running(watch)))
    return app


def check_of(settings: Settings) -> Check | None:
    """Return the check of API keys; None if there are no keys. Raises `ValueError` for keys that cannot be read."""
    if settings.keys_file is not None:
        return KeyFile(settings.keys_file).account
    return ApiKeys(settings.api_keys).account if settings.api_keys is not None else None


def charging_of(settings: Settings) -> Check | None:
    """Return the check of keys for charges; None if there are no keys. Raises `ValueError` for unreadable keys."""
    return KeyFile(settings.charge_keys).account if settings.charge_keys else None


async def default_account() -> str:
    """Return the account of every request to a server without keys."""
    return DEFAULT_ACCOUNT
