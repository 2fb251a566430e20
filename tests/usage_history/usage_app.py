"""An application that includes the usage history, and a client that names its account in a header."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.testclient import TestClient

from ratecard.history import usage_history_router
from ratecard.ledger.store import Ledger

SECRET = "sixteen characters or more"  # noqa: S105


def account_of(request: Request) -> str | None:
    """The account that a header names."""
    return request.headers.get("x-account") or None


def app_of(ledger: Ledger, secret: str | bytes = SECRET) -> FastAPI:
    app = FastAPI()
    app.include_router(usage_history_router(ledger, account_of, secret=secret), prefix="/api/v1")
    return app


def client_of(ledger: Ledger, secret: str | bytes = SECRET) -> TestClient:
    return TestClient(app_of(ledger, secret), base_url="http://test/api/v1", headers={"x-account": "a"})
