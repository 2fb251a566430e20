"""Paying an amount: DIEM first, then bundled credits, then USD; and what staked tokens give a day."""

from collections.abc import Mapping
from decimal import Decimal

from ratecard.tables.limits import Diem, TopUp
from ratecard.words.errors import RateCardError
from ratecard.words.money import EXACT, multiply, text
from ratecard.words.suggest import did_you_mean

# The order in which an account pays; one of each is worth one US dollar.
ORDER = ("DIEM", "BUNDLED_CREDITS", "USD")


class BalanceError(RateCardError):
    """An amount that the balances cannot pay; `missing` is how much."""

    def __init__(self, amount: Decimal, missing: Decimal) -> None:
        super().__init__(amount, missing)
        self.amount, self.missing = amount, missing

    def __str__(self) -> str:
        return f"{text(self.amount)} cannot be paid: {text(self.missing)} is missing after {', '.join(ORDER)}"


def settle(amount: Decimal, balances: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Split an amount over DIEM, bundled credits and USD, in that order: what each of them pays; exact.

    Raises `BalanceError` where the balances do not reach, and `ValueError` for a negative or inexact number.

    >>> settle(Decimal("0.95"), {"DIEM": Decimal("0.40"), "USD": Decimal("5")})
    {'DIEM': Decimal('0.40'), 'BUNDLED_CREDITS': Decimal('0'), 'USD': Decimal('0.55')}
    """
    rest = _number("amount", amount)
    have: dict[str, Decimal] = {}
    for name, balance in balances.items():
        if name.upper() not in ORDER:
            raise ValueError(f"balances has {name!r}. Allowed: {', '.join(ORDER)}")
        if name.upper() in have:
            raise ValueError(f"balances has {name!r} twice; keep one")
        have[name.upper()] = _number(f"balances[{name!r}]", balance)
    paid = {}
    for currency in ORDER:
        paid[currency] = min(have.get(currency, Decimal(0)), rest)
        rest = EXACT.subtract(rest, paid[currency])
    if rest:
        raise BalanceError(amount, rest)
    return paid


class TopUpError(RateCardError, ValueError):
    """A top-up that is not accepted."""


def check_top_up(amount: Decimal, currency: str, top_up: TopUp) -> Decimal:
    """What a top-up adds to the USD balance, exact. `top_up` is `prices.limits.top_up`.

    Raises `TopUpError` below the least amount or in another currency, and `ValueError` for an inexact number.

    >>> rule = TopUp(currency="USD", least=Decimal(5), paid_in=("USDC", "USD"))
    >>> check_top_up(Decimal("5.50"), "USDC", rule)
    Decimal('5.50')
    >>> check_top_up(Decimal("4.99"), "USDC", rule)
    Traceback (most recent call last):
    ratecard.account.settle.TopUpError: a top-up of 4.99 USDC is below the least, 5 USD
    """
    paid = _number("amount", amount)
    if currency not in top_up.paid_in:
        near = did_you_mean(str(currency), top_up.paid_in)
        raise TopUpError(f"a top-up in {currency!r} is not accepted.{near} Allowed: {', '.join(top_up.paid_in)}")
    if paid < top_up.least:
        raise TopUpError(
            f"a top-up of {text(paid)} {currency} is below the least, {text(top_up.least)} {top_up.currency}"
        )
    return paid


def daily_allowance(staked: Decimal, diem: Diem) -> Decimal:
    """What staked DIEM gives for one day, in US dollars; nothing below the least stake. No roll-over.

    >>> daily_allowance(Decimal("2.5"), Diem(usd_per_day=Decimal(1), least_staked=Decimal("0.1")))
    Decimal('2.5')
    """
    held = _number("staked", staked)
    return multiply(held, diem.usd_per_day) if held >= diem.least_staked else Decimal(0)


def _number(name: str, given: Decimal | int) -> Decimal:
    if isinstance(given, bool) or not isinstance(given, (Decimal, int)):
        raise ValueError(f"{name}={given!r} must be a Decimal or an int; a float has lost its digits already")
    number = Decimal(given)
    if not number.is_finite() or number < 0:
        raise ValueError(f"{name}={given!r} must be a finite number, zero or more")
    return number
