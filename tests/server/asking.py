"""A client of an application in this process."""

from typing import Any

import httpx
from starlette.testclient import TestClient

QUOTE = "/api/v1/video/quote"
BODY = b'{"model": "grok-imagine-1-5-image-to-video-private", "duration": "5s", "resolution": "720p"}'
JSON = {"content-type": "application/json"}


def asked(app: Any, base: str = "http://testserver") -> TestClient:
    """A client that accepts no compression."""
    return TestClient(app, base_url=base, headers={"accept-encoding": "identity"}, raise_server_exceptions=False)


def post(client: Any, body: bytes = BODY, path: str = QUOTE, **headers: Any) -> httpx.Response:
    """Send a JSON body unchanged."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    answer: httpx.Response = client.post(path, content=body, headers=JSON | names)
    return answer
