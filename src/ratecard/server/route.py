"""A route that is the same wherever it is mounted: errors are error objects, and nothing stands before the endpoint."""

from collections.abc import Awaitable, Callable, Coroutine
from time import perf_counter
from typing import Any

from fastapi.routing import APIRoute, iter_route_contexts
from prometheus_client import Histogram
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ratecard.server.http import HttpRefusal
from ratecard.server.metrics import REQUEST_SECONDS

_Endpoint = Callable[[Request], Awaitable[Response]]


class Route(APIRoute):
    """An endpoint `async def endpoint(request: Request) -> Response`, called directly.

    FastAPI's own handling, a third of the time of a quote, is for arguments that these endpoints do not have. It is
    used where the host includes the router with dependencies of its own: those are never skipped.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guarded: tuple[object, bool] = (None, False)
        self._counted: dict[int, Histogram] = {}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, with our refusals as error objects."""
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            return await _answered(handler, request)

        return answered

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose path is ours, and count it."""
        started, status, methods = perf_counter(), 500, self.methods or set()
        try:
            if scope["method"] not in methods:
                allowed = ", ".join(sorted(methods))
                response = HttpRefusal(405, f"Method not allowed. Use {allowed}", {"Allow": allowed}).answer()
            elif self._host_guards(scope.get("app")):
                sent = _Sent(send)
                await super().handle(scope, receive, sent)
                status = sent.status
                return
            else:
                response = await _answered(self._own, Request(scope, receive))
            status = response.status_code
            await response(scope, receive, send)
        finally:
            self._seconds(status).observe(perf_counter() - started)

    def _seconds(self, status: int) -> Histogram:
        if status not in self._counted:
            self._counted[status] = REQUEST_SECONDS.labels(self.name, status)
        return self._counted[status]

    async def _own(self, request: Request) -> Response:
        for each in self.dependencies:
            if each.dependency is not None:
                await each.dependency(request)
        response: Response = await self.endpoint(request)
        return response

    def _host_guards(self, app: Any) -> bool:
        """Whether the host includes this route with dependencies; worked out once for an application."""
        known, guarded = self._guarded
        if known is not app:
            contexts = iter_route_contexts(getattr(app, "routes", ()))
            ours = (context for context in contexts if context.original_route is self)
            guarded = any(len(context.dependencies) > len(self.dependencies) for context in ours)
            self._guarded = (app, guarded)
        return guarded


class _Sent:
    """Sends messages on, and keeps the status of the response."""

    def __init__(self, send: Send) -> None:
        self._send, self.status = send, 500

    async def __call__(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        await self._send(message)


async def _answered(endpoint: _Endpoint, request: Request) -> Response:
    try:
        return await endpoint(request)
    except HttpRefusal as refusal:
        return refusal.answer()
    except ClientDisconnect:  # nobody is there to read the answer
        return HttpRefusal(400, "The body ended early").answer()
