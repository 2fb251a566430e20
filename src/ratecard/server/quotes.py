"""`POST /video/quote` and `POST /audio/quote`: bytes in, bytes out, priced by the library and by nothing else."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.rating.quote import Quote
from ratecard.requests.body import read_body
from ratecard.server.answer import answer
from ratecard.server.body import read_json_body
from ratecard.server.describe import audio_quote_description, video_quote_description
from ratecard.server.query import explain_asked
from ratecard.server.served import Served
from ratecard.server.service import Service
from ratecard.server.source import Sources
from ratecard.words.errors import QuoteError

Price = Callable[[Served, bytes], Awaitable[Quote]]
# Reading a body of more bytes takes longer than another request may wait.
_LONG = 2**18


def quote_routes(routes: APIRouter, service: Service) -> None:
    """The endpoints that price a request without running it."""
    sources = Sources(service.probe) if service.probe else None

    served, guarded, guards = service.live.served, service.check is not None, service.guards

    async def priced_video(served: Served, body: bytes) -> Quote:
        prices = served.book
        if not sources or not (b"video_url" in body or b"\\u" in body):  # a key may be written in escapes
            return prices.quote_video(body if len(body) < _LONG else await _read(body))
        fields = await _read(body)
        source = await sources.of(prices, fields)
        quote = prices.quote_video(fields, source=source)
        # A clip whose ratio is matched has an effect, though its address by itself has none.
        return replace(quote, ignored=tuple(n for n in quote.ignored if n != "video_url")) if source else quote

    async def priced_audio(served: Served, body: bytes) -> Quote:
        return served.book.quote_audio(body if len(body) < _LONG else await _read(body))

    async def answered(request: Request, price: Price) -> Response:
        asked = dict(request.scope["headers"])
        body = await read_json_body(request, asked, service.most_body_bytes)
        served = service.live.now()
        try:
            explain = bool(request.scope["query_string"]) and explain_asked(request)
            quote = await price(served, body)
        except QuoteError as error:
            return answer(served, asked, error.to_json(), 400)
        return answer(served, asked, explained(quote) if explain else quote.to_json(), model=quote.model)

    @routes.post("/video/quote", dependencies=guards, tags=["Quotes"], **video_quote_description(served, guarded))
    async def video_quote(request: Request) -> Response:
        return await answered(request, priced_video)

    @routes.post("/audio/quote", dependencies=guards, tags=["Quotes"], **audio_quote_description(served, guarded))
    async def audio_quote(request: Request) -> Response:
        return await answered(request, priced_audio)


async def _read(body: bytes) -> dict[str, Any]:
    """The fields of a body; a long one in a thread, so that nobody waits for it."""
    return read_body(body) if len(body) < _LONG else await to_thread.run_sync(read_body, body)


def explained(quote: Quote) -> bytes:
    """`{"quote": 0.82, ...}` with everything that the quote is made of, amounts as text."""
    everything = json.dumps(quote.to_dict(), ensure_ascii=False, separators=(",", ":")).encode()
    # The currency, which is in both of a quote that is not in USD, is said once.
    return quote.to_json().partition(b",")[0].removesuffix(b"}") + b"," + everything[1:]
