"""Content-Encoding, when asked: gzip or br."""

import zlib
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

import brotli  # type: ignore[import-untyped]

# Above this a body is worth more than the least effort, and the memory that it takes.
_SMALL = 1_000
# Bits of the window of zlib: 16 asks for the header of gzip.
_GZIP, _LEAST_WINDOW = 16, 9


def _gzip(body: bytes) -> bytes:
    effort = (6, zlib.DEFLATED, _GZIP + 15, 8) if len(body) > _SMALL else (1, zlib.DEFLATED, _GZIP + _LEAST_WINDOW, 1)
    packer = zlib.compressobj(*effort)
    return packer.compress(body) + packer.flush()


def _brotli(body: bytes) -> bytes:
    packed: bytes = brotli.compress(body, quality=5 if len(body) > _SMALL else 1)
    return packed


_ENCODINGS: dict[str, Callable[[bytes], bytes]] = {"gzip": _gzip, "br": _brotli}


def best_encoding(asked: str) -> str:
    """The encoding that `Accept-Encoding` likes best; nothing where it likes neither of ours.

    >>> best_encoding("deflate, br;q=0.5"), best_encoding("gzip;q=0, identity")
    ('br', '')
    """
    likings = {name: _liking(asked, name) for name in _ENCODINGS}
    best = max(likings, key=lambda name: likings[name])
    return best if likings[best] > 0 else ""


def encode_as(body: bytes, encoding: str) -> bytes:
    """A body in an encoding, or as it is for none."""
    return _ENCODINGS[encoding](body) if encoding else body


def encode(body: bytes, asked: str) -> tuple[bytes, str]:
    """A body in the encoding that `Accept-Encoding` likes best, and its name; as it is, and no name, for neither."""
    encoding = best_encoding(asked)
    return encode_as(body, encoding), encoding


def _liking(asked: str, encoding: str) -> Decimal:
    """The weight of an encoding; `*` stands for those that are not named."""
    weights = {}
    for part in asked.lower().split(","):
        name, _, weight = part.partition(";")
        weights[name.strip()] = weight.strip().removeprefix("q=") or "1"
    try:
        liking = Decimal(weights.get(encoding, weights.get("*", "0")))
    except InvalidOperation:
        return Decimal(0)
    return liking if liking.is_finite() else Decimal(0)
