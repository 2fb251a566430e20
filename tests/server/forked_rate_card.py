"""Forks while a thread holds a lock of a live rate card: `python forked_rate_card.py FOLDER WHAT`.

Parent and child then both wait until they serve a changed price.
"""

import faulthandler
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from serving import GROK, at_rate, rewrite

from ratecard.card import RateCard
from ratecard.server import LiveRateCard, tables
from ratecard.server.last_sound import LastSound


def wait_for_change(live: LiveRateCard, before: str, who: str) -> None:
    deadline = time.monotonic() + 120
    while live.now().digest == before:
        assert time.monotonic() < deadline, f"{who} serves no change"
        time.sleep(0.02)
    sys.stdout.write(f"{who} serves the change\n")
    sys.stdout.flush()


def main(folder: Path, held: str) -> None:
    state = folder.with_name("state")
    live = LiveRateCard(folder, allow_edits=True, state=state)
    changing, go_on = threading.Event(), threading.Event()
    used = threading.Event()
    if held == "starting":  # the thread uses the watcher for the first time, which makes objects once
        names = vars(tables)
        first = names["watch"]

        def slow(*words: Any, **options: Any) -> Iterator[object]:
            names["watch"] = first
            changing.set()
            time.sleep(0.5)
            yield from first(*words, **options)
            used.set()

        names["watch"] = slow
    before = live.served.digest if held == "unstarted" else live.now().digest
    watch = live._watch
    assert watch is not None
    if held == "starting":
        changing.wait()
    if held in ("changing", "loading"):  # the thread has seen the change, and has not served it yet
        take = watch.taken

        def taken(card: RateCard) -> None:
            changing.set()
            go_on.wait(0.5 if held == "loading" else None)
            take(card)

        watch.taken = taken
        tables._FORK_WAITS = 0 if held == "changing" else 120
        change(folder)
        changing.wait()
    if held == "state":  # the thread compares tables, and the child must not inherit its lock
        threading.Thread(target=decide, args=(LastSound(state), changing, go_on)).start()
        changing.wait()
    with ExitStack() as locks:
        lock = {"card": live._lock, "watch": watch._lock, "stop": getattr(watch._stop, "_cond")}.get(held)  # noqa: B009
        if lock is not None:
            locks.enter_context(lock)
        child = os.fork()
        assert held != "loading" or live.served.digest != before, "the fork waits for the thread"
        assert held != "starting" or used.is_set(), "the fork waits for the watcher"
        if child == 0:
            watch.taken = live._take
            os.close(0)
            try:
                live.stop()  # a hook of the host may do this first
                if held not in ("changing", "loading"):
                    change(folder)
                wait_for_change(live, before, "the child")
                live.stop()
            except BaseException:  # os._exit would hide the error
                faulthandler.dump_traceback()
                traceback.print_exc()
                raise
            finally:
                sys.stdout.flush()
                os._exit(0 if live.served.digest != before else 1)
    go_on.set()
    assert os.waitpid(child, 0)[1] == 0
    wait_for_change(live, before, "the parent")
    live.stop()


def decide(kept: LastSound, begun: threading.Event, go_on: threading.Event) -> None:
    with kept.deciding():
        begun.set()
        go_on.wait()


def change(folder: Path) -> None:
    rewrite(folder / GROK, at_rate((folder / GROK).read_text(), "0.2"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
