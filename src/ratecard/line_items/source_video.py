"""The known facts of source videos, which requests send to be processed."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

Numeric = int | str | float | Decimal | Fraction


@dataclass(frozen=True, slots=True, init=False)
class SourceVideo:
    """Seconds, size in pixels and frames per second of a source video; None for unknown values.

    Numbers are read exactly: a float is read as the decimal that it prints as. Raises `ValueError` for a number that
    is not finite and above zero.

    >>> SourceVideo(seconds="10.5", height=480, fps=30).seconds
    Fraction(21, 2)
    """

    seconds: Fraction | None
    width: int | None
    height: int | None
    fps: Fraction | None

    def __init__(
        self,
        seconds: Numeric | None = None,
        width: Numeric | None = None,
        height: Numeric | None = None,
        fps: Numeric | None = None,
    ) -> None:
        object.__setattr__(self, "seconds", _positive("seconds", seconds))
        object.__setattr__(self, "fps", _positive("fps", fps))
        object.__setattr__(self, "width", _pixels("width", width))
        object.__setattr__(self, "height", _pixels("height", height))


def _positive(name: str, given: Numeric | None) -> Fraction | None:
    if given is None:
        return None
    try:
        if isinstance(given, bool):
            raise ValueError
        number = Fraction(float.__repr__(given) if isinstance(given, float) else given)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{name}={given!r} is not a finite number") from None
    if number <= 0:
        raise ValueError(f"{name}={given!r} must be more than zero")
    return number


def _pixels(name: str, given: Numeric | None) -> int | None:
    number = _positive(name, given)
    if number is not None and number.denominator != 1:
        raise ValueError(f"{name}={given!r} must be a whole number of pixels")
    return None if number is None else int(number)
