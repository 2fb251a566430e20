"""Nothing is lost or doubled: the ledger's sums are the charges less the refunds, whatever is tried in any order.

`make test-postgres` runs this on PostgreSQL.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from random import Random
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import WHEN, Card, quote_of, rows

from nightly import examples
from ratecard.ledger import LedgerConflictError, NewCharge, RefundError, append_many, charge, open_ledger, refund
from ratecard.ledger.store import Ledger
from ratecard.line_items import LedgerEntry
from ratecard.tables.limits import Rates

WORTHS = {"DIEM": Decimal("0.5"), "BUNDLED_CREDITS": Decimal("0.8"), "USD": Decimal(1)}
CARD = Card(Rates(DIEM=WORTHS["DIEM"], BUNDLED_CREDITS=WORTHS["BUNDLED_CREDITS"]))
CENTS = st.integers(0, 300).map(lambda cents: Decimal(cents).scaleb(-2))
REQUESTS, REFUNDS, SKUS = st.sampled_from("rst"), st.sampled_from("fgh"), st.sampled_from(("m-0", "m-1"))
CHARGES = st.tuples(st.just("charge"), REQUESTS, st.lists(CENTS, min_size=1, max_size=2), st.integers(0, 3))
BATCHES = st.tuples(st.just("batch"), st.lists(st.tuples(REQUESTS, CENTS), max_size=3))
PAYBACKS = st.tuples(st.just("refund"), REFUNDS, REQUESTS, SKUS, st.sampled_from(("amount", "corrected")), CENTS)


def split(total: Decimal, ways: int) -> dict[str, Decimal] | None:
    """Return the shares of balances in a total: all in dollars, or some of it from each."""
    shares = {0: None, 1: ("0.5", "0.25"), 2: ("1", "0"), 3: ("0", "0.5")}[ways]
    if shares is None:
        return None
    first, second = (total * Decimal(share) for share in shares)
    values = {"DIEM": first, "BUNDLED_CREDITS": second, "USD": total - first - second}
    return {name: value / WORTHS[name] for name, value in values.items()}


class Model:
    """What the ledger should hold of one account: the value that each SKU of each request comes to."""

    def __init__(self) -> None:
        self.charged: dict[str, tuple[Any, dict[str, Decimal]]] = {}
        self.refunds: dict[str, tuple[Any, ...]] = {}

    def charge(self, request: str, amounts: list[Decimal], content: Any) -> type[Exception] | bool:
        if request in self.charged:
            return False if self.charged[request][0] == content else LedgerConflictError
        self.charged[request] = content, {f"m-{place}": amount for place, amount in enumerate(amounts)}
        return True

    def refund(self, name: str, request: str, sku: str, kind: str, amount: Decimal) -> type[Exception] | bool:
        if (kind == "amount" and not amount) or request not in self.charged:
            return RefundError
        asked = (request, sku, kind, amount)
        if name in self.refunds:
            return False if self.refunds[name] == asked else LedgerConflictError
        left = self.charged[request][1]
        if amount > left.get(sku, Decimal(-1)):
            return RefundError
        left[sku] = left[sku] - amount if kind == "amount" else amount
        self.refunds[name] = asked
        return True


def outcome(write: Callable[[], Any]) -> Any:
    try:
        found = write()
    except (LedgerConflictError, RefundError) as error:
        return type(error)
    return found if isinstance(found, list) else found.new


def values(entries: list[LedgerEntry]) -> dict[tuple[str, str], Decimal]:
    """Return the sum of each SKU of each request, in dollars."""
    found: dict[tuple[str, str], Decimal] = {}
    for entry in entries:
        key = (entry.details.request_id if entry.details else "", entry.sku)
        found[key] = found.get(key, Decimal(0)) - entry.amount * WORTHS[entry.currency]
    return found


def by_balance(entries: list[LedgerEntry]) -> dict[tuple[str, str, str], Decimal]:
    """Return the payments of each balance for each SKU of each request, less what it got back."""
    found: dict[tuple[str, str, str], Decimal] = {}
    for entry in entries:
        key = (entry.details.request_id if entry.details else "", entry.sku, entry.currency)
        found[key] = found.get(key, Decimal(0)) - entry.amount
    return found


def expected(model: Model) -> dict[tuple[str, str], Decimal]:
    return {(name, sku): left for name, (_, skus) in model.charged.items() for sku, left in skus.items()}


@settings(
    max_examples=examples(25, nightly=1000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.one_of(CHARGES, PAYBACKS, PAYBACKS, BATCHES), max_size=25))
def test_the_sums_are_the_charges_less_the_refunds(ledger: Ledger, steps: list[Any]) -> None:
    account, model = uuid4().hex, Model()
    who: dict[str, Any] = {"account": account, "timestamp": WHEN}
    for kind, *given_ in steps:
        if kind == "charge":
            request, amounts, ways = given_
            ways = ways if any(amounts) else 0  # an amount of zero is not split
            usage, paid = {"amounts": amounts}, split(sum(amounts, Decimal(0)), ways)
            done = outcome(lambda: charge(ledger, CARD, usage, request_id=request, paid=paid, **who))  # noqa: B023
            assert done == model.charge(request, amounts, (amounts, ways))
        elif kind == "refund":
            name, request, sku, by, amount = given_
            named = {"refund_id": name, "request_id": request, "sku": sku, by: amount}
            assert outcome(lambda: refund(ledger, **named, **who)) == model.refund(*given_)  # noqa: B023
        else:
            before = {**model.charged}
            # An append has no content, so the rows decide: it equals a charge with content and the same rows.
            wanted = [model.charge(name, [amount], ([amount], 0)) for name, amount in given_[0]]
            many = [NewCharge(quote_of(amount), account, name, WHEN) for name, amount in given_[0]]
            done = outcome(lambda: append_many(ledger, many))  # noqa: B023
            if LedgerConflictError in wanted:
                model.charged = before
                assert done is LedgerConflictError
            else:
                assert done == wanted
    found = rows(ledger, account)
    assert values(found) == expected(model)
    assert ledger.walk(account).rows == len(found), "numbered without a gap"
    assert all(left >= 0 for left in by_balance(found).values()), "no balance gets more than it paid"
    for entry in found:
        assert (entry.amount > 0) == entry.notes.startswith("refund "), "what is paid back is a refund"


def test_writers_that_charge_repeat_and_pay_back_at_once(ledger: Ledger, database: str) -> None:
    """Each tries the same requests and refunds in an order of its own; each of these is booked once.

    Every second one opens a ledger of its own, as another process does, and shares nothing with the others.
    """
    accounts, requests, each = "ab", range(6), range(4)
    together = threading.Barrier(6)

    def work(seed: int) -> list[Any]:
        random, new = Random(seed), list[Any]()  # noqa: S311
        order = [(who, request, part) for who in accounts for request in requests for part in each]
        random.shuffle(order)
        writer = open_ledger(database) if seed % 2 else ledger
        together.wait()
        for account, request, part in order:
            who: dict[str, Any] = {"account": account, "request_id": f"r-{request}", "timestamp": WHEN}
            if charge(writer, CARD, {"amounts": ["1"]}, paid=split(Decimal(1), 1), **who).new:
                new.append((account, request))
            name = f"f-{request}-{part}"
            try:
                if refund(writer, refund_id=name, sku="m-0", amount=Decimal("0.3"), **who).new:
                    new.append((account, name))
            except RefundError:
                pass
        if writer is not ledger:
            writer.close()
        return new

    with ThreadPoolExecutor(6) as threads:
        new = [one for found in threads.map(work, range(6)) for one in found]
    assert len(new) == len(set(new)), "each is new for one of them"
    for account in accounts:
        found = rows(ledger, account)
        left = {(f"r-{request}", "m-0"): Decimal("0.1") for request in requests}
        assert all(part >= 0 for part in by_balance(found).values())
        assert values(found) == left, "three of four refunds of 0.3 fit a charge of 1"
        assert ledger.walk(account).rows == len(found)
