"""Object storages for tests: the memory of this process, and real servers of S3 and of Azure on this machine."""

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

from ratecard.simulation.groups.kept import storage

# The Python with the packages of the servers, and the program of Azure: `make test-objects` installs both.
_PYTHON, _AZURITE = os.environ.get("STORAGES_PYTHON", ""), os.environ.get("AZURITE", "")
_COMMANDS = {"s3": ("s3_server.py",), "az": ("azure_server.py", _AZURITE)}


class Server(NamedTuple):
    """A server of a kind of storage, and what the environment of each of its users holds."""

    scheme: str
    users: Mapping[str, Mapping[str, str]]

    def use(self, patched: pytest.MonkeyPatch, user: str = "writer") -> None:
        """Reach it as one of its users."""
        for name in {name for each in self.users.values() for name in each}:
            patched.delenv(name, raising=False)
        for name, value in self.users[user].items():
            patched.setenv(name, value)

    def new_address(self) -> str:
        """An address where nothing is."""
        return new_address(self.scheme)


@contextmanager
def server_of(scheme: str) -> Iterator[Server]:
    """A server with a bucket of the name `bucket`, until it is left; the test is skipped where it is not installed."""
    script, *programs = _COMMANDS[scheme]
    if not all(Path(each).is_file() for each in (_PYTHON, *programs)):
        pytest.skip(f"the server of {scheme}:// is not installed: make test-objects installs it")
    command = [_PYTHON, str(Path(__file__).parent / script), *programs]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin and server.stdout
        try:
            yield Server(scheme, json.loads(server.stdout.readline()))
        finally:
            server.stdin.close()


def in_memory(patched: pytest.MonkeyPatch) -> None:
    """Have every address mean a storage of its own in the memory of this process."""
    stores: dict[str, MemoryStore] = {}
    patched.setattr(storage, "from_url", lambda address, **_: stores.setdefault(address, MemoryStore()))


def store_of(address: str) -> Any:
    """The storage of an address, as the library finds it."""
    return vars(storage)["from_url"](address)


def new_address(scheme: str = "s3") -> str:
    """An address where nothing is."""
    return f"{scheme}://bucket/{uuid4().hex}/kept"


def objects(address: str) -> list[str]:
    """The names of what is at an address."""
    return sorted(each["path"] for batch in obstore.list(store_of(address)) for each in batch)


def contents(address: str, name: str) -> Any:
    """Return the content of an object."""
    return bytes(obstore.get(store_of(address), name).bytes())
