"""`GET /billing/usage`: sunset. It says so to everybody."""

import json

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.server.describe import usage_description
from ratecard.server.refusal import JSON, Refusal
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.service import Service

_ENDPOINT = "GET /billing/usage"
# As the table of limits writes the link to the successor; a host may have mounted the API elsewhere.
_DEFAULT_BASE = "</api/v1/"


def billing_routes(routes: APIRouter, service: Service) -> None:
    """The endpoint that returns no usage data any more."""

    @routes.get("/billing/usage", deprecated=True, tags=["Billing"], **usage_description())
    async def usage(request: Request) -> Response:
        sunset = service.live.now().book.sunset(_ENDPOINT)
        if sunset is None:  # a server that is asked for a day before, or whose own limits have none
            raise Refusal(404, f"Not found: {_ENDPOINT}")
        base = request.scope["path"].removesuffix("/billing/usage")
        headers = {**sunset.headers, "x-service-version": SERVICE_VERSION}
        headers["Link"] = headers["Link"].replace(_DEFAULT_BASE, f"<{base}/", 1)
        return Response(json.dumps(sunset.body, ensure_ascii=False), sunset.status, headers, JSON)
