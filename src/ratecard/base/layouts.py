"""Keys of what is made once: the layout (the names of a request, in order) of a plan, and the identity of an object."""

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


class Identity:
    """A key that equals only a key of the very same object, which it keeps alive.

    Models of tables compare and hash by all their fields, which is slow; a key takes the same time for all of them.

    >>> one, other = [1], [1]
    >>> Identity(one) == Identity(one), Identity(one) == Identity(other)
    (True, False)
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
