"""Realistic usage in a file: any number of made-up requests of every model that has a price.

One query makes the rows, each from its number and the seed alone. More is sent on working days and in the afternoon, in
pages of rows that follow each other. A period has slots of samples: the more slots a model has, the more often it is
used.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ratecard.base.errors import SimulationError, missing_extra
from ratecard.base.instants import utc
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard, load_rate_card
from ratecard.simulation.demo.traffic import DEMO_COLUMNS, MILLION, Period, Sample, Traffic
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql

if TYPE_CHECKING:
    import duckdb
    import pyarrow

_WEEKDAYS = (100, 104, 105, 103, 94, 52, 48)
_HOURS = (22, 18, 15, 14, 16, 22, 32, 48, 66, 80, 90, 95, 94, 98, 100, 98, 92, 84, 74, 66, 58, 48, 38, 28)
_HOUR = 3_600_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Enough pages for a smooth year.
_MOST_PAGES = 65_536


class _Page(NamedTuple):
    """A stretch of rows: its first microsecond, how many it lasts, and its period."""

    page: int
    start: int
    length: int
    period: int


def _pages_of(periods: Sequence[Period], rows: int) -> Iterator[_Page]:
    """Yield pages with the same number of rows each (to one), in the order of time; none crosses an hour."""
    hours = list(_hours(periods))
    ends = list(accumulate(weight for _, _, weight in hours))
    count = min(rows, _MOST_PAGES)
    edges = [_place(hours, ends, ends[-1] * (2 * page + 1), 2 * count) for page in range(count)]
    for page, (start, number) in enumerate(edges):
        end = hours[number][0] + _HOUR
        following = edges[page + 1][0] if page + 1 < count else end
        yield _Page(page, start, min(following, end) - start, hours[number][1])


def _place(hours: Sequence[tuple[int, int, int]], ends: Sequence[int], target: int, parts: int) -> tuple[int, int]:
    """Return the microsecond at which target / parts of all weight is reached, and its hour."""
    number = bisect_right(ends, target // parts)
    start, _, weight = hours[number]
    within = target - (ends[number] - weight) * parts
    return start + min(_HOUR * within // (weight * parts), _HOUR - 1), number


def _hours(periods: Sequence[Period]) -> Iterator[tuple[int, int, int]]:
    """Yield the first microsecond, the period and the weight of every hour."""
    for number, period in enumerate(periods):
        weight = sum(offer.weight for offer in period.offers)
        midnight = utc(period.start)
        for day in range(period.days):
            start = midnight + timedelta(days=day)
            since = (start - _EPOCH) // timedelta(microseconds=1)
            for hour, of_hour in enumerate(_HOURS):
                yield since + hour * _HOUR, number, weight * _WEEKDAYS[start.weekday()] * of_hour


# The slots of each period; a power of two.
_SLOTS = 65_536


class Stretch(NamedTuple):
    """`slots` slots, beginning at `slot`, which hold `kinds` samples, beginning at `first`."""

    slot: int
    slots: int
    first: int
    kinds: int


def demo_stretches(periods: Sequence[Period], bad: int) -> Iterator[Stretch]:
    """Yield the slots of every period: those of spoilt rows, `bad` of a million, then of each model by its weight.

    A model that is used has at least one slot, as long as there are enough.
    """
    for number, period in enumerate(periods):
        spoilt = min(_SLOTS, max(1, (2 * _SLOTS * bad + MILLION) // (2 * MILLION))) if bad else 0
        used, left = [offer for offer in period.offers if offer.weight], _SLOTS - spoilt
        least, total = int(len(used) <= left), sum(offer.weight for offer in used)
        ends = [(left - least * len(used)) * part // total for part in accumulate(offer.weight for offer in used)]
        slots = [end - start + least for start, end in zip((0, *ends), ends, strict=False)]
        slot = number * _SLOTS
        for offer, share in zip((period.faults, *used), (spoilt, *slots), strict=True):
            if share:
                yield Stretch(slot, share, offer.first, offer.kinds)
                slot += share


# Seconds and frames per second to the thousandth: the number of digits.
_DIGITS = {"seconds": 12, "reference_video_total_duration": 9, "source_seconds": 9, "source_fps": 9}
_OF_SAMPLE = ("cached", "written", "most_prompt", "clip_least", "clip_most")
_MEDIANS = ("completion_tokens", "characters", "character_count")
_DRAWS = 16
_REGIONS = ("us-east", "us-east", "us-west", "eu-west", "eu-west", "eu-north", "ap-northeast", "ap-south")


def _prepare(
    connection: "duckdb.DuckDBPyConnection",
    samples: Sequence[Sample],
    periods: Sequence[Period],
    *,
    rows: int,
    customers: int,
    bad: int,
) -> None:
    """Make the small tables that the query joins: samples, slots, pages of time, and the keys of customers."""
    import pyarrow

    records = []
    for sample in samples:
        of_sample = (sample.cached, sample.written, sample.most_prompt, *(sample.clip or (None, None)))
        records.append(sample.row | dict(zip(_OF_SAMPLE, of_sample, strict=True)))
    connection.register("sample_rows", pyarrow.Table.from_pylist(records, _schema()))
    connection.execute("CREATE TABLE samples AS SELECT row_number() OVER () - 1 AS sample, * FROM sample_rows")
    for name, tuples in (("stretches", demo_stretches(periods, bad)), ("pages", _pages_of(periods, rows))):
        records = [record._asdict() for record in tuples]
        connection.register(f"{name}_rows", pyarrow.Table.from_pylist(records))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")
    connection.execute("CREATE TABLE slots AS SELECT slot + unnest(range(slots)) AS slot, first, kinds FROM stretches")
    places = ", ".join(f"'{region}'" for region in _REGIONS)
    connection.execute(
        "CREATE TABLE keys AS SELECT i AS key, 'customer-' || lpad((i // 3 + 1)::VARCHAR, $width, '0') AS customer, "
        "'key-' || lpad((i // 3 + 1)::VARCHAR, $width, '0') || '-' || (i % 3 + 1) AS api_key, "
        f"[{places}][1 + (hash(i) % {len(_REGIONS)})::INTEGER] AS region FROM range(3 * $customers) t(i)",
        {"width": max(4, len(str(customers))), "customers": customers},
    )


def _usage_query(*, rows: int, pages: int, customers: int, seed: int, timestamp: str) -> str:
    """Return the rows of the usage table. `timestamp` is an expression for `moment`, in microseconds since 1970.

    Rows are numbered by `counted(i)`, a function that sees every number pass.
    """
    start = int.from_bytes(blake2b(str(seed).encode(), digest_size=7).digest())

    def draw(number: int) -> str:  # of 64 bits
        return f"hash(i * {_DRAWS} + {start + number})"

    def share(number: int) -> str:  # from 0 to 1, without 1
        return f"(({draw(number)} >> 12)::DOUBLE / {1 << 52})"

    normal = f"sqrt(-2 * ln(1 - {share(0)}))"
    columns = ", ".join(f"{_column(name)} AS {name}" for name in DEMO_COLUMNS)
    return f"""
    SELECT type, model, {timestamp} AS timestamp, 'req-{seed}-' || lpad(i::VARCHAR, 12, '0') AS request_id,
      customer, api_key, region, {columns}
    FROM (
      SELECT *, start + length * (i * {pages} - page * {rows} + ({draw(1)} % {pages})::BIGINT) // {rows + pages}
          AS moment,
        exp({normal} * cos(2 * pi() * {share(2)}) * 1.1) AS longer,
        exp({normal} * sin(2 * pi() * {share(2)}) * 1.1) AS wordier,
        greatest(least(1, prompt_tokens), least(most_prompt, (prompt_tokens * longer)::BIGINT)) AS prompt,
        1000 * clip_least + ({draw(3)} % (1000 * (clip_most - clip_least))::UBIGINT)::BIGINT AS thousandth
      FROM (SELECT counted(i) AS i FROM range({rows}) t(i))
      JOIN pages ON page = i * {pages} // {rows}
      JOIN slots ON slot = {_SLOTS} * period + ({draw(4)} % {_SLOTS})::BIGINT
      JOIN samples ON sample = first + floor(kinds * {share(5)} * {share(5)})::BIGINT
      JOIN keys ON key = 3 * least({customers - 1}, floor(pow({customers} + 1, {share(6)}))::BIGINT - 1)
        + greatest(0, ({draw(7)} % 4)::BIGINT - 1)
    )"""


def _column(name: str) -> str:
    """Return a column as it differs from row to row; `longer` and `wordier` are log-normal, around 1."""
    prompt = "CASE WHEN prompt_tokens IS NOT NULL THEN prompt END"
    match name:
        case "prompt_tokens":
            return prompt
        case "cached_tokens":
            return "prompt * cached // 1000"
        case "cache_creation_input_tokens":
            return "prompt * written // 1000"
        case "seconds":
            return _thousandths("(1000 * seconds * longer)::BIGINT", _DIGITS[name])
        case "reference_video_total_duration":
            fraction = _thousandths("thousandth + (thousandth % 1000 = 0)::BIGINT", _DIGITS[name])
            return f"coalesce({name}, {fraction})"
        case _ if name in _MEDIANS:
            return f"({name} * {'wordier' if name == 'completion_tokens' else 'longer'})::BIGINT"
        case _:
            return name


def _thousandths(thousandths: str, digits: int) -> str:
    """Return thousandths as a decimal: a product, because a quotient would be a float."""
    return f"(({thousandths})::DECIMAL({digits}, 0) * 0.001::DECIMAL(4, 3))::DECIMAL({digits}, 3)"


def _schema() -> "pyarrow.Schema":
    import pyarrow

    kinds = {"text": pyarrow.string(), "url": pyarrow.string(), "flag": pyarrow.bool_(), "number": pyarrow.int64()}
    fields = {"type": pyarrow.string(), "model": pyarrow.string()}
    for name, column in DEMO_COLUMNS.items():
        fields[name] = pyarrow.decimal128(_DIGITS[name], 3) if name in _DIGITS else kinds[column.kind]
    return pyarrow.schema(fields | dict.fromkeys(_OF_SAMPLE, pyarrow.int64()))


_ERRNO = re.compile(r'"errno":"(\d+)"')
# Reports of progress per second.
_A_SECOND = 5


class Format(NamedTuple):
    """A file format: how DuckDB writes it, and how it makes a timestamp of microseconds."""

    options: str
    timestamp: str


_TEXT = "strftime(make_timestamp({}), '%Y-%m-%dT%H:%M:%S.%fZ')"
_FORMATS = {
    ".parquet": Format("FORMAT parquet, COMPRESSION zstd", "make_timestamptz({})"),
    ".csv": Format("FORMAT csv, HEADER", _TEXT),
    ".jsonl": Format("FORMAT json", _TEXT),
}


def format_of(path: Path) -> Format:
    """Return the format by the ending of a name. Raises `ValueError` for another one."""
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        near = did_you_mean(ending, _FORMATS)
        raise ValueError(f"'{path.name}' ends in no known format.{near} Allowed: {', '.join(_FORMATS)}")
    return _FORMATS[ending]


def _write_table(connection: "duckdb.DuckDBPyConnection", query: str, path: Path, watch: Callable[[], None]) -> None:
    """Write the rows of a query; `path` is only replaced when all are written. `watch` is called on the way.

    Raises `SimulationError`. An interrupt stops the query, leaves nothing, and goes on.
    """
    import duckdb

    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    copy = f"COPY ({query}) TO {DuckDbSql.literal(str(new))} ({format_of(path).options})"
    try:
        with ThreadPoolExecutor(1) as worker:
            job = worker.submit(connection.execute, copy)
            try:
                while not wait([job], timeout=1 / _A_SECOND).done:
                    watch()
                job.result()
                watch()
            except BaseException:
                connection.interrupt()
                raise
        new.replace(path)
    except (OSError, duckdb.IOException) as error:
        # DuckDB puts the system's message into its own words.
        number = _ERRNO.search(str(error))
        reason = os.strerror(int(number[1])) if number else str(error).splitlines()[0]
        raise SimulationError(f"{path} cannot be written: {reason}. It is as it was") from None
    finally:
        new.unlink(missing_ok=True)


CUSTOMERS, BAD_SHARE, FRACTIONAL_SHARE = 2_000, Decimal("0.001"), Decimal("0.0005")
MOST_ROWS, MOST_CUSTOMERS = 10**9, 10**6
_SETTINGS: dict[str, Any] = {
    "memory_limit": "1500MB",
    "autoinstall_known_extensions": "false",
    # Joins are made as they are written: the rows stream past the small tables, and so keep their order.
    "disabled_optimizers": "join_order,build_side_probe_side",
}


def demo_usage(
    out: str | Path,
    rows: int,
    *,
    seed: int = 0,
    card: RateCard | None = None,
    until: date | None = None,
    customers: int = CUSTOMERS,
    bad_share: Decimal = BAD_SHARE,
    fractional_share: Decimal = FRACTIONAL_SHARE,
    watch: Callable[[int], None] = lambda rows: None,
) -> tuple[date, date]:
    """Write a table of made-up usage: Parquet, CSV or JSON lines, by the ending of `out`; its first and last day.

    A row is a request (of RPC, a call) in the columns of a usage table (`simulation.columns`), with `timestamp` in
    UTC, `request_id`, `customer`, `api_key` and `region`. The rows are in the order of time, from the first version
    of the card (the shipped one where none is given) until 60 days after its last change, or the day `until`. Equal
    arguments make equal rows, with the same release of DuckDB.

    About 70 % are text, 8 % RPC, 8 % images, 6 % video. `bad_share` of all rows have no price, for one of the reasons
    for which real ones have none; `fractional_share` of all are reference videos with a fraction of a second. Both are
    parts of one. `watch` is told now and then how many rows are made. A file that is there is replaced at the end.
    Models that charge `counts` have no rows, unless a usage may leave these out.

    Raises `ValueError` for an argument that cannot be, `SimulationError` for a file that cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first, last = demo_usage(Path(folder) / "usage.csv", 1_000, until=date(2026, 10, 1))
    ...     print(first, last, len((Path(folder) / "usage.csv").read_text().splitlines()))
    2025-12-01 2026-09-30 1001
    """
    path, card = Path(out), card or load_rate_card()
    kind, until = format_of(path), until or card.boundaries()[-1].date() + timedelta(days=60)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} is not a file in an existing folder. Make {path.parent}, or name another file")
    _check("rows", rows, 1, MOST_ROWS)
    _check("seed", seed, 0, MOST_ROWS)
    _check("customers", customers, 1, MOST_CUSTOMERS)
    bad, fractional = _millionths("bad_share", bad_share), _millionths("fractional_share", fractional_share)
    first = card.boundaries()[0].date()
    if until <= first:
        raise ValueError(f"until {until}: the first price takes effect on {first}. Name a later day")
    traffic = Traffic(card, until, seed, fractional)
    if not any(offer.weight for period in traffic.periods for offer in period.offers):
        raise ValueError(f"fractional_share {fractional_share}: no model of these tables takes reference video")
    try:
        import duckdb
        import pyarrow
    except ImportError as error:
        raise missing_extra("simulate", error) from None
    made = 0

    def counted(numbers: pyarrow.Array) -> pyarrow.Array:
        nonlocal made
        made += len(numbers)
        return numbers

    with duckdb.connect(config=_SETTINGS) as connection:
        connection.create_function(  # type: ignore[call-overload] # it takes the word, too
            "counted", counted, ["BIGINT"], "BIGINT", type="arrow", side_effects=True
        )
        _prepare(connection, traffic.samples, traffic.periods, rows=rows, customers=customers, bad=bad)
        pages = min(rows, _MOST_PAGES)
        timestamp = kind.timestamp.format("moment")
        query = _usage_query(rows=rows, pages=pages, customers=customers, seed=seed, timestamp=timestamp)
        _write_table(connection, query, path, lambda: watch(made))
    return traffic.periods[0].start, traffic.periods[-1].end - timedelta(days=1)


def _check(name: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise ValueError(f"{name} {number} is not allowed. Allowed: {least:,} to {most:,}")


def _millionths(name: str, share: Decimal) -> int:
    if not 0 <= share <= 1:
        raise ValueError(f"{name} {share} is not a part of one. Allowed: 0 to 1, like 0.001")
    return int(share * MILLION)
