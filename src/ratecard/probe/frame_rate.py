"""How many frames a second the video track of a file has."""

from fractions import Fraction

# Matroska keeps the length of a frame in whole nanoseconds, and FFmpeg a rate as a fraction of small numbers: together
# they are off by less than this part of the rate.
_ROUNDING = Fraction(1, 10**6)


def standard(rate: Fraction) -> Fraction:
    """The whole or NTSC rate (a whole one times 1000/1001) that a rounded one stands for; any other rate as it is.

    >>> standard(Fraction(19001, 317)), standard(Fraction(160000, 7189))
    (Fraction(60000, 1001), Fraction(160000, 7189))
    """
    ntsc = Fraction(1000, 1001)
    for exact in (Fraction(round(rate)), round(rate / ntsc) * ntsc):
        if abs(exact - rate) < rate * _ROUNDING:
            return exact
    return rate
