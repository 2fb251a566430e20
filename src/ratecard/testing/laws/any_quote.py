"""Laws of every quote, of the line of each rate, of the price sheet, and of refused requests."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from ratecard.base.errors import QuoteError
from ratecard.base.money import USD, plain, text
from ratecard.card import RateCard
from ratecard.line_items.quote import MINIMUM, Quote
from ratecard.price_book import PriceBook
from ratecard.requests.body import METERED_TYPES, TYPES
from ratecard.tables.rate import Rate, domains_of, less
from ratecard.testing.case import BrokenLawError, Case, Quoted, any_case, applies_to, expect, of_type
from ratecard.testing.offer import SHORT_TEXTS, Request, json_text
from ratecard.views.sheet import Cell

# Names that will never be fields of a request.
_FURTHER = st.dictionaries(
    st.sampled_from(("x-note", "x-seed", "x-user")), st.none() | st.booleans() | SHORT_TEXTS, max_size=2
)


@applies_to(any_case)
def a_valid_request_has_a_price(case: Case, data: st.DataObject) -> None:
    """Every request that the tables accept has a price: in the model's currency, from the version in effect."""
    quoted = case.ask(data.draw(case.requests))
    quote, model = quoted.quote, case.found
    stated = (quote.model, quote.currency, quote.effective, quote.digest)
    expected = (model.model, model.currency, case.version.effective, case.prices.tables.digest)
    expect(stated == expected, f"The quote is of {stated}, not of {expected}", quoted)


@applies_to(any_case)
def no_amount_is_negative(case: Case, data: st.DataObject) -> None:
    """No line, sum or total is below zero."""
    quoted = case.ask(data.draw(case.requests))
    amounts = [quoted.quote.total, quoted.quote.exact]
    for line in quoted.quote.lines:
        amounts += [line.quantity, line.unit_rate, line.amount]
    expect(all(amount >= 0 for amount in amounts), "A price is negative", quoted)


@applies_to(any_case)
def lines_add_up_to_the_exact_amount(case: Case, data: st.DataObject) -> None:
    """The amounts of the lines add up to the exact amount, to the last digit, and to no less than the minimum."""
    quoted = case.ask(data.draw(case.requests))
    amount = sum((Fraction(line.amount) for line in quoted.quote.lines), Fraction(0))
    expect(amount == quoted.exact, f"The lines add up to {amount}", quoted)
    if case.found.type == "video":
        return
    least, added = case.version.minimum, [line for line in quoted.quote.lines if line.unit == MINIMUM]
    charged = quoted.of(*case.version.charges)
    if added:
        expect([line.source for line in added] == [case.version.minimum_place], "The line names another line", quoted)
        expect(charged + Fraction(added[0].amount) == least, f"With it, the charges do not come to {least}", quoted)
    elif least:  # Rounding may have lowered the sum of the charges.
        rounded = Fraction(len(quoted.quote.lines), 2 * 10**case.version.places_of_lines)
        expect(charged + rounded >= least, f"A request costs at least {least}", quoted)


@applies_to(any_case)
def a_line_is_quantity_times_rate(case: Case, data: st.DataObject) -> None:
    """Every amount is its quantity times its rate, exactly or rounded to at least the table's line places."""
    quoted = case.ask(data.draw(case.requests))
    for line in quoted.quote.lines:
        product = Fraction(line.quantity) * Fraction(line.unit_rate)
        slack = Fraction(0)  # Half-up, a rounding changes a number by at most half of its last place.
        if case.found.type == "video":  # A quantity that is not an exact decimal is rounded to the line places too.
            slack = (1 + Fraction(line.unit_rate)) / (2 * 10**case.version.rounding.line_places)
        elif isinstance(line.rate.of_unit, Fraction):
            slack = (1 + Fraction(line.unit_rate)) / (2 * 10**line.rate.line_places)
        expect(abs(product - Fraction(line.amount)) <= slack, f"{line.sku} is not quantity x rate", quoted)


@applies_to(any_case)
def the_total_is_rounded_once(case: Case, data: st.DataObject) -> None:
    """The total is the exact amount, rounded once, half-up, to the table's places; only video is rounded."""
    quoted = case.ask(data.draw(case.requests))
    rounded = case.rounded(quoted.quote.exact)
    expect(str(quoted.quote.total) == str(rounded), f"The total should be {rounded}", quoted)


@applies_to(of_type(*TYPES.words))
def extra_keys_and_order_change_nothing(case: Case, data: st.DataObject) -> None:
    """Unknown keys of a body, `metadata` of a usage, the order of keys, and JSON for a mapping change no price."""
    quoted = case.ask(data.draw(case.requests))
    further: dict[str, Any] = data.draw(_FURTHER)
    ignored = (*quoted.quote.ignored, *sorted(further))
    if "type" in quoted.request.body:  # A usage has a type, and its further keys are metadata.
        further, ignored = {"metadata": further}, quoted.quote.ignored
    turned = dict(data.draw(st.permutations(list({**quoted.request.body, **further}.items()))))
    for form in (turned, json_text(turned).encode()):
        again = case.ask(quoted.request, form)
        same = replace(again.quote, ignored=()) == replace(quoted.quote, ignored=())
        expect(same, f"Asked as {json_text(turned)}, it is another quote", quoted, again)
        known, listed = again.quote.ignored[: len(quoted.quote.ignored)], again.quote.ignored
        expect((*known, *sorted(listed[len(known) :])) == ignored, f"Named as ignored: {', '.join(listed)}", again)


@applies_to(any_case)
def what_was_asked_before_changes_nothing(case: Case, data: st.DataObject) -> None:
    """A request has the same answer whether or not others came before it: kept results change no price."""
    first, second = data.draw(case.requests), data.draw(case.requests)
    field = data.draw(st.sampled_from(sorted({*first.body} & {*second.body})))
    for request in (first, first.with_fields(**{field: second.body[field]})):
        unused_prices = RateCard(case.prices.tables, proves=False).at(case.prices.instant)
        answer, first_answer = (_answer(request, prices) for prices in (case.prices, unused_prices))
        expect(answer == first_answer, f"{request}\nhas the answer {answer}, and asked first {first_answer}")


def _answer(request: Request, prices: PriceBook) -> Quote | str:
    """Return the price of a request, or why it has none."""
    try:
        return request.price(prices)
    except QuoteError as refusal:
        return str(refusal)


@applies_to(of_type(*METERED_TYPES))
def an_unknown_key_of_a_usage_is_refused(case: Case, data: st.DataObject) -> None:
    """A usage with a key that its type does not have is refused as a whole: its meaning is not guessed."""
    quoted = case.ask(data.draw(case.requests))
    try:
        case.prices.rate({**quoted.request.body, "x-count": 10})
    except QuoteError as refusal:
        messages = [message for path, message in refusal.problems if not path]
        expect(any("'x-count'" in message for message in messages), f"It is refused otherwise: {refusal}", quoted)
    else:
        expect(False, "A usage with the key 'x-count' is charged", quoted)


@applies_to(any_case)
def the_answer_has_the_digits_of_the_total(case: Case, data: st.DataObject) -> None:
    """The answer over HTTP has the digits of the total, as a plain decimal, and the currency if it is not USD."""
    quoted = case.ask(data.draw(case.requests))
    total = quoted.quote.total
    digits = str(total) if case.found.type == "video" else format(plain(total), "f")
    answer = quoted.quote.to_json().decode()
    currency = "" if quoted.quote.currency == USD else f',"currency":"{quoted.quote.currency}"'
    expect(answer == f'{{"quote":{digits}{currency}}}', f"It answers {answer}", quoted)


_RATE = re.compile(r"""\brate["']?\s*:\s*["']?([*\w.-]+)""")
_NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)
# Attributes that the laws of tiers, bands and buckets check.
_BY_QUANTITY = {"up_to", "seconds", "context", "tokens"}


@applies_to(any_case)
def a_line_names_the_line_of_its_rate(case: Case, data: st.DataObject) -> None:
    """The `file:line` of every line has a rate of its model: this rate times the markup is the price of a unit."""
    quoted = case.ask(data.draw(case.requests))
    for line in quoted.counted:
        rates = rates_at(case, line.source)
        expect(bool(rates), f"No rate of {case} is at {line.source}", quoted)
        unit_rates = {price for charge, rate in rates for price in _unit_rates(charge, rate)}
        expect(Fraction(line.unit_rate) in unit_rates, f"{line.sku} is not charged at the rate of its line", quoted)
        if not case.files:
            continue
        written = numbers_at(case, line.source)
        is_written = any(rate.rate in written for _, rate in rates)
        shown = ", ".join(map(text, written)) or "no rate"
        expect(is_written, f"{line.source} holds {shown}, not {text(rates[0][1].rate)}", quoted)


@applies_to(any_case)
def a_line_is_charged_at_the_rate_that_fits(case: Case, data: st.DataObject) -> None:
    """The attributes of a line's rate are those of the request: its resolution, its sound, its quality."""
    quoted = case.ask(data.draw(case.requests))
    for line in quoted.counted:
        fits = any(_fits(case, quoted.request.body, rate) for _, rate in rates_at(case, line.source))
        expect(fits, f"{line.sku} is charged at the rate of something else", quoted)


def rates_at(case: Case, source: str) -> list[tuple[Any, Rate]]:
    """Return the rates at a `file:line`, with their charges."""
    versions = [case.version, *(version for _, version in case.further())]
    charges = chain.from_iterable(version.charges for version in versions)
    return [(charge, rate) for charge in charges for rate in charge.rates if rate.source == source]


def numbers_at(case: Case, source: str) -> list[Decimal]:
    """Return the amounts written at a `file:line`; an alias (*name) is looked up at its anchor."""
    name, _, line = source.rpartition(":")
    lines = case.texts.get(name, [])[int(line) - 1 :]
    below, content = "\n".join(lines[:3]), "\n".join(case.texts.get(name, []))
    words = [match[1] for match in _RATE.finditer(below) if match.start() <= len(lines[0])]
    numbers = chain.from_iterable(
        re.findall(rf"&{re.escape(word[1:])}\s+[\"']?([\d.]+)", content) if word[0] == "*" else [word] for word in words
    )
    return [Decimal(number) for number in numbers if _NUMBER.fullmatch(number)]


def _unit_rates(charge: Any, rate: Rate) -> list[Fraction]:
    """Return the prices of one unit at a rate; for an upscale, also those multiplied from a frame rate on."""
    price = Fraction(rate.rate) * Fraction(charge.markup)
    return [price, *(price * Fraction(factor) for factor in getattr(charge, "frame_rates", {}).values())]


def _fits(case: Case, body: dict[str, Any], rate: Rate) -> bool:
    named = {name: values for name, values in rate.attributes.items() if name not in _BY_QUANTITY}
    if case.found.type == "video":
        return all(case.offer.attribute(body, name) in values for name, values in named.items())
    return all(body[name] in values for name, values in named.items() if name in body)


@applies_to(any_case)
def a_price_cell_equals_its_quote(case: Case, data: st.DataObject) -> None:
    """Every cell of the price sheet equals the quote of its request."""
    cell = data.draw(st.sampled_from(case.cells))
    request, row = _request_of(case, cell), cell.row()
    quoted = case.ask(request, json_text(request.body))
    expect(quoted.quote == cell.quote, f"The sheet has another quote, of {text(cell.quote.exact)}", quoted)
    expect(Decimal(row["total"]) == quoted.quote.total, f"The sheet says {row['total']}", quoted)
    sources = " + ".join(line.source for line in quoted.quote.lines)
    expect(row["source"] == sources, f"The sheet names {row['source']}", quoted)


@applies_to(any_case)
def every_price_cell_is_rounded_once(case: Case, data: st.DataObject) -> None:
    """The total of every cell is its exact amount rounded once: cells have enough amounts to show a second rounding."""
    for cell in case.cells:
        rounded = case.rounded(cell.quote.exact)
        quoted = Quoted(_request_of(case, cell), cell.quote, case)
        expect(str(cell.quote.total) == str(rounded), f"The total should be {rounded}", quoted)


def _not_overridden(case: Case, charge: Any) -> Iterator[Rate]:
    """Yield the rates of a charge that hold at the hour of the prices, without those that rates with hours replace."""
    held, domains = [rate for rate in charge.rates if rate.timed], domains_of(case.version, charge)
    for rate in charge.rates:
        others = (other for other in held if other.attributes.keys() <= rate.attributes.keys())
        if rate.timed or less(rate, others, domains):
            yield rate


@applies_to(any_case)
def every_rate_is_charged_somewhere(case: Case, data: st.DataObject) -> None:
    """Every rate of the version is charged for some request: no line of a table is without effect."""
    used = {line.source for cell in case.cells for line in cell.quote.lines}
    idle = sorted({rate.source for charge in case.version.charges for rate in _not_overridden(case, charge)} - used)
    if idle:
        lines = "\n".join(f"  {case.shown(source)}" for source in idle)
        raise BrokenLawError(f"No request is charged at a rate of {case}:\n{lines}")


def _request_of(case: Case, cell: Cell) -> Request:
    if case.found.type == "video":
        return Request(cell.body, cell.video)
    return Request(dict(cell.usage or {}))
