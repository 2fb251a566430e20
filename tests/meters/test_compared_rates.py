"""A diff shows rates under conditions and in tiers by themselves, and factors as rates."""

from made_up_provider import FACTORS, RATES, book, table

from ratecard import RateCard
from ratecard.cli.diff import diff_text
from ratecard.review.compare import compare_sides
from ratecard.review.difference import RateChange
from ratecard.review.rates import rate_changes
from ratecard.review.report import diff_page
from ratecard.review.sides import Priceable, Side


def changes(rates: str = RATES, factors: str = FACTORS, before: str = FACTORS) -> list[RateChange]:
    sides = []
    for text in (table(further=before), table(rates, factors)):
        prices = book(text)
        model, version = prices.in_effect("m")
        sides.append(Priceable(model, version, prices.tables.units))
    return list(rate_changes(*sides))


def shown(change: RateChange) -> tuple[str, str, str, str, str]:
    old, new = (str(side.amount) if side else "" for side in (change.old, change.new))
    return (change.charge, change.attributes, old, new, change.percent)


def test_a_rate_in_a_tier_and_under_a_condition_changes_by_itself() -> None:
    dearer = RATES.replace(
        "above: 128000, service_tier: priority, rate: 11", "above: 128000, service_tier: priority, rate: 22"
    )
    words = "above 128000, tokens input, service_tier priority"
    assert list(map(shown, changes(dearer))) == [("tokens", words, "11", "22", "+100%")]
    plain = RATES.replace("{tokens: input, rate: 4}", "{tokens: input, rate: 3}")
    assert list(map(shown, changes(plain))) == [("tokens", "tokens input", "4", "3", "-25%")]


def test_a_factor_is_shown_as_a_rate() -> None:
    assert changes() == []
    found = changes(factors=FACTORS.replace("factor: 0.5", "factor: 0.6"))
    assert list(map(shown, found)) == [("factor of tokens", "service_tier batch", "0.5", "0.6", "+20%")]
    assert found[0].old and found[0].old.source.startswith("made-up.yaml:")
    fewer = FACTORS.replace("          - {inference_geo: us, factor: 1.1}\n", "")
    assert list(map(shown, changes(factors=fewer))) == [("factor of tokens", "inference_geo us", "1.1", "", "")]
    assert [each.kind for each in changes(before=fewer)] == ["added"]


def test_a_factor_is_in_no_currency() -> None:
    factors = {"old": FACTORS, "new": FACTORS.replace("factor: 0.5", "factor: 0.6")}
    old, new = (Side(name, RateCard(book(table(RATES, text)).tables)._unproved) for name, text in factors.items())
    diff = compare_sides(old, new)
    assert "factor of tokens, service_tier batch: 0.5 -> 0.6 (+20%)" in diff_text(diff)
    page = diff_page(diff)
    assert "service_tier batch" in page
    assert "/ factor" not in page


def test_a_line_without_a_tier_is_one_of_its_own() -> None:
    other = RATES.replace(
        "{tokens: output, above: 128000, rate: 30}", "{tokens: output, from: 128000, rate: 30}"
    ).replace("above: 128000", "from: 128000")
    kinds = {each.kind for each in changes(other)}
    assert kinds == {"added", "removed"}
