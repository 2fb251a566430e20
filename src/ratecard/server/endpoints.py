"""The endpoints: quotes, models, billing, health and metrics, and the source videos that a host lets them read."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from threading import Event
from typing import Any

from fastapi import APIRouter, Security
from fastapi.params import Depends
from prometheus_client import REGISTRY, CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.accounts.limits import BASE_PATH
from ratecard.base.errors import QuoteError
from ratecard.base.json_text import compact_json, spaced
from ratecard.base.messages import Problems, allowed_values, echo, field_names
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.load.folder import is_contract
from ratecard.price_book import PriceBook
from ratecard.requests.body import MOST_BODY_BYTES, MOST_PROBLEMS, read_body
from ratecard.requests.fields import Choice, Url
from ratecard.server.auth import Bearer, Check, account_of
from ratecard.server.describe import (
    AT_DAY,
    EXPLAIN,
    IGNORED,
    NOTICES,
    TEXT,
    VERSION,
    audio_examples,
    headers_of,
    operation,
    parameter,
    priced_answers,
    table_answer_of,
    video_examples,
)
from ratecard.server.http import (
    INVALID_QUERY,
    JSON,
    LongWork,
    ignored_fields,
    json_answer,
    read_json_body,
)
from ratecard.server.route import UNREAD
from ratecard.server.schemas import (
    AudioQuoteRequest,
    ErrorObject,
    Health,
    LastRefusal,
    ListedModel,
    ModelList,
    PriceQuote,
    Probed,
    VideoQuoteRequest,
)
from ratecard.server.tables import LiveRateCard, Served
from ratecard.tables.scalars import read_day
from ratecard.tables.video import SOURCE_MATCHED_RATIOS, VideoVersion

# A function that reads a video from its URL or data URI, perhaps a coroutine function; it may raise `QuoteError`.
Probe = Callable[[str], Any]

_URL = Url()
_TWICE = "Given twice"
# The most source videos that are read at once.
_AT_ONCE = 8


def reads_source(prices: PriceBook, fields: Mapping[str, Any]) -> bool:
    """Return True if the price of a request depends on its source video: upscaling, interpolation, a matched ratio.

    >>> from datetime import date
    >>> from ratecard import load_rate_card
    >>> reads_source(load_rate_card().at(date(2026, 10, 1)), {"model": "topaz-video-upscale"})
    True
    """
    name = fields.get("model")
    if not isinstance(name, str):
        return False
    try:
        _, version = prices.in_effect(name, "video")
    except QuoteError:
        return False
    if not isinstance(version, VideoVersion):
        return False
    if version.of_source:
        return True
    ratio = fields.get("aspect_ratio")
    return isinstance(ratio, str) and ratio in SOURCE_MATCHED_RATIOS and ratio in (version.accepts.aspect_ratio or ())


@dataclass(frozen=True, slots=True)
class Service:
    """The prices and settings of all endpoints. Without `check` no key is needed; without `probe` nothing is fetched.

    `unready` returns why no requests should be sent here now; empty if they may be sent.
    """

    live: LiveRateCard
    check: Check | None = None
    probe: Probe | None = None
    most_body_bytes: int = MOST_BODY_BYTES
    unready: Callable[[], str] = str
    long_work: LongWork = field(default_factory=LongWork)

    def served(self, request: Request) -> Served:
        """Return the prices of the account of a request: of its contract, else of the list."""
        served = self.live.now()
        return served.under(account_of(request)) if served.card.contracts else served

    @property
    def guards(self) -> list[Depends]:
        """Return the dependencies of an endpoint that needs an account."""
        return [Security(Bearer(self.check))] if self.check else []

    def pricing(
        self, name: str, path: str, summary: str, answers: Mapping[int, Any], examples: Any, **further: Any
    ) -> dict[str, Any]:
        """Return the options of an endpoint that prices a body."""
        further |= {"tag": "Quotes", "guards": self.guards, "examples": examples}
        return operation(name, path, summary, answers, 400, 413, 415, **further)


_BOOLEAN = Choice(("true", "false"))


def refuse_query(request: Request, *allowed: str) -> None:
    """Refuse other query parameters: if `?at=...` were ignored, the prices would be those of another day."""
    if not request.scope["query_string"]:
        return
    names = ", ".join(f"'{name}'" for name in field_names(name for name in request.query_params if name not in allowed))
    if names:  # a lone "&" names nothing
        words = f"Unrecognized key(s) in object: {names}. Allowed: {allowed_values(allowed) or 'none'}"
        raise QuoteError(INVALID_QUERY, [((), words)])


def explain_asked(request: Request) -> bool:
    """Return True if the query has `explain=true`. Raises `QuoteError` for another value or parameter."""
    refuse_query(request, "explain")
    words = request.query_params.getlist("explain")
    wrong = [_TWICE] if len(words) > 1 else [_BOOLEAN.messages(word)[0] for word in words if not _BOOLEAN.accept(word)]
    if wrong:
        raise QuoteError(INVALID_QUERY, [(("explain",), wrong[0])])
    return words == ["true"]


class _Answer(Response):
    """A response whose headers are encoded already, because those of quotes rarely change."""

    def __init__(self, body: bytes, status: int, raw_headers: list[tuple[bytes, bytes]]) -> None:
        self.body, self.status_code, self.raw_headers, self.background = body, status, raw_headers, None


def table_answer(
    served: Served, body: bytes, status: int = 200, model: str = "", ignored: Sequence[str] = ()
) -> Response:
    """Return a JSON answer, with headers for the revision of the service, the digest and the notices of a model.

    `ignored` are fields without effect that the body does not list.
    """
    headers = [*served.headers, *ignored_fields(ignored), *served.notices(model)]
    return _Answer(body, status, [*headers, (b"content-length", b"%d" % len(body))])


# Characters of an `Accept` header that are read: parsing more ranges would cost more than the metrics.
_MOST_ACCEPT = 1024


def metrics_routes(routes: APIRouter, service: Service) -> None:
    """Add `GET /metrics`: this process, or all workers that share the folder `PROMETHEUS_MULTIPROC_DIR`."""

    content = {"text/plain": {"schema": TEXT}, "application/openmetrics-text": {"schema": TEXT}}
    described = {200: {"description": "Counters", "content": content}}

    @routes.get(**operation("metrics", "/metrics", "Counters for Prometheus", described, tag="Operation"))
    async def metrics(request: Request) -> Response:
        registry: CollectorRegistry = REGISTRY
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            registry.register(_AllWorkers())
        encode, media_type = _encoder_for(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": media_type})


class _AllWorkers(Collector):
    """The counters of all workers that share a folder."""

    def collect(self) -> Iterable[Metric]:
        """Return the sums over the files of the workers."""
        files = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db")
        merged: Iterable[Metric] = MultiProcessCollector.merge([str(file) for file in files if _is_made(file)])  # type: ignore[no-untyped-call]
        return merged


def _is_made(file: Path) -> bool:
    """Return False for a file that its worker is still creating, or has removed: the collector fails on it."""
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False


def _encoder_for(accept: str) -> tuple[Callable[[CollectorRegistry], bytes], str]:
    """Return the encoder that an `Accept` header prefers, and its media type; plain text if it cannot be read."""
    if len(accept) > _MOST_ACCEPT:  # a range that is cut off could name another version
        accept = accept[: _MOST_ACCEPT + 1].rpartition(",")[0]
    try:
        return choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is not a number
        return choose_encoder("")


# Set when a signal ends the process: from then on `/readyz` says that it should get no more requests.
DRAINING = Event()
_OK = b'{"status":"ok"}'
# A folder can have thousands of faults; all of them are in the log.
_FAULTS_SHOWN = 20


def health_routes(routes: APIRouter, service: Service) -> None:
    """Add `GET /livez` and `GET /readyz` for restarts and routing, and `GET /healthz`: the tables in detail."""

    livez_answers = {200: {"model": Probed, "description": "It does"}}
    readyz_answers = {200: {"model": Probed, "description": "Yes"}}
    health_answers = {200: table_answer_of(Health, "The tables that are served, and those that were refused last")}

    @routes.get(**operation("livez", "/livez", "Whether this process answers", livez_answers, tag="Operation"))
    async def livez(request: Request) -> Response:
        return Response(_OK, media_type=JSON)

    @routes.get(
        **operation("readyz", "/readyz", "Whether requests should be sent here", readyz_answers, 503, tag="Operation")
    )
    async def readyz(request: Request) -> Response:
        if DRAINING.is_set():
            raise HTTPException(503, "Not ready: this process is ending")
        if reason := service.unready():
            raise HTTPException(503, f"Not ready: {reason}")
        service.live.now()
        return Response(_OK, media_type=JSON)

    words, guards = "Which tables are served", service.guards

    @routes.get(**operation("health", "/healthz", words, health_answers, tag="Operation", guards=guards))
    async def healthz(request: Request) -> Response:
        served = service.live.now()
        health = Health(
            digest=served.digest,
            day=served.book.day,
            changes_at=served.changes_at,
            last_refusal=_last_refusal(service.live),
            versions=served.versions,
        )
        return table_answer(served, spaced(health.model_dump_json(), 0).encode())


def _last_refusal(live: LiveRateCard) -> LastRefusal | None:
    if live.refusal is None:
        return None
    # A contract, and a model that it keeps, may only be shown to its own accounts. The file of what vanished is named
    # as in `served:contracts/acme.yaml`.
    kept = live.served.card.in_force.kept
    faults = [
        fault
        for fault in live.refusal.error.faults
        if not is_contract(fault.file.rpartition(":")[2]) and kept.isdisjoint(fault.path)
    ]
    return LastRefusal(
        at=live.refusal.at.isoformat(),
        standing=live.standing,
        count=len(faults),
        faults=[str(fault) for fault in faults[:_FAULTS_SHOWN]],
    )


def model_routes(routes: APIRouter, service: Service) -> None:
    """Add `GET /models`: every model that has a price, now or on a day; `GET /models/{id}`: one of them."""
    of_type = parameter("type", TEXT, "Only models of a type: text, video, image, ...")
    example_ids = [model.model for model in service.live.served.book.models()[:1]]
    schema = {**TEXT, "examples": example_ids} if example_ids else TEXT
    id_ = parameter("id", schema, "The id of the model, which may hold slashes", "path")

    list_answers = {200: table_answer_of(ModelList, "Every model that has a price")}
    words = "List the models that have a price"
    options: dict[str, Any] = {"tag": "Models", "guards": service.guards}

    @routes.get(**operation("listModels", "/models", words, list_answers, 400, parameters=(of_type, AT_DAY), **options))
    async def models(request: Request) -> Response:
        served = service.served(request)
        try:
            type_, day = listing_asked(request, served)
        except QuoteError as error:
            return table_answer(served, error.to_json(), 400)
        body = served.kept_models(type_, day)
        if body is None:
            body = await service.long_work.result_of(request, partial(served.models, type_, day))
        return table_answer(served, body)

    model_answers, path = {200: table_answer_of(ListedModel, "One model", NOTICES)}, "/models/{id:path}"
    words = "What one model accepts and costs"

    @routes.get(**operation("retrieveModel", path, words, model_answers, 400, 404, parameters=(id_, AT_DAY), **options))
    async def model(request: Request) -> Response:
        served, name = service.served(request), request.path_params["id"]
        model_id, status = served.model_of({"model": name}), 400
        try:
            _, day = listing_asked(request, served, names=("at",))
            status = 404
            return table_answer(served, served.model(name, day), model=model_id)
        except QuoteError as error:
            return table_answer(served, error.to_json(), status, model_id)


def listing_asked(
    request: Request, served: Served, names: Sequence[str] = ("type", "at")
) -> tuple[str | None, date | None]:
    """Return type and day of a query. Raises `QuoteError` for anything else: ignored, it would list other models."""
    values = dict[str, str]()
    problems: Problems = []
    for name, value in request.query_params.multi_items():
        if len(problems) == MOST_PROBLEMS:
            break
        if name not in names or name in values:
            words = "Unrecognized key(s) in object" if name not in names else _TWICE
            problems.append(((), f"{words}: '{echo(name)}'. Allowed: {allowed_values(names)}, each once"))
        values[name] = value
    types = Choice(sorted({served.card.tables.models[name].type for name in served.book.tables.models}))
    if "type" in values and types.accept(values["type"]) is None:
        problems += [(("type",), words) for words in types.messages(values["type"])]
    day = None
    try:
        day = read_day(values["at"]) if "at" in values else None
    except ValueError:
        problems.append((("at",), "Invalid date. Expected YYYY-MM-DD, like 2026-10-01"))
    if problems:
        raise QuoteError(INVALID_QUERY, problems)
    return values.get("type"), day


_PATH = "/billing/usage"


def billing_routes(routes: APIRouter, service: Service) -> None:
    """Add `GET /billing/usage`, which was replaced: 404 before its last day, 410 from then on."""

    headers = {name: {"schema": TEXT} for name in ("Deprecation", "Link", "Sunset")}
    headers |= headers_of({"x-service-version": VERSION})
    words = "the endpoint that replaces this one, and the parameters to rename"
    answers = {
        status: {"model": ErrorObject, "description": f"{when}: {words}", "headers": headers}
        for status, when in ((404, "Before its last day"), (410, "From its last day on"))
    }
    options = operation("usage", _PATH, "Gone: use /billing/usage-history", answers, tag="Billing")

    @routes.get(deprecated=True, status_code=410, **options)
    async def usage(request: Request) -> Response:
        sunset = service.live.now().book.sunset(f"GET {_PATH}")
        if sunset is None:  # the host's limits do not have it
            raise HTTPException(404, f"Not found: GET {_PATH}")
        base = request.scope["path"].removesuffix(_PATH)
        # A host may use another base path.
        link = sunset.headers["Link"].replace(f"<{BASE_PATH}/", f"<{base}/", 1)
        body = spaced(compact_json(sunset.body).decode(), 0).encode()
        return json_answer(body, sunset.status, {**sunset.headers, "Link": link})


# The function that prices the fields of a body, with the facts of its source video.
_Price = Callable[[PriceBook, dict[str, Any], SourceVideo | None], Quote]


def quote_routes(routes: APIRouter, service: Service) -> None:
    """Add `POST /video/quote` and `POST /audio/quote`: the price of a request without running it."""
    # Threads of their own, because a probe takes seconds.
    probing, probe = LongWork(_AT_ONCE), service.probe

    def described(name: str, path: str, what: str, price: Callable[[Any], Quote], examples: Any) -> dict[str, Any]:
        answers = priced_answers(PriceQuote, lambda body: json.loads(price(body).to_json()), examples, IGNORED)
        words = f"Price {what} without running it"
        return service.pricing(name, path, words, answers, examples, parameters=(EXPLAIN,))

    def waits_for_source(prices: PriceBook, fields: dict[str, Any]) -> bool:
        """Return True if the price needs only the source video. Raises `QuoteError` with what else is wrong."""
        url = fields.get("video_url")
        if not isinstance(url, str) or _URL.accept(url) is None or not reads_source(prices, fields):
            return False
        try:
            _priced_video(prices, fields, None)
        except QuoteError as error:
            others = [problem for problem in error.problems if problem[0] != ("video_url",)]
            if others or not error.problems:
                raise QuoteError(error.error, others) from None
        return True

    async def source_of(request: Request, url: str, probe: Probe) -> SourceVideo | None:
        """Return the video at a URL; None if the probe does not know it."""
        video = probe(url) if iscoroutinefunction(probe) else await probing.result_of(request, partial(probe, url))
        # A callable object may be a coroutine function without looking like one.
        video = await video if isawaitable(video) else video
        if video is not None and not isinstance(video, SourceVideo):
            raise TypeError(f"the probe returned {type(video).__name__}. Allowed: a SourceVideo, or None")
        return video

    async def answered(request: Request, price: _Price, *, of_source: bool = False) -> Response:
        body = await read_json_body(request, service.most_body_bytes, service.long_work)
        served = service.served(request)

        def answer(fields: dict[str, Any], explain: bool, source: SourceVideo | None) -> Response:
            try:
                quote = price(served.book, fields, source)
            except QuoteError as error:
                return table_answer(served, error.to_json(), 400, served.model_of(fields))
            if explain:
                return table_answer(served, explained(quote), model=quote.model)
            return table_answer(served, quote.to_json(), model=quote.model, ignored=quote.ignored)

        fields, source = dict[str, Any](), None
        try:
            fields = await service.long_work.of_body(request, body, partial(read_body, body))
            explain = bool(request.scope["query_string"]) and explain_asked(request)
            needs_source = partial(waits_for_source, served.book, fields)
            if of_source and probe and await service.long_work.of_body(request, body, needs_source):
                source = await source_of(request, fields["video_url"], probe)
        except QuoteError as error:
            return table_answer(served, error.to_json(), 400, served.model_of(fields))
        return await service.long_work.of_body(request, body, partial(answer, fields, explain, source))

    prices = service.live.served.book

    @routes.post(**described("videoQuote", "/video/quote", "a video", prices.quote_video, video_examples(prices)))
    async def video_quote(request: Request, body: VideoQuoteRequest = UNREAD) -> Response:
        return await answered(request, _priced_video, of_source=True)

    audio = "speech, transcription or music"

    @routes.post(**described("audioQuote", "/audio/quote", audio, prices.quote_audio, audio_examples(prices)))
    async def audio_quote(request: Request, body: AudioQuoteRequest = UNREAD) -> Response:
        return await answered(request, lambda prices, fields, _: prices.quote_audio(fields))


def _priced_video(prices: PriceBook, fields: dict[str, Any], source: SourceVideo | None) -> Quote:
    quote = prices.quote_video(fields, source=source)
    # The URL alone has no effect on the price; the video that was read has one.
    return replace(quote, ignored=tuple(name for name in quote.ignored if name != "video_url")) if source else quote


def explained(quote: Quote) -> bytes:
    """Return `{"quote": 0.82, ...}` with everything in the quote; amounts are text."""
    # Both objects have the currency if it is not USD; keep only one.
    return quote.to_json().partition(b",")[0].removesuffix(b"}") + b"," + compact_json(quote.to_dict())[1:]
