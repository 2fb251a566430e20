"""Connections to addresses that were checked: one look-up, and what it answered is what is connected to."""

import socket
from collections.abc import Callable, Sequence
from typing import Any

import httpcore

from ratecard.probe.addresses import is_public
from ratecard.probe.unreadable import UnreadableError

Resolver = Callable[[str, int], Sequence[str]]


def look_up(host: str, port: int) -> list[str]:
    """Every address of a host, by the system's resolver, which also reads `2130706433`, `0177.1` and `localhost.`."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class CheckedNetwork(httpcore.NetworkBackend):
    """Opens sockets to public addresses only.

    httpcore asks for every connection here, so a redirect is checked like the first request. It still verifies the name
    of the host in TLS: only the look-up is taken out of its hands, so no later answer of a name server leads elsewhere.
    """

    def __init__(self, resolve: Resolver, private_addresses: bool) -> None:
        self._resolve, self._private = resolve, private_addresses
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, *options: Any, **named: Any) -> httpcore.NetworkStream:
        """A connection to the first address that answers; none of them may be private."""
        try:
            addresses = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise UnreadableError("its host has no address")
        # One private address among public ones is refused too: no honest host has both. Which one, is not told: the
        # answer must not say what the names inside this network stand for.
        if not self._private and not all(map(is_public, addresses)):
            raise UnreadableError("its host is not on the public internet")
        for address in addresses[:-1]:
            try:
                return self._sockets.connect_tcp(address, port, *options, **named)
            except httpcore.ConnectError:
                continue
        return self._sockets.connect_tcp(addresses[-1], port, *options, **named)
