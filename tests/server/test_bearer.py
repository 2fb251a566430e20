"""Access: the check of the host decides, or the keys in the environment of a server that runs alone."""

from pathlib import Path
from typing import Any

import pytest
from asking import asked, post
from fastapi import HTTPException

import ratecard
from ratecard.server import application
from ratecard.server.auth import ApiKeys, KeyFile


def check(token: str) -> str | None:
    return {"sesame": "ali"}.get(token)


async def slow_check(token: str) -> str | None:
    return check(token)


@pytest.mark.parametrize("hook", [check, slow_check])
@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Bearer sesame", 200),
        ("bearer  sesame ", 200),
        ("Bearer open", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        ("Basic sesame", 401),
        ("sesame", 401),
        (None, 401),
    ],
)
def test_the_check_of_the_host_decides_about_a_token(
    card: ratecard.RateCard, hook: Any, header: str | None, status: int
) -> None:
    with asked(application(card, check=hook)) as client:
        headers: dict[str, Any] = {"authorization": header} if header is not None else {}
        answers: list[Any] = [post(client, **headers), client.get("/api/v1/models", headers=headers)]
    assert [answer.status_code for answer in answers] == [status, status]
    if status == 401:
        assert all(set(answer.json()) == {"error"} for answer in answers)
        assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)


def test_a_check_may_refuse_by_itself(card: ratecard.RateCard) -> None:
    def busy(_: str) -> str:
        raise HTTPException(429, "slowly")

    with asked(application(card, check=busy)) as client:
        assert post(client, authorization="Bearer sesame").status_code == 429


def test_two_keys_of_one_request_are_refused(card: ratecard.RateCard) -> None:
    with asked(application(card, check=check)) as client:
        for second, status in (("Bearer open", 401), ("Bearer sesame", 200)):
            both = [("authorization", "Bearer sesame"), ("authorization", second)]
            assert client.get("/api/v1/models", headers=both).status_code == status


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
@pytest.mark.parametrize("base", ["", "/api/v1"])
def test_probes_and_metrics_need_no_key(card: ratecard.RateCard, base: str, path: str) -> None:
    with asked(application(card, check=check)) as client:
        assert client.get(base + path).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_what_is_served_in_detail_needs_a_key(card: ratecard.RateCard, path: str) -> None:
    with asked(application(card, check=check)) as client:
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"authorization": "Bearer sesame"}).status_code == 200


def test_the_sunset_endpoint_needs_no_key(card: ratecard.RateCard) -> None:
    with asked(application(card, check=check)) as client:
        assert client.get("/api/v1/billing/usage").status_code == 410


def test_the_body_is_not_validated_without_access(card: ratecard.RateCard) -> None:
    with asked(application(card, check=check)) as client:
        assert post(client, b"x", content_type="text/plain").status_code == 401


def test_keys_name_their_accounts() -> None:
    keys = ApiKeys("acme:abcdefgh, bob:with:colons\n12345678")
    assert keys.account("abcdefgh") == "acme"
    assert keys.account("colons") == "bob:with"
    assert keys.account("12345678") == "default"
    assert keys.account("") is None
    assert keys.account("\udcff") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "holds no key"),
        (" , \n", "holds no key"),
        ("secret, a:", "entry 2 names an account and no key"),
        ("acme :secret", "entry 2 names a key and no account"),
        ("acme:secret # production", "entry 2 begins a comment"),
        ("acme:secret\u00e9", "key 1 is not of visible ASCII"),
        ("12345678,x:12345678", "key 2 is listed twice"),
    ],
)
def test_an_invalid_key_is_refused_without_showing_it(given: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        ApiKeys(given)
    assert "secret" not in str(refusal.value)


def test_a_byte_order_mark_is_no_part_of_a_file_of_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# keys of\nacme:abcdefgh", encoding="utf-8-sig")
    keys = KeyFile(file)
    assert (keys.account("abcdefgh"), keys.account("keys")) == ("acme", None)


def test_a_file_of_keys_is_looked_at_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10**9
    monkeypatch.setattr("ratecard.server.auth.monotonic_ns", lambda: now)
    file = tmp_path / "keys"
    file.write_text("acme:abcdefgh")
    keys = KeyFile(file)
    file.write_text("other-account:abcdefgh")
    now += 10**9 - 1
    assert keys.account("abcdefgh") == "acme"
    now += 1
    assert keys.account("abcdefgh") == "other-account"
