"""HEAD wherever GET is, OPTIONS everywhere, and bodies that are encoded."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from asking import BODY, QUOTE, asked, post
from fastapi import Depends, FastAPI
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

import ratecard
from ratecard.ledger.store import Ledger
from ratecard.server import application, router
from ratecard.server.http import _PIECE, decoder
from ratecard.server.usage_history import usage_history_router

MOST = 100_000
SECRET = "16 signs or more"  # noqa: S105
READ = ["/api/v1/models", "/api/v1/models/grok-4-3", "/api/v1/billing/usage", "/api/v1/healthz", "/healthz", "/metrics"]


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with asked(application(card, most_body_bytes=MOST)) as found:
        yield found


def hosts(card: ratecard.RateCard) -> Iterator[Any]:
    yield application(card)
    mounted = Starlette()
    mounted.mount("/", router(card))
    yield mounted
    included = FastAPI(dependencies=[Depends(lambda: None)])
    included.include_router(router(card))
    yield included


@pytest.mark.parametrize("path", READ)
def test_head_has_the_status_and_headers_of_get_and_no_body(client: Any, path: str) -> None:
    head, got = client.head(path), client.get(path)
    changing = {"x-request-id", *(("content-length",) if "metrics" in path else ())}
    assert head.status_code == got.status_code
    assert {k: v for k, v in head.headers.items() if k not in changing} == {
        k: v for k, v in got.headers.items() if k not in changing
    }
    assert (head.content, bool(got.content)) == (b"", True)


@pytest.mark.parametrize(
    ("path", "allow"),
    [(path, "GET, HEAD, OPTIONS") for path in READ]
    + [(f"/api/v1/{path}", "POST, OPTIONS") for path in ("video/quote", "audio/quote", "rate", "estimate")],
)
def test_options_says_what_is_allowed(client: Any, path: str, allow: str) -> None:
    answer = client.options(path)
    assert (answer.status_code, answer.headers["allow"], answer.content) == (204, allow, b"")
    assert "x-service-version" in answer.headers


def test_head_and_options_are_answered_in_every_host(card: ratecard.RateCard) -> None:
    for app in hosts(card):
        with asked(app) as client:
            assert (client.head(READ[0]).status_code, client.head(READ[0]).content) == (200, b"")
            assert client.options(QUOTE).headers["allow"] == "POST, OPTIONS"
            refused = client.delete(READ[0])
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
            assert client.head(QUOTE).status_code == 405
            assert client.options("/api/v1/nothing").status_code == 404


def test_the_usage_history_is_read_by_head_too(ledger: Ledger) -> None:
    app = FastAPI()
    app.include_router(usage_history_router(ledger, lambda: "a", secret=SECRET))
    with asked(app) as client:
        head = client.head("/billing/usage-history")
    assert (head.status_code, head.headers["x-pagination-total"], head.content) == (200, "0", b"")


ENCODED = [
    ("gzip", gzip.compress(BODY)),
    ("GZIP", gzip.compress(BODY)),
    ("x-gzip", gzip.compress(BODY)),
    ("gzip", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])),
    ("deflate", zlib.compress(BODY)),
    ("identity", BODY),
    ("", BODY),
    ("identity, gzip", gzip.compress(BODY)),
]


@pytest.mark.parametrize(("coding", "body"), ENCODED, ids=range(len(ENCODED)))
def test_an_encoded_body_is_read(client: Any, coding: str, body: bytes) -> None:
    answer = post(client, body, content_encoding=coding)
    assert (answer.status_code, answer.content) == (200, b'{"quote":0.82}')


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress", "*", "gzip;q=1"])
def test_another_coding_is_refused_with_those_that_are_understood(client: Any, coding: str) -> None:
    answer = post(client, BODY, content_encoding=coding)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "gzip, deflate")
    assert answer.json()["error"].endswith("Send it plain, or as one of: gzip, deflate")


@pytest.mark.parametrize(
    ("coding", "body", "status"),
    [
        ("gzip", BODY, 400),
        ("gzip", b"", 400),
        ("gzip", zlib.compress(BODY), 400),
        ("deflate", gzip.compress(BODY), 400),
        ("gzip", gzip.compress(BODY)[:-5], 400),
        ("gzip", gzip.compress(BODY) + b"x", 400),
        ("gzip", gzip.compress(b"x" * MOST + b" "), 413),
        ("deflate", zlib.compress(b" " * 10**7), 413),
        ("gzip", gzip.compress(b" " * MOST) * 2, 413),
        ("gzip", b"x" * (MOST + 1), 413),
        ("gzip", gzip.compress(BODY + b" " * (MOST - len(BODY))), 200),
    ],
    ids=range(11),
)
def test_what_comes_out_of_a_coding_is_checked(client: Any, coding: str, body: bytes, status: int) -> None:
    answer = post(client, body, content_encoding=coding)
    assert answer.status_code == status, answer.text
    assert status == 200 or list(answer.json()) == ["error"]


def _members(sizes: Sequence[int]) -> tuple[bytes, bytes]:
    plain = [bytes(number % 251 for number in range(size)) for size in sizes]
    return b"".join(plain), b"".join(gzip.compress(part, compresslevel=0) for part in plain)


@pytest.mark.parametrize(
    "sizes", [(0,), (0,) * 1_000, (_PIECE - 23,), (_PIECE, _PIECE + 1, 0), (1,) * 300, (9_000, 0, 5, 20_000)], ids=str
)
def test_members_are_joined_wherever_they_end(sizes: tuple[int, ...]) -> None:
    plain, packed = _members(sizes)
    assert decoder("gzip", len(plain))(packed) == plain
    for wrong, status in ((packed[:-1], 400), (packed + b"\0", 400), (packed + packed, 413 if plain else 0)):
        if status:
            with pytest.raises(HTTPException) as caught:
                decoder("gzip", len(plain))(wrong)
            assert caught.value.status_code == status
    if plain:
        with pytest.raises(HTTPException, match="at most"):
            decoder("gzip", len(plain) - 1)(packed)


def test_what_follows_a_member_is_not_copied_for_each() -> None:
    """A reader is given pieces: it copies what it leaves."""
    empty, given = gzip.compress(b""), list[int]()
    make = zlib.decompressobj

    class Reader:
        def __init__(self, window: int) -> None:
            self._reader = make(window)

        def decompress(self, piece: bytes, most: int) -> bytes:
            given.append(len(piece))
            return self._reader.decompress(piece, most)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._reader, name)

    with patch.object(zlib, "decompressobj", Reader):
        assert decoder("gzip", 9)(empty * 20_000) == b""
    assert max(given) <= _PIECE
    assert len(given) < 22_000


def test_a_body_is_decoded_where_a_host_adds_dependencies(card: ratecard.RateCard) -> None:
    for app in hosts(card):
        with asked(app) as client:
            assert post(client, gzip.compress(BODY), content_encoding="gzip").content == b'{"quote":0.82}'
            precise = b'{"model": "openai/whisper-large-v3", "seconds": 0.1234567890123456789}'
            assert post(client, precise, "/api/v1/rate").json()["lines"][0]["quantity"] == "0.1234567890123456789"
            assert post(client, b"{", "/api/v1/rate").status_code == 400


FIGURES = "application/openmetrics-text; version=1.0.0"
PLAIN, NOT_OFFERED = "text/plain; version=0.0.4", "a/b, "


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (FIGURES, FIGURES),
        (NOT_OFFERED * 100 + FIGURES, FIGURES),
        (f"{FIGURES}, {'a/b, ' * 1000}", FIGURES),
        # Only 1024 characters are read; a range that continues beyond them is left out as a whole.
        (NOT_OFFERED.ljust(1024 - len(FIGURES)) + FIGURES, FIGURES),
        (NOT_OFFERED.ljust(1024 - len(FIGURES)) + FIGURES + ", a/b", FIGURES),
        (NOT_OFFERED.ljust(1025 - len(FIGURES)) + FIGURES, PLAIN),
        (NOT_OFFERED.ljust(1025 - len(FIGURES)) + FIGURES + ", a/b", PLAIN),
        (NOT_OFFERED.ljust(1024 - len(FIGURES)) + FIGURES + "9", PLAIN),
        (NOT_OFFERED * 1000 + FIGURES, PLAIN),
        (NOT_OFFERED * 1000 + FIGURES + ", a/b", PLAIN),
        *((f"{kind}; version={version}", PLAIN) for kind in ("text/plain", "application/openmetrics-text")
          for version in ("abc", "1.", "1.x", "-1", "²", "x" * 5000)),
        ("", PLAIN),
        (",;=,", PLAIN),
    ],
)  # fmt: skip
def test_metrics_are_in_the_form_that_the_beginning_of_accept_asks_for(
    client: Any, accept: str, media_type: str
) -> None:
    answer = client.get("/metrics", headers={"accept": accept.encode("latin-1")})
    assert (answer.status_code, answer.headers["content-type"].startswith(media_type)) == (200, True)
    assert b"ratecard_" in answer.content


def test_metrics_leave_out_the_file_of_a_worker_that_begins_or_ends_just_now(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    tmp_path.joinpath("counter_1.db").touch()
    tmp_path.joinpath("counter_2.db").symlink_to("gone")
    counter: Any = MmapedDict(str(tmp_path / "counter_3.db"))  # type: ignore[no-untyped-call]
    counter.write_value(mmap_key("served", "served_total", [], [], "Answers."), 5, 0)
    counter.close()
    answer = client.get("/metrics")
    assert (answer.status_code, answer.text.splitlines()[-1]) == (200, "served_total 5.0")
