"""`GET /billing/usage`: an endpoint that ends. It says so to everybody."""

import json

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.account.limits import BASE_PATH
from ratecard.server.describe import usage_description
from ratecard.server.refusal import JSON, Refusal
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.service import Service

_PATH = "/billing/usage"


def billing_routes(routes: APIRouter, service: Service) -> None:
    """The endpoint that has no usage data: 404 until its last day, 410 from then on."""

    @routes.head(_PATH, include_in_schema=False)
    @routes.get(_PATH, deprecated=True, tags=["Billing"], **usage_description())
    async def usage(request: Request) -> Response:
        sunset = service.live.now().book.sunset(f"GET {_PATH}")
        if sunset is None:  # the host's own table of limits does not have it
            raise Refusal(404, f"Not found: GET {_PATH}")
        base = request.scope["path"].removesuffix(_PATH)
        headers = {**sunset.headers, "x-service-version": SERVICE_VERSION}
        # A host may have mounted the API elsewhere.
        headers["Link"] = headers["Link"].replace(f"<{BASE_PATH}/", f"<{base}/", 1)
        return Response(json.dumps(sunset.body, ensure_ascii=False), sunset.status, headers, JSON)
