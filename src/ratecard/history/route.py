"""A route whose errors are error objects, in an application of any host."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.server.refusal import error_object


class Route(APIRoute):
    """What the host's hook raises is answered as `{"error": ...}`, not as the framework would."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, which asks the hook too."""
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except HTTPException as error:
                return error_object(error.status_code, error.detail, error.headers)

        return answered
