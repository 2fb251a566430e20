"""The examples of the pages print what they show, and the OpenAI client reads the answers.

The client is imported where it is used: that takes a fifteenth of the collection, and each process collects all tests.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from serving import Server, serving

if TYPE_CHECKING:
    from openai import OpenAI

ROOT = Path(__file__).parent.parent.parent
PAGES = ("docs/server.md", "docs/clients.md", "README.md")
KEY = "open-sesame"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```(?:\n\n```text\n(.*?)^```)?$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(RATECARD_API_KEYS=f"acme:{KEY}") as found:
        yield found


def examples(page: str) -> Iterator[Any]:
    """Every block of a page with what it shows; of the README those that ask a server."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if page != "README.md" or "curl" in found[2]:
            yield pytest.param(*found.groups(), id=f"{page}:{text.count(chr(10), 0, found.start()) + 1}")


EXAMPLES = [example for page in PAGES for example in examples(page)]


@pytest.mark.parametrize(("language", "code", "shown"), EXAMPLES)
def test_an_example_of_the_page_prints_what_it_shows(
    server: Server,
    language: str,
    code: str,
    shown: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is of Python runs in this process, where all that it imports is imported once."""
    if "ratecard serve" in code:
        assert shown is None
        return
    here = code.replace("http://127.0.0.1:8000", server.base)
    if language == "python":
        monkeypatch.chdir(ROOT)
        exec(compile(here, "<page>", "exec"), {"__name__": "__main__"})  # noqa: S102
        printed = capsys.readouterr().out
    else:
        assert shutil.which("curl"), "curl is needed"
        done = subprocess.run(["/bin/sh", "-c", here], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    assert printed.strip() == (shown or "").strip()


def test_the_pages_have_their_examples() -> None:
    assert sum("curl" in str(example.values[1]) for example in EXAMPLES) >= 5


@pytest.fixture
def client(server: Server) -> Iterator["OpenAI"]:
    from openai import OpenAI

    with OpenAI(base_url=f"{server.base}/api/v1", api_key=KEY, max_retries=0) as found:
        yield found


def test_the_openai_client_reads_the_models(client: "OpenAI") -> None:
    models = {model.id: model for model in client.models.list()}
    assert len(models) > 300
    assert models["topaz-video-upscale"].object == "model"
    assert models["topaz-video-upscale"].created > 1_700_000_000
    assert models["topaz-video-upscale"].owned_by


def test_the_openai_client_retrieves_a_model_whose_id_has_slashes(client: "OpenAI") -> None:
    slashed = next(model.id for model in client.models.list() if "/" in model.id)
    assert client.models.retrieve(slashed).id == slashed


def test_the_openai_client_posts_a_quote_and_reads_its_errors(client: "OpenAI") -> None:
    from openai import BadRequestError

    body = {"model": "ovi-image-to-video"}
    assert client.post("/video/quote", body=body, cast_to=object) == {"quote": 0.22}
    with pytest.raises(BadRequestError) as refusal:
        client.post("/video/quote", body=body | {"target_fps": 500}, cast_to=object)
    assert refusal.value.response.json()["details"]["target_fps"]["_errors"]


def test_the_openai_client_knows_a_wrong_key(server: Server) -> None:
    from openai import AuthenticationError, OpenAI

    with (
        OpenAI(base_url=f"{server.base}/api/v1", api_key="wrong", max_retries=0) as client,
        pytest.raises(AuthenticationError),
    ):
        client.models.list()


def test_a_head_has_no_body_and_options_has_none(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"HEAD /api/v1/livez HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.sendall(b"OPTIONS /api/v1/rate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = b""
        while part := connection.recv(65536):
            said += part
    head, options = said.split(b"HTTP/1.1 ")[1:]
    assert head.startswith(b"200 OK")
    assert head.endswith(b"\r\n\r\n")
    assert options.startswith(b"204 No Content")
    assert b"\r\nallow: POST, OPTIONS\r\n" in options
