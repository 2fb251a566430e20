"""Dictionary keys for one object."""


class Identity:
    """A key that equals only a key of the very same object, which it keeps alive.

    Models of tables compare and hash by all that they hold, which is slow; this takes the same time for all of them.

    >>> one, other = [1], [1]
    >>> Identity(one) == Identity(one), Identity(one) == Identity(other)
    (True, False)
    """

    __slots__ = ("_of",)

    def __init__(self, of: object) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)
