"""Plans by layout (the names of a request, in order). Each plan is made at the first request of its layout."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

# Clients send few layouts. Hostile ones send many or long ones, which are kept for a short time or not at all.
MOST_PLANS, MOST_LETTERS = 32, 1_000

_Names = tuple[Any, ...]
_Plan = TypeVar("_Plan")


class Layouts(dict[_Names, _Plan], Generic[_Plan]):
    """The plans of recent layouts, made by a function of their names.

    >>> layouts = Layouts(lambda names: f"a plan of {len(names)}")
    >>> layouts["model", "duration"], len(layouts)
    ('a plan of 2', 1)
    """

    def __init__(self, make: Callable[[_Names], _Plan]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, names: _Names) -> _Plan:
        """Make the plan of a layout, and keep it unless its names are longer than any client sends."""
        plan = self._make(names)
        # Only text is kept: the keys 1 and True are equal, but have different names.
        if all(name.__class__ is str for name in names) and sum(map(len, names)) + len(names) <= MOST_LETTERS:
            if len(self) >= MOST_PLANS:
                self.clear()
            self[names] = plan
        return plan
