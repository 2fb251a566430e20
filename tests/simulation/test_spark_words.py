"""Words, days and keys of every type: Spark and DuckDB say the same of them, whatever the session's time zone is."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from engines_agree import Engines, same, usage_of

from ratecard.base.errors import SimulationError

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)
INSTANT = pa.timestamp("us", "UTC")
SPEECH = "tts-kokoro"
SAID = (
    "2026-10-01", "2026-10-01 23:30", "2026-10-01T23:30:00", "2026-10-01 23:30:00.123456789", "2026-10-01T23:30:00Z",
    "2026-10-01 23:30:00 UTC", "2026-10-01T23:30:00-02:00", "2026-10-01T00:30:00+0530", "2026-10-01 00:30:00+02",
)  # fmt: skip
REFUSED = (
    "2026-10-01T24:00:00", "2026-10-01 12:00:60", "2026-02-30", "2026-10-1", "2026/10/01", "epoch", "infinity", "today",
    "T12:00:00", "", " 2026-10-01", "2026-10-01 ", "2026-10-01\n", "2026-10-01T12:00:00 America/New_York", "20261001",
    "2026-10-01T12:00:00+18:00", "2026-10", "2026", None,
)  # fmt: skip


def test_instants_that_are_text(engines: Engines) -> None:
    texts = [*SAID, *REFUSED]
    usage = usage_of("speech", SPEECH, timestamp=texts, characters=[10] * len(texts), text=texts)
    found = engines.agree(usage, "day", "text")
    assert {row.key[1] for row in found.groups} == set(SAID)
    assert {row.key[0] for row in found.groups} == {"2026-10-01", "2026-10-02", "2026-09-30"}


def test_days_are_of_utc_whatever_the_zone_of_the_session(engines: Engines) -> None:
    midnight = datetime(2026, 10, 2, tzinfo=UTC)
    instants = [midnight - timedelta(microseconds=1), midnight, midnight - timedelta(days=1)]
    naive = [each.replace(tzinfo=None) for each in instants]
    kinds: dict[str, Any] = {
        "with a zone": pa.array(instants, INSTANT),
        "without": pa.array(naive, pa.timestamp("us")),
        "date": [each.date() for each in instants],
        "text": [each.isoformat() for each in instants],
        "text without": [each.isoformat() for each in naive],
    }
    far = engines.spark.newSession()
    far.conf.set("spark.sql.session.timeZone", "America/New_York")
    for kind, timestamps in kinds.items():
        usage = usage_of("speech", SPEECH, timestamp=timestamps, characters=[1, 10, 100])
        engines.spark.createDataFrame(usage).createOrReplaceGlobalTempView("days")
        found = engines.on_spark(far.table("global_temp.days"), by=("day",))
        same(engines.on_duckdb(usage, by=("day",)), found)
        days = {row.key[0]: int(row.quantities[4]) for row in found.groups}
        assert days == {"2026-10-01": 101, "2026-10-02": 10}, kind
    assert far.conf.get("spark.sql.session.timeZone") == "America/New_York"
    assert [each.name for each in far.catalog.listTables() if each.name.startswith("ratecard")] == []


def test_words_keep_every_character(engines: Engines) -> None:
    words = [
        "5s",
        "5S",
        " 5s",
        "it's",
        'say "x"',
        "back\\slash",
        "a\nb",
        "tab\t",
        "ümlaut",
        "日本",
        "😀" * 90,
        "",
        "null",
    ]
    urls = ["https://x.test/a", "HTTP://x", " data:video/mp4;base64,AAAA", "\thttps://y", "data:" + "x" * 300 + ","]
    urls += ["x" * 200, "😀" * 100, "", "nothing", "://", "https://", "https:///x", "\x0bhttps://x", "\xa0https://x"]
    said: dict[str, list[Any]] = {"duration": [*words, "{}", "`", None], "video_url": [*urls, "ftp+x.y-z://q", None]}
    said |= {"audio": [True, False, None, None] * 4, "number": [str(n) for n in range(16)]}
    found = engines.agree(usage_of("video", "kling-o3-pro-text-to-video", **said), "number")
    assert found.rows == 16
    odd = {"type": said["duration"], "model": said["duration"], "timestamp": pa.array([NOON] * 16, INSTANT)}
    assert engines.agree(pa.table(odd), "type", "model").priced == 0


def test_keys_of_any_type(engines: Engines) -> None:
    keys = {
        "flag": pa.array([True, None]),
        "double": pa.array([2.0e-3, 1e-7]),
        "amount": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "at": pa.array([NOON, None], INSTANT),
        "on": pa.array([date(2026, 10, 1), None]),
        "odd `name`": pa.array(["a", "b"]),
        "tags": pa.array([["a", "b"], None], pa.list_(pa.string())),
        "nothing": pa.nulls(2),
    }
    found = engines.agree(usage_of("speech", SPEECH, characters=[5, 6], **keys), *keys)
    assert {row.key[1] for row in found.groups} == {"0.002", "1e-07"}


@pytest.mark.parametrize(
    ("name", "value"), [("audio", 1), ("duration", 5), ("characters", True), ("model", 1), ("timestamp", 5)]
)
def test_a_column_of_the_wrong_type_is_named(engines: Engines, name: str, value: object) -> None:
    usage = usage_of("speech", SPEECH, **{"characters": [1], name: [value]})
    with pytest.raises(SimulationError) as of_duckdb:
        engines.on_duckdb(usage)
    with pytest.raises(SimulationError) as of_spark:
        engines.on_spark(usage)
    assert str(of_spark.value) == str(of_duckdb.value)
    assert f"column '{name}' is" in str(of_spark.value)
