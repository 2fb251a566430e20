"""Which connection goes on next: a few in a turn of the event loop, new ones first, and nobody is kept out."""

import asyncio
from collections.abc import Callable

from ratecard.processes.protocol import _MOST_NEW, _NEW, _TURN, LoopTurns


class Client:
    """A connection that notes its turns, and goes on as often as it is told to."""

    def __init__(self, turns: LoopTurns, log: list[str], name: str, goes: int = 1, turns_had: int = 0) -> None:
        self.turns, self.log, self.name, self.goes, self.turns_had = turns, log, name, goes, turns_had

    def go_on(self) -> None:
        self.log.append(self.name)
        self.goes -= 1
        if self.goes:
            self.turns.wait(self, asyncio.get_running_loop())


def order(wait: Callable[[LoopTurns, list[str]], list[Client]], loop_turns: int = 1000) -> list[str]:
    """The names in the order of their turns, `|` between turns of the event loop."""
    log: list[str] = []

    async def run() -> None:
        turns = LoopTurns()
        for client in wait(turns, log):
            turns.wait(client, asyncio.get_running_loop())
        for _ in range(loop_turns):
            await asyncio.sleep(0)
            log.append("|")

    asyncio.run(run())
    return log


def test_few_go_on_in_one_turn_of_the_event_loop() -> None:
    names = [str(number) for number in range(100)]
    log = order(lambda turns, log: [Client(turns, log, name) for name in names])
    assert sorted(set(log) - {"|"}) == sorted(names)
    assert max(len(part.split()) for part in " ".join(log).split("|")) == _TURN


def test_a_new_connection_comes_before_a_thousand_others() -> None:
    def wait(turns: LoopTurns, log: list[str]) -> list[Client]:
        others = [Client(turns, log, "other", goes=150, turns_had=9) for _ in range(1000)]
        return [*others, Client(turns, log, "new")]

    assert order(wait, 10)[0] == "new"


def test_the_newest_comes_before_a_flood_of_new_ones() -> None:
    names = [str(number) for number in range(500)]
    assert order(lambda turns, log: [Client(turns, log, name) for name in names], 10)[0] == "499"


def test_a_flood_of_new_ones_does_not_keep_others_out() -> None:
    def wait(turns: LoopTurns, log: list[str]) -> list[Client]:
        return [
            Client(turns, log, "other", turns_had=9),
            *(Client(turns, log, "new", goes=3) for _ in range(_MOST_NEW)),
        ]

    assert "other" in order(wait, 2)


def test_of_many_new_ones_those_who_came_first_do_not_wait_for_all_behind_them() -> None:
    names = [str(number) for number in range(500)]
    assert "0" in order(lambda turns, log: [Client(turns, log, name) for name in names], 1)


def test_a_connection_is_new_for_a_few_turns_only() -> None:
    def wait(turns: LoopTurns, log: list[str]) -> list[Client]:
        return [*(Client(turns, log, "once") for _ in range(10)), Client(turns, log, "busy", goes=100)]

    assert [name for name in order(wait) if name != "|"].index("once") == _NEW


def test_accepting_connections_lets_others_go_on_now_and_then() -> None:
    log: list[str] = []

    async def run() -> None:
        turns = LoopTurns()
        turns.wait(Client(turns, log, "one", goes=3), asyncio.get_running_loop())
        for _ in range(50):
            turns.accepted()
            await asyncio.sleep(0)
            log.append("|")

    asyncio.run(run())
    assert log.count("one") == 3
    assert log.index("one") > 3
    assert log[-1] == "|"  # it did not wait for the connection that was accepted last
