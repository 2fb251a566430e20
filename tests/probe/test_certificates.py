"""HTTPS to the address that was checked: the name in the certificate is still verified, and sent."""

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_videos import video
from video_server import VideoServer, running

from ratecard import QuoteError
from ratecard.probe import probe
from ratecard.probe.probing import UnreadableError
from ratecard.probe.worker import facts_of_bytes, read_source

NAME = "video.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `video.example` and `localhost` that signs itself; its key is beside it."""
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},DNS:localhost"]
    files = ["-keyout", f"{path}.key", "-out", str(path)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return path


class TlsServer(VideoServer):
    names: list[str | None]

    def trust(self, certificate: Path) -> None:
        self.names = []
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, f"{certificate}.key")
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self.socket = context.wrap_socket(self.socket, server_side=True)


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[TlsServer]:
    server = TlsServer()
    server.trust(certificate)
    server.paths["/video"] = video()
    with running(server):
        yield server


def answer(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def test_the_name_is_verified_and_sent_though_the_address_is_fixed(tls_server: TlsServer, certificate: Path) -> None:
    limits = tls_server.limits(schemes=("https",))
    trusting = ssl.create_default_context(cafile=str(certificate))
    url = f"https://{NAME}:{tls_server.port}/video"
    assert read_source(url, limits, answer, trusting) == facts_of_bytes(video())
    assert tls_server.names == [NAME]
    assert {headers["Host"] for headers in tls_server.headers} == {f"{NAME}:{tls_server.port}"}


def test_a_certificate_of_another_name_is_refused(tls_server: TlsServer, certificate: Path) -> None:
    limits = tls_server.limits(schemes=("https",))
    trusting = ssl.create_default_context(cafile=str(certificate))
    with pytest.raises(UnreadableError, match="its host has no valid certificate"):
        read_source(f"https://other.example:{tls_server.port}/video", limits, answer, trusting)
    assert tls_server.requests == []


def test_a_certificate_that_signs_itself_is_refused(tls_server: TlsServer) -> None:
    limits = tls_server.limits(schemes=("https",))
    with pytest.raises(QuoteError, match="its host has no valid certificate"):
        probe(f"https://localhost:{tls_server.port}/video", limits)
    assert tls_server.requests == []


def test_the_process_of_a_probe_knows_the_certificates_of_this_machine(
    tls_server: TlsServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    limits = tls_server.limits(schemes=("https",))
    assert probe(f"https://localhost:{tls_server.port}/video", limits) == facts_of_bytes(video())
