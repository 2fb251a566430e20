"""A charge that several balances pay: one append, exact parts, and one charge again when the rows are joined."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept import WHEN, quote_of, rows

from currencies import FILM, PICTURE, card_in
from ratecard.accounts import CurrencyError, settle
from ratecard.ledger import LedgerConflictError, LedgerError, join_parts, ledger_csv, ledger_json, read_ledger
from ratecard.ledger.store import Ledger
from ratecard.line_items import LedgerEntry
from ratecard.line_items.ledger_entry import InferenceDetails
from ratecard.tables.limits import Rates

Shown = tuple[str, ...]


def shown(entries: list[LedgerEntry] | tuple[LedgerEntry, ...]) -> list[Shown]:
    return [(row.sku, *map(str, (row.price_per_unit, row.unit, row.amount)), row.currency) for row in entries]


def paid(**parts: str) -> dict[str, Decimal]:
    return {name: Decimal(part) for name, part in parts.items()}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (paid(DIEM="6"), ["1 1 -1 DIEM", "2 1 -2 DIEM", "3 1 -3 DIEM"]),
        (paid(USD="6", DIEM="0"), ["1 1 -1 USD", "2 1 -2 USD", "3 1 -3 USD"]),
        # In the middle of a row.
        (paid(DIEM="1.5", USD="4.5"), ["1 1 -1 DIEM", "2 1 -0.5 DIEM", "2 0 -1.5 USD", "3 1 -3 USD"]),
        # At the end of a row, and in the first one.
        (paid(DIEM="1", USD="5"), ["1 1 -1 DIEM", "2 1 -2 USD", "3 1 -3 USD"]),
        (paid(DIEM="0.1", USD="5.9"), ["1 1 -0.1 DIEM", "1 0 -0.9 USD", "2 1 -2 USD", "3 1 -3 USD"]),
        # Two balances end at one row.
        (
            paid(DIEM="3.5", BUNDLED_CREDITS="1", USD="1.5"),
            ["1 1 -1 DIEM", "2 1 -2 DIEM", "3 1 -0.5 DIEM", "3 0 -1 BUNDLED_CREDITS", "3 0 -1.5 USD"],
        ),
        # Balances pay in a fixed order; that of the mapping has no effect.
        (paid(USD="5", DIEM="1"), ["1 1 -1 DIEM", "2 1 -2 USD", "3 1 -3 USD"]),
    ],
)
def test_the_row_at_which_a_balance_ends_is_written_for_each(
    ledger: Ledger, parts: dict[str, Decimal], expected: list[str]
) -> None:
    quote = quote_of("1", "2", "3")
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN, paid=parts)
    assert [" ".join(row[1:]) for row in shown(rows(ledger, "a"))] == expected
    assert ledger.append(quote, account="a", request_id="r", timestamp=WHEN, paid=parts) is False
    assert len(rows(ledger, "a")) == len(expected)
    assert [" ".join(row[1:]) for row in shown(rows(ledger, "a", size=1))] == expected
    with pytest.raises(LedgerConflictError):
        ledger.append(quote, account="a", request_id="r", timestamp=WHEN, paid=paid(DIEM="5", USD="1"))


def test_a_film_at_the_end_of_the_credits() -> None:
    quote = card_in("USD").at(WHEN).rate(FILM)
    split = settle(quote, paid(DIEM="0.2", BUNDLED_CREDITS="0.01", USD="5"))
    assert split == paid(DIEM="0.2", BUNDLED_CREDITS="0.01", USD="0.30")
    sku = "film-resolution-rate-5s-720p"
    assert shown(quote.ledger_entries(timestamp=WHEN, request_id="r", paid=split)) == [
        (sku, "0.51", "1", "-0.2", "DIEM"),
        (sku, "0.51", "0", "-0.01", "BUNDLED_CREDITS"),
        (sku, "0.51", "0", "-0.3", "USD"),
    ]


def test_each_balance_at_its_own_rate() -> None:
    quote = card_in("USD", "{DIEM: 0.8, BUNDLED_CREDITS: 2, VCU: 0.1}").at(WHEN).rate(PICTURE)
    split = settle(quote, paid(DIEM="1", BUNDLED_CREDITS="0.25", VCU="2", USD="9"))
    assert split == paid(DIEM="1", BUNDLED_CREDITS="0.25", VCU="2", USD="0.5")
    entries = quote.ledger_entries(timestamp=WHEN, request_id="r", paid=split)
    assert [" ".join(row[1:]) for row in shown(entries)] == [
        "2 1 -1 DIEM", "2 0 -0.25 BUNDLED_CREDITS", "2 0 -2 VCU", "2 0 -0.5 USD"
    ]  # fmt: skip


def test_a_row_that_costs_nothing_is_of_whichever_pays_then() -> None:
    quote = quote_of("0", "1", "0", "1", "0")
    entries = quote.ledger_entries(timestamp=WHEN, request_id="r", paid=paid(DIEM="1", USD="1"))
    assert [f"{row.amount} {row.currency}" for row in entries] == ["0 DIEM", "-1 DIEM", "0 DIEM", "-1 USD", "0 USD"]
    free = quote_of("0", "0")
    for nothing in ({}, paid(DIEM="0"), paid(DIEM="0", USD="0")):
        entries = free.ledger_entries(timestamp=WHEN, request_id="r", paid=nothing)
        assert [f"{row.amount} {row.currency}" for row in entries] == ["0 USD", "0 USD"]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (paid(DIEM="5.999999"), "paid adds up to 5.999999 USD, but the charge is 6 USD"),
        (paid(DIEM="3", USD="3.01"), "paid adds up to 6.01 USD, but the charge is 6 USD"),
        ({}, "paid adds up to 0 USD, but the charge is 6 USD"),
        (paid(VCU="6"), "currency='VCU' has no rate in limits.yaml. Allowed: USD, DIEM, BUNDLED_CREDITS"),
        (paid(EUR="6"), "currency='EUR'. Allowed: USD, DIEM, BUNDLED_CREDITS"),
        (paid(diem="6"), "currency='diem'. Allowed: USD, DIEM, BUNDLED_CREDITS"),
        (paid(DIEM="7", USD="-1"), "paid['USD']=Decimal('-1') must be a finite number, zero or more"),
        ({"USD": 6.0}, "paid['USD']=6.0 must be a Decimal or an int; a float has lost its digits already"),
        ({"USD": True}, "paid['USD']=True must be a Decimal or an int; a float has lost its digits already"),
        (paid(USD="NaN"), "paid['USD']=Decimal('NaN') must be a finite number, zero or more"),
    ],
)
def test_parts_that_do_not_come_to_the_charge(ledger: Ledger, parts: dict[str, Decimal], said: str) -> None:
    with pytest.raises(CurrencyError) as caught:
        ledger.append(quote_of("1", "2", "3"), account="a", request_id="r", timestamp=WHEN, paid=parts)
    assert str(caught.value) == said
    assert rows(ledger, "a") == []


def test_one_balance_or_several() -> None:
    with pytest.raises(CurrencyError) as caught:
        quote_of("1").ledger_entries(timestamp=WHEN, request_id="r", currency="USD", paid=paid(USD="1"))
    assert str(caught.value) == "currency and paid are both given. Leave out currency"


def test_parts_are_one_charge_again() -> None:
    one = quote_of("1", "2", "3").ledger_entries(timestamp=WHEN, request_id="r-1", paid=paid(DIEM="1.5", USD="4.5"))
    two = quote_of("1", "2").ledger_entries(timestamp=WHEN, request_id="r-2", paid=paid(DIEM="2.5", USD="0.5"))
    entries = [*one, *two]
    # Some exports list the newest rows first, so a further part may come before the first part.
    for listed in (entries, entries[::-1]):
        for write in (ledger_json, ledger_csv):
            charges = join_parts(read_ledger(write(listed)))
            assert len(charges) == 5
            for first, *further in charges:
                assert first.unit * first.price_per_unit == -(first.amount + sum(row.amount for row in further))
            assert sorted(len(charge) for charge in charges) == [1, 1, 1, 2, 2]


def test_a_part_without_its_first_is_refused() -> None:
    entries = quote_of("2").ledger_entries(timestamp=WHEN, request_id="r", paid=paid(DIEM="1.5", USD="0.5"))
    free = replace(entries[0], unit=Decimal(0), amount=Decimal(0))
    for alone in (entries[1:], (replace(entries[0], sku="other"), entries[1]), (free, entries[1])):
        with pytest.raises(LedgerError) as caught:
            join_parts(alone)
        assert str(caught.value) == (
            f"row {len(alone)}: m-0 is a further part of request 'r', whose first part is not among the rows"
        )
    timed = replace(entries[0], details=InferenceDetails("r", 25))
    assert join_parts((timed, entries[1])) == ((timed, entries[1]),), "the request alone joins them"
    refund = replace(entries[0], unit=Decimal(-1), amount=Decimal(2))
    assert join_parts((*entries, refund)) == (entries, (refund,))


WORTHS = st.sampled_from([None, *map(Decimal, ("1", "0.5", "0.8", "4", "0.000001"))])
AMOUNTS = st.decimals(0, 1000, places=12)


@given(
    st.lists(AMOUNTS, min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["DIEM", "BUNDLED_CREDITS", "VCU"]), AMOUNTS),
    WORTHS,
    WORTHS,
)
def test_the_parts_of_any_charge_are_exact(
    amounts: list[Decimal], balances: dict[str, Decimal], diem: Decimal | None, vcu: Decimal | None
) -> None:
    rates = Rates(DIEM=diem, BUNDLED_CREDITS=Decimal(2), VCU=vcu)
    quote = quote_of(*amounts)
    quote = replace(quote, version=replace(quote.version, rates=rates))
    worth = {name: Fraction(rate) for name, rate in {**dict(rates), "USD": Decimal(1)}.items() if rate}
    balances = {name: balance for name, balance in balances.items() if name in worth}
    split = settle(quote, {**balances, "USD": quote.total})
    assert sum((Fraction(part) * worth[name] for name, part in split.items()), Fraction(0)) == Fraction(quote.total)
    entries = quote.ledger_entries(timestamp=WHEN, request_id="r", paid=split)
    for name, part in split.items():
        assert -sum((row.amount for row in entries if row.currency == name), Decimal(0)) == part
    charges = join_parts(entries)
    assert [charge[0].sku for charge in charges] == [line.sku for line in quote.lines]
    for charge, amount in zip(charges, amounts, strict=True):
        assert sum(Fraction(row.amount) * worth[row.currency] for row in charge) == -Fraction(amount)
        assert [row.unit for row in charge] == [1, *[0] * (len(charge) - 1)]
        assert len({row.currency for row in charge}) == len(charge)
    order = ["DIEM", "BUNDLED_CREDITS", "VCU", "USD"]
    assert [order.index(row.currency) for row in entries] == sorted(order.index(row.currency) for row in entries)
