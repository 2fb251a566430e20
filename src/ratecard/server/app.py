"""The endpoints as a router, as a whole application, and as one worker process of `ratecard serve`."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.accounts.limits import BASE_PATH
from ratecard.base.messages import echo
from ratecard.base.suggestions import did_you_mean
from ratecard.server.auth import DEFAULT_ACCOUNT, KEYS, ApiKeys, Bearer, Check
from ratecard.server.endpoints import (
    MOST_BODY_BYTES,
    Service,
    billing_routes,
    health_routes,
    metrics_routes,
    model_routes,
    quote_routes,
)
from ratecard.server.http import error_object
from ratecard.server.rates import rate_routes
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.route import Lifespan, new_router
from ratecard.server.source_videos import Probe
from ratecard.server.tables import LastSound, LiveRateCard, TableFolder, TableSource

_PARTS: dict[str, Callable[[APIRouter, Service], None]] = {
    "quotes": quote_routes,
    "rates": rate_routes,
    "models": model_routes,
    "billing": billing_routes,
    "health": health_routes,
    "metrics": metrics_routes,
}
PARTS = tuple(_PARTS)


def router(
    tables: LiveRateCard | TableSource = None,
    *,
    base_path: str = BASE_PATH,
    parts: Sequence[str] = PARTS,
    check: Check | None = None,
    probe: Probe | None = None,
    most_body_bytes: int = MOST_BODY_BYTES,
) -> APIRouter:
    """The endpoints, for `app.include_router(...)` of FastAPI and `app.mount("/", ...)` of Starlette.

    `tables` is a rate card, or a folder that is followed while it is edited; None is the shipped folder. `base_path` is
    put before every path. `parts` are the endpoints to include: quotes, rates, models, billing, health, metrics.
    `check` returns the account of a bearer token, or None to refuse it; without it no key is needed. `probe` reads
    source videos (`ratecard.probe.probe`); without it nothing is fetched. A longer body than `most_body_bytes` is
    refused. Raises `TableError` for unsound tables, and `ValueError` for an unknown part or a wrong base path.

    >>> [route.path for route in router(parts=["models"]).routes]
    ['/api/v1/models', '/api/v1/models/{id:path}']
    """
    for part in parts:
        if part not in _PARTS:
            raise ValueError(f"parts: no part {part!r}.{did_you_mean(part, PARTS)} Parts: {', '.join(PARTS)}")
    if base_path and (not base_path.startswith("/") or base_path.endswith("/")):
        raise ValueError(f"base_path={base_path!r} must begin with / and not end with one, like {BASE_PATH}")
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    service = Service(live, check, probe, most_body_bytes)
    routes = new_router(base_path, lifespan=_following(live))
    for part in parts:
        _PARTS[part](routes, service)
    return routes


def _following(live: LiveRateCard) -> Lifespan:
    """Follow the folder of tables while the application runs."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        live.start()
        yield
        live.stop()

    return lifespan


def application(tables: LiveRateCard | TableSource = None, *, base_path: str = BASE_PATH, **options: Any) -> FastAPI:
    """A FastAPI application with every endpoint; tables, base path and further options are those of `router`.

    Health and metrics are answered without the base path too, where load balancers and Prometheus look for them.
    Every error is an error object.
    """
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    routes = router(live, base_path=base_path, **options).routes
    if base_path:
        at_root = new_router(include_in_schema=False)
        health_routes(at_root, Service(live))
        metrics_routes(at_root, Service(live))
        routes = [*routes, *at_root.routes]
    # As routes of the application itself, they are found twice as quickly as in a router that it includes.
    app = FastAPI(
        title="ratecard",
        servers=[{"url": "/"}],
        version=SERVICE_VERSION,
        routes=routes,
        lifespan=_following(live),
        redirect_slashes=False,
        redoc_url=None,
    )
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failure)
    return app


def _http_error(request: Request, error: Exception) -> Response:
    """What the framework raises: a path that is not there."""
    if not isinstance(error, HTTPException):
        raise error
    words = f"Not found: {echo(request.url.path)}" if error.status_code == 404 else error.detail
    return error_object(error.status_code, words, error.headers)


def _failure(request: Request, error: Exception) -> Response:
    """An unexpected exception: its reason is in the log, and not in the answer."""
    return error_object(500, "Internal server error")


TABLES, TABLES_KEPT, ALLOW_EDITS = "RATECARD_TABLES", "RATECARD_TABLES_KEPT", "RATECARD_ALLOW_EDITS"
BASE, DATABASE, SECRET = "RATECARD_BASE_PATH", "RATECARD_DATABASE", "RATECARD_CURSOR_SECRET"


def worker() -> FastAPI:
    """The application of one process of `ratecard serve`, whose settings are in the environment that it inherits."""
    return configured(os.environ)


def configured(environment: Mapping[str, str]) -> FastAPI:
    """The application for these settings; with the usage history if there is a database."""
    kept = environment.get(TABLES_KEPT)
    last_sound = LastSound(Path(kept)) if kept else None
    folder = TableFolder(environment.get(TABLES), last_sound, allow_edits=bool(environment.get(ALLOW_EDITS)))
    keys = environment.get(KEYS)
    check = ApiKeys(keys).account if keys is not None else None
    base_path = environment.get(BASE, BASE_PATH)
    app = application(LiveRateCard(folder), base_path=base_path, check=check, probe=probe_if_installed())
    if DATABASE in environment:
        from ratecard.ledger import open_ledger
        from ratecard.server.usage_history import usage_history_router

        account_of = Bearer(check) if check else default_account
        ledger = open_ledger(environment[DATABASE])
        app.include_router(usage_history_router(ledger, account_of, secret=environment[SECRET]), prefix=base_path)
    return app


def probe_if_installed() -> Probe | None:
    """The function that reads source videos; None where `ratecard[probe]` is not installed."""
    if any(find_spec(name) is None for name in ("av", "httpx")):
        return None
    from ratecard.probe import probe

    return probe


async def default_account() -> str:
    """The account of every request to a server without keys."""
    return DEFAULT_ACCOUNT
