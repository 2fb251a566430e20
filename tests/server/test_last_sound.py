"""The tables that were served last are kept for restarts and replicas; a crash or a race leaves no half of them."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import asked, post
from prometheus_client import REGISTRY
from serving import GROK, OVI, Server, at_rate, copy_tables, rewrite, serving, wait_for
from tables_by_turns import WRITERS

import ratecard
from forks import run, start
from ratecard import TableError
from ratecard.base.errors import RateCardError
from ratecard.load.folder import read_folder
from ratecard.server import LiveRateCard, application
from ratecard.server.last_sound import Contents, LastSound, StateError

NOW = int(datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()) * 10**9
EDITED = "version 2026-09-28 of grok-imagine-1-5-image-to-video-private is in effect, and was edited"
HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_tables(tmp_path)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def live_of(folder: Path, state: Path, **options: Any) -> LiveRateCard:
    return LiveRateCard(folder, state=state, clock=lambda: NOW, **options)


def edit(folder: Path, head: str = "") -> None:
    """Edit a price in effect, with a line more in its version."""
    text = at_rate((folder / GROK).read_text(), "0.2")
    rewrite(folder / GROK, text.replace("      - effective: 2026-09-28\n", f"      - effective: 2026-09-28\n{head}"))


CORRECTED = "        correction: a slip of the pen\n"


def test_without_a_state_a_restart_takes_what_is_there(folder: Path) -> None:
    before = LiveRateCard(folder).served.digest
    edit(folder)
    assert LiveRateCard(folder).served.digest != before


def test_after_a_restart_an_edit_is_still_refused_and_the_kept_tables_are_served(
    folder: Path, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = live_of(folder, state).served.digest
    edit(folder)
    live = live_of(folder, state)
    assert live.served.digest == before
    assert any(f"{GROK}:51: {EDITED}" in line for line in caplog.messages)
    assert caplog.messages[-1] == f"3 faults in the tables; tables {before} stay"
    assert REGISTRY.get_sample_value("ratecard_tables_stand_refused") == 1
    assert REGISTRY.get_sample_value("ratecard_tables_info", {"digest": before}) == 1
    with asked(application(live)) as client:
        assert post(client).content == b'{"quote":0.82}'
        health = client.get("/healthz").json()
        assert health["digest"] == before
        assert health["last_refusal"]["standing"] is True
        assert EDITED in str(health["last_refusal"]["faults"])
        assert client.get("/readyz").status_code == 200
        edit(folder, CORRECTED)
        wait_for(lambda: post(client).content == b'{"quote":1.01}', "corrected price")
        assert client.get("/healthz").json()["last_refusal"]["standing"] is False
    assert REGISTRY.get_sample_value("ratecard_tables_stand_refused") == 0
    assert REGISTRY.get_sample_value("ratecard_tables_info", {"digest": before}) == 0
    assert REGISTRY.get_sample_value("ratecard_tables_info", {"digest": live.served.digest}) == 1
    assert live_of(folder, state).served.digest == live.served.digest, "the corrected ones are kept"


def test_a_correction_is_the_way_out_at_the_start_too(folder: Path, state: Path) -> None:
    before = live_of(folder, state).served.digest
    edit(folder, CORRECTED)
    live = live_of(folder, state)
    assert (live.served.digest != before, live.refusal) == (True, None)


def test_allowed_edits_are_taken_and_kept(folder: Path, state: Path) -> None:
    live_of(folder, state)
    edit(folder)
    edited = live_of(folder, state, allow_edits=True).served.digest
    assert live_of(folder, state).served.digest == edited
    assert live_of(folder, state).refusal is None


BROKEN: dict[str, Callable[[Path], object]] = {
    "no YAML": lambda folder: (folder / GROK).write_text("nonsense"),
    "a wrong example": lambda folder: (folder / OVI).write_text(
        (folder / OVI).read_text().replace("rate: 0.22}", "rate: 22}")
    ),
    "a model is gone": lambda folder: (folder / OVI).unlink(),
    "no folder": lambda folder: folder.rename(folder.with_name("away")),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_whatever_is_refused_at_the_start_the_kept_tables_are_served(
    folder: Path, state: Path, change: Callable[[Path], object]
) -> None:
    before = live_of(folder, state).served.digest
    change(folder)
    live = live_of(folder, state)
    assert live.served.digest == before
    assert live.standing
    assert live.refusal is not None


def test_a_first_start_on_unsound_tables_is_refused_and_keeps_nothing(folder: Path, state: Path) -> None:
    (folder / GROK).write_text("nonsense")
    with pytest.raises(TableError):
        live_of(folder, state)
    assert LastSound(state).read() is None


def test_what_was_served_before_is_taken_again_after_a_restart(folder: Path, state: Path) -> None:
    text = (folder / GROK).read_text()
    before = live_of(folder, state).served.digest
    edit(folder, CORRECTED)
    live_of(folder, state)
    (folder / GROK).write_text(text)
    assert live_of(folder, state).served.digest == before


def into_a_folder(kept: Path) -> None:
    kept.unlink()
    kept.mkdir()


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda kept: kept.write_bytes(kept.read_bytes()[:-1000]), "is damaged"),
    "empty": (lambda kept: kept.write_bytes(b""), "is damaged"),
    "not text": (lambda kept: kept.write_bytes(b"\xff\x00"), "is damaged"),
    "another kind of JSON": (lambda kept: kept.write_text("[1]"), "is damaged"),
    "no tables": (lambda kept: kept.write_text("{}"), "is damaged"),
    "tables of numbers": (lambda kept: kept.write_text('{"sha256": "", "tables": {"a": 1}}'), "is damaged"),
    "another price": (lambda kept: kept.write_text(kept.read_text().replace("rate: 0.2}", "rate: 0.1}")), "is damaged"),
    "a folder": (into_a_folder, "cannot be read: Is a directory"),
    "gone": (lambda kept: kept.unlink(), "is gone"),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_state_refuses_to_start_and_says_what_to_do(
    folder: Path, state: Path, damage: Callable[[Path], object], words: str
) -> None:
    live_of(folder, state)
    edit(folder, CORRECTED)
    live_of(folder, state)
    damage(state / "tables.json")
    with pytest.raises(StateError) as refused:
        live_of(folder, state)
    assert str(refused.value).startswith(f"{state}/tables.json {words}. ")
    assert f"or, if the folder of tables is right, delete all of {state}" in str(refused.value)
    assert isinstance(refused.value, RateCardError)


def test_kept_tables_that_this_release_cannot_read_refuse_to_start(folder: Path, state: Path) -> None:
    live_of(folder, state)
    LastSound(state).write({GROK: b"nonsense"})
    with pytest.raises(StateError, match=r"is not sound for this release: video/grok-imagine\.yaml:1: "):
        live_of(folder, state)
    (folder / GROK).write_text("nonsense")
    with pytest.raises(StateError, match="is not sound for this release"):
        live_of(folder, state)


def test_a_folder_that_cannot_be_written_refuses_to_start(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none" / "state", tmp_path / "file", tmp_path / "file" / "state"):
        with pytest.raises(StateError, match=r"cannot be written: .*\. Name a folder that this process may write"):
            live_of(folder, path)


def test_a_state_that_is_damaged_while_it_serves_refuses_changes_and_says_so(folder: Path, state: Path) -> None:
    live = live_of(folder, state)
    (state / "tables.json").write_text("")
    with asked(application(live)) as client:
        assert post(client).content == b'{"quote":0.82}'
        edit(folder, CORRECTED)
        wait_for(lambda: live.refusal, "refusal")
        assert "tables.json is damaged" in str(client.get("/healthz").json()["last_refusal"]["faults"])
        assert post(client).content == b'{"quote":0.82}'


def test_a_rate_card_has_no_state(card: ratecard.RateCard, state: Path) -> None:
    with pytest.raises(ValueError, match="state keeps the files of a folder of tables"):
        LiveRateCard(card, state=state)


@pytest.mark.parametrize("point", ["fsync", "replace"])
def test_a_crash_in_the_middle_of_a_write_leaves_the_old_state(
    folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    before = live_of(folder, state).served.digest
    edit(folder, CORRECTED)
    with monkeypatch.context() as broken, pytest.raises(Crash):
        broken.setattr(os if point == "fsync" else Path, point, crash)
        live_of(folder, state)
    rewrite(folder / GROK, "nonsense")
    assert live_of(folder, state).served.digest == before


def test_a_process_that_is_killed_while_it_writes_leaves_one_of_both(state: Path) -> None:
    """Each round kills a writer of two states in turn, wherever it is."""
    for _ in range(5):
        writer = start([str(HERE / "tables_by_turns.py"), str(state)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        writer.kill()
        writer.wait()
        writer.stdout.close()
        kept = LastSound(state).read()
        assert kept in ({"a": b"1" * 100_000}, {"a": b"2" * 100_000})


def test_processes_that_write_at_once_lose_nothing(state: Path) -> None:
    command = [str(HERE / "tables_by_turns.py"), str(state)]
    writers = [start([*command, str(number)]) for number in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    kept = LastSound(state)
    written: list[Contents] = [{"a": b"%d.%d" % (number, turn)} for number in range(WRITERS) for turn in range(20)]
    assert [each for each in written if not kept.had(each)] == []
    assert kept.read() in written


def test_what_one_process_takes_is_what_the_next_one_compares_with(folder: Path, state: Path) -> None:
    """Two servers with folders of their own and one state: the second may not edit what the first served."""
    first, second = live_of(folder, state), live_of(folder, state)
    assert first.served.digest == second.served.digest
    edit(folder, CORRECTED)
    third = live_of(folder, state)
    rewrite(folder / GROK, (folder / GROK).read_text().replace("rate: 0.2}", "rate: 0.3}").replace("3.01}", "4.51}"))
    fourth = live_of(folder, state)
    assert fourth.served.digest == third.served.digest
    assert "'a slip of the pen' is the reason of an earlier correction" in str(fourth.refusal)


def test_tables_of_another_digest_are_refused_at_the_start_and_later(folder: Path, tmp_path: Path) -> None:
    digest = ratecard.load_rate_card(folder).digest
    live = LiveRateCard(folder, digest=digest, clock=lambda: NOW)
    with asked(application(live)) as client:
        assert post(client).content == b'{"quote":0.82}'
        edit(folder, CORRECTED)
        wait_for(lambda: live.refusal, "refusal")
        assert post(client).content == b'{"quote":0.82}'
    other = ratecard.load_rate_card(folder)
    words = f"these tables have the digest {other.digest}, and only {digest} is served. Put those tables back; or, if"
    assert words in str(live.refusal)
    for tables in (folder, other):
        with pytest.raises(TableError, match=words):
            LiveRateCard(tables, digest=digest)
    with pytest.raises(TableError, match=words):
        live.take(other)
    assert live.served.digest == digest


def test_kept_tables_of_the_digest_are_served_and_others_are_not(folder: Path, state: Path) -> None:
    digest = live_of(folder, state).served.digest
    edit(folder, CORRECTED)
    live = live_of(folder, state, digest=digest)
    assert (live.served.digest, live.standing) == (digest, True)
    with pytest.raises(TableError, match=f"and only {'0' * 16} is served"):
        live_of(folder, state, digest="0" * 16)


def shows(server: Server, *lines: str) -> bool:
    return set(lines) <= set(server.get("/metrics").text.splitlines())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_that_is_restarted_serves_what_it_served_and_every_worker_says_so(
    folder: Path, state: Path, workers: int
) -> None:
    words = ("--workers", str(workers))
    with serving(folder, *words, RATECARD_STATE=str(state)) as server:
        before = str(server.health()["digest"])
        wait_for(lambda: shows(server, f'ratecard_tables_info{{digest="{before}"}} 1.0'), "digest")
        assert shows(server, "ratecard_tables_stand_refused 0.0")
        assert server.stop() == 0
    edit(folder)
    with serving(folder, *words, "--state", state) as server:
        assert {server.quote().content for _ in range(10)} == {b'{"quote":0.82}'}
        assert {server.health()["digest"] for _ in range(10)} == {before}
        wait_for(lambda: server.said.count(f"tables {before} stay") == workers, "line of each worker")
        assert server.said.count(f"{GROK}:51: {EDITED}") == workers
        assert shows(server, "ratecard_tables_stand_refused 1.0", f'ratecard_tables_info{{digest="{before}"}} 1.0')
        edit(folder, CORRECTED)
        wait_for(lambda: server.said.count("take the place of") == workers, "corrected tables")
        now = str(server.health()["digest"])
        lines = ("ratecard_tables_stand_refused 0.0", f'ratecard_tables_info{{digest="{now}"}} 1.0')
        wait_for(lambda: shows(server, *lines, f'ratecard_tables_info{{digest="{before}"}} 0.0'), "metrics")


def served(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    return run(["ratecard", "serve", "--port", "0", *map(str, words)])


def test_a_server_does_not_start_on_a_damaged_state_or_other_tables(folder: Path, state: Path) -> None:
    live_of(folder, state)
    (state / "tables.json").write_text("{")
    refused = served(folder, "--state", state)
    assert refused.returncode == 1
    assert f"{state}/tables.json is damaged. " in refused.stderr.decode()
    assert "Traceback" not in refused.stderr.decode()
    refused = served(folder, "--digest", "0" * 16)
    assert refused.returncode == 1
    assert f"and only {'0' * 16} is served" in refused.stderr.decode()
    refused = served(folder, "--digest", "latest")
    assert refused.returncode == 2
    assert "--digest=latest: String should match pattern" in refused.stderr.decode()


def test_the_log_of_a_restart_is_json_where_it_is_asked_for(folder: Path, state: Path) -> None:
    """Going back to tables that were served is told by the parent, before there are workers."""
    text = (folder / GROK).read_text()
    live_of(folder, state)
    edit(folder, CORRECTED)
    live_of(folder, state)
    rewrite(folder / GROK, text)
    with serving(folder, "--state", state, "--log-format", "json", RATECARD_PORT="0") as server:
        assert server.quote().content == b'{"quote":0.82}'
    lines = [json.loads(line) for line in server.said.splitlines()]
    assert any("were served before, so these edits are taken" in line["message"] for line in lines)


@pytest.fixture
def forked(folder: Path) -> Iterator[Callable[[str], str]]:
    def said(held: str) -> str:
        done = run([str(HERE / "forked_rate_card.py"), str(folder), held])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.decode()

    yield said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
@pytest.mark.parametrize("held", ["", "card", "watch", "stop", "state", "changing", "loading", "unstarted", "starting"])
def test_a_forked_process_follows_its_folder(forked: Callable[[str], str], held: str) -> None:
    """Also where a thread of the parent holds a lock at the fork, or is in the midst of a change."""
    assert forked(held) == "the child serves the change\nthe parent serves the change\n"


def test_bytes_are_kept_as_they_are(state: Path) -> None:
    contents = {name: content for name, content in read_folder().items() if name in (GROK, OVI)}
    contents |= {"a": "ä\r\n\u2028".encode(), "empty": b""}
    with LastSound(state).deciding():
        LastSound(state).write(contents)
    assert LastSound(state).read() == contents
