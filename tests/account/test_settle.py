"""An amount is paid in DIEM first, then in bundled credits, then in US dollars."""

from decimal import ROUND_UP, Context, Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard import BalanceError, PriceBook, RateCardError, settle

ORDER = ("DIEM", "BUNDLED_CREDITS", "USD")
AMOUNTS = st.decimals(0, 10**9, places=9)


@pytest.mark.parametrize(
    ("amount", "balances", "paid"),
    [
        ("0.95", {"DIEM": "5", "BUNDLED_CREDITS": "5", "USD": "5"}, "0.95 0 0"),
        ("0.95", {"DIEM": "0.40", "USD": "5"}, "0.40 0 0.55"),
        ("0.95", {"DIEM": "0.40", "BUNDLED_CREDITS": "0.40", "USD": "0.15"}, "0.40 0.40 0.15"),
        ("0.95", {"BUNDLED_CREDITS": "1"}, "0 0.95 0"),
        ("0.95", {"usd": "0.95"}, "0 0 0.95"),
        ("0", {}, "0 0 0"),
        ("0.000000000001", {"diem": "0.0000000000005", "Usd": "1"}, "0.0000000000005 0 0.0000000000005"),
    ],
)
def test_the_order(amount: str, balances: dict[str, str], paid: str) -> None:
    given = {name: Decimal(balance) for name, balance in balances.items()}
    before = dict(given)
    assert settle(Decimal(amount), given) == dict(zip(ORDER, map(Decimal, paid.split()), strict=True))
    assert given == before


def test_what_is_missing_is_said() -> None:
    with pytest.raises(BalanceError) as caught:
        settle(Decimal("0.95"), {"DIEM": Decimal("0.40"), "USD": Decimal("0.50")})
    assert (caught.value.amount, caught.value.missing) == (Decimal("0.95"), Decimal("0.05"))
    assert str(caught.value) == "0.95 cannot be paid: 0.05 is missing after DIEM, BUNDLED_CREDITS, USD"
    assert isinstance(caught.value, RateCardError)


@given(AMOUNTS, st.dictionaries(st.sampled_from(ORDER), AMOUNTS))
def test_every_part_is_exact_and_no_balance_is_skipped(amount: Decimal, balances: dict[str, Decimal]) -> None:
    have = [balances.get(name, Decimal(0)) for name in ORDER]
    try:
        with localcontext(Context(prec=2, rounding=ROUND_UP)):
            paid = settle(amount, balances)
    except BalanceError as error:
        assert error.missing == amount - sum(have) > 0
        return
    assert list(paid) == list(ORDER)
    assert sum(paid.values()) == amount
    for index, part in enumerate(paid.values()):
        assert 0 <= part <= have[index]
        assert part == have[index] or not any(list(paid.values())[index + 1 :])


@pytest.mark.parametrize("wrong", [0.95, True, "0.95", None, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), -1])
def test_a_number_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"amount=.* must be a "):
        settle(wrong, {"USD": Decimal(1)})
    with pytest.raises(ValueError, match=r"balances\['USD'\]=.* must be a "):
        settle(Decimal(0), {"USD": wrong})


def test_balances_that_no_account_has() -> None:
    with pytest.raises(ValueError, match=r"balances has 'VCU'. Allowed: DIEM, BUNDLED_CREDITS, USD"):
        settle(Decimal(0), {"USD": Decimal(1), "VCU": Decimal(1)})
    with pytest.raises(ValueError, match="balances has 'usd' twice; keep one"):
        settle(Decimal(0), {"USD": Decimal(1), "usd": Decimal(2)})


def test_a_quote_is_paid(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
    paid = settle(quote.total, {"DIEM": Decimal("0.5"), "USD": 10})  # type: ignore[dict-item]
    assert paid == {"DIEM": Decimal("0.5"), "BUNDLED_CREDITS": Decimal(0), "USD": Decimal("0.27")}
