"""The body of a request, never longer than allowed, whatever its headers say of it."""

from collections.abc import Mapping

from starlette.requests import ClientDisconnect, Request

from ratecard.server.refusal import JSON, Refusal

Headers = Mapping[bytes, bytes]
_JSON = JSON.encode()
# A length with more digits than this is not worth reading.
_DIGITS = 18


async def read_json_body(request: Request, headers: Headers, most: int) -> bytes:
    """The bytes of a JSON body. Refuses another type with 415 and more than `most` bytes with 413, chunked or not."""
    kind = headers.get(b"content-type", _JSON)
    if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
        raise Refusal(415, f"The body must be JSON. Send the header Content-Type: {JSON}")
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and (len(length) > _DIGITS or int(length) > most):
        raise _too_long(most)
    receive, size = request.receive, 0
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_long(most)
        if not (message.get("more_body") or parts):
            return bytes(part)
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def _too_long(most: int) -> Refusal:
    # What is left of the body is not read: the connection ends with the answer.
    return Refusal(413, f"The body is too long: at most {most} bytes", {"Connection": "close"})
