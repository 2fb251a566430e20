"""Bearer keys: who may ask.

The bearer hook: the host says whose token a request carries.

API keys from the environment: the check of a server that runs alone.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from inspect import isawaitable
from typing import Any

from fastapi.openapi.models import HTTPBearer as BearerScheme
from fastapi.security.base import SecurityBase
from starlette.exceptions import HTTPException
from starlette.requests import Request

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


def _unauthorized(error: str) -> HTTPException:
    return HTTPException(401, error, headers={"WWW-Authenticate": "Bearer"})


KEYS = "RATECARD_API_KEYS"
# Whose ledger is shown where a key names no account, or where nobody is asked for a key.
DEFAULT_ACCOUNT = "default"


class ApiKeys:
    """Keys as `RATECARD_API_KEYS` has them: `KEY` or `ACCOUNT:KEY`, separated by commas or white space.

    Raises `ValueError` for what holds no key, an account without one, and a key that stands there twice; the message
    has no part of a key.

    >>> ApiKeys("acme:3f9a77c2d1, 88b1c0ffee").account("3f9a77c2d1")
    'acme'
    """

    def __init__(self, given: str) -> None:
        self._accounts: dict[bytes, str] = {}
        for number, entry in enumerate(re.findall(r"[^\s,]+", given), 1):
            name, _, key = entry.rpartition(":")
            if not key:
                raise ValueError(f"{KEYS}: entry {number} names an account and no key. Write ACCOUNT:KEY")
            if _digest(key) in self._accounts:
                raise ValueError(f"{KEYS}: key {number} stands there twice")
            self._accounts[_digest(key)] = name or DEFAULT_ACCOUNT
        if not self._accounts:
            raise ValueError(f"{KEYS} holds no key. Write KEY or ACCOUNT:KEY, separated by commas")

    def account(self, token: str) -> str | None:
        """The account of a key; None for any other token. Takes the same time however much of a key is right."""
        return self._accounts.get(_digest(token))


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
