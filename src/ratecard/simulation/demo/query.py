"""The query that makes the rows of made-up usage, each from its number and the seed alone.

More is sent on working days and in the afternoon, in pages of rows that follow each other. A period has slots of
samples: the more slots a model has, the more often it is used.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ratecard.base.instants import utc
from ratecard.simulation.demo.requests import DEMO_COLUMNS, Sample
from ratecard.simulation.demo.traffic import MILLION, DemoModel, Period

if TYPE_CHECKING:
    import duckdb
    import pyarrow


_WEEKDAYS = (100, 104, 105, 103, 94, 52, 48)
_HOURS = (22, 18, 15, 14, 16, 22, 32, 48, 66, 80, 90, 95, 94, 98, 100, 98, 92, 84, 74, 66, 58, 48, 38, 28)
_HOUR = 3_600_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Enough pages for a smooth year.
MOST_PAGES = 65_536


class _Page(NamedTuple):
    """A stretch of rows: its first microsecond, how many it lasts, and its period."""

    page: int
    start: int
    length: int
    period: int


def pages_of(periods: Sequence[Period], rows: int) -> Iterator[_Page]:
    """Yield pages with the same number of rows each (to one), in the order of time; none crosses an hour."""
    hours = list(_hours(periods))
    ends = list(accumulate(weight for _, _, weight in hours))
    count = min(rows, MOST_PAGES)
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


# Of each period; a power of two.
SLOTS = 65_536


class Stretch(NamedTuple):
    """`slots` slots, beginning at `slot`, which hold `kinds` samples, beginning at `first`."""

    slot: int
    slots: int
    first: int
    kinds: int


def demo_stretches(periods: Sequence[Period], bad: int) -> Iterator[Stretch]:
    """Yield the slots of every period; `bad` is the part of the rows that are spoilt, of a million."""
    for number, period in enumerate(periods):
        spoilt = min(SLOTS, max(1, _round_half_up(SLOTS * bad, MILLION))) if bad else 0
        yield from _placed(number * SLOTS, [(period.faults, spoilt), *_shared(period.offers, SLOTS - spoilt)])


def _round_half_up(number: int, parts: int) -> int:
    """Return a fraction as the nearest whole number."""
    return (2 * number + parts) // (2 * parts)


def _shared(offers: Sequence[DemoModel], slots: int) -> Iterator[tuple[DemoModel, int]]:
    """Yield slots by weight; at least one each, as long as there are enough."""
    used = [offer for offer in offers if offer.weight]
    least = 1 if len(used) <= slots else 0
    free, total, so_far = slots - least * len(used), sum(offer.weight for offer in used), 0
    for offer in used:
        before = free * so_far // total
        so_far += offer.weight
        yield offer, free * so_far // total - before + least


def _placed(slot: int, shared: list[tuple[DemoModel, int]]) -> Iterator[Stretch]:
    for offer, slots in shared:
        if slots:
            yield Stretch(slot, slots, offer.first, offer.kinds)
            slot += slots


# Seconds and frames per second to the thousandth: the number of digits.
DIGITS = {"seconds": 12, "reference_video_total_duration": 9, "source_seconds": 9, "source_fps": 9}
_OF_SAMPLE = ("cached", "written", "most_prompt", "clip_least", "clip_most")
_MEDIANS = ("completion_tokens", "characters", "character_count")
_DRAWS = 16
_REGIONS = ("us-east", "us-east", "us-west", "eu-west", "eu-west", "eu-north", "ap-northeast", "ap-south")


def prepare_demo(
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

    connection.register("sample_rows", pyarrow.Table.from_pylist(list(map(_record, samples)), _schema()))
    connection.execute("CREATE TABLE samples AS SELECT row_number() OVER () - 1 AS sample, * FROM sample_rows")
    for name, found in (("stretches", demo_stretches(periods, bad)), ("pages", pages_of(periods, rows))):
        records = [record._asdict() for record in found]
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


def usage_query(*, rows: int, pages: int, customers: int, seed: int, timestamp: str) -> str:
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
      JOIN slots ON slot = {SLOTS} * period + ({draw(4)} % {SLOTS})::BIGINT
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
            return _thousandths("(1000 * seconds * longer)::BIGINT", DIGITS[name])
        case "reference_video_total_duration":
            fraction = _thousandths("thousandth + (thousandth % 1000 = 0)::BIGINT", DIGITS[name])
            return f"coalesce({name}, {fraction})"
        case _ if name in _MEDIANS:
            return f"({name} * {'wordier' if name == 'completion_tokens' else 'longer'})::BIGINT"
        case _:
            return name


def _thousandths(whole: str, digits: int) -> str:
    """Return thousandths as a decimal: a product, because a quotient would be a float."""
    return f"(({whole})::DECIMAL({digits}, 0) * 0.001::DECIMAL(4, 3))::DECIMAL({digits}, 3)"


def _record(sample: Sample) -> dict[str, Any]:
    least, most = sample.clip or (None, None)
    further = (sample.cached, sample.written, sample.most_prompt, least, most)
    return {**sample.row, **dict(zip(_OF_SAMPLE, further, strict=True))}


def _schema() -> "pyarrow.Schema":
    import pyarrow

    kinds = {"text": pyarrow.string(), "url": pyarrow.string(), "flag": pyarrow.bool_(), "number": pyarrow.int64()}
    fields = {"type": pyarrow.string(), "model": pyarrow.string()}
    for name, column in DEMO_COLUMNS.items():
        fields[name] = pyarrow.decimal128(DIGITS[name], 3) if name in DIGITS else kinds[column.kind]
    return pyarrow.schema(fields | dict.fromkeys(_OF_SAMPLE, pyarrow.int64()))
