"""`ratecard serve` in operation: request ids, the log, CORS, keys in a file, TLS, sockets, a read-only disk."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import BODY, JSON, PATIENCE, QUOTE, Server, few_tables, rewrite, serving, wait_for

ORIGIN = "https://shop.example"
PROXY = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("# of the test\nacme:sesame\n")
    return path


@pytest.fixture(scope="module")
def server(keys: Path) -> Iterator[Server]:
    """Everything at once: JSON lines, requests too, a root path, an origin, and keys from a file."""
    options = ("--log-format", "json", "--access-log", "--root-path", "/prices", "--cors-origin", ORIGIN)
    with serving(few_tables(), *options, "--keys-file", keys) as found:
        yield found


KEY = {"authorization": "Bearer sesame"}


def lines(server: Server) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.said.splitlines()]


def test_a_request_id_comes_back_and_is_in_the_log(server: Server) -> None:
    request_id = "0af7651916cd43dd:b7ad/6b7169+203331=@a.b_c~d-1"
    answer = server.quote(headers=KEY | PROXY | {"x-request-id": request_id})
    assert (answer.status_code, answer.headers["x-request-id"]) == (200, request_id)
    wait_for(lambda: request_id in server.said, "line of the request")
    [line] = [line for line in lines(server) if line["request_id"] == request_id]
    assert (line["method"], line["path"], line["status"]) == ("POST", f"/prices{QUOTE}", 200)
    assert (line["client"], line["level"], line["worker"]) == ("203.0.113.9", "INFO", server.process.pid)
    assert str(line["time"]).endswith("Z")
    assert str(line["seconds"]).startswith("0.")


@pytest.mark.parametrize("given", ["", "x" * 129, "two words", "a,b", "a;b", '"', "<script>"])
def test_an_id_that_is_no_id_is_replaced_and_not_logged(server: Server, given: str) -> None:
    found = server.quote(headers=KEY | {"x-request-id": given}).headers["x-request-id"]
    assert len(found) == 16
    assert int(found, 16) >= 0
    assert not given or given not in [line["request_id"] for line in lines(server)]


@pytest.mark.parametrize("path", ["/nowhere", "/readyz", "/api/v1/models", "/openapi.json"])
def test_every_answer_has_an_id(server: Server, path: str) -> None:
    first, second = (server.get(path).headers["x-request-id"] for _ in range(2))
    assert first != second


def test_no_line_shows_a_key_or_a_query(server: Server) -> None:
    server.quote(path=f"{QUOTE}?explain=true&secret=hidden", headers=KEY)
    server.quote(headers={"authorization": "Bearer wrong-key"})
    wait_for(lambda: '"status": 401' in server.said, "line of the request")
    assert not [word for word in ("sesame", "wrong-key", "hidden") if word in server.said]


def test_pages_of_the_origin_may_ask(server: Server) -> None:
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}
    answer = httpx.options(f"{server.base}{QUOTE}", headers={"origin": ORIGIN} | asks)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)
    answer = server.quote(headers=KEY | {"origin": ORIGIN})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)
    assert "X-Ratecard-Digest" in answer.headers["access-control-expose-headers"]
    assert server.quote(headers={"origin": ORIGIN}).headers["access-control-allow-origin"] == ORIGIN, "of an error too"
    other = httpx.options(f"{server.base}{QUOTE}", headers={"origin": "https://other.example"} | asks)
    assert (other.status_code, "access-control-allow-origin" in other.headers) == (400, False)


def test_the_root_path_begins_links_and_no_request(server: Server) -> None:
    assert server.get("/openapi.json").json()["servers"][0] == {"url": "/prices"}
    assert "</prices/api/v1/billing/usage-history>" in server.get("/api/v1/billing/usage").headers["link"]


def test_a_changed_file_of_keys_is_taken_and_a_broken_one_is_not(server: Server, keys: Path) -> None:
    before = keys.read_text()
    try:
        rewrite(keys, "acme:another\n")
        wait_for(lambda: server.quote(headers=KEY).status_code == 401, "end of the old key")
        another = {"authorization": "Bearer another"}
        assert server.quote(headers=another).status_code == 200
        rewrite(keys, "acme:\n")
        wait_for(lambda: server.quote(headers=another) and "the keys before stay" in server.said, "refusal")
        assert server.quote(headers=another).status_code == 200
        assert f"{keys}: entry 1 names an account and no key" in server.said
    finally:
        rewrite(keys, before)
    wait_for(lambda: server.quote(headers=KEY).status_code == 200, "the old key")


def test_a_socket_in_the_file_system(tmp_path: Path) -> None:
    """Without an address; the socket that a killed server left is replaced, and the own one is taken away."""
    path = tmp_path / "ratecard.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    command = [sys.executable, "-m", "ratecard", "serve", str(few_tables()), "--unix-socket", str(path), "--drain", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RATECARD_")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def connects() -> bool:
        with socket.socket(socket.AF_UNIX) as tried:
            return tried.connect_ex(str(path)) == 0

    try:
        wait_for(connects, "server on the socket")
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=PATIENCE) as client:
            assert client.post(f"http://x{QUOTE}", content=BODY, headers=JSON).content == b'{"quote":0.82}'
    finally:
        process.terminate()
        status = process.wait(PATIENCE)
    assert (status, path.exists()) == (0, False)


# Only shared memory can be written, and no disk, as in a container with a read-only root file system.
READ_ONLY = """
mount --make-rprivate / && mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && mount -o remount,bind,ro / &&
mount -t tmpfs none /dev/shm && cd / && ! touch /tmp/new /var/tmp/new /new 2>/dev/null && exec "$@"
"""
UNSHARED = ["unshare", "--mount", "--map-root-user"]


def within() -> list[str]:
    """Return the words that run a command on a read-only disk; empty where a process may not have one."""
    if shutil.which(UNSHARED[0]) is None or subprocess.run([*UNSHARED, "true"], capture_output=True).returncode:
        return []
    return [*UNSHARED, "sh", "-c", READ_ONLY, "sh"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here to make a certificate")
def test_two_workers_over_tls_on_a_disk_that_cannot_be_written(tmp_path: Path) -> None:
    """Where a process may have a disk of its own; elsewhere on this one."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made += ["-days", "2", "-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    subprocess.run([*made, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    trusted = ssl.create_default_context(cafile=str(certificate))
    options = ("--workers", "2", "--tls-certificate", certificate, "--tls-key", key)
    with serving(few_tables(), *options, verify=trusted, within=within()) as server:
        assert server.base.startswith("https://")
        answer = httpx.post(f"{server.base}{QUOTE}", content=BODY, headers=JSON, verify=trusted, timeout=PATIENCE)
        assert answer.content == b'{"quote":0.82}'
        assert server.get("/metrics").text.count('endpoint="video_quote",status="200"') > 1
