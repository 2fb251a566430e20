"""Connections to addresses of the public internet only: a host is looked up once, checked, and then connected to."""

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any

import httpcore

from ratecard.probe.probing import UnreadableError

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
