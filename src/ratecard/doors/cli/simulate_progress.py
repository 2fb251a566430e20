"""The progress of a simulation on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

Percent = Callable[[], Any]


class _Asking(Progress):
    """Asks how far the engine is whenever it is drawn."""

    percent: Percent | None = None

    def get_renderables(self) -> Iterator[RenderableType]:
        if self.percent is not None:
            for task in self.tasks:
                self.update(task.id, completed=max(0, self.percent()))
        yield from super().get_renderables()


@contextmanager
def progress() -> Iterator[Callable[[str, Percent | None], None]]:
    """A function to tell what begins, and how to ask how far it is; nothing is shown where no terminal is."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda words, percent: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with _Asking(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def begin(words: str, percent: Percent | None) -> None:
            bar.percent = percent
            bar.update(task, description=words, total=100 if percent else None, completed=0)

        yield begin
