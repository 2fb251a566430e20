"""The application of one process of `ratecard serve`; the environment, which processes inherit, holds its settings."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI

from ratecard.account.limits import BASE_PATH
from ratecard.server.application import application
from ratecard.server.bearer import Bearer
from ratecard.server.keys import DEFAULT_ACCOUNT, KEYS, ApiKeys
from ratecard.server.last_sound import LastSound
from ratecard.server.live import LiveRateCard
from ratecard.server.source import Probe
from ratecard.server.table_folder import TableFolder

TABLES, TABLES_KEPT, ALLOW_EDITS = "RATECARD_TABLES", "RATECARD_TABLES_KEPT", "RATECARD_ALLOW_EDITS"
BASE, DATABASE, SECRET = "RATECARD_BASE_PATH", "RATECARD_DATABASE", "RATECARD_CURSOR_SECRET"


def worker() -> FastAPI:
    """The application that the environment describes."""
    return configured(os.environ)


def configured(environment: Mapping[str, str]) -> FastAPI:
    """The application of these settings; with a database, the usage history too."""
    kept = environment.get(TABLES_KEPT)
    last_sound = LastSound(Path(kept)) if kept else None
    folder = TableFolder(environment.get(TABLES), last_sound, allow_edits=bool(environment.get(ALLOW_EDITS)))
    keys = environment.get(KEYS)
    check = ApiKeys(keys).account if keys is not None else None
    base_path = environment.get(BASE, BASE_PATH)
    app = application(LiveRateCard(folder), base_path=base_path, check=check, probe=probe_if_installed())
    if DATABASE in environment:
        from ratecard.history import usage_history_router
        from ratecard.ledger import open_ledger

        account_of = Bearer(check) if check else everybody
        ledger = open_ledger(environment[DATABASE])
        app.include_router(usage_history_router(ledger, account_of, secret=environment[SECRET]), prefix=base_path)
    return app


def probe_if_installed() -> Probe | None:
    """Reads source videos where `ratecard[probe]` is installed."""
    if any(find_spec(name) is None for name in ("av", "httpx")):
        return None
    from ratecard.probe import probe

    return probe


async def everybody() -> str:
    """The account of a server that asks nobody for a key."""
    return DEFAULT_ACCOUNT
