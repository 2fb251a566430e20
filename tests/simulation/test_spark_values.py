"""Words, instants, keys and numbers of every type: Spark and DuckDB read the same, whatever the session's zone is."""

import math
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engines_agree import Engines, same, usage_of

from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.simulation.groups.engines.spark_sql import SparkSql

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
    ("name", "value"),
    [("audio", 1), ("duration", 5), ("characters", True), ("model", 1), ("timestamp", 5), ("tokens", 1), ("counts", 1)],
)
def test_a_column_of_the_wrong_type_is_named(engines: Engines, name: str, value: object) -> None:
    usage = usage_of("speech", SPEECH, **{"characters": [1], name: [value]})
    with pytest.raises(SimulationError) as of_duckdb:
        engines.on_duckdb(usage)
    with pytest.raises(SimulationError) as of_spark:
        engines.on_spark(usage)
    assert str(of_spark.value) == str(of_duckdb.value)
    assert f"column '{name}' is" in str(of_spark.value)


HEARD = "openai/whisper-large-v3"
NAMES = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_creation_input_tokens")


def awkward_doubles() -> list[float]:
    """Doubles whose shortest text is hard to find, and their neighbours; none so small that no sum could hold it."""
    chance = random.Random(7)  # noqa: S311
    found = [2.0e-3, 9.999999999999999e22, 4.35, 0.1 + 0.2, 1e-5, 1e-7, 1e9, 999999999.999999, 0.0, -4.35]
    found += [5.491273171697948e17, 4.810242254944854e16, 8.41e21, 2e-13]  # Java 17 writes these with too many digits
    found += [1.1, 100 / 3, 2**53 + 2.0, 1e16, 2.0**-10, math.nan, math.inf, -math.inf]
    for _ in range(400):
        found += [chance.uniform(0, 150), round(chance.uniform(0, 4000), chance.randrange(8))]
        found += [chance.randrange(10**7) / 44_100, chance.random() * 10.0 ** chance.randrange(-3, 9)]
    return found + [math.nextafter(number, way) for number in found[20:200] for way in (0, math.inf)]


def test_seconds_that_are_doubles_keep_their_shortest_digits(engines: Engines, card: RateCard) -> None:
    doubles = awkward_doubles()
    number = [str(n) for n in range(len(doubles))]
    found = engines.agree(usage_of("transcription", HEARD, seconds=pa.array(doubles), number=number), "number")
    prices, amounts = card.at(NOON), {row.key[0]: row.amounts[0] for row in found.groups}
    for n, double in enumerate(doubles):
        try:
            exact = prices.rate({"type": "transcription", "model": HEARD, "seconds": Decimal(repr(double))}).total
        except QuoteError:
            assert str(n) not in amounts
        else:
            assert amounts[str(n)] == exact, repr(double)
    assert len(found.groups) > 1500


def test_seconds_that_are_doubles_are_added_up(engines: Engines) -> None:
    doubles = [double for double in awkward_doubles() if 1e-2 < double < 1e9] * 3
    found = engines.agree(usage_of("transcription", HEARD, seconds=pa.array(doubles)), "model")
    assert found.total.quantities[-1] == sum(Decimal(repr(double)) for double in doubles)
    assert len(found.comparison.roll_up.shapes) == 1


WITH_A_MINIMUM = """family: heard
models:
  - model: heard
    name: Heard
    type: transcription
    currency: USD
    versions:
      - effective: 2026-09-01
        checked: 2026-09-01
        source: made up
        minimum: 0.001
        rounding: none
        charges:
          - charge: audio
            method: per-audio-second
            unit: audio_second
            rates:
              - {rate: 0.0001}
        examples:
          - {usage: {seconds: 100}, total: 0.01}
"""


def test_seconds_that_are_doubles_are_not_added_up_where_a_request_has_a_minimum(
    engines: Engines, tmp_path: Path
) -> None:
    (tmp_path / "heard.yaml").write_text(WITH_A_MINIMUM)
    usage, how = usage_of("transcription", "heard", seconds=[0.1, 66.25]), {"by": ("model",), "tables": tmp_path}
    found = engines.on_spark(usage, **how)
    same(engines.on_duckdb(usage, **how), found)
    assert found.total.amounts[0] == Decimal("0.001") + Decimal("0.006625")


def test_seconds_of_other_types_are_no_quantity(engines: Engines) -> None:
    given = {"seconds": [0.1 + 0.2, 0.1 + 0.2, 4.35], "characters": [-1, 5, None], "n": [1, 2, None]}
    for type_, name, priced in (("speech", "tts-kokoro", 1), ("image", "flux-2-pro", None), ("bogus", "x", 0)):
        found = engines.agree(usage_of(type_, name, **given), "type")
        assert found.total.quantities[-1] == 0
        assert priced is None or found.priced == priced


@pytest.mark.parametrize("type_", [pa.float32(), pa.string(), pa.decimal128(38, 18), pa.decimal128(9, 3), pa.int32()])
def test_seconds_of_any_type(engines: Engines, type_: pa.DataType) -> None:
    texts = ["7.5", "0.002", "1.1", "4.35", "12", "3.000000000000000001", "1e3", "-1", "3600"]
    if type_ == pa.string():
        seconds = pa.array(texts)
    else:
        numbers = [Decimal(text) if type_ != pa.int32() else int(float(text)) for text in texts[:5]]
        seconds = pa.array(numbers, pa.decimal128(38, 18) if type_ != pa.int32() else type_).cast(type_)
    assert engines.agree(usage_of("transcription", HEARD, seconds=seconds), "model").priced >= 5


@pytest.mark.parametrize("type_", [pa.float64(), pa.float32(), pa.decimal128(38, 30), pa.decimal128(9, 3)])
def test_reference_seconds_of_any_type(engines: Engines, type_: pa.DataType) -> None:
    numbers = [Decimal(text) for text in ("7.5", "0.002", "1.1", "0.3", "4.35", "12", "3")]
    given: dict[str, Any] = {"duration": "5s", "resolution": "1080p", "aspect_ratio": "16:9"}
    given = {name: [value] * len(numbers) for name, value in given.items()}
    given["reference_video_total_duration"] = pa.array(numbers, pa.decimal128(38, 30)).cast(type_)
    found = engines.agree(usage_of("video", "seedance-2-5-reference-to-video-basic", **given), "model")
    assert found.priced == len(numbers)


def counts() -> Iterator[tuple[Any, ...]]:
    """Tokens that are counts, that are not, and that would overflow if they were added."""
    odd = (None, 0, 1, 7, 200_000, 200_001, -1, 10**12, 2**31 - 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1)
    yield from product((1, 300_000), odd, (0, 1, None), (0,))
    yield from product(odd, (5,), odd, (None, 2**63 - 1, 3))


@pytest.mark.parametrize(
    "types",
    [
        (pa.int64(), pa.string(), pa.float64(), pa.decimal128(20, 0)),
        (pa.decimal128(38, 18), pa.decimal128(38, 0), pa.string(), pa.float64()),
        (pa.float64(), pa.decimal128(20, 0), pa.decimal128(38, 18), pa.int64()),
    ],
)
def test_tokens_of_any_type(engines: Engines, types: tuple[pa.DataType, ...]) -> None:
    """Each column is read by its own type, and all together make the uncached tokens."""
    columns = zip(NAMES, zip(*counts(), strict=True), types, strict=True)
    given = {name: _array(values, type_) for name, values, type_ in columns}
    customer = [str(n % 50) for n in range(len(given["prompt_tokens"]))]
    assert engines.agree(usage_of("text", "claude-opus-4-6", customer=customer, **given), "customer").priced > 50


def _array(values: tuple[Any, ...], type_: pa.DataType) -> pa.Array:
    convert: Any = {pa.string(): str, pa.float64(): float, pa.int64(): int}.get(type_, Decimal)
    return pa.array([None if value is None else convert(value) for value in values], type_)


def test_tokens_that_are_no_counts(engines: Engines) -> None:
    words = ["5", "5.0", "05", " 5", "5\n", "5e3", "-5", "+5", "x", "", "٥", "5" * 18, "5" * 19, "1_000", "NaN", None]
    more = {"completion_tokens": ["5"] * len(words), "number": [str(n) for n in range(len(words))]}
    engines.agree(usage_of("text", "claude-opus-4-6", prompt_tokens=words, **more), "number")
    near = [Decimal(text) for text in ("5", "5.5", f"0.{'0' * 17}1", f"5.{'0' * 17}1")]
    given = {"prompt_tokens": pa.array(near, pa.decimal128(38, 18)), "completion_tokens": [1] * 4}
    assert engines.agree(usage_of("text", "claude-opus-4-6", **given), "model").priced == 1


def test_small_integers_do_not_wrap(engines: Engines) -> None:
    most = pa.array([2**31 - 1] * 3000, pa.int32())
    given = dict.fromkeys(NAMES[:3], most)
    found = engines.agree(usage_of("text", "claude-opus-4-6", **given), "model")
    assert found.total.quantities[1] == 3000 * (2**31 - 1)
    assert not engines.agree(
        usage_of("text", "claude-opus-4-6", **given, cache_creation_input_tokens=most), "model"
    ).priced


def test_a_sum_passes_64_bits_and_raises_beyond_38_digits(engines: Engines) -> None:
    def total(number: str, places: int, rows: int) -> Decimal:
        query = f"SELECT {SparkSql().total(number, 'TRUE', places)} AS total FROM range({rows})"  # noqa: S608
        return Decimal(engines.spark.sql(query).toArrow()["total"][0].as_py())

    assert total(str(2**63 - 1), 0, 2**23) == 2**23 * (2**63 - 1)
    assert total(f"CAST('{'9' * 20}.{'9' * 18}' AS DECIMAL(38, 18))", 18, 1) == Decimal(f"{'9' * 20}.{'9' * 18}")
    with pytest.raises(Exception, match="NUMERIC_VALUE_OUT_OF_RANGE"):
        total(f"CAST('{'9' * 20}.{'9' * 18}' AS DECIMAL(38, 18))", 18, 2)
    assert total(str(1 - 2**63), 0, 1000) == 1000 * (1 - 2**63)
