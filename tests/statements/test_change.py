"""The change against the month before, worked by hand."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

from ratecard.statements.issued import Statement, change_of
from ratecard.statements.lines import Rated, StatementLine
from ratecard.statements.settle import TermLine


def line(sku: str, quantity: str, amount: str, unit: str = "mtoken") -> StatementLine:
    rated = Rated(sku, unit, Decimal(1), "", None, "", "", "m", "text", "f")
    return StatementLine(rated, 1, Decimal(quantity), Decimal(amount), None)


def statement(lines: list[StatementLine], terms: int) -> Statement:
    of_terms = TermLine("minimum", "", "", Fraction(terms), "USD", Fraction(terms))
    return Statement("a", date(2026, 10, 1), "USD", tuple(lines), (of_terms,), (), ())


def parts(before: list[StatementLine], after: list[StatementLine], terms: tuple[int, int] = (0, 0)) -> dict[str, str]:
    found = change_of(statement(before, terms[0]), statement(after, terms[1]))
    assert found.before + sum(found.parts.values(), Fraction(0)) == found.after
    return {name: str(part) for name, part in found.parts.items() if part}


def test_another_price_of_the_same_quantity() -> None:
    assert parts([line("a", "10", "20")], [line("a", "10", "25")]) == {"price": "5"}


def test_what_becomes_free_is_a_change_of_price() -> None:
    assert parts([line("a", "10", "20")], [line("a", "10", "0")]) == {"price": "-20"}


def test_more_of_everything() -> None:
    before, after = [line("a", "10", "20"), line("b", "5", "50")], [line("a", "12", "24"), line("b", "6", "60")]
    assert parts(before, after) == {"volume": "14"}


def test_another_mix_of_the_same_quantity() -> None:
    """5 units move from 2 to 10 apiece."""
    before, after = [line("a", "10", "20"), line("b", "5", "50")], [line("a", "5", "10"), line("b", "10", "100")]
    assert parts(before, after) == {"mix": "40"}


def test_all_three_at_once() -> None:
    """15 units become 30: volume is 70; of 30, a has 10 and not 20, b 20 and not 10: mix is 80; a costs 1 more."""
    before, after = [line("a", "10", "20"), line("b", "5", "50")], [line("a", "10", "30"), line("b", "20", "200")]
    assert parts(before, after) == {"price": "10", "volume": "70", "mix": "80"}


def test_new_and_lost_skus_are_mix_where_something_else_of_the_unit_stays() -> None:
    assert parts([line("a", "10", "20")], [line("b", "10", "30")]) == {"mix": "10"}
    assert parts([], [line("b", "10", "30")]) == {"mix": "30"}
    assert parts([line("a", "10", "20")], []) == {"volume": "-20"}


def test_units_do_not_mix_and_lines_of_a_sku_are_one() -> None:
    before = [line("a", "10", "20"), line("c", "1", "3", "clip")]
    after = [line("a", "5", "10"), line("a", "5", "15"), line("c", "2", "6", "clip")]
    assert parts(before, after) == {"price": "5", "volume": "3"}


def test_terms_are_a_part_of_their_own() -> None:
    assert parts([line("a", "10", "20")], [line("a", "10", "20")], (-5, 7)) == {"terms": "12"}
