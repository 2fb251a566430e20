"""The bearer hook: the host says whose token a request carries."""

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

from fastapi.openapi.models import HTTPBearer as BearerScheme
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from ratecard.server.refusal import Refusal

# The account of a token, or None where the token is refused; may be a coroutine function.
Check = Callable[[str], Any]


class Bearer(SecurityBase):
    """A dependency that answers the account of a request: `Security(Bearer(check))`.

    Refuses with 401 and `{"error": ...}` a request without a token, and one whose token the host's check refuses.
    """

    def __init__(self, check: Check) -> None:
        self.check = check
        self.model = BearerScheme(bearerFormat="JWT")
        self.scheme_name = "bearer"

    async def __call__(self, request: Request) -> Any:
        """The account that the host's check knows the token by."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise _unauthorized("Authentication required. Send the header Authorization: Bearer <API_KEY>")
        account = self.check(token)
        if isawaitable(account):
            account = await account
        if account is None:
            raise _unauthorized("Authentication failed: the API key is not known")
        return account


def _unauthorized(error: str) -> Refusal:
    return Refusal(401, error, headers={"WWW-Authenticate": "Bearer"})
