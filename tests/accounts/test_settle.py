"""An amount is paid in DIEM first, then in bundled credits, then in US dollars."""

import pickle
from datetime import date
from decimal import ROUND_UP, Context, Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from currencies import PICTURE, card_in
from ratecard import PriceBook, RateCardError, TableError
from ratecard.accounts import BalanceError, settle
from ratecard.tables.limits import Rates

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


def test_the_missing_amount_is_named() -> None:
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
def test_an_invalid_number_is_refused(wrong: Any) -> None:
    words = "must be a Decimal or an int; a float has lost its digits already"
    if isinstance(wrong, (Decimal, int)) and not isinstance(wrong, bool):
        words = "must be a finite number, zero or more"
    for at, amount, balance in (
        (f"amount={wrong!r}", wrong, Decimal(1)),
        (f"balances['USD']={wrong!r}", Decimal(0), wrong),
    ):
        with pytest.raises(ValueError) as caught:
            settle(amount, {"USD": balance})
        assert str(caught.value) == f"{at} {words}"


def test_balances_that_do_not_exist() -> None:
    for balances, said in (
        ({"USD": Decimal(1), "VCU": Decimal(1)}, "balances has 'VCU'. Allowed: DIEM, BUNDLED_CREDITS, USD"),
        ({"USD": Decimal(1), "usd": Decimal(2)}, "balances has 'usd' twice; keep one"),
    ):
        with pytest.raises(ValueError) as caught:
            settle(Decimal(0), balances)
        assert str(caught.value) == said


def test_balances_are_worth_what_is_stated() -> None:
    rates = Rates(DIEM=Decimal("0.8"), VCU=Decimal("0.1"))
    paid = settle(Decimal(1), {"DIEM": Decimal(1), "VCU": Decimal(1), "USD": Decimal(1)}, rates=rates)
    assert paid == {"DIEM": Decimal(1), "VCU": Decimal(1), "USD": Decimal("0.1")}
    assert settle(Decimal(1), {"DIEM": Decimal("1.25")}, rates=rates) == {
        "DIEM": Decimal("1.25"), "VCU": Decimal(0), "USD": Decimal(0)
    }  # fmt: skip
    with pytest.raises(BalanceError) as caught:
        settle(Decimal(1), {"DIEM": Decimal("1.2499")}, rates=rates)
    assert str(caught.value) == "1 cannot be paid: 0.00008 is missing after DIEM, VCU, USD"
    assert pickle.loads(pickle.dumps(caught.value)).missing == Decimal("0.00008")  # noqa: S301
    with pytest.raises(ValueError) as refused:
        settle(Decimal(1), {"BUNDLED_CREDITS": Decimal(1)}, rates=rates)
    assert str(refused.value) == "balances has 'BUNDLED_CREDITS'. Allowed: DIEM, VCU, USD"


@pytest.mark.parametrize("worth", ["3", "1.05", "0", "0.7"])
def test_a_rate_that_divides_no_dollar_exactly_is_refused(worth: str) -> None:
    with pytest.raises(ValidationError):
        Rates(DIEM=Decimal(worth))
    with pytest.raises(TableError) as caught:
        card_in("USD", f"{{DIEM: {worth}}}")
    [fault] = caught.value.faults
    assert fault.file == "limits.yaml"
    assert fault.path[-2:] == ("rates", "DIEM")


def test_a_quote_is_paid_at_the_rates_of_its_own_price_book() -> None:
    quote = card_in("USD", "{DIEM: 0.5}").at(date(2026, 10, 1)).rate(PICTURE)
    assert settle(quote, {"DIEM": Decimal(1), "USD": Decimal(9)}) == {"DIEM": Decimal(1), "USD": Decimal("1.5")}
    rates = Rates(DIEM=Decimal(4))
    assert settle(quote, {"DIEM": Decimal(1)}, rates=rates) == {"DIEM": Decimal("0.5"), "USD": Decimal(0)}


def test_a_quote_in_euros_is_paid_in_euros() -> None:
    quote = card_in("EUR").at(date(2026, 10, 1)).rate(PICTURE)
    assert settle(quote, {"EUR": Decimal(3)}) == {"EUR": Decimal(2)}
    for name in ("USD", "DIEM"):
        with pytest.raises(ValueError) as caught:
            settle(quote, {"EUR": Decimal(3), name: Decimal(3)})
        assert str(caught.value) == f"balances has '{name}'. Allowed: EUR"
    with pytest.raises(ValueError) as refused:
        settle(Decimal(2), {"EUR": Decimal(3)})
    assert str(refused.value) == "balances has 'EUR'. Allowed: DIEM, BUNDLED_CREDITS, USD"


def test_a_quote_is_paid(prices: PriceBook) -> None:
    quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
    paid = settle(quote.total, {"DIEM": Decimal("0.5"), "USD": 10})  # type: ignore[dict-item]
    assert paid == {"DIEM": Decimal("0.5"), "BUNDLED_CREDITS": Decimal(0), "USD": Decimal("0.27")}
