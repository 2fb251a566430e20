"""Winners and losers, which the engine finds, are those of all rows."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from made_up_sums import sums_of

from ratecard.base.errors import SimulationError
from ratecard.base.money import round_half_up, total
from ratecard.simulation.answers import customers
from ratecard.simulation.answers.customers import Band, Customers, customers_of, rise_of
from ratecard.simulation.answers.rows import LostAndNew, Row
from ratecard.simulation.report.figures import apportion, apportion_rows
from ratecard.simulation.sql import MOST_OF_SHARE

SHOWN, ZERO = 5, Decimal(0)
SHARES = (Fraction(-1, 50), Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(7, 2), Fraction(10**17 + 3, 10**18))
LARGEST = 2**126 - 1


def made_up(random: Random) -> Iterator[Row]:
    """Rows of all kinds in the order of a breakdown: many with the same rise, some below zero, some not shared."""
    names = [*sorted({f"{random.choice('aé')}{random.randrange(300)}" for _ in range(200)} | {"", "it's"}), None]
    for name in names:
        before = Decimal(random.randrange(-10, 10**6)).scaleb(-4) * random.choice([0, 1, 1, 1, 10**15])
        after = before * Decimal(random.choice(["1", "1.1", "1.1", "0.5", "0.99", "1.5", "0.2", "3"]))
        after += Decimal(random.choice([0, 0, 0, 1, -1])).scaleb(-random.randrange(12))
        lost, new = (Decimal(random.randrange(10**5)).scaleb(-4) * random.randrange(2) for _ in range(2))
        counts = [random.randrange(1, 4) * bool(amount) for amount in (lost, new)]
        kept = random.choice([0, 3]) if before == after == 0 else 3
        apart = LostAndNew(counts[0], lost, counts[1], new, random.randrange(2))
        yield Row((name,), kept + sum(counts) + apart.neither, (ZERO,) * 6, (before + lost, after + new), (apart,))


@pytest.fixture(params=range(4))
def found(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Row], Customers]:
    monkeypatch.setattr(customers, "SHOWN", SHOWN)
    rows = list(made_up(Random(request.param)))  # noqa: S311
    return rows, customers_of(sums_of(rows), 1)


def test_the_first_of_each_kind(found: tuple[list[Row], Customers]) -> None:
    rows, asked = found
    assert asked.rows == tuple(rows)
    by_change = sorted(rows, key=lambda row: (-abs(row.change()), row.key[0] or ""))
    assert asked.winners == tuple(row for row in by_change if row.change() < 0)[:SHOWN]
    assert asked.losers == tuple(row for row in by_change if row.change() > 0)[:SHOWN]
    by_loss = sorted(rows, key=lambda row: (-row.beside().lost, row.key[0] or ""))
    assert asked.lost == tuple(row for row in by_loss if row.beside().lost_requests)
    assert (asked.losing, asked.first_lost(3)) == (len(asked.lost), asked.lost[:3])


def test_the_distribution_and_shares(found: tuple[list[Row], Customers]) -> None:
    rows, asked = found
    kept = [row for row in rows if row.both_requests()]
    assert asked.kept == tuple(kept)
    changes = [row.change() for row in kept]
    assert asked.less == sum(each < 0 for each in changes) > SHOWN
    assert asked.more == sum(each > 0 for each in changes) > SHOWN
    assert asked.same == changes.count(ZERO) > 0
    rises = [100 * rise_of(row, 1) for row in kept]

    def among(band: Band) -> int:
        if band.least == band.most == 0:
            return rises.count(Fraction(0))
        least, most = Fraction(band.least or 0), Fraction(band.most or 0)
        if band.least is None:
            return sum(rise < most for rise in rises)
        if band.most is None:
            return sum(rise > least for rise in rises)
        return sum(least <= rise < most if band.falls else least < rise <= most for rise in rises)

    assert [band.customers for band in asked.distribution] == list(map(among, asked.distribution))
    for share in SHARES:
        assert asked.above(share) == sum(rise > 100 * share for rise in rises)


def test_those_beyond_a_limit(found: tuple[list[Row], Customers]) -> None:
    rows, asked = found

    def order(row: Row) -> tuple[bool, Fraction, Decimal, str]:
        paid, more = abs(row.both()[0]), row.change()
        return paid != 0, -Fraction(more) / Fraction(paid) if paid else Fraction(0), -more, row.key[0] or ""

    for share in SHARES[1:]:
        over = [row for row in rows if row.both_requests() and row.change() > share * abs(Fraction(row.both()[0]))]
        assert asked.beyond(share) == (len(over), tuple(sorted(over, key=order)[:SHOWN])), share


def test_amounts_of_the_first_are_rounded_as_those_of_all(found: tuple[list[Row], Customers]) -> None:
    for places in (2, 6, 14):
        check_rounded(*found, places)


def check_rounded(rows: list[Row], asked: Customers, places: int) -> None:
    pairs = [row.both() for row in rows]
    before, after = (total([pair[side] for pair in pairs]) for side in (0, 1))
    shown = dict(zip((row.key for row in rows), apportion_rows(pairs, (before, after), places), strict=True))
    now, then = round_half_up(before, places), round_half_up(after, places)
    chosen = (*asked.winners, *asked.losers, rows[-1])
    current = asked.apportioned(chosen, "before", places, now)
    changes = asked.apportioned(chosen, "change", places, then - now)
    assert [(one, one + more) for one, more in zip(current, changes, strict=True)] == [shown[row.key] for row in chosen]
    lost = apportion([row.beside().lost for row in asked.lost], places)
    whole = round_half_up(total([row.beside().lost for row in rows]), places)
    assert asked.apportioned(asked.first_lost(7), "lost", places, whole) == list(lost[:7])


def test_shares_are_compared_exactly_however_large_the_amounts_are() -> None:
    """Also where an amount is just a share of another one, and one above or below it."""
    random, sums = Random(5), sums_of([])  # noqa: S311
    for _ in range(300):
        parts = random.choice([1, 3, 100, 10**18])
        share = Fraction(random.randrange(-MOST_OF_SHARE, MOST_OF_SHARE) // random.choice([1, 10**9, 10**17]), parts)
        of = random.randrange(LARGEST) // random.choice([1, 10**12, 10**25, LARGEST])
        near = int(share * of) + random.randrange(-1, 2)
        for amount in (near if abs(near) <= LARGEST else -1, random.randrange(-LARGEST, LARGEST)):
            given = f"(SELECT CAST('{amount}' AS HUGEINT) AS amount, CAST('{of}' AS HUGEINT) AS paid)"
            ((found,),) = sums.ask(f"SELECT {sums.above('amount', 'paid', share)} FROM {given}")  # noqa: S608
            assert found == (amount > share * of), (amount, of, share)
    with pytest.raises(SimulationError, match="cannot be compared; write it with at most 18 digits"):
        sums.above("amount", "paid", Fraction(1, MOST_OF_SHARE + 1))


def test_the_greatest_rises_are_first_also_of_the_largest_amounts() -> None:
    sums, large = sums_of([]), LARGEST // 4
    pairs = [(large * 2, large), (large, large * 2), (3, 1), (large, large), (7, 2), (large // 3, large * 3)]
    listed = (f"({at}, CAST('{amount}' AS HUGEINT), CAST('{of}' AS HUGEINT))" for at, (amount, of) in enumerate(pairs))
    source = f"(VALUES {', '.join(listed)}) AS given(number, amount, paid)"
    found = sums.ask(f"SELECT number FROM {source} ORDER BY {sums.falling_share('amount', 'paid')}")  # noqa: S608
    assert [number for (number,) in found] == sorted(range(len(pairs)), key=lambda at: -Fraction(*pairs[at]))
