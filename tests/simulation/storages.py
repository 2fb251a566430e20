"""Object storages for tests: the memory of this process, and a real S3 server on this machine."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import obstore
import pytest
from obstore.store import MemoryStore

from ratecard.simulation.usage.kept import storage

# The Python that has a server: `make test-objects` installs it, and says which.
SERVER = os.environ.get("S3_SERVER", "")


class S3(NamedTuple):
    """The address of a server, and the keys of its users."""

    address: str
    keys: Mapping[str, tuple[str, str]]

    def environment(self, user: str) -> dict[str, str]:
        """How it is reached as a user."""
        key, secret = self.keys[user]
        own = {"AWS_ENDPOINT_URL": self.address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
        return own | {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}


@contextmanager
def s3_server() -> Iterator[S3]:
    """A server with a bucket of the name `bucket`, until it is left."""
    command = [SERVER, str(Path(__file__).parent / "s3_server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin and server.stdout
        try:
            yield S3(**json.loads(server.stdout.readline()))
        finally:
            server.stdin.close()


def in_memory(patched: pytest.MonkeyPatch) -> None:
    """Have every address mean a storage of its own in the memory of this process."""
    stores: dict[str, MemoryStore] = {}
    patched.setattr(storage, "_store", lambda address: stores.setdefault(address, MemoryStore()))


def use(patched: pytest.MonkeyPatch, server: S3, user: str = "writer") -> None:
    """Reach a server as one of its users."""
    for name, value in server.environment(user).items():
        patched.setenv(name, value)


def new_address() -> str:
    """An address where nothing is."""
    return f"s3://bucket/{uuid4().hex}/kept"


def objects(address: str) -> list[str]:
    """The names of what is at an address."""
    return sorted(each["path"] for batch in obstore.list(storage._store(address)) for each in batch)


def contents(address: str, name: str) -> Any:
    """What an object holds."""
    return bytes(obstore.get(storage._store(address), name).bytes())
