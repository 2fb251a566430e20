"""The cursor: where a walk stands, signed, so that nobody can make one, change one, or use that of another account."""

import hashlib
import hmac

from itsdangerous import BadData, URLSafeSerializer

from ratecard.history.refusal import RefusedError
from ratecard.ledger.walk import Walk

_INVALID = "Invalid cursor. Send the nextCursor of the answer before, as it is"
_LEAST_BYTES = 16


class Cursors:
    """Writes walks as cursors and reads them again. The secret is the same in every process that answers."""

    def __init__(self, secret: str | bytes) -> None:
        if len(secret) < _LEAST_BYTES:
            raise ValueError(f"the secret of the cursors has {len(secret)} signs; it needs {_LEAST_BYTES} or more")
        self._secret = secret

    def write(self, account: str, walk: Walk) -> str:
        """A cursor for this account."""
        return self._serializer(account).dumps(walk)

    def read(self, account: str, cursor: str) -> Walk:
        """The walk of a cursor. Raises `RefusedError` for anything but a cursor of this account."""
        serializer = self._serializer(account)
        payload = cursor.rpartition(".")[0].encode(errors="replace")
        # Compared as a whole: base64 has several spellings of one signature, and only ours is a cursor.
        expected = serializer.make_signer(serializer.salt).sign(payload)
        if not hmac.compare_digest(expected, cursor.encode(errors="replace")):
            raise RefusedError([(("cursor",), _INVALID)])
        try:
            return Walk(*serializer.load_payload(payload))
        except (BadData, TypeError):  # signed with this secret, by a version that walked otherwise
            raise RefusedError([(("cursor",), _INVALID)]) from None

    def _serializer(self, account: str) -> URLSafeSerializer:
        # The account is part of the salt: it is in no cursor, and the cursor of another account has a wrong signature.
        salt = f"ratecard usage history\0{account}".encode()
        return URLSafeSerializer(self._secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256})
