"""Quotes over HTTP: a router that a host includes, or a whole application. Needs `ratecard[server]`.

>>> from fastapi import FastAPI
>>> app = FastAPI()
>>> app.include_router(router(parts=["quotes"]))
"""

try:
    import brotli  # type: ignore[import-untyped]  # noqa: F401
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import watchfiles  # noqa: F401
except ImportError as missing:
    raise ImportError(f"The server needs {missing.name}: pip install 'ratecard[server]'", name=missing.name) from None

from ratecard.accounts.limits import BASE_PATH
from ratecard.server.app import PARTS, application, router
from ratecard.server.auth import Bearer, Check
from ratecard.server.endpoints import Probe
from ratecard.server.last_sound import StateError
from ratecard.server.tables import LiveRateCard

__all__ = ["BASE_PATH", "PARTS", "Bearer", "Check", "LiveRateCard", "Probe", "StateError", "application", "router"]
