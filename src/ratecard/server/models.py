"""`GET /models`: every model that has a price now."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.server.answer import encoded_answer
from ratecard.server.describe import models_description
from ratecard.server.encoding import best_encoding
from ratecard.server.service import Service


def model_routes(routes: APIRouter, service: Service) -> None:
    """The list of models."""

    @routes.get(
        "/models", dependencies=service.guards, tags=["Models"], **models_description(service.check is not None)
    )
    async def models(request: Request) -> Response:
        served = service.live.now()
        encoding = best_encoding(request.headers.get("accept-encoding", ""))
        return encoded_answer(served.models(encoding), encoding, served.headers)
