"""The usage history over HTTP: a router that a FastAPI application includes. Needs `ratecard[server]`."""

from ratecard.server.usage_history import usage_history_router

__all__ = ["usage_history_router"]
