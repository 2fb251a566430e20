"""Charges and refunds over HTTP while workers are killed: is each booked once, and none lost?

    python benchmarks/charge_soak.py --seconds 600                     make soak-charges
    python benchmarks/charge_soak.py --database postgresql://...       stop and start it meanwhile

Every client sends each charge and refund until it is answered, and often once more. Only 200 and 503 are right. At the
end the rows of the ledger must be those that were answered, each once. The exit status is 1 if this does not hold.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from ratecard.ledger import open_ledger

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "server"))
from serving import Server, serving

CLIENTS, ACCOUNTS = 8, ("acme", "umbra", "zeta")
USAGE, SKU, PRICE = {"model": "ovi-image-to-video"}, "ovi-image-to-video-fixed", Decimal("0.22")
WHEN = "2026-10-01T12:00:00Z"


class Soak:
    """One run: what was answered, and what was wrong."""

    def __init__(self, server: Server, run: str) -> None:
        self.server, self.run, self.over = server, run, False
        self.statuses, self.lost, self.kills = Counter[int](), 0, 0
        self.left: dict[tuple[str, str], Decimal] = {}
        self.rows = 0
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def client(self, number: int) -> None:
        """Charge and pay back until the end; what was begun is finished."""
        dice, request, http = random.Random(number), 0, httpx.Client(timeout=120)
        while not self.over:
            account, request = dice.choice(ACCOUNTS), request + 1
            name, back = f"{self.run}-{number}-{request}", Decimal(0)
            charge = {"usage": USAGE, "timestamp": WHEN, "request_id": name}
            if not self.send(http, "/charges", charge, account, dice):
                return
            refunds = dice.choice((0, 0, 1, 2))
            for part in range(refunds):
                refund = {"id": f"{name}-{part}", "sku": SKU, "timestamp": WHEN, "amount": "0.05"}
                if not self.send(http, f"/charges/{name}/refunds", refund, account, dice):
                    return
                back += Decimal("0.05")
            with self._lock:
                self.left[account, name] = PRICE - back
                self.rows += 1 + refunds

    def send(self, http: httpx.Client, path: str, body: dict[str, Any], account: str, dice: random.Random) -> bool:
        """Send until it is answered with 200, and sometimes again; False if anything else is answered."""
        wanted = 1 + (dice.random() < 0.3)
        while wanted:
            try:
                headers = {"authorization": f"Bearer key-of-{account}"}
                answer = http.post(f"{self.server.base}/api/v1{path}", json=body, headers=headers)
            except httpx.HTTPError:
                self.lost += 1
                time.sleep(0.05)
                continue
            self.statuses[answer.status_code] += 1
            if answer.status_code == 503:
                time.sleep(0.1)
            elif answer.status_code != 200:
                self.wrong.append(f"{path}: {answer.status_code} {answer.text}")
                return False
            else:
                wanted -= 1
        return True

    def kill(self, seconds: int, every: int) -> None:
        """Kill a worker now and then until the time is over."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(every or seconds, left))
            workers = self.server.workers()
            if every and workers and time.monotonic() < end:
                os.kill(random.choice(workers), signal.SIGKILL)
                self.kills += 1
        self.over = True

    def compare(self, database: str) -> None:
        """The rows of the ledger with what was answered."""
        found, rows = Counter[tuple[str, str]](), 0
        with open_ledger(database) as ledger:
            for account in ACCOUNTS:
                walk = ledger.walk(account)
                while walk is not None:
                    page = ledger.page(account, walk)
                    for row in page.entries:
                        request = row.details.request_id if row.details else ""
                        if request.startswith(f"{self.run}-"):
                            found[account, request] -= row.amount  # type: ignore[assignment]
                            rows += 1
                    walk = page.next  # type: ignore[assignment]
        if rows != self.rows:
            self.wrong.append(f"{rows} rows are in the ledger, and {self.rows} were answered")
        if found != self.left:
            other = [key for key in {*found, *self.left} if found.get(key) != self.left.get(key)]
            self.wrong.append(f"{len(other)} requests come to another sum: {other[:5]}")


def main() -> None:
    """Run it; the exit status says whether all was right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--kill-every", type=int, default=5)
    parser.add_argument("--database")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = given.database or f"sqlite:///{folder}/ledger.db"
        keys = Path(folder) / "keys"
        keys.write_text("\n".join(f"{account}:key-of-{account}" for account in ACCOUNTS))
        with serving("--workers", "2", "--database", database, "--charge-keys", keys) as server:
            soak = Soak(server, f"{time.time_ns():x}")
            clients = [threading.Thread(target=soak.client, args=(number,)) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            soak.kill(given.seconds, given.kill_every)
            for client in clients:
                client.join()
        soak.compare(database)
    print(f"{len(soak.left):,} charges, {soak.rows - len(soak.left):,} refunds, {soak.kills} workers killed")
    print(f"answers: {dict(soak.statuses)}; without an answer: {soak.lost}")
    for line in soak.wrong[:20]:
        print("wrong:", line)
    sys.exit(bool(soak.wrong))


if __name__ == "__main__":
    main()
