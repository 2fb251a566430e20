"""Billing exports in any currency, and charges that several balances paid: re-rated as they were billed."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from ledgers import export, write_csv, write_pages

from currencies import FILM, PICTURE, TABLES, card_in, limits_in_time, limits_with
from ratecard import Quote, RateCard
from ratecard.accounts import settle
from ratecard.line_items import LedgerEntry
from ratecard.line_items.ledger_entry import unknown_worth
from ratecard.review.sides import Side
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from ratecard.testing.card_strategies import card_of

HEAD = "timestamp,sku,pricePerUnitUsd,pricePerUnit,unit,amount,currency,notes,requestId"
SKU = "picture-fixed-1K-1img"


def line(usd: str, other: str, unit: str, amount: str, currency: str, request: str = "r", sku: str = SKU) -> str:
    return f"2026-10-01T10:00:00Z,{sku},{usd},{other},{unit},{amount},{currency},{sku.partition('-')[0]},{request}"


def exported(folder: Path, *lines: str) -> str:
    return export(folder, *lines, head=HEAD)


def dearer(currency: str, rates: str = "{DIEM: 1, BUNDLED_CREDITS: 1}") -> RateCard:
    """The picture at 3 instead of 2, the film at 1 instead of 0.51."""
    tables = TABLES.format(currency=currency)
    for old, new in (
        ("rate: 2}", "rate: 3}"),
        ("total: 2}", "total: 3}"),
        ("0.101", "0.2"),
        ("total: 0.51", "total: 1"),
    ):
        assert tables.count(old) == 1
        tables = tables.replace(old, new)
    return card_of({"tables.yaml": tables.encode(), "limits.yaml": limits_with(rates)})


def opened(
    usage: object, card: RateCard, *candidates: object, currency: str = "USD", by: str = "currency"
) -> Simulation:
    return simulate(usage, AsBilled("as-billed", card), list(candidates), by=[by], currency=currency)  # type: ignore[arg-type]


def groups(found: Simulation) -> dict[str | None, tuple[Decimal, ...]]:
    assert not found.unpriced and not found.disputed
    return sums(found)


def sums(found: Simulation) -> dict[str | None, tuple[Decimal, ...]]:
    return {group.key[0]: group.amounts for group in found.groups}


def reasons(found: Simulation) -> list[tuple[int, str]]:
    return [(each.rows, each.reason) for each in found.unpriced]


WRONG = "amount: is not unit x pricePerUnitUsd"


def wrong_amounts(found: Simulation) -> int:
    """The number of rows whose amount is disputed."""
    return sum(each.rows for each in found.disputed if each.reason == WRONG)


@pytest.mark.parametrize("form", ["csv", "pages"])
def test_an_export_in_euros_is_re_rated_in_euros(tmp_path: Path, form: str) -> None:
    card = card_in("EUR")
    quotes = [card.at(card.boundaries()[-1]).rate(usage) for usage in (PICTURE, FILM)]
    entries = [
        row for quote in quotes for row in quote.ledger_entries(timestamp=card.boundaries()[-1], request_id=quote.model)
    ]
    usage = write_csv(tmp_path / "e.csv", entries, {}) if form == "csv" else write_pages(tmp_path, entries, 1)
    with opened(usage, card, Side("dearer", dearer("EUR")), currency="EUR") as found:
        assert groups(found) == {"EUR": (Decimal("2.51"), Decimal(4))}
    with opened(usage, card) as refused:
        assert reasons(refused) == [(2, "currency: charged in EUR, and amounts are added in USD")]


NO_WORTH = "currency: {} has no worth in USD that is known. Allowed: USD, DIEM, BUNDLED_CREDITS"
REFUSED = {
    "EUR": [
        (line("2", "", "1", "-2", "EUR"), "pricePerUnitUsd: of a row in EUR, whose price is pricePerUnit"),
        (line("2", "2", "1", "-2", "EUR"), "pricePerUnitUsd: of a row in EUR, whose price is pricePerUnit"),
        (line("", "", "1", "-2", "EUR"), "pricePerUnit: missing"),
        (line("2", "", "1", "-2", "DIEM"), "currency: charged in DIEM, and amounts are added in EUR"),
    ],
    "USD": [
        (line("2", "2", "1", "-2", "USD"), "pricePerUnit: of a row in USD, whose price is pricePerUnitUsd"),
        (line("", "2", "1", "-2", "DIEM"), "pricePerUnit: of a row in DIEM, whose price is pricePerUnitUsd"),
        (line("2", "", "1", "-2", "usd"), NO_WORTH.format("usd")),
        (line("2", "", "1", "-2", "VCU"), NO_WORTH.format("VCU")),
        (line("2", "", "1", "-2", ""), "currency: missing. Allowed: USD, DIEM, BUNDLED_CREDITS"),
    ],
}


@pytest.mark.parametrize("currency", REFUSED)
def test_an_unknown_currency_and_a_mixture_are_refused(tmp_path: Path, currency: str) -> None:
    rows = REFUSED[currency]
    with opened(exported(tmp_path, *(row for row, _ in rows)), card_in(currency), currency=currency) as found:
        assert Counter({reason: number for number, reason in reasons(found)}) == Counter(said for _, said in rows)
        assert found.total.amounts == (Decimal(0),)


def test_balances_are_worth_what_the_tables_say(tmp_path: Path) -> None:
    """The last row of DIEM was charged as if it was worth a dollar: it is disputed, and stays what was billed."""
    rates = "{DIEM: 0.8, BUNDLED_CREDITS: 4, VCU: 0.1}"
    rows = [
        line("2", "", "1", "-2.5", "DIEM", "a"), line("2", "", "1", "-0.5", "BUNDLED_CREDITS", "b"),
        line("2", "", "1", "-20", "VCU", "c"), line("2", "", "1", "-2", "USD", "d"),
        line("2", "", "2e0", "-5.0e0", "DIEM", "e"), line("2", "", "1", "-2", "DIEM", "f"),
    ]  # fmt: skip
    with opened(exported(tmp_path, *rows), card_in("USD", rates), Side("dearer", dearer("USD", rates))) as found:
        assert sums(found) == {
            "DIEM": (Decimal("7.6"), Decimal(12)), "BUNDLED_CREDITS": (Decimal(2), Decimal(3)),
            "VCU": (Decimal(2), Decimal(3)), "USD": (Decimal(2), Decimal(3)),
        }  # fmt: skip
        assert ([(each.rows, each.reason) for each in found.disputed], found.unpriced) == ([(1, WRONG)], ())


def test_a_balance_is_worth_what_it_was_on_its_day(tmp_path: Path) -> None:
    limits = limits_in_time(("2026-10-02", "{DIEM: 0.5}"), ("2026-09-01", "{DIEM: 1}"))
    card = card_of({"tables.yaml": TABLES.format(currency="USD").encode(), "limits.yaml": limits})
    row = line("2", "", "1", "-2", "DIEM", "")
    days = ("2026-08-01T00:00:00Z", "2026-10-01T23:59:59Z", "2026-10-02T00:00:00Z", "yesterday")
    rows = [row.replace("2026-10-01T10:00:00Z", when) for when in days]
    rows[2] = rows[2].replace("-2,DIEM", "-4,DIEM")
    with opened(exported(tmp_path, *rows), card) as found:
        assert (sums(found), found.disputed) == ({"DIEM": (Decimal(6),)}, ())
        assert reasons(found) == [(1, "timestamp: missing, or not an instant")]


def test_what_goes_back_to_a_balance_is_worth_what_it_was_when_the_balance_paid(tmp_path: Path) -> None:
    """Where another request, none, or another balance was charged, that is not known."""
    limits = limits_in_time(("2026-10-02", "{DIEM: 2}"), ("2026-09-01", "{DIEM: 1}"))
    card = card_of({"tables.yaml": TABLES.format(currency="USD").encode(), "limits.yaml": limits})
    charged = ("DIEM", "whole"), ("DIEM", "another"), ("DIEM", ""), ("USD", "of dollars"), ("USD", "in dollars")
    rows = [line("2", "", "1", "-2", *each) for each in charged]
    refunds = ("DIEM", "whole"), ("DIEM", "other"), ("DIEM", "none"), ("DIEM", "of dollars"), ("USD", "in dollars")
    rows += [line("2", "", "0", "2", *each).replace("10-01", "10-03") for each in refunds]
    with opened(exported(tmp_path, *rows), card, by="requestId") as found:
        zero, two = (Decimal(0),), (Decimal(2),)
        assert sums(found) == {"whole": zero, "in dollars": zero, "another": two, None: two, "of dollars": two}
        assert (reasons(found), found.disputed) == ([(3, unknown_worth("DIEM"))], ())


def split_entries(card: RateCard) -> list[Quote]:
    when = card.boundaries()[-1]
    return [card.at(when).rate(usage) for usage in (PICTURE, FILM)]


@pytest.mark.parametrize(
    ("form", "rates"), [("csv", "{DIEM: 0.8, BUNDLED_CREDITS: 2}"), ("pages", "{DIEM: 1, BUNDLED_CREDITS: 1}")]
)
def test_a_charge_that_several_balances_paid_is_one(tmp_path: Path, form: str, rates: str) -> None:
    card = card_in("USD", rates)
    when = card.boundaries()[-1]
    entries: list[LedgerEntry] = []
    for number, quote in enumerate(split_entries(card)):
        paid = settle(quote, {"DIEM": Decimal("0.1"), "BUNDLED_CREDITS": Decimal("0.02"), "USD": Decimal(9)})
        entries += quote.ledger_entries(timestamp=when, request_id=f"r-{number}", paid=paid)
    assert len(entries) == 6
    usage = write_csv(tmp_path / "e.csv", entries, {}) if form == "csv" else write_pages(tmp_path, entries, 3)
    diem = Decimal("0.2") if "DIEM: 1" in rates else Decimal("0.16")
    bundled = Decimal("0.04") if "CREDITS: 1" in rates else Decimal("0.08")
    # As billed, each balance pays its part; at other rates, the row with the units has the whole charge.
    with opened(usage, card, Side("dearer", dearer("USD", rates))) as found:
        assert groups(found) == {
            "DIEM": (diem, Decimal(4)),
            "BUNDLED_CREDITS": (bundled, Decimal(0)),
            "USD": (Decimal("2.51") - diem - bundled, Decimal(0)),
        }
        assert found.total.amounts == (Decimal("2.51"), Decimal(4))
        assert found.rows == 6


def test_parts_that_are_no_charge_are_disputed(tmp_path: Path) -> None:
    # A first part alone; a further part alone; parts of other requests, SKUs or prices; too much; with a refund; wrong
    # amounts that are right together, beside a row of nothing.
    charges = [
        [("2", "1", "-1.5", "DIEM", "a")],
        [("2", "0", "-0.5", "USD", "b")],
        [("2", "1", "-1.5", "DIEM", "c"), ("2", "0", "-0.5", "USD", "d")],
        [("2", "1", "-1.5", "DIEM", ""), ("2", "0", "-0.5", "USD", "")],
        [("2", "1", "-1.5", "DIEM", "e"), ("2.0001", "0", "-0.5", "USD", "e")],
        [("2", "1", "-1.5", "DIEM", "f"), ("2", "0", "-0.500001", "USD", "f")],
        [("2", "1", "-1.5", "DIEM", "g"), ("2", "1", "-0.5", "USD", "h")],
        [("2", "1", "-4", "DIEM", "i"), ("2", "1", "0", "USD", "i"), ("2", "0", "0", "USD", "i")],
    ]
    lines = [line(usd, "", *others) for rows in charges for usd, *others in rows]
    with opened(exported(tmp_path, *lines), card_in("USD")) as found:
        assert [(each.rows, each.reason) for each in found.disputed] == [(len(lines) - 1, WRONG)]


def test_parts_with_more_digits_and_without_requests(tmp_path: Path) -> None:
    """The price may be written otherwise; an export without request ids has no parts."""
    rows = [line("2.0", "", "1.000", "-1.50", "DIEM"), line("2", "", "0.00", "-0.5", "USD")]
    with opened(exported(tmp_path, *rows), card_in("USD")) as found:
        assert groups(found) == {"DIEM": (Decimal("1.5"),), "USD": (Decimal("0.5"),)}
    without = [row.rpartition(",")[0] for row in rows]
    with opened(export(tmp_path, *without, head=HEAD.rpartition(",")[0]), card_in("USD")) as found:
        assert sum(each.rows for each in found.disputed) == 2


# Numbers that the engine cannot add: too many digits before the point, or an exponent.
LONG = [
    [("2", "600000000", "-1000000000", "DIEM"), ("2", "0", "-200000000", "USD")],
    [("2", "600000000", "-200000000", "DIEM"), ("2", "0", "-1000000000.0", "USD")],
    [("2", "1500000000", "-2000000000", "DIEM"), ("2", "0", "-1000000000", "USD")],
    [("2", "600000000", "-1", "DIEM"), ("2", "0.0", "-1", "BUNDLED_CREDITS"), ("2", "0", "-1199999998", "USD")],
    [("2", "1", "-15e-1", "DIEM"), ("2e0", "0e0", "-0.5", "USD")],
    [("2.0", "1", "-1.5", "DIEM"), ("2", "0", "-5e-1", "USD")],
]


def test_parts_of_a_charge_may_have_long_numbers(tmp_path: Path) -> None:
    """In both orders; beside other requests of the same SKU, and a charge whose parts are short."""

    def lines(case: int, name: str, wrong: int | None = None) -> list[str]:
        made = [
            line(usd, "", unit, str(Decimal(amount) - (at == wrong)), currency, f"{case} {name}")
            for at, (usd, unit, amount, currency) in enumerate(LONG[case])
        ]
        return made[::-1] if name.endswith("turned") else made

    short = [line("2", "", "1", "-1.5", "DIEM", "q"), line("2", "", "0", "-0.5", "USD", "q")]
    cases = range(len(LONG))
    right = [row for case in cases for name in ("right", "turned") for row in lines(case, name)]
    with opened(exported(tmp_path, *right, *short), card_in("USD"), by="requestId") as found:
        charged = [-sum(Decimal(row[2]) for row in rows) for rows in LONG]
        assert groups(found) == {"q": (Decimal(2),)} | {
            f"{case} {name}": (charged[case],) for case in cases for name in ("right", "turned")
        }
    places = [(case, at) for case in cases for at in range(len(LONG[case]))]
    wrong = [row for case, at in places for name in (f"{at}", f"{at} turned") for row in lines(case, name, at)]
    with opened(exported(tmp_path, *wrong, *short), card_in("USD")) as found:
        assert [(each.rows, each.reason) for each in found.disputed] == [(len(wrong), WRONG)]


def test_rows_of_another_price_are_no_parts_of_a_long_charge(tmp_path: Path) -> None:
    """A zero may be long too. Rows that are rounded each by itself are no parts of one charge either."""
    rows = []
    for number, zero in enumerate(("0", "0.0000000000000000000")):
        for name, others in (
            ("wrong", [("1", "", "1", "-0.5", "USD"), ("1", "", "1", "-1.5", "USD", f"other {number}")]),
            ("rounded", [("1", "", "1", "-1.0000000000005", "USD")] * 2),
        ):
            split = ("2", "", "3", "-5.5", "DIEM"), ("2", "", zero, "-0.5", "USD")
            rows += [line(*row, *([] if row[5:] else [f"{name} {number}"])) for row in (*split, *others)]
    with opened(exported(tmp_path, *rows), card_in("USD")) as found:
        assert wrong_amounts(found) == 4


def test_parts_that_are_too_long_together(tmp_path: Path) -> None:
    """Each number is short, but not their product with the decimals of another row, which has another price."""
    rows = [line("2", "", "100000000", "-199999999", "DIEM"), line("2", "", "0", "-1", "USD")]
    tiny = line("0.000000000000000001", "", "0.000000000000000001", "-0.000000000000000001", "USD", "q")
    with opened(exported(tmp_path, *rows, tiny), card_in("USD")) as found:
        assert [each.rows for each in found.disputed] == [1]


def test_a_refund_is_no_part_of_its_charge(tmp_path: Path) -> None:
    cases = {f"{unit} {refund}": (unit, refund) for unit in ("1", "1e0") for refund in ("0.5", "1000000000")}
    rows = [
        line("2", "", *row, name)
        for name, (unit, refund) in cases.items()
        for row in ((unit, "-1.5", "DIEM"), ("0", "-0.5", "USD"), ("0", refund, "USD"))
    ]
    with opened(exported(tmp_path, *rows), card_in("USD"), by="requestId") as found:
        assert groups(found) == {name: (2 - Decimal(refund),) for name, (_, refund) in cases.items()}


def test_a_part_whose_worth_is_not_known_is_no_part(tmp_path: Path) -> None:
    rows = [line("2", "", "1", "-1.5", "DIEM"), line("2", "", "0", "-0.5", "VCU")]
    with opened(exported(tmp_path, *rows), card_in("USD")) as found:
        assert ([each.rows for each in found.disputed], [each.rows for each in found.unpriced]) == ([1], [1])


def test_any_name_may_be_one_of_a_column_of_the_export(tmp_path: Path) -> None:
    """Whatever names the queries that read it have of their own, and whatever the column holds."""
    names = [
        *("entry", "Is_Regular", "whole_units", "whole_rate", "whole_charged", "own0", "part_request", "part_units"),
        *("part_charged", "odd_units", "odd_request"),
        *(f"ledger_{each}" for each in ("request", "sku", "model", "currency", "unit", "price", "paid", "worth")),
        *("ledger_entry", "Ledger_Odd", "ledger_units", "ledger_amount", "ledger_dollars", "ledger_other"),
    ]
    request = [
        *(("1", "-1.5", "DIEM", "r"), ("0", "-0.5", "USD", "r"), ("1", "-3", "USD", "q")),
        *(("-1", "2", "USD", "p"), ("2e0", "-4", "USD", "o"), ("1", "-2", "USD", "n")),
    ]
    values = ("credit", "disputed", "1", "true")
    rows = [line("2", "", *row[:3], f"{row[3]} {value}") for value in values for row in request]
    wider = [",".join((row, *[row.rpartition(" ")[2]] * len(names))) for row in rows]
    plain = tmp_path / "plain"
    plain.mkdir()
    wide = export(tmp_path, *wider, head=",".join((HEAD, *names)))
    with opened(exported(plain, *rows), card_in("USD")) as known, opened(wide, card_in("USD")) as found:
        assert sum(each.rows for each in known.disputed) == len(values)
        assert known.total.amounts[0] == 9 * len(values)
        for each in ("total", "disputed", "unpriced", "groups"):
            assert getattr(found, each) == getattr(known, each), each
