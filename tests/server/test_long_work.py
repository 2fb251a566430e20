"""Work that takes long: in order, a few at a time, not for clients that have gone; and what is done there."""

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest
from asking import BODY, QUOTE, asked, post
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

import ratecard
from ratecard.server import application
from ratecard.server.http import LONG_BODY, LONG_LIST, LongWork, preferred, read_json_body, too_long
from ratecard.server.tables import LiveRateCard
from shipped import FEW

RATE = "/api/v1/rate"


def request_of(receive: Callable[[], Awaitable[Any]]) -> Request:
    return Request({"type": "http", "headers": []}, receive)


async def _stays() -> Any:
    await asyncio.Event().wait()


def staying() -> Request:
    """The request of a client that waits for its answer."""
    return request_of(_stays)


def test_work_is_done_in_order_in_another_thread() -> None:
    async def several() -> list[int]:
        work, done = LongWork(), list[int]()
        await asyncio.gather(*(work.result_of(staying(), partial(done.append, at)) for at in range(20)))
        assert await work.result_of(staying(), threading.get_ident) != threading.get_ident()
        return done

    assert asyncio.run(several()) == list(range(20))


def test_what_work_raises_is_raised_where_it_is_waited_for() -> None:
    def broken() -> None:
        raise HTTPException(400, "why")

    async def one() -> None:
        await LongWork().result_of(staying(), broken)

    with pytest.raises(HTTPException, match="why"):
        asyncio.run(one())


def test_work_without_a_thread_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def several() -> None:
        work, made = LongWork(most_waiting=0), list[int]()
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", none)
            for _ in range(2):
                with pytest.raises(RuntimeError, match="can't start new thread"):
                    await work.result_of(staying(), lambda: made.append(1))
        await work.result_of(staying(), lambda: made.append(2))
        assert made == [2]

    asyncio.run(several())


@pytest.mark.parametrize("threads", [1, 3])
def test_work_is_bounded_and_more_is_answered_with_503(threads: int) -> None:
    async def crowd() -> None:
        work, go = LongWork(threads, most_waiting=2), threading.Event()
        waiting = [asyncio.ensure_future(work.result_of(staying(), go.wait)) for _ in range(threads + 2)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as refused:
            await work.result_of(staying(), go.wait)
        assert (refused.value.status_code, refused.value.headers) == (503, {"Retry-After": "1"})
        running = [each for each in threading.enumerate() if each.name == "ratecard long work" and each.daemon]
        assert len(running) >= threads
        go.set()
        assert await asyncio.gather(*waiting) == [True] * (threads + 2)
        assert await work.result_of(staying(), lambda: "room again") == "room again"

    asyncio.run(crowd())


def test_work_that_has_not_begun_ends_with_its_client() -> None:
    async def leaving() -> list[str]:
        work, go, done = LongWork(), threading.Event(), list[str]()
        left = asyncio.Event()

        async def receive() -> dict[str, str]:
            await left.wait()
            return {"type": "http.disconnect"}

        first = asyncio.ensure_future(work.result_of(staying(), go.wait))
        gone = asyncio.ensure_future(work.result_of(request_of(receive), lambda: done.append("gone")))
        last = asyncio.ensure_future(work.result_of(staying(), lambda: done.append("last")))
        await asyncio.sleep(0)
        left.set()
        with pytest.raises(ClientDisconnect):
            await gone
        go.set()
        await asyncio.gather(first, last)
        return done

    assert asyncio.run(leaving()) == ["last"]


def test_work_goes_on_after_work_whose_loop_has_ended() -> None:
    work = LongWork()
    for _ in range(2):
        assert asyncio.run(work.result_of(staying(), lambda: 1)) == 1


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Yield a list that gets True for each price or listing made outside of the event loop, else False."""
    apart = list[bool]()
    found = LongWork.result_of

    async def result_of(self: LongWork, request: Request, work: Callable[[], Any]) -> Any:
        apart.append(True)
        return await found(self, request, work)

    monkeypatch.setattr(LongWork, "result_of", result_of)
    yield apart


USAGE = {"type": "text", "model": "grok-4-3", "usage": {"prompt_tokens": 10, "completion_tokens": 1}}
LONG = BODY.ljust(LONG_BODY + 1)


def usages(count: int) -> bytes:
    return json.dumps({"usages": [USAGE] * count}).encode()


@pytest.mark.parametrize(
    ("path", "body", "apart"),
    [
        (QUOTE, BODY, False),
        (QUOTE, BODY.ljust(LONG_BODY), False),
        (QUOTE, LONG, True),
        (QUOTE, b" " * LONG_BODY + b"{", True),
        ("/api/v1/audio/quote", LONG, True),
        (RATE, json.dumps(USAGE).encode(), False),
        (RATE, json.dumps(USAGE).encode().ljust(LONG_BODY + 1), True),
        (RATE, usages(LONG_LIST), False),
        (RATE, usages(LONG_LIST + 1), True),
        (RATE, b"{", False),
        (RATE, b'{"usages": 5}', False),
        ("/api/v1/estimate", LONG, True),
    ],
    ids=range(12),
)
def test_what_takes_long_is_known_by_what_it_is(
    card: ratecard.RateCard, threads: list[bool], path: str, body: bytes, apart: bool
) -> None:
    with asked(application(card)) as client:
        answer = post(client, body, path)
    assert bool(threads) == apart
    # The answer is the same, long or short.
    with asked(application(card)) as client:
        short = post(client, body.strip(), path)
    assert answer.status_code == short.status_code
    assert answer.status_code == 400 or answer.content == short.content


def test_a_listing_is_made_once_between_two_boundaries(card: ratecard.RateCard, threads: list[bool]) -> None:
    boundaries = card.boundaries()
    first = boundaries[-1].date() + timedelta(days=1)
    with asked(application(card)) as client:
        days = [client.get(f"/api/v1/models?at={first + timedelta(days=number)}") for number in range(20)]
        assert len(threads) == 1
        assert {each.content for each in days} == {days[0].content}
        assert client.get("/api/v1/models", params={"at": str(first), "type": "video"}).content != days[0].content
        assert len(threads) == 2


def test_a_kept_listing_is_that_of_its_day() -> None:
    """On both sides of every boundary, whatever was asked before."""
    kept = LiveRateCard(FEW).served
    around = [each.date() + timedelta(days=more) for each in FEW.boundaries() for more in (-1, 0, 1)]
    for day in (*around, *reversed(around)):
        assert kept.models(None, day) == LiveRateCard(FEW).served.models(None, day)
        assert kept.kept_models(None, day) == kept.models(None, day)


def test_kept_listings_are_bounded(card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratecard.server.tables.MOST_LISTINGS", 2)
    served = LiveRateCard(card).served
    for type_ in ("music", "speech", "transcription"):
        served.models(type_, None)
    assert served.kept_models("music", None) is None
    assert served.kept_models("transcription", None) == served.models("transcription", None)
    assert served.kept_models("speech", date(1990, 1, 1)) is None


def test_threads_make_listings_at_once(card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two routers may share a card; each has a thread for its listings."""
    monkeypatch.setattr("ratecard.server.tables.MOST_LISTINGS", 1)
    served, types, usual = LiveRateCard(card).served, ("music", "speech", "transcription"), sys.getswitchinterval()
    made = {type_: served.models(type_, None) for type_ in types}
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(lambda type_: served.models(type_, None) == made[type_], types * 100))
    finally:
        sys.setswitchinterval(usual)


def test_a_query_of_many_wrong_names_is_answered_shortly(card: ratecard.RateCard) -> None:
    with asked(application(card)) as client:
        answer = client.get("/api/v1/models?" + "&".join(f"a{number}" for number in range(2000)))
    assert (answer.status_code, len(answer.json()["details"]["_errors"])) == (400, 50)


def test_ranges_after_the_fiftieth_are_not_read() -> None:
    assert preferred("a," * 49 + "gzip", ["gzip"]) == "gzip"
    assert preferred("a," * 50 + "gzip", ["gzip"]) is None
    assert preferred("gzip;" + "a;" * 20 + "q=0", ["gzip"]) == "gzip"


def body_in(*parts: bytes) -> Request:
    left = list(parts)

    async def receive() -> dict[str, Any]:
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    return request_of(receive)


def test_long_bodies_on_their_way_are_bounded_together() -> None:
    """One of 40 MB may be, and not two."""
    long, short, work = b"x" * (40 * 2**20), b"y" * 10, LongWork()

    async def crowd() -> None:
        gate = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not gate.is_set():
                gate.set()
                return {"type": "http.request", "body": long, "more_body": True}
            await asyncio.Event().wait()
            return {}

        first = asyncio.ensure_future(read_json_body(request_of(receive), 2**26, work))
        await gate.wait()
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as refused:
            await read_json_body(body_in(long, b""), 2**26, work)
        assert (refused.value.status_code, refused.value.headers) == (503, {"Connection": "close", "Retry-After": "1"})
        assert await read_json_body(body_in(short, short), 2**20, work) == 2 * short
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert await read_json_body(body_in(long, b""), 2**26, work) == long

    asyncio.run(crowd())


@pytest.mark.parametrize("parts", [(b"x" * 11,), (b"x" * 10, b"x"), (b"", b"x" * 11)])
def test_a_body_is_too_long_in_one_part_or_several(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(HTTPException) as refused:
        asyncio.run(read_json_body(body_in(*parts), 10, LongWork()))
    assert (refused.value.status_code, refused.value.detail) == (413, too_long(10))
    assert "--body-bytes" in too_long(10)
