"""The lines of the log, as text or as JSON: with time, level, process and request id."""

import json
import logging
from asyncio import CancelledError
from datetime import UTC, datetime
from typing import Any

from ratecard.server.monitoring import REQUEST_ID


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
