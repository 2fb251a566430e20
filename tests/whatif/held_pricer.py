"""A page that answers changes only once a file exists: `python held_pricer.py USAGE GO`."""

import sys
import time
from datetime import date
from pathlib import Path

import click
from small_usage import DAY, STANDING

from ratecard.card import load_rate_card
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate
from ratecard.whatif.app import HOST, free_port, serve_page
from ratecard.whatif.draft import YOURS, Draft
from ratecard.whatif.draft_pricer import Answer, DraftPricer
from ratecard.whatif.report_process import RecordedUsage


class Held(DraftPricer):
    """Waits before it answers what holds a change."""

    go = Path()

    def answer(self, draft: Draft, label: str = YOURS) -> Answer:
        while not draft.empty and not self.go.exists():
            time.sleep(0.05)
        return super().answer(draft, label)


def main(usage: str, go: str) -> None:
    Held.go = Path(go)
    port = free_port(0)
    with simulate(usage, Side(DAY, load_rate_card(), STANDING)) as found:
        serve_page(
            Held(found),
            command="",
            recorded=RecordedUsage((usage,), {}),
            day=date.fromisoformat(DAY),
            port=port,
            show=False,
            ready=lambda: click.echo(f"http://{HOST}:{port}"),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
