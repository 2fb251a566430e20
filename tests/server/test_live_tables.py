"""Tables that change while they are served: valid ones take effect, others are refused; each answer is of one card."""

import json
import logging
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import asked, post
from serving import GROK, RATE, at_rate, copy_tables, rewrite, wait_for
from starlette.applications import Starlette
from starlette.routing import Mount

import ratecard
from ratecard import TableError
from ratecard.server import LiveRateCard, application, router
from ratecard.server.last_sound import LastSound
from ratecard.server.tables import TableFolder


def nanoseconds(year: int, month: int, day: int, hour: int = 0) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp()) * 10**9


class Tables:
    """A folder of tables and a running application over it."""

    def __init__(self, folder: Path, client: Any, live: LiveRateCard) -> None:
        self.folder, self.client, self.live = folder, client, live
        self.grok = folder / GROK
        self.text = self.grok.read_text()

    def price(self, rate: str) -> None:
        """Write another rate; the example is changed with it if the rate is a number."""
        broken = self.text.replace(RATE, f"rate: {rate}}}")
        rewrite(self.grok, at_rate(self.text, rate) if rate[0].isdigit() else broken)

    def quote(self) -> bytes:
        before = self.live.served.digest
        answer = post(self.client)
        assert answer.status_code == 200
        # The tables may change at any moment.
        assert answer.headers["x-ratecard-digest"] in (before, self.live.served.digest)
        return bytes(answer.content)

    def refused(self) -> Any:
        return self.client.get("/healthz").json()["last_refusal"]


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    folder = copy_tables(tmp_path)
    live = LiveRateCard(folder, allow_edits=True)
    with asked(application(live)) as client:
        found = Tables(folder, client, live)
        assert found.quote() == b'{"quote":0.82}'
        yield found


def test_a_sound_change_is_served_at_once(tables: Tables) -> None:
    tables.price("0.2")
    wait_for(lambda: tables.quote() == b'{"quote":1.01}', "new price")
    assert tables.refused() is None


def test_an_unsound_change_is_refused_with_its_line_and_the_old_card_stays(
    tables: Tables, caplog: pytest.LogCaptureFixture
) -> None:
    digest = tables.live.served.digest
    with caplog.at_level(logging.INFO, "ratecard.server"):
        tables.price("abc")
        wait_for(lambda: tables.refused() is not None, "refusal")
    assert tables.quote() == b'{"quote":0.82}'
    refused = tables.refused()
    assert refused["standing"] is True
    assert any(fault.startswith(f"{GROK}:51: rate 'abc' is not a number") for fault in refused["faults"])
    assert any(f"{GROK}:51: rate 'abc'" in line for line in caplog.messages)
    assert any(f"tables {digest} stay" in line for line in caplog.messages)


def test_a_refusal_ends_with_the_next_sound_folder(tables: Tables) -> None:
    tables.price("abc")
    wait_for(lambda: tables.refused() is not None, "refusal")
    tables.price("0.2")
    wait_for(lambda: tables.quote() == b'{"quote":1.01}', "new price")
    assert tables.refused()["standing"] is False


def test_a_refusal_ends_when_the_folder_is_as_it_was(tables: Tables) -> None:
    tables.price("abc")
    wait_for(lambda: tables.refused() is not None, "refusal")
    tables.price("0.161")
    wait_for(lambda: tables.refused()["standing"] is False, "end of the refusal")
    assert tables.quote() == b'{"quote":0.82}'


def test_a_folder_that_is_away_for_a_while_is_followed_again(tables: Tables) -> None:
    away = tables.folder.with_name("away")
    tables.folder.rename(away)
    # If the folder vanished while it was read, files may have been missing first.
    wait_for(lambda: "is not a folder" in json.dumps(tables.refused()), "refusal")
    assert tables.quote() == b'{"quote":0.82}'
    (away / GROK).write_text(at_rate(tables.text, "0.2"))
    away.rename(tables.folder)
    wait_for(lambda: tables.quote() == b'{"quote":1.01}', "new price")
    tables.price("0.3")
    wait_for(lambda: tables.quote() == b'{"quote":1.51}', "price after that")


def test_a_folder_replaced_by_a_link_is_followed(tmp_path: Path) -> None:
    first = copy_tables(tmp_path)
    second = tmp_path / "second"
    shutil.copytree(first, second)
    text = (first / GROK).read_text()
    (second / GROK).write_text(at_rate(text, "0.2"))
    link, new = tmp_path / "current", tmp_path / "new"
    link.symlink_to(first)
    with asked(application(LiveRateCard(link, allow_edits=True))) as client:
        assert post(client).content == b'{"quote":0.82}'
        new.symlink_to(second)
        new.replace(link)
        wait_for(lambda: post(client).content == b'{"quote":1.01}', "new price")


def test_a_router_that_is_only_mounted_follows_its_folder_from_the_first_answer_on(tmp_path: Path) -> None:
    folder = copy_tables(tmp_path)
    routes = router(LiveRateCard(folder, allow_edits=True))
    client = asked(Starlette(routes=[Mount("/", routes)]))
    assert post(client).content == b'{"quote":0.82}'
    grok = folder / GROK
    rewrite(grok, at_rate(grok.read_text(), "0.2"))
    wait_for(lambda: post(client).content == b'{"quote":1.01}', "new price")


def test_a_file_that_is_written_in_steps_is_read_when_it_is_whole(tmp_path: Path) -> None:
    """A file cut between two models is sound, and lacks models: it must not be served."""
    folder = TableFolder(copy_tables(tmp_path))
    grok = folder.path / GROK
    whole = grok.read_text()
    half = whole[: whole.index("\n  - model:", whole.index("- model:") + 10) + 1]
    steps = iter([half, half + "# more to come\n", whole + "# a comment\n"])

    def step() -> None:
        if (content := next(steps, None)) is not None:
            grok.write_text(content)

    step()
    card = folder.changed(step)
    assert card is not None
    assert "grok-imagine-1-5-image-to-video-private" in card.tables.models
    assert card.digest == folder.card.digest
    assert folder.changed(step) is None


def test_a_file_that_is_put_back_while_it_is_read_is_no_change(tmp_path: Path) -> None:
    folder = TableFolder(copy_tables(tmp_path))
    grok = folder.path / GROK
    text = grok.read_text()
    grok.write_text("nonsense")
    assert folder.changed(lambda: grok.write_text(text)) is None


def test_a_worker_that_starts_on_broken_tables_serves_those_that_were_sound(tmp_path: Path) -> None:
    path, kept = copy_tables(tmp_path), LastSound(tmp_path / "kept")
    sound = TableFolder(path, kept)
    (path / GROK).write_text("nonsense")
    with pytest.raises(TableError):
        TableFolder(path)
    second = TableFolder(path, kept)
    assert second.card.digest == sound.card.digest
    assert "grok-imagine" in str(second.refused)
    assert second.changed(lambda: None) is None, "a state is refused once"


def test_every_boundary_is_a_midnight(card: ratecard.RateCard) -> None:
    """The price book is replaced at 00:00 UTC only."""
    assert {instant.time().isoformat() for instant in card.boundaries()} == {"00:00:00"}


FLUX = b'{"model": "flux-3-text-to-video", "duration": "5s", "resolution": "1440p"}'


def test_a_version_is_in_effect_from_its_instant_to_the_nanosecond(card: ratecard.RateCard) -> None:
    """1440p came on 2026-10-16."""
    clock = [nanoseconds(2026, 10, 16) - 1]
    live = LiveRateCard(card, clock=lambda: clock[0])
    with asked(application(live)) as client:
        statuses = []
        for instant in (-1, 0, -1, 1, 10**9, -(10**9)):
            clock[0] = nanoseconds(2026, 10, 16) + instant
            answer = post(client, FLUX)
            statuses.append(answer.status_code)
            assert client.get("/healthz").json()["day"] == ("2026-10-15" if instant < 0 else "2026-10-16")
        health = client.get("/healthz").json()
    assert statuses == [400, 200, 400, 200, 200, 400], "a clock that is set back is followed too"
    assert health["changes_at"] == "2026-10-16T00:00:00+00:00"
    assert health["versions"]["flux-3-text-to-video"] < "2026-10-16"


def test_health_names_the_version_in_effect_of_every_model(card: ratecard.RateCard) -> None:
    live = LiveRateCard(card, clock=lambda: nanoseconds(2026, 10, 16))
    with asked(application(live)) as client:
        versions = client.get("/healthz").json()["versions"]
    book = card.at(datetime(2026, 10, 16, tzinfo=UTC))
    assert versions == {model.model: str(version.effective) for model, version in book._in_effect_all()}
    assert versions["flux-3-text-to-video"] == "2026-10-16"


def test_a_message_names_the_day_of_the_request_and_not_of_the_last_change(card: ratecard.RateCard) -> None:
    clock = [nanoseconds(2026, 9, 1)]
    live = LiveRateCard(card, clock=lambda: clock[0])
    body = b'{"model": "flux-3-text-to-video", "duration": "5s"}'
    with asked(application(live)) as client:
        for day in (1, 2):
            clock[0] = nanoseconds(2026, 9, day, 12)
            assert f"on 2026-09-0{day}." in post(client, body).json()["error"]


def test_a_card_taken_while_the_day_turns_stays(card: ratecard.RateCard, tmp_path: Path) -> None:
    other = ratecard.load_rate_card(_edited(tmp_path))
    clock = [nanoseconds(2026, 10, 1)]
    live = LiveRateCard(card, clock=lambda: clock[0])
    live.now()
    clock[0] = nanoseconds(2026, 10, 2)
    live.take(other)
    assert live.now().digest == other.digest
    assert live.now().book.day.isoformat() == "2026-10-02"


def _edited(folder: Path) -> Path:
    tables = copy_tables(folder)
    grok = tables / GROK
    grok.write_text(at_rate(grok.read_text(), "0.2"))
    return tables


def test_a_server_does_not_start_on_unsound_tables(tmp_path: Path) -> None:
    tables = copy_tables(tmp_path)
    (tables / GROK).write_text("nonsense")
    with pytest.raises(TableError, match="grok-imagine"):
        application(tables)


def test_after_any_exception_while_loading_the_old_card_stays(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(contents: object) -> None:
        raise RuntimeError("an unexpected fault")

    monkeypatch.setattr("ratecard.server.tables.tables_from", broken)
    tables.price("0.2")
    wait_for(lambda: tables.refused() is not None, "refusal")
    assert "an unexpected fault" in json.dumps(tables.refused())
    assert tables.quote() == b'{"quote":0.82}'
    monkeypatch.undo()
    tables.price("0.3")
    wait_for(lambda: tables.quote() == b'{"quote":1.51}', "new price")
