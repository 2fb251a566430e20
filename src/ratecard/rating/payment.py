"""Which currencies and balances can pay an amount, and what each of them pays of each line; exact."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.tables.limits import Rates
from ratecard.words.currency import BALANCES, USD
from ratecard.words.errors import CurrencyError
from ratecard.words.money import EXACT, multiply, text, total

ONE = Decimal(1)


class Part(NamedTuple):
    """What one balance pays of a line, in units of that balance; `first` of the parts of its line."""

    line: int
    currency: str
    amount: Decimal
    first: bool


def worths(currency: str, rates: Rates | None) -> dict[str, Decimal]:
    """What can pay an amount in a currency, in the order in which an account pays, and what one of each is worth in it.

    >>> worths("USD", Rates(DIEM=Decimal(1)))
    {'DIEM': Decimal('1'), 'USD': Decimal('1')}
    """
    stated = {name: getattr(rates, name) for name in BALANCES} if rates and currency == USD else {}
    return {name: worth for name, worth in stated.items() if worth is not None} | {currency: ONE}


def worth_of(payer: str, currency: str, rates: Rates | None) -> Decimal:
    """What one of a balance is worth in a currency. Raises `CurrencyError` where it cannot pay in it."""
    payers = worths(currency, rates)
    if payer in payers:
        return payers[payer]
    reason = ""
    if payer in BALANCES and currency == USD:
        reason = " has no rate in limits.yaml" if rates else " has no rate: the quote is not of a price book"
    elif payer in (*BALANCES, USD):
        reason = f" cannot pay what is priced in {currency}"
    raise CurrencyError(f"currency={payer!r}{reason}. Allowed: {', '.join(sorted(payers, key=currency.__ne__))}")


def check_paid(amount: Decimal, currency: str, rates: Rates | None, paid: Mapping[str, Decimal]) -> None:
    """That what is paid comes to an amount, exactly. Raises `CurrencyError`."""
    for name, part in paid.items():
        if isinstance(part, bool) or not isinstance(part, (Decimal, int)) or not Decimal(part).is_finite() or part < 0:
            raise CurrencyError(f"paid[{name!r}]={part!r} must be a finite Decimal, zero or more")
    come = total([multiply(part, worth_of(name, currency, rates)) for name, part in paid.items()])
    if come != amount:
        raise CurrencyError(f"paid comes to {text(come)} {currency}, and the charge to {text(amount)} {currency}")


def pay_lines(
    amounts: list[Decimal], currency: str, rates: Rates | None, paid: Mapping[str, Decimal]
) -> Iterator[Part]:
    """What each balance pays of each line, in the order in which an account pays; the last one pays all that is left.

    A line at which a balance ends has a part of each that pays it. A line that costs nothing is of whichever pays then.
    """
    payers = worths(currency, rates)
    left = [(name, worth, paid[name]) for name, worth in payers.items() if paid.get(name)] or [(currency, ONE, ONE)]
    for number, rest in enumerate(amounts):
        first = True
        while True:
            name, worth, have = left[0]
            value = multiply(have, worth)
            if value < rest and len(left) > 1:
                if have:
                    yield Part(number, name, have, first)
                    first, rest = False, EXACT.subtract(rest, value)
                del left[0]
                continue
            part = EXACT.divide(rest, worth)
            yield Part(number, name, part, first)
            left[0] = name, worth, EXACT.subtract(have, part)
            break
