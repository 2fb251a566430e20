"""The OpenAPI description is whole, and the running server does what it says."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from asking import asked, post
from openapi_cases import send_cases

import ratecard
from ratecard.requests.video import FIELD_ORDER
from ratecard.server import LiveRateCard, application

NOW = int(datetime(2026, 10, 1, tzinfo=UTC).timestamp()) * 10**9


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    app = application(LiveRateCard(card, clock=lambda: NOW), check=lambda token: token)
    with asked(app) as found:
        found.headers["authorization"] = "Bearer sesame"
        yield found


@pytest.fixture(scope="module")
def description(client: Any) -> Any:
    return client.get("/openapi.json").json()


def operation(description: Any, path: str) -> Any:
    return next(iter(description["paths"][f"/api/v1{path}"].values()))


def request_body(description: Any, path: str) -> Any:
    """The examples of a body, and its schema, which is a component."""
    content = operation(description, path)["requestBody"]["content"]["application/json"]
    return {**content, "schema": resolved(description, content["schema"])}


def resolved(description: Any, schema: Any) -> Any:
    """A component by its reference, with the others beside it."""
    name = schema["$ref"].removeprefix("#/components/schemas/")
    return {**description["components"]["schemas"][name], "components": description["components"]}


def test_the_server_does_what_it_says() -> None:
    report = send_cases(examples=8)
    assert report["status"] == 0, report["said"]
    assert report["operations"]["tested"] == 14
    assert report["test_cases"]["generated"] > 300
    assert report["answers"]["200"] > 50
    assert report["answers"]["400"] > 50
    assert not [status for status in report["answers"] if status.startswith("5")]


def test_every_endpoint_is_described(description: Any) -> None:
    paths = {"/video/quote", "/audio/quote", "/rate", "/estimate", "/models", "/models/{id}"}
    paths |= {"/billing/usage", "/livez", "/readyz", "/healthz", "/metrics"}
    assert set(description["paths"]) == {f"/api/v1{path}" for path in paths}
    assert re.fullmatch(r"\d+\.\d+", description["info"]["version"])


def test_every_field_of_a_request_is_described(description: Any) -> None:
    assert tuple(request_body(description, "/video/quote")["schema"]["properties"]) == FIELD_ORDER
    fields = request_body(description, "/audio/quote")["schema"]["properties"]
    assert set(fields) == {"model", "duration_seconds", "character_count"}


def test_both_error_objects_are_described(description: Any) -> None:
    for path in ("/video/quote", "/audio/quote"):
        answers = operation(description, path)["responses"]
        assert set(answers) == {"200", "400", "401", "413", "415", "4XX", "5XX"}
        schema = answers["400"]["content"]["application/json"]["schema"]
        names = {each["$ref"].rpartition("/")[2] for each in schema["anyOf"]}
        assert names == {"InvalidRequest", "ErrorObject"}


def test_the_sunset_endpoint_is_deprecated_and_open(description: Any) -> None:
    usage = operation(description, "/billing/usage")
    assert usage["deprecated"] is True
    assert "security" not in usage
    assert set(usage["responses"]["410"]["headers"]) >= {"Deprecation", "Link", "Sunset"}
    assert operation(description, "/video/quote")["security"] == [{"bearer": []}]


@pytest.mark.parametrize("path", ["/rate", "/estimate"])
def test_every_example_of_a_usage_has_a_price(client: Any, description: Any, path: str) -> None:
    content = operation(description, path)["requestBody"]["content"]["application/json"]
    answers = operation(description, path)["responses"]["200"]["content"]["application/json"]["schema"]
    assert len(content["examples"]) >= {"/rate": 10, "/estimate": 1}[path]
    for name, example in content["examples"].items():
        jsonschema.validate(example["value"], content["schema"] | {"components": description["components"]})
        answer = post(client, json.dumps(example["value"], default=str).encode(), f"/api/v1{path}")
        assert answer.status_code == 200, f"{name}: {answer.text}"
        jsonschema.validate(answer.json(), answers | {"components": description["components"]})
        assert "error" not in str(answer.json())


def test_the_examples_of_answers_and_errors_are_what_their_schemas_say(description: Any) -> None:
    found = 0
    for operations in description["paths"].values():
        for status, answer in next(iter(operations.values()))["responses"].items():
            content = answer.get("content", {}).get("application/json", {})
            for example in content.get("examples", {}).values():
                schema = content["schema"] | {"components": description["components"]}
                jsonschema.validate(example["value"], schema)
                found += status == "200"
    assert found >= 4


def test_every_body_answer_and_error_is_a_component_with_a_name(description: Any) -> None:
    for path, operations in description["paths"].items():
        for operation in operations.values():
            parts = [
                *operation["responses"].values(),
                *([operation["requestBody"]] if "requestBody" in operation else []),
            ]
            for part in parts:
                schema = part["content"].get("application/json", {"schema": {"$ref": "text"}})["schema"]
                assert all("$ref" in each for each in schema.get("anyOf", [schema])), f"{path}: {schema}"
            assert {"4XX", "5XX"} <= set(operation["responses"])
    assert description["servers"] == [{"url": "/"}]


@pytest.mark.parametrize("path", ["/video/quote", "/audio/quote"])
def test_every_example_is_quoted_and_is_what_the_schema_says(client: Any, description: Any, path: str) -> None:
    content = request_body(description, path)
    assert len(content["examples"]) >= 3
    for name, example in content["examples"].items():
        jsonschema.validate(example["value"], content["schema"])
        answer = post(client, json.dumps(example["value"]).encode(), f"/api/v1{path}")
        assert answer.status_code == 200, f"{name}: {answer.text}"
        if path == "/video/quote":
            amount = answer.text.removeprefix('{"quote":').removesuffix("}")
            assert Decimal(example["summary"].split()[-2]) == Decimal(amount)


def test_every_refusal_is_what_the_schema_says(client: Any, description: Any) -> None:
    schema = {
        "$ref": "#/components/schemas/InvalidRequest",
        "components": description["components"],
    }
    body = b'{"model": "kling-v3-pro-text-to-video", "duration": "5", "aspect_ratio": "2:1", "target_fps": 500}'
    jsonschema.validate(post(client, body).json(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"error": "x", "details": {"duration": {"_errors": [5]}, "_errors": []}}, schema)


def test_every_value_of_every_version_is_allowed(card: ratecard.RateCard, description: Any) -> None:
    """The schema may not forbid what some model accepts."""
    properties = request_body(description, "/video/quote")["schema"]["properties"]
    for model in card.tables.models.values():
        for version in model.versions if model.type == "video" else ():
            accepts: Any = version.accepts
            for name in ("duration", "aspect_ratio", "resolution", "upscale_factor", "slowdown_factor"):
                for value in getattr(accepts, name) or ():
                    jsonschema.validate(value, properties[name])
            for alias in accepts.resolution_aliases:
                jsonschema.validate(alias, properties["resolution"])


def test_what_the_tables_decide_is_an_example_and_no_list(description: Any) -> None:
    """The tables change under a running server, and a generated client would refuse what is new."""
    fields = request_body(description, "/video/quote")["schema"]["properties"]
    assert [name for name, schema in fields.items() if "enum" in schema or "const" in schema] == []
    assert [fields[name]["examples"] for name in ("upscale_factor", "slowdown_factor")] == [[1, 2, 4], [1, 2, 4, 8]]


def test_a_key_is_of_no_format(description: Any) -> None:
    scheme = description["components"]["securitySchemes"]["bearer"]
    assert scheme == {"type": "http", "scheme": "bearer"}
