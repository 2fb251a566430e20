"""Which connection goes on next: a few in each turn of the event loop, and new connections before others.

A turn of the event loop accepts one new connection only. Were everything that has arrived begun in one turn, who wants
to connect would wait for all of that, and once more for each client that connects before.
"""

import asyncio
from collections import deque
from typing import Protocol

# Connections that go on in one turn of the event loop, and the turns that a connection has before it is not new.
_TURN, _NEW = 2, 4
# New ones that come before others, the newest first: of more, those who came first would wait for all behind them.
_MOST_NEW = 32
# Turns in a row that may accept a connection and let none go on.
_ACCEPTING = 8


class TurnTaker(Protocol):
    """A connection that waits for its turn."""

    turns_had: int

    def go_on(self) -> None:
        """Do what a connection may do in one turn."""


class LoopTurns:
    """The connections of a process that wait for their turn."""

    def __init__(self) -> None:
        self._new, self._others = deque[TurnTaker](), deque[TurnTaker]()
        self._asked = self._accepted = False
        self._accepting = 0

    def wait(self, connection: TurnTaker, loop: asyncio.AbstractEventLoop) -> None:
        """Let a connection go on when it is its turn: soon, or after those before it."""
        (self._new if connection.turns_had < _NEW else self._others).append(connection)
        connection.turns_had += 1
        if len(self._new) > _MOST_NEW:
            self._others.append(self._new.popleft())
        self._ask(loop)

    def accepted(self) -> None:
        """Note that a connection was accepted: others may wait to be."""
        self._accepted = True

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._asked:
            self._asked = True
            loop.call_soon(self._take, loop)

    def _take(self, loop: asyncio.AbstractEventLoop) -> None:
        self._accepting = self._accepting + 1 if self._accepted else 0
        self._asked = self._accepted = False
        try:
            if not self._accepting % _ACCEPTING:
                self._let_go_on()
        finally:
            if self._new or self._others:
                self._ask(loop)

    def _let_go_on(self) -> None:
        for left in reversed(range(min(_TURN, len(self._new) + len(self._others)))):
            # The last place of a turn is kept for others: else a flood of new ones would keep them out.
            if self._others and (not left or not self._new):
                self._others.popleft().go_on()
            else:
                self._new.pop().go_on()
