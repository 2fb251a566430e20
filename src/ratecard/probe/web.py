"""Files on the web as file objects, which fetch blocks by range requests when they are needed.

Connections are to addresses of the public internet only: a host is looked up once, checked, and then connected to.
"""

import io
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any, NoReturn

import httpcore
import httpx

from ratecard.probe.probing import Limits, UnreadableError

# The special-purpose registries of IANA (RFC 6890), written out: `is_global` differs between versions of Python.
_NOT_PUBLIC_4 = (
    ip_network("0.0.0.0/8"),  # this network
    ip_network("10.0.0.0/8"),  # private
    ip_network("100.64.0.0/10"),  # carrier-grade NAT
    ip_network("127.0.0.0/8"),  # loopback
    ip_network("169.254.0.0/16"),  # link-local, and the metadata services of clouds
    ip_network("172.16.0.0/12"),  # private
    ip_network("192.0.0.0/24"),  # protocol assignments
    ip_network("192.0.2.0/24"),  # documentation
    ip_network("192.88.99.0/24"),  # relays of 6to4
    ip_network("192.168.0.0/16"),  # private
    ip_network("198.18.0.0/15"),  # benchmarks
    ip_network("198.51.100.0/24"),  # documentation
    ip_network("203.0.113.0/24"),  # documentation
    ip_network("224.0.0.0/3"),  # multicast, reserved, broadcast
)
# Global unicast is the only public part of IPv6. It excludes loopback, link-local, unique local, multicast, and
# addresses that contain one of IPv4 (mapped ::ffff:0:0/96, NAT64 64:ff9b::/96).
_PUBLIC_6 = ip_network("2000::/3")
_NOT_PUBLIC_6 = (
    ip_network("2001::/23"),  # protocol assignments; Teredo carries an address of IPv4
    ip_network("2001:db8::/32"),  # documentation
    ip_network("2002::/16"),  # 6to4 carries an address of IPv4
    ip_network("3fff::/20"),  # documentation
)


def is_public(address: str) -> bool:
    """Return True if an IP address is on the public internet. Raises `ValueError` for anything else.

    >>> is_public("8.8.8.8"), is_public("169.254.169.254"), is_public("::ffff:8.8.8.8")
    (True, False, False)
    """
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    return ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)


Resolver = Callable[[str, int], Sequence[str]]


def look_up(host: str, port: int) -> list[str]:
    """Return every address of a host from the system's resolver, which accepts `2130706433` and `localhost.` too."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class CheckedNetwork(httpcore.NetworkBackend):
    """The network of httpcore, with connections to public addresses only.

    httpcore opens every connection here, so a redirect is checked like the first request. It still verifies the host's
    name in TLS. A host is looked up only here, so that a later answer of a name server cannot lead elsewhere.
    """

    def __init__(self, resolve: Resolver, private_addresses: bool) -> None:
        self._resolve, self._private = resolve, private_addresses
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, *options: Any, **named: Any) -> httpcore.NetworkStream:
        """Return a connection to the first address that answers. Raises `UnreadableError` if any address is private."""
        try:
            addresses = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise UnreadableError("its host has no address")
        # An honest host never mixes private and public addresses, so it is refused. The message does not name the
        # address, because it must not reveal the addresses of this network.
        if not self._private and not all(map(is_public, addresses)):
            raise UnreadableError("its host is not on the public internet")
        for address in addresses[:-1]:
            try:
                return self._sockets.connect_tcp(address, port, *options, **named)
            except httpcore.ConnectError:
                continue
        return self._sockets.connect_tcp(addresses[-1], port, *options, **named)


_CONTENT_RANGE = re.compile(rb"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_REDIRECTS = {301, 302, 303, 307, 308}


class Web:
    """One file on the web, and how many of its bytes may still be read. Closed by `with`."""

    def __init__(self, url: str, limits: Limits, resolve: Resolver, tls: ssl.SSLContext | None = None) -> None:
        self._limits, self._left = limits, limits.max_bytes
        self._url = self._checked(url)
        self._tag: bytes | None = None
        # httpcore uses no proxy from the environment, and neither requests nor decodes compression.
        network = CheckedNetwork(resolve, limits.private_addresses)
        self._pool = httpcore.ConnectionPool(ssl_context=tls, network_backend=network, max_connections=1)

    def __enter__(self) -> "Web":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def open(self, count: int) -> tuple[bytes, int]:
        """Return the first bytes and the size of the file, after redirects; all bytes if the server has no ranges."""
        for _ in range(self._limits.redirects + 1):
            with self._get(0, count) as answer:
                if answer.status not in _REDIRECTS:
                    return self._first(answer, count)
                self._url = self._checked(self._target(answer))
        raise UnreadableError(f"it redirects more than {self._limits.redirects} times")

    def read(self, first: int, count: int, size: int) -> bytes:
        """Return `count` bytes from `first` on, of a file whose server supports ranges."""
        with self._get(first, count) as answer:
            if answer.status != 206 or _header(answer, b"etag") != self._tag:
                raise UnreadableError("it changed while it was read")
            return self._part(answer, first, count, size)

    def _checked(self, text: str) -> httpx.URL:
        try:
            url = httpx.URL(text)
        except (httpx.InvalidURL, ValueError):
            raise UnreadableError("its URL is not valid") from None
        allowed = " or ".join(f"{scheme}://" for scheme in self._limits.schemes)
        if url.scheme not in self._limits.schemes or not url.raw_host:
            raise UnreadableError(f"its URL does not begin with {allowed}, or data:")
        if url.userinfo:
            raise UnreadableError("its URL holds a user name or a password")
        port = {"http": 80, "https": 443}[url.scheme] if url.port is None else url.port
        if port not in self._limits.ports:
            raise UnreadableError(f"its URL names port {port}. Allowed: {', '.join(map(str, self._limits.ports))}")
        return url

    @contextmanager
    def _get(self, first: int, count: int) -> Iterator[httpcore.Response]:
        url = self._url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        headers = [
            (b"Host", url.netloc),
            (b"Accept-Encoding", b"identity"),
            (b"Range", b"bytes=%d-%d" % (first, first + count - 1)),
            (b"User-Agent", b"ratecard-probe"),
        ]
        try:
            with self._pool.stream("GET", target, headers=headers) as answer:
                yield answer
        except httpcore.ConnectError as error:
            is_tls_error = isinstance(error.__context__, ssl.SSLError)
            words = "its host has no valid certificate" if is_tls_error else "its host cannot be reached"
            raise UnreadableError(words) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
            raise UnreadableError("its server broke off the answer") from None

    def _target(self, answer: httpcore.Response) -> str:
        try:
            return str(self._url.join((_header(answer, b"location") or b"").decode("ascii")))
        except (httpx.InvalidURL, ValueError):
            raise UnreadableError("it redirects to a URL that is not valid") from None

    def _first(self, answer: httpcore.Response, count: int) -> tuple[bytes, int]:
        if answer.status == 416:
            raise UnreadableError("it is empty")
        if answer.status not in (200, 206):
            raise UnreadableError(f"its server answered {answer.status}")
        if (_header(answer, b"content-encoding") or b"identity").lower() != b"identity":
            raise UnreadableError("its server compressed it, which was not asked for")
        if answer.status == 200:
            if int(_header(answer, b"content-length") or 0) > self._left:
                self._refuse_to_read_more()
            content = self._body(answer, self._left + 1)
            return content, len(content)
        self._tag = _header(answer, b"etag")
        content_range = _CONTENT_RANGE.fullmatch(_header(answer, b"content-range") or b"")
        if content_range is None:
            raise UnreadableError("its server answered a range without saying which")
        size = int(content_range[3])
        return self._part(answer, 0, count, size), size

    def _part(self, answer: httpcore.Response, first: int, count: int, size: int) -> bytes:
        """Return the body of a range, which must be the requested one, or end with the file."""
        last = min(first + count, size) - 1
        expected = b"bytes %d-%d/%d" % (first, last, size)
        if (_header(answer, b"content-range") or b"") != expected:
            raise UnreadableError("its server answered another range than the one asked for")
        body = self._body(answer, last - first + 1)
        if len(body) != last - first + 1:
            raise UnreadableError("its server broke off the answer")
        return body

    def _body(self, answer: httpcore.Response, count: int) -> bytes:
        body = bytearray()
        for chunk in answer.iter_stream():
            if len(body) == count:
                break  # checked here, so that an answer of the right length ends by itself and its connection is kept
            body += chunk[: count - len(body)]
            self._left -= len(chunk)
            if self._left < 0:
                self._refuse_to_read_more()
        return bytes(body)

    def _refuse_to_read_more(self) -> NoReturn:
        raise UnreadableError(f"more than {self._limits.megabytes} of it would have to be read")


def _header(answer: httpcore.Response, name: bytes) -> bytes | None:
    return next((value for key, value in answer.headers if key.lower() == name), None)


BLOCK = 2**16
_MOST_BLOCKS = 16


class RangedFile(io.RawIOBase):
    """A file that fetches blocks by range requests when they are first read, and keeps them (the byte limit holds).

    An error is kept as `failure`, and then the file ends: a media library may ignore an error while reading, so the
    caller must raise it afterwards.
    """

    def __init__(self, web: Web, start: bytes, size: int) -> None:
        self._web, self.size = web, size
        self._blocks: dict[int, bytes] = {}
        self._keep(0, start)
        self._at = 0
        self._next, self._step = 1, 1
        self.failure: UnreadableError | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True, because another range can be requested."""
        return True

    def tell(self) -> int:
        """Return the position of the next read."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move without reading."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def read(self, count: int = -1) -> bytes:
        """Return at most `count` bytes, to the end of a block; no bytes at the end of the file and after a failure."""
        if self._at >= self.size or self.failure:
            return b""
        block, offset = divmod(self._at, BLOCK)
        try:
            part = self._block(block)[offset:][: None if count < 0 else count]
        except UnreadableError as failure:
            self.failure = failure
            return b""
        self._at += len(part)
        return part

    def _block(self, wanted: int) -> bytes:
        if wanted not in self._blocks:
            # Pieces double while blocks are read in order, so that a long table does not need a round trip for each.
            self._step = min(self._step * 2, _MOST_BLOCKS) if wanted == self._next else 1
            count = next(
                (distance for distance in range(1, self._step) if wanted + distance in self._blocks), self._step
            )
            part = self._web.read(wanted * BLOCK, count * BLOCK, self.size)
            self._keep(wanted, part)
            self._next = wanted + count
        return self._blocks[wanted]

    def _keep(self, first: int, part: bytes) -> None:
        for offset in range(0, len(part), BLOCK):
            self._blocks[first + offset // BLOCK] = part[offset : offset + BLOCK]
