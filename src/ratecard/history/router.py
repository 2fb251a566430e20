"""`GET /billing/usage-history`: the ledger of an account, page by page, as JSON or CSV."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from ratecard.history.accept import accepted
from ratecard.history.answer import CSV, JSON, page_answer, refusal_answer
from ratecard.history.cursor import Cursors
from ratecard.history.openapi import PARAMETERS, RESPONSES
from ratecard.history.parameters import read_parameters
from ratecard.history.refusal import RefusedError
from ratecard.history.route import Route
from ratecard.ledger import LedgerUnavailableError
from ratecard.ledger.store import Ledger
from ratecard.ledger.walk import Walk
from ratecard.server.refusal import error_object


def usage_history_router(ledger: Ledger, account_of: Callable[..., Any], *, secret: str | bytes) -> APIRouter:
    """A router with `GET /billing/usage-history`, to be included under the base path of the API.

    `account_of` is a FastAPI dependency that gives the account of a request, or None where there is none (401), or
    raises an `HTTPException`. `secret` signs the cursors, 16 signs or more: the same in every process, so that each
    reads the cursors of the others.
    """
    cursors = Cursors(secret)
    router = APIRouter(route_class=Route)

    def walk_of(request: Request, account: str) -> Walk:
        question = read_parameters(request.query_params.multi_items())
        if question.cursor is not None:
            return cursors.read(account, question.cursor)
        return ledger.walk(
            account, start=question.start, end=question.end, currency=question.currency, size=question.size
        )

    # A plain function: FastAPI runs it in a thread, and the event loop never waits for the database.
    @router.get(
        "/billing/usage-history",
        tags=["Billing"],
        summary="The ledger entries of the account, with cursor pagination",
        operation_id="usageHistory",
        response_class=Response,
        responses=RESPONSES,
        openapi_extra={"parameters": PARAMETERS},
    )
    def usage_history(request: Request, account: Annotated[str | None, Depends(account_of)]) -> Response:
        if account is None:
            return error_object(401, "Authentication failed", {"WWW-Authenticate": "Bearer"})
        media = accepted(",".join(request.headers.getlist("accept")), [JSON, CSV])
        if media is None:
            return error_object(406, f"Accept {JSON} or {CSV}")
        try:
            walk = walk_of(request, account)
            page = ledger.page(account, walk)
        except RefusedError as refusal:
            return refusal_answer(refusal)
        except LedgerUnavailableError:  # without the reason, which may name machines of the host
            return error_object(503, "The usage history is not available now. Try again later")
        following = cursors.write(account, page.next) if page.next else None
        return page_answer(media, walk, page, following, request.headers.get("accept-encoding", ""))

    return router
