"""Laws of every quote, whatever it is for."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from ratecard.testing.case import Case, expect
from ratecard.testing.laws.law import Law, any_case, of_type
from ratecard.testing.request import json_text
from ratecard.words.currency import USD
from ratecard.words.errors import QuoteError
from ratecard.words.money import plain

_METERED = ("text", "embedding", "image", "edit", "upscale", "speech", "transcription", "music", "rpc")
# No field of any request, now or later.
_FURTHER = st.dictionaries(
    st.sampled_from(("x-note", "x-seed", "x-user")), st.none() | st.booleans() | st.text(max_size=3), max_size=2
)


def a_valid_request_has_a_price(case: Case, data: st.DataObject) -> None:
    """Every request that the tables accept is priced: in the model's currency, at the version in effect."""
    asked = case.ask(data.draw(case.requests))
    quote, found = asked.quote, case.found
    given = (quote.model, quote.currency, quote.effective, quote.digest)
    expected = (found.model, found.currency, case.version.effective, case.prices.card.digest)
    expect(given == expected, f"The quote is of {given}, not of {expected}", asked)


def no_amount_is_negative(case: Case, data: st.DataObject) -> None:
    """No line, sum or total is below zero."""
    asked = case.ask(data.draw(case.requests))
    amounts = [asked.quote.total, asked.quote.exact]
    for line in asked.quote.lines:
        amounts += [line.quantity, line.unit_rate, line.amount]
    expect(all(amount >= 0 for amount in amounts), "A price is negative", asked)


def lines_add_up_to_the_exact_amount(case: Case, data: st.DataObject) -> None:
    """The amounts of the lines add up to the exact amount, to the last digit."""
    asked = case.ask(data.draw(case.requests))
    amount = sum((Fraction(line.amount) for line in asked.quote.lines), Fraction(0))
    expect(amount == asked.exact, f"The lines add up to {amount}", asked)


def a_line_is_quantity_times_rate(case: Case, data: st.DataObject) -> None:
    """Every amount is its quantity times its rate, rounded to nothing coarser than the table's line places."""
    asked = case.ask(data.draw(case.requests))
    for line in asked.quote.lines:
        product = Fraction(line.quantity) * Fraction(line.unit_rate)
        slack = Fraction(0)
        if case.found.type == "video":  # a quantity that no decimal holds is shown to the line places too
            slack = (1 + Fraction(line.unit_rate)) / 10**case.version.rounding.line_places
        expect(abs(product - Fraction(line.amount)) <= slack, f"{line.sku} is not quantity x rate", asked)


def the_total_is_rounded_once(case: Case, data: st.DataObject) -> None:
    """The total is the exact amount, rounded half-up once to the table's places; what is not video is not rounded."""
    asked = case.ask(data.draw(case.requests))
    rounded = case.rounded(asked.quote.exact)
    expect(str(asked.quote.total) == str(rounded), f"The total should be {rounded}", asked)


def extra_keys_and_order_change_nothing(case: Case, data: st.DataObject) -> None:
    """Unknown keys of a body, `metadata` of a usage, the order of keys, and JSON for a mapping change no price."""
    asked = case.ask(data.draw(case.requests))
    further: dict[str, Any] = data.draw(_FURTHER)
    ignored = (*asked.quote.ignored, *sorted(further))
    if "type" in asked.request.body:  # a usage
        further, ignored = {"metadata": further}, asked.quote.ignored
    turned = dict(data.draw(st.permutations(list({**asked.request.body, **further}.items()))))
    for form in (turned, json_text(turned).encode()):
        again = case.ask(asked.request, form)
        same = replace(again.quote, ignored=()) == replace(asked.quote, ignored=())
        expect(same, f"Asked as {json_text(turned)}, it is another quote", asked, again)
        known, listed = again.quote.ignored[: len(asked.quote.ignored)], again.quote.ignored
        expect((*known, *sorted(listed[len(known) :])) == ignored, f"Named as ignored: {', '.join(listed)}", again)


def an_unknown_key_of_a_usage_is_refused(case: Case, data: st.DataObject) -> None:
    """A usage with a key that is not of its type is refused as a whole: what was meant by it is not assumed."""
    asked = case.ask(data.draw(case.requests))
    try:
        case.prices.rate({**asked.request.body, "x-count": 10})
    except QuoteError as refusal:
        told = [message for path, message in refusal.problems if not path]
        expect(any("'x-count'" in message for message in told), f"It is refused otherwise: {refusal}", asked)
    else:
        expect(False, "A usage with the key 'x-count' is charged", asked)


def the_answer_has_the_digits_of_the_total(case: Case, data: st.DataObject) -> None:
    """What HTTP answers holds the digits of the total, as a plain decimal, and the currency where it is not USD."""
    asked = case.ask(data.draw(case.requests))
    total = asked.quote.total
    digits = str(total) if case.found.type == "video" else format(plain(total), "f")
    answer = asked.quote.to_json().decode()
    currency = "" if asked.quote.currency == USD else f',"currency":"{asked.quote.currency}"'
    expect(answer == f'{{"quote":{digits}{currency}}}', f"It answers {answer}", asked)


LAWS = (
    Law(a_valid_request_has_a_price, any_case),
    Law(no_amount_is_negative, any_case),
    Law(lines_add_up_to_the_exact_amount, any_case),
    Law(a_line_is_quantity_times_rate, any_case),
    Law(the_total_is_rounded_once, any_case),
    Law(extra_keys_and_order_change_nothing, of_type("video", *_METERED)),
    Law(an_unknown_key_of_a_usage_is_refused, of_type(*_METERED)),
    Law(the_answer_has_the_digits_of_the_total, any_case),
)
