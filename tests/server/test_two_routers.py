"""Two routers in one application: each with its tables, keys and base path, and one description of both."""

import warnings
from typing import Any

import jsonschema
import pytest
from asking import asked, post
from fastapi import FastAPI

import ratecard
from ratecard.server import router

PATHS = ("/api/v1", "/partners/v2")


@pytest.mark.parametrize("how", ["base path", "prefix"])
def test_two_routers_do_not_clash(card: ratecard.RateCard, how: str) -> None:
    app = FastAPI()
    other = ratecard.RateCard(card.tables)
    app.include_router(router(card, check={"one": "a"}.get))
    if how == "prefix":
        app.include_router(router(other, base_path="", check={"two": "b"}.get), prefix=PATHS[1])
    else:
        app.include_router(router(other, base_path=PATHS[1], check={"two": "b"}.get))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # FastAPI warns of two operations with one id
        described: Any = app.openapi()
    operations = [each for path in described["paths"].values() for each in path.values()]
    ids = [each["operationId"] for each in operations]
    assert len(set(ids)) == len(ids) == 2 * sum(path.startswith(PATHS[0]) for path in described["paths"])
    assert {"videoQuote", "partnersV2VideoQuote", "listModels", "partnersV2ListModels"} <= set(ids)
    alone = FastAPI()
    alone.include_router(router(card))
    names = set(alone.openapi()["components"]["schemas"])
    assert set(described["components"]["schemas"]) == names, "both have the same components, under the same names"
    jsonschema.Draft202012Validator.check_schema({"$defs": described["components"]["schemas"]})
    with asked(app) as client:
        for path, right, wrong in ((PATHS[0], "one", "two"), (PATHS[1], "two", "one")):
            statuses = [
                post(client, path=f"{path}/video/quote", authorization=f"Bearer {key}").status_code
                for key in (right, wrong)
            ]
            assert statuses == [200, 401]


def test_one_router_at_two_places_has_different_ids(card: ratecard.RateCard) -> None:
    app, routes = FastAPI(), router(card, base_path="")
    app.include_router(routes, prefix="/a")
    app.include_router(routes, prefix="/b/c")
    ids = {each["operationId"] for path in app.openapi()["paths"].values() for each in path.values()}
    assert {"aVideoQuote", "bCVideoQuote", "aRetrieveModel", "bCRetrieveModel"} <= ids
