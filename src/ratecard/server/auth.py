"""Bearer tokens: a dependency that asks the host's check for the account; keys from the environment or a file."""

import logging
import re
from collections.abc import Callable
from hashlib import sha256
from inspect import isawaitable
from pathlib import Path
from time import monotonic_ns
from typing import Annotated, Any

from fastapi import Depends
from fastapi.openapi.models import HTTPBearer as BearerScheme
from fastapi.security.base import SecurityBase
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ratecard.server.monitoring import KEYS_REFUSED, KEYS_TAKEN
from ratecard.server.route import ACCOUNT, SEEKS_ACCOUNT, keys_unavailable

_logger = logging.getLogger(__name__)

# Returns the account of a token, or None to refuse it; may be a coroutine function.
Check = Callable[[str], Any]


def account_of(request: Request) -> str | None:
    """Return the account of a request whose key was checked; None without a key.

    Raises `HTTPException` with status 503 for an account that is not text, like a number: contracts name accounts by
    text, so such an account would get the prices of the list in spite of its contract.
    """
    account = request.scope.get(ACCOUNT)
    return None if account is None else _text(account)


def _text(account: object) -> str:
    if isinstance(account, str):
        return account
    words = "the check of keys returned an account that is not text, but %s: no contract or charge is found by it"
    _logger.error(words, type(account))
    raise keys_unavailable()


def account_needed(account_of: Callable[..., Any]) -> Any:
    """Wrap a dependency of the host that returns an account: 401 if it is None, 503 if it gives no text.

    While FastAPI calls it, `SEEKS_ACCOUNT` is in the scope of the request: if it fails, the route answers 503.
    """

    async def seeks(request: Request) -> None:
        request.scope[SEEKS_ACCOUNT] = True

    async def account(
        request: Request, _: Annotated[None, Depends(seeks)], found: Annotated[Any, Depends(account_of)]
    ) -> str:
        del request.scope[SEEKS_ACCOUNT]
        if found is None:
            raise _unauthorized("Authentication failed")
        name = request.scope[ACCOUNT] = _text(found)  # so that no cache gives the answer to another account
        return name

    return Depends(account)


class Bearer(SecurityBase):
    """A FastAPI dependency that returns the account of a request: `Security(Bearer(check))`.

    Raises `HTTPException` with status 401 for a missing token or one that `check` refuses; 503 if `check` fails.
    """

    def __init__(self, check: Check) -> None:
        self.check = check
        self.model = BearerScheme()
        self.scheme_name = "bearer"

    async def __call__(self, request: Request) -> Any:
        """Return the account of the request's token."""
        # Two different keys name two accounts, and a proxy before this server may have checked the other one.
        stated = {*request.headers.getlist("authorization")}
        scheme, _, token = stated.pop().partition(" ") if len(stated) == 1 else ("", "", "")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise _unauthorized("Authentication required. Send the header Authorization: Bearer <API_KEY>, once")
        try:
            account = self.check(token)
            if isawaitable(account):
                account = await account
        except HTTPException:
            raise
        except Exception:
            _logger.exception("the check of keys failed")
            raise keys_unavailable() from None
        if account is None:
            raise _unauthorized("Authentication failed: the API key is not known")
        request.scope[ACCOUNT] = account
        return account


def _unauthorized(error: str) -> HTTPException:
    return HTTPException(401, error, headers={"WWW-Authenticate": "Bearer"})


KEYS = "RATECARD_API_KEYS"
# The account of a key without an account name, and of every request to a server without keys.
DEFAULT_ACCOUNT = "default"


class ApiKeys:
    """Keys as in `RATECARD_API_KEYS`: `KEY` or `ACCOUNT:KEY`, separated by commas or white space.

    Raises `ValueError` if there is no key, for an account without a key or a key after a `:` without an account, for a
    `#`, for a key that is not visible ASCII, and for one that is listed twice; no message contains a part of a key.

    >>> ApiKeys("acme:3f9a77c2d1, 88b1c0ffee").account("3f9a77c2d1")
    'acme'
    """

    def __init__(self, given: str, source: str = KEYS) -> None:
        self._accounts: dict[bytes, str] = {}
        for number, entry in enumerate(re.findall(r"[^\s,]+", given), 1):
            name, colon, key = entry.rpartition(":")
            if not key or (colon and not name):
                missing = "a key and no account" if key else "an account and no key"
                raise ValueError(f"{source}: entry {number} names {missing}. Write ACCOUNT:KEY, without a space")
            if entry.startswith("#"):  # else each word of the comment would be a key
                raise ValueError(f"{source}: entry {number} begins a comment. Write comments on lines of their own")
            if not (key.isascii() and key.isprintable()):
                raise ValueError(f"{source}: key {number} is not of visible ASCII, so no request could send it")
            if _digest(key) in self._accounts:
                raise ValueError(f"{source}: key {number} is listed twice")
            self._accounts[_digest(key)] = name or DEFAULT_ACCOUNT
        if not self._accounts:
            raise ValueError(f"{source} holds no key. Write KEY or ACCOUNT:KEY, separated by commas")

    def account(self, token: str) -> str | None:
        """Return the account of a key; None for another token. Digests are looked up, so that timing reveals no key."""
        return self._accounts.get(_digest(token))


# Seconds between two checks whether a file of keys has changed.
_LOOK_EVERY = 1


class KeyFile:
    """Keys in a file, as in `RATECARD_API_KEYS`, one or more a line; a line that begins with `#` is a comment.

    The file is read again when it has changed, at most a second later. A changed file that cannot be read or has no
    sound keys is refused: the previous keys stay, and the log says why. Raises `ValueError` at the first reading.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._looked = path, monotonic_ns()
        self._seen, self._keys = self._state(), self._read()

    def account(self, token: str) -> str | None:
        """Return the account of a key; None for any other token."""
        now = monotonic_ns()
        if now - self._looked >= _LOOK_EVERY * 10**9:
            self._looked = now
            self._look()
        return self._keys.account(token)

    def _look(self) -> None:
        state = self._state()
        if state == self._seen:
            return
        self._seen = state
        try:
            self._keys = self._read()
        except ValueError as error:
            KEYS_REFUSED.inc()
            _logger.error("%s; the keys before stay", error)
            return
        KEYS_TAKEN.inc()
        _logger.info("keys of %s are read again", self.path)

    def _state(self) -> tuple[int, ...]:
        """Return values that change with the file, also if a link then names another file; empty without a file."""
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self) -> ApiKeys:
        try:
            lines = self.path.read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            raise ValueError(f"{self.path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:  # its message would show a part of a key
            raise ValueError(f"{self.path} is not UTF-8") from None
        return ApiKeys("\n".join(line for line in lines if not line.lstrip().startswith("#")), str(self.path))


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
