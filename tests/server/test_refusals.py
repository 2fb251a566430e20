"""Every bad request is answered with an error object and the right status, never with 500."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asking import BODY, QUOTE, asked, post

import ratecard
from ratecard.server import application
from ratecard.server.http import too_long

MOST = 8192


@pytest.fixture(scope="module")
def client(card: ratecard.RateCard) -> Iterator[Any]:
    with asked(application(card, most_body_bytes=MOST)) as found:
        yield found


def is_error_object(answer: Any) -> bool:
    found = answer.json()
    assert answer.headers["content-type"] == "application/json"
    return set(found) <= {"error", "details"} and isinstance(found["error"], str)


HOSTILE = {
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "UTF-16": '{"model": "ovi-image-to-video"}'.encode("utf-16"),
    "a NUL": b'{"model": "ovi\x00"}',
    "an escaped NUL": b'{"model": "ovi\\u0000"}',
    "half a surrogate": b'{"model": "\\ud800"}',
    "a huge integer": b'{"model": "topaz-video-upscale", "target_fps": ' + b"9" * 2000 + b"}",
    "a huge exponent": b'{"model": "topaz-video-upscale", "target_fps": 1e999999999}',
    "NaN": b'{"model": "topaz-video-upscale", "target_fps": NaN}',
    "Infinity": b'{"model": "topaz-video-upscale", "target_fps": -Infinity}',
    "deep nesting": b'{"model": ' + b"[" * 2000 + b"]" * 2000 + b"}",
    "deep objects": b'{"a": ' * 600 + b"1" + b"}" * 600,
    "a list as the model": b'{"model": [1]}',
    "an object as the duration": b'{"model": "kling-o3-pro-text-to-video", "duration": {}}',
    "the key _errors": b'{"model": "veo3", "_errors": {"_errors": 1}}',
    "the second of two keys": b'{"model": "ovi-image-to-video", "model": null}',
    "half a body": BODY[:40],
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("path", [QUOTE, "/api/v1/audio/quote", f"{QUOTE}?explain=true"])
def test_a_hostile_body_is_answered_with_400(client: Any, path: str, body: bytes) -> None:
    answer = post(client, body, path)
    assert answer.status_code == 400
    assert is_error_object(answer)


def test_an_unknown_model_is_a_sentence_alone(client: Any) -> None:
    answer = post(client, b'{"model": "veo3"}')
    assert (answer.status_code, set(answer.json())) == (400, {"error"})
    assert answer.json()["error"].startswith("Specified model not found: veo3. Did you mean: ")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", ""]
)
def test_another_type_is_answered_with_415(client: Any, kind: str) -> None:
    answer = post(client, content_type=kind)
    assert (answer.status_code, is_error_object(answer)) == (415, True)
    assert "application/json" in answer.json()["error"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
def test_json_with_parameters_is_json(client: Any, kind: str) -> None:
    assert post(client, content_type=kind).status_code == 200


def test_a_body_without_a_type_is_read_as_json(client: Any) -> None:
    assert client.post(QUOTE, content=BODY, headers={}).status_code == 200


@pytest.mark.parametrize(("size", "status"), [(MOST - 1, 200), (MOST, 200), (MOST + 1, 413)])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_is_as_long_as_allowed_and_no_longer(client: Any, size: int, status: int, chunked: bool) -> None:
    body = BODY + b" " * (size - len(BODY))
    parts = (body[at : at + 100] for at in range(0, size, 100))
    answer = client.post(QUOTE, content=parts if chunked else body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert "content-length" not in answer.request.headers or not chunked
    if status == 413:
        assert answer.json() == {"error": too_long(MOST)}


@pytest.mark.parametrize("name", ["Content-Type", "Content-Encoding"])
def test_a_header_that_says_two_things_of_a_body_is_refused(client: Any, name: str) -> None:
    said = {"Content-Type": ("text/plain", "application/json"), "Content-Encoding": ("gzip", "identity")}[name]
    answer = client.post(QUOTE, content=BODY, headers=[(name, value) for value in said])
    assert (answer.status_code, name in answer.json()["error"]) == (400, True)
    same = client.post(QUOTE, content=BODY, headers=[(name, said[1])] * 2)
    assert same.status_code == 200


@pytest.mark.parametrize("length", ["99999999", "9" * 5000])
def test_a_body_that_says_it_is_too_long_is_not_read(client: Any, length: str) -> None:
    answer = client.post(QUOTE, content=BODY, headers={"content-type": "application/json", "content-length": length})
    assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/api/v1/video", f"{QUOTE}/", f"{QUOTE}s", "/api/v2/models"])
def test_a_path_that_is_not_there_is_answered_with_404(client: Any, path: str) -> None:
    answer = post(client, path=path)
    assert (answer.status_code, answer.json()) == (404, {"error": f"Not found: {path}"})


def test_a_long_path_is_not_echoed_whole(client: Any) -> None:
    assert len(client.get("/" + "x" * 5000).content) < 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "BREW"])
def test_another_method_is_answered_with_405_and_what_is_allowed(client: Any, method: str) -> None:
    answer = client.request(method, QUOTE)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or answer.json() == {"error": "Method not allowed. Use POST"}


def test_an_unexpected_exception_is_answered_with_500_and_without_its_reason(card: ratecard.RateCard) -> None:
    def broken() -> str:
        raise RuntimeError("the password of the database")

    with asked(application(card, unready=broken)) as client:
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (500, {"error": "Internal server error"})


def test_the_tree_of_every_error_is_there(client: Any) -> None:
    body = {"model": "kling-v3-pro-text-to-video", "duration": "5", "aspect_ratio": "2:1", "target_fps": 500}
    details = post(client, json.dumps(body).encode()).json()["details"]
    assert list(details) == ["_errors", "duration", "aspect_ratio", "target_fps"]
