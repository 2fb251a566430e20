"""A roll-up in a folder or an object storage: the answers of its rows, and never half of one.

Each test of a storage runs on the memory of this process, and with `make test-objects` on real S3 and Azure servers.
"""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import astuple
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import obstore
import pyarrow.parquet
import pytest
from candidate_files import candidate
from click.testing import CliRunner
from kept_roll_ups import answers, made_up_rows, same_or_refused, three_files, write
from storages import Server, contents, in_memory, new_address, objects, store_of

from ratecard import rollup
from ratecard.base.errors import SimulationError
from ratecard.cli import main
from ratecard.review.sides import Side
from ratecard.simulation.groups.kept import storage
from ratecard.simulation.groups.kept.place import KeptPlace
from ratecard.simulation.groups.kept.storage import Stored
from ratecard.simulation.simulate import simulate
from shipped import few_models

BY = ["model", "customer"]
# Two types have separate files of groups; their prices do not matter for a storage.
CARD = few_models("claude-opus-4-6", "kling-o3-pro-text-to-video", of_each=0)
NOW = Side("now", CARD)


@pytest.fixture(scope="module")
def dearer(tmp_path_factory: pytest.TempPathFactory) -> Side:
    changes = "{scale: {type: text}, factor: 1.1}", "{scale: {type: video}, factor: 1.07}"
    return Side("then", CARD.with_candidate(candidate(tmp_path_factory.mktemp("dearer"), *changes, day="2026-09-29")))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pyarrow.Table:
    return made_up_rows(tmp_path_factory.mktemp("made up"), CARD)


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory, rows: pyarrow.Table) -> Path:
    """A usage that no test changes."""
    return three_files(rows, tmp_path_factory.mktemp("steady") / "usage")


@pytest.fixture
def usage(tmp_path: Path, rows: pyarrow.Table) -> Path:
    return three_files(rows, tmp_path / "usage")


@pytest.fixture
def own(tmp_path: Path, rows: pyarrow.Table) -> Path:
    """A usage of fifty rows, which another writer does not have."""
    folder = tmp_path / "own"
    folder.mkdir()
    write(rows, folder / "own.parquet", 40, 50)
    return folder


@pytest.fixture(params=["folder", "memory", "s3", "azure"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A folder, or a place in a storage, where nothing is."""
    if request.param == "folder":
        return str(tmp_path / "kept")
    if request.param == "memory":
        in_memory(monkeypatch)
        return new_address()
    server: Server = request.getfixturevalue(request.param)
    server.use(monkeypatch)
    return server.new_address()


@pytest.fixture
def address(place: str) -> str:
    """The place of a test that is of storages alone, which `storages` marks."""
    return place


storages = pytest.mark.parametrize("place", ["memory", "s3", "azure"], indirect=True)


def layout(names: list[str]) -> list[str]:
    """The names without what is each run's own."""
    return sorted(re.sub(r"^groups/\w+/", "groups/N/", name) for name in names)


def there(place: str) -> list[str]:
    """The names of what is at a place, without the lock of a folder."""
    if "://" in place:
        return objects(place)
    return sorted(each.relative_to(place).as_posix() for each in Path(place).rglob("*.*") if each.name != ".lock")


def packs(place: str) -> set[str]:
    return {name for name in there(place) if name.startswith("groups/")}


def manifest_of(place: str) -> bytes:
    return contents(place, "manifest.json") if "://" in place else Path(place, "manifest.json").read_bytes()


def put_manifest(place: str, manifest: bytes) -> None:
    if "://" in place:
        obstore.put(store_of(place), "manifest.json", manifest)
    else:
        Path(place, "manifest.json").write_bytes(manifest)


def named(place: str) -> set[str]:
    """The packs that the manifest names."""
    manifest = json.loads(manifest_of(place))
    parts = (part for pack in manifest["packs"] for part in pack["parts"].values())
    return {part[kind]["name"] for part in parts for kind in ("groups", "shapes")}


def kept_at(place: str) -> dict[str, bytes]:
    """The manifest and all packs that it names: what a reader reads, byte for byte."""
    return {name: contents(place, name) for name in ("manifest.json", *named(place))}


def test_a_further_run_reads_only_what_is_new_or_changed(
    place: str, rows: pyarrow.Table, usage: Path, dearer: Side
) -> None:
    first = rollup(usage, place, NOW, by=BY)
    assert (str(first.folder), first.rows) == (place, 300)
    assert [len(each) for each in astuple(first.changes)] == [3, 0, 0, 0]
    before = there(place)
    assert [len(each) for each in astuple(rollup(usage, f"{place}/", NOW, by=BY).changes)] == [0, 0, 0, 3]
    assert there(place) == before
    write(rows, usage / "four.parquet", 300, 50)
    write(rows, usage / "two.parquet", 310, 80)
    (usage / "three.parquet").unlink()
    again = rollup(usage, place, NOW, by=BY)
    assert [[Path(file).stem for file in each] for each in astuple(again.changes)] == [
        ["four"], ["two"], ["three"], ["one"],
    ]  # fmt: skip
    assert again.rows == 100 + 80 + 50
    assert packs(place) == named(place)
    assert packs(place).isdisjoint(before)
    assert same_or_refused(place, usage, NOW, dearer, by=[*BY, "day"])
    assert rollup(usage, place, NOW, by=["model"]).anew == "the arguments changed"
    assert packs(place) == named(place)
    said = answers(place, NOW, by=BY)["refused"]
    assert "does not distinguish customer. This one would: ratecard rollup" in said
    assert f"--out {place} --by" in said


@storages
def test_a_storage_has_the_files_of_a_folder(address: str, usage: Path, tmp_path: Path) -> None:
    for at in (address, str(tmp_path / "kept")):
        rollup(usage, at, NOW, by=BY)
    assert layout(there(address)) == layout(there(str(tmp_path / "kept")))


@storages
def test_a_run_that_ends_before_the_manifest_leaves_the_former_roll_up(
    address: str, rows: pyarrow.Table, usage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, head = obstore.put, obstore.head

    def ended(store: Any, path: str, *file: Any, **how: Any) -> Any:
        if path == "manifest.json":
            raise KeyboardInterrupt
        return usual(store, path, *file, **how)

    # The very first run can be broken off too, and others can still begin.
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(obstore, "put", ended)
        rollup(usage, address, NOW, by=BY)
    assert packs(address) and "manifest.json" not in objects(address)
    rollup(usage, address, NOW, by=BY)
    before, there = kept_at(address), named(address)
    write(rows, usage / "one.parquet", 300, 25)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(obstore, "put", ended)
        rollup(usage, address, NOW, by=BY)
    assert named(address) == there < packs(address)
    assert kept_at(address) == before
    assert rollup(usage, address, NOW, by=BY).rows == 100 + 100 + 25
    assert answers(address, NOW) == answers(usage, NOW)
    # Files that a run in progress may need stay; older ones are removed.
    assert named(address) < packs(address)
    # This simulates a manifest that is put two hours from now.
    later = timedelta(hours=2)
    monkeypatch.setattr(
        obstore, "head", lambda *of: (meta := head(*of)) | {"last_modified": meta["last_modified"] + later}
    )
    write(rows, usage / "one.parquet", 300, 26)
    rollup(usage, address, NOW, by=BY)
    assert named(address) == packs(address)


@storages
@pytest.mark.parametrize("step", ["publish", "put"])
@pytest.mark.parametrize("first", [True, False])
def test_of_two_writers_one_is_refused(
    address: str,
    rows: pyarrow.Table,
    steady: Path,
    own: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    first: bool,
) -> None:
    """Another run ends while this one is about to put its manifest: before and after it looked once more."""
    if not first:
        rollup(own, address, NOW, by=BY)
        write(rows, own / "more.parquet", 90, 20)
    if step == "publish":  # a storage that ignores conditions
        usual = obstore.put
        monkeypatch.setattr(obstore, "put", lambda *given, mode=None, **how: usual(*given, **how))
    of_another = meanwhile(monkeypatch, step, lambda: rollup(steady, address, NOW, by=BY) and kept_at(address))
    with pytest.raises(SimulationError, match=rf"^another run changed the roll-up {address} meanwhile, which is as"):
        rollup(own, address, NOW, by=BY)
    assert [kept_at(address)] == of_another
    assert rollup(own, address, NOW, by=BY).rows == 50 + 20 * (not first)
    assert same_or_refused(address, own, NOW, by=BY)


@storages
def test_of_two_writers_the_one_whose_packs_are_gone_is_told_why(
    address: str, rows: pyarrow.Table, steady: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run removes what this one is about to write together with what is new."""
    rollup(own, address, NOW, by=BY)
    write(rows, own / "own.parquet", 50, 50)
    write(rows, own / "more.parquet", 100, 10)
    of_another = meanwhile(monkeypatch, "need", lambda: rollup(steady, address, NOW, by=BY) and kept_at(address))
    with pytest.raises(SimulationError, match=rf"^another run changed the roll-up {address} meanwhile, .* Run again$"):
        rollup(own, address, NOW, by=BY)
    assert [kept_at(address)] == of_another
    assert rollup(own, address, NOW, by=BY).rows == 50 + 10
    assert same_or_refused(address, own, NOW, by=BY)


@storages
def test_a_manifest_that_is_removed_while_it_is_opened(
    address: str, usage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed(place: Any) -> bool:
        there = usually[type(place)](place)
        if there and type(place) is Stored:
            obstore.delete(store_of(address), "manifest.json")
        elif there:
            (place.folder / "manifest.json").unlink()
        return there

    places = (address, str(tmp_path / "kept"))
    for place in places:
        rollup(usage, place, NOW)
    usually = {each: each.is_kept for each in (Stored, KeptPlace)}
    for each in usually:
        monkeypatch.setattr(each, "is_kept", removed)
    for place in places:
        assert answers(place, NOW)["refused"] == f"the roll-up {place} was removed meanwhile. Run again"


def meanwhile(monkeypatch: pytest.MonkeyPatch, step: str, work: Callable[[], object]) -> list[object]:
    """Have something done once, right before a step; before the manifest is put where the step is `put`.

    The list has its result once it is done.
    """
    place: Any = obstore if step == "put" else Stored
    usual, done = getattr(place, step), list[object]()

    def first(*given: Any, **how: Any) -> Any:
        if step != "put" or given[1] == "manifest.json":
            monkeypatch.setattr(place, step, usual)
            done.append(work())
        return usual(*given, **how)

    monkeypatch.setattr(place, step, first)
    return done


@storages
def test_who_reads_while_it_is_replaced_gets_the_new_one(
    address: str, rows: pyarrow.Table, usage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollup(usage, address, NOW, by=BY)

    def replaced() -> None:
        write(rows, usage / "one.parquet", 300, 30)
        rollup(usage, address, NOW, by=BY)

    meanwhile(monkeypatch, "need", replaced)
    assert answers(address, NOW) == answers(usage, NOW)
    obstore.delete(store_of(address), sorted(packs(address))[0])
    assert re.match(rf"{address}/groups/\w+/\S+ is not what was kept\. Make the roll", answers(address)["refused"])


@storages
def test_a_request_whose_answer_is_lost_was_heard(address: str, steady: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = obstore.put

    def lost(store: Any, path: str, file: Any, **how: Any) -> Any:
        found = usual(store, path, file, **how)
        if path == "manifest.json":
            raise obstore.exceptions.GenericError("no answer")
        return found

    monkeypatch.setattr(obstore, "put", lost)
    assert rollup(steady, address, NOW, by=BY).rows == 300
    assert same_or_refused(address, steady, NOW, by=BY)


@storages
def test_a_request_of_which_nothing_more_is_heard(
    address: str, rows: pyarrow.Table, usage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: Any, **__: Any) -> Any:
        raise obstore.exceptions.GenericError("no answer")

    def lost(store: Any, path: str, file: Any, **how: Any) -> Any:
        usual(store, path, file, **how)
        if path == "manifest.json":
            patched.setattr(obstore, "get", silent)
            silent()

    rollup(usage, address, NOW, by=BY)
    write(rows, usage / "four.parquet", 300, 20)
    usual = obstore.put
    said = rf"^{address} cannot be written: no answer\. It is not known whether the roll-up has changed\. Run"
    with monkeypatch.context() as patched, pytest.raises(SimulationError, match=said):
        patched.setattr(obstore, "put", lost)
        rollup(usage, address, NOW, by=BY)
    assert rollup(usage, address, NOW, by=BY).rows == 300 + 20
    assert answers(address, NOW) == answers(usage, NOW)


def test_what_cannot_be_kept_there(place: str, usage: Path) -> None:
    if "://" in place:
        obstore.put(store_of(place), "something.txt", b"else")
        named_like_usage = r"kept\.parquet is named like a file of usage; a roll-up is a folder"
        with pytest.raises(SimulationError, match=named_like_usage):
            rollup(usage, f"{place}.parquet", NOW)
    else:
        place = str(usage)
    with pytest.raises(SimulationError, match=rf"^{place} exists, and is not a roll-up\. Name a folder that is new"):
        rollup(usage / "one.parquet", place, NOW)
    other = f"{place}-of-another"
    rollup(usage, other, NOW)
    with pytest.raises(SimulationError, match=rf"{other} is a roll-up already; give the usage that it was made of"):
        rollup(other, f"{place}-of-a-third", NOW)
    with pytest.raises(SimulationError, match=rf"{other} is a roll-up, which is given alone"):
        simulate([other, str(usage)], NOW)
    manifest = manifest_of(other)
    (name,) = {each for each in named(other) if each.endswith("tokens.parquet")}
    put_manifest(other, manifest.replace(name.encode(), b"../../tokens.parquet"))
    assert "manifest.json is not the manifest of a roll-up" in answers(other)["refused"]
    put_manifest(other, manifest.replace(b'"format": 2', b'"format": 1'))
    for ask in (simulate, lambda at: rollup(usage, at)):
        said = f"{other}/manifest.json has format 1, and this release of ratecard reads 2"
        with pytest.raises(SimulationError, match=said):
            ask(other)


@storages
def test_the_commands(address: str, usage: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    done = run("rollup", str(usage), "--out", address)
    assert re.fullmatch(rf"Files: 3 new\nKept {address}: 300 rows as \d+ groups, 0\.\d MB\n", done.stderr)
    found, expected = (
        run("simulate", place, "--candidate", DEARER_FILE, "--by", "model,month") for place in (address, str(usage))
    )
    assert (found.exit_code, found.stdout) == (0, expected.stdout)


DEARER_FILE = str(Path(__file__).parent / "dearer.yaml")


def test_addresses_of_no_storage(usage: Path) -> None:
    words = r"hdfs://there/kept is not a place for a roll-up: .*\. Allowed: s3://bucket/folder, gs://"
    with pytest.raises(SimulationError, match=words):
        rollup(usage, "hdfs://there/kept", NOW)
    with pytest.raises(SimulationError, match=r"http://there/kept is not a place for a roll-up: no object storage"):
        rollup(usage, "http://there/kept", NOW)
    with pytest.raises(SimulationError, match=r"^://there is not a place for a roll-up: .+\. Allowed: s3://bucket/"):
        rollup(usage, "://there", NOW)
    with pytest.raises(
        SimulationError, match=r"^s3://:x/kept is not a place for a roll-up: .+\. Allowed: s3://bucket/"
    ):
        rollup(usage, "s3://:x/kept", NOW)


def test_addresses_that_are_no_folder(steady: Path) -> None:
    names = "kept?x=1", "kept[1]", "kept]", "kept*", "kept#1", "[kept"
    for beginning, name in product(("s3://bucket/", "http://", "s3://"), names):
        words = (
            rf"^{re.escape(beginning + name)} has a \S, and the address of a roll-up has none of \* \? \[ \] #\. Name"
        )
        with pytest.raises(SimulationError, match=words):
            rollup(steady, beginning + name, NOW)


@pytest.mark.parametrize("place", ["https://there/usage", "hf://datasets/a/b", "r2://there/usage", "foo://x", "://x"])
def test_usage_of_no_storage_is_not_taken_for_a_roll_up(tmp_path: Path, place: str) -> None:
    allowed = "Allowed: .parquet, .csv, .jsonl, each also as .gz, a folder or a pattern of them"
    said = f"{place} is not a usage table. {allowed}"
    assert answers(place, NOW)["refused"] == said
    with pytest.raises(SimulationError, match=rf"^{re.escape(said)}$"):
        rollup(place, tmp_path / "kept", NOW)
    assert f"{place}.xlsx is a workbook, and a simulation reads none" in answers(f"{place}.xlsx", NOW)["refused"]


@pytest.fixture(params=["s3", "azure"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A real server, reached as one who may write."""
    found: Server = request.getfixturevalue(request.param)
    found.use(monkeypatch)
    return found


def test_a_place_that_may_only_be_read(
    server: Server, usage: Path, dearer: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.new_address()
    rollup(usage, address, NOW, by=BY)
    expected, before = answers(usage, NOW, dearer), objects(address)
    server.use(monkeypatch, "reader")
    for _ in range(2):
        assert answers(address, NOW, dearer) == expected
    assert objects(address) == before
    # The message does not name Azure's server if the address contains the credentials.
    denied = r"(127\.0\.0\.1:\d+ says: Access Denied|This request is not authorized to perform this .+ permission)"
    with pytest.raises(SimulationError, match=rf"^{address} cannot be written: {denied}$"):
        rollup(usage, address, NOW, by=["model"])
    server.use(monkeypatch)
    assert answers(address, NOW, dearer) == expected
    assert {name.split("/")[0] for name in objects(address)} == {"groups", "manifest.json"}


def refused(place: str, usage: Path) -> str:
    """Return the reason why nothing is read or written."""
    said = answers(place, NOW)["refused"]
    with pytest.raises(SimulationError) as caught:
        rollup(usage, place, NOW)
    assert str(caught.value) == said
    return str(said)


def test_on_azure_what_is_wrong_is_said_in_a_sentence(
    azure: Server, usage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure.use(monkeypatch)
    address, endpoint = azure.new_address(), azure.users["writer"]["AZURE_STORAGE_ENDPOINT"]
    nowhere, there = address.replace("bucket", "nowhere"), rf"{endpoint.split('/')[2]} says"
    said = "The specified container does not exist"
    assert refused(nowhere, usage) == f"{nowhere} cannot be read: {there}: {said}"
    assert "is not a usage table" in answers(address, NOW)["refused"]
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "d3Jvbmc=")
    said = "Server failed to authenticate the request. Make sure the value of the Authorization header is formed"
    assert refused(address, usage).startswith(f"{address} cannot be read: {there}: {said}")
    assert "\n" not in refused(address, usage)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "wrong")
    assert re.match(rf"{address} .+: MicrosoftAzure error: Invalid Access Key: ", refused(address, usage))


def test_on_s3_what_is_wrong_is_said_in_a_sentence(s3: Server, usage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3.use(monkeypatch)
    on_s3, port = s3.new_address(), s3.users["writer"]["AWS_ENDPOINT_URL"].rpartition(":")[2]
    there = rf"127\.0\.0\.1:{port} says"
    nowhere = on_s3.replace("bucket", "nowhere")
    assert re.fullmatch(
        rf"{nowhere} cannot be read: {there}: The specified bucket does not exist", refused(nowhere, usage)
    )
    assert "is not a usage table" in answers(on_s3, NOW)["refused"]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert re.fullmatch(rf"{on_s3} cannot be read: {there}: .*signature.* does not match.*", refused(on_s3, usage))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "unknown")
    assert re.fullmatch(
        rf"{on_s3} cannot be read: {there}: The AWS Access Key Id .* does not exist.*", refused(on_s3, usage)
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert re.match(rf"{on_s3} .*: there are no credentials in the environment, and none of", refused(on_s3, usage))
    s3.use(monkeypatch)
    usual = vars(storage)["from_url"]
    monkeypatch.setattr(storage, "from_url", lambda address, **_: usual(address, retry_config={"max_retries": 0}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        closed = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed}")
    assert re.fullmatch(
        rf"{on_s3} cannot be read: 127\.0\.0\.1:{closed} says: Connection refused", refused(on_s3, usage)
    )


def test_a_process_that_is_killed(server: Server, rows: pyarrow.Table, usage: Path) -> None:
    address = server.new_address()
    rollup(usage, address)
    before, there = answers(address), named(address)
    write(rows, usage / "one.parquet", 300, 25)
    code = (
        "import os, signal, sys\n"
        "from ratecard.simulation.rollup import rollup\n"
        "import obstore\n"
        "usual = obstore.put\n"
        "killed = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "obstore.put = lambda s, path, *f, **how: killed() if path == 'manifest.json' else usual(s, path, *f, **how)\n"
        "rollup(*sys.argv[1:])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(usage), address], check=False)
    assert done.returncode == -signal.SIGKILL
    assert named(address) == there < packs(address)
    assert answers(address) == before
    assert rollup(usage, address).rows == 100 + 100 + 25
    assert answers(address) == answers(usage)


@pytest.mark.parametrize("words", ["Missing AccessKeyId", "http://169.254.169.254/latest/api/token", "token request"])
def test_credentials_that_are_missing_are_named(words: str) -> None:
    named = words if "http" not in words else "169.254.169.254"
    said = f"there are no credentials in the environment, and none of this machine ({named})"
    assert storage._cause(f"Generic S3 error: {words} failed\na trace") == said
