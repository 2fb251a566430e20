"""`POST /charges` and `POST /charges/{request_id}/refunds`: usages are rated, booked in the ledger, and paid back."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ratecard.base.errors import CurrencyError, InstantError, QuoteError
from ratecard.base.json_text import compact_json
from ratecard.base.messages import REQUIRED, Problems, echo, field_name, too_small, wrong_type
from ratecard.base.money import USD, places_of
from ratecard.base.suggestions import few_suggestions
from ratecard.card import RateCard
from ratecard.ledger import (
    LedgerConflictError,
    LedgerDamagedError,
    LedgerError,
    LedgerUnavailableError,
    RefundError,
)
from ratecard.ledger.charges import BookedCharge, BookedRefund, charge_async, refund_async
from ratecard.ledger.store import Ledger
from ratecard.line_items.ledger_entry import currencies
from ratecard.requests.body import INVALID, MOST_BODY_BYTES, MOST_PROBLEMS, read_body
from ratecard.requests.fields import Field as RequestField
from ratecard.requests.fields import WholeNumber, decimal, field_problems
from ratecard.requests.metered import unrecognized
from ratecard.server.auth import account_needed
from ratecard.server.describe import IGNORED, headers_of, operation
from ratecard.server.endpoints import refuse_query
from ratecard.server.http import LongWork, error_object, ignored_fields, json_answer, read_json_body
from ratecard.server.route import UNREAD, new_router
from ratecard.server.schemas import DateTime, DescribedBody, ErrorObject, ExactText, MeteredUsage, either
from ratecard.server.tables import LiveRateCard
from ratecard.server.usage_history import EntryDetails, LedgerRow, Timestamp

# The longest name, the most digits of an amount on either side of the point, the most milliseconds.
_LONGEST_NAME, _MOST_DIGITS, _MOST_MILLISECONDS = 200, 100, 2**53
_AMOUNT = rf"^[0-9]{{1,{_MOST_DIGITS}}}(\.[0-9]{{1,{_MOST_DIGITS}}})?$"
_DIGITS = re.compile(_AMOUNT)


class _Name:
    """The id of a request or refund, a SKU, or a balance: 1 to 200 printable characters."""

    def accept(self, given: Any) -> str | None:
        fits = isinstance(given, str) and 0 < len(given) <= _LONGEST_NAME and given.isprintable()
        return given if fits else None

    def messages(self, given: object) -> list[str]:
        if not isinstance(given, str):
            return [wrong_type("string", given)]
        if not given:
            return ["String must contain at least 1 character(s)"]
        if len(given) > _LONGEST_NAME:
            return [f"String must contain at most {_LONGEST_NAME} character(s)"]
        return [f"Must have printable characters only, received '{echo(given)}'"]


class _Amount:
    """An amount of money, zero or more: text with its digits, or a JSON number."""

    def accept(self, given: Any) -> Decimal | None:
        if isinstance(given, str):
            return Decimal(given) if _DIGITS.fullmatch(given) else None
        number = decimal(given)
        if number is None or not number.is_finite() or number < 0:
            return None
        return number if number.adjusted() < _MOST_DIGITS and places_of(number) <= _MOST_DIGITS else None

    def messages(self, given: object) -> list[str]:
        number = decimal(given)
        if number is None and not isinstance(given, str):
            return [wrong_type("string", given)]
        if number is not None and number < 0:
            return [too_small(0)]
        return [f"Invalid amount. Expected digits like 0.25, at most {_MOST_DIGITS} before and after the point"]


class _Object:
    """A JSON object; its content is checked where it is used."""

    def accept(self, given: Any) -> Mapping[str, Any] | None:
        return given if isinstance(given, Mapping) else None

    def messages(self, given: object) -> list[str]:
        return [wrong_type("object", given)]


_NameText = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
_NUMBER: Any = {"anyOf": [{"type": "string", "pattern": _AMOUNT}, {"type": "number", "minimum": 0}]}
_MoneyText = Annotated[str, WithJsonSchema(_NUMBER)]


class ChargeRequest(DescribedBody):
    """A usage to rate and to charge, once."""

    model_config = ConfigDict(extra="forbid")
    usage: MeteredUsage = Field(description="What the request used, as for `POST /rate`")
    timestamp: DateTime = Field(description="When it ran, with a time zone, not ahead of the clock: its prices count")
    request_id: _NameText = Field(description="Its own name: the same again is charged once")
    execution_ms: int = Field(0, ge=0, le=_MOST_MILLISECONDS)
    currency: str = Field("", description="A balance that pays all of it")
    paid: dict[str, _MoneyText] = Field(
        {}, description="What each of several balances pays, in its own unit; it must come to the price"
    )


class RefundRequest(DescribedBody):
    """The refund of a charge: an `amount`, or all that was charged above the `corrected` price."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=either("amount", "corrected"))
    id: _NameText = Field(description="The refund's own name: the same again pays back once")
    sku: _NameText = Field(description="The SKU of the charge that is paid back")
    timestamp: DateTime = Field(description="When it is paid back, with a time zone, not before the charge")
    amount: _MoneyText = Field("", description="What goes back, above 0, in the currency of the price")
    corrected: _MoneyText = Field("", description="What the SKU should have cost: the rest goes back")


_MONEY, _NAME = _Amount(), _Name()
_CHARGE: dict[str, RequestField] = {
    "usage": _Object(),
    "timestamp": Timestamp(),
    "request_id": _NAME,
    "execution_ms": WholeNumber(0, _MOST_MILLISECONDS),
    "currency": _NAME,
    "paid": _Object(),
}
_REFUND: dict[str, RequestField] = {
    "id": _NAME,
    "sku": _NAME,
    "timestamp": Timestamp(),
    "amount": _MONEY,
    "corrected": _MONEY,
}


def _checked(
    body: bytes, fields: Mapping[str, RequestField], described: type[BaseModel]
) -> tuple[dict[str, Any], Problems]:
    """Return the valid fields of a body, and the problems of the others. Raises `QuoteError` unless it is an object."""
    content = read_body(body)
    problems: Problems = unrecognized(content, fields.keys())
    required_names = (name for name, field in described.model_fields.items() if field.is_required())
    problems += [((name,), REQUIRED) for name in required_names if name not in content]
    valid_fields: dict[str, Any] = {}
    return valid_fields, problems + field_problems(content, fields, valid_fields)


@few_suggestions()
def read_charge(body: bytes, card: RateCard, account: str | None = None) -> dict[str, Any]:
    """Return the fields of a charge. Raises `QuoteError` with every error; errors of the usage are at `usage`."""
    fields, problems = _checked(body, _CHARGE, ChargeRequest)
    if "paid" in fields:
        paid, fields["paid"] = {field_name(name): part for name, part in fields["paid"].items()}, {}
        payment_problems = field_problems(paid, dict.fromkeys(paid, _MONEY), fields["paid"])[:MOST_PROBLEMS]
        problems += [(("paid", *path), words) for path, words in payment_problems]
    if problems:
        if fields.keys() >= {"usage", "timestamp"}:
            try:
                card.at(fields["timestamp"], account=account).rate(fields["usage"])
            except QuoteError as error:
                problems += _at_usage(error).problems or [(("usage",), error.error)]
        raise QuoteError(INVALID, problems)
    return fields


def read_refund(body: bytes) -> dict[str, Any]:
    """Return the fields of a refund. Raises `QuoteError` with every error."""
    fields, problems = _checked(body, _REFUND, RefundRequest)
    amount_fields = [
        name for name in ("amount", "corrected") if name in fields or any(path == (name,) for path, _ in problems)
    ]
    if len(amount_fields) != 1:
        problems.append((("amount",), "Exactly one of amount and corrected is needed"))
    if fields.get("amount") == 0:
        problems.append((("amount",), "Number must be greater than 0"))
    if problems:
        raise QuoteError(INVALID, problems)
    return fields


def _at_usage(error: QuoteError) -> QuoteError:
    return QuoteError(error.error, [(("usage", *path), words) for path, words in error.problems])


@dataclass(frozen=True, slots=True)
class _Booking:
    """The ledger, prices and limits that both endpoints share."""

    ledger: Ledger
    live: LiveRateCard
    most_body_bytes: int
    long_work: LongWork

    async def answered(
        self,
        request: Request,
        account: str,
        book: Callable[[bytes, str], Awaitable[BookedCharge | BookedRefund]],
    ) -> Response:
        body = await read_json_body(request, self.most_body_bytes, self.long_work)
        try:
            refuse_query(request)
            booked = await book(body, account)
        except QuoteError as error:
            return json_answer(error.to_json(), 400)
        except InstantError as error:
            return json_answer(QuoteError(INVALID, [(("timestamp",), str(error))]).to_json(), 400)
        except LedgerConflictError as error:
            return error_object(409, str(error))
        except RefundError as error:
            if error.field == "request_id":
                return error_object(404, f"Not found: {error.messages[0]}")
            problems = [((error.field,), words) for words in error.messages]
            return json_answer(QuoteError(INVALID, problems).to_json(), 400)
        except LedgerUnavailableError:  # the reason may name machines of the host, so it is not passed on
            words = "The ledger is not available now. Send the same again later: it is booked once"
            raise HTTPException(503, words, {"Retry-After": "1"}) from None
        except LedgerDamagedError:  # not the client's fault: 500, with the reason in the log
            raise
        except LedgerError as error:
            return error_object(400, str(error))
        ignored = booked.ignored if isinstance(booked, BookedCharge) else ()
        headers = {name.decode(): value.decode() for name, value in ignored_fields(ignored)}
        return json_answer(compact_json(booked.to_dict()), headers=headers)

    async def charge(self, request: Request, body: bytes, account: str) -> BookedCharge:
        card = self.live.now().card
        fields = await self.long_work.of_body(request, body, partial(read_charge, body, card, account))
        try:
            with few_suggestions():
                return await charge_async(self.ledger, card, fields.pop("usage"), account=account, **fields)
        except QuoteError as error:
            raise _at_usage(error) from None
        except CurrencyError as error:
            field = "paid" if "paid" in fields else "currency"
            raise QuoteError(INVALID, [((field,), str(error))]) from None

    async def refund(self, request: Request, body: bytes, account: str) -> BookedRefund:
        fields = await self.long_work.of_body(request, body, partial(read_refund, body))
        request_id = request.path_params["request_id"]
        if _NAME.accept(request_id) is None:
            raise RefundError("request_id", f"no charge '{echo(request_id)}' of this account")
        name = fields.pop("id")
        return await refund_async(self.ledger, account=account, request_id=request_id, refund_id=name, **fields)


class BookedEntry(LedgerRow[ExactText]):
    """A row of the ledger, as the usage history shows it, with its numbers as text."""

    inference_details: EntryDetails


class _Booked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChargeAnswer(_Booked):
    """A charge as it is in the ledger; the same request gets the same answer again."""

    object: Literal["charge"]
    request_id: str
    timestamp: DateTime
    entries: list[BookedEntry]


class RefundAnswer(_Booked):
    """A refund as it is in the ledger; the same id gets the same answer again."""

    object: Literal["refund"]
    id: str
    request_id: str
    sku: str
    timestamp: DateTime
    entries: list[BookedEntry]


_CHARGE_EXAMPLE = {
    "usage": {"type": "video", "model": "ovi-image-to-video"},
    "timestamp": "2026-10-01T12:00:00Z",
    "request_id": "r-1",
}
_REFUND_EXAMPLE = {
    "id": "refund-1",
    "sku": "ovi-image-to-video-fixed",
    "timestamp": "2026-10-02T09:00:00Z",
    "amount": "0.10",
}


def _booking_operation(
    name: str, path: str, summary: str, model: type[BaseModel], example: Any, *statuses: int, **further: Any
) -> dict[str, Any]:
    booked = {"model": model, "description": "It is booked, now or before", "headers": further.pop("headers", {})}
    words = "The id was used before, for other content; nothing was booked"
    answers = {200: booked, 409: {"model": ErrorObject, "description": words}}
    further |= {"tag": "Charges", "examples": {"one": {"value": example}}}
    options = operation(name, path, summary, answers, 400, 401, 413, 415, 503, *statuses, **further)
    return options | {"operation_id": name}


def charges_router(
    ledger: Ledger,
    tables: LiveRateCard,
    account_of: Callable[..., Any],
    *,
    most_body_bytes: int = MOST_BODY_BYTES,
) -> APIRouter:
    """Return a router with `POST /charges` and its refunds, to be included under the base path of the API.

    `account_of` is a FastAPI dependency that returns the account of a request, or None for 401, or raises an
    `HTTPException` (any other exception is answered 503): use keys that no customer has, because a key may charge its
    account any usage. `tables` rate each usage at its timestamp. A longer body than `most_body_bytes` is refused.
    """
    account_dependency = account_needed(account_of)
    booking, routes = _Booking(ledger, tables, most_body_bytes, LongWork()), new_router()
    limits = tables.served.card.tables.limits
    payers = [name for name in currencies(*(day_limits.rates for day_limits in limits)) if name != USD]
    currency = (str, Field("", description="A balance that pays all of it", examples=payers or None))
    described = create_model("ChargeRequest", __base__=ChargeRequest, __doc__=ChargeRequest.__doc__, currency=currency)

    words = "Rate a usage at its timestamp and charge it to the account of the key, once"

    @routes.post(
        **_booking_operation("charge", "/charges", words, ChargeAnswer, _CHARGE_EXAMPLE, headers=headers_of(IGNORED)),
    )
    async def charges(
        request: Request, account: Annotated[str, account_dependency], body: described = UNREAD
    ) -> Response:
        return await booking.answered(request, account, partial(booking.charge, request))

    # A request id may have a slash. It is not an argument of the endpoint, for which FastAPI would describe a 422.
    path = "/charges/{request_id:path}/refunds"
    words = "Pay back a part of a charge, once: to the balance that paid last first"
    name = {"type": "string", "minLength": 1, "maxLength": _LONGEST_NAME}
    request_id = {"name": "request_id", "in": "path", "required": True, "schema": name}

    @routes.post(
        **_booking_operation("refund", path, words, RefundAnswer, _REFUND_EXAMPLE, 404, parameters=(request_id,))
    )
    async def refunds(
        request: Request, account: Annotated[str, account_dependency], body: RefundRequest = UNREAD
    ) -> Response:
        return await booking.answered(request, account, partial(booking.refund, request))

    return routes
