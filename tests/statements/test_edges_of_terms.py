"""Every kind of term just below, at and just above each of its edges; worked by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from ratecard.statements import StatementError
from ratecard.statements.lines import REFUND_LINE, Line, Rated, with_added
from ratecard.statements.settle import Settled, settle_month
from ratecard.tables.meters import Unit
from ratecard.tables.monthly import Term

UNITS = {
    "mtoken": Unit(unit="mtoken", counts="token", per=1_000_000),
    "ktoken": Unit(unit="ktoken", counts="token", per=1_000),
    "clip": Unit(unit="clip", counts="clip", per=1),
}
START = datetime(2026, 10, 1, tzinfo=UTC)
# Text at 10 a unit, and clips at 3.
TEXT = Rated("t", "mtoken", Decimal(10), "t.yaml:1", Decimal(10), "t.yaml:1", "", "scribe", "text", "words", "tokens")
CLIP = Rated("c", "clip", Decimal(3), "c.yaml:1", Decimal(3), "c.yaml:1", "", "reel", "video", "clips", "video")


def term(source: Any = "monthly.yaml:1", **given: Any) -> Term:
    return Term.model_validate({**given, "@source": source})


def lines(*quantities: str, rated: Rated = TEXT) -> list[Line]:
    return [
        Line(START + timedelta(hours=at), rated, Decimal(each), Decimal(each) * rated.unit_rate)
        for at, each in enumerate(quantities)
    ]


def settled(made: list[Line], *terms: Term, **balances: str) -> Settled:
    known = {term: Fraction(balances.get("balance", "0")) for term in terms if term.kind == "commitment"}
    return settle_month(made, terms, UNITS, "USD", known)


def amounts(found: Settled) -> list[str]:
    return [str(line.amount) for line in found.terms]


def total(found: Settled, made: list[Line]) -> Fraction:
    return sum((Fraction(line.amount) for line in made), Fraction(0)) + sum(line.amount for line in found.terms)


@pytest.mark.parametrize(
    ("used", "credit", "left"),
    [("0", "0", "0"), ("4.999999", "-4999999/100000", "0"), ("5", "-50", "0"), ("5.000001", "-50", "1/100000")],
)
def test_included_units(used: str, credit: str, left: str) -> None:
    made = lines(used)
    found = settled(made, term(included="5", unit="mtoken"))
    assert amounts(found) == [credit]
    assert str(total(found, made)) == left
    assert found.terms[0].quantity == min(Fraction(used), 5)


@pytest.mark.parametrize(("used", "credit"), [("4.9", "-49"), ("5", "-50"), ("5.1", "-50")])
def test_included_money(used: str, credit: str) -> None:
    assert amounts(settled(lines(used), term(included="50", currency="USD"))) == [credit]


def test_what_is_included_is_used_up_in_the_order_of_time() -> None:
    """The first 3 units cost 10 each, the later ones 20: the order decides which of them are free."""
    dear = TEXT._replace(sku="dear", unit_rate=Decimal(20))
    cheap_first = [*lines("3"), Line(START + timedelta(hours=9), dear, Decimal(3), Decimal(60))]
    dear_first = [Line(START, dear, Decimal(3), Decimal(60)), *lines("0", "3")]
    free = term(included="4", unit="mtoken")
    assert amounts(settled(cheap_first, free)) == ["-50"]
    assert amounts(settled(dear_first, free)) == ["-70"]


TIERS = [{"up_to": "2", "percent": "0%"}, {"up_to": "5", "rate": "8"}, {"factor": "0.5"}]


@pytest.mark.parametrize(
    ("used", "left"),
    [
        ("1.9", "19"),
        ("2", "20"),
        ("2.1", "104/5"),  # 20 + 0.1 x 8
        ("4.9", "216/5"),  # 20 + 2.9 x 8
        ("5", "44"),
        ("5.1", "89/2"),  # 44 + 0.1 x 5
    ],
)
def test_graduated_prices_each_part_in_its_own_tier(used: str, left: str) -> None:
    for made in (lines(used), lines("1.5", str(Decimal(used) - Decimal("1.5")))):
        found = settled(made, term(graduated=TIERS, unit="mtoken"))
        assert str(total(found, made)) == left


@pytest.mark.parametrize(
    ("used", "left"),
    [("1.9", "19"), ("2", "20"), ("2.1", "84/5"), ("4.9", "196/5"), ("5", "40"), ("5.1", "51/2")],
)
def test_volume_prices_all_in_the_tier_of_the_whole(used: str, left: str) -> None:
    for made in (lines(used), lines("1.5", str(Decimal(used) - Decimal("1.5")))):
        found = settled(made, term(volume=TIERS, unit="mtoken"))
        assert str(total(found, made)) == left


MONEY = [{"up_to": "20", "percent": "0%"}, {"percent": "-10%"}]


@pytest.mark.parametrize(
    ("kind", "used", "left"),
    [
        ("graduated", "1.9", "19"),
        ("graduated", "2", "20"),
        ("graduated", "2.1", "209/10"),
        ("volume", "1.9", "19"),
        ("volume", "2", "20"),
        ("volume", "2.1", "189/10"),
    ],
)
def test_tiers_over_money(kind: str, used: str, left: str) -> None:
    made = lines(used)
    assert str(total(settled(made, term(currency="USD", **{kind: MONEY})), made)) == left


def test_tiers_in_another_unit_of_the_same_meter() -> None:
    """2,000 ktoken are 2 mtoken."""
    tiers = [{"up_to": "2000", "percent": "0%"}, {"rate": "0.001"}]
    made = lines("3")
    found = settled(made, term(graduated=tiers, unit="ktoken"))
    assert [(line.words, str(line.quantity)) for line in found.terms] == [
        ("graduated: up to 2000 ktoken at contract prices", "2000"),
        ("graduated: above 2000 ktoken at 0.001 USD per ktoken", "1000"),
    ]
    assert total(found, made) == 21


@pytest.mark.parametrize(
    ("balance", "drawn", "after"),
    [("29.99", "2999/100", "0"), ("30", "30", "0"), ("30.01", "30", "1/100"), ("0", "0", "0")],
)
def test_the_commitment_is_drawn_at_contract_prices(balance: str, drawn: str, after: str) -> None:
    commitment = term(commitment="100", currency="USD", **{"from": "2026-10-01"})
    (line,) = settled(lines("3"), commitment, balance=balance).terms
    assert (str(line.quantity), str(-line.amount)) == (drawn, drawn)
    assert line.balance == (Fraction(balance), Fraction(after))
    record = line.to_dict()
    assert (Fraction(record["opening_balance"]), Fraction(record["balance"])) == line.balance


def test_a_commitment_without_a_balance_is_refused() -> None:
    commitment = term(commitment="100", currency="USD", **{"from": "2026-08-01"})
    with pytest.raises(StatementError, match="Give the usage since 2026-08-01, or an opening balance"):
        settle_month(lines("3"), [commitment], UNITS, "USD")


@pytest.mark.parametrize(("used", "expected"), [("2.9", ["1"]), ("3", []), ("3.1", []), ("0", ["30"])])
def test_a_minimum_is_trued_up(used: str, expected: list[str]) -> None:
    assert amounts(settled(lines(used), term(minimum="30", currency="USD"))) == expected


def test_the_steps_come_one_after_the_other_whatever_the_order_of_the_file() -> None:
    """5 units: 1 included, then 4 in tiers (20 + 2 x 8 = 36), 10 drawn, and 14 short of a minimum of 50."""
    terms = [
        term("m:1", minimum="50", currency="USD"),
        term("m:2", commitment="10", currency="USD", **{"from": "2026-10-01"}),
        term("m:3", graduated=TIERS, unit="mtoken"),
        term("m:4", included="1", unit="mtoken"),
    ]
    made = lines("2", "3")
    for ordered in (terms, terms[::-1]):
        found = settled(made, *ordered, balance="10")
        assert {line.kind: str(line.amount) for line in found.terms if line.amount} == {
            "included": "-10",
            "graduated": "-4",
            "commitment": "-10",
            "minimum": "14",
        }
        assert total(found, made) == 40  # 36 of usage, 10 of it paid by the commitment, and the true-up


def test_a_term_is_for_what_it_names_alone() -> None:
    targets: tuple[tuple[dict[str, Any], int], ...] = (
        ({"type": "text"}, 6),
        ({"family": "clips"}, 20),
        ({"except": {"model": "reel"}}, 6),
        ({"charge": "video"}, 20),
        ({"conditions": {"tokens": "input"}}, 26),
        ({"model": "nobody"}, 26),
        ({}, 0),
    )
    for target, left in targets:
        free = term(included="1000", currency="USD", **{"for": target})
        met = {rated: ((free.target_key, rated is CLIP and "charge" in target),) for rated in (TEXT, CLIP)}
        made = [line for rated in met for line in lines("2", rated=rated._replace(met=met[rated]))]
        assert total(settled(made, free), made) == left, target


@pytest.mark.parametrize("target", [{"charge": "video"}, {"conditions": {"resolution": "720p"}}])
def test_a_line_that_does_not_say_what_a_term_names_is_refused(target: dict[str, Any]) -> None:
    (named,) = (f"{name}: {value}" for name, value in target.get("conditions", target).items())
    with pytest.raises(StatementError, match=f"SKU c of reel does not say if it is for {named}, and minimum"):
        settled(lines("1", rated=CLIP), term(minimum="1", currency="USD", **{"for": target}))


BEGUN = {"currency": "USD", "from": "2026-10-01"}


@pytest.mark.parametrize(
    ("of_text", "of_clips", "expected"),
    [
        ({"included": "1", "unit": "mtoken"}, {"included": "2", "unit": "clip"}, ["-10", "-6"]),
        ({"volume": [{"rate": "9"}], "unit": "mtoken"}, {"volume": [{"rate": "2"}], "unit": "clip"}, ["-2", "-2"]),
        ({"graduated": TIERS, "unit": "mtoken"}, {"volume": [{"rate": "2"}], "unit": "clip"}, ["0", "-2"]),
        ({"commitment": "3", **BEGUN}, {"commitment": "100", **BEGUN}, ["-3", "-6"]),
        ({"minimum": "21", "currency": "USD"}, {"minimum": "7", "currency": "USD"}, ["1", "1"]),
    ],
)
def test_terms_of_one_line_of_yaml_are_settled_apart(
    of_text: dict[str, Any], of_clips: dict[str, Any], expected: list[str]
) -> None:
    terms = [term(**of_text, **{"for": {"type": "text"}}), term(**of_clips, **{"for": {"type": "video"}})]
    balances = {one_term: Fraction(one_term.amount) for one_term in terms if one_term.kind == "commitment"}
    made = lines("2") + lines("2", rated=CLIP)
    for ordered in (terms, terms[::-1]):
        found = settle_month(made, ordered, UNITS, "USD", balances)
        assert sorted(amounts(found)) == sorted(expected)


def test_a_refund_is_in_no_term() -> None:
    back = [Line(START, TEXT._replace(kind=REFUND_LINE), Decimal(0), Decimal(-5))]
    found = settled([*lines("3"), *back], term(minimum="30", currency="USD"))
    assert found.terms == ()


def test_two_terms_of_one_step_over_one_line_are_refused_with_both_places() -> None:
    terms = [term("a.yaml:3", volume=MONEY, currency="USD"), term("b.yaml:7", graduated=TIERS, unit="mtoken")]
    with pytest.raises(StatementError, match=r"volume \(a.yaml:3\) and graduated \(b.yaml:7\)"):
        settled(lines("1"), *terms)


def test_a_line_whose_unit_is_not_known_is_refused_where_a_unit_is_measured() -> None:
    made = lines("1", rated=CLIP._replace(unit=None))
    with pytest.raises(StatementError, match="does not say its unit"):
        settled(made, term(included="1", unit="clip"))
    assert amounts(settled(made, term(included="1", currency="USD"))) == ["-1"]


def test_a_third_of_a_line_stays_a_fraction() -> None:
    """A line of 10/3 a unit: what is payable is rounded once, and nothing before."""
    odd = Line(START, CLIP, Decimal(3), Decimal(10))
    found = settled([odd], term(included="1", unit="clip"))
    assert found.terms[0].amount == Fraction(-10, 3)


# A video of 0.333 that is rounded to 0.33 each time it is made.
ROUNDING = Rated("rounding", "", Decimal(0), "", Decimal(0), "", "", "reel", "video", "clips")


@pytest.mark.parametrize(
    ("count", "given", "left"),
    [
        (10, {"included": "5"}, "0"),
        (10, {"included": "3.3"}, "0"),
        (10, {"included": "3.299"}, "1/1000"),
        (10, {"included": "1"}, "23/10"),
        # 1 at the contract price, and half of 2.30.
        (10, {"graduated": [{"up_to": "1", "factor": "1"}, {"factor": "0.5"}]}, "43/20"),
        # The edge is between 0.99 and 0.999: three videos are charged 0.99.
        (3, {"graduated": [{"up_to": "0.995", "factor": "1"}, {"factor": "0.5"}]}, "99/100"),
        (10, {"graduated": [{"up_to": "1", "factor": "1"}, {"up_to": "2", "factor": "2"}, {"factor": "0.5"}]}, "73/20"),
    ],
)
def test_what_rounding_takes_off_is_in_the_terms_of_money(count: int, given: dict[str, Any], left: str) -> None:
    made = rounded_clips(count)
    assert str(total(settled(made, term(currency="USD", **given)), made)) == left


def rounded_clips(count: int) -> list[Line]:
    made: list[Line] = []
    for at in range(count):
        instant = START + timedelta(hours=at)
        clip = Line(instant, CLIP, Decimal(1), Decimal("0.333"))
        made += with_added([clip, Line(instant, ROUNDING, Decimal(0), Decimal("-0.003"))])
    return made


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"included": "9"}, "33/100"),
        ({"included": "9.5"}, "33/200"),
        ({"included": "10"}, "0"),
        ({"included": "11"}, "0"),
        ({"volume": [{"rate": "0.5"}]}, "5"),
        ({"volume": [{"factor": "0.5"}]}, "33/20"),
        ({"volume": [{"percent": "0%"}]}, "33/10"),
        ({"graduated": [{"up_to": "4", "factor": "1"}, {"rate": "0.1"}]}, "48/25"),
    ],
)
def test_terms_of_units_cancel_what_was_charged_with_its_rounding(given: dict[str, Any], left: str) -> None:
    made = rounded_clips(10)
    assert str(total(settled(made, term(unit="clip", **given)), made)) == left


def test_each_line_of_a_request_has_its_part_of_rounding_and_minimum() -> None:
    least = Rated("m", "minimum", Decimal(1), "t.yaml:9", Decimal(1), "t.yaml:9", "", "scribe", "text", "words")
    one, two = TEXT, TEXT._replace(sku="o", attributes=(("tokens", ("output",)),))
    lines = [Line(START, one, Decimal(1), Decimal(1)), Line(START, two, Decimal(3), Decimal(3))]
    added = Line(START, least, Decimal(2), Decimal(2))
    assert [line.charged for line in with_added([*lines, added])] == [Fraction(3, 2), Fraction(9, 2), 0]
    free = [line._replace(amount=Decimal(0)) for line in lines]
    assert [line.charged for line in with_added([*free, added])] == [2, 0, 0]
    assert [line.charged for line in with_added([added])] == [2]
    made = with_added([*lines, added])
    assert total(settled(made, term(included="4", unit="mtoken")), made) == 0


def test_what_was_never_paid_is_not_paid_back() -> None:
    """5 units are free, and the others half price: each refund is the share that was paid."""

    def booked(request: str, quantity: str) -> Line:
        return Line(START, TEXT, Decimal(quantity), Decimal(quantity) * 10, request=request)

    def back(request: str, amount: str) -> Line:
        return Line(START + timedelta(days=9), refunded, Decimal(0), Decimal(amount), request=request)

    refunded = TEXT._replace(kind=REFUND_LINE)
    terms = [term("m:1", included="5", unit="mtoken"), term("m:2", volume=[{"factor": "0.5"}], unit="mtoken")]
    usage = [booked("free", "4"), booked("partly", "2"), booked("paid", "3")]
    for request, amount, paid in (
        ("free", "-40", "0"),
        ("free", "-1", "0"),
        ("partly", "-20", "5"),
        ("partly", "-10", "5/2"),
        ("paid", "-30", "15"),
        ("elsewhere", "-30", "30"),
    ):
        found = settle_month([*usage, back(request, amount)], terms, UNITS, "USD", refunded={request})
        never = sum(line.amount for line in found.terms if line.kind == "refunds")
        assert -Fraction(amount) - never == Fraction(paid), request
        # The refund comes in a later month.
        later = settle_month([back(request, amount)], (), UNITS, "USD", paid_before=found.paid)
        assert [line.amount for line in later.terms] == ([never] if never else [])


@pytest.mark.parametrize("kind", ["included", "commitment", "minimum"])
def test_terms_in_another_currency_are_of_another_statement(kind: str) -> None:
    assert settled(lines("1"), term(currency="EUR", **{kind: "50"})).terms == ()
