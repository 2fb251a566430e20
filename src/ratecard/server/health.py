"""`GET /healthz`: which tables are served, what is in effect, and which tables were refused last."""

import json

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ratecard.server.answer import answer
from ratecard.server.describe import health_description
from ratecard.server.live import LiveRateCard
from ratecard.server.service import Service

# A folder can have thousands of faults; the log has them all.
_FAULTS_SHOWN = 20


def health_routes(routes: APIRouter, service: Service) -> None:
    """What a load balancer and a person on call ask."""

    @routes.get("/healthz", tags=["Operation"], **health_description())
    async def healthz(request: Request) -> Response:
        served = service.live.now()
        state = {
            "status": "ok",
            "digest": served.digest,
            "day": served.book.day.isoformat(),
            "changes_at": served.changes_at,
            "last_refusal": _last_refusal(service.live),
            "versions": served.versions,
        }
        return answer(served, dict(request.scope["headers"]), json.dumps(state, ensure_ascii=False).encode())


def _last_refusal(live: LiveRateCard) -> dict[str, object] | None:
    """The tables that were refused last; they are `standing` while the folder still holds them."""
    if live.refusal is None:
        return None
    faults = live.refusal.error.faults
    return {
        "at": live.refusal.at.isoformat(),
        "standing": live.standing,
        "count": len(faults),
        "faults": [str(fault) for fault in faults[:_FAULTS_SHOWN]],
    }
