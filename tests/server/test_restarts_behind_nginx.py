"""A rolling restart of two servers behind nginx, with the configuration of deploy/nginx.conf, loses no request.

`make test-proxy` runs it; `make test` does not.
"""

import asyncio
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from flood import Flood
from serving import PATIENCE, Server, few_tables, serving, wait_for

CONFIGURATION = Path(__file__).parent.parent.parent / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx here: apt-get install nginx-light")


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        opened = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in opened]


@contextmanager
def nginx(folder: Path, port: int, servers: list[int]) -> Iterator[None]:
    """nginx on a port, in front of these servers."""
    text = CONFIGURATION.read_text()
    for given, used in zip((8000, 8001, 8002), (port, *servers), strict=True):
        assert text.count(str(given)) == 1
        text = text.replace(str(given), str(used))
    temporary = "".join(f"{kind}_temp_path {kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole = "daemon off; worker_processes 1; pid nginx.pid; error_log errors.log;\nevents {}\n"
    whole += f"http {{\naccess_log off;\n{temporary}{text}\n}}\n"
    (folder / "nginx.conf").write_text(whole)
    assert NGINX
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", "errors.log"])
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextmanager
def flooding(port: int) -> Iterator[Flood]:
    """Requests without a pause while the block runs."""
    flood = Flood("127.0.0.1", port, 16, again=True)
    thread = threading.Thread(target=lambda: asyncio.run(flood.run()))
    thread.start()
    try:
        wait_for(lambda: flood.answered, "answer through nginx")
        yield flood
    finally:
        flood.over = True
        thread.join(PATIENCE)


def test_a_rolling_restart_loses_no_request(tmp_path: Path) -> None:
    first, second, port = free_ports(3)

    def started(own: int) -> Server:
        return servers.enter_context(serving(few_tables(), "--port", str(own), RATECARD_DRAIN="2"))

    with ExitStack() as servers:
        running = {own: started(own) for own in (first, second)}
        with nginx(tmp_path, port, [first, second]):
            wait_for(lambda: answers(port), "nginx")
            with flooding(port) as flood:
                for own in (first, second):
                    before = flood.answered[200]
                    assert running[own].stop() == 0
                    running[own] = started(own)
                    assert flood.answered[200] > before, "the other one answered meanwhile"
        sys.stdout.write(f"{flood.answered.total():,} requests while two servers were restarted behind nginx\n")
        assert (flood.lost, flood.refused) == ([], 0), (tmp_path / "errors.log").read_text()
        assert set(flood.answered) == {200}, (tmp_path / "errors.log").read_text()


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=PATIENCE).status_code == 200
    except httpx.HTTPError:
        return False
