"""A live server takes tables whose examples agree, and that edit no version that was in effect."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import asked, post
from click.testing import CliRunner
from serving import GROK, OVI, RATE, Server, at_rate, copy_tables, rewrite, serving, wait_for

import ratecard
from mounted import Mount
from ratecard import TableError
from ratecard.cli.commands import main
from ratecard.load.folder import read_folder
from ratecard.server import LiveRateCard, application
from ratecard.server.last_sound import LastSound
from ratecard.server.tables import TableFolder

NOW = int(datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()) * 10**9
EDITED = "version 2026-09-28 of grok-imagine-1-5-image-to-video-private is in effect, and was edited"


class Followed:
    """A folder of tables, followed as a server does it."""

    def __init__(self, path: Path, kept: LastSound | None = None, *, allow_edits: bool = False) -> None:
        self.path = path
        self.tables = TableFolder(path, kept, allow_edits=allow_edits, clock=lambda: NOW)

    def text(self, name: str = GROK) -> str:
        return (self.path / name).read_text()

    def write(self, text: str, name: str = GROK) -> ratecard.RateCard | None:
        """Write a file; the new card, or None. Raises `TableError` if it is refused."""
        (self.path / name).write_text(text)
        return self.tables.changed(lambda: None)

    def refused(self, text: str, name: str = GROK) -> list[str]:
        with pytest.raises(TableError) as caught:
            self.write(text, name)
        assert self.tables.changed(lambda: None) is None, "a state is refused once"
        return [str(fault) for fault in caught.value.faults]


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(copy_tables(tmp_path))


def test_a_wrong_example_is_refused_with_its_line(followed: Followed) -> None:
    (fault,) = followed.refused(followed.text(OVI).replace("rate: 0.22}", "rate: 22}"), OVI)
    assert fault.startswith(f"{OVI}:25: ovi-image-to-video: the example says 0.22, the rates give 22")


def test_a_wrong_example_is_refused_where_edits_are_allowed_too(tmp_path: Path) -> None:
    followed = Followed(copy_tables(tmp_path), allow_edits=True)
    (fault,) = followed.refused(followed.text(OVI).replace("total: 0.22", "total: 0.2"), OVI)
    assert "the example says 0.2, the rates give 0.22" in fault


def test_an_edit_of_what_is_in_effect_is_refused_with_its_line(followed: Followed) -> None:
    faults = followed.refused(at_rate(followed.text(), "0.2"))
    assert faults[1].startswith(f"{GROK}:51: {EDITED}: ")
    assert all("correction: reason" in fault for fault in faults)


def test_a_correction_is_taken(followed: Followed) -> None:
    text = at_rate(followed.text(), "0.2")
    head = "      - effective: 2026-09-28\n"
    card = followed.write(text.replace(head, f"{head}        correction: a slip of the pen\n"))
    assert card is not None
    assert followed.tables.changed(lambda: None) is None


def test_allowed_edits_are_taken(tmp_path: Path) -> None:
    followed = Followed(copy_tables(tmp_path), allow_edits=True)
    assert followed.write(at_rate(followed.text(), "0.2")) is not None


def without_last_model(text: str) -> str:
    return text[: text.rindex("\n  - model:") + 1]


def test_a_model_that_vanished_is_refused(followed: Followed) -> None:
    (fault,) = followed.refused(without_last_model(followed.text()))
    assert fault.startswith(f"served:{GROK}:174: model ")
    assert "vanished, and has had prices since 2026-10-16" in fault


def test_a_retired_model_is_taken(followed: Followed) -> None:
    text = followed.text(OVI).replace("    versions:\n", "    retired: {on: 2027-01-01}\n    versions:\n")
    assert followed.write(text, OVI) is not None


NEW = """\
      - effective: 2027-01-01
        checked: 2026-11-20
        source: a test
        accepts: {duration: [5s], audio: always}
        charges:
          - {charge: video, method: fixed, unit: clip, rates: [{rate: 0.3}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.30}
"""

# The same version from an earlier day on: prices in effect change, with a reason.
FORGOTTEN = NEW.replace("2027-01-01\n", "2026-11-01\n        correction: forgotten\n")


def with_version(text: str, version: str = NEW) -> str:
    return text.replace("    versions:\n", f"    versions:\n{version}")


def test_a_new_version_is_taken_and_may_be_edited_until_it_is_in_effect(followed: Followed) -> None:
    before = followed.text(OVI)
    assert followed.write(with_version(before), OVI) is not None
    other = NEW.replace("rate: 0.3}", "rate: 0.4}").replace("total: 0.30", "total: 0.40")
    assert followed.write(with_version(before, other), OVI) is not None
    (fault,) = followed.refused(with_version(before, other.replace("2027-01-01", "2026-11-01")), OVI)
    assert "begins in the past" in fault


def test_the_instant_of_the_server_divides_past_from_future(tmp_path: Path) -> None:
    path = copy_tables(tmp_path)
    (path / OVI).write_text(with_version((path / OVI).read_text()))
    later = int(datetime(2027, 1, 2, tzinfo=UTC).timestamp()) * 10**9
    edited = with_version((path / OVI).read_text(), "").replace("rate: 0.3}", "rate: 0.4}")
    edited = edited.replace("total: 0.30", "total: 0.40")
    for clock, taken in ((lambda: NOW, True), (lambda: later, False)):
        tables = TableFolder(path, clock=clock)
        before = (path / OVI).read_text()
        (path / OVI).write_text(edited)
        if taken:
            assert tables.changed(lambda: None) is not None
        else:
            with pytest.raises(TableError, match="is in effect, and was edited"):
                tables.changed(lambda: None)
        (path / OVI).write_text(before)


def test_going_back_to_what_was_served_is_taken_with_a_warning(
    followed: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    before = followed.text(OVI)
    new = NEW.replace("2027-01-01", "2026-11-01").replace(
        "        checked", "        correction: forgotten\n        checked"
    )
    assert followed.write(with_version(before, new), OVI) is not None
    assert not caplog.messages
    assert followed.write(before, OVI) is not None
    assert any(
        line.startswith(f"{OVI}:11: version 2026-11-01 of ovi-image-to-video was in") for line in caplog.messages
    )
    assert "were served before, so these edits are taken" in caplog.messages[-1]
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_tables_that_mean_what_was_served_but_are_not_it_are_judged_anew(followed: Followed) -> None:
    """Their bytes differ from those that were served, so they are checked again."""
    before = followed.text(OVI)
    new = NEW.replace("2027-01-01", "2026-11-01").replace(
        "        checked", "        correction: forgotten\n        checked"
    )
    assert followed.write(with_version(before, new), OVI) is not None
    (fault,) = followed.refused(f"{before}# as before\n", OVI)
    assert "and is gone" in fault


def test_a_refused_state_is_never_what_was_served(followed: Followed) -> None:
    before, edited = followed.text(), at_rate(followed.text(), "0.2")
    followed.refused(edited)
    followed.write(before)
    followed.refused(edited)


def test_workers_judge_by_what_they_share(tmp_path: Path) -> None:
    """One worker missed the tables between; another is started while the folder is refused."""
    path, kept = copy_tables(tmp_path), tmp_path / "kept"
    one, two = (Followed(path, LastSound(kept)) for _ in range(2))
    before = one.text(OVI)
    new = NEW.replace("2027-01-01", "2026-11-01").replace(
        "        checked", "        correction: forgotten\n        checked"
    )
    taken = one.write(with_version(before, new), OVI)
    assert taken is not None
    edited = with_version(before, new.replace("rate: 0.3}", "rate: 0.4}").replace("total: 0.30", "total: 0.40"))
    assert "was edited" in two.refused(edited, OVI)[0]
    anew = Followed(path, LastSound(kept))
    assert anew.tables.card.digest == taken.digest
    assert "was edited" in str(anew.tables.refused)
    assert anew.tables.changed(lambda: None) is None, "a state is refused once"
    assert two.write(before, OVI) is not None, "it was served by another worker"


@pytest.fixture
def mount(tmp_path: Path) -> Mount:
    mount = Mount(tmp_path / "mounted")
    mount.put(read_folder())
    return mount


def test_a_mounted_volume_is_followed_when_its_data_is_turned(mount: Mount) -> None:
    contents = read_folder()
    with asked(application(LiveRateCard(mount.folder, allow_edits=True))) as client:
        assert post(client).content == b'{"quote":0.82}'
        for rate, answer in (("0.2", b'{"quote":1.01}'), ("0.3", b'{"quote":1.51}')):
            mount.put({**contents, GROK: at_rate(contents[GROK].decode(), rate).encode()})
            wait_for(lambda answer=answer: post(client).content == answer, "new price")
        assert client.get("/healthz").json()["last_refusal"] is None


def test_a_mounted_volume_with_an_edit_is_refused_and_never_a_failure(mount: Mount) -> None:
    contents = read_folder()
    live = LiveRateCard(mount.folder, clock=lambda: NOW)
    with asked(application(live)) as client:
        assert post(client).content == b'{"quote":0.82}'
        mount.put({**contents, GROK: at_rate(contents[GROK].decode(), "0.2").encode()})
        wait_for(lambda: client.get("/healthz").json()["last_refusal"], "refusal")
        assert f"{GROK}:51: {EDITED}" in client.get("/healthz").json()["last_refusal"]["faults"][1]
        assert post(client).content == b'{"quote":0.82}'
        mount.put(contents)
        wait_for(lambda: client.get("/healthz").json()["last_refusal"]["standing"] is False, "end of the refusal")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_tables(tmp_path_factory.mktemp("guarded"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder, "--workers", "2") as found:
        yield found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(RATE, "rate: 16.1}"), "the example says 2.43, the rates give"),
        (lambda text: at_rate(text, "0.2"), f"{GROK}:51: {EDITED}"),
        (without_last_model, f"served:{GROK}:174: model"),
    ],
)
def test_every_worker_refuses_and_says_why(server: Server, folder: Path, change: Any, words: str) -> None:
    text = (folder / GROK).read_text()
    before, said = server.health()["digest"], len(server.said)
    try:
        rewrite(folder / GROK, change(text))
        wait_for(lambda: server.said[said:].count(f"tables {before} stay") >= 2, "refusal of both workers")
        assert server.said[said:].count(words) >= 2
        assert {server.quote().content for _ in range(10)} == {b'{"quote":0.82}'}
        assert {server.health()["digest"] for _ in range(10)} == {before}
    finally:
        rewrite(folder / GROK, text)
        wait_for(lambda: server.said[said:].count("take the place of") >= 2, "end of the refusal")


def test_a_server_does_not_start_on_a_wrong_example(tmp_path: Path) -> None:
    path = copy_tables(tmp_path)
    (path / OVI).write_text((path / OVI).read_text().replace("rate: 0.22}", "rate: 22}"))
    done = CliRunner().invoke(main, ["serve", str(path)])
    assert done.exit_code == 1
    assert f"{OVI}:25: ovi-image-to-video: the example says 0.22, the rates give 22" in done.stderr
    with pytest.raises(TableError):
        application(path)


def test_a_folder_of_its_own_keeps_what_it_served() -> None:
    """Without a shared file, a process compares with the tables that it served itself."""
    kept = LastSound()
    assert kept.read() is None
    assert not kept.had({"a": b"1"})
    kept.write({"a": b"1"})
    assert kept.read() == {"a": b"1"}
    assert kept.had({"a": b"1"})
    assert not kept.had({"a": b"2"})
    assert not kept.had({"a1": b""})
