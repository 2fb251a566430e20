"""How much of a file is fetched, from real servers that behave well and badly."""

import json
import signal
import subprocess
import sys
from dataclasses import asdict
from itertools import chain, repeat
from typing import Any, cast

import pytest
from made_videos import mp4, video
from video_server import VideoServer

from ratecard import QuoteError
from ratecard.probe import probe
from ratecard.probe.probing import UnreadableError
from ratecard.probe.web import BLOCK, RangedFile
from ratecard.probe.worker import facts_of_bytes, read_source

# A noisy picture fills about 20 kB a frame: these files have some megabytes, most of them media.
BIG: dict[str, Any] = {"size": (640, 480), "frames": 40}
MANY: dict[str, Any] = {"container": "matroska", "live": True, **BIG}
KIND: dict[str, dict[str, Any]] = {
    "mp4, its tables in front": {"movflags": "faststart"},
    "mp4, its tables at the end": {},
    "mov, its tables at the end": {"container": "mov"},
    "mkv": {"container": "matroska", "cluster_time_limit": "300", "frames": 90},
}


@pytest.mark.parametrize("kind", KIND)
def test_only_the_parts_that_describe_a_file_are_read(server: VideoServer, kind: str) -> None:
    file = server.paths["/video"] = video(**{**BIG, **KIND[kind]})
    assert read_source(server.url(), server.limits()) == facts_of_bytes(file)
    # FFmpeg needs some frames to know the codec; in Matroska, the packets after the last key frame are read too.
    share = 2 if "mkv" in kind else 6
    assert server.sent < len(file) // share, f"{server.sent} of {len(file)} bytes in {len(server.requests)} requests"
    assert all(asked for _, asked in server.requests)
    assert server.connections == 1


def test_no_byte_is_fetched_twice(server: VideoServer) -> None:
    file = server.paths["/video"] = video(**MANY)
    assert read_source(server.url(), server.limits()) == facts_of_bytes(file)
    assert server.sent == len(file)
    assert len(server.requests) < len(file) / 2**16


def test_pieces_double_in_order_and_end_where_a_block_is_known() -> None:
    asked: list[tuple[int, int]] = []

    class Recorded:
        def read(self, first: int, count: int, size: int) -> bytes:
            asked.append((first // BLOCK, count // BLOCK))
            return bytes(count)

    file = RangedFile(cast(Any, Recorded()), b"", 99 * BLOCK)
    for block in (7, 1, 2, 4, 5, 7, 8):
        file.seek(block * BLOCK)
        assert (len(file.read(0)), len(file.read(10)), len(file.read())) == (0, 10, BLOCK - 10)
    assert asked == [(7, 1), (1, 1), (2, 2), (4, 3), (8, 1)]


def test_a_server_without_ranges_is_read_whole(server: VideoServer) -> None:
    file = server.paths["/video"] = video(**BIG)
    server.ranges = False
    assert read_source(server.url(), server.limits(max_bytes=len(file))) == facts_of_bytes(file)
    assert (server.sent, len(server.requests)) == (len(file), 1)


def test_a_server_without_ranges_is_read_to_the_limit_at_most(server: VideoServer) -> None:
    server.paths["/video"] = video(**BIG)
    server.ranges = False
    with pytest.raises(UnreadableError, match="more than 1 MiB of it would have to be read"):
        read_source(server.url(), server.limits(max_bytes=2**20))


def test_ranges_are_read_to_the_limit_at_most(server: VideoServer) -> None:
    server.paths["/video"] = video(**MANY)
    with pytest.raises(UnreadableError, match="more than 200000 bytes of it would have to be read"):
        read_source(server.url(), server.limits(max_bytes=200_000))
    assert server.sent < 500_000


def test_nothing_compressed_is_asked_for_or_undone(server: VideoServer) -> None:
    """A gzip bomb stays what it is on the wire."""
    server.paths["/video"] = lambda handler: handler.answer(200, b"\x1f\x8b" * 100, Content_Encoding="gzip")
    with pytest.raises(UnreadableError, match="its server compressed it, which was not asked for"):
        read_source(server.url(), server.limits())
    assert server.headers[0]["Accept-Encoding"] == "identity"


def test_no_proxy_of_the_environment_is_used(server: VideoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.paths["/video"] = video()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert probe(server.url(), server.limits()) == facts_of_bytes(video())


def test_redirects_are_followed_to_a_number(server: VideoServer) -> None:
    server.paths |= {"/video": "/a", "/a": "b?c#d", "/b?c": server.url("/file"), "/file": video()}
    assert read_source(server.url(), server.limits()) == facts_of_bytes(video())
    with pytest.raises(UnreadableError, match="it redirects more than 2 times"):
        read_source(server.url(), server.limits(redirects=2))
    server.paths["/video"] = "/video"
    with pytest.raises(UnreadableError, match="it redirects more than 3 times"):
        read_source(server.url(), server.limits())
    assert [path for path, _ in server.requests[-7:]] == ["/video", "/a", "/b?c"] + 4 * ["/video"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 404}, "its server answered 404"),
        ({"status": 500}, "its server answered 500"),
        ({"status": 204}, "its server answered 204"),
        ({"status": 416}, "it is empty"),
        ({"status": 200}, "it is empty"),
        *(
            ({"status": status, "Location": "http://127.0.0.1:x/"}, "it redirects to a URL that is not valid")
            for status in (301, 302, 303, 307, 308)
        ),
        ({"status": 302, "Location": "http://127.0.0.1:1/"}, "its URL names port 1. Allowed: "),
        ({"status": 302, "Location": "http://xn--a/"}, "its URL names port 80"),
        ({"status": 302, "Location": "https://127.0.0.1/"}, "its URL does not begin with http://"),
        ({"status": 206}, "its server answered a range without saying which"),
        ({"status": 206, "Content_Range": "bytes 0-65535/*"}, "its server answered a range without saying which"),
        ({"status": 206, "Content_Range": "bytes 5-65540/99999"}, "its server answered another range than"),
        ({"status": 206, "Content_Range": "bytes 0-65535/99999"}, "its server broke off the answer"),
        (
            {"status": 206, "Content_Range": "bytes 0-65535/" + "9" * 17, "Content_Length": "65536"},
            "broke off the answer",
        ),
        ({"status": 200, "Content_Length": "99"}, "its server broke off the answer"),
        ({"status": 200, "Content_Length": "-1"}, "its server broke off the answer"),
    ],
)
def test_answers_that_are_not_a_file(server: VideoServer, answer: dict[str, Any], reason: str) -> None:
    def handle(handler: Any) -> None:
        handler.close_connection = True
        handler.answer(body=b"", **answer)

    server.paths["/video"] = handle
    with pytest.raises(UnreadableError, match=reason):
        read_source(server.url(), server.limits())


def test_a_file_that_changes_while_it_is_read_is_refused(server: VideoServer) -> None:
    file = video(**BIG)
    answers = iter(["one", "two", "three"])

    def handle(handler: Any) -> None:
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        part = file[first : last + 1]
        end = first + len(part) - 1
        handler.answer(206, part, Content_Range=f"bytes {first}-{end}/{len(file)}", ETag=next(answers))

    server.paths["/video"] = handle
    with pytest.raises(UnreadableError, match="it changed while it was read"):
        read_source(server.url(), server.limits())


def test_an_answer_without_end_is_read_to_the_limit(server: VideoServer) -> None:
    """Endless chunks from a server without ranges."""
    chunk = b"10000\r\n" + bytes(2**16) + b"\r\n"

    def handle(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.drip(repeat(chunk), 0)

    server.paths["/video"] = handle
    with pytest.raises(UnreadableError, match="more than 4 MiB of it would have to be read"):
        read_source(server.url(), server.limits(max_bytes=2**22))


def test_more_than_a_range_is_not_waited_for(server: VideoServer) -> None:
    """An endless range: only the requested bytes are read."""
    file = video(**BIG)

    def handle(handler: Any) -> None:
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        part = file[first : last + 1]
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(file)}")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.drip(chain([b"%x\r\n%b\r\n" % (len(part), part)], repeat(b"1\r\na\r\n")), 0)

    server.paths["/video"] = handle
    assert read_source(server.url(), server.limits()) == facts_of_bytes(file)


def test_a_length_beyond_the_limit_is_believed(server: VideoServer) -> None:
    """A server without ranges says that it has a gigabyte: no body is read."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % 2**30
    server.paths["/video"] = lambda handler: handler.drip(chain([head], repeat(bytes(2**16))), 0.02)
    with pytest.raises(UnreadableError, match="more than 32 MiB of it would have to be read"):
        read_source(server.url(), server.limits())
    assert server.sent < 2**20


HEAD = b"HTTP/1.1 200 OK\r\n"


SLOW = {
    "the headers": chain([HEAD, b"Server: "], repeat(b"a")),
    "the body": chain([HEAD + b"Content-Length: 9999\r\n\r\n"], repeat(b"a")),
}


@pytest.mark.parametrize("part", SLOW)
def test_a_slow_server_is_left_when_the_time_is_up(server: VideoServer, part: str) -> None:
    """A byte at a time comes well within any time limit of a single read, and the answer would take an hour."""
    server.paths["/video"] = lambda handler: handler.drip(SLOW[part], 0.5)
    for seconds in (3, 30, 120):
        with pytest.raises(QuoteError, match=f"Could not read the video: it took more than {seconds} seconds"):
            probe(server.url(), server.limits(seconds=seconds))
        if server.connections:  # otherwise the process took all of its time to start
            return
    pytest.fail("the server was never asked")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no alarm")
def test_a_probe_whose_server_was_killed_ends_by_itself(server: VideoServer) -> None:
    server.paths["/video"] = lambda handler: handler.drip(repeat(b""), 0.5)
    task = {"video_url": server.url(), "limits": asdict(server.limits(seconds=1))}
    worker = [sys.executable, "-m", "ratecard.probe.worker"]
    done = subprocess.run(worker, input=json.dumps(task).encode(), capture_output=True, check=False)
    assert done.returncode == -signal.SIGALRM


def test_nothing_listens_there(server: VideoServer) -> None:
    limits = server.limits(ports=(1,))
    with pytest.raises(UnreadableError, match="its host cannot be reached"):
        read_source("http://127.0.0.1:1/", limits)


@pytest.mark.parametrize(
    "wrong", [{"max_bytes": 0}, {"seconds": True}, {"seconds": "5"}, {"redirects": -1}, {"schemes": ("https", "ftp")}]
)
def test_limits_that_mean_nothing_are_refused(server: VideoServer, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="|".join(wrong)):
        server.limits(**wrong)
    assert server.limits(redirects=0).redirects == 0


def test_each_address_of_a_host_is_tried(server: VideoServer) -> None:
    server.paths["/video"] = mp4()
    addresses = ["127.0.0.3", "127.0.0.1", "127.0.0.2"]
    assert read_source(f"http://host:{server.port}/video", server.limits(), lambda host, port: addresses).width == 160
