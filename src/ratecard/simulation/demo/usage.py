"""Writes realistic usage to a file: any number of made-up requests of every model that has a price."""

import os
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard, load_rate_card
from ratecard.simulation.demo.query import MOST_PAGES, prepare_demo, usage_query
from ratecard.simulation.demo.traffic import MILLION, Traffic, last_day
from ratecard.simulation.errors import SimulationError, missing_extra
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql

if TYPE_CHECKING:
    import duckdb


_ERRNO = re.compile(r'"errno":"(\d+)"')
# How often the progress is told.
_A_SECOND = 5


class Format(NamedTuple):
    """How DuckDB writes a format, and how a timestamp in it is made of microseconds."""

    options: str
    timestamp: str


_TEXT = "strftime(make_timestamp({}), '%Y-%m-%dT%H:%M:%S.%fZ')"
_FORMATS = {
    ".parquet": Format("FORMAT parquet, COMPRESSION zstd", "make_timestamptz({})"),
    ".csv": Format("FORMAT csv, HEADER", _TEXT),
    ".jsonl": Format("FORMAT json", _TEXT),
}
_Watch = Callable[[], None]


def format_of(path: Path) -> Format:
    """Return the format by the ending of a name. Raises `ValueError` for another one."""
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        near = did_you_mean(ending, _FORMATS)
        raise ValueError(f"'{path.name}' ends in no known format.{near} Allowed: {', '.join(_FORMATS)}")
    return _FORMATS[ending]


def _write_table(connection: "duckdb.DuckDBPyConnection", query: str, path: Path, watch: _Watch) -> None:
    """Write the rows of a query; `path` is only replaced when all are written. `watch` is called on the way.

    Raises `SimulationError`. An interrupt stops the query, leaves nothing, and goes on.
    """
    import duckdb

    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with ThreadPoolExecutor(1) as worker:
            job = worker.submit(
                connection.execute, f"COPY ({query}) TO {DuckDbSql.literal(str(new))} ({format_of(path).options})"
            )
            try:
                _wait(job, watch)
            except BaseException:
                connection.interrupt()
                raise
        new.replace(path)
    except (OSError, duckdb.IOException) as error:
        raise SimulationError(f"{path} cannot be written: {_reason(error)}. It is as it was") from None
    finally:
        new.unlink(missing_ok=True)


def _wait(job: "Future[duckdb.DuckDBPyConnection]", watch: _Watch) -> None:
    while not wait([job], timeout=1 / _A_SECOND).done:
        watch()
    job.result()
    watch()


def _reason(error: Exception) -> str:
    """Return what the system said, where it said anything; DuckDB wraps it into its own words."""
    number = _ERRNO.search(str(error))
    return os.strerror(int(number[1])) if number else str(error).splitlines()[0]


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
    kind, until = format_of(path), until or last_day(card)
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
        prepare_demo(connection, traffic.samples, traffic.periods, rows=rows, customers=customers, bad=bad)
        pages = min(rows, MOST_PAGES)
        timestamp = kind.timestamp.format("moment")
        query = usage_query(rows=rows, pages=pages, customers=customers, seed=seed, timestamp=timestamp)
        _write_table(connection, query, path, lambda: watch(made))
    return traffic.periods[0].start, traffic.periods[-1].last


def _check(name: str, given: int, least: int, most: int) -> None:
    if not least <= given <= most:
        raise ValueError(f"{name} {given} is not allowed. Allowed: {least:,} to {most:,}")


def _millionths(name: str, given: Decimal) -> int:
    if not 0 <= given <= 1:
        raise ValueError(f"{name} {given} is not a part of one. Allowed: 0 to 1, like 0.001")
    return int(given * MILLION)
