"""What a caller knows of a source video is read exactly, and nonsense is refused by name."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from ratecard import SourceVideo


class Loud(float):
    """A float that prints as numpy's do."""

    def __repr__(self) -> str:
        return f"loud.float64({float(self)})"


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (10, Fraction(10)),
        ("10.5", Fraction(21, 2)),
        (0.1, Fraction(1, 10)),
        (29.97, Fraction(2997, 100)),
        (Decimal("1E-3"), Fraction(1, 1000)),
        (Fraction(30000, 1001), Fraction(30000, 1001)),
        ("30000/1001", Fraction(30000, 1001)),
        (Loud(0.1), Fraction(1, 10)),
        (None, None),
    ],
)
def test_seconds_and_frame_rates_are_exact(given: Any, exact: Fraction | None) -> None:
    source = SourceVideo(seconds=given, fps=given)
    assert (source.seconds, source.fps) == (exact, exact)


@pytest.mark.parametrize("name", ["seconds", "width", "height", "fps"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "must be more than zero"),
        (-1, "must be more than zero"),
        ("-0.5", "must be more than zero"),
        (float("nan"), "is not a finite number"),
        (float("inf"), "is not a finite number"),
        (Decimal("-Infinity"), "is not a finite number"),
        (Decimal("sNaN"), "is not a finite number"),
        ("10 s", "is not a finite number"),
        ("1/0", "is not a finite number"),
        (True, "is not a finite number"),
        ([10], "is not a finite number"),
    ],
)
def test_what_is_no_size_or_time_is_refused_by_name(name: str, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        SourceVideo(**{name: given})
    assert str(caught.value).startswith(f"{name}={given!r} ")


@pytest.mark.parametrize("name", ["width", "height"])
def test_pixels_are_whole(name: str) -> None:
    assert getattr(SourceVideo(**{name: Decimal("720.0")}), name) == 720
    with pytest.raises(ValueError, match="must be a whole number of pixels"):
        SourceVideo(**{name: 720.5})


def test_what_is_not_said_is_unknown_and_equal_sources_are_equal() -> None:
    assert SourceVideo() == SourceVideo(seconds=None, width=None, height=None, fps=None)
    assert hash(SourceVideo(seconds=0.5)) == hash(SourceVideo(seconds="1/2"))
