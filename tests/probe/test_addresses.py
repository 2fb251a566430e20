"""Only the public internet is connected to: a real server must see no connection."""

import socket
from collections.abc import Callable, Sequence
from typing import Any

import httpcore
import pytest
from made_videos import mp4, video
from video_server import VideoServer, running

from ratecard import QuoteError
from ratecard.probe import Limits, probe, web
from ratecard.probe.probing import UnreadableError
from ratecard.probe.web import is_public
from ratecard.probe.worker import read_source


def answers(*addresses: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    """A name server that gives these answers, one after another, and then fails the test."""
    left = list(addresses)
    return lambda host, port: left.pop(0)


@pytest.fixture
def strict(server: VideoServer) -> Limits:
    """Limits that differ from the server's only in that private addresses are refused."""
    server.paths["/video"] = mp4()
    return Limits(schemes=("http",), ports=(server.port,))


# Ways to write an address of this machine. Those with [] are IPv6, on which the server listens too.
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0177.0.0.1",
        "0177.1",
        "017700000001",
        "0x7f000001",
        "0x7f.1",
        "0",
        "0.0.0.0",  # noqa: S104
        "127.127.127.127",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00::1]",
        "169.254.169.254",
        "10.0.0.1",
        "100.64.0.1",
    ],
)
def test_no_private_address_is_connected_to(server: VideoServer, strict: Limits, host: str) -> None:
    with pytest.raises(
        UnreadableError, match=r"its (host is not on the public internet|host has no address|URL is not valid)"
    ):
        read_source(f"http://{host}:{server.port}/video", strict)
    assert server.connections == 0


@pytest.mark.parametrize("host", ["2130706433", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
def test_the_process_of_a_probe_connects_to_no_private_address(server: VideoServer, strict: Limits, host: str) -> None:
    with pytest.raises(QuoteError, match=r"Could not read the video: its (host is not on the public|URL is not valid)"):
        probe(f"http://{host}:{server.port}/video", strict)
    assert server.connections == 0


def test_the_same_server_is_read_where_private_addresses_are_allowed(server: VideoServer, strict: Limits) -> None:
    """So the refusals above are for the address alone."""
    for host in ("127.0.0.1", "127.1", "2130706433", "0177.1", "0x7f000001", "localhost"):
        assert read_source(f"http://{host}:{server.port}/video", server.limits()).width == 160
    assert server.connections == 6


def test_a_server_of_ipv6_sees_no_connection_either() -> None:
    class Server6(VideoServer):
        address_family = socket.AF_INET6

    with running(Server6(("::1", 0))) as server:
        server.paths["/video"] = mp4()
        with pytest.raises(UnreadableError, match="its host is not on the public internet"):
            read_source(f"http://[::1]:{server.port}/video", server.limits(private_addresses=False))
        assert server.connections == 0
        assert read_source(f"http://[::1]:{server.port}/video", server.limits()).width == 160


def test_a_redirect_to_a_private_address_is_refused(server: VideoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first server counts as public, the second does not."""
    monkeypatch.setattr(web, "is_public", lambda address: address == "127.0.0.1")
    with running(VideoServer(("127.0.0.2", 0))) as hidden:
        hidden.paths["/video"] = mp4()
        for target in (f"http://127.0.0.2:{hidden.port}/video", f"http://2130706434:{hidden.port}/video"):
            server.paths["/video"] = target
            limits = server.limits(private_addresses=False, ports=(server.port, hidden.port))
            with pytest.raises(UnreadableError, match="its host is not on the public internet"):
                read_source(server.url(), limits)
        assert (len(server.requests), hidden.connections) == (2, 0)


def test_a_redirect_is_refused_in_a_probe(server: VideoServer) -> None:
    server.paths["/video"] = "file:///etc/passwd"
    with pytest.raises(QuoteError, match="its URL does not begin with http://"):
        probe(server.url(), server.limits())


def test_a_name_whose_answer_changes_leads_nowhere_else(server: VideoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: public at the check, private at the connection. There is one look-up, and no other."""
    monkeypatch.setattr(web, "is_public", lambda address: address == "127.0.0.1")
    system = socket.getaddrinfo

    def only_numbers(host: str, *rest: Any, **named: Any) -> Any:
        socket.inet_aton(host)  # a second look-up of the name would end the test here
        return system(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", only_numbers)
    server.paths["/video"] = mp4()
    with running(VideoServer(("127.0.0.2", server.port))) as hidden:
        hidden.paths["/video"] = mp4()
        found = read_source(
            f"http://video.example:{server.port}/video",
            server.limits(private_addresses=False),
            answers(["127.0.0.1"], ["127.0.0.2"]),
        )
        assert (found.width, hidden.connections, server.connections) == (160, 0, 1)
        assert {headers["Host"] for headers in server.headers} == {f"video.example:{server.port}"}


def test_a_name_whose_answer_changes_between_connections_is_refused(
    server: VideoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first server closes after each answer, so that the second range needs a second connection."""
    monkeypatch.setattr(web, "is_public", lambda address: address == "127.0.0.1")
    file = video("mp4", size=(320, 240))

    def answer_and_close(handler: Any) -> None:
        handler.close_connection = True
        handler.answer(206, file[: 2**16], Content_Range=f"bytes 0-65535/{len(file)}", Connection="close")

    server.paths["/video"] = answer_and_close
    with (
        running(VideoServer(("127.0.0.2", server.port))) as hidden,
        pytest.raises(UnreadableError, match="its host is not on the public internet"),
    ):
        read_source(
            f"http://video.example:{server.port}/video",
            server.limits(private_addresses=False),
            answers(["127.0.0.1"], ["127.0.0.2"]),
        )
    assert (server.connections, hidden.connections) == (1, 0)


@pytest.mark.parametrize("addresses", [["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"], ["8.8.8.8", "::1"]])
def test_one_private_address_among_public_ones_is_enough(
    server: VideoServer, strict: Limits, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", None)  # no connection may be opened at all
    with pytest.raises(UnreadableError, match="its host is not on the public internet"):
        read_source(f"http://video.example:{server.port}/video", strict, answers(addresses))
    assert server.connections == 0


def test_the_next_address_is_tried_where_one_does_not_answer(server: VideoServer) -> None:
    server.paths["/video"] = mp4()
    url = f"http://video.example:{server.port}/video"
    assert read_source(url, server.limits(), answers(["127.0.0.9", "127.0.0.1"])).width == 160


def test_a_name_without_an_address_says_so(server: VideoServer) -> None:
    with pytest.raises(QuoteError, match="its host has no address"):
        probe("https://no-such-host.invalid/video")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.com/v.mp4", "its URL does not begin with https://, or data:"),
        ("ftp://example.com/v.mp4", "its URL does not begin with https://, or data:"),
        ("file:///etc/passwd", "its URL does not begin with https://, or data:"),
        ("/etc/passwd", "its URL does not begin with https://, or data:"),
        ("concat:a|b", "its URL does not begin with https://, or data:"),
        ("https:///v.mp4", "its URL does not begin with https://, or data:"),
        ("https://user@example.com/", "its URL holds a user name or a password"),
        ("https://user:word@example.com/", "its URL holds a user name or a password"),
        ("https://8.8.8.8:22/", "its URL names port 22. Allowed: 443"),
        ("https://8.8.8.8:0/", "its URL names port 0. Allowed: 443"),
        ("https://8.8.8.8:99999/", "its URL names port 99999. Allowed: 443"),
        ("https://8.8.8.8:x/", "its URL is not valid"),
        ("https://exa mple.com/", "its (URL is not valid|host has no address)"),
        ("https://a\r\nX: y/", "its URL is not valid"),
        ("https://" + "a" * 70 + ".invalid/", "its (URL is not valid|host has no address)"),
        ("https://\ud800/", "its URL is not valid"),
        # A name that claims to be an encoded one, and is not.
        ("https://xn--a/", "its host has no address"),
        ("https://a..b/", "its (URL is not valid|host has no address)"),
    ],
)
def test_urls_that_are_not_fetched(url: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_source(url, Limits())


def test_a_very_long_url_is_refused_before_anything_reads_it() -> None:
    with pytest.raises(QuoteError, match="its URL is too long"):
        probe("https://" + "a" * 9000)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.169.254"),  # noqa: S104
        *("172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1"),
        *("198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1"),
        *("2001:db8::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%1"),
        *("fec0::1", "ff02::1", "ff0e::1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "100.63.255.255", "172.32.0.1", "223.255.255.255", "2606:4700::1111"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)
