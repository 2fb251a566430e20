"""The application that the load is put on: the quotes, and beside them endpoints that return a constant."""

import time
from datetime import UTC, datetime

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ratecard.server import LiveRateCard, application

# The day of the given quotes; the clock runs from its morning on.
DAY = int(datetime(2026, 9, 29, tzinfo=UTC).timestamp()) * 10**9
CONSTANT = b'{"quote":0.82}'


def loaded() -> FastAPI:
    """`/constant` as an endpoint of FastAPI is written; `/bare` on the least that Starlette takes for a route."""
    behind = time.time_ns() - DAY
    app = application(LiveRateCard(clock=lambda: time.time_ns() - behind))

    @app.post("/constant")
    async def constant(request: Request) -> Response:
        return Response(CONSTANT, media_type="application/json")

    async def bare(request: Request) -> Response:
        return Response(CONSTANT, media_type="application/json")

    app.router.routes.append(Route("/bare", bare, methods=["POST"]))
    return app
