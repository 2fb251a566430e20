"""One line mounts the router, in FastAPI and in Starlette, whole or in part, at any path."""

import subprocess
import sys
from typing import Any

import pytest
from asking import BODY, asked, post
from fastapi import Depends, FastAPI, HTTPException
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount

import ratecard
from ratecard.server import router


def included(routes: Any, **options: Any) -> FastAPI:
    app = FastAPI()
    app.include_router(routes, **options)
    return app


def mounted(routes: Any) -> Starlette:
    app = Starlette()
    app.mount("/", routes)
    return app


@pytest.mark.parametrize("mount", [included, mounted])
def test_a_host_mounts_everything(card: ratecard.RateCard, mount: Any) -> None:
    with asked(mount(router(card))) as client:
        assert post(client).content == b'{"quote":0.82}'
        paths = ("models", "billing/usage", "healthz", "metrics", "video/quote")
        assert [client.get(f"/api/v1/{path}").status_code for path in paths] == [200, 410, 200, 200, 405]
        assert client.get("/api/v1/video/quote").json() == {"error": "Method not allowed. Use POST"}
        assert client.get("/api/v1/nothing").status_code == 404


@pytest.mark.parametrize("mount", [included, mounted])
def test_a_host_mounts_the_quotes_alone(card: ratecard.RateCard, mount: Any) -> None:
    with asked(mount(router(card, parts=["quotes"]))) as client:
        assert post(client).status_code == 200
        assert client.get("/api/v1/models").status_code == 404
        assert client.get("/api/v1/healthz").status_code == 404


@pytest.mark.parametrize("mount", [included, mounted])
@pytest.mark.parametrize("base_path", ["", "/pricing", "/a/b/c"])
def test_the_base_path_is_the_hosts(card: ratecard.RateCard, mount: Any, base_path: str) -> None:
    with asked(mount(router(card, base_path=base_path))) as client:
        assert post(client, path=f"{base_path}/video/quote").status_code == 200
        assert post(client).status_code == 404


def test_a_prefix_is_put_before_the_base_path(card: ratecard.RateCard) -> None:
    with asked(included(router(card), prefix="/host")) as client:
        assert post(client, path="/host/api/v1/video/quote").status_code == 200
        assert "</host/api/v1/billing/usage-history>" in client.get("/host/api/v1/billing/usage").headers["link"]


@pytest.mark.parametrize("mount", [included, mounted])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"content_type": "text/plain"}, 415),
        ({"authorization": "Bearer wrong"}, 401),
        ({"body": b"x"}, 400),
        ({"body": b" " * 2000}, 413),
    ],
)
def test_errors_are_error_objects_in_every_host(
    card: ratecard.RateCard, mount: Any, sent: dict[str, Any], status: int
) -> None:
    routes = router(card, check={"right": "acme"}.get, most_body_bytes=1000)
    with asked(mount(routes)) as client:
        answer = post(client, **{"authorization": "Bearer right"} | sent)
    assert answer.status_code == status
    assert "error" in answer.json()
    assert "detail" not in answer.json()


@pytest.mark.parametrize("how", ["include", "router around it", "application"])
def test_the_dependencies_of_a_host_are_never_skipped(card: ratecard.RateCard, how: str) -> None:
    calls = []

    def guard() -> None:
        calls.append(how)
        raise HTTPException(403, "not you")

    guards = [Depends(guard)]
    app = FastAPI(dependencies=guards if how == "application" else None)
    if how == "router around it":
        from fastapi import APIRouter

        around = APIRouter(dependencies=guards)
        around.include_router(router(card))
        app.include_router(around)
    else:
        app.include_router(router(card), dependencies=guards if how == "include" else None)
    with asked(app) as client:
        answers: list[Any] = [post(client), client.get("/api/v1/models")]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(403, {"error": "not you"})] * 2
    assert calls == [how, how]


def test_a_host_with_dependencies_gets_the_same_answers(card: ratecard.RateCard) -> None:
    seen = []
    routes = router(card, check={"right": "acme"}.get)
    with asked(included(routes, dependencies=[Depends(lambda: seen.append(1))])) as client:
        answers = [post(client, authorization=f"Bearer {token}") for token in ("right", "wrong")]
        answers.append(post(client, b"x", authorization="Bearer right"))
    assert [answer.status_code for answer in answers] == [200, 401, 400]
    assert answers[0].content == b'{"quote":0.82}'
    assert answers[1].json()["error"].startswith("Authentication failed")
    assert len(seen) >= 2


def test_the_middleware_of_a_host_is_left_to_the_host(card: ratecard.RateCard) -> None:
    app = Starlette(routes=[Mount("/", router(card))], middleware=[Middleware(GZipMiddleware, minimum_size=1)])
    with asked(app) as client:
        answer = client.post(
            "/api/v1/video/quote", content=BODY, headers={"content-type": "application/json", "accept-encoding": "gzip"}
        )
    assert answer.json() == {"quote": 0.82}
    assert answer.headers["content-encoding"] == "gzip"


def test_the_lifespan_of_the_host_follows_the_folder(tmp_path: Any) -> None:
    from serving import copy_tables

    from ratecard.server import LiveRateCard

    live = LiveRateCard(copy_tables(tmp_path))
    watch = live._watch
    assert watch
    with asked(included(router(live))):
        assert watch._thread is not None
    assert watch._thread is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parts": ["qoutes"]}, "no part 'qoutes'. Did you mean 'quotes'"),
        ({"base_path": "api"}, "must begin with /"),
        ({"base_path": "/api/"}, "not end with one"),
    ],
)
def test_wrong_options_are_named(card: ratecard.RateCard, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        router(card, **options)


def test_a_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['brotli'] = None; import ratecard.server"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "ImportError: The server needs brotli: pip install 'ratecard[server]'"
