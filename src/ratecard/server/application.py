"""The whole service as one application, as `ratecard serve` runs it."""

from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.account.limits import BASE_PATH
from ratecard.server.exposition import metrics_routes
from ratecard.server.health import health_routes
from ratecard.server.live import LiveRateCard, Tables
from ratecard.server.refusal import error_object
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.route import Route
from ratecard.server.router import router
from ratecard.server.service import Service
from ratecard.words.wording import echo


def application(tables: LiveRateCard | Tables = None, *, base_path: str = BASE_PATH, **options: Any) -> FastAPI:
    """A FastAPI application with every endpoint; the options are those of `router`.

    Health and metrics are answered without the base path too, where load balancers and Prometheus look for them.
    Every error is an error object.
    """
    live = tables if isinstance(tables, LiveRateCard) else LiveRateCard(tables)
    app = FastAPI(title="ratecard", version=SERVICE_VERSION, redirect_slashes=False, redoc_url=None)
    app.include_router(router(live, base_path=base_path, **options))
    if base_path:
        at_root = APIRouter(route_class=Route, include_in_schema=False)
        health_routes(at_root, Service(live))
        metrics_routes(at_root, Service(live))
        app.include_router(at_root)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failure)
    return app


def _http_error(request: Request, error: Exception) -> Response:
    """What the framework refuses: a path that is not there."""
    if not isinstance(error, HTTPException):
        raise error
    words = f"Not found: {echo(request.url.path)}" if error.status_code == 404 else error.detail
    return error_object(error.status_code, words, error.headers)


def _failure(request: Request, error: Exception) -> Response:
    """A fault of ours; its reason stands in the log and not in the answer."""
    return error_object(500, "Internal server error")
