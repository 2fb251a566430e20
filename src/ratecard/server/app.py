"""The endpoints as a router, and as a whole application."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ratecard.accounts.limits import BASE_PATH
from ratecard.base.messages import echo
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.body import MOST_BODY_BYTES
from ratecard.server.auth import Check
from ratecard.server.endpoints import (
    Probe,
    Service,
    billing_routes,
    health_routes,
    metrics_routes,
    model_routes,
    quote_routes,
)
from ratecard.server.http import error_object
from ratecard.server.monitoring import REFUSED_REQUESTS, RequestLog
from ratecard.server.rates import rate_routes
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.route import Lifespan, new_router
from ratecard.server.tables import LiveRateCard, TableSource

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
    unready: Callable[[], str] = str,
) -> APIRouter:
    """Return the endpoints, for `app.include_router(...)` of FastAPI and `app.mount("/", ...)` of Starlette.

    `tables` is a rate card, or a folder that is followed while it is edited; None is the shipped folder. `base_path` is
    put before every path. `parts` are the endpoints to include: quotes, rates, models, billing, health, metrics.
    `check` returns the account of a bearer token, or None to refuse it; without it no key is needed. `probe` reads
    source videos (`ratecard.probe.probe`); without it nothing is fetched. A longer body than `most_body_bytes` is
    refused. `unready` returns why `/readyz` should answer 503; empty for 200. Raises `TableError` for unsound
    tables, and `ValueError` for an unknown part or a wrong base path.

    >>> [route.path for route in router(parts=["models"]).routes]
    ['/api/v1/models', '/api/v1/models/{id:path}']
    """
    for part in parts:
        if part not in _PARTS:
            raise ValueError(f"parts: no part {part!r}.{did_you_mean(part, PARTS)} Parts: {', '.join(PARTS)}")
    if base_path and (not base_path.startswith("/") or base_path.endswith("/")):
        raise ValueError(f"base_path={base_path!r} must begin with / and not end with one, like {BASE_PATH}")
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    service = Service(live, check, probe, most_body_bytes, unready)
    routes = new_router(base_path, lifespan=while_running(live))
    for part in parts:
        _PARTS[part](routes, service)
    return routes


def while_running(part: Any) -> Lifespan:
    """Return a lifespan that starts a part with the application, such as the watch of a folder, and stops it too."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        part.start()
        yield
        part.stop()

    return lifespan


class _Application(FastAPI):
    """An application in which every answer has the id of its request, even after an unexpected exception."""

    def build_middleware_stack(self) -> ASGIApp:
        return RequestLog(super().build_middleware_stack())


# The headers of an answer that pages of another origin may read.
_EXPOSED = (
    *("Deprecation", "Link", "Retry-After", "Sunset", "X-Request-Id", "X-Service-Version", "X-Ratecard-Digest"),
    *("X-Service-Model-Deprecation-Date", "X-Service-Model-Deprecation-Warning", "X-Next-Cursor"),
    *("X-Service-Model-Price-Change-Date", "X-Service-Model-Price-Change-Warning", "X-Service-Ignored-Fields"),
    *("X-Pagination-Limit", "X-Pagination-Page", "X-Pagination-Total", "X-Pagination-Total-Pages"),
)


def application(
    tables: LiveRateCard | TableSource = None,
    *,
    base_path: str = BASE_PATH,
    cors_origins: Sequence[str] = (),
    **options: Any,
) -> FastAPI:
    """Return a FastAPI application with every endpoint; tables, base path and further options are those of `router`.

    Health and metrics are answered without the base path too, where load balancers and Prometheus look for them.
    Every error is an error object, and every answer has the `X-Request-Id` of its request, or a new one. Pages of
    `cors_origins`, like `https://shop.example`, may send requests from a browser; `*` means every origin, and by
    default there are no origins.
    """
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    routes = router(live, base_path=base_path, **options).routes
    if base_path:
        at_root = new_router(include_in_schema=False)
        service = Service(live, options.get("check"), unready=options.get("unready", str))
        health_routes(at_root, service)
        metrics_routes(at_root, service)
        routes = [*routes, *at_root.routes]
    # As routes of the application itself, they are found twice as quickly as in a router that it includes.
    app = _Application(
        title="ratecard",
        servers=[{"url": "/"}],
        version=SERVICE_VERSION,
        routes=routes,
        lifespan=while_running(live),
        redirect_slashes=False,
        redoc_url=None,
    )
    app.add_exception_handler(HTTPException, _http_error)
    # The reason of an unexpected exception is in the log, and not in the answer.
    app.add_exception_handler(Exception, lambda *_: error_object(500, "Internal server error"))
    if cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=cors_origins,
            allow_methods=("GET", "HEAD", "POST"),
            allow_headers=("Authorization", "Content-Type", "X-Request-Id"),
            expose_headers=_EXPOSED,
        )
    return app


def _http_error(request: Request, error: Any) -> Response:
    """Answer an `HTTPException` of the framework, such as an unknown path, with an error object."""
    REFUSED_REQUESTS.labels("not found" if error.status_code == 404 else "method").inc()
    words = f"Not found: {echo(request.url.path)}" if error.status_code == 404 else error.detail
    return error_object(error.status_code, words, error.headers)
