"""The endpoints as one router, or any part of them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from ratecard.account.limits import BASE_PATH
from ratecard.server.bearer import Check
from ratecard.server.billing import billing_routes
from ratecard.server.exposition import metrics_routes
from ratecard.server.health import health_routes
from ratecard.server.live import LiveRateCard, Tables
from ratecard.server.models import model_routes
from ratecard.server.quotes import quote_routes
from ratecard.server.refusal import error_object
from ratecard.server.route import Route
from ratecard.server.service import MOST_BODY_BYTES, Service
from ratecard.server.source import Probe
from ratecard.words.suggest import did_you_mean
from ratecard.words.wording import echo

_PARTS: dict[str, Callable[[APIRouter, Service], None]] = {
    "quotes": quote_routes,
    "models": model_routes,
    "billing": billing_routes,
    "health": health_routes,
    "metrics": metrics_routes,
}
PARTS = tuple(_PARTS)


def router(
    tables: LiveRateCard | Tables = None,
    *,
    base_path: str = BASE_PATH,
    parts: Sequence[str] = PARTS,
    check: Check | None = None,
    probe: Probe | None = None,
    most_body_bytes: int = MOST_BODY_BYTES,
) -> APIRouter:
    """The endpoints, for `app.include_router(...)` of FastAPI and `app.mount("/", ...)` of Starlette.

    `tables` is a folder, followed while it is edited (the shipped one where none is named), or a rate card. `parts` are
    those of quotes, models, billing, health and metrics that are wanted. `check` gives the account of a bearer token,
    or None; without it everybody may ask. `probe` reads source videos (`ratecard.probe.probe`); without it nothing is
    fetched. Raises `TableError` for tables that are not sound and `ValueError` for an unknown part.

    >>> [route.path for route in router(parts=["models"]).routes]
    ['/api/v1/models']
    """
    for part in parts:
        if part not in _PARTS:
            raise ValueError(f"parts: no part {part!r}.{did_you_mean(part, PARTS)} Parts: {', '.join(PARTS)}")
    if base_path and (not base_path.startswith("/") or base_path.endswith("/")):
        raise ValueError(f"base_path={base_path!r} must begin with / and not end with one, like {BASE_PATH}")
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    service = Service(live, check, probe, most_body_bytes)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        live.start()
        yield
        live.stop()

    routes = APIRouter(
        prefix=base_path, route_class=Route, lifespan=lifespan, redirect_slashes=False, default=not_found
    )
    for part in parts:
        _PARTS[part](routes, service)
    return routes


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """404 as an error object, where the router is mounted by itself."""
    if scope["type"] == "http":
        await error_object(404, f"Not found: {echo(scope['path'])}")(scope, receive, send)
    else:
        await WebSocketClose()(scope, receive, send)
