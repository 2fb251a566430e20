"""`ratecard serve` books charges: with a database and a file of keys, for the holders of these keys alone."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from serving import PATIENCE, Server, few_tables, serving
from starlette.testclient import TestClient

from ratecard.cli import main
from ratecard.ledger import open_ledger
from ratecard.processes.settings import Settings
from ratecard.processes.worker import configured

CHARGE = {
    "usage": {"type": "video", "model": "ovi-image-to-video"},
    "timestamp": "2026-10-01T12:00:00Z",
    "request_id": "r-1",
}
BACK = {"sku": "ovi-image-to-video-fixed", "timestamp": "2026-10-01T12:00:00Z", "amount": "0.10"}


def post(server: Server, path: str, body: dict[str, Any], key: str = "for-charges") -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    return httpx.post(f"{server.base}/api/v1{path}", json=body, headers=headers, timeout=PATIENCE)


def test_workers_book_each_charge_and_refund_once(tmp_path: Path) -> None:
    keys, database = tmp_path / "keys", f"sqlite:///{tmp_path}/ledger.db"
    keys.write_text("acme:for-charges\n")
    options = ["--database", database, "--charge-keys", str(keys), "--workers", "2", "--pool-size", "3"]
    with serving(few_tables(), *options, RATECARD_API_KEYS="umbra:for-quotes") as server:
        assert post(server, "/charges", CHARGE, "for-quotes").status_code == 401
        assert post(server, "/video/quote", CHARGE["usage"], "for-charges").status_code == 401  # type: ignore[arg-type]
        with ThreadPoolExecutor(8) as clients:
            charges = list(clients.map(lambda _: post(server, "/charges", CHARGE), range(16)))
            refunds = list(
                clients.map(
                    lambda number: post(server, "/charges/r-1/refunds", {**BACK, "id": f"f-{number % 4}"}), range(16)
                )
            )
        assert {answer.status_code for answer in charges} == {200}
        assert len({answer.content for answer in charges}) == 1
        assert Counter(answer.status_code for answer in refunds) == {200: 8, 400: 8}, "two of four fit"
    with open_ledger(database) as ledger:
        rows = ledger.page("acme", ledger.walk("acme")).entries
    assert [str(row.amount) for row in rows] == ["-0.22", "0.1", "0.1"]


def test_a_charge_is_kept_by_its_client_where_another_release_has_changed_the_schema(tmp_path: Path) -> None:
    """As of a worker that begins again, after an upgrade elsewhere: 400 would say that it is never booked."""
    keys, database = tmp_path / "keys", f"sqlite:///{tmp_path}/ledger.db"
    keys.write_text("acme:for-charges\n")
    with open_ledger(database) as ledger, ledger._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger_schema SET version = 9")
    settings = Settings(
        tables=few_tables(),
        database=database,
        charge_keys=keys,
        cursor_secret="sixteen characters",  # noqa: S106
    )
    headers = {"authorization": "Bearer for-charges"}
    with TestClient(configured(settings), base_url="http://test/api/v1", headers=headers) as client:
        assert client.post("/charges", json=CHARGE).status_code == 503
        assert client.get("/billing/usage-history").status_code == 503
        assert client.get("/readyz").status_code == 503


@pytest.mark.parametrize("path", ["/video/quote", "/rate", "/charges", "/charges/r-1/refunds"])
def test_the_setting_says_how_long_any_body_may_be(tmp_path: Path, path: str) -> None:
    keys, mebibyte = tmp_path / "keys", 2**20
    keys.write_text("acme:for-charges\n")
    secret, options = "sixteen characters", {"body_bytes": 2 * mebibyte, "database": f"sqlite:///{tmp_path}/ledger.db"}
    settings = Settings.model_validate(options | {"tables": few_tables(), "charge_keys": keys, "cursor_secret": secret})
    headers = {"authorization": "Bearer for-charges", "content-type": "application/json"}
    with TestClient(configured(settings), base_url="http://test/api/v1", headers=headers) as client:
        answers = [client.post(path, content=b"{}" + b" " * size) for size in (3 * mebibyte // 2, 2 * mebibyte)]
    assert [answer.status_code for answer in answers] == [400, 413]


def test_a_charge_may_be_ahead_of_the_clock_as_far_as_the_setting(tmp_path: Path) -> None:
    keys, late = tmp_path / "keys", datetime.now(UTC) + timedelta(hours=3)
    keys.write_text("acme:for-charges\n")
    options = ["--database", f"sqlite:///{tmp_path}/ledger.db", "--charge-keys", str(keys)]
    for ahead, status in ((0, 400), (4 * 3600, 200)):
        with serving(few_tables(), *options, "--charge-ahead", str(ahead)) as server:
            answer = post(server, "/charges", CHARGE | {"timestamp": late.isoformat()})
            assert answer.status_code == status, answer.text
            assert status == 200 or "is ahead of the clock" in answer.json()["details"]["timestamp"]["_errors"][0]


def test_charges_are_off_by_default(tmp_path: Path) -> None:
    with serving(few_tables(), "--database", f"sqlite:///{tmp_path}/ledger.db") as server:
        assert post(server, "/charges", CHARGE).status_code == 404


def test_options_of_a_ledger_are_refused_without_one() -> None:
    done = CliRunner().invoke(
        main, ["serve", "--pool-size", "3", "--charge-ahead", "9", "--host", "no-such-host.invalid"]
    )
    said = "without a ledger nothing uses --pool-size, --charge-ahead. Give --database too"
    assert (done.exit_code, said in done.output) == (2, True), done.output


@pytest.mark.parametrize(
    ("content", "database", "said"),
    [
        ("acme:key", False, "--charge-keys books charges in a ledger. Give --database too"),
        ("", True, "{file} holds no key. Write KEY or ACCOUNT:KEY, separated by commas"),
        (None, True, "{file} cannot be read: No such file or directory"),
        (b"\xff", True, "{file} is not UTF-8"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(
    tmp_path: Path, content: str | bytes | None, database: bool, said: str
) -> None:
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    options = ["serve", "--charge-keys", str(file)]
    options += ["--database", f"sqlite:///{tmp_path}/ledger.db"] if database else []
    done = CliRunner().invoke(main, options, env={"COLUMNS": "1000", "RATECARD_API_KEYS": None})
    assert done.exit_code == 2
    assert said.format(file=file) in done.output
