"""The route class of every endpoint: errors are error objects, and each request is counted."""

import logging
import re
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import cache
from inspect import signature
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Body
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from ratecard.accounts.limits import BASE_PATH
from ratecard.base.errors import TableError
from ratecard.base.messages import echo
from ratecard.server.http import answer_encoded, error_object
from ratecard.server.monitoring import REQUEST_SECONDS
from ratecard.server.revision import SERVICE_VERSION

_logger = logging.getLogger(__name__)

# The default of a body that is only described: its endpoint reads the request itself.
UNREAD: Any = Body(None)
# The key of the account in the scope of a request, and that which is there while a function of the host looks for it;
# and headers that forbid caches to share an answer among accounts.
ACCOUNT, SEEKS_ACCOUNT = "ratecard.account", "ratecard.seeks_account"
_PRIVATE = [(b"cache-control", b"private"), (b"vary", b"Authorization")]
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


class Route(APIRoute):
    """An endpoint that answers the same wherever it is mounted.

    `HTTPException`, from the endpoint or from a dependency of the host, is answered as an error object. An endpoint
    whose only parameter is the request (besides a body that is only described) is called directly, because FastAPI's
    handling of arguments would be half of the time of a quote. If the host includes the router with dependencies, they
    are never skipped. `HEAD` is answered wherever `GET` is, and `OPTIONS` with the allowed methods.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        parameters = signature(endpoint).parameters.values()
        names = [parameter.name for parameter in parameters if parameter.default is not UNREAD]
        self._direct, self._unread = names == ["request"], len(names) < len(parameters)
        self._guarded: tuple[object, bool] = (None, False)
        self._seconds = cache(lambda status: REQUEST_SECONDS.labels(self.name, status))
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the endpoint, or FastAPI's handler if it takes arguments or the host adds dependencies."""
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            started, status = perf_counter(), 500
            try:
                if self._direct and not self._host_guards(request.scope.get("app")):
                    response = await self._own(request)
                else:
                    response = await self._handled(request, handler)
                status = response.status_code
            except HTTPException as error:
                status = error.status_code
                response = error_object(status, error.detail, error.headers)
            except TableError as error:  # an example of a contract is wrong; the answer shows nothing of it
                for fault in error.faults:
                    _logger.error("no price is answered until the tables are mended: %s", fault)
                status = 503
                response = error_object(status, "Prices are not available now. Try again later", {"Retry-After": "60"})
            except ClientDisconnect:  # the client is gone and reads no answer
                status = 400
                response = error_object(status, "The body ended early")
            finally:
                self._seconds(status).observe(perf_counter() - started)
            if ACCOUNT in request.scope:
                response.raw_headers += _PRIVATE
            return response

        return answered

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer HEAD as GET, OPTIONS with the allowed methods, and other methods with 405."""
        methods, method = self.methods or set(), scope["method"]
        if method == "HEAD" and "GET" in methods:  # servers send no body after it
            method, scope = "GET", {**scope, "method": "GET"}
        if method in methods:
            await answer_encoded(super().handle, scope, receive, send)
            return
        started = perf_counter()
        allowed = sorted({*methods, *({"HEAD"} if "GET" in methods else ())})
        if method == "OPTIONS":
            headers = {"Allow": ", ".join([*allowed, "OPTIONS"]), "x-service-version": SERVICE_VERSION}
            response = Response(status_code=204, headers=headers)
        else:
            words = f"Method not allowed. Use {', '.join(sorted(methods))}"
            response = error_object(405, words, {"Allow": ", ".join(allowed)})
        self._seconds(response.status_code).observe(perf_counter() - started)
        await response(scope, receive, send)

    async def _handled(self, request: Request, handler: Callable[[Request], Coroutine[Any, Any, Response]]) -> Response:
        try:
            return await handler(_Unread(request.scope, request.receive) if self._unread else request)
        except (HTTPException, RequestValidationError):
            raise
        except Exception:
            if SEEKS_ACCOUNT not in request.scope:
                raise
            # The prices of the list would be wrong for some accounts.
            _logger.exception("the check of accounts failed")
            raise keys_unavailable() from None

    async def _own(self, request: Request) -> Response:
        for guard in self.dependencies:
            if guard.dependency is not None:
                await guard.dependency(request)
        response: Response = await self.endpoint(request)
        return response

    def _host_guards(self, app: Any) -> bool:
        """Return True if the host includes this route with dependencies; computed once for an application."""
        known_app, guarded = self._guarded
        if known_app is not app:
            contexts = iter_route_contexts(getattr(app, "routes", ()))
            of_route = (context for context in contexts if context.original_route is self)
            guarded = any(len(context.dependencies) > len(self.dependencies) for context in of_route)
            self._guarded = (app, guarded)
        return guarded


def keys_unavailable() -> HTTPException:
    """Return the error of a check of the host that fails."""
    return HTTPException(503, "Keys cannot be checked now. Try again later", {"Retry-After": "1"})


class _Unread(Request):
    """A request whose body FastAPI sees as empty: FastAPI would parse the body first, and lose digits."""

    _was_asked = False

    async def body(self) -> bytes:
        """Return no bytes to FastAPI, which asks first, and the body to a dependency of the host."""
        if self._was_asked:
            return await super().body()
        self._was_asked = True
        return b""


def operation_id(name: str, path: str) -> Callable[[Any], str]:
    """Return the id of an operation at a path: its name, after the words of a base path that is not the usual one.

    So two routers in one application have different ids.
    """

    def of(route: Any) -> str:
        base = route.path_format.removesuffix(path.replace(":path}", "}"))
        words = re.findall("[A-Za-z0-9]+", "" if base == BASE_PATH else base)
        operation = "".join(word.capitalize() for word in words) + name[0].upper() + name[1:]
        return operation[0].lower() + operation[1:]

    return of


def new_router(prefix: str = "", *, lifespan: Lifespan | None = None, include_in_schema: bool = True) -> APIRouter:
    """Return a router without endpoints, whose routes are of this class."""
    return APIRouter(
        prefix=prefix,
        route_class=Route,
        lifespan=lifespan,
        include_in_schema=include_in_schema,
        redirect_slashes=False,
        default=not_found,
    )


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 as an error object, for a router that is mounted alone."""
    if scope["type"] == "http":
        await error_object(404, f"Not found: {echo(scope['path'])}")(scope, receive, send)
    else:
        await WebSocketClose()(scope, receive, send)
