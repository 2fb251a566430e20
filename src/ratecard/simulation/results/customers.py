"""Winners and losers: what a candidate changes for each customer."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ratecard.simulation.results.rows import Row

_SHOWN = 20
# The edges of the distribution, in percent of what a customer pays now.
_EDGES = (-50, -20, -10, -5, -1, 0, 1, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Band:
    """How many customers see a change between two edges, in percent; an open end is None, `unchanged` has both at 0."""

    least: int | None
    most: int | None
    customers: int

    @property
    def label(self) -> str:
        """`-5 to -1 %`, `unchanged`, `more than +50 %`."""
        if self.least == self.most == 0:
            return "unchanged"
        if self.least is None:
            return f"below {self.most} %"
        if self.most is None:
            return f"above +{self.least} %"
        return " to ".join(f"{edge:+d}" if edge else "0" for edge in (self.least, self.most)) + " %"

    @property
    def falls(self) -> bool:
        """Whether its customers pay less."""
        return self.most is not None and self.most <= 0 and (self.least, self.most) != (0, 0)


@dataclass(frozen=True, slots=True)
class Customers:
    """The customers by what other prices change on the requests that both sides price.

    `winners` pay less, `losers` more, the largest amounts first; `lost` are those whose requests the candidate does not
    offer, by what these bring now. A customer of whose requests both sides price none is in no other count.
    """

    rows: tuple[Row, ...]
    candidate: int
    winners: tuple[Row, ...]
    losers: tuple[Row, ...]
    distribution: tuple[Band, ...]
    lost: tuple[Row, ...] = ()

    @property
    def kept(self) -> tuple[Row, ...]:
        """The customers with requests that both sides price."""
        return tuple(row for row in self.rows if row.both_requests(self.candidate))

    def share_above(self, rise: Fraction) -> Fraction:
        """The share of customers whose payments rise by more than a share of them (0.1: more than 10 %)."""
        kept = self.kept
        above = sum(self._rise(row) > rise for row in kept)
        return Fraction(above, len(kept)) if kept else Fraction(0)

    def _rise(self, row: Row) -> Fraction:
        return rise_of(row, self.candidate)


def customers_of(rows: Sequence[Row], candidate: int) -> Customers:
    """Sort customers by what a candidate changes, from one row per customer."""
    falling, rising = (
        sorted(
            (row for row in rows if sign * row.change(candidate) > 0),
            key=lambda row: (-abs(row.change(candidate)), row.key[0] or ""),
        )
        for sign in (-1, 1)
    )
    winners, losers = tuple(falling[:_SHOWN]), tuple(rising[:_SHOWN])
    losing = sorted(
        (row for row in rows if row.beside(candidate).lost_requests),
        key=lambda row: (-row.beside(candidate).lost, row.key[0] or ""),
    )
    kept = [row for row in rows if row.both_requests(candidate)]
    return Customers(tuple(rows), candidate, winners, losers, _distribution(kept, candidate), tuple(losing))


def rise_of(row: Row, candidate: int) -> Fraction:
    """The change as a share of what is paid now for the requests that both sides price; from nothing, a doubling."""
    current, difference = Fraction(row.both(candidate)[0]), Fraction(row.change(candidate))
    return difference / current if current else Fraction(1 if difference else 0)


def _distribution(rows: Sequence[Row], candidate: int) -> tuple[Band, ...]:
    """Every band between two edges: falls include their lower edge, rises their upper one."""
    rises = sorted(100 * rise_of(row, candidate) for row in rows)
    falls, zero = rises[: bisect_left(rises, 0)], bisect_right(rises, 0) - bisect_left(rises, 0)
    more = rises[bisect_right(rises, 0) :]
    down, up = [edge for edge in _EDGES if edge <= 0], [edge for edge in _EDGES if edge >= 0]
    bands = [Band(None, down[0], bisect_left(falls, down[0]))]
    bands += [Band(a, b, bisect_left(falls, b) - bisect_left(falls, a)) for a, b in pairwise(down)]
    bands.append(Band(0, 0, zero))
    bands += [Band(a, b, bisect_right(more, b) - bisect_right(more, a)) for a, b in pairwise(up)]
    bands.append(Band(up[-1], None, len(more) - bisect_right(more, up[-1])))
    return tuple(bands)
