"""`GET /billing/usage-history`: the ledger of an account, page by page, as JSON or CSV, with signed cursors."""

import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import APIRouter
from itsdangerous import BadData, URLSafeSerializer
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.base.errors import QuoteError
from ratecard.base.messages import Path, allowed_values, echo, wrong_type
from ratecard.base.money import READING
from ratecard.ledger import LedgerUnavailableError, ledger_csv, ledger_json
from ratecard.ledger.store import Ledger, Page, Walk
from ratecard.line_items.ledger_entry import currencies, unknown_currency
from ratecard.load.folder import shipped_limits
from ratecard.requests.fields import Field as RequestField
from ratecard.requests.fields import WholeNumber, field_problems
from ratecard.server.auth import account_needed
from ratecard.server.describe import operation, parameter
from ratecard.server.http import INVALID_QUERY, JSON, json_answer, preferred
from ratecard.server.revision import SERVICE_VERSION
from ratecard.server.route import new_router
from ratecard.server.schemas import ExactNumber, either, may_be_absent
from ratecard.server.tables import LiveRateCard
from ratecard.tables.limits import NO_LIMITS, Limits, Rates

_NUMBER = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?")
# No more digits than the ledger keeps: a finer timestamp would be cut, and select other rows.
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


class Timestamp:
    """An instant in ISO 8601 with a time zone."""

    def accept(self, given: Any) -> datetime | None:
        try:
            is_written = isinstance(given, str) and _TIMESTAMP.fullmatch(given)
            return datetime.fromisoformat(given) if is_written else None
        except ValueError:  # the 31st of June
            return None

    def messages(self, given: Any) -> list[str]:
        if not isinstance(given, str):
            return [wrong_type("string", given)]
        plus = ". In a query, + is written %2B" if re.search(r" [0-9]{2}:[0-9]{2}$", given) else ""
        return [f"Invalid datetime. Expected ISO 8601 with at most 6 decimal places, like 2026-10-01T00:00:00Z{plus}"]


class Currency:
    """A currency of ledger rows, in the same letters; `stated` has the present and former worths of balances."""

    def __init__(self, stated: Sequence[Rates]) -> None:
        self._stated = stated

    def accept(self, given: Any) -> str | None:
        return None if unknown_currency(given, *self._stated) else str(given)

    def messages(self, given: Any) -> list[str]:
        expected = f"{allowed_values(currencies(*self._stated))} | another ISO 4217 code"
        return [f"Invalid enum value. Expected {expected}, received '{echo(given)}'"]


def _number(given: str) -> Decimal:
    """Return the number of a text; NaN if it is none."""
    return READING.create_decimal(given if _NUMBER.fullmatch(given) else "NaN")


PATH = "/billing/usage-history"
LARGEST_PAGE = 1000
FILTERS = ("startTimestamp", "endTimestamp", "currency", "pageSize")
_NAMED_MOST = 10


@dataclass(frozen=True, slots=True)
class _Query:
    """Either the cursor of a further page, or the filters of a first page; both may have a page size."""

    cursor: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    currency: str | None = None
    size: int | None = None


def read_query(pairs: Iterable[tuple[str, str]], dated: Sequence[Limits] = ()) -> _Query:
    """Return the parameters of a query string, checked. Raises `QuoteError` with every problem.

    `dated` are limits, newest first, by default the shipped ones: they have the present and former worths of balances,
    and the names of parameters at the previous endpoint.

    >>> read_query([("currency", "USD"), ("pageSize", "10")])
    _Query(cursor=None, start=None, end=None, currency='USD', size=10)
    """
    parameters: dict[str, list[str]] = {}
    for name, text in pairs:
        parameters.setdefault(name, []).append(text)
    dated = dated or [shipped_limits()]
    problems = [
        *_unknown(parameters, dated[0]),
        *(((name,), wrong_type("string", [])) for name in parameters if len(parameters[name]) > 1),
    ]
    if "cursor" in parameters and parameters.keys() & set(FILTERS) - {"pageSize"}:
        problems.append((("cursor",), "A cursor carries the filters of its first page. Send it alone, or leave it out"))
    values: dict[str, Any] = {}
    currency: RequestField = Currency([limits.rates for limits in dated])
    fields: Sequence[RequestField] = (Timestamp(), Timestamp(), currency, WholeNumber(1, LARGEST_PAGE))
    first_texts = {name: texts[0] for name, texts in parameters.items()}
    given = {name: _number(text) if name == "pageSize" else text for name, text in first_texts.items()}
    problems += field_problems(given, dict(zip(FILTERS, fields, strict=True)), values)
    start, end = values.get("startTimestamp"), values.get("endTimestamp")
    if start and end and end <= start:
        problems.append((("endTimestamp",), "Must be later than startTimestamp"))
    if problems:
        raise QuoteError(INVALID_QUERY, problems)
    return _Query(first_texts.get("cursor"), start, end, values.get("currency"), values.get("pageSize"))


def _unknown(names: Collection[str], limits: Limits) -> list[tuple[Path, str]]:
    """Return problems for unknown filters, with the new name of an old one; ignoring them would select other rows."""
    unknown = [f"'{echo(name)}'" for name in names if name != "cursor" and name not in FILTERS][:_NAMED_MOST]
    if not unknown:
        return []
    allowed = f"Allowed: 'cursor' alone, or {allowed_values(FILTERS)}"
    hint = ". Did you mean 'cursor'? It takes the nextCursor of the answer before" if "nextCursor" in names else ""
    renamed = {old: new for sunset in limits.sunsets if sunset.successor == PATH for old, new in sunset.renamed.items()}
    new_names = [f"'{old}' is now {new}" for old, new in renamed.items() if old in names and old not in FILTERS]
    problems = [f"Unrecognized key(s) in object: {', '.join(unknown)}{hint}", *new_names, allowed]
    return [((), words) for words in problems]


_INVALID = "Invalid cursor. Send the nextCursor of the answer before, as it is"
_LEAST_BYTES = 16


class Cursors:
    """Signed cursors: places in a walk, written and read again.

    A client cannot make a cursor, change one, or use another account's. All processes need the same secret.
    """

    def __init__(self, secret: str | bytes) -> None:
        if len(secret) < _LEAST_BYTES:
            raise ValueError(f"the secret of the cursors has {len(secret)} signs; it needs {_LEAST_BYTES} or more")
        self._secret = secret

    def write(self, account: str, walk: Walk) -> str:
        """Return a cursor for this account."""
        return self._serializer(account).dumps(astuple(walk))

    def read(self, account: str, cursor: str) -> Walk:
        """Return the walk of a cursor. Raises `QuoteError` for anything but a cursor of this account."""
        serializer = self._serializer(account)
        payload = cursor.rpartition(".")[0].encode(errors="replace")
        # Compared as a whole: base64 has several spellings of one signature, and only one of them was issued.
        expected = serializer.make_signer(serializer.salt).sign(payload)
        if not hmac.compare_digest(expected, cursor.encode(errors="replace")):
            raise QuoteError(INVALID_QUERY, [(("cursor",), _INVALID)])
        try:
            return Walk(*serializer.load_payload(payload))
        except (BadData, TypeError):  # signed with this secret, by a release with another kind of walk
            raise QuoteError(INVALID_QUERY, [(("cursor",), _INVALID)]) from None

    def _serializer(self, account: str) -> URLSafeSerializer:
        # The account is part of the salt: it is in no cursor, but the cursor of another account has a wrong signature.
        salt = f"ratecard usage history\0{account}".encode()
        return URLSafeSerializer(self._secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256})


CSV = "text/csv"


def page_answer(media: str, walk: Walk, page: Page, following: str | None) -> Response:
    """Return a page. The next cursor is in the JSON, or in a header of the CSV."""
    headers = {
        "vary": "Accept",
        "x-service-version": SERVICE_VERSION,
        "x-pagination-limit": str(walk.size),
        "x-pagination-page": str(walk.page),
        "x-pagination-total": str(walk.total),
        "x-pagination-total-pages": str(-(-walk.total // walk.size)),
    }
    if media == JSON:
        content = ledger_json(page.entries, following)
    else:
        content = ledger_csv(page.entries)
        # The time of the export gives each page a file name of its own, sorted in the order of the pages.
        exported = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        headers["content-disposition"] = f'attachment; filename="usage-history-{exported}.csv"'
        if following:
            headers["x-next-cursor"] = following
    return Response(content, headers=headers, media_type=media)


_Count = Annotated[int, Field(ge=0)]
_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
_TIME = {"type": "string", "format": "date-time"}


class _Described(BaseModel):
    """Base class of rows that the ledger writes itself, under the names of the API."""

    model_config = ConfigDict(alias_generator=to_camel, json_schema_extra=may_be_absent)


class EntryDetails(_Described):
    """The request that an entry belongs to."""

    request_id: str = Field(description="Request id of the inference")
    inference_execution_time: _Count = Field(0, description="Execution time in milliseconds")
    prompt_tokens: _Count = Field(0, description="Tokens in the prompt; for language models only")
    completion_tokens: _Count = Field(0, description="Tokens in the completion; for language models only")


_Number = TypeVar("_Number")
_ABSENT: Any = Decimal(0)


class LedgerRow(_Described, Generic[_Number]):
    """A row of the ledger, with its numbers as numbers or as text."""

    model_config = ConfigDict(json_schema_extra=either("pricePerUnitUsd", "pricePerUnit"))
    timestamp: Annotated[str, Field(json_schema_extra=_TIME)] = Field(description="When the entry was created, in UTC")
    sku: str = Field(description="The product that the entry relates to")
    price_per_unit_usd: _Number = Field(
        _ABSENT,
        description="Price per unit in USD; of rows in USD, and of those that a balance in units of USD paid",
    )
    price_per_unit: _Number = Field(
        _ABSENT, description="Price per unit in `currency`; of rows that are not priced in USD"
    )
    unit: _Number = Field(
        description="Number of units consumed. Where several balances paid, each has a row with the same request and "
        "SKU: all units are in the first, and 0 in the others"
    )
    amount: _Number = Field(
        description="What was charged, in units of `currency`, with all its digits: negative; positive where it was "
        "paid back"
    )
    currency: str = Field(description="Currency or balance charged")
    notes: str
    contract: str = Field("", description="The contract whose price it is; absent at the price of the list")
    inference_details: EntryDetails | None


class UsageEntry(LedgerRow[ExactNumber]):
    """A row of the ledger. In USD, or paid by a balance, it has `pricePerUnitUsd`; otherwise `pricePerUnit`."""


class UsagePage(_Described):
    """Rows of the ledger, in ascending order of time."""

    object: Literal["list"]
    data: list[UsageEntry]
    next_cursor: str | None = Field(description="The cursor of the next page; null on the last")


def _page_of(currency: dict[str, Any]) -> type[UsagePage]:
    """Return the model of a page, with this schema for the currency of its rows."""
    description = UsageEntry.model_fields["currency"].description
    currency_field = (str, Field(description=description, json_schema_extra=currency))
    entry = create_model("UsageEntry", __base__=UsageEntry, __doc__=UsageEntry.__doc__, currency=currency_field)
    return create_model("UsagePage", __base__=UsagePage, __doc__=UsagePage.__doc__, data=(list[entry], ...))


_PARAMETERS = (
    parameter("startTimestamp", _TIME, "The first instant of the rows, ISO 8601 with a time zone. First page only"),
    parameter("endTimestamp", _TIME, "The instant before which the rows end; after startTimestamp. First page only"),
    parameter("currency", _TEXT, "Only rows of this currency. First page only"),
    parameter(
        "pageSize",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": LARGEST_PAGE},
        "How many rows a page has. Beside a cursor, as on its first page or left out",
    ),
    parameter("cursor", _TEXT, "The nextCursor of the page before. It carries the filters: send none beside it"),
)
_PAGINATION = {
    f"x-pagination-{name}": {"schema": _COUNT, "description": description}
    for name, description in {
        "limit": "How many rows a page has",
        "page": "Which page this is, from 1",
        "total": "How many rows all pages have",
        "total-pages": "How many pages there are",
    }.items()
}
_NEXT = {"schema": _TEXT, "description": "The cursor of the next page; absent on the last, and from JSON"}

_ROWS = {
    "description": "Rows of the ledger, in ascending order of time",
    "headers": {**_PAGINATION, "x-next-cursor": _NEXT},
    "content": {JSON: {}, CSV: {"schema": _TEXT}},
}


def usage_history_router(
    ledger: Ledger, account_of: Callable[..., Any], *, secret: str | bytes, tables: LiveRateCard | None = None
) -> APIRouter:
    """Return a router with `GET /billing/usage-history`, to be included under the base path of the API.

    `account_of` is a FastAPI dependency that returns the account of a request, or None for 401, or raises an
    `HTTPException`; any other exception is answered 503. `secret` signs the cursors: 16 characters or more, the same in
    every process, so that each reads the cursors of the others. `tables` say which balances rows may be in, by default
    the shipped ones. Raises `ValueError` for a shorter secret.
    """
    cursors = Cursors(secret)
    router = new_router()

    def dated() -> Sequence[Limits]:
        return (tables.served.card.tables.limits or [NO_LIMITS]) if tables else [shipped_limits()]

    payers = currencies(*(limits.rates for limits in dated()))
    schema = {"type": "string", "pattern": f"^({'|'.join(payers)}|[A-Z]{{3}})$"}
    parameters = [option | {"schema": schema} if option["name"] == "currency" else option for option in _PARAMETERS]

    def walk_of(request: Request, account: str) -> Walk:
        query = read_query(request.query_params.multi_items(), dated())
        if query.cursor is not None:
            walk = cursors.read(account, query.cursor)
            if query.size not in (None, walk.size):
                words = f"The pages of this cursor have {walk.size} rows. Send the same, or leave it out"
                raise QuoteError(INVALID_QUERY, [(("pageSize",), words)])
            return walk
        size = LARGEST_PAGE if query.size is None else query.size
        return ledger.walk(account, start=query.start, end=query.end, currency=query.currency, size=size)

    answers = {200: _ROWS | {"model": _page_of(schema)}}
    words = "The ledger entries of the account, with cursor pagination"

    @router.get(
        **operation("usageHistory", PATH, words, answers, 400, 401, 406, 503, tag="Billing", parameters=parameters)
    )
    async def usage_history(request: Request, account: Annotated[str, account_needed(account_of)]) -> Response:
        media = preferred(",".join(request.headers.getlist("accept")).strip(" ,") or "*/*", [JSON, CSV])
        if media is None:
            raise HTTPException(406, f"Accept {JSON} or {CSV}")

        def page() -> Response:
            walk = walk_of(request, account)
            rows = ledger.page(account, walk)
            return page_answer(media, walk, rows, cursors.write(account, rows.next) if rows.next else None)

        try:
            return await ledger.in_thread((), page)
        except QuoteError as refusal:
            return json_answer(refusal.to_json(), 400)
        except LedgerUnavailableError:  # the reason may name machines of the host, so it is not passed on
            raise HTTPException(503, "The usage history is not available now. Try again later") from None

    return router
