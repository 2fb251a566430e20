"""Whatever a request is refused for, as the API's error object."""

import json
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ratecard.server.revision import SERVICE_VERSION

JSON = "application/json"


class Refusal(HTTPException):
    """A status and the sentence of the error object; an HTTP exception for routes that are not ours."""

    def answer(self) -> Response:
        """The error object."""
        return error_object(self.status_code, self.detail, self.headers)


def error_object(status: int, error: str, headers: Mapping[str, str] | None = None) -> Response:
    """`{"error": ...}` with a status.

    >>> error_object(404, "Not found: /x").body
    b'{"error":"Not found: /x"}'
    """
    body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, {**(headers or {}), "x-service-version": SERVICE_VERSION}, JSON)
