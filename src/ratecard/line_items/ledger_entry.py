"""Rows of the billing ledger, and the split of lines among balances. All amounts are exact."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import CurrencyError
from ratecard.base.money import (
    EXACT,
    ISO_4217,
    USD,
    in_usd,
    is_balance,
    minus,
    multiply,
    plain,
    text,
    total,
    zero_or_more,
)
from ratecard.base.suggestions import did_you_mean
from ratecard.tables.limits import Rates


@dataclass(frozen=True, slots=True)
class InferenceDetails:
    """The request that a row belongs to, its milliseconds, and for language models its tokens."""

    request_id: str
    execution_ms: int | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the details as the API spells them."""
        stated = {
            "requestId": self.request_id,
            "inferenceExecutionTime": self.execution_ms,
            "promptTokens": self.prompt_tokens,
            "completionTokens": self.completion_tokens,
        }
        return {name: value for name, value in stated.items() if value is not None}


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One row of the billing ledger: a charge or a refund in one currency.

    `amount` of a charge is negative: minus `unit` x `price_per_unit`, paid in `currency`. The price is in US dollars if
    `currency` is USD or a balance, else in `currency`. A charge that several balances pay has a row for each, with the
    same SKU and price: the first has all units, the others 0, and only their sum is `unit` x `price_per_unit`. `amount`
    of a refund is positive, and its `unit` is 0. `worth` is the value of one `currency` in the currency of the price;
    None for rows of files, which do not state it. Comparisons leave it out. `contract` is the contract whose price this
    is; None at the price of the list.
    """

    timestamp: str
    sku: str
    price_per_unit: Decimal
    unit: Decimal
    amount: Decimal
    currency: str
    notes: str
    details: InferenceDetails | None
    worth: Decimal | None = field(default=None, compare=False, repr=False)
    contract: str | None = None

    @property
    def price_per_unit_usd(self) -> Decimal | None:
        """Return the price in US dollars; None if the row is in another currency."""
        return self.price_per_unit if in_usd(self.currency) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as the API spells it, with exact decimals. See `price_field` for the name of the price."""
        return {
            "timestamp": self.timestamp,
            "sku": self.sku,
            price_field(self.currency): self.price_per_unit,
            "unit": self.unit,
            "amount": self.amount,
            "currency": self.currency,
            "notes": self.notes,
            **({"contract": self.contract} if self.contract else {}),
            "inferenceDetails": self.details.to_dict() if self.details else None,
        }


def price_field(currency: str) -> str:
    """Return the name of the price of a row in a currency: `pricePerUnitUsd` if it is in US dollars.

    >>> price_field("DIEM"), price_field("EUR")
    ('pricePerUnitUsd', 'pricePerUnit')
    """
    return "pricePerUnitUsd" if in_usd(currency) else "pricePerUnit"


ONE = Decimal(1)


class _Part(NamedTuple):
    """The part of a line that one balance pays, in that balance; `first` is True for the line's first part."""

    line: int
    currency: str
    worth: Decimal
    amount: Decimal
    first: bool


def worths(currency: str, rates: Rates | None) -> dict[str, Decimal]:
    """Return the balances and currencies that can pay in a currency, in paying order, each with the worth of one unit.

    >>> worths("USD", Rates(DIEM=Decimal(1)))
    {'DIEM': Decimal('1'), 'USD': Decimal('1')}
    """
    stated = rates.stated if rates and currency == USD else {}
    return {name: worth for name, worth in stated.items() if worth is not None} | {currency: ONE}


def currencies(*stated: Rates) -> list[str]:
    """Return US dollars and the balances that have a worth. Rows may also be in any ISO 4217 code."""
    return list(dict.fromkeys((USD, *(name for rates in stated for name in worths(USD, rates)))))


def changing_balances(stated: Iterable[Rates]) -> list[str]:
    """Return the balances whose worth changes between these rates.

    A refund to such a balance is worth what the balance was worth when it paid.
    """
    known = [rates.stated for rates in stated]
    stated_worths = ((name, worth) for rates in known for name, worth in rates.items())
    return sorted({name for name, worth in stated_worths if any(other.get(name) != worth for other in known)})


def unknown_worth(currency: str) -> str:
    """Return the reason why the worth of a refund to a balance is not known."""
    words = f"currency: what one {currency} was worth when it paid is not known"
    return f"{words}. Give the usage with the charge of this requestId, SKU and currency"


def unknown_currency(given: str, *stated: Rates) -> str:
    """Return the reason why a ledger cannot have a currency, with the allowed ones; empty if it can.

    `stated` may hold the worth of balances at several times, because one ledger may have rows of all these times.

    >>> unknown_currency("usd", Rates(CREDITS=ONE))
    "is not known. Did you mean 'USD'? Allowed: USD, CREDITS or another ISO 4217 code"
    """
    if given in ISO_4217 or any(rates.stated.get(given) is not None for rates in stated):
        return ""
    known = currencies(*stated)
    allowed = f"Allowed: {', '.join(known)} or another ISO 4217 code"
    if any(given in rates.stated for rates in stated):
        return f"has no stated rate. {allowed}"
    return f"is not known.{did_you_mean(given, (*known, *sorted(ISO_4217)))} {allowed}"


def worth_of(payer: str, currency: str, rates: Rates | None) -> Decimal:
    """Return the worth of one unit of a balance in a currency. Raises `CurrencyError` if it cannot pay in it."""
    payers = worths(currency, rates)
    if not isinstance(payer, str):
        raise CurrencyError(f"currency={payer!r}. Allowed: a text, one of {', '.join(payers)}")
    if payer in payers:
        return payers[payer]
    reason = ""
    if currency == USD and is_balance(payer):
        reason = " has no rate in limits.yaml" if rates else " has no rate: the quote is not of a price book"
    elif in_usd(payer):
        reason = f" cannot pay what is priced in {currency}"
    raise CurrencyError(f"currency={payer!r}{reason}. Allowed: {', '.join(sorted(payers, key=currency.__ne__))}")


def check_paid(amount: Decimal, currency: str, rates: Rates | None, paid: Mapping[str, Decimal]) -> None:
    """Raise `CurrencyError` unless the payments add up to an amount, exactly."""
    if not isinstance(paid, Mapping):
        raise CurrencyError(f"paid={paid!r}. Allowed: what each balance pays, like {{'USD': Decimal('0.22')}}")
    for name, part in paid.items():
        zero_or_more(f"paid[{name!r}]", part, CurrencyError)
    paid_sum = total([multiply(part, worth_of(name, currency, rates)) for name, part in paid.items()])
    if paid_sum != amount:
        raise CurrencyError(f"paid adds up to {text(paid_sum)} {currency}, but the charge is {text(amount)} {currency}")


def pay_lines(
    amounts: list[Decimal], currency: str, rates: Rates | None, paid: Mapping[str, Decimal]
) -> Iterator[_Part]:
    """Split lines among balances: each pays in turn until it is empty, and the last one pays all that is left.

    A line at which a balance ends has a part for each balance that pays it. A line that costs nothing has one part,
    from the balance whose turn it is.
    """
    payers = worths(currency, rates)
    balances = [(name, worth, paid[name]) for name, worth in payers.items() if paid.get(name)] or [(currency, ONE, ONE)]
    for number, rest in enumerate(amounts):
        first = True
        while True:
            name, worth, balance = balances[0]
            value = multiply(balance, worth)
            if value < rest and len(balances) > 1:
                if balance:
                    yield _Part(number, name, worth, balance, first)
                    first, rest = False, EXACT.subtract(rest, value)
                del balances[0]
                continue
            part = EXACT.divide(rest, worth)
            yield _Part(number, name, worth, part, first)
            balances[0] = name, worth, EXACT.subtract(balance, part)
            break


def value_of(amount: Decimal, entry: LedgerEntry) -> Decimal:
    """Return an amount of a row in the currency of its price. Raises `CurrencyError` if its worth is not known."""
    worth = ONE if entry.worth is None and not is_balance(entry.currency) else entry.worth
    if worth is None:
        raise CurrencyError(f"the row does not say what one {entry.currency} was worth: an earlier release wrote it")
    return multiply(amount, worth)


def pay_back(charged: Sequence[LedgerEntry], before: Decimal, amount: Decimal) -> Iterator[tuple[LedgerEntry, Decimal]]:
    """Split a refund among the rows of a charge, in reverse order of payment: (row, refund in its currency).

    `before` is the amount refunded earlier. It and `amount` are in the currency of the price, and together at most the
    charge.

    >>> paid = [("-0.20", "DIEM", "0.5"), ("-0.07", "USD", "1")]
    >>> rows = [LedgerEntry("", "s", ONE, ONE, Decimal(a), name, "", None, Decimal(w)) for a, name, w in paid]
    >>> [(row.currency, back) for row, back in pay_back(rows, Decimal("0.05"), Decimal("0.05"))]
    [('USD', Decimal('0.02')), ('DIEM', Decimal('0.06'))]
    """
    for row in reversed(charged):
        value = value_of(minus(row.amount), row)
        refunded = min(value, before)
        before = EXACT.subtract(before, refunded)
        refund = min(EXACT.subtract(value, refunded), amount)
        amount = EXACT.subtract(amount, refund)
        if refund:
            yield row, plain(EXACT.divide(refund, row.worth or ONE))
