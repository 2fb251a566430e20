"""Which addresses are of the public internet."""

from ipaddress import IPv4Address, ip_address, ip_network

# The special-purpose registries of IANA (RFC 6890), written out: `is_global` differs between versions of Python.
_NOT_PUBLIC_4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, and the metadata services of clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
# Global unicast is the only public part of IPv6. All else is outside: loopback, link-local, unique local, multicast,
# and addresses that carry one of IPv4 (mapped ::ffff:0:0/96, NAT64 64:ff9b::/96).
_PUBLIC_6 = ip_network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # protocol assignments; Teredo carries an address of IPv4
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4 carries an address of IPv4
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet. Raises `ValueError` for what is no address.

    >>> is_public("8.8.8.8"), is_public("169.254.169.254"), is_public("::ffff:8.8.8.8")
    (True, False, False)
    """
    found = ip_address(address)
    if isinstance(found, IPv4Address):
        return not any(found in network for network in _NOT_PUBLIC_4)
    return found in _PUBLIC_6 and not any(found in network for network in _NOT_PUBLIC_6)
