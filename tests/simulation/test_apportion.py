"""What is shown adds up, and says nothing that is not so."""

from decimal import Context, Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from ratecard.base.money import EXACT, round_half_up, step, total
from ratecard.simulation.report.figures import apportion, apportion_rows

AMOUNTS = st.decimals(min_value=-(10**9), max_value=10**9, places=12)
PLACES = st.integers(0, 6)


@given(st.lists(AMOUNTS), PLACES)
def test_parts_add_up_to_the_rounded_whole_and_none_moves_by_a_unit(amounts: list[Decimal], places: int) -> None:
    shown = apportion(amounts, places)
    assert total(list(shown)) == round_half_up(total(amounts), places)
    for exact, rounded in zip(amounts, shown, strict=True):
        assert abs(EXACT.subtract(exact, rounded)) < step(places)
        assert rounded == round_half_up(rounded, places)
        assert rounded == 0 if not exact else rounded == 0 or (rounded > 0) == (exact > 0)


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS), min_size=1), PLACES)
def test_columns_and_changes_add_up_to_the_totals(rows: list[tuple[Decimal, ...]], places: int) -> None:
    totals = [total([row[side] for row in rows]) for side in range(3)]
    shown = apportion_rows(rows, totals, places)
    for side in range(3):
        assert total([row[side] for row in shown]) == round_half_up(totals[side], places)
    for exact, row in zip(rows, shown, strict=True):
        for side in (1, 2):
            change, shown_change = EXACT.subtract(exact[side], exact[0]), row[side] - row[0]
            assert shown_change == 0 or (shown_change > 0) == (change > 0)
            assert abs(change - shown_change) < step(places)
            assert abs(exact[side] - row[side]) < 2 * step(places)


def test_the_context_of_the_host_changes_nothing() -> None:
    amounts = [Decimal("12345.678"), Decimal("-0.005"), Decimal("99999.9949")]
    with localcontext(Context(prec=2)):
        found = apportion(amounts, 2)
    assert found == apportion(amounts, 2) == (Decimal("12345.68"), Decimal("0.00"), Decimal("99999.99"))
