"""What the usage history answers: a page as JSON or CSV, or why there is none."""

import json
from datetime import UTC, datetime

from starlette.responses import Response

from ratecard.history.refusal import RefusedError
from ratecard.ledger import ledger_csv, ledger_json
from ratecard.ledger.walk import Page, Walk
from ratecard.server.encoding import encode
from ratecard.server.revision import SERVICE_VERSION

JSON, CSV = "application/json", "text/csv"


def page_answer(media: str, walk: Walk, page: Page, following: str | None, encodings: str) -> Response:
    """A page, in an encoding that the client takes. The next cursor stands in the JSON, or in a header of the CSV."""
    headers = {
        "vary": "Accept, Accept-Encoding",
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
        # The time of the export makes each page of a walk a file of its own, in the order of the pages.
        exported = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        headers["content-disposition"] = f'attachment; filename="usage-history-{exported}.csv"'
        if following:
            headers["x-next-cursor"] = following
    body, encoding = encode(content.encode(), encodings)
    if encoding:
        headers["content-encoding"] = encoding
    return Response(body, headers=headers, media_type=media)


def refusal_answer(refusal: RefusedError) -> Response:
    """400, with every error at its parameter."""
    body = json.dumps(refusal.body(), ensure_ascii=False, separators=(",", ":"))
    return Response(body, 400, {"x-service-version": SERVICE_VERSION}, JSON)
