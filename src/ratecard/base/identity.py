"""Dictionary keys for one object."""

from typing import Any


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
