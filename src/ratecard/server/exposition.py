"""`GET /metrics`: what was counted, as Prometheus reads it."""

import os

from fastapi import APIRouter
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request
from starlette.responses import Response

from ratecard.server.describe import metrics_description
from ratecard.server.service import Service


def metrics_routes(routes: APIRouter, service: Service) -> None:
    """The metrics of this process; of all workers where `PROMETHEUS_MULTIPROC_DIR` names the folder they share."""

    @routes.get("/metrics", tags=["Operation"], **metrics_description())
    async def metrics(request: Request) -> Response:
        registry: CollectorRegistry = REGISTRY
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": media_type})
