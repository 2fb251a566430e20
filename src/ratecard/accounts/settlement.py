"""Paying an amount from balances and then in US dollars, top-ups, and the daily allowance."""

from collections.abc import Mapping
from decimal import Decimal

from ratecard.base.errors import RateCardError
from ratecard.base.money import EXACT, USD, multiply, text, zero_or_more
from ratecard.base.suggestions import did_you_mean
from ratecard.line_items.ledger_entry import worths
from ratecard.line_items.quote import Quote
from ratecard.load.folder import shipped_limits
from ratecard.tables.limits import Diem, Rates, TopUp


class BalanceError(RateCardError):
    """An amount that the balances cannot pay; `missing` is the part that is left, in its currency."""

    def __init__(self, amount: Decimal, missing: Decimal, order: tuple[str, ...]) -> None:
        super().__init__(amount, missing, order)
        self.amount, self.missing, self.order = amount, missing, order

    def __str__(self) -> str:
        return f"{text(self.amount)} cannot be paid: {text(self.missing)} is missing after {', '.join(self.order)}"


def settle(
    amount: Quote | Decimal, balances: Mapping[str, Decimal], *, rates: Rates | None = None
) -> dict[str, Decimal]:
    """Split a charge over balances in the order of limits.yaml (DIEM, then bundled credits), and then USD.

    Returns the payment of each balance, in its own unit. `amount` is a quote, or US dollars. `rates` has the worth of
    one unit of each balance in US dollars, and their order; by default it is that of the quote's price book, and for an
    amount that of the shipped limits. A quote in another currency is paid in that currency alone. Nothing is rounded.
    Raises `BalanceError` if the balances are too small, and `ValueError` for a negative or inexact number, and for a
    balance without a rate.

    >>> settle(Decimal("0.95"), {"DIEM": Decimal("0.40"), "USD": Decimal("5")})
    {'DIEM': Decimal('0.40'), 'BUNDLED_CREDITS': Decimal('0'), 'USD': Decimal('0.55')}
    """
    if isinstance(amount, Quote):
        due, currency, rates = amount.total, amount.currency, rates or amount.rates
    else:
        due, currency, rates = amount, USD, rates or shipped_limits().rates
    rest, payers = zero_or_more("amount", due), worths(currency, rates)
    balance_of: dict[str, Decimal] = {}
    for name, balance in balances.items():
        payer = str(name).upper()
        if payer not in payers:
            raise ValueError(f"balances has {name!r}. Allowed: {', '.join(payers)}")
        if payer in balance_of:
            raise ValueError(f"balances has {name!r} twice; keep one")
        balance_of[payer] = zero_or_more(f"balances[{name!r}]", balance)
    payments = {}
    for payer, worth in payers.items():
        balance = balance_of.get(payer, Decimal(0))
        enough = multiply(balance, worth) >= rest
        payments[payer] = EXACT.divide(rest, worth) if enough else balance
        rest = Decimal(0) if enough else EXACT.subtract(rest, multiply(balance, worth))
    if rest:
        raise BalanceError(due, rest, tuple(payers))
    return payments


class TopUpError(RateCardError, ValueError):
    """A top-up that is not accepted."""


def check_top_up(amount: Decimal, currency: str, top_up: TopUp | None) -> Decimal:
    """Return what a top-up adds to the balance, exact, in `top_up.currency`. `top_up` is `prices.limits.top_up`.

    Raises `TopUpError` below the least amount or in a currency that is not accepted, and `ValueError` for an inexact
    number.

    >>> rule = TopUp(currency="USD", least=Decimal(5), paid_in=("USDC", "USD"))
    >>> check_top_up(Decimal("5.50"), "USDC", rule)
    Decimal('5.50')
    >>> check_top_up(Decimal("4.99"), "USDC", rule)
    Traceback (most recent call last):
    ratecard.accounts.settlement.TopUpError: a top-up of 4.99 USDC is below the least, 5 USD
    """
    paid = zero_or_more("amount", amount)
    if top_up is None:
        raise TopUpError(f"a top-up in {currency!r} is not accepted. The tables have no top_up in limits.yaml")
    if currency not in top_up.paid_in:
        hint = did_you_mean(str(currency), top_up.paid_in)
        raise TopUpError(f"a top-up in {currency!r} is not accepted.{hint} Allowed: {', '.join(top_up.paid_in)}")
    if paid < top_up.least:
        least = f"{text(top_up.least)} {top_up.currency}"
        raise TopUpError(f"a top-up of {text(paid)} {currency} is below the least, {least}")
    return paid


def daily_allowance(staked: Decimal, diem: Diem | None) -> Decimal:
    """Return the allowance of staked DIEM for one day, in US dollars, exact; 0 below the least stake.

    It does not roll over. `diem` is `prices.limits.diem`; if it is None, the allowance is 0. Raises `ValueError` for a
    negative or inexact number.

    >>> daily_allowance(Decimal("2.5"), Diem(usd_per_day=Decimal(1), least_staked=Decimal("0.1")))
    Decimal('2.5')
    """
    stake = zero_or_more("staked", staked)
    return multiply(stake, diem.usd_per_day) if diem and stake >= diem.least_staked else Decimal(0)
