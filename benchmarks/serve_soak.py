"""Requests of every kind, charges and refunds, while tables are swapped, workers killed and the database stopped.

    python benchmarks/serve_soak.py --seconds 1800 --stop-every 20                   make soak
    python benchmarks/serve_soak.py --swaps 200 --kill-every 0 --stop-every 0        make test-swaps

Half of the swaps are broken. Every answer to a body must be the library's, byte for byte, for the digest that the
answer names, and that must be the digest of a sound folder; nothing may be answered with 5xx but what needs the
database, with 503, while that is stopped. A request may fail only where the worker that had it was killed. Charges and
refunds are sent until they are booked, and some again: in the end the ledger must have each once. The exit status is 1
if any of this does not hold.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from postgres import Postgres, postgres
from serve_client import Answer, Connection
from serve_requests import HOSTILE, body
from serve_tables import ChangingTables

from ratecard import QuoteError
from ratecard.ledger import open_ledger

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "server"))
from serving import Server, serving

CONNECTIONS, CHARGERS = 12, 4
# Whose key may book, and who reads the history of a server without other keys.
ACCOUNT, KEY = "default", "for-charges"
# What a charge of this model books, and a refund of a part of it; its table is not swapped.
CHARGED, SKU, AMOUNT = '{"type": "video", "model": "ovi-image-to-video"}', "ovi-image-to-video-fixed", "-0.22"
REFUNDED = "0.05"
# For so long after a worker was killed may a request fail.
AFTERSHOCK = 3
# So long may it take at most until changed tables are served, or refused: far longer than on the slowest machine.
_PATIENCE = 60


class Soak:
    """One run: what is counted, and what was wrong."""

    def __init__(self, server: Server, tables: ChangingTables, database: Postgres | None, seed: int) -> None:
        self.server, self.tables, self.database, self.seed = server, tables, database, seed
        # Each charge and refund that was answered with 200: (request id, amount).
        self.booked: list[tuple[str, str]] = []
        self.stops, self.away, self.back_at, self.unavailable = 0, False, -60.0, 0
        self.statuses, self.digests = Counter[int](), Counter[str]()
        self.swaps, self.kills, self.lost, self.hostile, self.slowest = 0, 0, 0, 0, 0.0
        self.wrong: list[str] = []
        self.killed_at = -60.0
        self.over = False

    async def ask(self, number: int) -> None:
        """Ask on one connection, and on a new one where that ended."""
        dice, connection = random.Random(f"{self.seed} {number}"), None
        while not self.over:
            raw, started = body(dice), time.monotonic()
            path = dice.choice(["/api/v1/video/quote"] * 9 + ["/api/v1/audio/quote"])
            try:
                connection = connection or await Connection.open(self.server.base)
                self.check(path, raw, await connection.post(path, raw))
            except (OSError, EOFError, asyncio.IncompleteReadError) as error:
                connection = None
                if time.monotonic() - self.killed_at > AFTERSHOCK:
                    self.wrong.append(f"lost: {raw!r}: {error!r}")
                self.lost += 1
            self.slowest = max(self.slowest, time.monotonic() - started)
            if dice.random() < 0.02:
                await self.attack(dice.choice(HOSTILE))

    async def charge(self, number: int) -> None:
        """Book one charge after the other, and refunds of some; read the history."""
        dice, connection, count = random.Random(f"charge {self.seed} {number}"), None, 0
        history = b"GET /api/v1/billing/usage-history?pageSize=10 HTTP/1.1\r\nHost: x\r\n\r\n"
        when = '"timestamp": "2026-10-01T12:00:00Z"'
        while not self.over:
            count += 1
            name = f"r-{number}-{count}"
            charge = f'{{"usage": {CHARGED}, {when}, "request_id": "{name}"}}'
            connection = await self.book(connection, dice, "/charges", charge, (name, AMOUNT))
            for part in range(dice.choice((0, 0, 1, 2))):
                refund = f'{{"id": "{name}-{part}", "sku": "{SKU}", {when}, "amount": "{REFUNDED}"}}'
                connection = await self.book(connection, dice, f"/charges/{name}/refunds", refund, (name, REFUNDED))
            answered = None
            while answered is None:
                connection, answered = await self.booked_with(connection, history)

    async def book(
        self, connection: Connection | None, dice: random.Random, path: str, raw: str, row: tuple[str, str]
    ) -> Connection | None:
        """Send what books a row until it is answered with 200, and sometimes once more: the answer is the same."""
        head = f"POST /api/v1{path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        request = f"{head}Authorization: Bearer {KEY}\r\nContent-Length: {len(raw)}\r\n\r\n{raw}".encode()
        answers = set[bytes]()
        for _ in range(2 if dice.random() < 0.2 else 1):
            answered = None
            while answered is None:
                connection, answered = await self.booked_with(connection, request)
            answers.add(answered.body)
        self.booked.append(row)
        if len(answers) != 1:
            self.wrong.append(f"{row} is answered {answers}")
        return connection

    async def booked_with(
        self, connection: Connection | None, request: bytes
    ) -> tuple[Connection | None, Answer | None]:
        """The connection to go on with, and the answer with 200; None where the request must be sent again."""
        sent = time.monotonic()
        try:
            connection = connection or await Connection.open(self.server.base)
            answer = await connection.send(request)
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            if sent - self.killed_at > AFTERSHOCK and time.monotonic() - self.killed_at > AFTERSHOCK:
                self.wrong.append(f"lost: {request!r}: {error!r}")
            self.lost += 1
            return None, None
        if answer.status == 503 and (self.away or sent - self.back_at < AFTERSHOCK):
            self.unavailable += 1
            await asyncio.sleep(0.1)
            return connection, None
        self.statuses[answer.status] += 1
        if answer.status != 200:
            self.wrong.append(f"{request!r} is answered {answer.status} {answer.body!r}")
            await asyncio.sleep(0.1)
            return connection, None
        return connection, answer

    async def stop(self, database: Postgres, every: float) -> None:
        """Stop the database now and then, and start it again; it runs in the end."""
        dice = random.Random(self.seed)
        while every and not self.over:
            await asyncio.sleep(every)
            self.stops, self.away = self.stops + 1, True
            await asyncio.to_thread(database.stop, dice.choice(["fast", "immediate"]))
            await asyncio.sleep(dice.uniform(0, every / 4))
            await asyncio.to_thread(database.start)
            self.away, self.back_at = False, time.monotonic()

    def read_ledger(self, url: str) -> None:
        """Compare the ledger with what was booked: none lost, none doubled, none of another amount."""
        with open_ledger(url) as ledger:
            walk = ledger.walk(ACCOUNT)
            rows = Counter[tuple[str, str]]()
            while walk is not None:
                page = ledger.page(ACCOUNT, walk)
                rows.update(
                    (each.details.request_id if each.details else "", str(each.amount)) for each in page.entries
                )
                walk = page.next  # type: ignore[assignment]
        expected = Counter(self.booked)
        for request, count in ((rows - expected) | (expected - rows)).items():
            self.wrong.append(f"{request} is {rows[request]} times in the ledger, not {expected[request]}: {count}")

    async def attack(self, raw: bytes) -> None:
        """Hostile bytes on a connection of their own."""
        self.hostile += 1
        try:
            connection = await Connection.open(self.server.base)
            answer = await asyncio.wait_for(connection.send(raw), timeout=0.2)
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
            return
        self.statuses[answer.status] += 1
        if not 400 <= answer.status < 500:
            self.wrong.append(f"hostile {raw[:60]!r} is answered with {answer.status}")
        connection.close()

    def check(self, path: str, raw: bytes, answer: Answer) -> None:
        """Compare an answer with the library's for the tables that it names, on the day that it was made."""
        self.statuses[answer.status] += 1
        digest = answer.headers.get("x-ratecard-digest", "")
        self.digests[digest] += 1
        said = parsedate_to_datetime(answer.headers["date"])
        days = {(said + timedelta(seconds=second)).astimezone(UTC).date() for second in (-1, 0, 1)}
        if (answer.status, answer.body) not in [self.expected(path, raw, digest, day) for day in days]:
            self.wrong.append(f"{path} {raw!r} is answered {answer.status} {answer.body!r} of tables {digest!r}")

    def expected(self, path: str, raw: bytes, digest: str, day: date) -> tuple[int, bytes]:
        """What the library answers."""
        book = self.tables.book(digest, day)
        if book is None:
            return 0, b"no sound tables have this digest"
        try:
            return 200, (book.quote_audio if path.startswith("/api/v1/audio") else book.quote_video)(raw).to_json()
        except QuoteError as refusal:
            return 400, refusal.to_json()

    async def swap(self, every: float, swaps: int) -> None:
        """Change the tables as often as asked, or to the end."""
        changes = self.tables.changes(random.Random(self.seed))
        while True:
            answers, refused = self.digests.copy(), self.server.said.count(" stay")
            digest = next(changes)
            self.swaps += 1
            await asyncio.sleep(every)
            deadline = time.monotonic() + _PATIENCE
            while not self.over and not self._followed(digest, answers, refused):
                await asyncio.sleep(0.05)
                if time.monotonic() > deadline:
                    self.wrong.append(f"tables {digest or 'that are broken'} are not followed after {_PATIENCE} s")
                    return
            if self.over or self.swaps == swaps:
                return

    def _followed(self, digest: str | None, answers: Counter[str], refused: int) -> bool:
        """Whether something was answered from the changed tables since, or they were refused."""
        if digest is None:
            return self.server.said.count(" stay") > refused
        return self.digests[digest] > answers[digest]

    async def kill(self, every: float) -> None:
        """Kill a worker now and then."""
        dice = random.Random(self.seed)
        while every and not self.over:
            await asyncio.sleep(every)
            workers = self.server.workers()
            if len(workers) > 1 and not self.over:
                self.kills, self.killed_at = self.kills + 1, time.monotonic()
                os.kill(dice.choice(workers), signal.SIGKILL)

    async def run(self, seconds: float, swaps: int, swap_every: float, kill_every: float, stop_every: float) -> None:
        """Until the time is over, or all swaps are made."""
        asking = [asyncio.create_task(self.ask(number)) for number in range(CONNECTIONS)]
        if self.database:
            asking += [asyncio.create_task(self.charge(number)) for number in range(CHARGERS)]
            asking.append(asyncio.create_task(self.stop(self.database, stop_every)))
        killing = asyncio.create_task(self.kill(kill_every))
        swapping = asyncio.create_task(self.swap(swap_every, swaps))
        await asyncio.wait({swapping}, timeout=None if swaps else seconds)
        self.over = True
        killing.cancel()
        swapping.cancel()
        await asyncio.gather(*asking)

    def report(self, seconds: float) -> bool:
        """Print what was seen; whether all was right."""
        for wrong in self.wrong[:10]:
            print("WRONG", wrong[:1000])
        asked, broken = sum(self.statuses.values()), self.swaps // 2
        print(f"{asked:,} answers in {seconds:.0f} s: {dict(sorted(self.statuses.items()))}; {self.hostile:,} hostile")
        print(f"{self.swaps} swaps, {broken} of them broken; answers of {len(self.digests)} different sound tables")
        print(f"{self.kills} workers killed, {self.lost} requests lost with them; slowest answer {self.slowest:.2f} s")
        refunds = sum(amount == REFUNDED for _, amount in self.booked)
        print(f"{len(self.booked) - refunds:,} charges and {refunds:,} refunds booked; ", end="")
        print(f"{self.stops} stops of the database, {self.unavailable} answers 503")
        failed = sum(count for status, count in self.statuses.items() if status >= 500)
        taken = self.server.said.count("take the place of")
        print(f"{failed} answers with 5xx, {len(self.wrong)} wrong; the workers took {taken} tables into service")
        return not self.wrong and not failed and len(self.digests) > min(3, self.swaps // 4)


def main() -> None:
    """Run, report; the exit status is 1 where something was wrong."""
    given = argparse.ArgumentParser()
    given.add_argument("--seconds", type=float, default=600)
    given.add_argument("--swaps", type=int, default=0, help="end after this many swaps, whatever --seconds says")
    given.add_argument("--swap-every", type=float, default=1)
    given.add_argument("--kill-every", type=float, default=15, help="seconds between two kills; 0: none")
    given.add_argument("--stop-every", type=float, default=20, help="seconds between two stops of the database")
    given.add_argument("--workers", type=int, default=2)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres() if options.stop_every else nullcontext() as database:
        tables, keys = ChangingTables(Path(folder), states=min(24, options.swaps) or 24), Path(folder) / "keys"
        keys.write_text(f"{ACCOUNT}:{KEY}\n")
        command = ["--allow-edits", "--workers", str(options.workers)]
        if database:
            command += ["--database", database.url, "--charge-keys", str(keys)]
        elif options.stop_every:
            print("without charges, and without stops of the database: PostgreSQL is missing here")
        with serving(tables.folder, *command) as server:
            soak, started = Soak(server, tables, database, options.seed), time.monotonic()
            every = (options.swap_every, options.kill_every, options.stop_every)
            asyncio.run(soak.run(options.seconds, options.swaps, *every))
            if database:
                soak.read_ledger(database.url)
            right = soak.report(time.monotonic() - started)
    print(f"{options.workers} workers, seed {options.seed}; {datetime.now(UTC):%Y-%m-%d}")
    sys.exit(not right)


if __name__ == "__main__":
    main()
