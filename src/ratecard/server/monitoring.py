"""What an operator sees: the id of every request, the log with a line for each, as text or JSON, and the counters."""

import json
import logging
import re
from asyncio import CancelledError
from contextvars import ContextVar
from datetime import UTC, datetime
from secrets import token_hex
from time import perf_counter_ns
from typing import Any

from prometheus_client import Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_logger = logging.getLogger("ratecard.access")

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
HEADER = b"x-request-id"
# The ids of other systems match this; characters that could end a line of a log or a header do not.
_TAKEN = re.compile(rb"[A-Za-z0-9._~:/+=@-]{1,128}")
_BYTES = 8


class RequestLog:
    """A middleware that answers with the request's `X-Request-Id` or a new one; logs the request if the log is on.

    An id is 1 to 128 letters, digits and `._~:/+=@-`. Any other id is replaced, and no part of it is logged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent_id = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = sent_id if _TAKEN.fullmatch(sent_id) else token_hex(_BYTES).encode()
        REQUEST_ID.set(request_id.decode())
        started, status = perf_counter_ns(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id)]
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            if _logger.isEnabledFor(logging.INFO):
                _log(scope, status, perf_counter_ns() - started)


def _log(scope: Scope, status: int, nanoseconds: int) -> None:
    # The path is logged as it was sent, without line ends; the query is left out, because it may have a cursor.
    path = scope.get("raw_path", b"").decode("latin-1").partition("?")[0]
    client = (scope.get("client") or ("-",))[0]
    seconds = f"{nanoseconds / 10**9:.6f}"
    fields = {"method": scope["method"], "path": path, "status": status, "seconds": seconds, "client": client}
    _logger.info("%s %s %d %s s %s", *fields.values(), extra={"fields": fields})


# In the default registry of prometheus_client: a host that exposes the registry exposes them too.
REQUEST_SECONDS = Histogram(
    "ratecard_request_seconds",
    "Requests by endpoint and status, and the seconds that they took.",
    ("endpoint", "status"),
    buckets=("0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.01", "0.05", "0.25", "1", "5"),
)
TABLES_TAKEN = Counter("ratecard_tables_taken_total", "Changed folders of tables that were taken into service.")
TABLES_REFUSED = Counter("ratecard_tables_refused_total", "Changed folders of tables that were refused.")
TABLES_INFO = Gauge(
    "ratecard_tables_info",
    "The tables by digest: 1 for those that are served, 0 for those that were served before.",
    ("digest",),
    multiprocess_mode="livemax",
)
TABLES_STAND_REFUSED = Gauge(
    "ratecard_tables_stand_refused",
    "Whether the folder has changed tables that are refused while others are served: 1, or 0.",
    multiprocess_mode="livemax",
)
KEYS_TAKEN = Counter("ratecard_keys_taken_total", "Changed files of keys that were taken into service.")
KEYS_REFUSED = Counter("ratecard_keys_refused_total", "Changed files of keys that were refused.")
REFUSED_REQUESTS = Counter(
    "ratecard_refused_requests_total",
    "Requests that were refused before any endpoint saw them, by reason.",
    ("reason",),
)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextLines(logging.Formatter):
    """A formatter of text lines; the id of the request is `-` if there is no request.

    Like `2026-11-22T08:00:00.000Z INFO 17 5f0c... tables ... take the place of ...`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one event, and the lines of its traceback."""
        head = f"{_time(record)} {record.levelname} {record.process} {REQUEST_ID.get() or '-'} "
        return head + super().format(record)


class JsonLines(logging.Formatter):
    """A formatter of one JSON object a line: `time`, `level`, `worker`, `request_id`, `logger` and `message`.

    A traceback is in `exception`. Requests have `method`, `path`, `status`, `seconds` and `client` too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one event."""
        event: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "worker": record.process,
            "request_id": REQUEST_ID.get() or None,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False, default=str)


class Unanswered(logging.Filter):
    """A filter that writes a line, and no traceback, for each request that had no answer when the server ended.

    A client that keeps its requests open would otherwise fill the log at each end of a server.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, because every record is written; replace the message of an unanswered request."""
        if record.exc_info and isinstance(record.exc_info[1], CancelledError):
            record.exc_info, record.msg, record.args = None, "The request was not answered before the server ended", ()
        return True


def log_config(style: str, access: bool) -> dict[str, Any]:
    """Return the `logging` configuration of a server process: text or json, with or without a line a request."""
    lines = {"text": TextLines, "json": JsonLines}[style]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"default": {"()": f"{__name__}.{lines.__name__}"}},
        "filters": {"unanswered": {"()": f"{__name__}.{Unanswered.__name__}"}},
        "handlers": {
            "default": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "default",
                "filters": ["unanswered"],
            }
        },
        "root": {"handlers": ["default"], "level": "WARNING"},
        "loggers": {
            "uvicorn": {"level": "INFO"},
            "ratecard": {"level": "INFO"},
            "ratecard.access": {"level": "INFO" if access else "WARNING"},
            # This logger writes a traceback for every broken connection; the ledger logs an outage in one line.
            "sqlalchemy.pool": {"level": "CRITICAL"},
        },
    }
