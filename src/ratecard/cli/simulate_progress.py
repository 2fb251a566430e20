"""Progress: of a simulation, a bar on a terminal or else a line every ten seconds; of rows, a bar on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import ProgressColumn as Column
from rich.text import Text

from ratecard.base.threads import repeating

_Percent = Callable[[], Any]
Begin = Callable[[str, _Percent | None], None]
# Seconds between lines without a terminal; shorter work prints nothing.
EVERY = 10.0
# Steps without a percentage come after the pricing, at this percent of the whole.
_LAST = 95.0


class ProgressWatch:
    """The progress of one simulation, whose percentage never falls: its step, rows a second and seconds left."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._started = clock, clock()
        self._percent: _Percent | None = None
        self.words, self.percent = "", 0.0
        self.speed: int | None = None
        self.left: float | None = None

    def begin(self, words: str, percent: _Percent | None) -> None:
        """Note that a step begins; `percent` is a function that returns the percentage done, None if not known."""
        self.words, self._percent = words, percent
        if percent is None:
            self.percent = max(self.percent, _LAST)

    def look(self) -> "ProgressWatch":
        """Return the progress at this moment."""
        percent, passed = self._percent, self._clock() - self._started
        if percent is not None:
            self.percent = min(max(self.percent, float(percent())), 100.0)
            rows = getattr(percent, "rows", None)
            self.speed = int(rows / passed) if rows and passed > 0 else self.speed
        self.left = passed * (100 - self.percent) / self.percent if self.percent > 1 else None
        return self

    def line(self) -> str:
        """Return text like ` 42 %  Reading usage: tokens, 1,200,000 rows a second, 0:12 left`."""
        parts = [self.words]
        parts += [f"{self.speed:,} rows a second"] if self.speed else []
        parts += [f"{_clock(self.left)} left"] if self.left is not None else []
        return f"{self.percent:3.0f} %  {', '.join(parts)}"


class _Speed(Column):
    def render(self, task: Task) -> Text:
        speed = task.fields.get("speed")
        return Text(f"{speed:,} rows/s" if speed else "")


class _Bar(Progress):
    """A bar that asks for the state whenever it is drawn."""

    watch: ProgressWatch
    shown: TaskID | None = None

    def get_renderables(self) -> Iterator[Any]:
        if self.shown is not None:
            seen = self.watch.look()
            self.update(self.shown, description=seen.words, completed=seen.percent, speed=seen.speed)
        yield from super().get_renderables()


@contextmanager
def progress(every: float = EVERY) -> Iterator[Begin]:
    """Show progress while the block runs; yields the function to call when a step begins."""
    console, watch = Console(stderr=True), ProgressWatch()
    if not console.is_terminal:
        with repeating(lambda: click.echo(watch.look().line(), err=True), round(every * 1000)):
            yield watch.begin
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), _Speed(), TimeRemainingColumn())
    with _Bar(*columns, console=console, transient=True) as bar:
        bar.watch = watch
        bar.shown = bar.add_task("", total=100, speed=None)
        yield watch.begin


@contextmanager
def counted(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal while the block runs; yields the function to call with the number of rows done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(words, total=total)
        yield lambda count: bar.update(task, completed=count)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
