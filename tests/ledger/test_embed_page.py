"""The applications of the page "Embed it", as they are written there: a prompt, its charge, and the usage history."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, text
from starlette.testclient import TestClient

from databases import POSTGRES, whole_database
from ratecard import QuoteError, RateCard, usage_from
from ratecard.ledger import read_ledger

PAGE = Path(__file__).parent.parent.parent / "docs/embed.md"
CALLER = {"authorization": "Bearer secret-key"}
HISTORY = "/api/v1/billing/usage-history"
# The drivers of the page, and those that work without a server.
DRIVERS = ("psycopg", "asyncpg") if POSTGRES else ("pysqlite", "aiosqlite")


def files() -> dict[str, str]:
    """The Python files of the page by their names."""
    found = re.findall(r"^```python\n# (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The database, which the environment names as the page says, beside the files of the page."""
    for name, code in files().items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CURSOR_SECRET", "16 signs or more, the same in every worker")
    with whole_database(tmp_path) as database:
        kind, _, rest = database.partition("://")
        monkeypatch.setenv("ASYNC_DATABASE_URL", f"{kind}+{DRIVERS[1]}://{rest}")
        monkeypatch.setenv("DATABASE_URL", database)
        yield f"{kind}+{DRIVERS[0]}://{rest}"


@contextmanager
def running(folder: Path, name: str) -> Iterator[tuple[TestClient, ModuleType]]:
    """A client of an application of the page, and its module."""
    sys.modules.pop("provider", None)
    spec = spec_from_file_location("app_of_the_page", folder / name)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    with TestClient(module.app) as client:
        yield client, module
    module.ledger.close()
    if isinstance(module.engine, Engine):
        module.engine.dispose()


def ask(client: TestClient, card: RateCard) -> dict[str, Any]:
    """Ask once, and compare the answer with the history and with the price of the same usage."""
    answer = client.post("/chat", json={"prompt": "Hello"}, headers=CALLER)
    assert answer.status_code == 200, answer.text
    booked: dict[str, Any] = answer.json()["charge"]
    rows = read_ledger(client.get(HISTORY, headers=CALLER).text)
    assert [row.details.request_id for row in rows if row.details] == [booked["request_id"]] * 3
    usage = {"input_tokens": 3, "cache_read_input_tokens": 5000, "output_tokens": 406}
    quote = card.at(datetime.fromisoformat(booked["timestamp"])).rate(
        usage_from("anthropic", usage, model="claude-opus-4-6")
    )
    assert sum((row.amount for row in rows), Decimal(0)) == -quote.exact < 0
    assert [Decimal(entry["amount"]) for entry in booked["entries"]] == [row.amount for row in rows]
    return booked


def kept(connection: Connection) -> list[Any]:
    return list(connection.execute(text("SELECT id, account, answer FROM answers")))


@pytest.mark.parametrize("name", ["app.py", "async_app.py"])
def test_an_application_charges_what_it_answered(
    name: str, url: str, card: RateCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "app.py":
        monkeypatch.setenv("DATABASE_URL", url)
    with running(tmp_path, name) as (client, _):
        assert client.post("/chat", json={"prompt": "Hello"}).status_code == 401
        booked = ask(client, card)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert kept(connection) == [(booked["request_id"], "acme", "You said: Hello")]
    engine.dispose()


@pytest.mark.parametrize("name", ["app.py", "async_app.py"])
def test_an_answer_whose_charge_fails_is_not_kept(
    name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "app.py":
        monkeypatch.setenv("DATABASE_URL", url)
    with running(tmp_path, name) as (client, module):
        usage = {"input_tokens": 1, "output_tokens": 1}
        answer = {"id": "r", "model": "nobody-s", "content": "", "usage": usage}
        monkeypatch.setattr(module, "ask", lambda prompt: answer)
        with pytest.raises(QuoteError, match="nobody-s"):
            client.post("/chat", json={"prompt": "Hello"}, headers=CALLER)
        assert not read_ledger(client.get(HISTORY, headers=CALLER).text)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert kept(connection) == []
    engine.dispose()
