"""Threads, processes, and processes that are killed: a request is charged once, with all of its rows."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kept import WHEN, quote_of, rows

from forks import run, start
from ratecard.ledger import open_ledger
from ratecard.ledger.store import Ledger

PROCESSES, REQUESTS = 4, 25
SCRIPT = str(Path(__file__).parent / "appending.py")


def test_threads_that_retry_one_request(ledger: Ledger) -> None:
    def append(number: int) -> bool:
        return ledger.append(quote_of("1", "2"), account="a", request_id=f"r-{number % 10}", timestamp=WHEN)

    with ThreadPoolExecutor(8) as threads:
        landed = list(threads.map(append, range(80)))
    assert landed.count(True) == 10
    assert requests(ledger) == {f"r-{number}": 2 for number in range(10)}


def test_processes_that_open_a_new_database_at_once_and_retry_the_same_requests(database: str) -> None:
    words = [[SCRIPT, database, f"p-{who}", str(REQUESTS)] for who in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as threads:
        processes = [*threads.map(run, words)]
    assert [done.stderr for done in processes] == [b""] * PROCESSES
    landed = [json.loads(done.stdout) for done in processes]
    assert [sum(each) for each in zip(*landed, strict=True)] == [1] * REQUESTS, "exactly one of them"
    with open_ledger(database) as ledger:
        expected = {f"r-{number}": 3 for number in range(REQUESTS)} | {f"p-{who}": 1 for who in range(PROCESSES)}
        assert requests(ledger) == expected
        assert ledger.walk("a").rows == REQUESTS * 3 + PROCESSES, "numbered without a gap"


def test_a_process_that_is_killed_leaves_nothing_half_written(database: str) -> None:
    with open_ledger(database) as ledger:
        for who in range(3):
            before = ledger.walk("a").rows
            process = start([SCRIPT, database, f"p-{who}", "100000"])
            while ledger.walk("a").rows < before + 30:
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.01)
            process.kill()
            process.wait()
        found = requests(ledger)
        assert set(found.values()) == {3}
        assert ledger.append(quote_of("1", "2", "3"), account="a", request_id="r-0", timestamp=WHEN) is False
        assert ledger.append(quote_of("9"), account="a", request_id="after", timestamp=WHEN) is True
        assert ledger.walk("a").rows == len(found) * 3 + 1


def requests(ledger: Ledger) -> Counter[str]:
    """Return the number of rows of each request."""
    return Counter(row.details.request_id for row in rows(ledger, "a") if row.details)
